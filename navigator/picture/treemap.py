"""The layout of the map; ``view/src/treemap.js`` has the same rule for the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

HEAD = 16
"""Height of a folder's name."""
EDGE = 1
LEAST_WIDTH = 40
LEAST_HEIGHT = 34
"""A folder that is smaller is drawn as one block."""


class Box(NamedTuple):
    """A rectangle: its upper left corner, its width and its height."""

    x: float
    y: float
    w: float
    h: float


class Tile(NamedTuple):
    """A node and where it is."""

    node: int
    box: Box
    is_open: bool
    """Whether what is in it is drawn on top of it."""


def squarify(areas: Sequence[int], box: Box) -> list[Box]:
    """Place areas, the largest first, in a box: rows along its shorter side, as square as they get.

    What has no room is left out.
    """
    places: list[Box] = []
    x, y, w, h = box
    left: float = sum(areas)
    at = 0
    while at < len(areas) and w > 0 and h > 0 and left > 0:
        scale = (w * h) / left
        side = min(w, h)
        square = side * side
        end, taken = at + 1, areas[at] * scale
        worst = max(square / taken, taken / square)
        while end < len(areas):
            more = taken + areas[end] * scale
            longest = square * areas[at] * scale / (more * more)
            following = max(longest, (more * more) / (square * areas[end] * scale))
            if following > worst:
                break
            worst, taken, end = following, more, end + 1
        depth = taken / side
        along = y if w >= h else x
        for area in areas[at:end]:
            length = (area * scale) / depth
            places.append(Box(x, along, depth, length) if w >= h else Box(along, y, length, depth))
            along += length
            left -= area
        x, y, w, h = (x + depth, y, w - depth, h) if w >= h else (x, y + depth, w, h - depth)
        at = end
    return places


def layout(parents: Sequence[int], areas: Sequence[int], width: float, height: float) -> list[Tile]:
    """Return where each node of a tree is, folders before what is in them; the root is the first node."""
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(node)
    placed: list[Tile] = []
    waiting = [(0, Box(0, 0, width, height))]
    while waiting:
        node, box = waiting.pop()
        has_room = node == 0 or (box.w >= LEAST_WIDTH and box.h >= LEAST_HEIGHT)
        is_open = bool(children[node]) and has_room
        placed.append(Tile(node, box, is_open))
        if is_open:
            head = 0 if node == 0 else HEAD
            inner = Box(box.x + EDGE, box.y + head + EDGE, box.w - 2 * EDGE, box.h - head - 2 * EDGE)
            order = sorted(children[node], key=lambda each: (-areas[each], each))
            waiting += reversed(
                list(zip(order, squarify([areas[each] for each in order], inner), strict=False))
            )
    return placed
