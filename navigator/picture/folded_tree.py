"""A tree of files folded to a few nodes: what a picture of it has room for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.outline.costs import file_level_costs
from repo_map.ranking.corpus import corpus_of
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex

MOST_NODES = 1_200
FOLDER, FILE, CLOSED, REST = range(4)
"""Kinds of node: a folder with what is in it; a file; a folder as one node; what is too small in a folder."""
_TONED = 10
"""Tokens of prose and data that count as one of code: translations and fixtures would fill the picture."""
_SMALL = 0.35
"""Of a node's fair share: what is smaller goes into its folder's rest."""
_AROUND = 4
"""A folder that is looked into gets all nodes but one in so many, which show what is around it."""

Counts = NDArray[np.int64]


class Outline(NamedTuple):
    """The nodes of a folded tree, as columns: folders before what is in them, the largest first."""

    names: tuple[str, ...]
    """The last step of the path, or the last few where a folder holds one folder alone; ``""`` for a rest."""
    parents: tuple[int, ...]
    """Position of the folder, -1 for the root."""
    kinds: tuple[int, ...]
    tokens: tuple[int, ...]
    """Of the source of all files below."""
    areas: tuple[int, ...]
    """The same, prose, data and copies toned down; at least one for each file."""
    files: tuple[int, ...]
    levels: tuple[int, ...]
    """The highest level that anything below is shown at."""

    def paths(self) -> list[str]:
        """Return the path of each node, relative to the root; of a rest that of its folder."""
        return paths_of(self.names, self.parents)


def paths_of(names: Sequence[str], parents: Sequence[int]) -> list[str]:
    """Return the path of each node, given the columns of an outline."""
    found: list[str] = []
    for name, parent in zip(names, parents, strict=True):
        above = found[parent] if parent >= 0 else ""
        found.append(f"{above}/{name}" if above and name else above or name)
    return found


class MeasuredOutline(NamedTuple):
    """The files of a tree as they are to be folded; columns of one length."""

    paths: Sequence[str]
    tokens: Counts
    areas: Counts
    levels: Counts


def outline_of(
    index: RepoIndex,
    levels: Mapping[str, int],
    kept: Collection[str],
    most_nodes: int = MOST_NODES,
    within: str = "",
) -> Outline:
    """Fold the tree of an index.

    Args:
        index: the tree.
        levels: the level of each file that a map shows, by its path.
        kept: paths of files that stay nodes of their own.
        most_nodes: more than these there are only where ``kept`` or ``within`` needs them.
        within: the folder that most nodes are for; ``""`` for the whole tree.
    """
    tokens = np.rint(file_level_costs(index)[:, 4]).astype(np.int64)
    is_copy = (index.files.flags & int(GENERATED_OR_VENDORED)) != 0
    is_toned = ~corpus_of(index).is_code | is_copy
    areas = np.maximum(np.where(is_toned, tokens // _TONED, tokens), 1)
    shown = np.zeros(len(index.paths), np.int64)
    for path, level in levels.items():
        if (file_id := index.file_id(path)) is not None:
            shown[file_id] = level
    ids = frozenset(found for path in kept if (found := index.file_id(path)) is not None)
    return fold(MeasuredOutline(index.paths, tokens, areas, shown), ids, most_nodes, within)


def fold(files: MeasuredOutline, kept: Collection[int], most_nodes: int, within: str = "") -> Outline:
    """Fold files: open folders from the largest on, join chains of folders, add up what is small.

    The folders of the files whose positions are ``kept`` are opened whatever they take, and so is the folder
    ``within``, which gets most of the nodes; where there is no such folder, the whole tree is folded.
    """
    folders = _Folders(files, kept)
    folders.open_largest(most_nodes, within)
    return folders.outline()


class _Node(NamedTuple):
    name: str
    parent: int
    kind: int
    tokens: int
    area: int
    files: int
    level: int


class _Folders:
    """The folders of a tree by number, the root first and each before those in it, and which are open."""

    def __init__(self, files: MeasuredOutline, kept: Collection[int]) -> None:
        self._files = files
        self._kept = frozenset(kept)
        self._ones = np.ones(len(files.paths), np.int64)
        self._names: list[str] = [""]
        self._parents: list[int] = [-1]
        self._below: list[list[int]] = [[]]
        self._numbers = {"": 0}
        owners = self._owners()
        number = len(self._names)
        order = np.argsort(owners, kind="stable")
        self._own = np.split(order, np.cumsum(np.bincount(owners, minlength=number))[:-1])
        self._totals = {
            "files": self._summed(np.bincount(owners, minlength=number)),
            "tokens": self._summed(np.bincount(owners, files.tokens, number)),
            "areas": self._summed(np.bincount(owners, files.areas, number)),
        }
        self._levels = [max((int(files.levels[i]) for i in own), default=0) for own in self._own]
        for folder in range(number - 1, 0, -1):
            above = self._parents[folder]
            self._levels[above] = max(self._levels[above], self._levels[folder])
        self._needed = {0}
        for each in self._kept:
            self._need(int(owners[each]))
        self._small = [0.0] * number
        self._open: set[int] = set()

    def _need(self, folder: int) -> None:
        """Note that a folder, and so all above it, is to be opened."""
        while folder not in self._needed:
            self._needed.add(folder)
            folder = self._parents[folder]

    def _owners(self) -> NDArray[np.int64]:
        """Return the folder of each file, and note every folder."""
        numbers = self._numbers
        owners = np.zeros(len(self._files.paths), np.int64)
        for at, path in enumerate(self._files.paths):
            folder = path.rpartition("/")[0]
            found = numbers.get(folder)
            owners[at] = self._add(folder, numbers) if found is None else found
        return owners

    def _add(self, folder: str, numbers: dict[str, int]) -> int:
        above, _, name = folder.rpartition("/")
        parent = numbers.get(above)
        if parent is None:
            parent = self._add(above, numbers)
        number = numbers[folder] = len(self._names)
        self._names.append(name)
        self._parents.append(parent)
        self._below[parent].append(number)
        self._below.append([])
        return number

    def _summed(self, own: NDArray[np.float64] | Counts) -> list[int]:
        total = [int(each) for each in own]
        for folder in range(len(total) - 1, 0, -1):
            total[self._parents[folder]] += total[folder]
        return total

    def open_largest(self, most_nodes: int, within: str) -> None:
        """Choose which folders are open."""
        inner = self._numbers.get(within, 0)
        if not inner:
            self._open_from(0, most_nodes, range(len(self._names)))
            return
        self._need(inner)
        is_inside = [False] * len(self._names)
        for folder in range(inner, len(self._names)):
            is_inside[folder] = folder == inner or is_inside[self._parents[folder]]
        around = max(most_nodes // _AROUND, 1)
        self._open_from(0, around, [each for each, inside in enumerate(is_inside) if not inside])
        self._open_from(
            inner, max(most_nodes - around, 1), [each for each, inside in enumerate(is_inside) if inside]
        )

    def _open_from(self, top: int, most_nodes: int, folders: Collection[int]) -> None:
        """Choose which of the ``folders``, all below ``top``, are open."""
        areas = self._totals["areas"]
        for folder in folders:
            self._small[folder] = areas[top] * _SMALL / most_nodes
        if len(self._below[top]) + len(self._own[top]) <= most_nodes // 2:
            # Nobody could look for what is small in a folder that is looked into, were it folded there.
            self._small[top] = 0
        elif sum(map(len, self._parts(top)[:2])) > most_nodes - 2:
            for folder in folders:
                self._small[folder] = areas[top] / max(most_nodes - 2, 1)
        among = frozenset(folders)
        nodes, waiting = 1, [(False, -areas[top], "", top)]
        while waiting:
            is_free, _, path, folder = heappop(waiting)
            large, own, rest = self._parts(folder)
            cost = len(large) + len(own) + bool(rest)
            if is_free and nodes + cost > most_nodes:
                continue
            nodes += cost
            self._open.add(folder)
            for each in large:
                if each in among:
                    entry = (each not in self._needed, -areas[each], f"{path}/{self._names[each]}", each)
                    heappush(waiting, entry)

    def _parts(self, folder: int) -> tuple[list[int], list[int], tuple[list[int], list[int]] | None]:
        """Return the folders and the files that are nodes within a folder, and those that are its rest."""
        areas, files, small = self._totals["areas"], self._files.areas, self._small[folder]
        large, few = _parted(self._below[folder], lambda each: each in self._needed or areas[each] >= small)
        own, rest = _parted(
            self._own[folder].tolist(), lambda each: each in self._kept or files[each] >= small
        )
        if len(few) + len(rest) == 1:
            return large + few, own + rest, None
        return large, own, (few, rest) if few or rest else None

    def outline(self) -> Outline:
        """Return the nodes."""
        nodes: list[_Node] = []
        waiting = [(FOLDER, 0, -1)]
        while waiting:
            kind, which, parent = waiting.pop()
            at = len(nodes)
            if kind == FILE:
                nodes.append(self._file(which, parent))
            elif kind == REST:
                nodes.append(self._rest(which, parent))
            else:
                node, folder = self._folder(which, parent)
                nodes.append(node)
                if node.kind == FOLDER:
                    waiting += [(each, number, at) for each, number in reversed(self._in_order(folder))]
        return Outline(*zip(*nodes, strict=True))

    def _folder(self, folder: int, parent: int) -> tuple[_Node, int]:
        name, folder = self._joined(folder)
        tokens, area, files = (self._totals[each][folder] for each in ("tokens", "areas", "files"))
        kind = FOLDER if folder in self._open else CLOSED
        return _Node(name, parent, kind, tokens, area, files, self._levels[folder]), folder

    def _joined(self, folder: int) -> tuple[str, int]:
        """Return a folder's name and number, joined with the only one in it where it holds nothing else."""
        name = self._names[folder]
        while folder and len(self._below[folder]) == 1 and not len(self._own[folder]):
            (folder,) = self._below[folder]
            name = f"{name}/{self._names[folder]}"
        return name, folder

    def _in_order(self, folder: int) -> list[tuple[int, int]]:
        """Return the kind and the number of each node within a folder, the largest first, its rest last."""
        large, own, rest = self._parts(folder)
        areas = self._totals["areas"]
        found = [((-areas[each], self._names[each]), FOLDER, each) for each in large]
        found += [((-int(self._files.areas[each]), self._files.paths[each]), FILE, each) for each in own]
        return [(kind, each) for _, kind, each in sorted(found)] + ([(REST, folder)] if rest else [])

    def _file(self, each: int, parent: int) -> _Node:
        files = self._files
        name = files.paths[each].rpartition("/")[2]
        tokens, area, level = (int(column[each]) for column in (files.tokens, files.areas, files.levels))
        return _Node(name, parent, FILE, tokens, area, 1, level)

    def _rest(self, folder: int, parent: int) -> _Node:
        few, own = self._parts(folder)[2] or ([], [])
        tokens, area, files = (
            sum(self._totals[name][each] for each in few) + int(column[own].sum())
            for name, column in (
                ("tokens", self._files.tokens),
                ("areas", self._files.areas),
                ("files", self._ones),
            )
        )
        levels = [self._levels[each] for each in few] + [int(self._files.levels[each]) for each in own]
        return _Node("", parent, REST, tokens, area, files, max(levels))


def _parted(numbers: Sequence[int], is_first: Callable[[int], bool]) -> tuple[list[int], list[int]]:
    """Part numbers in two, each in the same order."""
    first = [each for each in numbers if is_first(each)]
    taken = frozenset(first)
    return first, [each for each in numbers if each not in taken]
