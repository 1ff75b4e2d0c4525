"""What is wrong with a plan, as a sentence that names the field's path."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from repo_map.errors import FlightPlanError
from repo_map.messages import plural

_MAX_SHOWN_CHARS = 60
_MAX_BITS = 1_000
_WHOLE = "must be a whole number"
_MESSAGES = {
    "int_parsing": _WHOLE,
    "int_type": _WHOLE,
    "int_from_float": _WHOLE,
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must be a first and a last line, such as 120-180",
    "tuple_type": "must be a list",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "dict_type": "must be a mapping",
}


def plan_error(error: ValidationError, model: type[BaseModel]) -> FlightPlanError:
    """Turn pydantic's findings into one sentence about the first of them."""
    findings = error.errors(include_url=False)
    sentence = _sentence(findings[0], model)
    others = len(findings) - 1
    if others:
        sentence += f" There {'is' if others == 1 else 'are'} {plural(others, 'more such problem')}."
    return FlightPlanError(sentence)


def _sentence(finding: Any, model: type[BaseModel]) -> str:
    path = _path(finding["loc"])
    given = finding["input"]
    kind = finding["type"]
    if kind == "extra_forbidden":
        names = _fields_at(model, finding["loc"][:-1])
        nearest = difflib.get_close_matches(str(finding["loc"][-1]), names, 1, 0.5)
        hint = (
            f"did you mean `{nearest[0]}`?" if nearest else f"it takes {', '.join(f'`{n}`' for n in names)}."
        )
        return f"`{path}` is not a field of a flight plan; {hint}"
    if kind == "missing":
        return f"`{path}` is missing."
    message = finding["msg"].removeprefix("Value error, ").removeprefix("Input ").rstrip(".")
    if kind == "string_too_long":
        limit = finding["ctx"]["max_length"]
        return f"`{path}` has {len(given):,} characters, more than {limit:,}; make it shorter."
    if kind == "too_long":
        count, limit = finding["ctx"]["actual_length"], finding["ctx"]["max_length"]
        advice = "use globs that name more files" if path == "verbosity" else "keep those that matter most"
        return f"`{path}` has {count or len(given):,} entries, more than {limit:,}; {advice}."
    if path.endswith("level") and kind in ("less_than_equal", "greater_than_equal"):
        message = "must be 0 (exclude), 1 (path), 2 (structure), 3 (interface) or 4 (implementation)"
    message = _MESSAGES.get(kind, message)
    if kind == "value_error":
        return f"`{path}`: {message}." if path else f"{message}."
    message = message.replace("should be", "must be")
    return f"`{path or 'the plan'}` is {_shown(given)}; it {message}."


def _shown(given: object) -> str:
    if isinstance(given, dict | list):
        return f"a {'mapping' if isinstance(given, dict) else 'list'}"
    if isinstance(given, int) and given.bit_length() > _MAX_BITS:
        return "a number of very many digits"  # Python writes out none of more than 4,300 digits.
    shown = repr(given)
    return shown if len(shown) <= _MAX_SHOWN_CHARS else f"{shown[:_MAX_SHOWN_CHARS]}…"


def _path(location: Sequence[int | str]) -> str:
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _fields_at(model: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    """Return the field names of the part of a plan that a location leads to."""
    for part in location:
        if isinstance(part, str) and part in model.model_fields:
            model = _model_in(model.model_fields[part].annotation) or model
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model inside ``Focus | None`` or ``tuple[VerbosityRule, ...]``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        found = _model_in(inner)
        if found:
            return found
    return None
