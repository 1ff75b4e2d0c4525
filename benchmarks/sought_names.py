"""The names of a commit that the searches of its runs look for: all that a hook asks of its file of names.

A whole index of each of some hundred commits takes hours. What a hook says of a search depends on files that
hold the name, or one nearly like it, so that those alone are indexed.
"""

from __future__ import annotations

import io
import posixpath
import subprocess
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.git import git_command, run_git
from benchmarks.trees import Snapshot, find_mirror
from repo_map.index import build_index
from repo_map.worktree.git import git_environment
from repo_navigator.hooks.names import NameTable, folded
from repo_navigator.hooks.names_writer import write_names
from repo_navigator.hooks.search_answer import is_nothing
from repo_navigator.hooks.searches import Search, names_sought

_MOST_FILES: Final = 1_500
_CALLER_SECONDS: Final = 2.0
_FEW: Final = 9
"""Line breaks of an output that nothing is said beside, whatever the rule's number of many."""


class SoughtNames(NameTable):
    """Names of some files of a commit, with the paths of them all."""

    paths: frozenset[str] = frozenset()

    def has_file(self, path: str) -> bool:
        """Tell whether the commit has a file at this path."""
        return path in self.paths

    def has_folder(self, path: str) -> bool:
        """Tell whether the commit has a file below this path."""
        return any(each.startswith(f"{path}/") for each in self.paths)

    def _paths_with(self, last: bytes) -> tuple[str, ...]:
        ending = last.decode().lower()
        whole = ending.endswith("\n")
        bases = ((posixpath.basename(path).lower(), path) for path in self.paths)
        found = (path for base, path in bases if (base == ending[:-1] if whole else base.startswith(ending)))
        return tuple(sorted(found))


def sought(searches: Iterable[tuple[Search, str]]) -> dict[str, bool]:
    """Return the names of searches, given with what they printed, of which a hook may speak.

    Each says whether names like it are asked for as well.
    """
    found: dict[str, bool] = {}
    for search, output in searches:
        if search.for_files and is_nothing(output):
            bases = (posixpath.basename(pattern).strip("*") for pattern in search.patterns)
            found |= {stem: False for base in bases if (stem := posixpath.splitext(base)[0])}
        elif not search.for_files and (is_nothing(output) or output.count("\n") > _FEW):
            # Of one file only the very name is asked for.
            near = is_nothing(output) and not any("." in posixpath.basename(place) for place in search.places)
            for each in names_sought(search):
                found[each.name] = near or found.get(each.name, False)
    return found


def sought_names(repo: str, commit: str, names: Mapping[str, bool], mirrors: Path, kept: Path) -> SoughtNames:
    """Return the names of a commit as far as ``names`` are concerned; ``kept`` is where they are kept.

    Raises:
        GitError: the mirror lacks the commit.
        MirrorNotFoundError: there is no mirror.
    """
    tree = (
        kept / repo.replace("/", "__") / (f"{commit[:12]}-sought" if names else "nothing-sought")
    ).resolve()
    table = SoughtNames.open(kept, tree)
    if table is None:
        _write(tree, find_mirror(repo, mirrors), commit, names)
        write_names(build_index(tree), kept, tree, {}, seconds=_CALLER_SECONDS)
        table = SoughtNames.open(kept, tree)
    assert isinstance(table, SoughtNames)
    table.paths = Snapshot(repo, commit, mirrors).paths
    return table


def _write(tree: Path, mirror: Path, commit: str, names: Mapping[str, bool]) -> None:
    """Write the files that hold one of the names, or one like it where that is asked for."""
    tree.mkdir(parents=True, exist_ok=True)
    run_git(tree, "init", "-q", ".")
    like = sorted({"_?".join(folded(name)) for name, near in names.items() if near and name.isascii()})
    paths = _holding(mirror, commit, sorted(names), "-F", "-w") | _holding(mirror, commit, like, "-i", "-E")
    if paths:
        archive = run_git(mirror, "archive", commit, "--", *sorted(paths)[:_MOST_FILES])
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(tree, filter="data")


def _holding(mirror: Path, commit: str, patterns: Sequence[str], *how: str) -> set[str]:
    """Return the files in which one of the patterns stands."""
    if not patterns:
        return set()
    command = git_command(mirror, "grep", "-I", "-l", "-z", *how, "-f", "-", commit)
    given = "\n".join(patterns).encode()
    listed = subprocess.run(command, input=given, env=git_environment(), capture_output=True, check=False)
    return {each.partition(":")[2] for each in listed.stdout.decode("utf-8", "replace").split("\0") if each}
