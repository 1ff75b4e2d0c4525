"""The values that a reader of facts gives, and the kinds that all families share."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Final, NamedTuple, TypeVar

# Kinds of sites.
CALL: Final = 0
"""The name is called, or what it names is constructed."""
TYPE: Final = 1
"""The name stands where a type is written."""
VALUE: Final = 2
"""The name is passed, returned or assigned without being called."""
BASE: Final = 3
"""The name is what a class extends or implements."""
DECORATOR: Final = 4
"""The name decorates or annotates a definition."""
SITE_KINDS: Final = ("call", "type", "value", "base", "decorator")

# Kinds of bindings.
IMPORT: Final = 0
"""``value`` is a module, or ``module:name``; ``name`` is what the file calls it, ``""`` for nothing."""
STAR: Final = 1
"""Every name of the module ``value``."""
ASSIGNED: Final = 2
"""``value`` is an expression, ``""`` where nothing is known of it: the name is bound all the same."""
DECLARED: Final = 3
"""``value`` is a written type."""
FIELD: Final = 4
"""A field of the class around ``definition``, bound to an expression that is read in ``definition``."""
FIELD_TYPE: Final = 5
"""A field of the class around ``definition`` with its written type."""
INHERITS: Final = 6
"""Base class or interface: ``definition`` inherits from ``value``, whose last name is ``name``."""
RETURNED: Final = 7
"""``definition`` returns the expression ``value``."""
RETURN_TYPE: Final = 8
"""``definition`` returns the written type ``value``."""
DECORATED: Final = 9
"""``definition`` is decorated with the expression ``value``, whose last name is ``name``."""
RENAMED: Final = 10
"""An import under another name than its own; ``value`` as for ``IMPORT``."""
EXPORTED: Final = 11
"""``name`` is what others call the expression ``value`` of this file."""

NARROWED: Final = 12
"""``last:type``: from this line to the line ``last``, 0 for the end, the name has the written type."""

PACKAGE: Final = 13
"""The file belongs to the package or the module ``value``."""
ALIAS: Final = 14
"""``definition`` is another name of the written type ``value``, or made of it."""
TYPE_PARAMETER: Final = 15
"""``name`` is a parameter of ``definition``; ``value`` is the written type that bounds it."""
PARAMETERS: Final = 16
"""``definition`` takes ``name`` parameters of the written types ``value``, commas between them.

A ``+`` behind the number: there may be more; a ``-``: so many at least, as many as there are types at most.
"""
RECEIVER: Final = 17
"""``definition`` is a member of the written type ``value`` that stands elsewhere; ``?``: of one unnamed."""

EXCLUDED: Final = 18
"""``first:last:until``: what binds the name in these lines does not count from this line to another one."""

HERE: Final = "mod"
"""What a path begins with that is Rust's ``self::``: no name there."""


class Site(NamedTuple):
    """A use of a name."""

    name: str
    """The last part: ``run`` of ``self.task.run()``."""
    receiver: str
    """What stands before it as an expression in the family's normal form, ``""`` where nothing does.

    In languages that overload, ``/`` and what the call is given follow: ``self.task/0,'``.
    """
    definition: int
    """Index of the innermost enclosing definition, -1 at the top."""
    line: int
    """1-based."""
    kind: int
    indent: int
    """Columns before the first word of its line, 255 at most."""

    @property
    def object(self) -> str:
        """The receiver without what the call is given."""
        return self.receiver.partition("/")[0]


class Binding(NamedTuple):
    """A name and what is written of its meaning."""

    name: str
    value: str
    """An expression or a written type in the family's normal form."""
    definition: int
    """Index of the innermost enclosing definition, -1 at the top."""
    line: int
    """1-based, from which on it holds."""
    kind: int
    indent: int
    """Columns before its statement, 255 at most."""


class FileFacts(NamedTuple):
    """The facts of one file, each in source order of its kind."""

    sites: tuple[Site, ...]
    bindings: tuple[Binding, ...]


NO_FACTS: Final = FileFacts((), ())

OwnerOf = Callable[[int], int]
"""From a byte offset to the index of the innermost definition around it."""


def owner_finder(ranges: Sequence[tuple[int, int]]) -> OwnerOf:
    """Return what tells the innermost of some ranges around a byte, by its position; -1 where there is none.

    The ranges (first byte, byte after the last) are in order of their beginnings, the enclosing one first.
    """
    starts = [start for start, _ in ranges]
    ends = [end for _, end in ranges]
    outer: list[int] = []
    open_: list[int] = []
    for index, start in enumerate(starts):
        while open_ and ends[open_[-1]] <= start:
            open_.pop()
        outer.append(open_[-1] if open_ else -1)
        open_.append(index)

    def owner(byte: int) -> int:
        at = bisect_right(starts, byte) - 1
        while at >= 0 and ends[at] <= byte:
            at = outer[at]
        return at

    return owner


_NAME: Final = re.compile(r"(?<![\w.$])[^\W\d][\w$]*")


def without_unused(
    bindings: Sequence[Binding], sites: Sequence[Site], is_local: Sequence[bool]
) -> tuple[Binding, ...]:
    """Return the bindings, by line, without those local to a function whose names nothing is read of.

    ``is_local`` tells of each definition whether it is a function. A name is read where a site uses it, or
    where an expression or a type begins with it; the binding of a name comes before what is bound to it.
    """
    texts = {site.receiver for site in sites}
    used = {site.name for site in sites if not site.receiver}
    local: list[Binding] = []
    result: list[Binding] = []
    for each in bindings:
        if each[4] in _LOCAL and each[2] >= 0 and is_local[each[2]]:
            local.append(each)
        else:
            result.append(each)
            texts.add(each[1])
    for text in texts:
        used.update((text,) if text.isidentifier() else _NAME.findall(text))
    for each in reversed(local):
        if each[0] in used:
            result.append(each)
            if each[1]:
                used.update(_NAME.findall(each[1]))
    return in_order(result)


_LOCAL: Final = frozenset({ASSIGNED, DECLARED, EXCLUDED, NARROWED})

_Fact = TypeVar("_Fact", Site, Binding)


def in_order(facts: Iterable[_Fact]) -> tuple[_Fact, ...]:
    """Return facts by line, and those of one line in an order that is the same in any process.

    A query's captures come in the order of their addresses.
    """
    ordered = sorted(facts)
    ordered.sort(key=LINE)
    return tuple(ordered)


LINE: Final = itemgetter(3)
"""The line of a fact."""
