"""What is kept of each clone to tell whether a goal is about it, without its index."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from navigator.workspaces.catalogue import Catalogue, RepositoryEntry
from navigator.workspaces.places import clone_tree
from navigator.workspaces.repository_address import Source
from repo_map.errors import RepositoryNotFoundError
from repo_map.repository_choice.ranking import Likely, likeliest
from repo_map.repository_choice.summary import read_summary, summarize, write_summary
from repo_map.worktree.tree import Tree

_FILE: Final = "summary"
"""Of a clone, beside its ``.git``."""


def keep_summary(clone: Path, entry: RepositoryEntry, name: str) -> None:
    """Write the summary of a clone anew where that has changed; one that can't be made is left out."""
    path = clone / _FILE
    with suppress(OSError, RepositoryNotFoundError):
        summary = summarize(Tree(clone_tree(clone, entry, Source(name=name))), name, read_summary(path))
        if summary is not None:
            write_summary(path, summary)


def likeliest_of(catalogue: Catalogue, names: Sequence[str], goal: str) -> list[Likely]:
    """Return which of the repositories ``names`` a goal is likeliest about, the likeliest first.

    One that was not fetched, or whose branches were changed since in the catalogue, is none of them.
    """
    entries = catalogue.current().entries
    read = {name: read_summary(catalogue.clones / name / _FILE) for name in names if name in entries}
    return likeliest(
        goal,
        {
            name: summary
            for name, summary in read.items()
            if summary is not None and summary.branches == entries[name].branches
        },
    )
