"""Numbers of the outline in an update: what they may look like, and which rules of a plan they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from navigator.errors import InvalidArgumentError
from repo_map import globs
from repo_map.errors import FlightPlanError
from repo_map.steering.commands import read_numbers
from repo_map.steering.plan_changes import PlanChanges
from repo_map.steering.targets import NamedDefinition, Target

if TYPE_CHECKING:
    from navigator.state.reports import OutlineEntry
    from repo_map.plan.model import FlightPlan


NUMBERS = "numbers"
"""What updates may ask for of the outline, beside the flight plan: ``[3, 7]``, or words such as ``"2-5"``."""
_BODY = 4


def outline_numbers(asked: object) -> tuple[int, ...]:
    """Return the numbers of the outline that an update asks for.

    Raises:
        InvalidArgumentError: they are no numbers.
    """
    if asked is None:
        return ()
    words = ", ".join(map(str, asked)) if isinstance(asked, list | tuple) else str(asked)
    if not (numbers := read_numbers(words)):
        raise InvalidArgumentError(NUMBERS, f'is {asked!r}; give numbers of the outline, as [3, 7] or "2-5".')
    return numbers


def with_places(
    plan: FlightPlan, own: FlightPlan, updates: Mapping[str, Any], outline: Sequence[OutlineEntry]
) -> tuple[dict[str, Any], str]:
    """Return a model's updates with rules in place of numbers, and what is to be told of unknown ones.

    Args:
        plan: the whole plan that is updated.
        own: the user's part of it.
        updates: a partial plan, with or without numbers.
        outline: the places that numbers mean.

    Raises:
        FlightPlanError: none of the numbers is on the outline.
    """
    rest = {name: value for name, value in updates.items() if name != NUMBERS}
    if not (asked := updates.get(NUMBERS)):
        return rest, ""
    try:
        numbers = outline_numbers(asked)
    except InvalidArgumentError as error:
        raise FlightPlanError(str(error)) from None
    places = {place.number: place for place in outline}
    chosen = [places[number] for number in numbers if number in places]
    unknown = ", ".join(str(number) for number in numbers if number not in places)
    if not chosen:
        has = f"its numbers go from 1 to {max(places)}" if places else "it is empty"
        raise FlightPlanError(f"The outline has no {unknown}: {has}. Choose other numbers, or finish.")
    changes = PlanChanges(plan, own)
    parts = tuple(NamedDefinition(each.path, each.name, each.first) for each in chosen if each.name)
    files = tuple(globs.escape(each.path) for each in chosen if not each.name)
    changes.set_level(Target("", places=parts), _BODY)
    changes.set_level(Target("", patterns=files), _BODY)
    rules = [*(rest.get("verbosity") or ()), *changes.updates()["verbosity"]]
    return {**rest, "verbosity": rules}, f"The outline had no {unknown}." if unknown else ""
