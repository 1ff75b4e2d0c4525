"""``python -m benchmarks agents``: run tasks, report, list and check tasks."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.agents.isolation.sandbox import isolation_fault
from benchmarks.agents.job import Options
from benchmarks.agents.matrix import CostLimitError, Matrix, run_matrix
from benchmarks.agents.model import SCRIPTED, MissingKeyError, price_of_model
from benchmarks.agents.report import Journal, RunRow, report
from benchmarks.agents.scripted_model import check
from benchmarks.agents.task import Task, TaskError, read_tasks
from benchmarks.agents.workflow import FACTORIES
from navigator.errors import NavigatorError
from repo_navigator.cli import Parser

EXAMPLES = ("run --only python-voucher",)

_RESULTS = Path("bench-agents/results.jsonl")


def add_arguments(parser: Parser) -> None:
    """Add the subcommands."""
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="run tasks × variants × models × repeats, then report")
    running.add_value("--only", "ID", "tasks whose id begins so", nargs="+", default=[])
    running.add_value("--variants", "V,…", ", ".join(FACTORIES), default=",".join(FACTORIES))
    running.add_value("--models", "M,…", f"{SCRIPTED} (default; needs no key), gemini-…", default=SCRIPTED)
    usual = Options()
    running.add_value("--repeats", "N", "runs of each", type=int, default=1)
    running.add_value("--tokens", "N", "retrieved at most", type=int, default=usual.knowledge_tokens)
    running.add_value("--rounds", "N", "of the loop, at most", type=int, default=usual.max_rounds)
    running.add_value("--max-cost", "USD", "start no run beyond (5)", type=float, default=5.0)
    _add_result_arguments(running)
    _add_result_arguments(commands.add_parser("report", help="tables from results"))
    listing = commands.add_parser(
        "tasks", help="list the tasks; --check runs their tests before and after the fix"
    )
    listing.add_value("--only", "ID", "tasks whose id begins so", nargs="+", default=[])
    listing.add_argument("--check", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Run the subcommand; errors that the user can mend are one sentence on stderr."""
    try:
        match options.command:
            case "run":
                return _run(options)
            case "report":
                return _report(Journal(options.out).rows(), options)
            case _:
                return asyncio.run(_tasks(options))
    except (TaskError, MissingKeyError, CostLimitError, NavigatorError) as error:
        print(error, file=sys.stderr)
        return 2


def _add_result_arguments(parser: Parser) -> None:
    parser.add_value("--out", "FILE", f"results ({_RESULTS})", type=Path, default=_RESULTS)
    parser.add_value("--against", "V", "the variant that others are paired with", default="tools")
    parser.add_switch("--json", "print the runs as one JSON object")


def _run(options: argparse.Namespace) -> int:
    variants, models = options.variants.split(","), options.models.split(",")
    tasks = _usable(read_tasks(options.only))
    unknown = [variant for variant in variants if variant not in FACTORIES]
    if unknown:
        raise TaskError(f"There is no variant {', '.join(unknown)}; choose of {', '.join(FACTORIES)}.")
    matrix = Matrix(
        tasks=tasks,
        variants=variants,
        models=models,
        repeats=options.repeats,
        options=Options(knowledge_tokens=options.tokens, max_rounds=options.rounds),
        prices={model: price_of_model(model) for model in models},
        max_cost_usd=options.max_cost,
    )
    if fault := asyncio.run(isolation_fault()):
        raise TaskError(fault)
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
    return 0


def _usable(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks whose programs are here; say which are left out."""
    for task in tasks:
        if missing := task.missing_programs():
            print(f"{task.id} is left out: {', '.join(missing)} is not installed.", file=sys.stderr)
    usable = [task for task in tasks if not task.missing_programs()]
    if not usable:
        raise TaskError("No task is left that can run here.")
    return usable


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
    for task in read_tasks(options.only):
        if not options.check:
            print(f"{task.id} ({task.kind}, {task.language}): {' '.join(task.goal.split())}")
        elif missing := task.missing_programs():
            print(f"{task.id}: not checked, {', '.join(missing)} is not installed", flush=True)
        else:
            before, after = await check(task)
            right = not before and after
            failed += not right
            how = f"passes before: {before}, after: {after}"
            print(f"{task.id}: {'ok' if right else 'WRONG'} ({how})", flush=True)
    return 1 if failed else 0
