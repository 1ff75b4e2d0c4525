"""Input tokens of a task-scoped session beside step-scoped ones, as loopback servers count them.

``python -m benchmarks.session_tokens REPO --goal TEXT`` flies one real navigation over REPO with sessions
that live as long as the task, one for each way of telling a provider once, and with a new session for every
step. The servers speak the providers' wires; the mind behind them takes what the embedded planner proposes,
then the best candidate of each step that is small enough.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from navigator.navigator import Navigator
from navigator.settings import GeminiMemory, NavigationRequest, NavigatorSettings
from navigator.state.reports import TurnReport
from repo_map.plan.yaml import parse_plan
from tests.support.providers.gemini import GeminiServer
from tests.support.providers.minds import Call, Say
from tests.support.providers.openai import OpenAiServer

MOST = 800
"""Tokens of a definition that the mind finds worth a step."""


class Way(NamedTuple):
    """One way of flying."""

    model: str
    memory: GeminiMemory = "off"
    task_scoped: bool = True


WAYS = {
    "task-scoped, Gemini's explicit cache": Way("gemini-2.5-flash", "cache"),
    "task-scoped, Gemini's interactions": Way("gemini-2.5-flash", "interactions"),
    "task-scoped, OpenAI's prefix cache": Way("openai/coder"),
    "task-scoped, no cache": Way("gemini-2.0-flash-thinking"),
    "step-scoped": Way("gemini-2.5-flash", task_scoped=False),
}


class Sent(NamedTuple):
    """What one way of flying sent, as the server counted."""

    calls: int
    read: int
    """Tokens that the model read."""
    uncached: int
    """Tokens that were sent and found in no cache, those written into one included."""
    context: str
    """What the navigation found: equal for all ways."""


class Zoomer:
    """A mind that takes a plan in its first step, then the best small candidate that is left."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        self._plan = plan
        self._taken: set[tuple[str, str]] = set()
        self._report: TurnReport | None = None

    def see(self, report: TurnReport) -> None:
        """Take in the report of the step before."""
        self._report = report

    def __call__(self, request: dict[str, Any], number: int) -> Say:
        """Answer one request."""
        if self._report is None or self._report.step_number == 0:
            return _update("The evidence points here.", self._plan)
        for each in self._report.candidates:
            place = (each.path, each.symbol)
            if each.symbol and place not in self._taken and each.prices[4] <= MOST:
                self._taken.add(place)
                rule = {"pattern": each.path, "sections": [{"pattern": each.symbol, "level": 4}]}
                return _update(f"{each.symbol} is the best candidate that is left.", {"verbosity": [rule]})
        return Say((Call("finalize_context", {"summary": "Nothing is left to show."}),))


async def compare(repo: Path, goal: str, *, steps: int, tokens: int) -> dict[str, Sent]:
    """Fly the same navigation in every way."""
    plan = await _embedded_plan(repo, goal, tokens)
    request = NavigationRequest(goal, repo, token_budget=tokens, max_steps=steps, mode="interactive")
    return {name: await _fly(request, way, Zoomer(plan)) for name, way in WAYS.items()}


def table(rows: Mapping[str, Sent]) -> str:
    """Return the figures as a Markdown table; the last row is what the others are measured against."""
    *_, against = rows.values()
    lines = ["| session | calls | tokens read | sent uncached | fewer |", "|---|---|---|---|---|"]
    for name, each in rows.items():
        fewer = f"{1 - each.uncached / against.uncached:.1%}"
        lines.append(f"| {name} | {each.calls} | {each.read:,} | {each.uncached:,} | {fewer} |")
    return "\n".join(lines)


async def _embedded_plan(repo: Path, goal: str, tokens: int) -> Mapping[str, Any]:

    navigator = Navigator(NavigatorSettings())
    navigation_id = await navigator.open(NavigationRequest(goal, repo, token_budget=tokens))
    output = await navigator.run(navigation_id)
    await navigator.aclose()
    plan = parse_plan(output.flight_plan_yaml).model_dump(mode="json", exclude_none=True)
    return {part: plan[part] for part in ("verbosity", "focus") if plan.get(part)}


async def _fly(request: NavigationRequest, way: Way, mind: Zoomer) -> Sent:
    """Fly; a step-scoped session ends with its step, and the next one starts from the state on disk."""
    with ExitStack() as stack:
        gemini, openai = GeminiServer(mind), OpenAiServer(mind)
        stack.enter_context(gemini)
        stack.enter_context(openai)
        settings = NavigatorSettings(
            data_dir=Path(stack.enter_context(tempfile.TemporaryDirectory())),
            model=way.model,
            model_urls={"gemini": gemini.url, "openai": openai.base_url},
            gemini_memory=way.memory,
            embedded_fallback=False,
        )
        navigator = Navigator(settings)
        navigation_id = await navigator.open(request)
        report = await navigator.report(navigation_id)
        while report.stop_reason is None:
            mind.see(report)
            report = await navigator.step(navigation_id)
            if not way.task_scoped:
                await navigator.aclose()
                navigator = Navigator(settings)
        output = await navigator.context(navigation_id)
        await navigator.aclose()
        read = [each.read for each in gemini.counted] + openai.read
        cached = [each.cached for each in gemini.counted] + openai.cached
        calls = len(gemini.requests) + len(openai.requests)
        return Sent(calls, sum(read), sum(read) - sum(cached), output.context_string)


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
    os.environ.setdefault("GOOGLE_API_KEY", "loopback")
    rows = asyncio.run(compare(options.repo, options.goal, steps=options.steps, tokens=options.tokens))
    print(table(rows))


if __name__ == "__main__":
    main()
