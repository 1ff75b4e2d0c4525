"""Git on mirrors and trees that the benchmarks' user named or had made: they are trusted as one's own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from repo_map.sources.git import SAFE_OPTIONS, Deadline, GitError, GitProcess, git_environment
from repo_map.sources.repository import ALLOWED_ALTERNATES


def git_command(root: Path, *arguments: str) -> list[str]:
    """Return the whole command line of a git call in ``root``, which may be a bare mirror."""
    return [
        shutil.which("git") or "git",
        "-C",
        str(root),
        *SAFE_OPTIONS,
        *("-c", "safe.bareRepository=all"),
        *arguments,
    ]


def run_git(root: Path, *arguments: str, lines: Iterable[str] = (), timeout_s: float = 120.0) -> bytes:
    """Run git in ``root``, with ``lines`` on its standard input, and return what it printed.

    Raises:
        GitError: It failed.
    """
    sent = "".join(f"{line}\n" for line in lines).encode()
    try:
        output = GitProcess(git_command(root, *arguments), git_environment(), sent).finish(
            Deadline(timeout_s)
        )
    except OSError as error:
        raise GitError(f"Git failed in `{root}`: {error}") from error
    if output.status == 0:
        return output.text
    raise GitError(f"Git failed in `{root}`: {next(iter(output.errors.splitlines()), 'no reason given')}")


def lend(objects: Path) -> None:
    """Let the navigator read histories whose objects lie in a mirror, in this process and those it starts."""
    named = os.environ.get(ALLOWED_ALTERNATES, "").split(os.pathsep)
    if str(objects) not in named:
        os.environ[ALLOWED_ALTERNATES] = os.pathsep.join(filter(None, (*named, str(objects))))
