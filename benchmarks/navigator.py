"""``python -m benchmarks navigator``: what a model that explores finds, beside the embedded answer."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from benchmarks.answer import chosen
from benchmarks.rows import RowFile, bootstrap
from benchmarks.tasks import GoldSymbol, Task, read_tasks
from benchmarks.trees import add_folders, materialise

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.state.reports import NavigatorOutput

EXAMPLES = ("tasks.jsonl --model openai/any --url http://127.0.0.1:8571/v1 --limit 12",)

EMBEDDED_ARM: Final = "embedded"
NAMES_ARM: Final = "embedded, names"
_FIRST_ANSWER: Final = 1_000
"""Tokens of an answer that names no number."""
_MAP_TOKENS: Final = 6_508
_CALL_TIMEOUT_S: Final = 900.0
"""A person may answer as the model."""
_PLACE: Final = re.compile(r"(.+?):(\d+)-(\d+)")
MEASURES: Final = (
    *("functions", "precision", "places", "shown", "calls", "characters"),
    *("turns", "tokens in", "cached", "dollars"),
)


class NavigatorRow(msgspec.Struct, frozen=True):
    """What one answer to one task came to, as a line of the file of rows."""

    id: str
    repo: str
    language: str
    arm: str
    """``embedded``, ``embedded, names``, the model, or how an answer was found by hand."""
    measures: dict[str, float]
    """A row lacks those that its arm does not have."""
    places: list[str]
    notes: list[str]


class Answer(msgspec.Struct, frozen=True):
    """Someone's answer to a task, and what it took: a line of a file of answers."""

    id: str
    arm: str
    places: list[str]
    """``path:first-last name``, the best first."""
    calls: int
    """Uses of tools."""
    characters: int
    """That the tools returned."""


class Place(NamedTuple):
    """Lines of an answer."""

    path: str
    first: int
    last: int
    also: str = ""
    """Path and lines of a duplicate: ``lib/types.ts:12-40``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument("tasks", nargs="+", type=Path, metavar="TASKS", help="task files (JSON lines)")
    parser.add_argument("--model", metavar="NAME", help="such as openai/any; by default no model is asked")
    parser.add_argument("--url", metavar="URL", help="of the OpenAI-compatible server that runs it")
    parser.add_argument(
        "--answers", type=Path, metavar="FILE", help="score these answers (JSON lines) and measure nothing"
    )
    parser.add_argument("--names", type=Path, metavar="FILE", help="guessed names by task (JSON object)")
    parser.add_argument("--only", metavar="ID,…", help="ids of tasks, by commas")
    parser.add_argument("--limit", type=int, metavar="N", help="of each file N tasks, in turn by repository")
    parser.add_argument("--out", type=Path, metavar="FILE", help="keep rows here, and go on from here")
    add_folders(parser)


def run(options: argparse.Namespace) -> int:
    """Measure the answers and print the table of arms."""
    if options.answers:
        return _score_answers(options)
    if options.mirrors is None:
        print(
            "Say where the mirrors of the repositories are: --mirrors DIR or BENCH_MIRROR.", file=sys.stderr
        )
        return 2
    names: Mapping[str, list[str]] = {}
    if options.names:
        names = msgspec.json.decode(options.names.read_bytes(), type=dict[str, list[str]])
    only = set(options.only.split(",")) if options.only else None
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="navigator-")))
        stored = RowFile(options.out or scratch / "rows.jsonl", NavigatorRow)
        known = {(row.id, row.arm): row for row in stored}
        measured: set[str] = set()
        for file in options.tasks:
            for task in chosen(read_tasks(file), options.mirrors, options.limit):
                if only is not None and task.id not in only:
                    continue
                measured.add(task.id)
                arms = [
                    each
                    for each in _arms(options.model, names.get(task.id, []))
                    if (task.id, each.name) not in known
                ]
                if not arms:
                    continue
                trees = options.trees or scratch / "trees"
                tree = materialise(task.repo, task.base_commit, options.mirrors, trees)
                for arm in arms:
                    row = asyncio.run(_measure(task, tree, arm, options.url))
                    stored.append(row)
                    known[task.id, arm.name] = row
                    print(f"{task.id}, {arm.name}: {row.measures}", file=sys.stderr, flush=True)
    print("\n".join(table([row for row in known.values() if row.id in measured])))
    return 0


def _score_answers(options: argparse.Namespace) -> int:
    """Score answers that were found elsewhere, and print the table of all arms on their tasks."""
    tasks = {task.id: task for file in options.tasks for task in read_tasks(file)}
    answers = [each for each in RowFile(options.answers, Answer) if each.id in tasks]
    fresh = [_row(tasks[each.id], each) for each in answers]
    known: dict[tuple[str, str], NavigatorRow] = {}
    if options.out:
        stored = RowFile(options.out, NavigatorRow)
        known = {(row.id, row.arm): row for row in stored}
        stored.append(*(row for row in fresh if (row.id, row.arm) not in known))
    known = {(row.id, row.arm): row for row in fresh} | known
    print("\n".join(table([row for row in known.values() if row.id in tasks])))
    return 0


def _row(task: Task, answer: Answer) -> NavigatorRow:
    places = [_read_place(each) for each in answer.places]
    measures = score_places(task, places) | {"calls": answer.calls, "characters": answer.characters}
    return NavigatorRow(task.id, task.repo, task.language, answer.arm, measures, answer.places, [])


def _read_place(text: str) -> Place:
    """Read ``path:first-last``, with a name behind it or without."""
    found = _PLACE.match(text)
    if found is None:
        raise ValueError(f"`{text}` names no lines; write `path:first-last name`.")
    return Place(found[1], int(found[2]), int(found[3]))


class _Arm(NamedTuple):
    """A way to answer a task."""

    name: str
    model: str | None = None
    names: Sequence[str] = ()
    """Identifiers that the caller guesses."""


def _arms(model: str | None, names: Sequence[str]) -> Iterator[_Arm]:
    """Yield the arms of one task."""
    yield _Arm(EMBEDDED_ARM)
    if names:
        yield _Arm(NAMES_ARM, None, names)
    if model:
        yield _Arm(model, model, names)


async def _measure(task: Task, tree: Path, arm: _Arm, url: str | None) -> NavigatorRow:
    from navigator.navigator import Navigator  # noqa: PLC0415 - figures of stored rows need no engine
    from navigator.settings import NavigationRequest, NavigatorSettings  # noqa: PLC0415 - as above

    urls = {"openai": url} if url else {}
    settings = NavigatorSettings(model_urls=urls, call_timeout_s=_CALL_TIMEOUT_S, workers=1, retries=0)
    navigator: Navigator = Navigator(settings)
    try:
        request = NavigationRequest(
            task.goal,
            tree,
            token_budget=_MAP_TOKENS,
            first_answer=_FIRST_ANSWER,
            model=arm.model,
            names=arm.names,
        )
        output = await navigator.run(await navigator.open(request))
    finally:
        await navigator.aclose()
    places = [f"{each.path}:{each.first}-{each.last} {each.name}".rstrip() for each in output.outline]
    measures = score(task, output)
    return NavigatorRow(task.id, task.repo, task.language, arm.name, measures, places, [*output.notes])


def score(task: Task, output: NavigatorOutput) -> dict[str, float]:
    """Return what an answer holds of the functions that the fix edits, and what it cost."""
    places = [Place(each.path, each.first, each.last, each.also) for each in output.outline]
    whole = [place for place, each in zip(places, output.outline, strict=True) if not each.tokens]
    usage = output.total_usage
    return score_places(task, places) | {
        "shown": score_places(task, whole)["functions"],
        "turns": usage.calls,
        "tokens in": usage.input,
        "cached": usage.cached,
        "dollars": float(output.total_cost),
    }


def score_places(task: Task, places: Sequence[Place]) -> dict[str, float]:
    """Return what the places of an answer hold of the functions that the fix edits.

    A function counts as found if a place of the answer overlaps it; a place is right if it overlaps one. Of
    nested functions the outermost counts.
    """
    gold = key_functions(task)
    return {
        "functions": _mean([any(_overlaps(each, place) for place in places) for each in gold]),
        "precision": _mean([any(_overlaps(each, place) for each in gold) for place in places]),
        "places": len(places),
    }


def key_functions(task: Task) -> list[GoldSymbol]:
    """Return the outermost functions that the fix edits."""
    functions = [each for each in task.gold_symbols if each.kind == "function"]
    return [
        each
        for each in functions
        if not any(
            other is not each
            and other.file == each.file
            and other.start <= each.start
            and each.end <= other.end
            and (other.start, other.end) != (each.start, each.end)
            for other in functions
        )
    ]


def _overlaps(symbol: GoldSymbol, place: Place) -> bool:
    """Return whether a place, or where the same code stands, overlaps a function."""
    copy = place.also.removeprefix("same in ") if place.also.startswith("same in ") else ""
    both = [place, *([_read_place(copy)] if copy else [])]
    return any(
        symbol.file == path and symbol.start <= last and first <= symbol.end for path, first, last, *_ in both
    )


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


def table(rows: Sequence[NavigatorRow]) -> list[str]:
    """Return the means of each arm as lines of a table."""
    lines = [f"| arm | {' | '.join(MEASURES)} |", "|---" * (len(MEASURES) + 1) + "|"]
    for arm in dict.fromkeys(row.arm for row in rows):
        own = [row for row in rows if row.arm == arm]
        cells = (
            _cell(name, [row.measures[name] for row in own if name in row.measures]) for name in MEASURES
        )
        lines.append(f"| {arm} ({len(own)}) | {' | '.join(cells)} |")
    return lines


def _cell(name: str, values: Sequence[float]) -> str:
    if not values:
        return ""
    mean = sum(values) / len(values)
    if name in ("functions", "precision", "shown"):
        low, high = bootstrap(values)
        return f"{mean:.2f} [{low:.2f}, {high:.2f}]"
    return f"{mean:,.5f}" if name == "dollars" else f"{mean:,.1f}"
