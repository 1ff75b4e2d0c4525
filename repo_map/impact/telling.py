"""What is at risk, in sentences: the greatest risk first, what is only likely apart from facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from repo_map.impact.findings import describe, grouped
from repo_map.impact.risks import Impact, Risk
from repo_map.impact.values import Changes
from repo_map.messages import one_line, plural
from repo_map.relations.model import Confidence, Place

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex

_MOST: Final = 6
_MOST_TESTS: Final = 4
_MOST_OPEN: Final = 3
_CALM: Final = ("No code outside the change was found to use it.", "No code was found to use it.")


def tell_impact(index: RepoIndex, impact: Impact, *, of_changes: bool = True) -> tuple[str, ...]:
    """Return the sentences, none where nothing is known; of what might change they say what relies on it."""
    told: list[str] = []
    if impact.gone:
        names = [
            f"`{each.name}` ({each.path}{f', now {each.successor}' if each.successor else ''})"
            for each in impact.gone
        ]
        told.append(f"Gone: {_few(names)}.")
    if of_changes and impact.changed:
        told.append(f"Changed: {_few([_named(index, place) for place in impact.changed])}.")
    told += _told(
        index,
        "Called from outside the change" if of_changes else "Called or used",
        "Likely called, by name" if of_changes else "Likely called or used, by name",
        impact.callers,
    )
    told += _told(
        index, "Overridden, implemented or extended", "Likely overridden or extended", impact.overriders
    )
    told += _told(
        index, "Overrides or implements", "Likely overrides", impact.overridden, is_about_target=False
    )
    told += _told(index, "Reached by tests", "Likely reached by tests", impact.tests, most=_MOST_TESTS)
    told += _told(
        index,
        "Reached by tests of the change itself",
        "Likely reached by tests of the change itself",
        impact.own_tests,
        most=_MOST_TESTS,
    )
    if impact.untested:
        told.append(
            f"No test was found that reaches {_few([_named(index, place) for place in impact.untested])}; "
            "calls whose target is known only at run time are not found."
        )
    known = (impact.callers, impact.overriders, impact.leftovers, impact.left_open)
    if impact.changed and not any(known):
        told.append(_CALM[0] if of_changes else _CALM[1])
    return tuple(told)


def tell_changes(index: RepoIndex, impact: Impact, changes: Changes) -> tuple[str, ...]:
    """Return what a change touches and puts at risk, then what of it could not be followed."""
    left_open = dict.fromkeys((*changes.left_open[:_MOST_OPEN], *filter(None, (impact.left_open,))))
    found = [f"{describe(each, lines)}." for each, lines in grouped(changes.findings)]
    if len(found) > _MOST:
        found[_MOST:] = [f"And {plural(len(found) - _MOST, 'further place')}, listed in `findings`."]
    tests = [f"Tests to run: {changes.tests}"] if changes.tests else []
    told = [each for each in tell_impact(index, impact) if not (each in _CALM and (found or left_open))]
    return (*found, *told, *_told_of_lines(impact, changes), *tests, *left_open, *changes.notes)


def _told_of_lines(impact: Impact, changes: Changes) -> tuple[str, ...]:
    """Say what was changed where no definition was."""
    paths = dict.fromkeys(f"`{one_line(part.path)}`" for part in changes.parts if not part.name)
    if not paths or impact.changed or impact.gone:
        return ()
    return (f"No function or class was changed, but lines of {_few(list(paths))}.",)


def _told(
    index: RepoIndex,
    fact: str,
    guess: str,
    risks: Sequence[Risk],
    *,
    most: int = _MOST,
    is_about_target: bool = True,
) -> list[str]:
    told = []
    for head, members in (
        (fact, [each for each in risks if each.confidence is Confidence.RESOLVED]),
        (guess, [each for each in risks if each.confidence is not Confidence.RESOLVED]),
    ):
        if members:
            places = [_place(index, each, is_about_target=is_about_target) for each in members]
            told.append(f"{head}: {_few(places, most)}.")
    return told


def _place(index: RepoIndex, risk: Risk, *, is_about_target: bool) -> str:
    path = index.paths[risk.place[0]]
    name = one_line(index.qualified_name(*risk.place)) if risk.place[1] >= 0 else ""
    where = f"`{name}` ({path}:{risk.line})" if name else f"the top of {path}:{risk.line}"
    verb = "for" if is_about_target else "by"
    return f"{where} {verb} `{one_line(risk.target)}`"


def _named(index: RepoIndex, place: Place) -> str:
    line = index.definitions(place[0])[place[1]].sig_start
    return f"`{one_line(index.qualified_name(*place))}` ({index.paths[place[0]]}:{line})"


def _few(names: Sequence[str], most: int = _MOST) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
