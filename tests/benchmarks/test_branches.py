"""What an index costs on the way to another commit and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.branches import main
from tests.support.trees import commit, git


def test_on_the_way_back_nothing_is_parsed_and_the_index_is_that_from_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = '"""' + "Some words that nobody reads.\n" * 4000 + '"""\n'
    tree = commit(tmp_path / "tree", {"a.py": told, "b.py": f"{told}def old(): ...\n"})
    older = git(tree, "rev-parse", "HEAD").strip()
    commit(tree, {"b.py": f"{told}def new(): ...\n", "c.py": f"{told}def more(): ...\n"})

    main([str(tree), older, "1"])

    rows = [line.strip("| ").split(" | ")[:3] for line in capsys.readouterr().out.splitlines()[2:]]
    assert rows == [
        ["first", "3", "3"],
        ["other", "2", "1"],
        ["edit 1", "2", "2"],
        ["first", "3", "0"],
        ["other", "2", "0"],
    ]
