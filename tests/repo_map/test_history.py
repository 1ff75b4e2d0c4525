"""History, read from real repositories made on the spot."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from repo_map.history.history import History
from repo_map.history.reader import read_history
from repo_map.index.store import Store

DAY = 86_400


class Repository:
    """A repository under construction; each commit is a day after the one before."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.day = 0
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        moment = f"{1_600_000_000 + self.day * DAY} +0000"
        identity = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", moment))
        }
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.root), **identity}
        command = ["git", "-c", "commit.gpgsign=false", *arguments]
        return subprocess.run(
            command, cwd=self.root, env=environment, check=True, capture_output=True, text=True
        ).stdout

    def commit(self, message: str, **files: str | None) -> str:
        """Commit files given as ``name__py="text"``, ``__`` for the dot; ``None`` deletes."""
        for name, text in files.items():
            path = self.root / name.replace("__", ".").replace("_in_", "/")
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        self.day += 1
        return self.git("rev-parse", "HEAD").strip()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    root = tmp_path / "repository"
    root.mkdir()
    return Repository(root)


def read(repository: Repository, folder: Path | None = None) -> History:
    history = read_history(repository.root, store=Store(folder))
    assert history is not None
    return history


def touches(history: History, commit: int) -> list[tuple[str, int, int]]:
    rows = range(history.touch_start[commit], history.touch_start[commit + 1])
    return [
        (history.paths[history.touch_file[at]], int(history.touch_first[at]), int(history.touch_last[at]))
        for at in rows
    ]


LINES = "".join(f"line {number}\n" for number in range(1, 11))


def test_commits_come_newest_first_with_their_files(repository: Repository) -> None:
    repository.commit("Add a", a__py="a = 1\n")
    repository.commit("Change a, add b", a__py="a = 2\n", b__py="b = 1\n")
    history = read(repository)
    assert history.subjects == ("Change a, add b", "Add a")
    assert history.paths == ("a.py", "b.py")
    assert history.file.tolist() == [0, 1, 0]
    assert history.age.tolist() == [0.0, 1.0]


def test_a_hunk_is_moved_to_where_its_lines_stand_today(repository: Repository) -> None:
    repository.commit("Add", a__py=LINES)
    repository.commit("Change line 8", a__py=LINES.replace("line 8", "line eight"))
    repository.commit("Insert three lines above", a__py="x\ny\nz\n" + LINES.replace("line 8", "line eight"))
    history = read(repository)
    assert touches(history, 0) == [("a.py", 1, 3)]
    assert touches(history, 1) == [("a.py", 11, 11)]


def test_a_hunk_in_deleted_lines_stands_where_they_were(repository: Repository) -> None:
    repository.commit("Add", a__py=LINES)
    repository.commit("Change line 5", a__py=LINES.replace("line 5", "line five"))
    kept = [line for number, line in enumerate(LINES.splitlines(keepends=True), 1) if not 4 <= number <= 6]
    repository.commit("Drop lines 4 to 6", a__py="".join(kept))
    assert touches(read(repository), 1) == [("a.py", 3, 3)]


def test_a_moved_file_keeps_its_past(repository: Repository) -> None:
    repository.commit("Add", old__py=LINES)
    repository.commit("Change line 2", old__py=LINES.replace("line 2", "line two"))
    repository.commit("Move", old__py=None, src_in_new__py=LINES.replace("line 2", "line two"))
    history = read(repository)
    assert history.paths == ("src/new.py",)
    assert touches(history, 1) == [("src/new.py", 2, 2)]


def test_a_file_that_is_gone_is_left_out(repository: Repository) -> None:
    repository.commit("Add", a__py="a = 1\n", b__py="b = 1\n")
    repository.commit("Drop b", b__py=None)
    history = read(repository)
    assert history.paths == ("a.py",)
    assert len(history) == 2


def test_a_commit_of_many_files_touches_nothing(repository: Repository) -> None:
    repository.commit("Reformat everything", **{f"f{number}__py": "x\n" for number in range(40)})
    history = read(repository)
    assert history.file_count.tolist() == [40]
    assert history.file.tolist() == []


def test_a_subfolder_sees_its_own_files_alone(repository: Repository) -> None:
    repository.commit("Add", a_in_x__py="x\n", b_in_y__py="y\n")
    repository.commit("Change b", b_in_y__py="z\n")
    history = read_history(repository.root / "a")
    assert history is not None
    assert history.subjects == ("Add",)
    assert history.paths == ("x.py",)


def test_merges_are_left_out_and_both_sides_are_read(repository: Repository) -> None:
    repository.commit("Add", a__py=LINES)
    repository.git("checkout", "-q", "-b", "side")
    repository.commit("Side: line 2", a__py=LINES.replace("line 2", "two"))
    repository.git("checkout", "-q", "main")
    repository.commit("Main: line 9", a__py=LINES.replace("line 9", "nine"))
    repository.git("merge", "-q", "--no-edit", "side")
    history = read(repository)
    assert set(history.subjects) == {"Add", "Side: line 2", "Main: line 9"}
    assert touches(history, history.subjects.index("Side: line 2")) == [("a.py", 2, 2)]
    assert touches(history, history.subjects.index("Main: line 9")) == [("a.py", 9, 9)]


def test_no_repository_no_commits_and_no_git_are_no_history(
    tmp_path: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_history(tmp_path) is None
    assert read_history(repository.root) is None
    repository.commit("Add", a__py="a\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read_history(repository.root) is None


def test_a_missing_blob_costs_its_commit_the_hunks_and_no_more(repository: Repository) -> None:
    repository.commit("Add", a__py=LINES, data__txt="first\n")
    repository.commit("Change data", data__txt="lost\n")
    repository.commit("Change line 3", a__py=LINES.replace("line 3", "line three"), data__txt="third\n")
    repository.commit("Change line 4", a__py=LINES.replace("line 3", "line three").replace("line 4", "four"))
    lost = repository.git("rev-parse", "HEAD~2:data.txt").strip()
    (repository.root / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    history = read(repository)
    assert len(history) == 4
    assert len(history.file) == 6
    assert touches(history, 0) == [("a.py", 4, 4)]


def test_a_second_read_reads_new_commits_only_and_gives_what_a_fresh_read_gives(
    repository: Repository, tmp_path: Path
) -> None:
    folder = tmp_path / "cache"
    repository.commit("Add", a__py=LINES)
    first = read(repository, folder)
    repository.commit("Change line 2", a__py=LINES.replace("line 2", "two"))
    grown, fresh = read(repository, folder), read(repository)
    assert len(first) == 1
    assert_same(grown, fresh)
    assert_same(read(repository, folder), fresh)


def test_a_damaged_cache_is_read_anew(repository: Repository, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    repository.commit("Add", a__py=LINES)
    fresh = read(repository, folder)
    for file in (folder / "history").iterdir():
        file.write_bytes(file.read_bytes()[:40])
    assert_same(read(repository, folder), fresh)


def test_a_spent_deadline_gives_no_history_and_spoils_no_cache(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit("Add", a__py=LINES)
    assert read_history(repository.root, store=Store(tmp_path), seconds=0.0) is None
    history = read(repository, tmp_path)
    assert len(history) == 1
    assert history.complete


def test_nothing_that_a_repository_configures_is_run(repository: Repository, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    repository.commit("Add", a__py=LINES)
    (repository.root / ".gitattributes").write_text("*.py diff=evil\n")
    repository.commit("Change line 2", a__py=LINES.replace("line 2", "two"))
    for name in ("diff.external", "diff.evil.command", "diff.evil.textconv", "core.pager", "core.fsmonitor"):
        repository.git("config", name, f"touch {witness};")
    assert touches(read(repository), 0) == [("a.py", 2, 2)]
    assert not witness.exists()


def assert_same(one: History, other: History) -> None:
    assert one.head == other.head
    assert one.paths == other.paths
    assert one.subjects == other.subjects
    assert one.terms == other.terms
    for column in (
        "time",
        "file_count",
        "file_start",
        "file",
        "touch_start",
        "touch_file",
        "touch_first",
        "term",
    ):
        assert getattr(one, column).tolist() == getattr(other, column).tolist()


def test_messages_become_terms_and_subjects_count_twice(repository: Repository) -> None:
    repository.commit("Round taxes\n\nTaxes were cut.\n\nSigned-off-by: Ada <ada@example.org>\n", a__py="a\n")
    history = read(repository)
    counts = dict(zip((history.terms[at] for at in history.term), history.term_count.tolist(), strict=True))
    assert counts == {"round": 2, "tax": 3, "cut": 1}
    assert history.term_row["tax"] == history.terms.index("tax")
