"""The partial plan as a JSON schema, in as few tokens as tell a language model what it may write."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from repo_map.plan.update import PlanUpdate

_KEPT: Final = ("type", "items", "properties", "required")
"""What is told of each part. Bounds of texts, defaults and titles are checked, not told."""
_UNTOLD: Final = frozenset({"why"})
"""Reasons come with what is ranked; nobody waits for a model to write its own."""
_MOST_ITEMS: Final = 6
_LONGEST_TEXT: Final = 120
"""Characters. A server that holds a model to the schema ends it there if it does not end by itself; what is
longer is taken all the same."""
_BOUNDS: Final = {"ge": "minimum", "le": "maximum", "minimum": "minimum", "maximum": "maximum"}
"""Of whole numbers, by the names that pydantic has for them."""


@cache
def _whole() -> Mapping[str, Any]:
    schema = PlanUpdate.model_json_schema()
    return _short(schema, schema.get("$defs", {}))


def update_schema(*fields: str) -> dict[str, Any]:
    """Return the schema of what ``apply_update`` takes, without the nulls that take something back.

    ``fields`` are those of the plan that it tells, by default all of them.
    """
    told = _copied(_whole())
    told["properties"] = {name: told["properties"][name] for name in fields or told["properties"]}
    return dict(told)


def _short(part: Mapping[str, Any], named: Mapping[str, Any]) -> dict[str, Any]:
    if reference := part.get("$ref"):
        return _short(named[reference.rpartition("/")[2]], named)
    if choices := part.get("anyOf"):
        return next(_short(each, named) for each in choices if each.get("type") != "null")
    kept = {name: part[name] for name in _KEPT if name in part}
    if kept.get("type") == "string":
        kept["maxLength"] = _LONGEST_TEXT
    if kept.get("type") == "array":
        kept["maxItems"] = _MOST_ITEMS
    if kept.get("type") == "integer":
        kept |= {name: part[given] for given, name in _BOUNDS.items() if given in part}
    if "items" in kept:
        kept["items"] = _short(kept["items"], named)
    if "properties" in kept:
        kept["properties"] = {
            name: _short(each, named) for name, each in kept["properties"].items() if name not in _UNTOLD
        }
    return kept


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _copied(each) for name, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, list) else value
