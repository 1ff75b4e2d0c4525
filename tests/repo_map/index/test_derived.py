"""What is kept between processes, and what happens when it is damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from repo_map.derived_arrays import keep_arrays, recall_arrays
from repo_map.index.repo_index import build_index
from repo_map.index.store import Store
from repo_map.outline.draw import draw_map
from repo_map.outline.render_cache import TokenMemo
from repo_map.plan.model import FlightPlan, Focus, SymbolBoost
from repo_map.text import tokens
from tests.support.trees import write

FILES = {
    "a.py": "from b import helper_function\n\n\ndef run():\n    helper_function()\n",
    "b.py": "def helper_function():\n    pass\n",
}


def map_of(root: Path, cache: Path | None) -> str:
    return draw_map(build_index(root, store=Store(cache), workers=1), FlightPlan()).text


def test_arrays_come_back_as_they_were_kept(tmp_path: Path) -> None:
    arrays = [np.arange(5), np.zeros((2, 3), np.uint32), np.zeros(0)]
    keep_arrays(tmp_path, "some", arrays)
    found = recall_arrays(tmp_path, "some")
    assert found is not None
    assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(arrays, found, strict=True))


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    assert recall_arrays(tmp_path, "some") is None


@pytest.mark.parametrize("damage", [b"", b"\0" * 40])
def test_a_damaged_cache_costs_nothing_but_time(tmp_path: Path, damage: bytes) -> None:
    root, cache = write(tmp_path / "repo", FILES), tmp_path / "cache"
    fresh = map_of(root, None)
    assert map_of(root, cache) == fresh
    kept = sorted((cache / "derived").iterdir())
    assert kept
    for path in kept:
        path.write_bytes(damage or path.read_bytes()[:-7])
    assert map_of(root, cache) == fresh
    assert map_of(root, cache) == fresh


def test_a_text_counted_once_needs_no_tokenizer_in_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = TokenMemo(tmp_path, "both")
    texts = [f"def function_{number}(): pass\n" for number in range(50)]
    expected = [tokens.counts(text) for text in texts]
    assert [first.counts(text) for text in texts] == expected
    first.save()
    monkeypatch.setattr(tokens, "counts", None)
    second = TokenMemo(tmp_path, "both")
    assert [second.counts(text) for text in texts] == expected


def test_no_graph_is_kept_of_a_tree_that_the_cache_holds_without_its_latest_edit(tmp_path: Path) -> None:
    root, cache = write(tmp_path / "repo", FILES | {"long.txt": "words\n" * 20_000}), tmp_path / "cache"
    plan = FlightPlan(focus=Focus(symbols=(SymbolBoost(name="run"),)))

    def drawn(store: Store) -> str:
        return draw_map(build_index(root, store=store, workers=1), plan).text

    drawn(Store(cache))
    kept = list((cache / "derived").glob("graph-*"))
    assert len(kept) == 1
    (root / "b.py").write_text("def helper_function():\n    return 1\n")
    assert drawn(Store(cache)) == drawn(Store(None))
    assert list((cache / "derived").glob("graph-*")) == kept


def test_the_oldest_files_go_when_there_are_too_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repo_map.derived_arrays._LIMIT_BYTES", 3000)
    for number in range(6):
        keep_arrays(tmp_path, f"kept-{number}", [np.full(100, number)])
    assert len(list((tmp_path / "derived").iterdir())) < 6


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "derived").write_text("in the way")
    keep_arrays(tmp_path, "some", [np.arange(3)])
    assert recall_arrays(tmp_path, "some") is None
