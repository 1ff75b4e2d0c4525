"""Plans from and to YAML, with places in errors."""

from __future__ import annotations

from typing import Any

import yaml
from pydantic import ValidationError
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from repo_map.errors import FlightPlanError
from repo_map.plan.errors import plan_error
from repo_map.plan.model import FlightPlan

_HEADER = "# A flight plan: `repo-map generate PATH -C this-file` draws the same map again.\n"
_MAX_PLAN_CHARS = 2_000_000
_MAX_DEPTH = 20
_MAX_NODES = 30_000
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
        if self.nodes > _MAX_NODES:
            message = f"it has more than {_MAX_NODES:,} parts, as no plan has"
            raise yaml.constructor.ConstructorError(None, None, message, event.start_mark)
        self.depth += 1
        if self.depth > _MAX_DEPTH:
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


def parse_plan(text: str) -> FlightPlan:
    """Read a plan from YAML or JSON.

    Raises:
        FlightPlanError: it is none; says the line, or the field's path.
    """
    try:
        return FlightPlan.model_validate(_load(text))
    except ValidationError as error:
        raise plan_error(error, FlightPlan) from None


def format_plan(plan: FlightPlan) -> str:
    """Write a plan, its defaults left out, so that a person can edit it and ``parse_plan`` gives it back."""
    data = {"budget": plan.budget, **plan.model_dump(mode="json", exclude_defaults=True)}
    return _HEADER + yaml.dump(
        data, Dumper=_Dumper, default_flow_style=None, sort_keys=False, allow_unicode=True, width=10**6
    )


def _load(text: str) -> dict[str, Any]:
    if len(text) > _MAX_PLAN_CHARS:
        raise FlightPlanError(f"The plan has {len(text):,} characters; no plan has over {_MAX_PLAN_CHARS:,}.")
    try:
        data = yaml.load(text, Loader=_loader_for(text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "an unknown line"
        raise FlightPlanError(
            f"The plan is not valid YAML at {where}: {error.problem or error.context}."
        ) from None
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise FlightPlanError(f"The plan is not valid YAML: {reason}.") from None
    if data is None:
        raise FlightPlanError(
            "The plan is empty, as the output of a command that failed is; give one that `--save-plan` "
            "wrote, or `{}` for a plan that sets nothing."
        )
    if not isinstance(data, dict):
        kind = "a list" if isinstance(data, list) else f"`{' '.join(str(data).split())[:40]}`"
        raise FlightPlanError(f"The plan is {kind}; it must be a mapping such as `budget: 20000`.")
    return data
