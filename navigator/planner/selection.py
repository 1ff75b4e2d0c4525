"""The places that a model selects for a task, and the flight plan that shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from navigator.state.run_state import SelectedPlace
from repo_map import globs
from repo_map.errors import RepoMapError
from repo_map.lookup.read import resolve_target
from repo_map.lookup.requests import LookupRequestError
from repo_map.messages import one_line
from repo_map.outline.exclusions import excluded_by, with_exclusions_of
from repo_map.outline.render_cache import RenderCache, Style
from repo_map.outline.sections import Section, Shape
from repo_map.plan.model import MAX_WHY_CHARS, FlightPlan, Focus, PathBoost, SectionRule, VerbosityRule
from repo_map.text.tokens import DEFAULT_ENCODING

if TYPE_CHECKING:
    from navigator.state.reports import OutlineEntry
    from repo_map.index.index import Index

MAX_PLACES: Final = 20
"""Places of a selection: of more, none is chosen (the design's NAVIGATOR page, section 4)."""
MAX_REASON_CHARS: Final = 160
_MIN_PART: Final = 120
"""Tokens that a part of a place must have to be worth its room."""
_SOURCE: Final = 4
_SIGNATURE: Final = 3


def change_selection(
    index: Index,
    before: Sequence[SelectedPlace],
    select: object,
    drop: object,
    *,
    outline: Sequence[OutlineEntry],
    own: FlightPlan,
) -> tuple[tuple[SelectedPlace, ...], tuple[str, ...]]:
    """Return the places that are selected once a model has added some and dropped others.

    With them a note on each target that named none.

    Args:
        index: what the targets are looked for in.
        before: the places that were selected, best first.
        select: a list of ``{"target": …, "reason": …}``; a target alone, or one entry, is taken too.
        drop: targets, each that of a selected place.
        outline: what numbers mean.
        own: the user's part of the plan; what it excludes is not selected.

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
    """Return the name of the definition that has exactly these lines, ``""`` if none has."""
    rows = (
        row for row, each in enumerate(index.definitions(file)) if (each.start, each.end) == (first, last)
    )
    row = next(rows, None)
    return "" if row is None else index.qualified_name(file, row)


def _names(place: SelectedPlace, number: int) -> set[str]:
    """Return the targets by which a selected place can be dropped."""
    found = {str(number), place.path, f"{place.path}:{place.first}-{place.last}"}
    if place.name:
        found |= {place.name, place.name.rpartition(".")[2], f"{place.path}:{place.name}"}
    return found


def plan_selection(
    index: Index, places: Sequence[SelectedPlace], own: FlightPlan, code_tokens: int
) -> FlightPlan:
    """Return the plan that shows the source of as many places as fit, the best first.

    A place that does not fit whole is shown by its signature; if much room is left then, the first such place
    by its beginning.

    Args:
        index: what is drawn.
        places: best first.
        own: the user's part of the plan; its budget is the plan's.
        code_tokens: tokens that the code may take.
    """
    drawing = _Drawing(index, own)
    room = min(code_tokens, own.budget)
    without = [place for place in places if not drawing.add(place, _whole(index, place), room)]
    for place in without:
        if room - drawing.tokens < _MIN_PART:
            break
        if drawing.add_beginning(place, room):
            break
    for place in without:
        drawing.add(place, [_section(index, place, _SIGNATURE)], room)
    rules = [VerbosityRule(pattern="**", level=0), *(rule for rule in own.verbosity if rule.level != 0)]
    rules += drawing.rules()
    order = list(dict.fromkeys(place.path for place in places))
    boosts = tuple(
        PathBoost(pattern=globs.escape(path), weight=float(len(order) - at + 1))
        for at, path in enumerate(order)
    )
    focus = Focus(paths=boosts, symbols=own.focus.symbols if own.focus else ())
    plan = own.model_copy(update={"verbosity": tuple(rules), "focus": focus, "reasons": False})
    return with_exclusions_of(index, plan, own)


class _Drawing:
    """The sections of the files that are shown, with what they cost."""

    def __init__(self, index: Index, own: FlightPlan) -> None:
        self._index = index
        self._cache = RenderCache(index, Style(DEFAULT_ENCODING, bool(own.line_numbers)))
        self._sections: dict[str, list[SectionRule]] = {}
        self._whole: set[str] = set()
        self._costs: dict[str, int] = {}
        self._reasons: dict[str, str] = {}

    @property
    def tokens(self) -> int:
        """What is shown costs, about."""
        return sum(self._costs.values())

    def add(self, place: SelectedPlace, sections: Sequence[SectionRule], room: int) -> bool:
        """Show sections of a place, none for its whole file, if they fit; return whether they are shown."""
        path = place.path
        if path in self._whole:
            return True
        cost = self._cost(path, sections)
        if cost is None or self.tokens - self._costs.get(path, 0) + cost > room:
            return False
        self._costs[path] = cost
        self._reasons.setdefault(path, place.reason[:MAX_WHY_CHARS])
        self._sections.setdefault(path, []).extend(sections)
        if not sections:
            self._whole.add(path)
        return True

    def add_beginning(self, place: SelectedPlace, room: int) -> bool:
        """Show as many lines of a place as fit; return whether any do."""
        room_of_file = room - self.tokens + self._costs.get(place.path, 0)
        low, high = 0, place.last - place.first
        while low < high:
            middle = (low + high + 1) // 2
            cost = self._cost(place.path, [_lines(place.first, place.first + middle - 1)])
            if cost is not None and cost <= room_of_file:
                low = middle
            else:
                high = middle - 1
        return low > 0 and self.add(place, [_lines(place.first, place.first + low - 1)], room)

    def _cost(self, path: str, sections: Sequence[SectionRule]) -> int | None:
        """Return the tokens of a file with further sections, or whole; None if there is no such file."""
        file = self._index.file_id(path)
        if file is None:
            return None
        shown = [*self._sections.get(path, ()), *sections]
        shape = Shape(1, tuple(map(Section.of, shown))) if sections else Shape(_SOURCE)
        return max(self._cache.draw(file, shape).counts)

    def rules(self) -> list[VerbosityRule]:
        """Return the rules that show all this."""
        return [
            VerbosityRule(
                pattern=globs.escape(path),
                level=_SOURCE if path in self._whole else 1,
                sections=() if path in self._whole else tuple(sections),
                why=self._reasons[path] or None,
            )
            for path, sections in self._sections.items()
        ]


def _whole(index: Index, place: SelectedPlace) -> list[SectionRule]:
    """Return the section that shows a place; none for a whole file."""
    file = index.file_id(place.path)
    is_file = file is not None and not place.name and place.first == 1
    return [] if is_file and place.last >= index.files.lines[file] else [_section(index, place, _SOURCE)]


def _section(index: Index, place: SelectedPlace, level: int) -> SectionRule:
    """Return the section of a definition by its name, if only it has that name in its file, else by lines."""
    file = index.file_id(place.path)
    if place.name and file is not None:
        names = [index.qualified_name(file, row) for row in range(len(index.definitions(file)))]
        if names.count(place.name) == 1:
            return SectionRule(pattern=globs.escape(place.name), level=level)
    return _lines(place.first, place.last if level == _SOURCE else place.first)


def _lines(first: int, last: int) -> SectionRule:
    return SectionRule(lines=f"{first}-{last}", level=_SOURCE)
