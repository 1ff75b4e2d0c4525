"""A first index, timed beside the programs that are installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.__main__ import main


def test_a_first_index_is_timed_and_told_as_the_measure_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = tmp_path / "shop"
    tree.mkdir()
    (tree / "price.py").write_text("def gross(net):\n    return net * 1.19\n")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")

    assert main(["cold", str(tree), "--rounds", "1", "--workers", "1"]) == 0

    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    own = rows[0]
    assert own[:4] == ["shop", "1", "0.0", "navigator"]
    assert float(own[4]) > 0
    assert own[5] == own[7] == "1.00"
    assert not (tree / ".git").exists(), "the tree itself is left alone"
