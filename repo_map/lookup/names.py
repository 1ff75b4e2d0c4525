"""What a name in a request means: files, definitions, or lines of a file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from repo_map import globs
from repo_map.arrays import distinct
from repo_map.errors import FlightPlanError
from repo_map.lookup.locations import FileLocations, trust
from repo_map.lookup.requests import LookupRequestError
from repo_map.messages import one_line

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.relations.model import Place

_IN_FILE: Final = (
    re.compile(r"(?P<path>.+?):L?(?P<first>\d+)(?:\s?[-–]\s?L?(?P<last>\d+))?$"),
    # As a test runner writes it: ``tests/test_a.py::TestA::test_b[1]``.
    re.compile(r"(?P<path>[^:]+)::(?P<name>[^\[]+)"),
    re.compile(r"(?P<path>.+?):(?P<name>[^\d:].*)$"),
    re.compile(r"(?P<name>\S+) \((?P<path>[^()]+)\)$"),
)
"""The ways to write lines or a definition with the file."""
_OWNER: Final = re.compile(r"^\(?[*&]*([\w.]+)\)?\.(?=\w)|^[*&]+")
"""The receiver of a method as its users write it: ``(*LB).``, ``LB.``."""


class Name(NamedTuple):
    """A name in its parts."""

    name: str
    """Of a definition, as it is written; ``""`` for lines."""
    files: tuple[int, ...] = ()
    """The files that are named with it, none if it is written without a path."""
    lines: tuple[int, int] | None = None
    """First and last line."""


def parse_name(index: Index, text: str) -> Name:
    """Return the parts of ``path:first-last``, ``path:name``, ``name (path)`` or a mere name."""
    for form in _IN_FILE:
        if (match := form.match(text)) and (files := files_named(index, match["path"])):
            groups = match.groupdict()
            if first := groups.get("first"):
                return Name("", tuple(files), (int(first), int(groups["last"] or first)))
            return Name(groups["name"] or "", tuple(files))
    return Name(text)


def find_files(index: Index, paths: str) -> list[int]:
    """Return the files that a path, a folder, the end of a path, or a glob names.

    Raises:
        LookupRequestError: it names none.
    """
    wanted = paths.strip().removeprefix("./").removesuffix("/") or "**"
    try:
        found = globs.select(wanted, index.paths) or globs.select(f"**/{wanted}", index.paths)
    except FlightPlanError as error:
        raise LookupRequestError(str(error)) from None
    if not found:
        found = [file for file, path in enumerate(index.paths) if f"/{path}".find(f"/{wanted}/") >= 0]
    if not found:
        folders = list(dict.fromkeys(f"{path.partition('/')[0]}/" for path in index.paths if "/" in path))
        has = f" Folders: {', '.join(folders[:12])}." if folders else ""
        raise LookupRequestError(f"No file matches `{one_line(paths)}`.{has}")
    return found


def files_named(index: Index, path: str) -> list[int]:
    """Return the files that ``find_files`` finds, none instead of an error."""
    try:
        return find_files(index, path)
    except LookupRequestError:
        return []


def find_file(index: Index, path: str) -> int | None:
    """Return the file at a path or, where it is only one, at the end of a path."""
    found = index.file_id(path.removeprefix("./"))
    if found is not None or ("/" not in path and "." not in path):
        return found
    files = [file for file in files_named(index, path) if f"/{index.paths[file]}".endswith(f"/{path}")]
    return files[0] if len(files) == 1 else None


def find_symbol(index: Index, symbol: str) -> list[Place]:
    """Return the definitions that a name means, or around a line; of a path its file, as row -1."""
    name, files, lines = parse_name(index, symbol)
    if lines is not None:
        row = FileLocations(index, files[0]).row_at(lines[0])
        return [(files[0], row)] if row >= 0 else []
    within = [place for place in find_definitions(index, name) if place[0] in files]
    if within or (files and "::" not in symbol):
        return within
    found = find_definitions(index, symbol)
    if not found and ("." in symbol or "/" in symbol):
        named = files_named(index, symbol)
        return [(named[0], -1)] if len(named) == 1 else []
    return found


def find_definitions(index: Index, name: str, near: Iterable[str] = ()) -> list[Place]:
    """Return the definitions of a name, qualified or not; the project's own source before copies and tests.

    Args:
        index: where to look.
        name: as any language writes it: ``f``, ``A.f``, ``A::f``, ``(*A).f``, ``f()``.
        near: paths; definitions in or near them come first among equals.
    """
    plain = plain_name(name)
    leaf = plain.rpartition(".")[2]
    if not leaf:
        return []
    numbers = [*index.memo(_member_names).get(leaf, ())]
    if (number := index.strings.get(leaf)) is not None:
        numbers.append(number)
    starts = index.symbols.file_start
    found: list[Place] = []
    for row in np.flatnonzero(np.isin(index.symbols.name, numbers)).tolist():
        file = int(np.searchsorted(starts, row, side="right")) - 1
        qualified = index.qualified_name(file, row - int(starts[file]))
        if qualified == plain or qualified.endswith(f".{plain}"):
            found.append((file, row - int(starts[file])))
    folders = {str(PurePosixPath(path).parent) for path in near}
    known = set(near)

    def order(place: Place) -> tuple[object, ...]:
        path = index.paths[place[0]]
        is_near = path in known, str(PurePosixPath(path).parent) in folders
        definition = index.definitions(place[0])[place[1]]
        is_declared_only = definition.end == definition.sig_end
        return (trust(index, place[0]), *(not each for each in is_near), is_declared_only, place)

    return sorted(found, key=order)


def plain_name(name: str) -> str:
    """Return a name with dots for all that languages write between a scope and its member."""
    text = _OWNER.sub(r"\1.", name.strip())
    return text.removesuffix("()").replace("::", ".").replace("#", ".").replace("->", ".").strip(".")


def _member_names(index: Index) -> dict[str, tuple[int, ...]]:
    """Return the names that carry their owner (Go's ``LB.tryAgain``), by their last part."""
    found: dict[str, list[int]] = {}
    for number in distinct(index.symbols.name).tolist():
        owner, dot, leaf = index.strings[number].rpartition(".")
        if owner and dot:
            found.setdefault(leaf, []).append(number)
    return {leaf: tuple(numbers) for leaf, numbers in found.items()}


def nearest_names(index: Index, name: str) -> list[str]:
    """Return up to three names of definitions, or of files for a path, that are spelled much like a name."""
    leaf = plain_name(name).rpartition(".")[2]
    names = sorted(index.memo(_definition_names))
    if "." in name or "/" in name:
        files = sorted({path.rpartition("/")[2] for path in index.paths})
        if found := get_close_matches(name.rpartition("/")[2], files, n=3, cutoff=0.75):
            return found
    by_case = [each for each in names if each.lower() == leaf.lower()]
    return by_case[:3] or get_close_matches(leaf, names, n=3, cutoff=0.75)


def _definition_names(index: Index) -> frozenset[str]:
    return frozenset(index.strings.many(distinct(index.symbols.name)))


def unknown(index: Index, name: str) -> str:
    """Return the message about a name that no definition and no file has."""
    near = nearest_names(index, name)
    hint = f" Nearest: {', '.join(f'`{one_line(each)}`' for each in near)}." if near else ""
    return f"Nothing is called `{one_line(name)}`.{hint}"
