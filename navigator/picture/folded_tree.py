"""A tree of files folded to a few nodes: what a picture of it has room for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.outline.costs import file_level_costs
from repo_map.ranking.corpus import corpus_of
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED

if TYPE_CHECKING:
    from repo_map.index.index import Index

MAX_NODES: Final = 1_200
FOLDER, FILE, CLOSED, REST = range(4)
"""Kinds of node: a folder with what is in it; a file; a folder as one node; what is too small in a folder."""
_TEXT_FACTOR: Final = 10
"""Tokens of prose and data that count as one of code: translations and fixtures would fill the picture."""
_SMALL_SHARE: Final = 0.35
"""Of a node's fair share: what is smaller goes into its folder's rest."""
_AROUND: Final = 4
"""A folder that is looked into gets all nodes but one in so many, which show what is around it."""


class FoldedTree(NamedTuple):
    """The nodes of a folded tree, as columns: folders before what is in them, the largest first."""

    names: tuple[str, ...]
    """The last part of the path, or the last few if a folder holds one folder alone; ``""`` for a rest."""
    parents: tuple[int, ...]
    """Position of the folder, -1 for the root."""
    kinds: tuple[int, ...]
    tokens: tuple[int, ...]
    """Of the source of all files below."""
    areas: tuple[int, ...]
    """The same, with less for prose, data and copies; at least one for each file."""
    files: tuple[int, ...]
    levels: tuple[int, ...]
    """The highest level that anything below is shown at."""

    def paths(self) -> list[str]:
        """Return the path of each node, relative to the root; of a rest that of its folder."""
        return paths_of(self.names, self.parents)


def paths_of(names: Sequence[str], parents: Sequence[int]) -> list[str]:
    """Return the path of each node, given the columns of a folded tree."""
    found: list[str] = []
    for name, parent in zip(names, parents, strict=True):
        above = found[parent] if parent >= 0 else ""
        found.append(f"{above}/{name}" if above and name else above or name)
    return found


class MeasuredFiles(NamedTuple):
    """The files of a tree as they are to be folded; columns of one length."""

    paths: Sequence[str]
    tokens: NDArray[np.int64]
    areas: NDArray[np.int64]
    levels: NDArray[np.int64]


def fold_index(
    index: Index,
    levels: Mapping[str, int],
    pinned: Collection[str],
    max_nodes: int = MAX_NODES,
    within: str = "",
) -> FoldedTree:
    """Fold the tree of an index.

    Args:
        index: the tree.
        levels: the level of each file that a map shows, by its path.
        pinned: paths of files that stay nodes of their own.
        max_nodes: more than these there are only where ``pinned`` or ``within`` needs them.
        within: the folder that most nodes are for; ``""`` for the whole tree.
    """
    tokens = np.rint(file_level_costs(index)[:, 4]).astype(np.int64)
    is_copy = (index.files.flags & int(GENERATED_OR_VENDORED)) != 0
    areas = np.where(~corpus_of(index).is_code | is_copy, tokens // _TEXT_FACTOR, tokens)
    shown = np.zeros(len(index.paths), np.int64)
    for path, level in levels.items():
        if (file_id := index.file_id(path)) is not None:
            shown[file_id] = level
    ids = frozenset(found for path in pinned if (found := index.file_id(path)) is not None)
    files = MeasuredFiles(index.paths, tokens, np.maximum(areas, 1), shown)
    return fold(files, ids, max_nodes, within)


class _Node(NamedTuple):
    name: str
    parent: int
    kind: int
    tokens: int
    area: int
    files: int
    level: int


class _Folder:
    """A folder with the totals of all files below it."""

    def __init__(self, path: str, parent: _Folder | None) -> None:
        self.path = path
        self.name = path.rpartition("/")[2]
        self.parent = parent
        self.folders: list[_Folder] = []
        self.own: list[int] = []
        self.tokens = self.area = self.files = self.level = 0
        self.is_needed = self.is_open = False
        self.min_area = 0.0
        """Below which a node goes into the rest."""

    def add(self, tokens: int, area: int, files: int, level: int) -> None:
        self.tokens += tokens
        self.area += area
        self.files += files
        self.level = max(self.level, level)

    def need(self) -> None:
        """Have this folder, and so all above it, opened."""
        folder: _Folder | None = self
        while folder is not None and not folder.is_needed:
            folder.is_needed, folder = True, folder.parent


def fold(files: MeasuredFiles, pinned: Collection[int], max_nodes: int, within: str = "") -> FoldedTree:
    """Fold files: open folders from the largest on, join chains of folders, add up what is small.

    The folders of ``pinned`` files, given by their positions, are opened whatever they take, and so is the
    folder ``within``, which gets most of the nodes; if there is no such folder, the whole tree is folded.
    """
    tree = _Tree(files, frozenset(pinned))
    tree.open_largest(max_nodes, within)
    return tree.nodes()


class _Tree:
    def __init__(self, files: MeasuredFiles, pinned: frozenset[int]) -> None:
        self._files = files
        self._pinned = pinned
        self._root = _Folder("", None)
        self._root.is_needed = True
        self._folders = {"": self._root}
        columns = (files.tokens.tolist(), files.areas.tolist(), files.levels.tolist())
        self._areas = columns[1]
        for at, (path, tokens, area, level) in enumerate(zip(files.paths, *columns, strict=True)):
            folder = self._folder(path.rpartition("/")[0])
            folder.own.append(at)
            folder.add(tokens, area, 1, level)
        # Each folder was added after the one above it.
        for folder in reversed(self._folders.values()):
            if folder.parent is not None:
                folder.parent.add(folder.tokens, folder.area, folder.files, folder.level)
        for at in pinned:
            self._folder(files.paths[at].rpartition("/")[0]).need()

    def _folder(self, path: str) -> _Folder:
        if (found := self._folders.get(path)) is None:
            parent = self._folder(path.rpartition("/")[0])
            found = self._folders[path] = _Folder(path, parent)
            parent.folders.append(found)
        return found

    def open_largest(self, max_nodes: int, within: str) -> None:
        """Choose which folders are open."""
        inner = self._folders.get(within, self._root)
        if inner is self._root:
            self._open_from(inner, max_nodes, set(self._folders))
            return
        inner.need()
        inside = {path for path in self._folders if path == within or path.startswith(f"{within}/")}
        around = max(max_nodes // _AROUND, 1)
        self._open_from(self._root, around, set(self._folders) - inside)
        self._open_from(inner, max(max_nodes - around, 1), inside)

    def _open_from(self, top: _Folder, max_nodes: int, paths: set[str]) -> None:
        """Choose which of the folders at ``paths``, all below ``top``, are open."""
        small = top.area * _SMALL_SHARE / max_nodes
        self._set_min_area(paths, small)
        if len(top.folders) + len(top.own) <= max_nodes // 2:
            # What is small in a folder that is looked into could not be looked for, were it folded there.
            top.min_area = 0
        elif len(self._parts(top)[0]) + len(self._parts(top)[1]) > max_nodes - 2:
            self._set_min_area(paths, top.area / max(max_nodes - 2, 1))
        nodes, waiting = 1, [(False, -top.area, top.path)]
        while waiting:
            is_optional, _, path = heappop(waiting)
            folder = self._folders[path]
            folders, own, rest = self._parts(folder)
            cost = len(folders) + len(own) + bool(rest)
            if is_optional and nodes + cost > max_nodes:
                continue
            nodes += cost
            folder.is_open = True
            for each in folders:
                if each.path in paths:
                    heappush(waiting, (not each.is_needed, -each.area, each.path))

    def _set_min_area(self, paths: Collection[str], area: float) -> None:
        for path in paths:
            self._folders[path].min_area = area

    def _parts(
        self, folder: _Folder
    ) -> tuple[list[_Folder], list[int], tuple[list[_Folder], list[int]] | None]:
        """Return the folders and the files that are nodes within a folder, and those that are its rest."""
        small = folder.min_area
        folders: tuple[list[_Folder], list[_Folder]] = ([], [])
        for each in folder.folders:
            folders[not (each.is_needed or each.area >= small)].append(each)
        own: tuple[list[int], list[int]] = ([], [])
        for at in folder.own:
            own[not (at in self._pinned or self._areas[at] >= small)].append(at)
        if len(folders[1]) + len(own[1]) == 1:
            return folders[0] + folders[1], own[0] + own[1], None
        return folders[0], own[0], (folders[1], own[1]) if folders[1] or own[1] else None

    def nodes(self) -> FoldedTree:
        """Return the nodes, the largest of a folder first and its rest last."""
        nodes: list[_Node] = []
        waiting: list[tuple[_Folder | _Node, int]] = [(self._root, -1)]
        while waiting:
            item, parent = waiting.pop()
            at = len(nodes)
            if isinstance(item, _Node):
                nodes.append(item._replace(parent=parent))
                continue
            name, folder = item.name, item
            while folder.parent is not None and len(folder.folders) == 1 and not folder.own:
                # A folder that holds one folder alone is joined with it.
                (folder,) = folder.folders
                name = f"{name}/{folder.name}"
            kind = FOLDER if folder.is_open else CLOSED
            nodes.append(_Node(name, parent, kind, folder.tokens, folder.area, folder.files, folder.level))
            if folder.is_open:
                waiting += [(each, at) for each in reversed(self._children(folder))]
        return FoldedTree(*zip(*nodes, strict=True))

    def _children(self, folder: _Folder) -> list[_Folder | _Node]:
        folders, own, rest = self._parts(folder)
        ordered: list[tuple[int, str, _Folder | _Node]] = [(-each.area, each.name, each) for each in folders]
        for at in own:
            node = self._sum([], [at], FILE, self._files.paths[at].rpartition("/")[2])
            ordered.append((-node.area, self._files.paths[at], node))
        ordered.sort(key=lambda each: each[:2])
        found = [each for *_, each in ordered]
        return [*found, self._sum(*rest, REST, "")] if rest else found

    def _sum(self, folders: Sequence[_Folder], own: Sequence[int], kind: int, name: str) -> _Node:
        total = _Folder("", None)
        for each in folders:
            total.add(each.tokens, each.area, each.files, each.level)
        for at in own:
            total.add(int(self._files.tokens[at]), self._areas[at], 1, int(self._files.levels[at]))
        return _Node(name, -1, kind, total.tokens, total.area, total.files, total.level)
