"""History, read from real repositories made on the spot."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.history.history import History
from repo_map.index.store import Store
from tests.support.history import read_history
from tests.support.trees import commit, git


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "repository"


def read(root: Path, folder: Path | None = None) -> History:
    history = read_history(root, store=Store(folder))
    assert history is not None
    return history


def touches(history: History, commit: int) -> list[tuple[str, int, int]]:
    rows = range(history.touch_start[commit], history.touch_start[commit + 1])
    return [
        (history.paths[history.touch_file[at]], int(history.touch_first[at]), int(history.touch_last[at]))
        for at in rows
    ]


COLUMNS = ["time", "file_count", "file_start", "file", "touch_start", "touch_file", "touch_first", "term"]


def values_of(history: History) -> list[object]:
    columns = [getattr(history, column).tolist() for column in COLUMNS]
    return [history.head, history.paths, history.subjects, history.terms, *columns]


LINES = "".join(f"line {number}\n" for number in range(1, 11))


def test_commits_come_newest_first_with_their_files_and_ages(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", "1600000000 +0000")
    commit(root, {"a.py": "a = 1\n"}, message="Add a")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "1600086400 +0000")
    commit(root, {"a.py": "a = 2\n", "b.py": "b = 1\n"}, message="Change a, add b")
    history = read(root)
    assert history.subjects == ("Change a, add b", "Add a")
    assert history.paths == ("a.py", "b.py")
    assert history.file.tolist() == [0, 1, 0]
    assert history.age.tolist() == [0.0, 1.0]


def test_a_hunk_is_moved_to_where_its_lines_stand_today(root: Path) -> None:
    commit(root, {"a.py": LINES}, message="Add")
    commit(root, {"a.py": LINES.replace("line 8", "line eight")}, message="Change line 8")
    commit(root, {"a.py": "x\ny\nz\n" + LINES.replace("line 8", "line eight")}, message="Insert above")
    history = read(root)
    assert touches(history, 0) == [("a.py", 1, 3)]
    assert touches(history, 1) == [("a.py", 11, 11)]


def test_a_hunk_in_deleted_lines_stands_where_they_were(root: Path) -> None:
    commit(root, {"a.py": LINES}, message="Add")
    commit(root, {"a.py": LINES.replace("line 5", "line five")}, message="Change line 5")
    kept = [line for number, line in enumerate(LINES.splitlines(keepends=True), 1) if not 4 <= number <= 6]
    commit(root, {"a.py": "".join(kept)}, message="Drop lines 4 to 6")
    assert touches(read(root), 1) == [("a.py", 3, 3)]


def test_a_moved_file_keeps_its_past(root: Path) -> None:
    commit(root, {"old.py": LINES}, message="Add")
    commit(root, {"old.py": LINES.replace("line 2", "line two")}, message="Change line 2")
    (root / "old.py").unlink()
    commit(root, {"src/new.py": LINES.replace("line 2", "line two")}, message="Move")
    history = read(root)
    assert history.paths == ("src/new.py",)
    assert touches(history, 1) == [("src/new.py", 2, 2)]


def test_a_file_that_is_gone_is_left_out(root: Path) -> None:
    commit(root, {"a.py": "a = 1\n", "b.py": "b = 1\n"}, message="Add")
    (root / "b.py").unlink()
    commit(root, {}, message="Drop b")
    history = read(root)
    assert history.paths == ("a.py",)
    assert len(history) == 2


def test_a_commit_of_many_files_touches_nothing(root: Path) -> None:
    commit(root, {f"f{number}.py": "x\n" for number in range(40)}, message="Reformat everything")
    history = read(root)
    assert history.file_count.tolist() == [40]
    assert history.file.tolist() == []


def test_a_subfolder_sees_its_own_files_alone(root: Path) -> None:
    commit(root, {"a/x.py": "x\n", "b/y.py": "y\n"}, message="Add")
    commit(root, {"b/y.py": "z\n"}, message="Change b")
    history = read_history(root / "a")
    assert history is not None
    assert history.subjects == ("Add",)
    assert history.paths == ("x.py",)


def test_merges_are_left_out_and_both_sides_are_read(root: Path) -> None:
    commit(root, {"a.py": LINES}, message="Add")
    git(root, "checkout", "-q", "-b", "side")
    commit(root, {"a.py": LINES.replace("line 2", "two")}, message="Side: line 2")
    git(root, "checkout", "-q", "main")
    commit(root, {"a.py": LINES.replace("line 9", "nine")}, message="Main: line 9")
    git(root, "merge", "-q", "--no-edit", "side")
    history = read(root)
    assert set(history.subjects) == {"Add", "Side: line 2", "Main: line 9"}
    assert touches(history, history.subjects.index("Side: line 2")) == [("a.py", 2, 2)]
    assert touches(history, history.subjects.index("Main: line 9")) == [("a.py", 9, 9)]


def test_no_repository_no_commits_and_no_git_are_no_history(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_history(tmp_path) is None
    assert read_history(root) is None
    commit(root, {"a.py": "a\n"}, message="Add")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read_history(root) is None


def test_a_missing_blob_costs_its_commit_the_hunks_and_no_more(root: Path) -> None:
    commit(root, {"a.py": LINES, "data.txt": "first\n"}, message="Add")
    commit(root, {"data.txt": "lost\n"}, message="Change data")
    commit(root, {"a.py": LINES.replace("line 3", "line three"), "data.txt": "third\n"}, message="Change 3")
    commit(
        root, {"a.py": LINES.replace("line 3", "line three").replace("line 4", "four")}, message="Change 4"
    )
    lost = git(root, "rev-parse", "HEAD~2:data.txt").strip()
    (root / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    history = read(root)
    assert len(history) == 4
    assert len(history.file) == 6
    assert touches(history, 0) == [("a.py", 4, 4)]


def test_a_second_read_reads_new_commits_only_and_gives_what_a_fresh_read_gives(
    root: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "cache"
    commit(root, {"a.py": LINES}, message="Add")
    first = read(root, folder)
    commit(root, {"a.py": LINES.replace("line 2", "two")}, message="Change line 2")
    grown, fresh = read(root, folder), read(root)
    assert len(first) == 1
    assert values_of(grown) == values_of(fresh)
    assert values_of(read(root, folder)) == values_of(fresh)


def test_a_damaged_cache_is_read_anew(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    commit(root, {"a.py": LINES}, message="Add")
    fresh = read(root, folder)
    for file in (folder / "history").iterdir():
        file.write_bytes(file.read_bytes()[:40])
    assert values_of(read(root, folder)) == values_of(fresh)


def test_a_spent_deadline_gives_no_history_and_spoils_no_cache(root: Path, tmp_path: Path) -> None:
    commit(root, {"a.py": LINES}, message="Add")
    assert read_history(root, store=Store(tmp_path), seconds=0.0) is None
    history = read(root, tmp_path)
    assert len(history) == 1
    assert history.complete


def test_messages_become_terms_and_subjects_count_twice(root: Path) -> None:
    commit(
        root,
        {"a.py": "a\n"},
        message="Round taxes\n\nTaxes were cut.\n\nSigned-off-by: Ada <ada@example.org>\n",
    )
    history = read(root)
    counts = dict(zip((history.terms[at] for at in history.term), history.term_count.tolist(), strict=True))
    assert counts == {"round": 2, "tax": 3, "cut": 1}
    assert history.term_row["tax"] == history.terms.index("tax")
