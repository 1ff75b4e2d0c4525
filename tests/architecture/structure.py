"""The structure of the packages, counted from their imports: ``python -m tests.architecture.structure``.

For each package and subpackage: its parts (the modules and packages directly in it), the arrows (pairs of
parts of which one imports the other, imports within functions counted too), the floors (the longest chain of
arrows), the circles (groups of parts that import each other in a ring) and the arrows up (the fewest arrows,
found greedily, that would have to go for no circle to be left).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import grimp

from tests.architecture.growth import (
    SMALL,
    copies_of_the_mark,
    deep_classes,
    deepest_class,
    large_rooms,
    names_borne_twice,
    sizes,
    with_one_importer,
)
from tests.architecture.source_tree import modules
from tests.architecture.walks import walks

PACKAGES = ("repo_map", "navigator", "mcp_server", "repo_navigator", "benchmarks", "training")
"""The packages of the product from the ground up, then what measures it and learns its data."""

Arrows = Mapping[str, frozenset[str]]
"""For each part, the parts of the same package that it imports."""


class Structure(NamedTuple):
    """What the imports say of one package."""

    package: str
    parts: int
    floors: int
    arrows: int
    up: int
    circles: tuple[tuple[str, ...], ...]


def structure_of(package: str, arrows: Arrows) -> Structure:
    """Count what ``arrows`` between the parts of a package say."""
    circles = tuple(sorted(tuple(sorted(ring)) for ring in _components(arrows) if len(ring) > 1))
    up = sum(_arrows_up({part: arrows[part] & set(ring) for part in ring}) for ring in circles)
    count = sum(map(len, arrows.values()))
    return Structure(package, len(arrows), _floors(arrows), count, up, circles)


def structures(packages: tuple[str, ...] = PACKAGES) -> Iterator[Structure]:
    """Yield the structure of the whole, then of every package with more than one part, outer ones first."""
    graph = grimp.build_graph(*packages, cache_dir=None)
    yield structure_of("(whole)", _arrows(graph, packages))
    pending = list(reversed(packages))
    while pending:
        package = pending.pop()
        children = sorted(graph.find_children(package))
        pending.extend(child for child in reversed(children) if graph.find_children(child))
        if len(children) > 1:
            yield structure_of(package, _arrows(graph, children))


def table(found: Iterator[Structure]) -> str:
    """Return structures as a table, with the circles of each below it."""
    rows: list[tuple[str, ...]] = [("package", "parts", "floors", "arrows", "up", "circles")]
    rings: list[str] = []
    for each in found:
        counts = (each.parts, each.floors, each.arrows, each.up, len(each.circles))
        rows.append((each.package, *map(str, counts)))
        rings += [f"{each.package}: {', '.join(_last(part) for part in ring)}" for ring in each.circles]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join((row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:]))).rstrip() for row in rows
    ]
    return "\n".join((*lines, *(("", "circles:", *rings) if rings else ())))


def _arrows(graph: grimp.ImportGraph, parts: list[str] | tuple[str, ...]) -> dict[str, frozenset[str]]:
    inside = {part: {part, *graph.find_descendants(part)} for part in parts}
    owner = {module: part for part, modules in inside.items() for module in modules}
    return {
        part: frozenset(
            owner[imported]
            for module in inside[part]
            for imported in graph.find_modules_directly_imported_by(module)
            if imported in owner and owner[imported] != part
        )
        for part in parts
    }


def _components(arrows: Arrows) -> list[frozenset[str]]:
    """Return the strongly connected components, by reachability: the packages are small."""
    reached = {part: _reached(arrows, part) for part in arrows}
    return list({frozenset({part, *(o for o in reached[part] if part in reached[o])}) for part in arrows})


def _reached(arrows: Arrows, start: str) -> set[str]:
    seen: set[str] = set()
    pending = list(arrows[start])
    while pending:
        part = pending.pop()
        if part not in seen:
            seen.add(part)
            pending.extend(arrows[part])
    return seen


def _floors(arrows: Arrows) -> int:
    """Return the length of the longest chain of parts, a circle counting as one floor."""
    group = {part: ring for ring in _components(arrows) for part in ring}
    heights: dict[frozenset[str], int] = {}

    def height(ring: frozenset[str]) -> int:
        if ring not in heights:
            below = {group[to] for part in ring for to in arrows[part]} - {ring}
            heights[ring] = 1 + max(map(height, below), default=0)
        return heights[ring]

    return max(map(height, group.values()), default=0)


def _arrows_up(arrows: Arrows) -> int:
    """Return how many arrows of a circle point up when its parts are ordered as well as greed can.

    The order is that of Eades, Lin and Smyth, "A fast and effective heuristic for the feedback arc set
    problem" (Information Processing Letters 47, 1993).
    """
    left = dict(arrows)
    top: list[str] = []
    bottom: list[str] = []
    while left:
        out = {part: len(arrows[part] & left.keys()) for part in left}
        into = {part: sum(part in arrows[other] for other in left) for part in left}
        best = min(left, key=lambda part: (out[part] > 0, into[part] > 0, into[part] - out[part], part))
        (bottom if not out[best] else top).append(best)
        del left[best]
    place = {part: number for number, part in enumerate((*top, *reversed(bottom)))}
    return sum(place[to] < place[part] for part in arrows for to in arrows[part])


def _last(module: str) -> str:
    return module.rpartition(".")[2]


def growth() -> str:
    """Return how much there is of each package, and how far parameters are handed on."""
    single = with_one_importer()
    small = [name for name, _ in single if modules()[name].lines < SMALL]
    depth, deepest = deepest_class()
    return "\n".join(
        (
            "package                        modules   lines",
            *(f"{each.package:30} {each.modules:7,} {each.lines:7,}" for each in sizes()),
            "",
            f"modules with one importer: {len(single)}, of which {len(small)} have fewer than {SMALL} lines",
            f"deepest inheritance: {depth}, {deepest.module}.{deepest.name}",
            "",
            "walk                           stays   rooms returns",
            *(f"{each.start:30} {each.stays:5} {each.rooms:7} {each.returns:7}" for each in walks()),
        )
    )


def faults() -> list[str]:
    """Return what must not be, a line each."""
    return [
        *(f"The name {name} is borne by {', '.join(found)}." for name, found in names_borne_twice().items()),
        *(f"{each.module}.{each.name} stands on {depth - 1} classes." for depth, each in deep_classes()),
        *(f"{folder} holds {count} files." for folder, count in large_rooms()),
        *(f"{path} spells the header of a packet." for path in copies_of_the_mark()),
    ]


if __name__ == "__main__":
    print(table(structures(tuple(sys.argv[1:]) or PACKAGES)), growth(), *faults(), sep="\n\n")  # noqa: T201
    sys.exit(1 if faults() else 0)
