"""``python -m benchmarks study``: the registered study, with a key, or dry on loopback."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.agents.matrix import CostLimitError
from benchmarks.agents.model import SCRIPTED, MissingKeyError
from benchmarks.agents.prices import price_of_model
from benchmarks.agents.task import TaskError
from benchmarks.study.attempts import Study, journal_of, run_study
from benchmarks.study.checks import Checked, check_tasks, kept_checks
from benchmarks.study.desk import FILES_HOST, SHELL_HOST
from benchmarks.study.programs import PROGRAMS, is_installed
from benchmarks.study.records import Arm, Attempt
from benchmarks.study.registration import (
    REGISTERED,
    Registration,
    StudyTask,
    clone_missing,
    dry_tasks,
    read_registration,
    registered_tasks,
)
from benchmarks.study.report import power_table, study_report
from navigator.errors import NavigatorError
from navigator.records.money import dollars
from repo_map.errors import RepoMapError

_OWN_HOSTS: Final = (SHELL_HOST, FILES_HOST)
_OUT: Final = Path("bench-study")
_SMALL_MODEL_CALLS: Final = 4
"""Calls of an attempt in a dry run with a model of one's own: it is to show that the wire works."""
_DRY_USD: Final = 5.0
"""Of a dry run, whose scripted model is priced and costs nothing."""
_POWER_TASKS: Final = (20, 40, 60, 120)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the study's arguments."""
    parser.add_argument("--model", default=SCRIPTED, metavar="M", help="gemini-… or openai/…")
    parser.add_argument("--max-cost", type=float, metavar="USD", help="of all attempts; no default")
    parser.add_argument(
        "--hosts",
        default=",".join(_OWN_HOSTS),
        metavar="H,…",
        help=f"{', '.join((*_OWN_HOSTS, *PROGRAMS))} (default: the first two)",
    )
    parser.add_argument("--mirrors", type=Path, metavar="DIR", help="clones; what is missing is cloned there")
    parser.add_argument("--origin", default="https://github.com", metavar="URL", help="to clone from")
    parser.add_argument("--registered", type=Path, default=REGISTERED, metavar="FILE", help="another study")
    parser.add_argument(
        "--max-calls", type=int, default=60, metavar="N", help="of the model, an attempt (60)"
    )
    parser.add_argument("--out", type=Path, default=_OUT, metavar="DIR", help=f"rows, trajectories ({_OUT})")
    parser.add_argument("--dry-run", action="store_true", help="one repeat of small tasks; needs no key")
    parser.add_argument(
        "--check", action="store_true", help="try every task's tests before and after its fix"
    )
    parser.add_argument("--power", action="store_true", help="print how small a change the study can see")
    parser.add_argument("--report", action="store_true", help="report what is in --out, and try nothing")
    parser.add_argument(
        "--uncontained", action="store_true", help="let other programs run with your rights, in no cell"
    )


def run(options: argparse.Namespace) -> int:
    """Make the attempts that are missing, and report all; errors that the user can mend are one sentence."""
    try:
        registered = read_registration(options.registered)
        if options.power:
            print(power_table(_POWER_TASKS, registered.repeats))
            return 0
        if options.report:
            left_out = [each.id for each in kept_checks(options.out) if not each.decides]
            rows = journal_of(options.out).rows()
            print(study_report(rows, registered, _planned(registered), left_out), end="")
            return 0
        hosts = [] if options.check else _hosts(options)
        logging.getLogger("google_adk").setLevel(logging.CRITICAL)
        with tempfile.TemporaryDirectory(prefix="study-") as scratch:
            return _run(options, registered, _tasks(options, registered, Path(scratch)), hosts)
    except (TaskError, MissingKeyError, CostLimitError, NavigatorError, RepoMapError) as error:
        print(error, file=sys.stderr)
        return 2


def _run(
    options: argparse.Namespace, registered: Registration, tasks: Sequence[StudyTask], hosts: Sequence[str]
) -> int:
    left_out, usable = ([], tasks) if options.dry_run else _dealt(tasks, registered.wanted, options.out)
    if options.check:
        return 0 if len(usable) == registered.wanted else 1
    is_small = options.dry_run and options.model != SCRIPTED
    wanted = Study(
        tasks=usable[:1] if is_small else usable,
        hosts=hosts,
        model=options.model,
        repeats=1 if options.dry_run else registered.repeats,
        price=price_of_model(options.model),
        out=options.out / "dry" if options.dry_run else options.out,
        max_cost_usd=_DRY_USD if options.max_cost is None else options.max_cost,
        max_calls=_SMALL_MODEL_CALLS if is_small else options.max_calls,
    )
    rows = asyncio.run(run_study(wanted, _Progress(wanted.max_cost_usd)))
    if options.dry_run:
        print("A dry run: it shows that the study runs to its end, and its figures mean nothing.\n")
    print(study_report(rows, registered, len(list(wanted.keys())), left_out), end="")
    return 0


def _dealt(tasks: Sequence[StudyTask], wanted: int, out: Path) -> tuple[list[str], list[StudyTask]]:
    """Return the tasks whose tests decide nothing on this machine, and the first ``wanted`` others."""
    checked = asyncio.run(check_tasks(tasks, wanted, out, _show_check))
    usable = {each.id for each in checked if each.decides}
    left_out = [each.id for each in checked if not each.decides]
    return left_out, [each for each in tasks if each.task.id in usable]


def _show_check(found: Checked) -> None:
    how = f"passes before: {found.passes_before}, after: {found.passes_after}"
    print(f"{found.id}: {'ok' if found.decides else f'left out ({how})'}", file=sys.stderr, flush=True)


def _tasks(options: argparse.Namespace, registered: Registration, scratch: Path) -> list[StudyTask]:
    if options.dry_run:
        return dry_tasks(scratch)
    mirrors = options.mirrors or options.out / "mirrors"
    for repo in clone_missing([task.repo for task in registered.tasks], mirrors, options.origin):
        print(f"{repo} was cloned into {mirrors}.", file=sys.stderr)
    return registered_tasks(registered, mirrors)


def _hosts(options: argparse.Namespace) -> list[str]:
    """Return the hosts that are tried.

    Raises:
        TaskError: one is unknown, not installed or not to be contained, or a model lacks what it needs.
    """
    hosts: list[str] = options.hosts.split(",")
    known = (*_OWN_HOSTS, *PROGRAMS)
    if unknown := [host for host in hosts if host not in known]:
        raise TaskError(f"There is no host {', '.join(unknown)}; choose of {', '.join(known)}.")
    programs = [host for host in hosts if host in PROGRAMS]
    for host in programs:
        if not is_installed(host):
            raise TaskError(f"{host} is not installed: there is no program {PROGRAMS[host]} on the PATH.")
    if programs and not options.uncontained:
        raise TaskError(
            f"{', '.join(programs)} runs with your rights, in no cell; on a machine where that does no harm, "
            "say so by --uncontained."
        )
    if options.model == SCRIPTED and (programs or not options.dry_run):
        raise TaskError("A study needs a model; name it by --model, or try it without a key by --dry-run.")
    if options.max_cost is None and options.model != SCRIPTED and not options.dry_run:
        raise TaskError("A study needs a limit; name it in US dollars by --max-cost.")
    return hosts


def _planned(registered: Registration) -> int:
    tried = sum(1 + task.no_shell for task in registered.tasks[: registered.wanted])
    return registered.repeats * len(Arm) * tried


class _Progress:
    """Tells of each attempt, and what all of them would cost at this rate."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._usd = 0.0

    def __call__(self, number: int, total: int, row: Attempt, known: bool) -> None:
        self._usd += row.usd
        how = "solved" if row.solved else f"broke off: {row.failure[:200]}" if row.failure else "not solved"
        what = "known" if known else f"{row.calls} calls, {row.navigator_calls} of the navigator"
        key = row.key
        cost = (
            f"{dollars(round(self._usd, 2))} so far, {dollars(round(self._usd / number * total, 2))} for all"
        )
        limit = f" of at most {dollars(self._limit)}" if self._limit else ""
        print(
            f"{number}/{total} {key.task}, {key.host}, {key.arm.value}: {how} ({what}); {cost}{limit}",
            file=sys.stderr,
            flush=True,
        )
