"""Run git read-only: without hooks, filters or transports, within a deadline and resource limits."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import NamedTuple

from repo_map.errors import RepoMapError, RepositoryNotFoundError
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
_MAX_REASON_CHARS = 200
_EXIT_S = 5.0
"""For the pipes of a git that was ended to close."""
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


class NotInRepositoryError(GitError):
    """The folder is in no git repository."""

    code = RepositoryNotFoundError.code


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
    """A running git; its owner calls ``finish`` or ``end``."""

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
        self._sent = sent
        self._max_bytes = max_bytes
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

    def finish(self, deadline: Deadline) -> GitOutput:
        """Return its output until ``deadline``, and end it."""
        status, sent = None, self._sent or None
        try:
            while status is None and (left := deadline.left()) > 0:
                try:
                    self._process.communicate(sent, left)
                    status = self._process.returncode
                except subprocess.TimeoutExpired as waiting:
                    sent = None
                    if len(waiting.output or b"") > self._max_bytes:
                        break
        finally:
            text, errors = self.end()
        is_cut = len(text) > self._max_bytes
        return GitOutput(
            text[: self._max_bytes],
            None if is_cut else status,
            errors[:_ERROR_BYTES].decode("utf-8", "replace"),
        )

    def end(self) -> tuple[bytes, bytes]:
        """End it with all that it started, unless it has ended, and return what it wrote."""
        process = self._process
        if process.returncode is None:
            with suppress(OSError):
                if sys.platform == "win32":
                    process.kill()
                else:
                    os.killpg(process.pid, signal.SIGKILL)
        try:
            return process.communicate(timeout=_EXIT_S)
        except subprocess.TimeoutExpired as waiting:  # What it started holds the pipes.
            return waiting.output or b"", waiting.stderr or b""


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
        return _require_listed(call.finish(Deadline(TIMEOUT_S, is_wanted)), self._root).text

    def ask(self, *arguments: str) -> bytes:
        """Return the output of a call about the work tree; raises ``GitError``."""
        return self.finish(self.start(*arguments))

    def history_start(self, deadline: Deadline) -> HistoryStart | None:
        """Return where the history of the work tree begins, with the head ``""`` if nothing is committed.

        None if git does not answer.

        Raises:
            GitError: git refuses the repository.
        """
        try:
            call = self.start("rev-parse", "--absolute-git-dir", "--show-prefix")
        except OSError:
            return None
        output = call.finish(deadline)
        git_dir, prefix, *_ = (*os.fsdecode(output.text).split("\n"), "")
        # Git decides whether it trusts the owner; what it finds must be what was checked.
        if output.status:
            raise git_error(output.errors, self._root)
        if output.status is None or Path(git_dir).resolve() != self._repository.git_dir:
            return None
        head = self.history("rev-parse", "--verify", "--quiet", f"{HEAD}^{{commit}}", deadline=deadline)
        return HistoryStart(head.text.decode().strip() if head and head.status == 0 else "", git_dir, prefix)

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


def list_untracked(root: Path, excluded: Sequence[str], is_wanted: Callable[[], bool]) -> GitOutput:
    """List the files of a folder by its ``.gitignore`` files, as if it were a repository without commits.

    A repository of its own, and each in the folder, is left alone; the latter are listed with a slash.

    Raises:
        GitError: git failed.
        OSError: there is no room for an empty repository, or git can't be started.
    """
    if Path(gettempdir()).resolve().is_relative_to(root):
        raise OSError(0, "the temporary folder is in it")
    with TemporaryDirectory() as empty:
        for name in ("objects", "refs"):
            Path(empty, name).mkdir()
        Path(empty, "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        folders = ("-C", str(root), "--git-dir", empty, "--work-tree", str(root))
        options = ("-z", "-o", "--exclude-standard", *(f"--exclude={name}" for name in excluded))
        command = [git_program(), *folders, *SAFE_OPTIONS, "ls-files", *options]
        output = GitProcess(command, git_environment(), cpu_s=_LISTING_CPU_S).finish(
            Deadline(TIMEOUT_S, is_wanted)
        )
    return _require_listed(output, root)


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
            f"Git is not run in `{root}`, because {error}; {error.remedy} to get history and ignore rules.",
            is_notable=True,
        ) from None
    if repository is None:
        raise NotInRepositoryError(f"`{root}` is not in a git repository.")
    return repository


def _require_listed(output: GitOutput, root: Path) -> GitOutput:
    """Return the output of a listing; raises ``GitError`` if it failed."""
    if output.status == 0:
        return output
    if sys.platform != "win32" and output.status == -signal.SIGXCPU:
        raise GitTimeoutError(
            f"Git took more than {_LISTING_CPU_S} s of CPU time in `{root}`, as very slow patterns in a "
            "`.gitignore` can cause; simplify them.",
            is_notable=True,
        )
    if output.status is None:
        raise GitTimeoutError(
            f"Git did not answer within {TIMEOUT_S:g} s in `{root}`, as a pipe in the place of a file can "
            "cause; remove it.",
            is_notable=True,
        )
    raise git_error(output.errors, root)


def git_error(errors: str, root: Path) -> GitError:
    """Return what git wrote when it failed as one sentence, with the command that helps where one does."""
    if "promisor remote" in errors:
        return GitError(
            "Objects of the commit are not in this partial clone; run "
            f"`git -C {shlex.quote(str(root))} fetch --refetch --no-filter` to get them.",
            is_notable=True,
        )
    if "dubious ownership" in errors:
        found = re.search(r"repository at '(.*)'", errors)
        owned = found[1] if found else str(root)
        return GitError(
            f"Git refuses `{owned}` because another user owns it; "
            f"run `git config --global --add safe.directory {shlex.quote(owned)}` to trust it.",
            is_notable=True,
        )
    reason = " ".join(errors.split())[:_MAX_REASON_CHARS] or "no reason given"
    return GitError(f"Git failed in `{root}`: {reason}")


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
