"""What questions and indexes cost as a tree grows."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.__main__ import main


def test_a_size_is_measured_once_and_its_rows_are_told_and_drawn_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    rows, drawing = tmp_path / "rows.jsonl", tmp_path / "growth.svg"
    asked = ["growth", "--files", "3", "--rounds", "1", "--out", str(rows), "--svg", str(drawing)]

    assert main(asked) == 0
    told, kept = capsys.readouterr().out, rows.read_bytes()
    assert "| 3 files, 0 MB |" in told
    assert [line.strip("| ").split(" | ")[0] for line in told.splitlines()[2:]] == [
        "first look",
        "whole index",
        "warm question",
    ]
    assert drawing.read_text().count("<polyline") == 3

    assert main(asked) == 0
    assert (capsys.readouterr().out, rows.read_bytes()) == (told, kept)
