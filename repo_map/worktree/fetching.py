"""Clones without a work tree, fetched from where their operator says and nowhere else: no hook, no prompt."""

from __future__ import annotations

import math
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from repo_map.messages import one_line
from repo_map.secrets.masking import mask_text
from repo_map.worktree.commit_names import CommitReach
from repo_map.worktree.git import HARDENED, Deadline, GitError, GitProcess, git_environment, git_program

_LONGEST_REASON = 200
_ALL_BRANCHES = ("*",)
_SSH = "ssh -oBatchMode=yes"
"""Asks for no password and for no new host; who needs another one sets ``GIT_SSH_COMMAND``."""
MOST_BYTES = 20_000_000_000
"""Of one clone, by default; what is fetched comes as one file."""
MOST_FILES = 200_000
"""Of one clone while it is fetched: a branch or a tag is a file until all are packed."""
_LEFT_FREE_BYTES = 1_000_000_000
"""On the disk of the clones, which often holds the navigations too."""
_DEAD_SECONDS = 86_400.0
"""A lock of git's that is older is nobody's: no fetch takes so long."""
_REDIRECTED = re.compile(r"returned error: 30\d")
_SETTINGS = (
    # Another host would be sent the credentials that are kept for it, and its code read under this name.
    *("-c", "http.followRedirects=false"),
    *("-c", "transfer.bundleURI=false"),
    *("-c", "fetch.uriProtocols="),
    *("-c", "http.saveCookies=false"),
    # One pack, whose size is bounded, in place of a file for each object.
    *("-c", "fetch.unpackLimit=1"),
    # Whatever the user's own settings ask for.
    *("-c", "core.askPass="),
    *("-c", "fetch.recurseSubmodules=no"),
    *("-c", "fetch.writeCommitGraph=false"),
    *("-c", "remote.pushDefault="),
    *("-c", "gc.autoDetach=false"),
    *("-c", "maintenance.autoDetach=false"),
    *("-c", "core.logAllRefUpdates=false"),
)


class FetchError(GitError):
    """Nothing was fetched; what was there before is there still. The message is why."""

    was_ended: bool = False
    """Whether git was ended while it fetched: the locks that it held are nobody's."""


def _ended(why: str) -> FetchError:
    error = FetchError(why)
    error.was_ended = True
    return error


def make_clone(folder: Path, deadline: Deadline) -> None:
    """Make an empty clone at ``folder``, which is not there yet; raises ``FetchError``."""
    _run(("init", "--quiet", "--template=", "--initial-branch=main", "--", str(folder)), {}, deadline)


class Refs(NamedTuple):
    """The branches and tags that are fetched, of a host or of a clone."""

    head: str
    """The branch that is read where none is named."""
    refs: tuple[str, ...]
    """Each as the id of its object, a blank and its name, in order."""


def remote_refs(address: str, branches: Sequence[str], deadline: Deadline) -> Refs:
    """Return what the other side has of what is fetched; raises ``FetchError``."""
    said = _run(("ls-remote", "--symref", "--", address), _transport(address), deadline)
    head, refs = branches[0] if branches else "", list[str]()
    for line in said.splitlines():
        named, _, what = line.partition("\t")
        if what == "HEAD" and named.startswith("ref: refs/heads/") and not branches:
            head = named.removeprefix("ref: refs/heads/")
        if not what.endswith("^{}") and _is_fetched(what, branches):
            refs.append(f"{named} {what}")
    return Refs(head, tuple(sorted(refs)))


def local_refs(folder: Path, branches: Sequence[str], deadline: Deadline) -> Refs:
    """Return what a clone has of what is fetched; raises ``FetchError``."""
    place = ("--git-dir", str(folder / ".git"))
    listed = _run((*place, "for-each-ref", "--format=%(objectname) %(refname)"), {}, deadline).splitlines()
    head = _run((*place, "symbolic-ref", "--short", "HEAD"), {}, deadline).strip()
    return Refs(head, tuple(sorted(each for each in listed if _is_fetched(each.partition(" ")[2], branches))))


def write_bundle(folder: Path, path: Path, deadline: Deadline) -> None:
    """Write all branches and tags of a clone into one file, to be fetched from; raises ``FetchError``."""
    place = ("--git-dir", str(folder / ".git"))
    _run((*place, "bundle", "create", "--quiet", str(path), "--branches", "--tags"), {}, deadline)


def _is_fetched(ref: str, branches: Sequence[str]) -> bool:
    if branches:
        return CommitReach(is_own=False, branches=tuple(branches)).has(ref)
    return ref.startswith(("refs/heads/", "refs/tags/"))


def fetch(
    folder: Path,
    address: str,
    branches: Sequence[str],
    deadline: Deadline,
    most_bytes: int = MOST_BYTES,
    *,
    head: str = "",
) -> None:
    """Fetch branches and tags into a clone: all that there is, or nothing where it fails.

    Args:
        folder: the clone.
        address: where from; what git would do with it beyond fetching was ruled out before.
        branches: patterns of the branches, the first of which becomes HEAD; none for all, and the one that
            the other side calls its HEAD.
        deadline: after which git is ended.
        most_bytes: that the clone may hold, while at least a gigabyte of its disk stays free.
        head: the branch that becomes HEAD, where ``address`` is a bundle, which names none.

    Raises:
        FetchError: it could not be done.
    """
    room = _Room(folder / ".git", most_bytes)
    # The machine, or whoever ends all programs, may have ended an earlier one in the middle.
    room.remove_locks(before=time.time() - _DEAD_SECONDS)
    try:
        _fetch(folder, address, branches, deadline, room, head=head)
    except FetchError as error:
        if error.was_ended:
            room.remove_locks()
        raise
    finally:
        room.remove_drafts()


def _fetch(
    folder: Path, address: str, branches: Sequence[str], deadline: Deadline, room: _Room, *, head: str
) -> None:
    transport = _transport(address)
    head = f"refs/heads/{head or (branches[0] if branches else _head_of(address, transport, deadline))}"
    refs = [f"+refs/heads/{branch}:refs/heads/{branch}" for branch in branches or _ALL_BRANCHES]
    # Tags of other branches would bring those along.
    tags = [] if branches else ["+refs/tags/*:refs/tags/*"]
    place = ("--git-dir", str(folder / ".git"))
    # What was fetched is told by the refs: a second file of them all could grow beyond what is read.
    how = ("--quiet", "--atomic", "--update-head-ok", "--no-recurse-submodules", "--no-write-fetch-head")
    get = (*place, "fetch", *how)
    if _run((*place, "symbolic-ref", "HEAD"), {}, deadline).strip() != head:
        # The branch that HEAD was may go with what is pruned, and HEAD is never to name nothing.
        _run((*get, "--", address, f"+{head}:{head}"), transport, deadline, room)
        _run((*place, "symbolic-ref", "HEAD", head), {}, deadline)
    _run((*get, "--prune", "--", address, *refs, *tags), transport, deadline, room)
    _drop_others(place, branches, deadline)
    _run((*place, "pack-refs", "--all"), {}, deadline)


def head_commit(folder: Path) -> str:
    """Return what a clone's HEAD is, as ``main abc1234``, ``""`` where that can't be told."""
    place = ("--git-dir", str(folder / ".git"))
    try:
        deadline = Deadline(10.0)
        branch = _run((*place, "symbolic-ref", "--short", "HEAD"), {}, deadline).strip()
        commit = _run((*place, "rev-parse", "--short", "--verify", "HEAD"), {}, deadline).strip()
    except FetchError:
        return ""
    return f"{branch} {commit}"


def _head_of(address: str, transport: Mapping[str, str], deadline: Deadline) -> str:
    """Return the branch that the other side calls its HEAD."""
    said = _run(("ls-remote", "--symref", "--", address, "HEAD"), transport, deadline)
    for line in said.splitlines():
        named, _, what = line.partition("\t")
        if what == "HEAD" and named.startswith("ref: refs/heads/"):
            return named.removeprefix("ref: refs/heads/")
    raise FetchError("it names no branch as its HEAD, as an empty repository does; name one of its branches")


def _drop_others(place: Sequence[str], branches: Sequence[str], deadline: Deadline) -> None:
    """Forget what was fetched before and is not asked for now: branches, and tags that only they have."""
    if not branches:
        return
    refs = (*place, "for-each-ref", "--format=%(refname)")
    listed = _run((*refs, "refs/heads"), {}, deadline).split()
    reach = CommitReach(is_own=False, branches=tuple(branches))
    kept = [ref for ref in listed if reach.has(ref)]
    tags = _run((*refs, *(f"--no-merged={ref}" for ref in kept), "refs/tags"), {}, deadline).split()
    for ref in sorted({*listed, *tags} - {*kept}):
        _run((*place, "update-ref", "--no-deref", "-d", ref), {}, deadline)


def _transport(address: str) -> dict[str, str]:
    """Return the variables that let git use the one transport of an address."""
    scheme = urlsplit(address).scheme if "://" in address else "file" if address.startswith("/") else "ssh"
    return {
        "GIT_ALLOW_PROTOCOL": scheme,
        "GIT_SSH_COMMAND": os.environ.get("GIT_SSH_COMMAND") or _SSH,
        "SSH_ASKPASS_REQUIRE": "never",
    }


class _Room:
    """What a clone may take of a disk."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._most_bytes = most_bytes

    def left(self) -> int:
        """Return the bytes that may be added."""
        held = sum(size for _, size in self._files())
        free = shutil.disk_usage(self._folder).free - _LEFT_FREE_BYTES
        return max(0, min(self._most_bytes - held, free))

    def exceeded(self) -> Iterator[str]:
        """Yield ``""`` while what was fetched has room, and then why it has none."""
        files = held = 0
        for _, size in self._files():
            files, held = files + 1, held + size
            if files > MOST_FILES or held > self._most_bytes:
                yield self.told()
                return
        yield self.told() if shutil.disk_usage(self._folder).free < _LEFT_FREE_BYTES else ""

    def told(self) -> str:
        """Return why a fetch was ended."""
        return (
            f"it sends more than this server keeps of one repository ({self._most_bytes / 1e9:g} GB, "
            f"{MOST_FILES:,} files, and 1 GB of the disk stays free); fetch fewer branches, or raise --max-gb"
        )

    def remove_drafts(self) -> None:
        """Remove what a fetch that was ended has left."""
        for path in [*self._folder.glob("objects/pack/tmp_*"), *self._folder.glob("objects/tmp_*")]:
            with suppress(OSError):
                path.unlink()

    def remove_locks(self, before: float = math.inf) -> None:
        """Remove git's locks on the clone's refs that were made earlier, with folders that held nothing else.

        There is one for each branch and tag while they change, and each that stays keeps the next fetch
        from its work.
        """
        for place, _, names in os.walk(self._folder, topdown=False):
            folder = Path(place)
            for lock in (folder / name for name in names if name.endswith(".lock")):
                with suppress(OSError):
                    if lock.lstat().st_mtime < before:
                        lock.unlink()
            # `refs/heads` itself stays, empty or not.
            kind, *name = folder.relative_to(self._folder).parts[:3] or ("",)
            if kind == "refs" and len(name) > 1:
                with suppress(OSError):
                    folder.rmdir()

    def _files(self) -> Iterator[tuple[Path, int]]:
        for folder, _, names in os.walk(self._folder):
            for name in names:
                path = Path(folder) / name
                with suppress(OSError):
                    yield path, path.lstat().st_size


def _run(
    arguments: Sequence[str], transport: Mapping[str, str], deadline: Deadline, room: _Room | None = None
) -> str:
    command = [git_program(), *HARDENED, *_SETTINGS, *arguments]
    environment = git_environment() | dict(transport)
    environment.pop("SSH_ASKPASS", None)
    try:
        if room is None:
            output = GitProcess(command, environment).finish(deadline)
        else:
            output = GitProcess(command, environment, file_bytes=room.left()).finish(deadline, room.exceeded)
    except OSError as error:
        raise FetchError(f"git can't be run ({error.strerror})") from error
    if output.trap:
        raise _ended(output.trap)
    if room is not None and output.status != 0 and room.left() == 0:
        raise FetchError(room.told())
    if output.status is None:
        raise _ended("it did not end in time")
    if output.status != 0:
        raise FetchError(_reason(output.errors))
    return output.text.decode("utf-8", "replace")


def _reason(said: str) -> str:
    """Return the line by which git says why, as far as it may be told."""
    lines = [line for line in said.splitlines() if line.startswith(("fatal: ", "error: "))]
    reason = one_line(mask_text(lines[0].partition(": ")[2])) if lines else "git gave no reason"
    if _REDIRECTED.search(reason):
        return "it leads to another address, which is not followed; give that one in its place"
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"
