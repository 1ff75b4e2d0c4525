"""Plans from and to YAML, with places in errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml
from pydantic import ValidationError

from repo_map.errors import FlightPlanError
from repo_map.plan.model import FlightPlan, plan_error

_HEADER = "# A flight plan: `repo-map generate PATH -C this-file` draws the same map again.\n"
_MAX_PLAN_CHARS = 2_000_000
_MAX_DEPTH = 20
_MAX_NODES = 30_000
"""Keys and values: YAML takes its time for each."""


_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Mapping:
    """A mapping that is being read."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.is_key = True
        """Whether the next part is a key."""


def _check_parts(text: str) -> None:
    """Refuse what a plan has no use for and an accident or an attack would bring: repeated keys, anchors."""
    around: list[_Mapping | None] = [None]
    for number, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        if isinstance(event, yaml.CollectionEndEvent):
            around.pop()
        elif isinstance(event, yaml.NodeEvent):
            if fault := _fault(event, around, number):
                raise yaml.constructor.ConstructorError(None, None, fault, event.start_mark)  # type: ignore[arg-type]
            if isinstance(event, yaml.CollectionStartEvent):
                around.append(_Mapping() if isinstance(event, yaml.MappingStartEvent) else None)


def _fault(event: yaml.NodeEvent, around: Sequence[_Mapping | None], number: int) -> str:
    """Return what is wrong with a part within mappings and lists, ``""`` for nothing."""
    if isinstance(event, yaml.AliasEvent) or event.anchor:
        return "anchors and aliases have no use here"
    if number > _MAX_NODES:
        return f"it has more than {_MAX_NODES:,} parts, as no plan has"
    if len(around) > _MAX_DEPTH:
        return "it nests too deeply"
    mapping = around[-1]
    if mapping is None:
        return ""
    mapping.is_key = not mapping.is_key
    if mapping.is_key:
        return ""
    if not isinstance(event, yaml.ScalarEvent):
        return "a key must be plain text"
    if event.value in mapping.keys:
        return f"`{event.value}` is there twice"
    mapping.keys.add(event.value)
    return ""


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
        _check_parts(text)
        data = yaml.load(text, Loader=_LOADER)
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
