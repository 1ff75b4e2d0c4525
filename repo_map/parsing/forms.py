"""What functions take and what calls give them: numbers and names, as a grammar reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.deadline import CpuDeadline, seconds_for
from repo_map.languages.language import words
from repo_map.languages.registry import language_in, language_named
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

_MAX_NODES: Final = 400_000
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


class Forms(NamedTuple):
    """The functions and calls of one source."""

    functions: tuple[Form, ...] = ()
    calls: tuple[CallForm, ...] = ()
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


def read_forms(tree: Tree, language: str) -> Forms:
    """Return the functions and calls of a parsed source."""
    functions: list[Form] = []
    calls: list[CallForm] = []
    errors: list[int] = []
    for count, node in enumerate(_walk(tree)):
        if count > _MAX_NODES:
            return NO_FORMS
        if node.is_error or node.is_missing:
            if len(errors) < _MAX_ERRORS:
                errors.append(node.start_point.row + 1)
            continue
        if node.type in _FUNCTIONS:
            functions += _function(node)
        elif node.type == "primary_constructor":
            functions += _primary(node)
        elif node.type == "function_declarator":
            functions += _declarator(node)
        if node.type in _CALLS:
            calls += _call(node, language)
    return Forms(tuple(functions), tuple(calls), tuple(errors), is_read=bool(language))


def _walk(tree: Tree) -> Iterator[Node]:
    """Yield the nodes of a tree from the top down; of what can't be read only itself."""
    left = [tree.root_node]
    while left:
        node = left.pop()
        if node.is_named or node.is_missing:
            yield node
        if not node.is_error:
            left += reversed(node.children)


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")


# Functions.


def _function(node: Node) -> Iterator[Form]:
    name, taken = node.child_by_field_name("name"), node.child_by_field_name("parameters")
    if name is None and node.parent is not None and node.parent.type in _NAMING:
        name = node.parent.child_by_field_name(_NAMING[node.parent.type])
        while name is not None and name.type == "member_expression":
            name = name.child_by_field_name("property")
    if taken is None:
        taken = next((each for each in node.named_children if each.type in _LISTS), None)
    if name is not None:
        parameters = () if taken is None else tuple(_parameters(taken))
        if (only := node.child_by_field_name("parameter")) is not None:
            # An arrow function's without parentheses.
            parameters = (ParameterForm(_text(only), EITHER, is_optional=False),)
        yield Form(_text(name).lstrip("@$#"), name.start_point.row + 1, parameters)


def _primary(node: Node) -> Iterator[Form]:
    """Read Kotlin's constructor that stands in the head of its class."""
    owner = node.parent
    name = None if owner is None else owner.child_by_field_name("name")
    taken = next((each for each in node.named_children if each.type == "class_parameters"), None)
    if name is not None and taken is not None:
        yield Form(_text(name), name.start_point.row + 1, tuple(_parameters(taken)))


def _declarator(node: Node) -> Iterator[Form]:
    """Read a function of C or C++, defined or only declared."""
    name, taken = node.child_by_field_name("declarator"), node.child_by_field_name("parameters")
    while name is not None and name.type in ("qualified_identifier", "template_function"):
        name = name.child_by_field_name("name")
    if name is not None and name.type in _C_NAMES and taken is not None:
        parameters = tuple(_parameters(taken))
        if any(each.name == "void" and each.kind == PLACED for each in parameters):
            parameters = ()
        yield Form(_text(name), name.start_point.row + 1, parameters)


_C_NAMES: Final = frozenset({"identifier", "field_identifier", "type_identifier", "operator_name"})
_NAMING: Final = {
    "variable_declarator": "name",
    "assignment_expression": "left",
    "pair": "key",
    "public_field_definition": "name",
    "field_definition": "property",
}
_LISTS: Final = frozenset({"function_value_parameters", "formal_parameters", "parameters", "parameter_list"})
_FUNCTIONS: Final = words(
    "function_definition function_declaration generator_function_declaration function_signature"
    " function_expression arrow_function method_definition method_signature abstract_method_signature"
    " method_declaration method_elem method_spec constructor_declaration function_item"
    " function_signature_item method singleton_method"
)


def _parameters(taken: Node) -> Iterator[ParameterForm]:
    """Yield what a list of parameters takes."""
    is_placed = any(each.type == "positional_separator" for each in taken.named_children)
    is_named = False
    children = taken.children
    for at, each in enumerate(children):
        if each.type == "positional_separator":
            is_placed = False
        elif each.type == "keyword_separator":
            is_named = True
        elif (read := _parameter(each, children[at + 1 :])) is not None:
            is_vararg = at > 0 and "vararg" in _text(children[at - 1])
            for one in read:
                kind = REST if is_vararg else one.kind
                if kind == EITHER and (is_placed or is_named):
                    kind = PLACED if is_placed else NAMED
                yield one._replace(kind=kind)
                is_named = is_named or (one.kind == REST and each.type in _PYTHON_RESTS)


_PYTHON_RESTS: Final = frozenset({"list_splat_pattern", "typed_parameter"})
_PLAIN: Final = frozenset({"identifier", "typed_parameter", "tuple_pattern", "parameter", "class_parameter"})
_OPTIONAL: Final = frozenset(
    {"default_parameter", "typed_default_parameter", "optional_parameter", "optional_parameter_declaration"}
)
_RESTS: Final = words(
    "list_splat_pattern rest_pattern spread_parameter variadic_parameter"
    " variadic_parameter_declaration splat_parameter forward_parameter ... variadic_declarator"
)
_PLACED: Final = words(
    "formal_parameter required_parameter parameter_declaration assignment_pattern object_pattern"
    " array_pattern receiver_parameter destructured_parameter"
)
_PHP: Final = frozenset({"simple_parameter", "property_promotion_parameter"})


def _parameter(node: Node, behind: list[Node]) -> list[ParameterForm] | None:
    """Return what one node of a list takes; None for what is no parameter."""
    kind = node.type
    if kind == "keyword_parameter":
        return [ParameterForm(_name_in(node), NAMED, node.child_by_field_name("value") is not None)]
    if kind in ("dictionary_splat_pattern", "hash_splat_parameter"):
        return [ParameterForm(_name_in(node), NAMED_REST, is_optional=True)]
    if kind in _RESTS or _spreads(node):
        is_named_rest = any(each.type == "dictionary_splat_pattern" for each in node.named_children)
        return [ParameterForm(_name_in(node), NAMED_REST if is_named_rest else REST, is_optional=True)]
    if kind in ("receiver_parameter", "block_parameter", "attribute_item") or (
        kind in ("identifier", "required_parameter") and _text(node).startswith("this:")
    ):
        return None
    if kind == "self_parameter":
        # Its lifetime is an identifier too.
        return [ParameterForm("self", PLACED, is_optional=False)]
    if kind in _OPTIONAL:
        return [ParameterForm(_name_in(node), EITHER, is_optional=True)]
    if kind in _PHP:
        return [ParameterForm(_name_in(node), EITHER, node.child_by_field_name("default_value") is not None)]
    if kind in _PLAIN:
        return [ParameterForm(_name_in(node), EITHER, _has_default(node, behind))]
    if kind in _PLACED:
        names = node.children_by_field_name("name") if kind == "parameter_declaration" else []
        is_optional = node.child_by_field_name("value") is not None or kind == "assignment_pattern"
        return [ParameterForm(_text(each), PLACED, is_optional) for each in names] or [
            ParameterForm(_name_in(node), PLACED, is_optional)
        ]
    return None


def _spreads(node: Node) -> bool:
    return any(
        each.type in ("list_splat_pattern", "dictionary_splat_pattern", "rest_pattern", "variadic_declarator")
        for each in node.named_children
    ) and node.type in ("typed_parameter", "required_parameter", "parameter_declaration", "rest_pattern")


def _has_default(node: Node, behind: list[Node]) -> bool:
    """Return True if Kotlin's ``=`` follows a parameter, or is within one of a class."""
    return any(each.type == "=" for each in (*node.children, *behind[:1]))


def _name_in(node: Node) -> str:
    found = _first_field(node, ("name", "pattern", "declarator"))
    if found is None and node.type in _BARE:
        return _text(node)
    if found is None:
        found = next((each for each in node.named_children if each.type in _BARE), None)
    if found is None:
        inner = (each for child in node.named_children for each in child.named_children)
        found = next((each for each in inner if each.type == "identifier"), None)
    return _text(found).lstrip("$*&. ")


_BARE: Final = frozenset({"identifier", "primitive_type"})


# Calls.

_CALLS: Final = words(
    "call call_expression new_expression method_invocation object_creation_expression"
    " function_call_expression member_call_expression nullsafe_member_call_expression"
    " scoped_call_expression"
)
_CALLEES: Final = ("function", "name", "method", "constructor", "type")
_LAST: Final = {
    "attribute": "attribute",
    "member_expression": "property",
    "selector_expression": "field",
    "field_expression": "field",
    "scoped_identifier": "name",
    "qualified_identifier": "name",
    "generic_function": "function",
    "template_function": "name",
    "scoped_type_identifier": "",
    "generic_type": "",
    "qualified_name": "",
    "navigation_expression": "",
}
_OBJECTS: Final = ("object", "operand", "value", "argument", "path", "scope", "receiver")
_GIVEN: Final = frozenset({"arguments", "argument_list", "value_arguments"})
_SPREADS: Final = words(
    "list_splat dictionary_splat spread_element variadic_argument variadic_unpacking splat_argument"
    " hash_splat_argument parameter_pack_expansion spread_expression ERROR forward_argument"
    " variadic_placeholder ... preproc_ifdef preproc_if"
)
_NO_VALUES: Final = frozenset(
    {"comment", "line_comment", "block_comment", "block_argument", "type_arguments"}
)


def _call(node: Node, language: str) -> Iterator[CallForm]:
    lambdas = [each for each in node.named_children if each.type == "annotated_lambda"]
    inner = node
    if lambdas and node.named_children[0].type == "call_expression":
        # Kotlin's last lambda is around the call that it belongs to.
        inner = node.named_children[0]
    elif _is_before_lambda(node):
        return
    callee = _first_field(inner, _CALLEES) or next(iter(inner.named_children), None)
    name, receiver = (None, None) if callee is None else _callee(callee)
    if callee is None or name is None:
        return
    receiver = receiver or _first_field(inner, _OBJECTS)
    # Rust's `T::m` is given the object itself.
    before = (callee.text or b"")[: name.start_byte - callee.start_byte]
    mark = "::" if language == "rust" and before.endswith(b"::") else ""
    places, names, is_open = _given(_list_given(inner), language)
    names += [LAMBDA] * len(lambdas)
    line = name.start_point.row + 1
    yield CallForm(_text(name).lstrip("$"), line, places, tuple(names), is_open, _text(receiver)[:200] + mark)


def _is_before_lambda(node: Node) -> bool:
    """Tell whether the call around a call of Kotlin gives it its last lambda."""
    around = node.parent
    is_inner = around is not None and around.type == node.type == "call_expression"
    return is_inner and any(each.type == "annotated_lambda" for each in around.named_children)  # type: ignore[union-attr]


def _first_field(node: Node, fields: tuple[str, ...]) -> Node | None:
    return next((found for field in fields if (found := node.child_by_field_name(field)) is not None), None)


def _list_given(call: Node) -> Node | None:
    given = call.child_by_field_name("arguments")
    if given is None or given.type not in (*_GIVEN, "generator_expression"):
        return next((each for each in call.named_children if each.type in _GIVEN), given)
    return given


def _given(given: Node | None, language: str) -> tuple[int, list[str], bool]:
    """Return how many values are given without a name, the names of the others, and whether more may be."""
    if given is None:
        return 0, [], False
    if given.type == "generator_expression":
        return 1, [], False
    values = [each for each in given.named_children if each.type not in _NO_VALUES]
    whole = [each for each in values if not _is_spread(each)]
    names = [_name_given(each) for each in whole]
    # In Go one call may give several values.
    is_several = language == "go" and len(values) == 1 and values[0].type == "call_expression"
    return names.count(""), [name for name in names if name], is_several or len(whole) < len(values)


def _is_spread(node: Node) -> bool:
    inner = node.children if node.type in _WRAPS else ()
    return any(each.type in _SPREADS for each in (node, *inner))


_WRAPS: Final = frozenset({"argument", "value_argument"})


def _name_given(node: Node) -> str:
    """Return the name that a value is given by, ``""`` for none."""
    if node.type in ("keyword_argument", "argument"):
        return _text(node.child_by_field_name("name"))
    if node.type == "pair":
        key = node.child_by_field_name("key")
        return _text(key) if key is not None and key.type == "hash_key_symbol" else ""
    if node.type == "value_argument" and any(each.type == "=" for each in node.children):
        return _text(node.named_children[0])
    return ""


def _callee(node: Node) -> tuple[Node | None, Node | None]:
    """Return the node of the last name of what is called, and what stands before it."""
    receiver = None
    for _ in range(6):
        field = _LAST.get(node.type)
        if field is None:
            break
        before = _first_field(node, _OBJECTS)
        inner = (
            node.child_by_field_name(field)
            if field
            else node.named_children[-1 if "generic" not in node.type else 0]
        )
        if inner is None:
            return None, None
        if before is None and node.type == "navigation_expression":
            before = node.named_children[0]
        receiver, node = before or receiver, inner
    return (node, receiver) if node.type in _NAMES else (None, None)


_NAMES: Final = words(
    "identifier name type_identifier property_identifier private_property_identifier field_identifier"
    " constant simple_identifier"
)
