"""What is remembered up to a size, and an index whose files are more than it remembers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from repo_map.cache import LRUCache
from repo_map.index import source_reader
from repo_map.index.build import build_index
from repo_map.index.store import Store
from tests.support.trees import write


def test_what_came_first_goes_first_and_what_is_too_large_stands_alone() -> None:
    kept = LRUCache[str, str](10, len)
    for key, value in (("a", "12345"), ("b", "1234"), ("c", "123456")):
        kept.put(key, value)
    assert [kept.get(key) for key in "abc"] == [None, "1234", "123456"]
    kept.put("b", "other")
    assert kept.get("b") == "1234"
    kept.put("d", "x" * 50)
    assert [kept.get(key) for key in "bcd"] == [None, None, "x" * 50]


def test_threads_read_more_than_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_reader, "_MAX_CACHED_BYTES", 100)
    files = {f"m{number:02}.py": f"def f_{number}():\n    return {number}\n" for number in range(40)}
    index = build_index(write(tmp_path, files), store=Store(None), workers=1)
    with ThreadPoolExecutor(8) as pool:
        read = list(pool.map(index.sources.content, [*range(40)] * 20))
    assert read == [files[path].encode() for path in index.paths] * 20
