"""``python -m benchmarks agents``: run, report, list and check tasks, make tasks from a history."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.agents.charts import chart
from benchmarks.agents.checking import check
from benchmarks.agents.factories import FACTORIES
from benchmarks.agents.isolation.sandbox import walls_here
from benchmarks.agents.job import Options
from benchmarks.agents.journal import Journal, RunRow
from benchmarks.agents.matrix import RUN_LIMIT_S, CostLimitError, Matrix, run_matrix
from benchmarks.agents.mining import add_arguments as add_mining_arguments
from benchmarks.agents.mining import mine
from benchmarks.agents.model import SCRIPTED, MissingKeyError, speaks_gemini
from benchmarks.agents.prices import price_of_model
from benchmarks.agents.report import report
from benchmarks.agents.task import TASKS_FOLDER, Task, TaskError, read_tasks
from navigator.errors import NavigatorError
from navigator.records.pricing import ModelPrice
from repo_navigator.flag_parser import FlagParser

_RESULTS = Path("bench-agents/results.jsonl")


def add_arguments(parser: FlagParser) -> None:
    """Add the subcommands."""
    commands = parser.add_commands()
    running = commands.add_parser("run", help="run tasks × variants × models × repeats, then report")
    _add_task_arguments(running)
    running.add_argument("--variants", default=",".join(FACTORIES), metavar="V,…", help=", ".join(FACTORIES))
    running.add_argument(
        "--models",
        default=SCRIPTED,
        metavar="M,…",
        help=f"{SCRIPTED} (default; needs no key), gemini-…, openai/…",
    )
    running.add_argument("--repeats", type=int, default=1, metavar="N")
    running.add_argument(
        "--tokens", type=int, default=Options().knowledge_tokens, metavar="N", help="retrieved at most"
    )
    running.add_argument(
        "--rounds", type=int, default=Options().max_rounds, metavar="N", help="of the loop, at most"
    )
    running.add_argument("--max-cost", type=float, default=5.0, metavar="USD", help="start no run beyond (5)")
    running.add_argument(
        "--run-seconds",
        type=float,
        default=RUN_LIMIT_S,
        metavar="S",
        help="end a run that takes longer (900)",
    )
    _add_result_arguments(running)
    reporting = commands.add_parser("report", help="tables and figure from results")
    _add_result_arguments(reporting)
    listing = commands.add_parser(
        "tasks", help="list the tasks; --check runs their tests before and after the fix"
    )
    _add_task_arguments(listing)
    listing.add_argument("--check", action="store_true")
    listing.add_argument("--json", action="store_true", help="print one JSON object")
    add_mining_arguments(commands.add_parser("mine", help="make tasks from a repository's history"))


def run(options: argparse.Namespace) -> int:
    """Run the subcommand; errors that the user can mend are one sentence on stderr."""
    try:
        match options.command:
            case "run":
                return _run(options)
            case "report":
                return _report(Journal(options.out).rows(), options)
            case "tasks":
                return asyncio.run(_tasks(options))
        return asyncio.run(mine(options))
    except (TaskError, MissingKeyError, CostLimitError, NavigatorError) as error:
        print(error, file=sys.stderr)
        return 2


def _add_task_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tasks", type=Path, nargs="+", default=[TASKS_FOLDER], metavar="PATH", help="YAML, folders"
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="tasks whose id begins so")


def _add_result_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=_RESULTS, metavar="FILE", help=f"results ({_RESULTS})")
    parser.add_argument(
        "--against", default="tools", metavar="V", help="the variant that others are paired with"
    )
    parser.add_argument("--figure", type=Path, metavar="SVG", help="draw the figure there")
    parser.add_argument("--json", action="store_true", help="print the runs as one JSON object")


def _run(options: argparse.Namespace) -> int:
    variants, models = options.variants.split(","), options.models.split(",")
    tasks = _askable(_usable(read_tasks(options.tasks, options.only)), models)
    unknown = [variant for variant in variants if variant not in FACTORIES]
    if unknown:
        raise TaskError(f"There is no variant {', '.join(unknown)}; choose of {', '.join(FACTORIES)}.")
    matrix = Matrix(
        tasks=tasks,
        variants=variants,
        models=models,
        repeats=options.repeats,
        options=Options(knowledge_tokens=options.tokens, max_rounds=options.rounds),
        prices=_prices(models),
        run_limit_s=options.run_seconds,
        max_cost_usd=options.max_cost,
    )
    if open_walls := asyncio.run(walls_here()).missing():
        print(f"Candidates run with less isolation than they should: {open_walls}.", file=sys.stderr)
    # What breaks off is told in the rows; ADK would print its traceback as well.
    logging.getLogger("google_adk").setLevel(logging.CRITICAL)
    rows = asyncio.run(run_matrix(matrix, Journal(options.out), _show_progress))
    return _report(rows, options)


def _report(rows: Sequence[RunRow], options: argparse.Namespace) -> int:
    if not rows:
        raise TaskError(
            f"There are no results in {options.out}; `python -m benchmarks agents run --out {options.out}` "
            "makes some."
        )
    if options.json:
        print(msgspec.json.encode({"runs": rows}).decode())
    else:
        print(report(rows, options.against), end="")
    if options.figure:
        for model in dict.fromkeys(row.key.model for row in rows):
            several = len({row.key.model for row in rows}) > 1
            file = options.figure.with_stem(f"{options.figure.stem}-{model}") if several else options.figure
            file.write_text(chart(rows, model), encoding="utf-8")
            print(f"The figure is in {file}.", file=sys.stderr)
    return 0


def _prices(models: Sequence[str]) -> dict[str, ModelPrice]:
    """Return the price of each model; the scripted one is priced as the model that it is called by."""
    return {model: price_of_model(model) for model in models}


def _usable(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks whose programs are here; say which are left out."""
    for task in tasks:
        if missing := task.missing_programs():
            print(f"{task.id} is left out: {', '.join(missing)} is not installed.", file=sys.stderr)
    usable = [task for task in tasks if not task.missing_programs()]
    if not usable:
        raise TaskError("No task is left that can run here.")
    return usable


def _askable(tasks: Sequence[Task], models: Sequence[str]) -> list[Task]:
    """Return the tasks that all these models can try; say which are left out."""
    others = [model for model in models if not speaks_gemini(model)]
    left_out = [task for task in tasks if others and task.kind == "agent"]
    for task in left_out:
        print(
            f"{task.id} is left out: an agent that is written asks Gemini alone, not `{others[0]}`.",
            file=sys.stderr,
        )
    if len(left_out) == len(tasks):
        raise TaskError("No task is left that these models can try; add one that fixes something.")
    return [task for task in tasks if task not in left_out]


def _show_progress(number: int, total: int, row: RunRow, known: bool) -> None:
    how = "solved" if row.solved else f"broke off: {row.failure[:200]}" if row.failure else "not solved"
    what = "known" if known else f"{row.seconds:.1f} s, {row.rounds} rounds"
    key = row.key
    print(
        f"{number}/{total} {key.task} {key.variant} {key.model}: {how} ({what})", file=sys.stderr, flush=True
    )


async def _tasks(options: argparse.Namespace) -> int:
    """List the tasks; with ``--check``, run each one's tests with the bug and with its solution."""
    failed = 0
    listed: list[dict[str, object]] = []
    for task in read_tasks(options.tasks, options.only):
        goal = " ".join(task.goal.split())
        listed.append({"id": task.id, "kind": task.kind, "language": task.language, "goal": goal})
        message = f"{task.id} ({task.kind}, {task.language}): {goal}"
        if options.check and (why := _not_checked(task)):
            listed[-1] |= {"ok": None, "not_checked": why}
            message = f"{task.id}: not checked, as {why}"
        elif options.check:
            before, after = await check(task)
            right = not before and after
            failed += not right
            listed[-1] |= {"passes_before": before, "passes_after": after, "ok": right}
            message = f"{task.id}: {'ok' if right else 'WRONG'} (passes before: {before}, after: {after})"
        if not options.json:
            print(message, flush=True)
    if options.json:
        print(msgspec.json.encode({"tasks": listed}).decode())
    return 1 if failed else 0


def _not_checked(task: Task) -> str:
    """Say why a task can't be checked, ``""`` where it can."""
    if missing := task.missing_programs():
        return f"{', '.join(missing)} is not installed"
    return "no solution is known" if task.kind == "agent" and not task.script.code else ""
