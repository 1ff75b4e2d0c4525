"""Git as a read-only source of facts, run so that nothing in a repository can make it execute code."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from repo_map.errors import RepoMapError
from repo_map.worktree.borrowed import borrowed_repository

_HARDENED = (
    "--no-optional-locks",
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.pager=cat"),
    *("-c", "diff.external="),
    *("-c", "core.attributesFile="),
    *("-c", "protocol.allow=never"),
    *("-c", "log.showSignature=false"),
)
# The user's own settings; the others say where a repository is, or were set by a git that runs us as a hook.
_KEPT_VARIABLES = (
    "GIT_CEILING_DIRECTORIES",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_KEY_",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_VALUE_",
    "GIT_EXEC_PATH",
)


class GitError(RepoMapError):
    """Git is missing, refuses the repository, or fails; the message says which in one sentence."""

    def __init__(self, message: str, *, distrusted: bool = False) -> None:
        super().__init__(message)
        self.distrusted = distrusted
        """Whether the folder is not to be trusted: it, or its repository, is somebody else's."""


def git_command(root: Path, *arguments: str) -> list[str]:
    """Return the whole command line of a hardened git call in ``root``."""
    executable = shutil.which("git")
    if executable is None:
        raise GitError(
            "git is not installed, so nothing can be asked of it; install git for history and ignore rules."
        )
    if (elsewhere := borrowed_repository(root)) is not None:
        raise GitError(
            f"The `.git` of `{root}` names the repository `{elsewhere}`, which does not name it back; "
            "add it there with `git worktree add`, or navigate that repository.",
            distrusted=True,
        )
    return [executable, "-C", str(root), *_HARDENED, *arguments]


def git_environment() -> dict[str, str]:
    """Return the environment without the variables that would point git elsewhere or let it ask."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_KEPT_VARIABLES)
    }
    return kept | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_PAGER": "cat",
        "LC_ALL": "C",
    }


def start_git(root: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a hardened git call in ``root``; finish it with ``finish_git``."""
    return subprocess.Popen(
        git_command(root, *arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=git_environment(),
    )


def finish_git(process: subprocess.Popen[bytes], root: Path, *, timeout_s: float = 120.0) -> bytes:
    """Return what a started git call printed, or raise the reason it failed."""
    with process:
        try:
            output, errors = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            raise GitError(f"git did not answer within {timeout_s:g} s in `{root}`; try again.") from None
    if process.returncode == 0:
        return output
    raise _error(errors.decode("utf-8", "replace"), root)


def run_git(root: Path, *arguments: str, timeout_s: float = 120.0) -> bytes:
    """Run a hardened git call in ``root`` and return what it printed."""
    return finish_git(start_git(root, *arguments), root, timeout_s=timeout_s)


def _error(said: str, root: Path) -> GitError:
    if "dubious ownership" in said:
        found = re.search(r"repository at '(.*)'", said)
        owned = found[1] if found else str(root)
        return GitError(
            f"Git refuses `{owned}` because another user owns it; "
            f"run `git config --global --add safe.directory {shlex.quote(owned)}` to trust it.",
            distrusted=True,
        )
    first_line = next(iter(said.splitlines()), "no reason given")
    return GitError(f"Git failed in `{root}`: {first_line}")
