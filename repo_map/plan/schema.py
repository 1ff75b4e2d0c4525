"""The partial plan as a JSON schema, in as few tokens as a language model needs."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from typing import Any, Final

from repo_map.plan.update import PlanUpdate

_KEYWORDS: Final = ("type", "items", "properties", "required")
"""Keywords of each part; other bounds, defaults and titles are checked, and not in the schema."""
_HIDDEN: Final = frozenset({"why"})
"""A model need not write reasons: they come with what is ranked."""
_MAX_ITEMS: Final = 6
_MAX_TEXT_CHARS: Final = 120
"""A server that enforces the schema cuts a longer text; without it a longer one is accepted."""
_BOUNDS: Final = {"ge": "minimum", "le": "maximum", "minimum": "minimum", "maximum": "maximum"}
"""Of whole numbers, by pydantic's names."""


@cache
def _full_schema() -> dict[str, Any]:
    schema = PlanUpdate.model_json_schema()
    return _shorten(schema, schema.get("$defs", {}))


def update_schema(*fields: str) -> dict[str, Any]:
    """Return the schema of what ``apply_update`` takes, without the nulls that remove something.

    Args:
        fields: Fields of the plan; none for all of them.
    """
    schema = deepcopy(_full_schema())
    schema["properties"] = {name: schema["properties"][name] for name in fields or schema["properties"]}
    return schema


def _shorten(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    if reference := part.get("$ref"):
        return _shorten(definitions[reference.rpartition("/")[2]], definitions)
    if choices := part.get("anyOf"):
        return next(_shorten(each, definitions) for each in choices if each.get("type") != "null")
    found = {name: part[name] for name in _KEYWORDS if name in part}
    if found.get("type") == "string":
        found["maxLength"] = _MAX_TEXT_CHARS
    if found.get("type") == "array":
        found["maxItems"] = _MAX_ITEMS
    if found.get("type") == "integer":
        found |= {name: part[given] for given, name in _BOUNDS.items() if given in part}
    if "items" in found:
        found["items"] = _shorten(found["items"], definitions)
    if "properties" in found:
        properties = found["properties"].items()
        found["properties"] = {
            name: _shorten(each, definitions) for name, each in properties if name not in _HIDDEN
        }
    return found
