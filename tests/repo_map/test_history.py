"""History, read from real repositories made on the spot."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from repo_map.history import History, read_history
from repo_map.history.commits import clean_message
from repo_map.history.votes import (
    changed_together,
    churn,
    file_votes,
    recency,
    similarity,
    touched_units,
    translate,
    unit_votes,
)
from repo_map.relevance.terms import terms_of, words
from repo_map.store import Store

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


def goal(text: str) -> Counter[str]:
    return Counter(term for word in words(text) for term in terms_of(word))


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
    assert history.breadth.tolist() == [40]
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
    assert len(read(repository, tmp_path)) == 1


def test_nothing_that_a_repository_configures_is_run(repository: Repository, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    repository.commit("Add", a__py=LINES)
    (repository.root / ".gitattributes").write_text("*.py diff=evil\n")
    repository.commit("Change line 2", a__py=LINES.replace("line 2", "two"))
    for name in ("diff.external", "diff.evil.command", "diff.evil.textconv", "core.pager", "core.fsmonitor"):
        repository.git("config", name, f"touch {witness};")
    assert touches(read(repository), 0) == [("a.py", 2, 2)]
    assert not witness.exists()


def test_trailers_are_no_part_of_the_message() -> None:
    message = "Fix the cache\n\nNote: it was cold.\n\nSigned-off-by: Ada <ada@example.org>\nChange-Id: I1\n"
    assert clean_message(message) == "Fix the cache\n\nNote: it was cold."


@pytest.fixture
def shop(repository: Repository) -> History:
    repository.commit("Add all", cart__py=LINES, tax__py=LINES, mail__py=LINES)
    repository.commit("Round the tax of a cart", cart__py=LINES + "a\n", tax__py=LINES + "a\n")
    repository.commit("Fix tax rounding for Norway", tax__py=LINES + "b\n")
    repository.commit("Send mail in plain text", mail__py=LINES.replace("line 1\n", "mail\n"))
    return read(repository)


def test_files_that_commits_like_the_goal_changed_get_the_votes(shop: History) -> None:
    alike = similarity(shop, goal("Tax is rounded wrongly"))
    votes = file_votes(shop, alike)
    assert shop.paths[int(votes.total.argmax())] == "tax.py"
    assert shop.subjects[int(votes.commit[shop.paths.index("tax.py")])] == "Round the tax of a cart"
    assert float(alike.max()) <= 1.0
    assert votes.total[shop.paths.index("mail.py")] == 0.0


def test_a_goal_without_known_words_gets_no_votes(shop: History) -> None:
    alike = similarity(shop, goal("zebra"))
    assert not alike.any()
    assert not file_votes(shop, alike).total.any()


def test_churn_counts_changes_and_recency_forgets_old_ones(shop: History) -> None:
    tax, mail = shop.paths.index("tax.py"), shop.paths.index("mail.py")
    assert churn(shop)[tax] == 3.0
    assert recency(shop, half_life_days=0.5)[mail] > recency(shop, half_life_days=0.5)[tax]


def test_what_changed_with_a_seed_is_found(shop: History) -> None:
    seeds = np.zeros(len(shop.paths))
    seeds[shop.paths.index("tax.py")] = 1.0
    together = changed_together(shop, seeds)
    assert together[shop.paths.index("cart.py")] > together[shop.paths.index("mail.py")]


def test_units_get_votes_and_lend_their_terms(shop: History) -> None:
    files = tuple(sorted(shop.paths))
    starts, ends = np.array([1, 6, 1, 6, 1, 6]), np.array([5, 11, 5, 11, 5, 11])
    touched = touched_units(shop, shop.align(files), np.array([0, 2, 4, 6]), starts, ends)
    alike = similarity(shop, goal("tax rounding"))
    votes = unit_votes(touched, alike, len(starts))
    assert int(votes.argmax()) == 5
    weights = translate(touched, alike, np.arange(7), np.arange(6), 6)
    assert int(weights.argmax()) == 5


def assert_same(one: History, other: History) -> None:
    assert one.head == other.head
    assert one.paths == other.paths
    assert one.subjects == other.subjects
    assert one.terms == other.terms
    for column in (
        "time",
        "breadth",
        "file_start",
        "file",
        "touch_start",
        "touch_file",
        "touch_first",
        "term",
    ):
        assert getattr(one, column).tolist() == getattr(other, column).tolist()
