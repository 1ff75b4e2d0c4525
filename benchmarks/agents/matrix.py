"""The runner: tasks × variants × models × repeats, each run on its own, none able to stop the others."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.agents.job import Meter, Options
from benchmarks.agents.model import SCRIPTED, SCRIPTED_NAME, Endpoint, real_endpoint
from benchmarks.agents.report import Journal, Key, RunRow, StageRow
from benchmarks.agents.scripted_model import ScriptedModel
from benchmarks.agents.task import Task
from benchmarks.agents.trial import Verdict, judge
from benchmarks.agents.workflow import FACTORIES, Outcome
from navigator.state.labels import dollars
from navigator.state.pricing import ModelPrice
from tests.support.providers.gemini import gemini

_LOG_KEPT = 1_500
_RUN_LIMIT_S: Final = 900.0
JUDGE = "judge"
"""The stage under which the model calls of an agent that is judged are booked."""

OnRun = Callable[[int, int, RunRow, bool], None]
"""Hears the number of a run, the number of all runs, its row, and whether it was known before."""


class Matrix(NamedTuple):
    """What is run."""

    tasks: Sequence[Task]
    variants: Sequence[str]
    models: Sequence[str]
    repeats: int
    options: Options
    prices: Mapping[str, ModelPrice]
    """By model."""
    max_cost_usd: float = 5.0
    """No further run of a real model starts once this much is spent."""

    def keys(self) -> Iterator[tuple[Task, Key]]:
        """Yield every run, task by task; the variants take turns in being first, so none is always cold."""
        limits = self.options.knowledge_tokens, self.options.max_rounds
        turn = 0
        for model in self.models:
            for task in self.tasks:
                for repeat in range(self.repeats):
                    for variant in (*self.variants[turn:], *self.variants[:turn]):
                        yield task, Key(task.id, variant, model, repeat, *limits)
                    turn = (turn + 1) % len(self.variants)


class CostLimitError(Exception):
    """The money for real models is used up."""


async def run_matrix(matrix: Matrix, journal: Journal, on_run: OnRun) -> list[RunRow]:
    """Run what the journal does not know yet; return the rows of the whole matrix.

    Raises:
        MissingKeyError: a real model was named, and there is no key for it.
        CostLimitError: ``max_cost_usd`` is spent; the journal keeps what was done.
    """
    known = {row.key: row for row in journal.rows()}
    planned = list(matrix.keys())
    spent = 0.0
    rows: list[RunRow] = []
    with contextlib.ExitStack() as stack:
        endpoints = {model: _endpoint(model, matrix, stack) for model in matrix.models}
        for number, (task, key) in enumerate(planned, 1):
            row = known.get(key)
            if row is None:
                if spent >= matrix.max_cost_usd:
                    raise CostLimitError(
                        f"{dollars(spent)} is spent and the limit is {dollars(matrix.max_cost_usd)}; "
                        f"{len(planned) - number + 1} runs are left, and the same command with a higher "
                        "--max-cost goes on with them."
                    )
                row = await _run(task, key, endpoints[key.model], matrix)
                journal.append(row)
                spent += 0.0 if key.model == SCRIPTED else row.usd
            on_run(number, len(planned), row, key in known)
            rows.append(row)
    return rows


def _endpoint(model: str, matrix: Matrix, stack: contextlib.ExitStack) -> Endpoint:
    if model != SCRIPTED:
        return real_endpoint(model)
    server = stack.enter_context(gemini(ScriptedModel(matrix.tasks)))
    return Endpoint(SCRIPTED_NAME, server.url, "none-needed")


async def _run(task: Task, key: Key, endpoint: Endpoint, matrix: Matrix) -> RunRow:
    """Run once and judge; whatever goes wrong makes a row that says so."""
    meter = Meter()
    outcome, verdict = Outcome({}, {}, meter, 0.0), Verdict(False, "nothing was written")
    with tempfile.TemporaryDirectory(prefix="agents-", ignore_cleanup_errors=True) as name:
        scratch = Path(name)
        generator = FACTORIES[key.variant](endpoint, matrix.options)
        try:
            outcome = await asyncio.wait_for(generator.generate(task, scratch, meter), _RUN_LIMIT_S)
            if outcome.solution:
                with outcome.meter.timing(JUDGE):
                    verdict = await judge(task, outcome.solution, scratch / "judge", endpoint)
                outcome.meter.count(JUDGE, verdict.usage)
        except TimeoutError:
            outcome.state["failure"] = f"no end within {_RUN_LIMIT_S:.0f} s"
        except Exception as error:
            # One run must not end the benchmark.
            outcome.state["failure"] = f"{type(error).__name__}: {error}"
    return _row(task, key, outcome, verdict, matrix.prices[key.model])


def _row(task: Task, key: Key, outcome: Outcome, verdict: Verdict, price: ModelPrice) -> RunRow:
    stages = tuple(
        StageRow(
            stage,
            round(use.seconds, 3),
            calls=use.usage.calls,
            fresh=max(use.usage.input - use.usage.cached, 0),
            cached=use.usage.cached,
            out=use.usage.output + use.usage.thinking,
        )
        for stage, use in outcome.meter.stages.items()
    )
    return RunRow(
        key=key,
        kind=task.kind,
        language=task.language,
        solved=verdict.solved,
        rounds=outcome.state.get("round", 0),
        seconds=round(outcome.seconds, 3),
        usd=float(price.cost(outcome.meter.total())),
        failure=outcome.state.get("failure", ""),
        log=verdict.log[-_LOG_KEPT:],
        stages=stages,
    )
