"""A first answer as a host is sent it, made without a store, and what of a known fix it tells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.tasks import Task
from repo_map.text import tokens

if TYPE_CHECKING:
    from navigator.planner.view import View
    from navigator.settings import NavigationRequest
    from navigator.state.run_state import Navigation, StepRecord
    from navigator.workspaces.workspace import Workspace
    from repo_map.plan.model import FlightPlan
    from repo_map.ranking.score import Relevance, ScoredUnit

_PLACE: Final = re.compile(r"(\d+)\*? (.+?) (\d+)-(\d+)(?:: .*)?")
_SAME: Final = re.compile(r"\bsame (?:there|in (\S+)):(\d+)-(\d+)$")
_MORE: Final = re.compile(r" \([\d,]+ more\)$")
_GUTTER: Final = re.compile(r"^\s*(?:\d+\s*[│|:\t]\s?|[│⋮|]\s?|\d+→)")
_ELISIONS: Final = frozenset({"", "...", "⋮", "…", "⋮..."})
_WHOLE_FILE: Final = "whole file"
_ID: Final = "nav-fdeed2611d0667f3eba76be8"
"""As long as any."""
_START: Final = datetime(2000, 1, 1, tzinfo=UTC)


class Listed(NamedTuple):
    """A place that the outline names; lines are 1-based and inclusive."""

    path: str
    first: int
    last: int
    is_file: bool


class Sent(NamedTuple):
    """One answer."""

    text: str
    relevance: Relevance
    shown: int
    """Tokens of its code."""
    plan: FlightPlan
    """What replays its code."""


def first_answer(workspace: Workspace, task: Task, most: int, names: Sequence[str] = ()) -> Sent:
    """Return the answer of ``navigate`` that has at most ``most`` tokens, by the embedded planner."""
    from mcp_server.responses import map_token_budget_in, navigate_answer  # noqa: PLC0415 - figures of kept rows need no server
    from navigator.planner.context import build_output, current_report  # noqa: PLC0415 - as above
    from navigator.settings import DEFAULT_TOKEN_BUDGET, NavigationRequest  # noqa: PLC0415 - as above

    budget = map_token_budget_in(DEFAULT_TOKEN_BUDGET)
    request = NavigationRequest(
        goal=task.goal, repo_path=".", token_budget=budget, first_answer=most, names=names
    )
    now, record, seen = _navigated(workspace, request)
    output = build_output(now, record, seen.map.map_text)
    page = navigate_answer(output, current_report(record, now.run), DEFAULT_TOKEN_BUDGET, most)
    relevance = workspace.relevance(now.state.user_task, names=tuple(names))
    return Sent(page.text, relevance, seen.map.tokens, seen.plan)


def _navigated(workspace: Workspace, request: NavigationRequest) -> tuple[Navigation, StepRecord, View]:
    """Return a navigation behind its last step, without a store, with what it shows then."""
    from navigator.planner.record import apply_decision, decide  # noqa: PLC0415 - as above
    from navigator.planner.request import initial_state, validate  # noqa: PLC0415 - as above
    from navigator.planner.view import build_view  # noqa: PLC0415 - as above
    from navigator.settings import NavigatorSettings  # noqa: PLC0415 - as above
    from navigator.state.labels import EMBEDDED  # noqa: PLC0415 - figures of kept rows need no server
    from navigator.state.state import ModelPricingRates  # noqa: PLC0415 - as above

    rates = ModelPricingRates(
        model_name=EMBEDDED, input_per_million=Decimal(1), output_per_million=Decimal(1)
    )
    now = initial_state(validate(request, NavigatorSettings()), _ID, ".", rates, 0.0)
    seen = build_view(workspace, now, now.state.flight_plan, now.run.user_plan)
    while now.run.stop_reason is None:
        decision = decide(now, workspace, seen)
        seen = build_view(workspace, now, decision.plan, now.run.user_plan)
        now, record = apply_decision(now, decision, _START, seen, 1)
    return now, record, seen


def score_sent(task: Task, sent: Sent, paths: frozenset[str], read: Callable[[str], str]) -> dict[str, float]:
    """Return ``reach``, ``body``, ``spelt``, ``tokens`` and what share of tasks has all of the first two.

    ``reach`` is the share of the edited functions that the text shows whole or names with their lines, a
    whole file aside; ``body`` those shown whole. A task without such functions has neither. ``spelt`` is the
    share of what the goal spells out that stands there.
    """
    text, listed = _joined(sent.text), list(outline_of(sent.text, paths))
    functions = [symbol for symbol in task.gold_symbols if symbol.kind == "function"]
    lines = {path: read(path).split("\n") for path in {symbol.file for symbol in functions}}
    shown = [_joined(lines[each.file][each.start - 1 : each.end]) in text for each in functions]
    reached = [
        seen or any(_names(place, each.file, each.sig_line) for place in listed)
        for each, seen in zip(functions, shown, strict=True)
    ]
    spelt = [_tells(sent.text, listed, unit) for unit in sent.relevance.spelt]
    return {
        **_share("body", shown),
        **_share("reach", reached),
        **({"spelt": sum(spelt) / len(spelt)} if spelt else {}),
        "tokens": float(tokens.count(sent.text)),
        "places": float(len(listed)),
    }


def _share(name: str, seen: Sequence[bool]) -> dict[str, float]:
    """Return the share that was seen, and whether all was; nothing without any."""
    return {name: sum(seen) / len(seen), f"{name}_all": float(all(seen))} if seen else {}


def _joined(text: str | Iterable[str]) -> str:
    """Return lines as they compare: no gutters, indentation, runs of spaces, elisions and blanks."""
    lines = text.split("\n") if isinstance(text, str) else text
    plain = (" ".join(_GUTTER.sub("", line).split()) for line in lines)
    return "\n" + "\n".join(line for line in plain if line not in _ELISIONS) + "\n"


def outline_of(text: str, paths: frozenset[str]) -> Iterator[Listed]:
    """Yield the places that the outline of an answer names, with those where the same code stands."""
    path = there = ""
    for line in text.split("\n"):
        if (bare := _MORE.sub("", line)) in paths:
            path = bare
        elif path and (found := _PLACE.fullmatch(line)):
            yield Listed(path, int(found[3]), int(found[4]), found[2] == _WHOLE_FILE)
            if same := _SAME.search(line):
                there = same[1] or there
                yield Listed(there, int(same[2]), int(same[3]), is_file=False)
        else:
            path = ""


def _names(place: Listed, path: str, line: int) -> bool:
    return not place.is_file and place.path == path and place.first <= line <= place.last


def _tells(text: str, listed: Sequence[Listed], unit: ScoredUnit) -> bool:
    """Say whether a place that the goal spells out is named, or in code that is headed by its path."""
    if not unit.name:
        return unit.path in text
    named = any(_names(place, unit.path, line) for place in listed for line in (unit.start, unit.end))
    return named or (unit.path in text and unit.name.rpartition(".")[2] in text)
