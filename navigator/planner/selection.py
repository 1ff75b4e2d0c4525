"""The places that a model selects for a task, and the flight plan that shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from navigator.state.run_state import SelectedPlace
from repo_map.errors import RepoMapError
from repo_map.lookup.locations import definition_at, find_definitions, trust
from repo_map.lookup.read import resolve_target
from repo_map.lookup.requests import LookupRequestError
from repo_map.messages import one_line
from repo_map.outline.exclusions import excluded_by
from repo_map.outline.pack import pack
from repo_map.outline.places import Place
from repo_map.relations.resolve import relations_of
from repo_map.text.terms import terms_in

if TYPE_CHECKING:
    from navigator.state.reports import OutlineEntry
    from repo_map.index.index import Index
    from repo_map.plan.model import FlightPlan

MAX_PLACES: Final = 20
"""Places of a selection: of more, none is chosen (the design's NAVIGATOR page, section 4)."""
MAX_REASON_CHARS: Final = 160
_MAX_OTHERS: Final = 6
"""Overrides and namesakes that are named for the places of one selection,"""
_MAX_OTHERS_OF_ONE: Final = 2
"""and for one place."""
_MAX_NAMESAKES: Final = 4
"""Definitions of one name that are few enough to be named."""
_PROSE: Final = 2
"""What ``trust`` gives for files without code."""


def change_selection(
    index: Index,
    before: Sequence[SelectedPlace],
    select: object,
    drop: object,
    *,
    outline: Sequence[OutlineEntry],
    own: FlightPlan,
) -> tuple[tuple[SelectedPlace, ...], tuple[str, ...]]:
    """Return the places that are selected once a model has added some and dropped others, best first.

    With them a note on each target that named none. ``select`` is a list of ``{"target": …, "reason": …}``; a
    target alone, or one entry, is taken too. What the user's ``own`` plan excludes is not selected.

    Raises:
        RepoMapError: there are too many places or none, an entry is malformed, or no target names a place.
    """
    entries = {entry.number: entry for entry in outline}
    dropped = {str(each).strip() for each in _list(drop)}
    kept = [place for number, place in enumerate(before, 1) if not (dropped & _names(place, number))]
    notes: list[str] = []
    found: list[SelectedPlace] = []
    for given in _list(select):
        target, reason = _entry(given)
        try:
            found += _places(index, target, reason, entries, kept)
        except LookupRequestError as error:
            notes.append(str(error))
    hidden = [place for place in found if excluded_by(own, place.path)]
    notes += [f"The user leaves out {one_line(place.path)}; it can't be selected." for place in hidden]
    found = [place for place in found if place not in hidden]
    if notes and not found:
        raise RepoMapError(" ".join(notes))
    # All places are one question, whose time is limited.
    with relations_of(index).asking():
        found = list(_with_others(index, found, own))
    merged = {place.key: place for place in (*kept, *found)}
    if not merged:
        raise RepoMapError("This drops every selected place; select others, or call finalize_context.")
    if len(merged) > MAX_PLACES:
        raise RepoMapError(
            f"{len(merged)} places are selected; the maximum is {MAX_PLACES}, and 8 are enough. "
            "Select the best."
        )
    return tuple(merged.values()), tuple(notes)


def _list(given: object) -> Sequence[object]:
    if given is None or given == "":
        return ()
    return given if isinstance(given, list | tuple) else (given,)


def _entry(given: object) -> tuple[str, str]:
    """Return the target and the reason of an entry as models write it."""
    if isinstance(given, Mapping):
        target, reason = given.get("target"), given.get("reason") or ""
        lines = given.get("lines")
        if target is None and given.get("path"):
            target = given["path"] if lines is None else f"{given['path']}:{lines}"
    else:
        target, reason = given, ""
    if not isinstance(target, str | int) or isinstance(target, bool) or not str(target).strip():
        raise RepoMapError(
            'An entry of `select` has no target; write {"target": "src/a.py:3-20", "reason": "…"}.'
        )
    text = one_line(str(reason))
    return str(target).strip(), text if len(text) <= MAX_REASON_CHARS else f"{text[: MAX_REASON_CHARS - 1]}…"


def _places(
    index: Index,
    target: str,
    reason: str,
    entries: Mapping[int, OutlineEntry],
    near: Sequence[SelectedPlace],
) -> list[SelectedPlace]:
    if target.isdecimal():
        entry = entries.get(int(target))
        if entry is None:
            has = f"its numbers go from 1 to {max(entries)}" if entries else "it is empty"
            raise LookupRequestError(f"The outline has no {target}: {has}.")
        return [
            SelectedPlace(
                path=entry.path,
                first=entry.first,
                last=entry.last,
                name=entry.name,
                reason=reason or entry.why,
            )
        ]
    found = []
    for each in resolve_target(index, target, [place.path for place in near]):
        name = each.name if each.row >= 0 else _name_of(index, each.file, each.first, each.last)
        path = index.paths[each.file]
        found.append(SelectedPlace(path=path, first=each.first, last=each.last, name=name, reason=reason))
    return found


def _name_of(index: Index, file: int, first: int, last: int) -> str:
    rows = (
        row for row, each in enumerate(index.definitions(file)) if (each.start, each.end) == (first, last)
    )
    row = next(rows, None)
    return "" if row is None else index.qualified_name(file, row)


def _with_others(index: Index, places: Sequence[SelectedPlace], own: FlightPlan) -> Iterator[SelectedPlace]:
    """Yield places with where they are overridden, and where their names are defined too."""
    relations, left = relations_of(index), _MAX_OTHERS
    for place in places:
        file, leaf = index.file_id(place.path), place.name.rpartition(".")[2]
        rows = enumerate(index.definitions(file)) if file is not None and leaf else ()
        row = next((row for row, each in rows if each.name == leaf and each.start == place.first), -1)
        if file is None or row < 0:
            yield place
            continue
        above = [each.target for each in relations.overrides_of((file, row))]
        below = [each.source for each in relations.overridden_by((file, row))]
        same = [each for each in find_definitions(index, leaf) if trust(index, each[0]) < _PROSE]
        kind = index.definitions(file)[row].kind
        same = [each for each in same if index.definitions(each[0])[each[1]].kind == kind]
        # A name that many places have says nothing about this one.
        others = dict.fromkeys((*above, *below, *(same if len(same) <= _MAX_NAMESAKES else ())))
        others.pop((file, row), None)
        named = [
            f"{index.paths[each.file]}:{each.first}-{each.last}"
            for each in map(partial(definition_at, index), others)
            if not excluded_by(own, index.paths[each.file])
        ][: min(left, _MAX_OTHERS_OF_ONE)]
        left -= len(named)
        yield place.model_copy(update={"also": f"also in {', '.join(named)}"}) if named else place


def _names(place: SelectedPlace, number: int) -> set[str]:
    """Return the targets by which a selected place can be dropped."""
    found = {str(number), place.path, f"{place.path}:{place.first}-{place.last}"}
    if place.name:
        found |= {place.name, place.name.rpartition(".")[2], f"{place.path}:{place.name}"}
    return found


def as_place(selected: SelectedPlace) -> Place:
    return Place(
        selected.path, selected.first, selected.last, selected.name, selected.reason, also=selected.also
    )


def plan_selection(
    index: Index, places: Sequence[SelectedPlace], own: FlightPlan, code_tokens: int, goal: str = ""
) -> FlightPlan:
    """Return the plan that shows the source of as many places as fit in ``code_tokens``, the best first.

    Of a place that does not fit whole the lines are shown that the goal and its reason speak of, or its
    signature. The plan's budget is that of ``own``, the user's part of it.
    """
    terms = terms_in("\n".join((goal, *(place.reason for place in places))))
    weights = dict.fromkeys(sorted(terms), 1.0)
    return pack(index, own, [*map(as_place, places)], code_tokens, terms=weights, are_selected=True).plan
