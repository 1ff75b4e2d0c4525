"""JSON schemas as small as they can be: every host pays for them in every conversation."""

from __future__ import annotations

from typing import Any

_NULL = {"type": "null"}


def compact(schema: dict[str, Any]) -> dict[str, Any]:
    """Return ``schema`` without titles, null alternatives and defaults, which say nothing to a model."""
    return {name: _compact_value(name, value) for name, value in schema.items() if name != "title"}


def _compact_value(name: str, value: Any) -> Any:
    if name in ("properties", "$defs"):
        return {field: _compact_field(part) for field, part in value.items()}
    if name == "items" and isinstance(value, dict):
        return _compact_field(value)
    return value


def _compact_field(field: dict[str, Any]) -> dict[str, Any]:
    field = {name: value for name, value in field.items() if name not in ("title", "default")}
    choices = [choice for choice in field.pop("anyOf", []) if choice != _NULL]
    if len(choices) == 1:
        field = {**choices[0], **field}
    elif choices:
        field["anyOf"] = [compact(choice) for choice in choices]
    return compact(field)
