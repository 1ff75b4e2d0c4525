"""Where the work for a prompt likely is: kept beside a session, told to who has opened no file yet."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from repo_navigator.hooks.names import CALLERS_UNKNOWN, NamedPlace, NameTable

_MOST_FILES: Final = 8
_MOST_OF_A_FILE: Final = 2


class LikelyPlace(NamedTuple):
    """A definition that the work for a prompt may touch; the likeliest stands first."""

    path: str
    name: str
    """With what it belongs to."""
    first: int
    """Its lines, from 1."""
    last: int


def kept(places: Iterable[LikelyPlace]) -> bytes:
    """Return places as they are kept."""
    return json.dumps([list(each) for each in places]).encode()


def places_in(data: bytes) -> list[LikelyPlace]:
    """Return the places that were kept so, none of anything else."""
    try:
        return [
            LikelyPlace(str(path), str(name), int(at), int(end)) for path, name, at, end in json.loads(data)
        ]
    except (ValueError, TypeError, RecursionError):
        return []


def places_left(places: Sequence[LikelyPlace], known: Collection[str], names: NameTable) -> list[LikelyPlace]:
    """Return the likely places that are worth telling, each where it stands now.

    Who has opened a file of the repository has found a way, and seldom opens what lies beside it.
    """
    if any(map(names.has_file, known)):
        return []
    left: dict[str, list[LikelyPlace]] = {}
    for place in places:
        own = left.get(place.path, [])
        if len(own) == _MOST_OF_A_FILE or (not own and len(left) == _MOST_FILES):
            continue
        if now := _standing(place, names):
            left[place.path] = [*own, now]
    return [place for own in left.values() for place in sorted(own, key=lambda each: each.first)]


def _standing(place: LikelyPlace, names: NameTable) -> LikelyPlace | None:
    owner, _, name = place.name.rpartition(".")
    named = NamedPlace(name, owner, "", place.path, place.first, False, CALLERS_UNKNOWN, ())
    now = names.stands(named)
    return place._replace(first=now.line, last=place.last + now.line - place.first) if now else None
