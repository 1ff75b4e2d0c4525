"""Whether what a call gives fits what a function takes, by the rules of its language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from repo_map.messages import plural
from repo_map.parsing.forms import EITHER, LAMBDA, NAMED, NAMED_REST, PLACED, REST, CallForm, ParameterForm

_NAMES_GIVE: Final = frozenset({"python", "kotlin", "php", "ruby"})
"""Languages in which values can be given by the names of parameters."""


def misfit(parameters: Sequence[ParameterForm], call: CallForm, language: str) -> str:
    """Return why a call does not fit, in a few words; ``""`` where it does, or may."""
    names = list(call.names)
    given = call.given
    if language == "ruby" and names and not any(each.kind in (NAMED, NAMED_REST) for each in parameters):
        # They make one hash, the last value.
        names, given = [], given + 1
    taken = [each for each in parameters if each.kind in (EITHER, PLACED)]
    has_rest = any(each.kind == REST for each in parameters)
    if LAMBDA in names and parameters:
        names = [each for each in names if each != LAMBDA]
        names.append(parameters[-1].name)
    if names and language in _NAMES_GIVE:
        named = (EITHER, NAMED, REST) if language == "kotlin" else (EITHER, NAMED)
        known = {each.name for each in parameters if each.kind in named}
        unknown = [each for each in names if each not in known]
        if unknown and not any(each.kind == NAMED_REST for each in parameters):
            return f"it takes no `{unknown[0]}`"
    if call.is_open:
        return ""
    if given > len(taken) and not has_rest:
        return f"it takes {plural(len(taken), 'value')}, and is given {given}"
    missing = [each for each in taken[given:] if not each.is_optional and each.name not in names]
    missing += [
        each for each in parameters if each.kind == NAMED and not each.is_optional and each.name not in names
    ]
    if missing:
        first = missing[0].name
        return f"`{first}` is missing" if first.isidentifier() else f"it is given only {given}"
    doubled = [each.name for each in taken[:given] if each.kind == EITHER and each.name in names]
    return f"`{doubled[0]}` is given twice" if doubled and language == "python" else ""


def is_alike(one: Sequence[ParameterForm], other: Sequence[ParameterForm]) -> bool:
    """Tell whether two functions take the same numbers of values, and the same by name only."""
    return _shape(one) == _shape(other)


def _shape(parameters: Sequence[ParameterForm]) -> tuple[tuple[int, bool, str], ...]:
    kinds = {EITHER: PLACED}
    return tuple(
        (kinds.get(each.kind, each.kind), each.is_optional, each.name if each.kind == NAMED else "")
        for each in parameters
    )
