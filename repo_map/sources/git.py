"""Run git read-only: without hooks, filters or transports, within a deadline and resource limits."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import IO, NamedTuple

from repo_map.errors import RepoMapError
from repo_map.sources.repository import (
    ForeignRepositoryError,
    Repository,
    UnsafeRepositoryError,
    discover_repository,
)
from repo_map.working_folder import find_program

TIMEOUT_S = 60.0
"""Seconds after which a call is ended, whatever it waits for."""
_MAX_OUTPUT_BYTES = 200_000_000
"""400,000 names take some 30 MB, 3,000 commits of a large repository less than 10."""
_MAX_MEMORY_BYTES = 4_000_000_000
_LISTING_CPU_S = 10
"""CPU time of a listing: 80,000 files take 1 s, unless ignore patterns are slow."""
_ERROR_BYTES = 10_000
_CHUNK = 1 << 16
_EXIT_S = 5.0
"""For a git that has printed all to exit on a busy machine."""
_POLL_S = 0.2
"""Interval at which ``Deadline`` asks whether an answer is still wanted."""

HEAD = "HEAD"
_ID = re.compile(r"[0-9a-f]{40,64}")

SAFE_OPTIONS = (
    "--no-optional-locks",
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.pager=cat"),
    *("-c", "core.quotePath=false"),
    *("-c", "diff.external="),
    *("-c", f"diff.orderFile={os.devnull}"),
    *("-c", "core.attributesFile="),
    *("-c", "protocol.allow=never"),
    *("-c", "log.showSignature=false"),
    *("-c", "log.mailmap=false"),
    # A folder that looks like a repository is none: its files may be anybody's.
    *("-c", "safe.bareRepository=explicit"),
)
"""Options of every call: no hook, pager, filter, transport or other program is run."""
# The user's settings; the others locate a repository, or were set by a git that runs this program as a hook.
_USER_VARIABLES = (
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_KEY_",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_VALUE_",
    "GIT_EXEC_PATH",
)
_CEILINGS = "GIT_CEILING_DIRECTORIES"
_NO_ATTRIBUTES = Path(__file__).parent
"""A folder outside every repository: git reads attributes in its working folder."""


class GitError(RepoMapError):
    """Git is missing, refuses the repository, or fails; the message is one sentence."""

    code = "git_failed"

    def __init__(self, message: str, *, is_notable: bool = False) -> None:
        super().__init__(message)
        self.is_notable = is_notable
        """True if it must be shown to the user: the folder has a foreign owner or an unsafe repository."""


class GitTimeoutError(GitError):
    """Git takes too long for a listing, as it would again."""


class Deadline:
    """The moment at which a call is ended: a timeout, or when its result is no longer wanted."""

    def __init__(self, seconds: float = TIMEOUT_S, is_wanted: Callable[[], bool] | None = None) -> None:
        """``is_wanted`` may also raise, which ends the call."""
        self._ends = time.monotonic() + seconds
        self._is_wanted = is_wanted

    def left(self) -> float:
        """Return the seconds to wait before asking again, 0 once the deadline has passed."""
        if self._is_wanted is not None and not self._is_wanted():
            return 0.0
        return min(max(0.0, self._ends - time.monotonic()), _POLL_S)


class GitOutput(NamedTuple):
    """The output of a command, and its exit status."""

    text: bytes
    status: int | None
    """None if the deadline, or the limit of its output, ended it."""
    errors: str = ""


class GitProcess:
    """A running git, read and fed in threads; its owner calls ``finish`` or ``end``."""

    def __init__(
        self,
        command: list[str],
        environment: dict[str, str],
        sent: bytes = b"",
        *,
        cpu_s: int | None = None,
        max_bytes: int = _MAX_OUTPUT_BYTES,
    ) -> None:
        """Start it, with at most ``cpu_s`` of CPU time and ``max_bytes`` of output.

        Raises:
            OSError: it can't be started.
        """
        self._process = subprocess.Popen(
            command,
            cwd=_NO_ATTRIBUTES,
            env=environment,
            stdin=subprocess.PIPE if sent else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A group of its own, so that what git starts ends with it.
            process_group=None if sys.platform == "win32" else 0,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        _limit_resources(self._process.pid, cpu_s)
        process = self._process
        assert process.stdout is not None
        assert process.stderr is not None
        self._max_bytes = max_bytes
        self._received: list[bytes] = []
        self._errors: list[bytes] = []
        self._is_read = Event()
        self._is_complete = False
        work = [partial(self._read, process.stdout), partial(_drain, process.stderr, self._errors)]
        if process.stdin is not None:
            work.append(partial(_feed, process.stdin, sent))
        self._threads = [Thread(target=each, daemon=True) for each in work]
        try:
            for thread in self._threads:
                thread.start()
        except BaseException:
            self._kill()
            raise

    def finish(self, deadline: Deadline) -> GitOutput:
        """Return its output until ``deadline``, and end it."""
        status = None
        try:
            # A call that starts after the deadline has no result, however fast git is.
            is_late = deadline.left() <= 0
            while (left := deadline.left()) > 0 and not self._is_read.wait(left):
                pass
            if not is_late and self._is_read.is_set() and self._is_complete:
                status = self._process.wait(timeout=_EXIT_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self.end()
        errors = b"".join(self._errors).decode("utf-8", "replace")
        return GitOutput(b"".join(self._received), status, errors)

    def end(self) -> None:
        """End it with all that it started, unless it has ended."""
        self._kill()
        # They see the end of their pipes now; the output is complete once they have.
        for thread in self._threads:
            thread.join(_EXIT_S)

    def _kill(self) -> None:
        if self._process.returncode is None:
            with suppress(OSError):
                if sys.platform == "win32":
                    self._process.kill()
                else:
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _read(self, stream: IO[bytes]) -> None:
        left = self._max_bytes
        try:
            with stream:
                while piece := os.read(stream.fileno(), _CHUNK):
                    self._received.append(piece[:left])
                    left -= len(piece)
                    if left < 0:
                        return
            self._is_complete = True
        finally:
            self._is_read.set()


class HistoryStart(NamedTuple):
    """The commit from which the history of a folder is read."""

    head: str
    """The commit's id."""
    git_dir: str
    prefix: str
    """The folder's path within the work tree, ``""`` for its root, else with a slash at its end."""


class Git:
    """Git in the repository around a folder."""

    def __init__(self, root: Path) -> None:
        """Check the repository around ``root``; raises ``GitError`` if git must not be run in it."""
        self._program = git_program()
        self._root = root
        self._repository = _safe_repository(root)

    def start(self, *arguments: str) -> GitProcess:
        """Start a call about the work tree, for ``Git.finish``; raises ``OSError`` if it can't be started."""
        repository = self._repository
        # Only if its settings name one: a repository without a work tree has to stay without.
        work_tree = ["--work-tree", str(repository.top)] if repository.work_tree else []
        command = [self._program, "-C", str(self._root), *SAFE_OPTIONS, *work_tree, *arguments]
        # Git must not discover another repository above the one that was checked.
        ceilings = (str(repository.top.parent), os.environ.get(_CEILINGS, ""))
        environment = git_environment() | {_CEILINGS: os.pathsep.join(filter(None, ceilings))}
        return GitProcess(command, environment, cpu_s=_LISTING_CPU_S)

    def finish(self, call: GitProcess, is_wanted: Callable[[], bool] | None = None) -> bytes:
        """Return the output of a started call; raises ``GitError`` if it failed."""
        output = call.finish(Deadline(TIMEOUT_S, is_wanted))
        if output.status == 0:
            return output.text
        if sys.platform != "win32" and output.status == -signal.SIGXCPU:
            raise GitTimeoutError(
                f"Git took more than {_LISTING_CPU_S} s of CPU time in `{self._root}`, as very slow "
                "patterns in a `.gitignore` can cause; simplify them.",
                is_notable=True,
            )
        if output.status is None:
            raise GitTimeoutError(
                f"Git did not answer within {TIMEOUT_S:g} s in `{self._root}`, as a pipe in the place of a "
                "file can cause; remove it.",
                is_notable=True,
            )
        raise _error(output.errors, self._root)

    def ask(self, *arguments: str) -> bytes:
        """Return the output of a call about the work tree; raises ``GitError``."""
        return self.finish(self.start(*arguments))

    def history_start(self, deadline: Deadline) -> HistoryStart | None:
        """Return where the history of the work tree begins.

        None if nothing is committed, git does not trust the owner, or it does not answer.
        """
        git_dir, prefix, head, *_ = (*self._locate(deadline, f"{HEAD}^{{commit}}"), "", "", "")
        # What names no commit may name a file, and comes back as it was given.
        return HistoryStart(head, git_dir, prefix) if _ID.fullmatch(head) else None

    def folder(self, deadline: Deadline) -> tuple[str, str] | None:
        """Return the git folder and the path within the work tree, as ``HistoryStart`` has them.

        None if git does not trust the owner or does not answer.
        """
        git_dir, prefix, *_ = (*self._locate(deadline), "", "")
        return (git_dir, prefix) if git_dir else None

    def _locate(self, deadline: Deadline, *names: str) -> list[str]:
        try:
            call = self.start("rev-parse", "--absolute-git-dir", "--show-prefix", *names)
        except OSError:
            return []
        output = call.finish(deadline)
        found = os.fsdecode(output.text).split("\n")
        # Git decides whether it trusts the owner; what it finds must be what was checked.
        is_safe = output.status == 0 and Path(found[0]).resolve() == self._repository.git_dir
        return found if is_safe else []

    def history(
        self,
        *arguments: str,
        lines: Iterable[str] = (),
        deadline: Deadline,
        max_bytes: int = _MAX_OUTPUT_BYTES,
    ) -> GitOutput | None:
        """Run a command on commits, with ``lines`` as its input; None if git can't be run.

        It opens no file of the work tree.
        """
        folders = ("--git-dir", str(self._repository.git_dir), "--work-tree", ".")
        command = [self._program, *SAFE_OPTIONS, *folders, *arguments]
        sent = "".join(f"{line}\n" for line in lines).encode()
        try:
            return GitProcess(command, git_environment(), sent, max_bytes=max_bytes).finish(deadline)
        except OSError:
            return None


def git_version() -> str:
    """Return the version of git; raises ``GitError`` if it is missing or does not answer."""
    try:
        output = GitProcess([git_program(), "--version"], git_environment()).finish(Deadline(10.0))
    except OSError as error:
        raise GitError(f"Git can't be run: {error.strerror}; reinstall it.") from error
    if output.status != 0:
        raise GitError("`git --version` failed; reinstall git.")
    return output.text.decode("utf-8", "replace").strip()


def git_environment() -> dict[str, str]:
    """Return the environment without variables that redirect git or let it prompt."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_USER_VARIABLES)
    }
    return variables | {
        # A partial clone would fetch each missing blob from its remote: no transport is allowed at all.
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_PAGER": "cat",
        "LC_ALL": "C",
    }


def git_program() -> str:
    """Return the path of git; raises ``GitError`` if it is missing."""
    executable = find_program("git")
    if executable is None:
        raise GitError("git is not installed; install it to get history and ignore rules.")
    return executable


def _safe_repository(root: Path) -> Repository:
    try:
        repository = discover_repository(root)
    except ForeignRepositoryError as error:
        raise GitError(
            f"The `.git` of `{root}` names the repository {error}, which does not name it back; "
            "add it there with `git worktree add`, or navigate that repository.",
            is_notable=True,
        ) from None
    except UnsafeRepositoryError as error:
        raise GitError(
            f"Git is not run in `{root}`, because {error}; fix that to get history and ignore rules.",
            is_notable=True,
        ) from None
    if repository is None:
        raise GitError(f"`{root}` is not in a git repository.")
    return repository


def _error(errors: str, root: Path) -> GitError:
    if "dubious ownership" in errors:
        found = re.search(r"repository at '(.*)'", errors)
        owned = found[1] if found else str(root)
        return GitError(
            f"Git refuses `{owned}` because another user owns it; "
            f"run `git config --global --add safe.directory {shlex.quote(owned)}` to trust it.",
            is_notable=True,
        )
    first_line = next(iter(errors.splitlines()), "no reason given")
    return GitError(f"Git failed in `{root}`: {first_line}")


def _drain(stream: IO[bytes], received: list[bytes]) -> None:
    """Read a stream to its end, and keep its start."""
    left = _ERROR_BYTES
    with stream:
        while piece := os.read(stream.fileno(), _CHUNK):
            if left > 0:
                received.append(piece[:left])
                left -= len(piece)


def _feed(stream: IO[bytes], sent: bytes) -> None:
    # A process that ended early has no reader for the rest; its status tells why.
    with suppress(OSError, ValueError), stream:
        stream.write(sent)


def _limit_resources(process_id: int, cpu_s: int | None) -> None:
    """Limit the memory and CPU time of a git on Linux: an object can be a bomb."""
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 - not on every system

        wanted = [(resource.RLIMIT_DATA, _MAX_MEMORY_BYTES)]
        if cpu_s is not None:
            wanted.append((resource.RLIMIT_CPU, cpu_s))
        for limit, value in wanted:
            with suppress(OSError, ValueError):
                hard = resource.prlimit(process_id, limit)[1]
                soft = value if hard == resource.RLIM_INFINITY else min(value, hard)
                resource.prlimit(process_id, limit, (soft, hard))
