"""The only way to git, a read-only source of facts: no repository makes it run code, wait or stay."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import IO, NamedTuple

from repo_map.errors import RepoMapError
from repo_map.sources.repository import (
    BorrowedRepositoryError,
    Repository,
    UnsoundRepositoryError,
    find_repository,
    first_trap,
)
from repo_map.working_folder import find_program

LONGEST_S = 60.0
"""Seconds after which a call is ended, whatever it waits for."""
_MOST_BYTES = 200_000_000
"""Of output; 400,000 names take some 30 MB, 3,000 commits of a large repository less than 10."""
_MOST_MEMORY = 4_000_000_000
_LISTING_CPU_S = 10
"""Of CPU time for a question about the work tree: 80,000 files take one, unless patterns are slow."""
_ERROR_BYTES = 10_000
_CHUNK = 1 << 16
_END_S = 5.0
"""For a git that has printed all to end on a busy machine."""
_LOOK_UP_S = 0.2
"""After which it is asked whether an answer is still wanted."""
_SLOW_S = 0.5
"""After which it is looked for what git may be waiting for; 10,000 files are listed in a tenth of that."""

HEAD = "HEAD"
_ID = re.compile(r"[0-9a-f]{40,64}")

HARDENED = (
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
"""What every call begins with: no hook, pager, filter, transport or other program is run."""
# The user's own settings; the others say where a repository is, or were set by a git that runs us as a hook.
_KEPT_VARIABLES = (
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
"""A folder that no repository's author writes in: git reads attributes in the folder that it stands in."""


class GitError(RepoMapError):
    """Git is missing, refuses the repository, or fails; the message says which in one sentence."""

    code = "git_failed"

    def __init__(self, message: str, *, is_notable: bool = False) -> None:
        super().__init__(message)
        self.is_notable = is_notable
        """Whether the user should hear of it: the folder, or its repository, is somebody else's or odd."""


class SlowRulesError(GitError):
    """Git takes too much CPU time for a work tree, as it would again."""


class Deadline:
    """The moment after which nothing more is read: when the time is up, or nobody wants it any more."""

    def __init__(self, seconds: float = LONGEST_S, is_wanted: Callable[[], bool] | None = None) -> None:
        """``is_wanted`` may also raise, which ends the call that is waited for."""
        self._ends = time.monotonic() + seconds
        self._is_wanted = is_wanted

    def left(self) -> float:
        """Return the seconds that are left, at most those until it is worth asking again; 0 for none."""
        if self._is_wanted is not None and not self._is_wanted():
            return 0.0
        return min(max(0.0, self._ends - time.monotonic()), _LOOK_UP_S)


class GitOutput(NamedTuple):
    """What a command printed, and how it ended."""

    text: bytes
    status: int | None
    """The exit status, ``None`` when the deadline, or the limit of what it may print, ended it first."""
    errors: str = ""
    trap: str = ""
    """What it was ended for, where it would have waited for ever."""


class GitProcess:
    """One run of git, read and fed side by side; whoever starts it finishes or ends it."""

    def __init__(
        self,
        command: list[str],
        environment: dict[str, str],
        sent: bytes = b"",
        cpu_s: int | None = None,
        file_bytes: int | None = None,
    ) -> None:
        """Start it, with at most ``cpu_s`` of CPU time and files of ``file_bytes``.

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
        _bound(self._process.pid, cpu_s, file_bytes)
        process = self._process
        assert process.stdout is not None
        assert process.stderr is not None
        self._received: list[bytes] = []
        self._errors: list[bytes] = []
        self._is_read = Event()
        self._is_whole = False
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

    def finish(self, deadline: Deadline, traps: Callable[[], Iterator[str]] = lambda: iter(())) -> GitOutput:
        """Return what it prints until ``deadline``.

        ``traps`` looks for what it may be waiting for, where it takes long: it yields ``""`` while it finds
        nothing, and then the reason to end it.
        """
        trap, status, waited, pause = "", None, 0.0, _SLOW_S
        try:
            # What is asked for too late is not answered, however fast git is.
            is_late = deadline.left() <= 0
            while not trap and (left := deadline.left()) > 0 and not self._is_read.wait(left):
                waited += left
                if waited >= pause:
                    trap = self._first(traps(), deadline)
                    # A tree that takes long to look through is looked through less often.
                    waited, pause = 0.0, pause * 2
            if not is_late and self._is_read.is_set() and self._is_whole:
                status = self._process.wait(timeout=_END_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self.end()
        errors = b"".join(self._errors).decode("utf-8", "replace")
        return GitOutput(b"".join(self._received), status, errors, trap)

    def end(self) -> None:
        """End it at once, with whatever it started; one that has ended stays as it is."""
        self._kill()
        # They see the end of their pipes now; the pieces are complete once they have.
        for thread in self._threads:
            thread.join(_END_S)

    def _kill(self) -> None:
        if self._process.returncode is None:
            with suppress(OSError):
                if sys.platform == "win32":
                    self._process.kill()
                else:
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _first(self, traps: Iterator[str], deadline: Deadline) -> str:
        """Return the first trap that is found before git answers."""
        for trap in traps:
            if trap or self._is_read.is_set() or not deadline.left():
                return trap
        return ""

    def _read(self, stream: IO[bytes]) -> None:
        total = 0
        with stream:
            while piece := os.read(stream.fileno(), _CHUNK):
                total += len(piece)
                if total > _MOST_BYTES:
                    break
                self._received.append(piece)
            else:
                self._is_whole = True
        self._is_read.set()


class GitConversation:
    """One run of git that answers line by line; whoever starts it ends it."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        """Start it; raises ``OSError`` where it can't be."""
        self._process = subprocess.Popen(
            command,
            cwd=_NO_ATTRIBUTES,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=None if sys.platform == "win32" else 0,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        _bound(self._process.pid, None)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asked, self._answers = self._process.stdin, self._process.stdout

    def ask(self, line: str) -> bytes:
        """Send a line and return the one that answers; ``b""`` where git has ended."""
        self._asked.write(f"{line}\n".encode())
        self._asked.flush()
        return self._answers.readline()

    def read(self, size: int) -> bytes:
        """Return so many bytes of an answer, fewer where git has ended."""
        return self._answers.read(size)

    def kill(self) -> None:
        """End it at once: whoever reads meets its end."""
        with suppress(OSError):
            if sys.platform == "win32":
                self._process.kill()
            elif self._process.returncode is None:
                os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """End it, and wait for that."""
        self.kill()
        self._process.wait()
        for stream in (self._asked, self._answers):
            with suppress(OSError):
                stream.close()


class HistoryPlace(NamedTuple):
    """Where the history of a folder begins."""

    head: str
    """The commit's id."""
    repository: str
    """Git's own folder."""
    prefix: str
    """The folder's path within the work tree, ``""`` for its root, else with a slash at its end."""


class Git:
    """The repository around a folder, found sound; every question about it goes through here."""

    def __init__(self, root: Path) -> None:
        """Look at the repository around ``root``; raises ``GitError`` where git is not to be asked."""
        self._program = git_program()
        self._root = root
        self._repository = _sound_repository(root)

    def start(self, *arguments: str) -> GitProcess:
        """Start a call about the work tree, finished by ``Git.finish``; raises ``OSError`` where it can't."""
        repository = self._repository
        # Only where its settings name one: a repository without a work tree has to stay without.
        place = ["--work-tree", str(repository.top)] if repository.work_tree else []
        command = [self._program, "-C", str(self._root), *HARDENED, *place, *arguments]
        # Nothing above the folder that was looked at is looked at by git.
        ceilings = (str(repository.top.parent), os.environ.get(_CEILINGS, ""))
        environment = git_environment() | {_CEILINGS: os.pathsep.join(filter(None, ceilings))}
        return GitProcess(command, environment, cpu_s=_LISTING_CPU_S)

    def finish(self, call: GitProcess, is_wanted: Callable[[], bool] | None = None) -> bytes:
        """Return what a started call printed, or raise the ``GitError`` that says why there is nothing."""
        traps = partial(first_trap, self._repository, self._root)
        output = call.finish(Deadline(LONGEST_S, is_wanted), traps)
        if output.status == 0:
            return output.text
        if output.trap:
            raise _odd(self._root, output.trap)
        if sys.platform != "win32" and output.status == -signal.SIGXCPU:
            raise SlowRulesError(
                f"Git took more than {_LISTING_CPU_S} s of CPU time in `{self._root}`, as very slow "
                "patterns in a `.gitignore` can cause; simplify them and start again.",
                is_notable=True,
            )
        if output.status is None:
            raise GitError(
                f"Git did not answer within {LONGEST_S:g} s in `{self._root}`; try again.", is_notable=True
            )
        raise _error(output.errors, self._root)

    def ask(self, *arguments: str) -> bytes:
        """Return the answer to a question about the work tree; raises ``GitError``."""
        return self.finish(self.start(*arguments))

    def place(self, deadline: Deadline) -> HistoryPlace | None:
        """Return where the history of the work tree begins.

        None where nothing is committed, and where git does not trust the owner or does not answer.
        """
        git_folder, prefix, head, *_ = (*self._located(deadline, f"{HEAD}^{{commit}}"), "", "", "")
        # What names no commit may name a file, and comes back as it was given.
        return HistoryPlace(head, git_folder, prefix) if _ID.fullmatch(head) else None

    def folder(self, deadline: Deadline) -> tuple[str, str] | None:
        """Return git's own folder and the path within the work tree, as ``HistoryPlace`` has them.

        None where git does not trust the owner or does not answer.
        """
        git_folder, prefix, *_ = (*self._located(deadline), "", "")
        return (git_folder, prefix) if git_folder else None

    def _located(self, deadline: Deadline, *names: str) -> list[str]:
        try:
            call = self.start("rev-parse", "--absolute-git-dir", "--show-prefix", *names)
        except OSError:
            return []
        output = call.finish(deadline, self._trap)
        found = os.fsdecode(output.text).split("\n")
        # Git itself decides whether it trusts the owner; what it finds must be what was looked at.
        is_sound = output.status == 0 and Path(found[0]).resolve() == self._repository.own
        return found if is_sound else []

    def converse(self, *arguments: str) -> GitConversation:
        """Start a call about what is committed that answers as long as it is asked; raises ``OSError``."""
        place = ("--git-dir", str(self._repository.own), "--work-tree", ".")
        return GitConversation([self._program, *HARDENED, *place, *arguments], git_environment())

    def history(self, *arguments: str, lines: Iterable[str] = (), deadline: Deadline) -> GitOutput | None:
        """Ask for what is committed, ``lines`` going to its standard input; None where git can't run.

        No file of the work tree is opened.
        """
        place = ("--git-dir", str(self._repository.own), "--work-tree", ".")
        command = [self._program, *HARDENED, *place, *arguments]
        sent = "".join(f"{line}\n" for line in lines).encode()
        try:
            return GitProcess(command, git_environment(), sent).finish(deadline, self._trap)
        except OSError:
            return None

    def _trap(self) -> Iterator[str]:
        """Look again at the repository's own files."""
        try:
            _sound_repository(self._root)
        except GitError as error:
            yield str(error)


def git_version() -> str:
    """Return what git says of its version; raises ``GitError`` where it is missing or does not answer."""
    try:
        output = GitProcess([git_program(), "--version"], git_environment()).finish(Deadline(10.0))
    except OSError as error:
        raise GitError(f"Git can't be run: {error.strerror}; reinstall it.") from error
    if output.status != 0:
        raise GitError("Git does not answer when it is asked for its version; reinstall it.")
    return output.text.decode("utf-8", "replace").strip()


def git_environment() -> dict[str, str]:
    """Return the environment without the variables that would point git elsewhere or let it ask."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_KEPT_VARIABLES)
    }
    return kept | {
        # A partial clone would fetch each missing blob from its remote: no transport is allowed at all.
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_PAGER": "cat",
        "LC_ALL": "C",
    }


def git_program() -> str:
    """Return the path of git; raises ``GitError`` where it is missing."""
    executable = find_program("git")
    if executable is None:
        raise GitError("git is not installed; install it to get history and ignore rules.")
    return executable


def _sound_repository(root: Path) -> Repository:
    try:
        repository = find_repository(root)
    except BorrowedRepositoryError as error:
        raise GitError(
            f"The `.git` of `{root}` names the repository {error}, which does not name it back; "
            "add it there with `git worktree add`, or navigate that repository.",
            is_notable=True,
        ) from None
    except UnsoundRepositoryError as error:
        raise _odd(root, str(error)) from None
    if repository is None:
        raise GitError(f"`{root}` is not in a git repository.")
    return repository


def _odd(root: Path, reason: str) -> GitError:
    return GitError(
        f"Git is not run in `{root}`, because {reason}; fix that to get history and ignore rules.",
        is_notable=True,
    )


def _error(said: str, root: Path) -> GitError:
    if "dubious ownership" in said:
        found = re.search(r"repository at '(.*)'", said)
        owned = found[1] if found else str(root)
        return GitError(
            f"Git refuses `{owned}` because another user owns it; "
            f"run `git config --global --add safe.directory {shlex.quote(owned)}` to trust it.",
            is_notable=True,
        )
    first_line = next(iter(said.splitlines()), "no reason given")
    return GitError(f"Git failed in `{root}`: {first_line}")


def _drain(stream: IO[bytes], kept: list[bytes]) -> None:
    """Read a stream to its end, and keep how it begins."""
    left = _ERROR_BYTES
    with stream:
        while piece := os.read(stream.fileno(), _CHUNK):
            if left > 0:
                kept.append(piece[:left])
                left -= len(piece)


def _feed(stream: IO[bytes], sent: bytes) -> None:
    # One that ended early says so by its status; the rest of the input has no reader.
    with suppress(OSError, ValueError), stream:
        stream.write(sent)


def _bound(process_id: int, cpu_s: int | None = None, file_bytes: int | None = None) -> None:
    """Let the system refuse a git more memory than any honest repository needs: objects can be bombs.

    One that uses more than ``cpu_s`` of CPU time, or writes a file of more than ``file_bytes``, gets a signal
    that ends it.
    """
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 - not on every system

        wanted = [(resource.RLIMIT_DATA, _MOST_MEMORY)]
        if cpu_s is not None:
            wanted.append((resource.RLIMIT_CPU, cpu_s))
        if file_bytes is not None:
            wanted.append((resource.RLIMIT_FSIZE, file_bytes))
        for limit, value in wanted:
            with suppress(OSError, ValueError):
                most = resource.prlimit(process_id, limit)[1]
                least = value if most == resource.RLIM_INFINITY else min(value, most)
                resource.prlimit(process_id, limit, (least, most))
