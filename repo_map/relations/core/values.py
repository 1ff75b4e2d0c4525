"""What an expression may be: the values that resolvers follow, and the positions that they are read at."""

from __future__ import annotations

from typing import Final, NamedTuple

from repo_map.languages.kinds import CODE, FUNCTIONS
from repo_map.parsing.facts_model import Binding
from repo_map.relations.model import Place


class Kind:
    """What a value is."""

    INSTANCE: Final = "instance"
    """An object of a type of ours."""
    FUNCTION: Final = "function"
    CLASS: Final = "class"
    """A type of ours, where types are written or are values."""
    MODULE: Final = "module"
    """A module, package or namespace."""
    TUPLE: Final = "tuple"
    SUPER: Final = "super"
    OBJECT: Final = "object"
    """An object that no class makes."""
    UNNAMED: Final = "unnamed"
    """An object of a type without a name; its row is that of the definition around, its name is its lines."""

    EXTERNAL: Final = "external"
    """An object that is not ours; its name is that of its type, its parts are what it holds."""
    EXTERNAL_CLASS: Final = "external class"
    EXTERNAL_METHOD: Final = "external method"
    UNKNOWN_BASE: Final = "unknown base"
    """A base class of which it is not known whether it is ours."""


TYPE_KINDS: Final = CODE - FUNCTIONS
"""Kinds of definition that are types."""
MAX_VALUES: Final = 8
"""Of one expression; what comes after is left out."""


class Value(NamedTuple):
    """What an expression may be."""

    kind: str
    file: int = -1
    row: int = -1
    name: str = ""
    """Of what is not ours, the key of a module, or the folder of a package."""
    parts: tuple[tuple[Value, ...], ...] = ()
    """Type arguments, items of a tuple, or the receiver that a function is reached through."""

    @property
    def place(self) -> Place:
        """The definition that it is, or is an object of."""
        return self.file, self.row


Values = tuple[Value, ...]
"""Any one of them; empty where nothing is known."""
UNKNOWN_EXTERNAL: Final = Value(Kind.EXTERNAL)


class Position(NamedTuple):
    """Where in the source an expression is read."""

    file: int
    row: int
    """Innermost definition."""
    line: int
    """Only bindings above this line count. 0: no position; typed languages see no locals then, others all."""
    indent: int = 255


def position_of(file: int, each: Binding) -> Position:
    """Return where the value of a binding is read."""
    return Position(file, each.definition, each.line, each.indent)
