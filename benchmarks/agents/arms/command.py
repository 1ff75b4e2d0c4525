"""``python -m benchmarks agents compare``: agents with a shell, with and without the navigator."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from benchmarks.agents.arms.comparing import PLAIN, Comparison, compare
from benchmarks.agents.arms.outside import PROGRAMS, is_installed
from benchmarks.agents.arms.records import Arm, Attempt
from benchmarks.agents.arms.telling import tell
from benchmarks.agents.model import SCRIPTED, speaks_gemini
from benchmarks.agents.task import Task, TaskError
from navigator.records.pricing import ModelPrice

_ARMS = {arm.name.lower(): arm for arm in Arm}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``compare``, but for those that name tasks."""
    parser.add_argument(
        "--agents", default=PLAIN, metavar="A,…", help=f"{', '.join((PLAIN, *PROGRAMS))} (default {PLAIN})"
    )
    parser.add_argument("--arms", default=",".join(_ARMS), metavar="A,…", help=", ".join(_ARMS))
    parser.add_argument("--model", default=SCRIPTED, metavar="M", help=f"{SCRIPTED} (default; needs no key)")
    parser.add_argument("--repeats", type=int, default=1, metavar="N")
    parser.add_argument("--max-cost", type=float, default=5.0, metavar="USD", help="of all attempts (5)")
    parser.add_argument(
        "--max-calls", type=int, default=60, metavar="N", help="of the model, an attempt (60)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("bench-arms"),
        metavar="DIR",
        help="rows and trajectories (bench-arms)",
    )
    parser.add_argument(
        "--uncontained",
        action="store_true",
        help="let programs other than the plain agent run with your rights",
    )
    parser.add_argument("--json", action="store_true", help="print the attempts as one JSON object")


def run(options: argparse.Namespace, tasks: Sequence[Task], price: Callable[[str], ModelPrice]) -> int:
    """Make the attempts that are missing, and report all.

    Raises:
        TaskError: an agent or an arm is unknown, not installed, or not to be contained.
    """
    agents, arms = options.agents.split(","), options.arms.split(",")
    _refuse([agent for agent in agents if agent not in (PLAIN, *PROGRAMS)], "agent", (PLAIN, *PROGRAMS))
    _refuse([arm for arm in arms if arm not in _ARMS], "arm", _ARMS)
    programs = [agent for agent in agents if agent in PROGRAMS]
    for agent in programs:
        if not is_installed(agent):
            raise TaskError(f"{agent} is not installed: there is no program {PROGRAMS[agent]} on the PATH.")
    if programs and not options.uncontained:
        raise TaskError(
            f"{', '.join(programs)} runs with your rights, in no cell; on a machine where that does no harm, "
            "say so by --uncontained."
        )
    if programs and options.model == SCRIPTED:
        raise TaskError(f"{', '.join(programs)} needs a model of its own; name it by --model.")
    if PLAIN in agents and not speaks_gemini(options.model):
        raise TaskError(f"{PLAIN} asks Gemini alone, not `{options.model}`; name a Gemini model by --model.")
    # Mended tasks alone: what a shell changes is judged by tests.
    wanted = Comparison(
        tasks=[task for task in tasks if task.kind == "fix"],
        agents=agents,
        arms=[_ARMS[arm] for arm in arms],
        model=options.model,
        repeats=options.repeats,
        price=price(options.model),
        out=options.out,
        max_cost_usd=options.max_cost,
        max_calls=options.max_calls,
    )
    rows = asyncio.run(compare(wanted, _show_progress))
    print(msgspec.json.encode({"attempts": rows}).decode() if options.json else tell(rows), end="")
    return 0


def _refuse(unknown: Sequence[str], what: str, known: Sequence[str] | dict[str, Arm]) -> None:
    if unknown:
        raise TaskError(f"There is no {what} {', '.join(unknown)}; choose of {', '.join(known)}.")


def _show_progress(number: int, total: int, row: Attempt, known: bool) -> None:
    how = "solved" if row.solved else f"broke off: {row.failure[:200]}" if row.failure else "not solved"
    what = "known" if known else f"{row.calls} calls, {row.navigator_calls} of the navigator"
    key = row.key
    line = f"{number}/{total} {key.task} {key.agent} {key.arm.value}: {how} ({what})"
    print(line, file=sys.stderr, flush=True)
