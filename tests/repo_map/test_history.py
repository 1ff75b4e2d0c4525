"""The last commits of a file, as git has them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from repo_map.history import HistoryError, file_commits
from repo_map.sources.commits import CommitSource
from repo_map.sources.source import FolderSource, combine
from tests.support.trees import commit, git

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = commit(tmp_path / "shop", {"src/pay.py": "x = 1\n", "b.py": "y = 1\n"}, message="Add pay")
    commit(root, {"src/pay.py": "x = 2\n"}, message="Change pay\n\nWith a body.\n")
    (root / "src/pay.py").rename(root / "src/paid.py")
    commit(root, {}, message="Move pay")
    return root


def subjects(source: FolderSource | CommitSource, path: str, limit: int = 8) -> list[str]:
    return [each.subject for each in file_commits(source, path, limit)]


def test_commits_are_followed_over_renames(root: Path) -> None:
    assert subjects(FolderSource(root), "src/paid.py") == ["Move pay", "Change pay", "Add pay"]
    assert subjects(FolderSource(root), "src/paid.py", 2) == ["Move pay", "Change pay"]
    assert subjects(FolderSource(root), "nowhere.py") == []


def test_a_subfolder_and_a_commit_have_their_own(root: Path) -> None:
    assert subjects(FolderSource(root / "src"), "paid.py", 1) == ["Move pay"]
    assert subjects(CommitSource(root, "HEAD~1"), "src/pay.py") == ["Change pay", "Add pay"]


def test_merges_are_left_out(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "side")
    commit(root, {"b.py": "y = 2\n"}, message="Side")
    git(root, "checkout", "-q", "-")
    commit(root, {"c.py": "z = 1\n"}, message="Main")
    git(root, "merge", "-q", "--no-edit", "side")
    assert subjects(FolderSource(root), "b.py") == ["Side", "Add pay"]


def test_a_folder_without_commits_has_no_history(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(HistoryError):
        file_commits(FolderSource(tmp_path / "plain"), "a.py", 8)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HistoryError):
        file_commits(FolderSource(root), "src/paid.py", 8)


def test_each_of_several_repositories_has_its_own(root: Path, tmp_path: Path) -> None:
    other = commit(tmp_path / "other", {"a.py": "a = 1\n"}, message="Begin")
    both = combine([FolderSource(root), FolderSource(other)], ["shop", "other"])
    assert subjects(both, "other/a.py") == ["Begin"]
    assert subjects(both, "shop/b.py") == ["Add pay"]


@needs_posix
def test_no_file_of_the_work_tree_is_opened(root: Path) -> None:
    for name in (".gitattributes", "src/.gitattributes", ".mailmap", "src/.gitignore"):
        os.mkfifo(root / name)
    os.mkfifo(root / "pipe")
    git(root, "config", "diff.orderFile", str(root / "pipe"))
    assert subjects(FolderSource(root / "src"), "paid.py", 1) == ["Move pay"]
