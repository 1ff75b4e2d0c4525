"""Plans from and to YAML, with places in errors."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from repo_map.errors import FlightPlanError
from repo_map.plan.model import FlightPlan

_LONGEST_SHOWN = 60
_MOST_BITS = 1_000
_WHOLE = "must be a whole number"
_PLAINER = {
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
        sentence += f" There {'is' if others == 1 else 'are'} {others} more such problem{'s' * (others > 1)}."
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
        most = finding["ctx"]["max_length"]
        return f"`{path}` has {len(given):,} characters, more than {most:,}; make it shorter."
    if path.endswith("level") and kind in ("less_than_equal", "greater_than_equal"):
        message = "must be 0 (exclude), 1 (path), 2 (structure), 3 (interface) or 4 (implementation)"
    message = _PLAINER.get(kind, message)
    if kind == "value_error":
        return f"`{path}`: {message}." if path else f"{message}."
    message = message.replace("should be", "must be")
    return f"`{path or 'the plan'}` is {_shown(given)}; it {message}."


def _shown(given: object) -> str:
    if isinstance(given, dict | list):
        return f"a {'mapping' if isinstance(given, dict) else 'list'}"
    if isinstance(given, int) and given.bit_length() > _MOST_BITS:
        return "a number of very many digits"  # Python writes out none of more than 4,300 digits.
    shown = repr(given)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"


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


_Plan = TypeVar("_Plan", bound=FlightPlan)
_HEADER = "# A flight plan: `repo-map generate PATH -C this-file` draws the same map again.\n"
_LONGEST_PLAN = 2_000_000
_DEEPEST_NESTING = 20
_MOST_NODES = 30_000
"""Keys and values: YAML takes its time for each."""


_LONG_TEXT = 20_000
"""Characters of a plan that libyaml reads where it is there: in a fifth of the time, but its sentences about
errors say less."""


class _Guard(Composer):
    """Refuses what a plan has no use for and an accident or an attack would bring: repeated keys, anchors."""

    depth = 0
    nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[attr-defined] # of the parser beside it
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise yaml.constructor.ConstructorError(
                None, None, "anchors and aliases have no use here", event.start_mark
            )
        self.nodes += 1
        if self.nodes > _MOST_NODES:
            message = f"it has more than {_MOST_NODES:,} parts, as no plan has"
            raise yaml.constructor.ConstructorError(None, None, message, event.start_mark)
        self.depth += 1
        if self.depth > _DEEPEST_NESTING:
            raise yaml.constructor.ConstructorError(None, None, "it nests too deeply", event.start_mark)
        node: yaml.Node | None = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _Constructor(SafeConstructor):
    """Builds plain values of mappings without repeated keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: dict[str, yaml.Mark] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key must be plain text", key.start_mark
                )
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"`{key.value}` is there twice", key.start_mark
                )
            seen[str(key.value)] = key.start_mark
        return super().construct_mapping(node, deep)


class _Loader(_Guard, _Constructor, yaml.SafeLoader):
    """Reads a plan as PyYAML does."""


def _loader_for(text: str) -> type[Any]:
    """Return what reads a text; with libyaml only events come from C, and ours is what nests and counts."""
    if len(text) <= _LONG_TEXT or not yaml.__with_libyaml__:
        return _Loader
    from yaml.cyaml import CParser  # type: ignore[attr-defined] # noqa: PLC0415 - not on every platform

    class FastLoader(_Guard, _Constructor, Composer, CParser, SafeConstructor, Resolver):
        def __init__(self, stream: str) -> None:
            CParser.__init__(self, stream)
            for part in (Composer, SafeConstructor, Resolver):
                part.__init__(self)

    return FastLoader


class _Dumper(yaml.SafeDumper):
    """Writes parts without parts of their own on one line, and long texts as blocks."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)


def read_plan(text: str, model: type[_Plan]) -> _Plan:
    """Read a plan; raise FlightPlanError, with the line or the field's path, for what is none."""
    try:
        return model.model_validate(_load(text) or {})
    except ValidationError as error:
        raise plan_error(error, model) from None


def load_mapping(text: str) -> dict[str, Any]:
    """Read YAML or JSON that holds a whole or partial plan, without looking at its fields."""
    return _load(text) or {}


def write_plan(plan: FlightPlan) -> str:
    """Write a plan in block style, defaults left out."""
    data = {"budget": plan.budget, **plan.model_dump(mode="json", exclude_defaults=True)}
    return _HEADER + yaml.dump(
        data, Dumper=_Dumper, default_flow_style=None, sort_keys=False, allow_unicode=True, width=10**6
    )


def _load(text: str) -> dict[str, Any] | None:
    if len(text) > _LONGEST_PLAN:
        raise FlightPlanError(
            f"The plan has {len(text):,} characters; a plan of over {_LONGEST_PLAN:,} is none."
        )
    try:
        data = yaml.load(text, Loader=_loader_for(text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "an unknown line"
        raise FlightPlanError(
            f"The plan is not valid YAML at {where}: {error.problem or error.context}."
        ) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise FlightPlanError(f"The plan is not valid YAML: {reason}.") from None
    if data is not None and not isinstance(data, dict):
        kind = "a list" if isinstance(data, list) else f"`{' '.join(str(data).split())[:40]}`"
        raise FlightPlanError(f"The plan is {kind}; it must be a mapping such as `budget: 20000`.")
    return data
