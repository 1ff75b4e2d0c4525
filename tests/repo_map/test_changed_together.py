"""Files that changed together: counted in commits that changed both, told with their numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.history.cochange import CoChange, CoChangeIndex
from repo_map.index.store import Store
from tests.support.history import read_history
from tests.support.trees import commit

EVERYTHING = {"a.py": "a = 0\n", "b.py": "b = 0\n", "c.py": "c = 0\n", "hub.py": "hub = 0\n"}


def together(root: Path, path: str, *others: str) -> CoChange | None:
    history = read_history(root, store=Store(None))
    assert history is not None
    return next(iter(CoChangeIndex(history).partners(path, others)), None)


def change(root: Path, *changes: tuple[int, str]) -> Path:
    """Commit everything, then for each change as often as it says a commit of the named files."""
    number = 0
    for times, names in changes:
        for _ in range(times):
            number += 1
            files = {f"{name}.py": f"{name} = {number}\n" for name in names.split()}
            commit(root, files, message=f"Change {number}")
    return root


def test_commits_that_changed_both_are_counted_among_those_that_changed_the_file(tmp_path: Path) -> None:
    commit(tmp_path, EVERYTHING)
    change(tmp_path, (3, "a b"), (1, "a"), (5, "c"))
    assert together(tmp_path, "a.py", "c.py", "b.py") == CoChange("b.py", 3, 4)
    assert together(tmp_path, "b.py", "a.py") == CoChange("a.py", 3, 3)
    assert together(tmp_path, "c.py", "a.py", "b.py") is None


@pytest.mark.parametrize(
    ("changes", "other"),
    [
        ([(3, "a"), (3, "b")], "b.py"),
        ([(1, "a b"), (5, "c")], "b.py"),
        ([(2, "a b"), (5, "c")], "b.py"),
        ([(4, "a hub"), (4, "c hub")], "hub.py"),
        ([(4, "a b " + " ".join(f"other{number}" for number in range(14))), (5, "other1")], "b.py"),
    ],
    ids=["never", "once", "twice", "a file that every commit changes", "wide commits"],
)
def test_files_that_seldom_change_together_are_not_tied(
    tmp_path: Path, changes: list[tuple[int, str]], other: str
) -> None:
    commit(tmp_path, EVERYTHING)
    assert together(change(tmp_path, *changes), "a.py", other) is None


def test_a_moved_file_is_no_change_of_it(tmp_path: Path) -> None:
    commit(tmp_path, EVERYTHING)
    change(tmp_path, (2, "a b"), (5, "c"))
    (tmp_path / "b.py").unlink()
    commit(tmp_path, {"a.py": "a = 3\n", "moved/b.py": "b = 2\n"}, message="Move b")
    assert together(tmp_path, "a.py", "moved/b.py") is None
