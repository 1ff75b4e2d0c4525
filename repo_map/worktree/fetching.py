"""Clones without a work tree, fetched from where their operator says: no hook, no prompt."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from repo_map.messages import one_line
from repo_map.secrets.masking import mask_text
from repo_map.worktree.git import HARDENED, Deadline, GitError, GitProcess, git_environment, git_program

_LONGEST_REASON = 200
_ALL_BRANCHES = ("*",)
_SSH = "ssh -oBatchMode=yes"
"""Asks for no password and for no new host; who needs another one sets ``GIT_SSH_COMMAND``."""
_SETTINGS = (
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


def make_clone(folder: Path, deadline: Deadline) -> None:
    """Make an empty clone at ``folder``, which is not there yet; raises ``FetchError``."""
    _run(("init", "--quiet", "--template=", "--initial-branch=main", "--", str(folder)), {}, deadline)


def fetch(folder: Path, address: str, branches: Sequence[str], deadline: Deadline) -> None:
    """Fetch branches and tags into a clone: all that there is, or nothing where it fails.

    Args:
        folder: the clone.
        address: where from; what git would do with it beyond fetching was ruled out before.
        branches: patterns of the branches, the first of which becomes HEAD; none for all, and the one that
            the other side calls its HEAD.
        deadline: after which git is ended.

    Raises:
        FetchError: it could not be done.
    """
    transport = _transport(address)
    head = "refs/heads/" + (branches[0] if branches else _head_of(address, transport, deadline))
    refs = [f"+refs/heads/{branch}:refs/heads/{branch}" for branch in branches or _ALL_BRANCHES]
    # Tags of other branches would bring those along.
    tags = [] if branches else ["+refs/tags/*:refs/tags/*"]
    place = ("--git-dir", str(folder / ".git"))
    # What was fetched is told by the refs: a second file of them all could grow beyond what is read.
    how = ("--quiet", "--atomic", "--update-head-ok", "--no-recurse-submodules", "--no-write-fetch-head")
    get = (*place, "fetch", *how)
    if _run((*place, "symbolic-ref", "HEAD"), {}, deadline).strip() != head:
        # The branch that HEAD was may go with what is pruned, and HEAD is never to name nothing.
        _run((*get, "--", address, f"+{head}:{head}"), transport, deadline)
        _run((*place, "symbolic-ref", "HEAD", head), {}, deadline)
    _run((*get, "--prune", "--", address, *refs, *tags), transport, deadline)
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
    wanted = [f"refs/heads/{branch}".partition("*") for branch in branches]
    kept = [ref for ref in listed if any(_is_meant(ref, *parts) for parts in wanted)]
    tags = _run((*refs, *(f"--no-merged={ref}" for ref in kept), "refs/tags"), {}, deadline).split()
    for ref in sorted({*listed, *tags} - {*kept}):
        _run((*place, "update-ref", "--no-deref", "-d", ref), {}, deadline)


def _is_meant(ref: str, start: str, star: str, end: str) -> bool:
    """Tell whether a pattern of git's means a ref: its one star stands for anything, slashes included."""
    return ref == start if not star else ref.startswith(start) and ref[len(start) :].endswith(end)


def _transport(address: str) -> dict[str, str]:
    """Return the variables that let git use the one transport of an address."""
    scheme = urlsplit(address).scheme if "://" in address else "ssh"
    return {
        "GIT_ALLOW_PROTOCOL": scheme,
        "GIT_SSH_COMMAND": os.environ.get("GIT_SSH_COMMAND") or _SSH,
        "SSH_ASKPASS_REQUIRE": "never",
    }


def _run(arguments: Sequence[str], transport: Mapping[str, str], deadline: Deadline) -> str:
    command = [git_program(), *HARDENED, *_SETTINGS, *arguments]
    environment = git_environment() | dict(transport)
    environment.pop("SSH_ASKPASS", None)
    try:
        output = GitProcess(command, environment).finish(deadline)
    except OSError as error:
        raise FetchError(f"git can't be run ({error.strerror})") from error
    if output.status is None:
        raise FetchError("it did not end in time")
    if output.status != 0:
        raise FetchError(_reason(output.errors))
    return output.text.decode("utf-8", "replace")


def _reason(said: str) -> str:
    """Return the line by which git says why, as far as it may be told."""
    lines = [line for line in said.splitlines() if line.startswith(("fatal: ", "error: "))]
    reason = one_line(mask_text(lines[0].partition(": ")[2])) if lines else "git gave no reason"
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"
