"""Input tokens of a task-scoped session beside step-scoped ones, counted at a loopback server that speaks Gemini's wire.

``python -m benchmarks.session_tokens REPO --goal TEXT`` flies one real navigation over REPO: a scripted mind reads its
requests and takes what the embedded planner proposes first, then the best candidates of each step one by one. It is
flown once with a session that lives as long as the task and once with a new session for every step, in one run.
``python -m benchmarks.session_tokens --example`` plays the ten steps of the design's own example.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.loopback.gemini import GeminiServer, text_of
from benchmarks.loopback.minds import Call, Say
from navigator.reports import NavigatorOutput
from navigator.service import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings

MODEL = "gemini-2.0-flash"
CANDIDATE = re.compile(
    r"^- (?P<path>\S+) (?:(?P<symbol>\S+) (?P<lines>\d+-\d+) )?\(shown at level", re.MULTILINE
)


class Sent(NamedTuple):
    """What one way of flying sent."""

    calls: int
    read: int
    """Tokens that the model read."""
    uncached: int
    """Tokens that were sent, those written into a cache included."""
    cost_usd: Decimal
    context: str
    """What the navigation found: equal for both ways."""


class Zoomer:
    """A mind that takes a plan in its first step, and the best candidate it has not taken in each later one."""

    def __init__(self, first: Mapping[str, Any], steps: int) -> None:
        self._first = first
        self._steps = steps
        self._taken: set[str] = set()
        self._step = 0

    def __call__(self, request: dict[str, Any], number: int) -> Say:
        """Answer one request."""
        self._step += 1
        if self._step == 1:
            return _update("The evidence points here.", self._first)
        if self._step == self._steps:
            return Say((Call("finalize_context", {"summary": "The best candidates are shown whole."}),))
        for found in CANDIDATE.finditer(text_of(request)):
            if found[0] not in self._taken and found["symbol"]:
                self._taken.add(found[0])
                section = {"pattern": found["symbol"], "level": 4}
                rule = {"pattern": found["path"], "sections": [section]}
                return _update(f"{found['symbol']} is the best candidate.", {"verbosity": [rule]})
        return Say((Call("finalize_context", {"summary": "Nothing is left to show."}),))


def compare(repo: Path, goal: str, *, steps: int, tokens: int) -> tuple[Sent, Sent]:
    """Fly the same navigation with a task-scoped session, then with step-scoped ones."""

    async def both() -> tuple[Sent, Sent]:
        first = await _embedded_plan(repo, goal, tokens)
        request = NavigationRequest(
            goal, repo, token_budget=tokens, model=MODEL, max_steps=steps, mode="interactive"
        )
        return (
            await _fly(request, Zoomer(first, steps), task_scoped=True),
            await _fly(request, Zoomer(first, steps), task_scoped=False),
        )

    os.environ.setdefault("GOOGLE_API_KEY", "loopback")
    return asyncio.run(both())


def table(rows: Mapping[str, Sent]) -> str:
    """Return the figures as a Markdown table, the last row what the first saves against the second."""
    lines = [
        "| session | calls | tokens read | sent uncached | US dollars |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {each.calls} | {each.read:,} | {each.uncached:,} | {each.cost_usd:.6f} |"
            for name, each in rows.items()
        ),
    ]
    one, other = rows.values()
    saved = f"{1 - one.uncached / other.uncached:.1%}"
    return "\n".join([*lines, f"| saved | | | {saved} | {1 - one.cost_usd / other.cost_usd:.1%} |"])


async def _embedded_plan(repo: Path, goal: str, tokens: int) -> Mapping[str, Any]:
    navigator = Navigator(NavigatorSettings())
    output: NavigatorOutput = await navigator.run(
        await navigator.open(NavigationRequest(goal, repo, token_budget=tokens))
    )
    await navigator.aclose()
    from repo_map.flight_plan import FlightPlan  # noqa: PLC0415

    plan = FlightPlan.from_yaml(output.flight_plan_yaml).model_dump(mode="json", exclude_none=True)
    return {part: plan[part] for part in ("verbosity", "focus") if plan.get(part)}


async def _fly(request: NavigationRequest, mind: Zoomer, *, task_scoped: bool) -> Sent:
    """Fly; a step-scoped session ends with its step, and the next one starts from the state on disk."""
    with GeminiServer(mind) as server, tempfile.TemporaryDirectory() as data:
        assert isinstance(server, GeminiServer)
        settings = NavigatorSettings(
            data_dir=Path(data),
            model_urls={"gemini": server.url},
            gemini_memory="cache" if task_scoped else "off",
            embedded_fallback=False,
        )
        navigator = Navigator(settings)
        navigation_id = await navigator.open(request)
        stopped = None
        while stopped is None:
            stopped = (await navigator.step(navigation_id)).stop_reason
            if not task_scoped:
                await navigator.aclose()
                navigator = Navigator(settings)
        output = await navigator.context(navigation_id)
        await navigator.aclose()
        return Sent(
            calls=len(server.requests),
            read=sum(each.read for each in server.counted),
            uncached=sum(each.uncached for each in server.counted),
            cost_usd=output.total_cost,
            context=output.context_string,
        )


def _update(reasoning: str, updates: Mapping[str, Any]) -> Say:
    return Say((Call("update_flight_plan", {"reasoning": reasoning, "updates": updates}),))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repo", type=Path)
    parser.add_argument("--goal", required=True)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--tokens", type=int, default=8_000)
    options = parser.parse_args(arguments)
    one, other = compare(options.repo, options.goal, steps=options.steps, tokens=options.tokens)
    print(table({"task-scoped": one, "step-scoped": other}))


if __name__ == "__main__":
    main()
