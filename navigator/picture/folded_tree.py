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
    kinds: tuple[int, ...]
    tokens: tuple[int, ...]
    """Of the source of all files below."""
    areas: tuple[int, ...]
    """The same, with less for prose, data and copies; at least one for each file."""
    files: tuple[int, ...]
    levels: tuple[int, ...]
    """The highest level that anything below is shown at."""


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
    """Fold the tree of an index, whose files a map shows at ``levels``; see ``fold``."""
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


class _Node:
    """A file, or a folder with the totals of all files below it."""

    def __init__(self, path: str, tokens: int = 0, area: int = 0, files: int = 0, level: int = 0) -> None:
        self.path = path
        self.tokens, self.area, self.files, self.level = tokens, area, files, level
        self.children: list[_Node] = []
        self.is_needed = self.is_open = False
        self.min_area = 0.0
        """Below which a child goes into the rest."""

    def add(self, child: _Node) -> None:
        self.tokens += child.tokens
        self.area += child.area
        self.files += child.files
        self.level = max(self.level, child.level)

    def parts(self) -> tuple[list[_Node], list[_Node]]:
        """Return the children that are nodes, and those that are the folder's rest: never one alone."""
        shown, small = list[_Node](), list[_Node]()
        for each in self.children:
            (shown if each.is_needed or each.area >= self.min_area else small).append(each)
        return (self.children, []) if len(small) == 1 else (shown, small)


def fold(files: MeasuredFiles, pinned: Collection[int], max_nodes: int, within: str = "") -> FoldedTree:
    """Fold files: open folders from the largest on, join chains of folders, add up what is small.

    The folders of ``pinned`` files, given by their positions, are opened whatever they take, and so is the
    folder ``within``, which gets most of the nodes; if there is no such folder, the whole tree is folded.
    """
    folders = _read_tree(files)
    root, inner = folders[""], folders.get(within, folders[""])
    leaves = {files.paths[at] for at in pinned}
    for folder in folders.values():
        for each in folder.children:
            each.is_needed = each.path in leaves
    for path in (*leaves, *([within] if inner is not root else ())):
        above = path
        while above:
            above = above.rpartition("/")[0]
            folders[above].is_needed = True
    if inner is root:
        _open(root, max_nodes)
    else:
        inner.is_needed = True
        around = max(max_nodes // _AROUND, 1)
        _open(root, around, inner)
        _open(inner, max(max_nodes - around, 1))
    return _columns(root)


def _read_tree(files: MeasuredFiles) -> dict[str, _Node]:
    folders = {"": _Node("")}

    def folder(path: str) -> _Node:
        if (found := folders.get(path)) is None:
            parent = folder(path.rpartition("/")[0])
            found = folders[path] = _Node(path)
            parent.children.append(found)
        return found

    columns = (files.tokens.tolist(), files.areas.tolist(), files.levels.tolist())
    for path, tokens, area, level in zip(files.paths, *columns, strict=True):
        folder(path.rpartition("/")[0]).children.append(_Node(path, tokens, area, 1, level))
    for each in reversed(folders.values()):
        for child in each.children:
            each.add(child)
        each.children.sort(key=lambda child: (-child.area, child.path))
    return folders


def _open(top: _Node, max_nodes: int, closed: _Node | None = None) -> None:
    """Choose which of a folder and those below it are open, the folder ``closed`` and what is in it aside."""
    min_area = top.area * _SMALL_SHARE / max_nodes
    top.min_area = min_area
    if len(top.parts()[0]) > max_nodes - 2:
        min_area = top.area / max(max_nodes - 2, 1)
    # What is small in a folder that is looked into could not be looked for, were it folded there.
    top_area = 0.0 if len(top.children) <= max_nodes // 2 else min_area
    count, waiting = 1, [(False, -top.area, top.path, top)]
    while waiting:
        is_optional, _, _, folder = heappop(waiting)
        folder.min_area = top_area if folder is top else min_area
        shown, small = folder.parts()
        cost = len(shown) + bool(small)
        if is_optional and count + cost > max_nodes:
            continue
        count += cost
        folder.is_open = True
        for each in shown:
            if each.children and each is not closed:
                heappush(waiting, (not each.is_needed, -each.area, each.path, each))


def _columns(root: _Node) -> FoldedTree:
    rows: list[tuple[str, int, int, int, int, int, int]] = []
    waiting = [(root, -1)]
    while waiting:
        node, parent = waiting.pop()
        name = node.path.rpartition("/")[2]
        while node is not root and len(node.children) == 1 and node.children[0].children:
            # A folder that holds one folder alone is joined with it.
            (node,) = node.children
            name = f"{name}/{node.path.rpartition('/')[2]}"
        kind = FOLDER if node.is_open else CLOSED if node.children else FILE if node.path else REST
        at = len(rows)
        rows.append((name, parent, kind, node.tokens, node.area, node.files, node.level))
        if node.is_open:
            shown, small = node.parts()
            if small:
                rest = _Node("")
                for each in small:
                    rest.add(each)
                shown = [*shown, rest]
            waiting += ((each, at) for each in reversed(shown))
    return FoldedTree(*zip(*rows, strict=True))
