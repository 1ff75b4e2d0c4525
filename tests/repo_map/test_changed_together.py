"""Files that changed together: counted in commits that changed both, told with their numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.history.history import read_history
from repo_map.history.together import ChangedTogether, SharedChanges
from repo_map.index import build_index
from repo_map.indexing.store import Store
from repo_map.relevance.score import score_goal
from tests.support.trees import commit

EVERYTHING = {"a.py": "a = 0\n", "b.py": "b = 0\n", "c.py": "c = 0\n", "hub.py": "hub = 0\n"}


def together(root: Path, path: str, *others: str) -> SharedChanges | None:
    history = read_history(root, store=Store(None))
    assert history is not None
    return ChangedTogether(history).most_with(path, others)


def change(root: Path, number: int, *names: str) -> None:
    commit(root, {f"{name}.py": f"{name} = {number}\n" for name in names}, message=f"Change {number}")


def test_files_that_came_in_together_did_not_change_together(tmp_path: Path) -> None:
    commit(tmp_path, EVERYTHING)
    for number in range(1, 4):
        change(tmp_path, number, "a")
        change(tmp_path, number, "b")
    assert together(tmp_path, "a.py", "b.py") is None


def test_commits_that_changed_both_are_counted_among_those_that_changed_the_file(tmp_path: Path) -> None:
    commit(tmp_path, EVERYTHING)
    for number in range(1, 4):
        change(tmp_path, number, "a", "b")
    change(tmp_path, 4, "a")
    for number in range(5, 10):
        change(tmp_path, number, "c")
    assert together(tmp_path, "a.py", "c.py", "b.py") == SharedChanges("b.py", 3, 4)
    assert together(tmp_path, "b.py", "a.py") == SharedChanges("a.py", 3, 3)
    assert together(tmp_path, "c.py", "a.py", "b.py") is None


@pytest.mark.parametrize("times", [1, 2])
def test_a_commit_or_two_are_no_habit(tmp_path: Path, times: int) -> None:
    commit(tmp_path, EVERYTHING)
    for number in range(1, times + 1):
        change(tmp_path, number, "a", "b")
    for number in range(5, 10):
        change(tmp_path, number, "c")
    assert together(tmp_path, "a.py", "b.py") is None


def test_a_file_that_every_commit_changes_goes_with_none(tmp_path: Path) -> None:
    commit(tmp_path, EVERYTHING)
    for number in range(1, 5):
        change(tmp_path, number, "a", "hub")
        change(tmp_path, number + 10, "c", "hub")
    assert together(tmp_path, "a.py", "hub.py") is None


def test_a_wide_commit_ties_no_files(tmp_path: Path) -> None:
    names = ["a", "b", *(f"other{number}" for number in range(14))]
    commit(tmp_path, {f"{name}.py": "x = 0\n" for name in names})
    for number in range(1, 5):
        change(tmp_path, number, *names)
    for number in range(5, 10):
        change(tmp_path, number, "other1")
    assert together(tmp_path, "a.py", "b.py") is None


def test_a_moved_file_is_no_change_of_it(tmp_path: Path) -> None:
    commit(tmp_path, EVERYTHING)
    change(tmp_path, 1, "a", "b")
    change(tmp_path, 2, "a", "b")
    for number in range(5, 10):
        change(tmp_path, number, "c")
    (tmp_path / "b.py").unlink()
    commit(tmp_path, {"a.py": "a = 3\n", "moved/b.py": "b = 2\n"}, message="Move b")
    assert together(tmp_path, "a.py", "moved/b.py") is None


def test_the_reason_of_a_file_says_with_what_and_how_often(tmp_path: Path) -> None:
    files = {
        "router.py": "def dispatch(request):\n    return request.path\n",
        "rules.py": "LIMIT = 0\n",
        "other.py": "other = 0\n",
    }
    commit(tmp_path, files, message="Begin")
    for number in range(1, 4):
        changed = {"router.py": files["router.py"] + f"# {number}\n", "rules.py": f"LIMIT = {number}\n"}
        commit(tmp_path, changed, message="Dispatch requests anew")
    for number in range(1, 6):
        commit(tmp_path, {"other.py": f"other = {number}\n"}, message="Other things")
    index = build_index(tmp_path, store=Store(None), workers=1)
    relevance = score_goal(index, "dispatch of a request", read_history(tmp_path, store=Store(None)))
    reasons = {file.path: file.reasons for file in relevance.files}
    assert "changed together with `router.py` in 3 of its last 3 commits" in reasons["rules.py"]
    assert not any("together" in reason for reason in reasons.get("other.py", ()))
