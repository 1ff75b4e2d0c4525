"""Expressions and written types: values that resolvers follow, and the text that an index keeps of each.

Readers of facts write the text with the functions below, and resolvers get values back by ``decode…``. No
other module knows its grammar, which is part of what an index stores::

    expression = root step*
    root  = name            what a name means where it stands
          | '               a text
          | 0               a number, or what else is no object of ours
          | ?               not known
          | <type>          something of a written type
          | [e] or [?]      several of e
          | {k,v} or {}     a mapping; an object literal
          | (a,b)           a tuple
          | (|a|b)          one of several
    step  = .name           a member
          | ()              what calling it gives
          | [] or [1]       what subscripting it gives, by that number
          | *               what iterating over it gives
          | %               what entering it as a context gives, or a key of what is iterated over
          | #1              the second of a tuple
          | @2.0            what a call of two arguments takes as the first
          | @1              the second parameter of what is a function

    type  = head or head[type,type], alternatives joined by |
    head  = a dotted name; list, dict, tuple, chan and func (whose last argument is its result) are built in;
            ~fields[first,last] is an anonymous type, whose members are in these lines of the file

    receiver = expression, or bases of an implicit receiver, each followed by &; in languages that overload,
               / and the expressions that the call is given, commas between them
    parameters = name: how many, + behind it where there may be more, - where so many at least;
                 value: their written types, commas between them
    excluded = first and last line of a branch, and the last of the branch that sees none of its bindings,
               colons between them
    narrowed = the last line at which it holds, 0 for the end, a colon, and a written type
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple, NewType

_NAME: Final = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_STEP: Final = re.compile(r"\.[#$]?[^\W\d][\w$]*|\.\$[\w$]*|\(\)|\[\d*\]|\*|%|#\d+|@\d+(?:\.\d+)?")
_OPENING, _CLOSING = frozenset("([{<"), frozenset(")]}>")
_MAX_DEPTH: Final = 12
_MAX_CACHED: Final = 20_000


# Kinds of roots.
NAME: Final = "name"
"""A bare name."""
LITERAL: Final = "literal"
"""A literal of no parts, whose text is ``'`` for a text or ``0`` for a number."""
UNKNOWN_ROOT: Final = "?"
TYPED: Final = "typed"
"""Something of a written type."""
ONE_OF: Final = "one of"
"""Any one of its parts."""
CONTAINERS: Final = frozenset({"list", "dict", "tuple"})
"""Literals of parts."""

# Kinds of steps.
MEMBER: Final = "."
CALLED: Final = "("
"""What calling it gives."""
ITEM: Final = "["
"""What subscripting it gives, by a number where one is written."""
ITERATED: Final = "*"
"""What iterating over it gives."""
ENTERED: Final = "%"
"""What entering it as a context gives, or a key of what is iterated over."""
TUPLE_ITEM: Final = "#"
ARGUMENT_TYPE: Final = "@."
"""What a call of so many arguments takes as the one at a number."""
PARAMETER_TYPE: Final = "@"


class Root(NamedTuple):
    """What an expression begins with."""

    kind: str
    text: str = ""
    parts: tuple[Expression, ...] = ()
    is_called: bool = False


class Step(NamedTuple):
    """What is done with a value."""

    kind: str
    name: str = ""
    """Of a member."""
    number: int | None = None
    arguments: int = 0
    """How many a call is given."""
    is_called: bool = False


class Expression(NamedTuple):
    """A root, and what is done with it in order."""

    root: Root
    steps: tuple[Step, ...] = ()


UNKNOWN: Final = Expression(Root(UNKNOWN_ROOT))

# Values to text, for readers.

Form = NewType("Form", str)
"""The text of an expression: a name, or names with dots between them, or made by the functions below."""
UNKNOWN_FORM: Final = Form("?")
CALLBACK: Final = "func[?]"
"""The written type of a function of which no more is known."""
FIELDS: Final = "~fields"
"""The head of an anonymous type; no type of a program can be called so."""
TEXT_FORM: Final = Form("'")
OTHER_FORM: Final = Form("0")
OBJECT_FORM: Final = Form("{}")


def member_of(of: Form, name: str) -> Form:
    """Return the form of a member."""
    return _then(of, f".{name}")


def call_of(function: Form) -> Form:
    """Return the form of what a call gives."""
    return _then(function, "()")


def item_of(of: Form, number: str = "") -> Form:
    """Return the form of what subscripting gives."""
    return _then(of, f"[{number}]")


def element_of(over: Form) -> Form:
    """Return the form of what iterating gives."""
    return _then(over, "*")


def entry_of(context: Form) -> Form:
    """Return the form of what entering a context gives, or of a key of what is iterated over."""
    return _then(context, "%")


def part_of(of: Form, number: int) -> Form:
    """Return the form of one of the parts of a tuple."""
    return _then(of, f"#{number}")


def argument_of(function: Form, count: int, number: int) -> Form:
    """Return the form of what a call of ``count`` arguments takes as the one at ``number``."""
    return _then(function, f"@{count}.{number}")


def parameter_of(function: Form, number: int) -> Form:
    """Return the form of a parameter of what is a function."""
    return _then(function, f"@{number}")


def of_type(written: str) -> Form:
    """Return the form of something of a written type; unknown for ``""``."""
    return Form(f"<{written}>") if written else UNKNOWN_FORM


def list_of(of: Form) -> Form:
    """Return the form of a list."""
    return Form(f"[{of}]")


def mapping_of(key: Form, value: Form) -> Form:
    """Return the form of a mapping."""
    return Form(f"{{{key},{value}}}")


def tuple_of(parts: Iterable[Form]) -> Form:
    """Return the form of a tuple."""
    return Form(f"({','.join(parts)})")


def one_of(parts: Iterable[Form]) -> Form:
    """Return the form of one of several, each named once; unknown for none."""
    forms = tuple(dict.fromkeys(parts))
    return Form(f"(|{'|'.join(forms)})") if len(forms) > 1 else forms[0] if forms else UNKNOWN_FORM


def anonymous_type(first: int, last: int) -> str:
    """Return the written type of what has no name, and whose members stand in some lines."""
    return f"{FIELDS}[{first},{last}]"


def several_of(written: str) -> str:
    """Return the written type of a list of what has a written type."""
    return f"list[{written or '?'}]"


def excluded_form(first: int, last: int, until: int) -> str:
    """Return the value of a binding of what a branch binds and another one, up to a line, does not see."""
    return f"{first}:{last}:{until}"


def narrowed_form(last: int, written: str) -> str:
    """Return the value of a binding of what has a type up to a line, 0 for the end."""
    return f"{last}:{written}"


def either(one: Form, other: Form, nothing: Form = UNKNOWN_FORM) -> Form:
    """Return the union of two expressions; if one is ``nothing`` or unknown, the other."""
    if other in (UNKNOWN_FORM, nothing):
        return one
    return other if one == nothing else one_of((one, other))


def implicit_receivers(receivers: Iterable[Form]) -> str:
    """Return what stands before a bare name that may be a member of one of several, the innermost first."""
    return "".join(f"{each}&" for each in receivers)


def arguments_given(arguments: Iterable[Form]) -> str:
    """Return what follows a receiver where the language overloads."""
    return "/" + ",".join(arguments)


def _then(form: Form, step: str) -> Form:
    return form if form == UNKNOWN_FORM else Form(form + step)


# Text to values, for resolvers.

_KINDS: Final = {"[": "list", "{": "dict", "(": "tuple"}


class Type(NamedTuple):
    """One alternative of a written type."""

    head: str
    arguments: tuple[str, ...]
    """Written types."""


class Receiver(NamedTuple):
    """What stands before a name that is used."""

    text: str
    """As it is stored, without what the call is given."""
    implicit: tuple[Expression, ...]
    """What a bare name may be a member of, the innermost first."""
    arguments: tuple[Expression, ...] | None
    """What the call is given, None in languages that do not overload."""

    @property
    def expression(self) -> Expression:
        """The expression before the dot."""
        return decode(self.text)


class Parameters(NamedTuple):
    """How many arguments a function takes, and their written types."""

    types: tuple[str, ...]
    required: int
    has_more: bool
    """Whether the last type may come any number of times."""

    def take(self, count: int) -> bool:
        """Return True if a call can pass this number of arguments."""
        if self.has_more:
            return count >= len(self.types) - 1
        return self.required <= count <= len(self.types)


@lru_cache(maxsize=_MAX_CACHED)
def decode(text: str) -> Expression:
    """Read an expression; what is none is unknown."""
    return _decode(text, 0)


def _decode(text: str, depth: int) -> Expression:
    if not text or depth > _MAX_DEPTH:
        return UNKNOWN
    first = text[0]
    root, at = UNKNOWN.root, 1
    if first in "'0":
        root = Root(LITERAL, first)
    elif first in _OPENING:
        at = _close(text)
        root = _decode_parts(first, text[1 : at - 1], depth + 1)
    elif first != "?":
        if (named := _NAME.match(text)) is None:
            return UNKNOWN
        root, at = Root(NAME, named[0]), named.end()
    written: list[str] = []
    while at < len(text):
        if (step := _STEP.match(text, at)) is None:
            return UNKNOWN
        written.append(step[0])
        at = step.end()
    calls = [*(each == "()" or (each[0] == "@" and "." in each) for each in written), False]
    if root.kind == NAME:
        root = root._replace(is_called=calls[0])
    steps = (_step(each, is_called=after) for each, after in zip(written, calls[1:], strict=True))
    return Expression(root, tuple(steps))


def _decode_parts(mark: str, inner: str, depth: int) -> Root:
    if mark == "<":
        return Root(TYPED, inner)
    if inner.startswith("|"):
        return Root(ONE_OF, parts=tuple(_decode(part, depth) for part in split(inner[1:], "|")))
    return Root(_KINDS[mark], parts=tuple(_decode(part, depth) for part in split(inner, ",")))


def _step(written: str, *, is_called: bool) -> Step:
    kind, rest = written[0], written[1:].rstrip(")]")
    if kind == MEMBER:
        return Step(kind, rest, is_called=is_called)
    count, dot, number = rest.rpartition(".")
    return Step(kind + dot, number=int(number) if number else None, arguments=int(count) if dot else 0)


@lru_cache(maxsize=_MAX_CACHED)
def decode_type(written: str) -> tuple[Type, ...]:
    """Read the alternatives of a written type (``a.B[C]|None``)."""
    found = []
    for part in split(written, "|"):
        head, bracket, rest = part.partition("[")
        arguments = tuple(split(rest.removesuffix("]"), ",")) if bracket else ()
        found.append(Type(head.strip("()"), arguments))
    return tuple(found)


def head_of_type(written: str) -> str:
    """Return the name of a written type without its arguments."""
    return written.partition("[")[0]


@lru_cache(maxsize=_MAX_CACHED)
def decode_receiver(text: str) -> Receiver:
    """Read what stands before a name that is used."""
    before, is_given, given = text.partition("/")
    arguments = tuple(decode(each) for each in split(given, ",")) if is_given else None
    implicit = tuple(decode(each) for each in before.split("&")[:-1]) if before.endswith("&") else ()
    return Receiver(before, implicit, arguments)


@lru_cache(maxsize=_MAX_CACHED)
def decode_parameters(count: str, types: str) -> Parameters:
    """Read the name and the value of a binding of parameters."""
    written = tuple(split(types, ","))
    if count.endswith("+"):
        return Parameters(written, len(written) - 1, has_more=True)
    required = int(count[:-1]) if count.endswith("-") else len(written)
    return Parameters(written, required, has_more=False)


def decode_excluded(value: str) -> tuple[int, int, int]:
    """Return the first and last line of a branch, and up to which line its bindings do not count."""
    first, last, until = value.split(":")
    return int(first), int(last), int(until)


def decode_narrowed(value: str) -> tuple[int, str]:
    """Return the last line at which a name has a type, 0 for the end, and that type."""
    last, _, written = value.partition(":")
    return int(last), written


def _close(text: str) -> int:
    """Return the position after the mark that closes the first one."""
    depth = 0
    for at, letter in enumerate(text):
        if letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
            if depth == 0:
                return at + 1
    return len(text)


def split(text: str, mark: str) -> list[str]:
    """Split at a mark outside all brackets, empty parts left out."""
    parts: list[str] = []
    depth = start = 0
    for at, letter in enumerate(text):
        if letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
        elif letter == mark and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part for part in parts if part]
