"""``python -m repo_navigator.background WORK …``: background work in its own process.

``index REPOSITORY…`` indexes repositories whole, after an answer that came from a first look. For hooks
``refresh ROOT STATE`` refreshes the index, and ``check ROOT STATE`` stores what a session's edits certainly
break; both end within three minutes, without supervision.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Timer
from typing import BinaryIO, Final

import anyio
from filelock import FileLock, Timeout

from mcp_server.loading import load_navigator
from mcp_server.repositories import require_allowed, work_tree
from mcp_server.settings import Settings, read_settings
from navigator.settings import in_memory
from repo_map.cache import replace_file
from repo_map.check.check import check_changes
from repo_map.check.git_diff import read_changes
from repo_map.check.model import WORKTREE, FindingKind
from repo_map.check.report import describe_fault, group_findings
from repo_map.index.build import build_index, refresh_index
from repo_map.index.index import Index
from repo_map.messages import one_line
from repo_map.sources import disk
from repo_map.working_folder import harden_sys_path
from repo_navigator.hook import Findings, findings_file, read_lines

_TIMEOUT_S: Final = 180.0
_MAX_TRIES: Final = 3
"""Checks in a row while files change that no hook reports."""


def main() -> None:
    """Do the work that the arguments name; errors are not reported, and the next call tries again."""
    harden_sys_path()
    with suppress(OSError, AttributeError):
        os.nice(10)
    work, *arguments = sys.argv[1:]
    settings = read_settings()
    if work == "index":
        for repository in arguments:
            anyio.run(_index, repository, settings)
        return
    timer = Timer(_TIMEOUT_S, os._exit, (0,))
    timer.daemon = True
    timer.start()
    root, state = map(Path, arguments)
    with suppress(Exception):
        if work_tree(root) == root:
            require_allowed(root, settings.allowed)
            if work == "check":
                check_edits(root, state, settings)
            else:
                build_index(root, unmasked=settings.unmasked, limits=settings.limits)
    os._exit(0)


async def _index(repository: str, settings: Settings) -> None:
    """Index a repository whole, with its history, unless another process does."""
    folder = (settings.data_dir or Path(tempfile.gettempdir())) / "indexing"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(Timeout), FileLock(folder / f"{_digest(repository)}.lock", timeout=0):
        navigator = load_navigator(in_memory(settings), takes_steps=False)
        try:
            await navigator.index_repository(repository)
        finally:
            await navigator.aclose()


def check_edits(root: Path, state: Path, settings: Settings) -> None:
    """Store what a session's edits break beside its state, until no edit follows.

    Raises:
        Timeout: Another process checks the session, and takes up the latest edit.
        RepoMapError: The repository can't be read.
        OSError: The findings can't be written.
    """
    checked = 0
    # An edit that comes while this process gives up the lock starts no other check, so it looks once more.
    while len(read_lines(state)) != checked:
        with FileLock(state.with_suffix(".lock"), timeout=0):
            checked = _check_latest(root, state, settings)


def _check_latest(root: Path, state: Path, settings: Settings) -> int:
    """Check until neither edits nor files change meanwhile, and return how many edits there were."""
    index = build_index(root, unmasked=settings.unmasked, limits=settings.limits)
    for _ in range(_MAX_TRIES):
        edited = read_lines(state)
        found = json.dumps(find_breaks(index, root, edited)).encode("utf-8", "replace")
        before, index = index, refresh_index(index)
        if index.fingerprint == before.fingerprint and len(read_lines(state)) == len(edited):
            replace_file(findings_file(state), partial(_write, found))
            break
    return len(edited)


def _write(content: bytes, file: BinaryIO) -> None:
    file.write(content)


def find_breaks(index: Index, root: Path, edited: list[str]) -> Findings:
    """Return what the edited files certainly break as they are now; ``""`` stands for any changed file."""
    patch = read_changes(index, WORKTREE)[1]
    if "" not in edited:
        # What was changed before the session is no news to it.
        files = tuple(each for each in patch.files if {each.old, each.new} & {*edited})
        patch = patch._replace(files=files)
    checked = check_changes(index, patch)
    # Where the check is incomplete, only a file that no longer parses is a fact.
    unparsed = [each for each in checked.findings if each.kind is FindingKind.UNPARSED]
    listed = unparsed if unparsed or checked.limitations else checked.findings
    certain = [each for each in listed if each.is_sure]
    lines = {
        _digest(f"{each.path}\0{each.message}"): one_line(describe_fault(each, at))
        for each, at in group_findings(certain)
    }
    paths = sorted({*checked.changed, *(each.path for each in certain)})
    return Findings(len(edited), lines, paths, [*disk.states(root, paths)])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


if __name__ == "__main__":
    main()
