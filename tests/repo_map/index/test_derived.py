"""What is kept between processes, and what happens when it is damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from repo_map.cache import load_arrays, save_arrays
from repo_map.outline.render_cache import TokenMemo
from repo_map.text import tokens


def test_arrays_come_back_as_they_were_kept(tmp_path: Path) -> None:
    arrays = [np.arange(5), np.zeros((2, 3), np.uint32), np.zeros(0)]
    save_arrays(tmp_path, "some", arrays)
    found = load_arrays(tmp_path, "some")
    assert found is not None
    assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(arrays, found, strict=True))


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    assert load_arrays(tmp_path, "some") is None


@pytest.mark.parametrize("damage", [b"", b"\0" * 40])
def test_damaged_arrays_are_none(tmp_path: Path, damage: bytes) -> None:
    save_arrays(tmp_path, "some", [np.arange(5)])
    path = tmp_path / "derived/some"
    path.write_bytes(damage or path.read_bytes()[:-7])
    assert load_arrays(tmp_path, "some") is None


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


def test_the_oldest_files_go_when_there_are_too_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repo_map.cache._MAX_ARRAY_BYTES", 3000)
    for number in range(6):
        save_arrays(tmp_path, f"kept-{number}", [np.full(100, number)])
    assert len(list((tmp_path / "derived").iterdir())) < 6


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "derived").write_text("in the way")
    save_arrays(tmp_path, "some", [np.arange(3)])
    assert load_arrays(tmp_path, "some") is None
