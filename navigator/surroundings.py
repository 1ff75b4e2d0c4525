"""What chosen code needs beside it: the definitions that it uses, and those that use it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from repo_map.worktree.file_flags import FileFlag

if TYPE_CHECKING:
    from repo_map.index import RepoIndex
    from repo_map.relations import Place

INTERFACE = 3
FILE_COST = 20
"""Tokens of a file's header and elisions, about."""
MAX_NEIGHBOURS = 24
_ASIDE = int(FileFlag.GENERATED | FileFlag.VENDORED)


class Neighbour(NamedTuple):
    """A definition beside the chosen code, and why it is worth its tokens."""

    path: str
    name: str
    """Qualified."""
    tokens: int
    """Estimated, at level 3."""
    why: str


def neighbours(
    index: RepoIndex, chosen: Sequence[Place], drawn: str, room: int, *, tests: bool = False
) -> tuple[Neighbour, ...]:
    """Return what the chosen definitions use, then what uses them, as far as ``room`` tokens go.

    What ``drawn`` shows is left out. Only names that one definition bears are followed: a guess costs tokens.
    """
    found: dict[Place, Neighbour] = {}
    files: set[int] = set()
    for place, why in (*_used(index, chosen), *_users(index, chosen)):
        if len(found) == MAX_NEIGHBOURS:
            break
        if (
            place in found
            or place in chosen
            or _is_aside(index, place[0], tests=tests)
            or _is_shown(index, place, drawn)
        ):
            continue
        row = int(index.symbols.file_start[place[0]]) + place[1]
        tokens = int(index.costs.definitions[row][1]) + (0 if place[0] in files else FILE_COST)
        if tokens > room:
            continue
        room -= tokens
        files.add(place[0])
        found[place] = Neighbour(index.paths[place[0]], index.qualified_name(*place), tokens, why)
    return tuple(found.values())


def _used(index: RepoIndex, chosen: Sequence[Place]) -> Iterable[tuple[Place, str]]:
    """Yield the definitions that the chosen ones refer to, those of the first chosen first."""
    from repo_map.relations import used_by  # noqa: PLC0415

    for file, row in chosen:
        user = index.qualified_name(file, row)
        for place in used_by(index, (file, row)):
            yield place, f"`{user}` uses it"


def _users(index: RepoIndex, chosen: Sequence[Place]) -> Iterable[tuple[Place, str]]:
    """Yield the definitions that refer to a chosen one by a name that is its alone."""
    from repo_map.relations import unique_definitions, users_of  # noqa: PLC0415

    for file, row in chosen:
        name = int(index.symbols.name[int(index.symbols.file_start[file]) + row])
        if [(file, row)] != unique_definitions(index, [name]):
            continue
        used = index.qualified_name(file, row)
        for user in users_of(index, name):
            yield user, f"it uses `{used}`"


def _is_aside(index: RepoIndex, file: int, *, tests: bool) -> bool:
    return bool(int(index.files.flags[file]) & (_ASIDE if tests else _ASIDE | int(FileFlag.TEST)))


def _is_shown(index: RepoIndex, place: Place, drawn: str) -> bool:
    definition = index.definitions(place[0])[place[1]]
    return index.text(place[0]).split("\n")[definition.sig_start - 1] in drawn
