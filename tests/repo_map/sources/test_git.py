"""Git is asked only where that is safe, within a time, and nothing of it stays behind."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from navigator.settings import NavigatorSettings
from navigator.workspaces.workspace import Workspaces
from repo_map.history import HistoryError, file_commits
from repo_map.sources.files import list_files
from repo_map.sources.git import Deadline, Git, GitProcess, git_environment
from repo_map.sources.repository import ALLOWED_ALTERNATES, discover_repository
from repo_map.sources.source import FolderSource
from tests.support.trees import commit, git, write

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes, links and shell scripts")
FILES = {"a.py": "x = 1\n", "src/b.py": "y = 2\n"}


def test_git_that_waits_for_a_pipe_is_ended_and_not_asked_again_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repo_map.sources.git.TIMEOUT_S", 0.3)
    root = write(commit(tmp_path, FILES), {"src/c.log": ""})
    os.mkfifo(root / "src/.gitignore")
    asked: list[Path] = []
    monkeypatch.setattr("repo_map.sources.listing.Git", lambda root: asked.append(root) or Git(root))
    for _ in range(2):
        listed = list_files(root)
        assert listed.paths == ("a.py", "src/b.py", "src/c.log")
        assert "did not answer" in "".join(problem.what for problem in listed.problems)
    assert asked == [root]


@pytest.mark.parametrize(
    "ends", [lambda: Deadline(0.3), lambda: Deadline(60, is_wanted=lambda: False)], ids=["late", "unwanted"]
)
def test_what_is_not_waited_for_is_ended_with_all_that_it_started(
    tmp_path: Path, ends: Callable[[], Deadline]
) -> None:
    started = tmp_path / "started"
    script = f"sleep 600 & echo $$ $! | tee {started}.draft; mv {started}.draft {started}; exec sleep 600"
    call = GitProcess(["/bin/sh", "-c", script], git_environment())
    wait_until(started.exists)
    output = call.finish(ends())
    assert output.status is None
    assert output.text.decode() == started.read_text()
    for process_id in map(int, output.text.split()):
        wait_until(partial(has_ended, process_id))


def wait_until(happens: Callable[[], bool]) -> None:
    """Return once it happens; the limit is for what never does."""
    limit = time.monotonic() + 30
    while not happens():
        assert time.monotonic() < limit


def has_ended(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_listing_that_nobody_waits_for_ends_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = commit(tmp_path / "root", FILES)
    put_git_that_hangs(tmp_path / "bin", monkeypatch)

    def give_up() -> None:
        if (tmp_path / "bin/pid").exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list_files(root, on_wait=give_up)
    wait_until(partial(has_ended, int((tmp_path / "bin/pid").read_text())))


def put_git_that_hangs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = f"#!/bin/sh\necho $$ > {folder}/draft\nmv {folder}/draft {folder}/pid\nexec sleep 600\n"
    write(folder, {"git": script})
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_what_prints_without_end_is_ended() -> None:
    command = ["/bin/sh", "-c", "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyy; done"]
    output = GitProcess(command, {}, max_bytes=1_000_000).finish(Deadline())
    assert output.status is None
    assert len(output.text) <= 1_000_000


def test_a_server_that_ends_waits_for_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    roots = [commit(tmp_path / f"r{at}", FILES) for at in range(12)]
    put_git_that_hangs(tmp_path / "bin", monkeypatch)

    async def open_and_end() -> None:
        workspaces = Workspaces(NavigatorSettings(use_cache=False, workers=1))
        opened = [asyncio.create_task(workspaces.open(root)) for root in roots]
        await asyncio.to_thread(wait_until, (tmp_path / "bin/pid").exists)
        await workspaces.halt()
        ended = await asyncio.gather(*opened, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in ended)

    asyncio.run(open_and_end())


def test_folders_that_git_would_wait_in_keep_nobody_waiting(tmp_path: Path) -> None:
    traps = [write(tmp_path / f"trap{at}", FILES) for at in range(60)]
    for root in traps:
        os.mkfifo(root / ".git")
    sane = commit(tmp_path / "sane", FILES)

    async def open_all() -> int:
        workspaces = Workspaces(NavigatorSettings(use_cache=False, workers=1))
        opened = [workspaces.open(root) for root in (*traps, sane)]
        found = await asyncio.gather(*opened)
        return sum(len(workspace.index) for workspace, _ in found)

    assert asyncio.run(open_all()) == 61 * 2


def test_objects_are_borrowed_of_whom_the_user_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lender = commit(tmp_path / "lender", FILES)
    git(lender, "clone", "-q", "--shared", str(lender), str(tmp_path / "clone"))
    with pytest.raises(HistoryError):
        file_commits(FolderSource(tmp_path / "clone"), "a.py", 1)
    (told,) = list_files(tmp_path / "clone").problems
    assert f"set {ALLOWED_ALTERNATES}={lender / '.git/objects'}" in told.what
    assert "fix that" not in told.what
    monkeypatch.setenv(ALLOWED_ALTERNATES, os.pathsep.join(("/nowhere", str(lender))))
    assert file_commits(FolderSource(tmp_path / "clone"), "a.py", 1)
    assert list_files(tmp_path / "clone").problems == ()


def test_work_trees_beside_a_bare_repository_are_believed(tmp_path: Path) -> None:
    origin = commit(tmp_path / "origin", FILES)
    git(origin, "clone", "-q", "--bare", str(origin), str(tmp_path / "project/.bare"))
    write(tmp_path / "project", {".git": "gitdir: ./.bare\n"})
    git(tmp_path / "project", "worktree", "add", "-q", "feature")
    for root in (tmp_path / "project/feature", tmp_path / "project/feature/src"):
        found = discover_repository(root)
        assert found is not None
        assert (found.top, found.common_dir) == (tmp_path / "project/feature", tmp_path / "project/.bare")
        assert file_commits(FolderSource(root), "b.py" if root.name == "src" else "a.py", 1)
        assert list_files(root).problems == ()


def test_settings_that_name_ordinary_files_are_followed(tmp_path: Path) -> None:
    root = commit(tmp_path / "root", FILES)
    write(root, {"shared.conf": "[core]\n\texcludesFile = ignored\n", "ignored": "*.log\n", "c.log": ""})
    git(root, "config", "include.path", "../shared.conf")
    git(root, "config", "core.worktree", "..")
    assert list_files(root).paths == ("a.py", "ignored", "shared.conf", "src/b.py")
    assert list_files(root).problems == ()
