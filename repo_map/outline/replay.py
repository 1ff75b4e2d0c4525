"""Draws a plan again, and tells how the tree drifted from the one that the plan was made on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from repo_map.outline.draw import RepoMap, draw_map
from repo_map.outline.select import files_named
from repo_map.plan.model import FlightPlan, TreeStamp

if TYPE_CHECKING:
    from repo_map.index.index import Index

Change = Literal["changed", "removed", "shown anew", "no longer shown"]
_DIGEST_BYTES = 4


class DriftedFile(NamedTuple):
    """One file that is not what it was when the plan was made."""

    path: str
    change: Change


class Drift(NamedTuple):
    """How a tree differs from the one that a plan was made on."""

    stamped: bool
    """Whether the plan says what tree it was made on; without that nothing is known."""
    same_tree: bool
    """Whether every path and byte of the tree is the same, and so every byte of the map."""
    files: tuple[DriftedFile, ...] = ()
    """In path order; empty where nothing is known of them too."""
    unmatched: tuple[str, ...] = ()
    """Patterns of the plan that match no file of the tree."""
    knows_files: bool = True
    """Whether it is known which files are as they were."""
    by_first_look: bool = False
    """Whether the plan was made when most of the tree was not read: only the files shown are known."""

    @property
    def is_none(self) -> bool:
        """Whether all that the plan shows is sure to be as it was."""
        return self.stamped and self.knows_files and not self.files and not self.unmatched

    def describe(self) -> str:
        """Return one sentence for a report."""
        if not self.stamped:
            return "The plan does not say what tree it was made on, so drift can't be determined."
        if self.same_tree:
            return "Nothing changed since the plan was made."
        if not self.knows_files:
            return "The tree changed since the plan was made; the plan does not record its files."
        if self.by_first_look and not self.files:
            return "The plan was made by a first look; no file in the map has changed since."
        if not self.files:
            return "The tree changed since the plan was made, but no file in the map did."
        counts = Counter(file.change for file in self.files)
        message = ", ".join(f"{number} {change}" for change, number in sorted(counts.items()))
        return f"The tree changed since the plan was made; of the files in the map: {message}."


def stamp(index: Index, plan: FlightPlan, repo_map: RepoMap) -> FlightPlan:
    """Return the plan with what tells drift later: the tree's fingerprint and a digest of each file shown."""
    shown = sorted(block.path for block in repo_map.blocks if block.level > 1)
    files = {path: _digest(index, path) for path in shown}
    tree = TreeStamp(fingerprint=index.fingerprint, files=files, first_look=index.build.partial_files)
    return plan.model_copy(update={"tree": tree})


def replay(index: Index, plan: FlightPlan, **options: Any) -> tuple[RepoMap, Drift]:
    """Draw a plan as ``draw_map`` does, and compare the tree with the plan's stamp.

    The same plan on the same tree gives the same bytes.
    """
    repo_map = draw_map(index, plan, **options)
    return repo_map, find_drift(index, plan, repo_map)


def find_drift(index: Index, plan: FlightPlan, repo_map: RepoMap) -> Drift:
    """Compare the tree, file by file, with the one that the plan was made on."""
    unmatched, tree = _unmatched(index, plan), plan.tree
    shown = {block.path for block in repo_map.blocks if block.level > 1}
    if tree is not None and tree.fingerprint == index.fingerprint:
        return Drift(stamped=True, same_tree=True, unmatched=unmatched)
    if tree is None or (shown and not tree.files):
        return Drift(stamped=tree is not None, same_tree=False, unmatched=unmatched, knows_files=False)
    paths = sorted(shown | tree.files.keys())
    changes = ((path, _change(index, path, tree.files.get(path), path in shown)) for path in paths)
    files = tuple(DriftedFile(path, change) for path, change in changes if change)
    return Drift(True, False, files, unmatched, by_first_look=bool(tree.first_look))


def _unmatched(index: Index, plan: FlightPlan) -> tuple[str, ...]:
    boosts = plan.focus.paths if plan.focus else ()
    patterns = (*(rule.pattern for rule in plan.verbosity), *(boost.pattern for boost in boosts))
    return tuple(each for each in dict.fromkeys(patterns) if not files_named(index, each).size)


def _change(index: Index, path: str, before: str | None, shown: bool) -> Change | None:
    if before is None:
        return "shown anew"
    if index.file_id(path) is None:
        return "removed"
    if _digest(index, path) != before:
        return "changed"
    return None if shown else "no longer shown"


def _digest(index: Index, path: str) -> str:
    file_id = index.file_id(path)
    return "" if file_id is None else index.files.digest[file_id].tobytes()[:_DIGEST_BYTES].hex()
