"""``python -m benchmarks chooser``: what does a model choose from the menu, and what does that bring?"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks.agents.report import markdown
from benchmarks.figures import bootstrap
from benchmarks.kept_rows import KeptRows
from benchmarks.scoring import Answer, Place, score
from benchmarks.small_model.sampling import add_task_arguments, asked_tasks
from benchmarks.tasks import Task
from benchmarks.trees import files_at_head, materialise
from navigator.navigator import Navigator
from navigator.records.decisions import EMBEDDED
from navigator.records.reports import MenuPlace, NavigatorOutput, TurnReport
from navigator.settings import NavigationRequest, NavigatorSettings
from repo_map import globs
from repo_map.text import tokens

PROVIDER = "openai"
_MEASURES = ("body", "span", "tokens")


class Measures(msgspec.Struct, frozen=True):
    """How much of the true fix a context holds, as ``benchmarks/scoring.py`` defines it."""

    tokens: float
    span: float
    body: float | None = None
    """None where the fix edits no function."""
    reach: float | None = None


class Shown(msgspec.Struct, frozen=True):
    """What the model was shown of each task."""

    goal: int
    """Characters of the goal at most; what follows is left out for every system alike."""


class Chosen(msgspec.Struct, frozen=True):
    """One task: the packet that the model was shown, and what it made of it."""

    id: str
    language: str
    model: str
    budget: int
    shown: Shown
    before: Measures
    """By need, without a model; ``reach`` counts the menu."""
    after: Measures
    filled: Measures
    """Without a model, as many tokens as the model's choice came to."""
    menu: int
    """Places that were offered at first."""
    picks: list[str]
    """Of them those that it took, each ``path name``."""
    right: int
    """Of those, how many the fix edits."""
    steps: int
    """Decisions that it made."""
    at_once: int
    """Of them, how many its first call made."""
    calls: int
    read: int
    """Tokens."""
    written: int
    seconds: float
    ended: str
    """How the navigation ended, with what went wrong."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    add_task_arguments(parser)
    parser.add_argument(
        "--url",
        default="http://127.0.0.1:8012/v1",
        help="OpenAI-compatible server (default %(default)s); its key in OPENAI_API_KEY",
    )
    parser.add_argument("--model", default="local", help="the model's name there")
    parser.add_argument("--tokens", type=int, default=2_000, metavar="N", help="budget (default 2000)")
    parser.add_argument(
        "--goal", type=int, default=4_000, metavar="N", help="characters of a goal at most (default 4000)"
    )
    parser.add_argument("--steps", type=int, default=3, metavar="N", help="decisions at most (default 3)")
    parser.add_argument(
        "--wait", type=float, default=600.0, metavar="S", help="seconds for one answer (default 600)"
    )


def run(options: argparse.Namespace) -> int:
    """Run the measurement and print its figures; a run that was stopped goes on where it was."""
    kept = KeptRows(options.out, Chosen)
    if not options.figures:
        tasks = asked_tasks(options)
        if tasks is None:
            return 2
        name = f"{PROVIDER}/{options.model}"
        shown = Shown(options.goal)
        known = {(row.id, row.model, row.budget, row.shown) for row in kept}
        for number, task in enumerate(tasks, 1):
            if (task.id, name, options.tokens, shown) in known:
                continue
            tree = materialise(task.repo, task.base_commit, options.mirrors, options.trees)
            row = asyncio.run(_choose(task, tree, name, shown, options))
            kept.append(row)
            words = f"took {len(row.picks)} of {row.menu}, {row.right} right"
            print(
                f"{number}/{len(tasks)} {task.id}: {words}, {row.seconds:.0f} s, {row.ended}", file=sys.stderr
            )
    print(table(list(kept)))
    return 0


class _Flight(NamedTuple):
    output: NavigatorOutput
    reports: Sequence[TurnReport]


async def _choose(task: Task, tree: Path, model: str, shown: Shown, options: argparse.Namespace) -> Chosen:
    settings = NavigatorSettings(
        model_urls={PROVIDER: options.url},
        call_timeout_s=options.wait,
        retries=0,
    )
    navigator = Navigator(settings)
    try:
        request = NavigationRequest(
            task.goal[: shown.goal], tree, token_budget=options.tokens, model=EMBEDDED
        )
        before = await _fly(navigator, request)
        started = time.perf_counter()
        after = await _fly(navigator, replace(request, model=model, max_steps=options.steps))
        seconds = time.perf_counter() - started
        size = tokens.count(after.output.context_string, "cl100k")
        filled = await _fly(navigator, replace(request, token_budget=max(size, 1), fill=True))
    finally:
        await navigator.aclose()
    menu = after.reports[0].menu
    made = [report for report in after.reports[1:] if report.model == model]
    picks = _picks(menu, made[:1])
    usage = after.output.total_usage
    return Chosen(
        id=task.id,
        language=task.language,
        model=model,
        budget=options.tokens,
        shown=shown,
        before=_measured(task, tree, before.output, before.reports[-1].menu),
        after=_measured(task, tree, after.output, after.reports[-1].menu),
        filled=_measured(task, tree, filled.output, ()),
        menu=len(menu),
        picks=[f"{place.path} {place.name}".rstrip() for place in picks],
        right=sum(_is_edited(task, place) for place in picks),
        steps=len(made),
        at_once=sum(report.usage.calls == 1 for report in made),
        calls=usage.calls,
        read=usage.input,
        written=usage.output + usage.thinking,
        seconds=round(seconds, 1),
        ended=" ".join((str(after.output.stop_reason), *after.output.notes)),
    )


async def _fly(navigator: Navigator, request: NavigationRequest) -> _Flight:
    navigation_id = await navigator.open(request)
    output = await navigator.run(navigation_id)
    return _Flight(output, await navigator.decisions(navigation_id))


def _picks(menu: Sequence[MenuPlace], reports: Sequence[TurnReport]) -> list[MenuPlace]:
    """Return the places of a menu that decisions ask for."""
    changes = [rule for report in reports for rule in report.config_diff.get("verbosity", ())]
    asked = set()
    for rule in changes:
        if rule.get("level") == 4:
            asked.add((rule["pattern"], ""))
        asked |= {
            (rule["pattern"], part.get("pattern"))
            for part in rule.get("sections") or ()
            if part["level"] == 4
        }
    return [
        place
        for place in menu
        if (globs.escape(place.path), globs.escape(place.name) if place.name else "") in asked
    ]


def _is_edited(task: Task, place: MenuPlace) -> bool:
    if not place.name:
        return place.path in task.gold_files
    return any(
        symbol.file == place.path and place.first <= symbol.sig_line <= place.last
        for symbol in task.gold_symbols
    )


def _measured(task: Task, tree: Path, output: NavigatorOutput, menu: Sequence[MenuPlace]) -> Measures:
    places = [Place(each.path, each.first, each.last, each.tokens) for each in menu]
    answer = Answer(output.context_string, [file.path for file in output.files], places)
    found = score(
        task, answer, files_at_head(tree), lambda path: (tree / path).read_bytes().decode("utf-8", "replace")
    )
    return Measures(found["tokens"], found["span"], found.get("body"), found.get("reach"))


def table(rows: Sequence[Chosen]) -> str:
    """Return what the model chose, and what that brings, in means of a task with 95 % intervals of pairs."""
    if not rows:
        return "No task was measured."
    steps, picks = sum(row.steps for row in rows), sum(len(row.picks) for row in rows)
    lines = [
        f"{len(rows)} tasks; {sum(row.at_once for row in rows)} of {steps} decisions valid at once; "
        f"{picks} picks of {sum(row.menu for row in rows)} places, {sum(row.right for row in rows)} of them "
        "edited by the fix.",
        f"A task: {statistics.median(row.seconds for row in rows):.0f} s (median), "
        f"{statistics.mean(row.read for row in rows):,.0f} tokens read, "
        f"{statistics.mean(row.written for row in rows):,.0f} written (means).",
        "",
    ]
    reach = [row.before.reach for row in rows if row.before.reach is not None]
    cells = [
        [
            "",
            "no choice",
            "chosen",
            "as many tokens, no choice",
            "chosen − none (95 %)",
            "chosen − as many (95 %)",
        ]
    ]
    for measure in _MEASURES:
        values = [
            [getattr(each, measure) for each in (row.before, row.after, row.filled)]
            for row in rows
            if getattr(row.before, measure) is not None
        ]
        if not values:
            continue
        means = [_told(measure, statistics.mean(column)) for column in zip(*values, strict=True)]
        pairs = [
            [after - other for other, after in ((each[at], each[1]) for each in values)] for at in (0, 2)
        ]
        cells.append([measure, *means, *(_pair(measure, each) for each in pairs)])
    if reach:
        cells.append(["reach", _told("reach", statistics.mean(reach)), "", "", "", ""])
    return "\n".join(lines) + markdown(cells)


def _pair(measure: str, differences: Sequence[float]) -> str:
    low, high = bootstrap(differences)
    mean = statistics.mean(differences)
    return f"{_signed(measure, mean)} [{_signed(measure, low)}, {_signed(measure, high)}]"


def _told(measure: str, value: float) -> str:
    return f"{value:,.0f}" if measure == "tokens" else f"{value:.3f}"


def _signed(measure: str, value: float) -> str:
    return f"{value:+,.0f}" if measure == "tokens" else f"{value:+.3f}"
