"""Which trees share what was derived from their files: those of one repository, and no others."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from repo_map.worktree.git import Deadline, Git, GitError

_SECONDS: Final = 20.0
"""For git to come to the first commits; 35,000 commits take 0.2 s."""


def scope_of(root: Path, name: str) -> str | None:
    """Return what the shared objects of a repository's trees are kept under, None where it shares none.

    A repository that a server's list names has its name: who may read it is decided there. Any other is told
    by its first commits, which branches, work trees and clones have in common, and by the folder in it; every
    caller may name such a folder, so all who read one may read the others. A plain folder shares nothing.
    """
    if name:
        return _digest(b"name", name.encode())
    try:
        git = Git(root)
    except GitError:
        return None
    deadline = Deadline(_SECONDS)
    place = git.place(deadline)
    if place is None:
        return None
    output = git.history("rev-list", "--max-parents=0", place.head, deadline=deadline)
    if output is None or output.status != 0 or not output.text.strip():
        return None
    return _digest(
        b"commits", b"\n".join(sorted(output.text.split())), place.prefix.encode("utf-8", "replace")
    )


def _digest(*parts: bytes) -> str:
    # Each with its length, so that no two lists of parts are the same bytes.
    whole = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    return hashlib.sha256(whole).hexdigest()[:32]
