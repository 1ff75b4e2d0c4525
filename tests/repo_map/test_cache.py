"""Caches in memory and on disk."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from repo_map.cache import TEMPORARY, LRUCache, load_arrays, newest_first, prune, save_arrays
from repo_map.index import source_reader
from repo_map.index.build import build_index
from repo_map.index.store import Store
from tests.support.trees import write


def test_lru_cache_evicts_the_least_recently_used_value() -> None:
    cache = LRUCache[str, str](10, len)
    for key, value in (("a", "12345"), ("b", "1234")):
        cache.put(key, value)
    cache.get("a")
    cache.put("c", "12345")
    assert [cache.get(key) for key in "abc"] == ["12345", None, "12345"]


def test_source_reader_serves_threads_beyond_its_capacity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_reader, "_MAX_CACHED_BYTES", 100)
    files = {f"m{number:02}.py": f"def f_{number}():\n    return {number}\n" for number in range(40)}
    index = build_index(write(tmp_path, files), store=Store(None), workers=1)
    with ThreadPoolExecutor(8) as pool:
        read = list(pool.map(index.sources.content, [*range(40)] * 20))
    assert read == [files[path].encode() for path in index.paths] * 20


def test_prune_removes_old_temporary_files_only(tmp_path: Path) -> None:
    dead, writing = (tmp_path / f"{name}{TEMPORARY}" for name in ("dead", "live"))
    for path in (dead, writing):
        path.write_bytes(b"x" * 1000)
    os.utime(dead, (1, 1))
    prune(tmp_path, 0)
    assert newest_first(tmp_path) == [writing]


def test_load_arrays_returns_saved_arrays(tmp_path: Path) -> None:
    arrays = [np.arange(5), np.zeros((2, 3), np.uint32), np.zeros(0)]
    save_arrays(tmp_path, "some", arrays)
    found = load_arrays(tmp_path, "some")
    assert found is not None
    assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(arrays, found, strict=True))


@pytest.mark.parametrize("damage", [None, b"", b"\0" * 40])
def test_load_arrays_ignores_missing_and_damaged_files(tmp_path: Path, damage: bytes | None) -> None:
    if damage is not None:
        save_arrays(tmp_path, "some", [np.arange(5)])
        path = tmp_path / "derived/some"
        path.write_bytes(damage or path.read_bytes()[:-7])
    assert load_arrays(tmp_path, "some") is None


def test_save_arrays_prunes_and_survives_an_unwritable_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repo_map.cache._MAX_ARRAY_BYTES", 3000)
    for number in range(6):
        save_arrays(tmp_path, f"arrays-{number}", [np.full(100, number)])
    assert len(list((tmp_path / "derived").iterdir())) < 6
    (tmp_path / "other").mkdir()
    (tmp_path / "other/derived").write_text("in the way")
    save_arrays(tmp_path / "other", "some", [np.arange(3)])
    assert load_arrays(tmp_path / "other", "some") is None
