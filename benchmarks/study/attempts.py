"""Tasks × hosts × arms × repeats: each attempt alone in a room, judged by the task's tests, and booked."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.agents.blocks import refusal_of
from benchmarks.agents.isolation.sandbox import Room
from benchmarks.agents.journal import RowJournal
from benchmarks.agents.matrix import CostLimitError, fresh_of, out_of
from benchmarks.agents.model import SCRIPTED, SCRIPTED_NAME, Endpoint, real_endpoint
from benchmarks.agents.trial import Verdict, fresh_room, judge
from benchmarks.git import run_git
from benchmarks.study.desk import desk_of
from benchmarks.study.loop import run_loop
from benchmarks.study.mind import ShellMind
from benchmarks.study.programs import ARMS, PROGRAMS, run_program
from benchmarks.study.records import Arm, Attempt, AttemptKey, Limits, Trace, Work
from benchmarks.study.registration import StudyTask
from navigator.records.money import dollars
from navigator.records.pricing import ModelPrice
from tests.support.providers.gemini import gemini

_LOG_KEPT = 1_500
_LARGEST = 1_000_000
"""Bytes of a file that counts as changed code."""

OnAttempt = Callable[[int, int, Attempt, bool], None]
"""Hears the number of an attempt, the number of all, its row, and whether it was known before."""


class Study(NamedTuple):
    """What is run."""

    tasks: Sequence[StudyTask]
    hosts: Sequence[str]
    model: str
    repeats: int
    price: ModelPrice
    out: Path
    """Where rows and trajectories are kept."""
    max_cost_usd: float
    """No attempt of a real model starts once this much is spent, earlier sessions counted."""
    max_calls: int
    run_limit_s: float = 1_800.0

    def keys(self) -> Iterator[tuple[StudyTask, AttemptKey]]:
        """Yield every attempt; a repeat is whole before the next begins, and arms take turns in being first.

        So where the money ends early, what is there is balanced.
        """
        turn = 0
        for repeat in range(self.repeats):
            for task in self.tasks:
                for host in (each for each in self.hosts if each in task.hosts or each in PROGRAMS):
                    arms = ARMS.get(host, tuple(Arm))
                    for arm in (*arms[turn % len(arms) :], *arms[: turn % len(arms)]):
                        yield task, AttemptKey(task.task.id, host, arm, self.model, repeat)
                    turn += 1


def journal_of(out: Path) -> RowJournal[Attempt]:
    """Return the file of all attempts."""
    return RowJournal(out / "attempts.jsonl", Attempt)


async def run_study(wanted: Study, on_attempt: OnAttempt) -> list[Attempt]:
    """Make the attempts that are not known yet; return all of them.

    Raises:
        MissingKeyError: a real model was named, and there is no key for it.
        CostLimitError: the money is spent; what was done is kept.
    """
    journal, planned = journal_of(wanted.out), list(wanted.keys())
    known = {row.key: row for row in journal.rows()}
    free = wanted.model == SCRIPTED
    spent = sum(row.usd for row in known.values() if row.key.model != SCRIPTED)
    rows: list[Attempt] = []
    with contextlib.ExitStack() as stack:
        endpoint = _endpoint(wanted, stack)
        for number, (task, key) in enumerate(planned, 1):
            row = known.get(key)
            if row is None:
                left = wanted.max_cost_usd - spent
                if left <= 0 and not free:
                    raise CostLimitError(
                        f"{dollars(round(spent, 4))} is spent and the limit is "
                        f"{dollars(wanted.max_cost_usd)}; {len(planned) - number + 1} attempts are left, and "
                        "the same command with a higher --max-cost goes on with them."
                    )
                row = await _attempt(task, key, endpoint, wanted, wanted.max_cost_usd if free else left)
                journal.append(row)
                spent += 0.0 if free else row.usd
            on_attempt(number, len(planned), row, key in known)
            rows.append(row)
    return rows


def _endpoint(wanted: Study, stack: contextlib.ExitStack) -> Endpoint | None:
    if all(host in PROGRAMS for host in wanted.hosts):
        return None
    if wanted.model != SCRIPTED:
        return real_endpoint(wanted.model)
    server = stack.enter_context(gemini(ShellMind([each.task for each in wanted.tasks])))
    return Endpoint(SCRIPTED_NAME, server.url, "none-needed")


async def _attempt(
    study_task: StudyTask, key: AttemptKey, endpoint: Endpoint | None, wanted: Study, left: float
) -> Attempt:
    """Let the agent work, then judge what it changed; whatever goes wrong makes a row that says so."""
    task = study_task.task
    verdict, failure = Verdict(False, "nothing was changed"), ""
    with tempfile.TemporaryDirectory(prefix="study-", ignore_cleanup_errors=True) as name:
        scratch = Path(name)
        limits = Limits(wanted.max_calls, left)
        work = Work(task.goal, key.host, key.model, Room(scratch / "room"), key.arm, limits)
        started = time.perf_counter()
        try:
            task.lay_out(scratch / "repository")
            commit_all(fresh_room(scratch / "repository", work.room.folder).work)
            started = time.perf_counter()
            await asyncio.wait_for(_let_work(work, endpoint, wanted), wanted.run_limit_s)
            seconds = time.perf_counter() - started
            if solution := changes(scratch / "repository", work.room.work, task.tests):
                verdict = await judge(task, solution, scratch / "judge", endpoint or _NOWHERE)
        except Exception as error:
            # One attempt must not end the study.
            seconds = time.perf_counter() - started
            failure = f"{type(error).__name__}: {error}"[:300]
    trace = work.trace if not failure else work.trace._replace(failure=failure)
    _keep(wanted.out, key, trace)
    usd = trace.usd if trace.usd is not None else float(wanted.price.cost(trace.usage))
    return Attempt(
        key=key,
        repo=study_task.repo,
        strata=study_task.strata,
        solved=verdict.solved,
        usd=usd,
        calls=trace.usage.calls,
        navigator_calls=trace.navigator_calls,
        told=trace.told,
        fresh=fresh_of(trace.usage),
        cached=trace.usage.cached,
        out=out_of(trace.usage),
        seconds=round(seconds, 3),
        failure=trace.failure,
        log=verdict.log[-_LOG_KEPT:],
    )


_NOWHERE = Endpoint("", "", "")


async def _let_work(work: Work, endpoint: Endpoint | None, wanted: Study) -> None:
    if work.host in PROGRAMS:
        await run_program(work)
        return
    assert endpoint is not None
    async with desk_of(work) as desk:
        await run_loop(work, endpoint, desk, wanted.price)


def commit_all(folder: Path) -> None:
    """Make a folder a repository of one commit, as users have one and hosts expect it."""
    run_git(folder, "init", "-q", ".")
    run_git(folder, "add", "-A", "-f")
    who = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost")
    run_git(folder, *who, "commit", "-q", "--allow-empty", "--no-verify", "-m", "As it is")


def changes(before: Path, after: Path, protected: Mapping[str, str]) -> dict[str, str]:
    """Return the files that an agent changed or added; links, large files, binary ones and tests stay out.

    A file that a candidate may not write does not spoil the rest: the judge has its own.
    """
    found: dict[str, str] = {}
    for file in sorted(after.rglob("*")):
        path = file.relative_to(after).as_posix()
        if file.is_symlink() or not file.is_file() or ".git" in file.parts or refusal_of(path, protected):
            continue
        if not file.resolve().is_relative_to(after.resolve()) or file.stat().st_size > _LARGEST:
            continue
        old, new = before / path, file.read_bytes()
        if not old.is_file() or old.read_bytes() != new:
            with contextlib.suppress(UnicodeDecodeError):
                found[path] = new.decode("utf-8")
    return found


def _keep(out: Path, key: AttemptKey, trace: Trace) -> None:
    """Write a trajectory, one event a line."""
    host = key.host.replace(" ", "-")
    name = f"{key.task}.{host}.{key.arm.name.lower()}.{key.repeat}.jsonl"
    file = out / "trajectories" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(event, ensure_ascii=False, default=str) for event in trace.events]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
