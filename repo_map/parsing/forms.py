"""What functions take and what calls give them: numbers and names, as a grammar reads them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.deadline import CpuDeadline, seconds_for
from repo_map.languages.registry import language_in, language_named
from repo_map.languages.syntax import Captures
from repo_map.limits import Limits

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

LAMBDA: Final = "{}"
"""What Kotlin's lambda behind the parentheses is given by: it is for the last parameter."""
# Kinds of parameters.
EITHER: Final = 0
"""Given by its place or by its name."""
PLACED: Final = 1
NAMED: Final = 2
REST: Final = 3
"""Takes all further ones."""
NAMED_REST: Final = 4
"""Takes all further ones that are given by name."""

_MAX_ERRORS: Final = 20


class ParameterForm(NamedTuple):
    """One parameter of a function."""

    name: str
    kind: int
    is_optional: bool


class Form(NamedTuple):
    """What a function, or a call of one, looks like; a call may be a constructor's."""

    name: str
    line: int
    """Of the name, 1-based."""
    parameters: tuple[ParameterForm, ...]
    """Rust's ``self`` is the first where it is taken."""
    traits: frozenset[str] = frozenset()
    """What else a use relies on: ``async``, ``generator``, ``property``, ``static``, and the number of values
    that it returns, ``2``, if these are several and written."""


class CallForm(NamedTuple):
    """What is given to a function."""

    name: str
    line: int
    """Of the name, 1-based."""
    given: int
    """Values without a name."""
    names: tuple[str, ...]
    """Of those with one."""
    is_open: bool
    """Whether there may be more than what is written: a list is spread, a pack expanded."""
    receiver: str
    """What the name is looked up in, as it is written; ``""`` for nothing."""
    inner: tuple[str, int] | None = None
    """Name and line of the call whose results are the arguments, where these may be several."""


class ExportForm(NamedTuple):
    """A name that a module offers by a statement of its own."""

    name: str
    """``*``: all names of ``module``; ``=``: the whole module."""
    local: str
    """What the module itself calls it, ``""`` for a value without a name."""
    module: str
    """Where it comes from, as it is written; ``""`` for the module itself."""
    line: int
    """1-based."""


class Forms(NamedTuple):
    """The functions, calls and exports of one source."""

    functions: tuple[Form, ...] = ()
    calls: tuple[CallForm, ...] = ()
    exports: tuple[ExportForm, ...] = ()
    errors: tuple[int, ...] = ()
    """Lines that the grammar can't read, 1-based, in order; the first 20."""
    is_read: bool = False
    """Whether a grammar read the source to its end."""


NO_FORMS: Final = Forms()


def forms_of(source: bytes, path: str, limits: Limits) -> Forms:
    """Return the functions and calls of a source; none where no grammar reads it in time."""
    from repo_map.languages.grammars import (  # noqa: PLC0415 - a worker alone loads a grammar
        GrammarMissingError,
        ParseError,
        parse,
    )

    language = language_in(source, path)
    if not language or not language_named(language).has_grammar:
        return NO_FORMS
    try:
        tree = parse(source, language, CpuDeadline(seconds_for(len(source), limits.parse_seconds)))
    except (GrammarMissingError, ParseError):
        return NO_FORMS
    return read_forms(tree, language)


_KINDS: Final = {
    "rest": REST,
    "keyword_rest": NAMED_REST,
    "keyword": NAMED,
    "positional": PLACED,
    "either": EITHER,
}
_ARGUMENTS: Final = frozenset({"named", "spread", "several", "ignored"})
_NOT_PARTS: Final = frozenset({"name", "optional", "modifiers"})
_QUALIFIED: Final = ("qualified", "template", "dependent")


def read_forms(tree: Tree, language: str) -> Forms:
    """Return the functions and calls of a parsed source, by the query ``signatures.scm`` of its language.

    ``@function`` has ``@name`` and ``@parameters``, or one ``@parameter``; ``@call`` has ``@name``,
    ``@receiver`` and ``@arguments``, one ``@only``, or a ``@lambda`` behind them. Each parameter has one of
    ``_KINDS``, perhaps ``@optional``; an argument that is not simply the next one has one of ``_ARGUMENTS``.
    ``@export`` has ``@name``, ``@local`` and ``@module``; without a name it is all of a module, and with
    ``@whole`` what the module itself is.
    """
    from tree_sitter import QueryCursor  # noqa: PLC0415 - a worker alone loads a grammar

    from repo_map.languages.grammars import query_named  # noqa: PLC0415 - as above
    from repo_map.parsing.queries import MAX_DEPTH  # noqa: PLC0415 - as above

    unreadable = list(_unreadable(tree.root_node))
    starts = [node.start_byte for node in unreadable]
    errors = tuple(node.start_point.row + 1 for node in unreadable[:_MAX_ERRORS])
    cursor = QueryCursor(query_named(language, "signatures"))
    cursor.set_max_start_depth(MAX_DEPTH)
    matches = [captures for _, captures in cursor.matches(tree.root_node)]
    offered = {_export(each) for each in matches if "export" in each and not _is_plain_object(each)}
    exports = sorted(offered, key=lambda each: (each.line, each))
    matches = [each for each in matches if "export" not in each]
    returned: dict[int, set[int]] = {}
    for captures in matches:
        if ends := captures.get("returned") or captures.get("yielded"):
            owner = _function_around(ends[0])
            counts = {_YIELDS} if "yielded" in captures else {_count_values(ends[0])}
            returned.setdefault(owner.id if owner is not None else 0, set()).update(counts)
    matches = [each for each in matches if not {"returned", "yielded"} & each.keys()]
    parameters: dict[int, dict[tuple[int, int], tuple[str, set[str]]]] = {}
    arguments: dict[int, tuple[str, str]] = {}
    found: dict[int, Captures] = {}
    for captures in matches:
        if {"function", "call"} & captures.keys():
            name = captures["name"][0] = _leaf(captures["name"][0])
            before = bisect_right(starts, name.start_byte) - 1
            is_inside = before >= 0 and name.start_byte < unreadable[before].end_byte
            if not is_inside and len(captures) >= len(found.get(name.id, ())):
                found[name.id] = captures
            continue
        roles = captures.keys() - _NOT_PARTS
        part, names = captures[min(roles)][0], captures.get("name", ())
        text = _text(names[0]).lstrip("$*&. ") if names else ""
        if arguments_role := roles & _ARGUMENTS:
            arguments[part.id] = min(arguments_role), text
        elif part.parent is not None:
            listed = parameters.setdefault(part.parent.id, {})
            key = part.start_byte, names[0].start_byte if names else 0
            listed.setdefault(key, (text, set()))[1].update(captures)
    ordered = sorted(found.values(), key=lambda captures: captures["name"][0].start_byte)
    functions = tuple(
        _function(each, parameters)._replace(traits=_traits(each, returned))
        for each in ordered
        if "function" in each
    )
    calls = tuple(_call(each, arguments) for each in ordered if "call" in each)
    return Forms(functions, calls, tuple(exports), errors, is_read=True)


def _is_plain_object(captures: Captures) -> bool:
    """Return True for a module that is an object of which each name is written, and exported itself."""
    value = captures["local"][0] if "whole" in captures and "local" in captures else None
    return (
        value is not None
        and value.type == "object"
        and not any(
            each.type == "spread_element" and each.named_children[0].type != "call_expression"
            for each in value.named_children
        )
    )


def _export(captures: Captures) -> ExportForm:
    name, local, module = (
        _text(captures[role][0]).strip("'\"`") if role in captures else ""
        for role in ("name", "local", "module")
    )
    is_whole = "whole" in captures
    local = local or ("" if module or is_whole else name)
    if any(each.type == "default" for each in captures["export"][0].children[:2]):
        name = "default"
    at = next(captures[role][0] for role in ("name", "module", "export") if role in captures)
    line = at.start_point.row + 1
    return ExportForm("=" if is_whole else name or "*", local if local.isidentifier() else "", module, line)


def _unreadable(root: Node) -> Iterator[Node]:
    """Yield the nodes that a grammar can't read, in order; of one within another the outer."""
    left = [root]
    while left:
        node = left.pop()
        if node.is_error or node.is_missing:
            yield node
        elif node.has_error:
            left += reversed(node.children)


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")


def _leaf(name: Node) -> Node:
    """Return the last name of a qualified one of C++, without template arguments."""
    inner: Node | None = name
    while inner is not None:
        name = inner
        inner = name.child_by_field_name("name") if name.type.startswith(_QUALIFIED) else None
    return name


def _function(
    captures: Captures, parameters: Mapping[int, Mapping[tuple[int, int], tuple[str, set[str]]]]
) -> Form:
    name, found = captures["name"][0], list[ParameterForm]()
    if only := captures.get("parameter"):
        found.append(ParameterForm(_text(only[0]), EITHER, is_optional=False))
    listed = parameters.get(captures["parameters"][0].id, {}) if "parameters" in captures else {}
    is_named = False
    for key in sorted(listed):
        text, roles = listed[key]
        if "positional_end" in roles:
            found = [each._replace(kind=PLACED) for each in found]
        kind = next((kind for role, kind in _KINDS.items() if role in roles), None)
        if kind is not None:
            is_optional = "optional" in roles or kind in (REST, NAMED_REST)
            found.append(ParameterForm(text, NAMED if kind == EITHER and is_named else kind, is_optional))
        is_named |= "keyword_start" in roles
    return Form(_text(name).lstrip("@$#"), name.start_point.row + 1, tuple(found))


_YIELDS: Final = -1
_FUNCTIONS: Final = frozenset(
    {"function_definition", "lambda", "function_item", "closure_expression", "function_declaration"}
)
_SEVERAL: Final = frozenset({"expression_list", "tuple", "tuple_type", "parameter_list"})
_TRAITS: Final = {
    **dict.fromkeys(("async", "suspend"), "async"),
    "*": "generator",
    **dict.fromkeys(("get", "set", "property", "cached_property"), "property"),
    **dict.fromkeys(("static", "staticmethod"), "static"),
}
"""What a word before the name of a function, or a decorator, tells of it."""


def _function_around(node: Node) -> Node | None:
    around = node.parent
    while around is not None and around.type not in _FUNCTIONS:
        around = around.parent
    return around


def _count_values(node: Node) -> int:
    if node.type not in _SEVERAL:
        return 1
    # One declaration may name several results: ``(low, high int)``.
    return sum(max(1, len(each.children_by_field_name("name"))) for each in node.named_children)


def _words_before(node: Node, name: Node) -> set[str]:
    """Return the words and marks before the name of a function, and those of its decorators."""
    words = set[str]()
    for each in node.children:
        if node.start_byte <= name.start_byte <= each.start_byte:
            break
        words.update(_text(each).split() if "modifier" in each.type else (each.type,))
    parent = node.parent
    for each in parent.children if parent is not None and parent.type == "decorated_definition" else ():
        if each.type == "decorator":
            words.update(re.findall(r"\w+", _text(each)[:80]))
    return words


def _traits(captures: Captures, returned: Mapping[int, set[int]]) -> frozenset[str]:
    node = captures["function"][0]
    words = _words_before(node, captures["name"][0])
    found = {_TRAITS[each] for each in words if each in _TRAITS}
    if words & {"setter", "getter", "deleter"}:
        found.add("property")
    counts = returned.get(node.id, set())
    if _YIELDS in counts:
        found.add("generator")
    written = node.child_by_field_name("return_type") or node.child_by_field_name("result")
    if written is not None:
        inner = written.named_children[0] if written.type == "type_annotation" else written
        counts = {_count_values(inner)}
    if len(counts) == 1 and max(counts) > 1:
        found.add(str(max(counts)))
    return frozenset(found)


def _call(captures: Captures, arguments: Mapping[int, tuple[str, str]]) -> CallForm:
    name, receiver = (
        captures["name"][0],
        _text(captures["receiver"][0])[:200] if "receiver" in captures else "",
    )
    given, names, is_open, inner = int("only" in captures), list[str](), False, None
    for each in captures["arguments"][0].named_children if "arguments" in captures else ():
        role, text = arguments.get(each.id, ("", ""))
        is_open |= each.is_error or role in ("spread", "several")
        if role == "several" and (called := each.child_by_field_name("function")) is not None:
            called = called.child_by_field_name("field") or called
            inner = _text(called), called.start_point.row + 1
        if role == "named":
            names.append(text)
        elif not (each.is_extra or role in ("spread", "ignored")):
            given += 1
    names += [LAMBDA] * ("lambda" in captures)
    # Rust's `T::m` is given the object itself.
    before = name.prev_sibling
    mark = "::" if receiver and before is not None and before.type == "::" else ""
    line = name.start_point.row + 1
    return CallForm(_text(name).lstrip("$"), line, given, tuple(names), is_open, receiver + mark, inner)
