"""Several trees side by side as one, so that one question is about all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from repo_map.errors import RepositoryNotFoundError
from repo_map.sources.files import Listing, Problem, ReadFile, within_limit
from repo_map.sources.places import Place, PlaceFiles, TreePart


class UnitedTrees:
    """Several trees side by side, the paths of each below a name of its own."""

    def __init__(self, trees: Sequence[tuple[str, Place]]) -> None:
        """``trees`` are of one repository each, under names that differ and hold no slash."""
        self._trees = tuple(sorted(trees, key=lambda tree: tree[0]))

    @property
    def name(self) -> bytes:
        parts = ((name.encode("utf-8", "surrogateescape"), tree.name) for name, tree in self._trees)
        return b"united\0" + b"\0".join(b"%d %s%d %s" % (len(a), a, len(b), b) for a, b in parts)

    @property
    def title(self) -> str:
        return ", ".join(tree.title for _, tree in self._trees)

    @property
    def parts(self) -> tuple[TreePart, ...]:
        return tuple(part._replace(prefix=f"{name}/") for name, tree in self._trees for part in tree.parts)

    def list(self, known: Listing | None, limit: int, on_wait: Callable[[], object]) -> Listing:
        before: Sequence[Listing | None] = (known.parts if known else ()) or (None,) * len(self._trees)
        parts = tuple(
            tree.list(part, limit, on_wait) for (_, tree), part in zip(self._trees, before, strict=True)
        )
        named = [(f"{name}/", part) for (name, _), part in zip(self._trees, parts, strict=True)]
        rows = [(prefix + path, part, row) for prefix, part in named for row, path in enumerate(part.paths)]
        paths, problems = within_limit(sorted(path for path, _, _ in rows), limit)
        of_path = {path: part.states[row] for path, part, row in rows}
        states = np.array([of_path[path] for path in paths], np.int64).reshape(-1, 5)
        problems += (
            Problem(prefix + path, what) if path else Problem("", f"In `{prefix[:-1]}`: {what}")
            for prefix, part in named
            for path, what in part.problems
        )
        left_out = tuple(prefix + name for prefix, part in named for name in part.left_out)
        digest = b"".join(b"%d " % len(part.digest) + part.digest for part in parts)
        return Listing(tuple(paths), states, left_out, tuple(sorted(problems)), digest, parts)

    def at(self, listing: Listing) -> PlaceFiles:
        return _UnitedFiles({name: tree.at(_part_of(listing, f"{name}/")) for name, tree in self._trees})


class _UnitedFiles(NamedTuple):
    """The files of a listing, by the name of the tree that each is of."""

    trees: dict[str, PlaceFiles]

    @property
    def root(self) -> None:
        """No folder holds them all under their paths."""
        return None

    def own_path(self, path: str) -> str:
        name, _, own = path.partition("/")
        return self.trees[name].own_path(own)

    def read(self, path: str, limit: int) -> ReadFile:
        name, _, own = path.partition("/")
        return self.trees[name].read(own, limit)._replace(path=path)


def _part_of(listing: Listing, prefix: str) -> Listing:
    """Return what a listing of several trees says of the files of one of them."""
    rows = [row for row, path in enumerate(listing.paths) if path.startswith(prefix)]
    paths = tuple(listing.paths[row].removeprefix(prefix) for row in rows)
    return Listing(paths, listing.states[rows], (), (), b"")


def unite(places: Sequence[Place], names: Sequence[str]) -> Place:
    """Return several places as one, each file below the name of its own; one alone stays as it is.

    A place that is given twice counts once. Names that are taken are told apart by the commit's name where
    that differs, and numbered else.

    Raises:
        RepositoryNotFoundError: one of them lies within another.
    """
    distinct: dict[bytes, tuple[str, Place]] = {}
    for name, place in zip(names, places, strict=True):
        distinct.setdefault(place.name, (name, place))
    chosen = [place for _, place in distinct.values()]
    if len(chosen) == 1:
        return chosen[0]
    _require_apart(chosen)
    told = _told_apart([(name, place.parts[0].ref) for name, place in distinct.values()])
    return UnitedTrees(list(zip(told, chosen, strict=True)))


def _require_apart(places: Sequence[Place]) -> None:
    """Raise where the files of one place are files of another: each would be shown twice."""
    for place in places:
        for other in places:
            one, two = place.parts[0], other.parts[0]
            if place is not other and one.ref == two.ref and one.root.is_relative_to(two.root):
                raise RepositoryNotFoundError(
                    f"`{place.title}` lies within `{other.title}`, which shows its files too; name one "
                    "of them."
                )


def _told_apart(named: Sequence[tuple[str, str]]) -> list[str]:
    """Return a name for each place, given its own name and the commit's; no two are the same."""
    own = [name.replace("/", "-") or "root" for name, _ in named]
    with_ref = [
        f"{name}@{ref.replace('/', '-')}" if ref and own.count(name) > 1 else name
        for name, (_, ref) in zip(own, named, strict=True)
    ]
    names: list[str] = []
    for name in with_ref:
        number, free = 1, name
        while free in names or (number > 1 and free in with_ref):
            number += 1
            free = f"{name}-{number}"
        names.append(free)
    return names
