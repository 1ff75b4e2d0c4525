"""How well values of Java's own types fit what a parameter takes."""

from __future__ import annotations

from typing import Final

from repo_map.languages.jvm import JAVA_PACKAGES

_NUMBERS: Final = ("byte", "short", "char", "int", "long", "float", "double")
_BOXES: Final = {
    "Integer": "int",
    "Long": "long",
    "Character": "char",
    "Byte": "byte",
    "Short": "short",
    "Double": "double",
    "Float": "float",
    "Boolean": "boolean",
}
PRIMITIVES: Final = frozenset({*_NUMBERS, "boolean"})
EXTERNAL_ROOTS: Final = PRIMITIVES | JAVA_PACKAGES
"""Names that begin nothing of ours."""
FINAL_TYPES: Final = PRIMITIVES | {"String", "list"}
"""Types that nothing else is an instance of."""
ROOT_TYPE: Final = "Object"
_OF_TEXT: Final = frozenset({"CharSequence", "Comparable", "Serializable"})
_OF_NUMBERS: Final = frozenset({"Number", "Comparable", "Serializable"})


def fit(one: str, other: str) -> float | None:
    """Return how well a type of Java's fits another one, but for what a list holds; None where not at all."""
    if one == other:
        return 3.0
    if "list" in (one, other):
        return None
    if one in PRIMITIVES:
        if other in PRIMITIVES:
            return _widened(one, other)
        if _BOXES.get(other) == one:
            return 1.5
        return 0.8 if other in _OF_NUMBERS else None
    if one in _BOXES:
        return 1.5 if _BOXES[one] == other else 0.9 if other in _OF_NUMBERS else None
    if one == "String":
        return 2.0 if other in _OF_TEXT else None
    return None if other in PRIMITIVES or other == "String" or other in _BOXES else 0.2


def _widened(one: str, other: str) -> float | None:
    """Return how near a primitive type is to a wider one."""
    if "boolean" in (one, other):
        return None
    distance = _NUMBERS.index(other) - _NUMBERS.index(one)
    return 2.5 - distance / 10 if distance > 0 and other != "char" else None
