"""The runner and its report: resumption, broken runs, losses, intervals, the command."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from benchmarks.__main__ import main
from benchmarks.agents.job import Options
from benchmarks.agents.matrix import CostLimitError, Matrix, run_matrix
from benchmarks.agents.model import SCRIPTED, SCRIPTED_NAME
from benchmarks.agents.report import MEASURES, Journal, Key, RunRow, StageRow, paired, report
from benchmarks.agents.task import Task
from navigator.state.pricing import load_prices

pytestmark = pytest.mark.slow


def row(task: str, variant: str, *, solved: bool, tokens: int = 1_000, failure: str = "") -> RunRow:
    return RunRow(
        key=Key(task, variant, SCRIPTED, 0, 1_500, 3),
        kind="fix",
        language="Python",
        solved=solved,
        rounds=1,
        seconds=2.0,
        usd=tokens / 10_000_000,
        failure=failure,
        log="",
        stages=(StageRow("planner", 1.0, 1, tokens, 0, 10), StageRow("run_analysis", 1.0, 1, 50, 0, 10)),
    )


ROWS = [
    *(row(f"task-{number}", "tools", solved=number < 6, tokens=3_000) for number in range(10)),
    *(row(f"task-{number}", "navigator", solved=number > 1) for number in range(10)),
]


def test_pairs_tell_difference_interval_and_every_loss() -> None:
    text = report(ROWS, "tools")
    assert "| tools | 10 | 6 of 10 | 2.0 | 3,050 |" in text
    assert "| navigator | 10 | 8 of 10 | 2.0 | 1,050 |" in text
    assert "Won 4: task-6, task-7, task-8, task-9. Lost 2: task-0, task-1. Equal: 4." in text
    pair = paired(ROWS, "navigator", "tools", MEASURES["solved"])
    assert pair.difference == pytest.approx(0.2)
    assert pair.low < 0 < pair.high
    tokens = paired(ROWS, "navigator", "tools", MEASURES["fresh tokens"])
    assert tokens == (-2_000, -2_000, -2_000)


def test_a_run_that_broke_off_is_marked_in_the_table_of_tasks() -> None:
    text = report([row("task-1", "index", solved=False, failure="planner: ClientError")], "tools")
    assert "| task-1 | 0/1 (broke off) |" in text


def test_a_journal_reads_past_a_line_that_was_cut_off(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "results.jsonl")
    journal.append(ROWS[0])
    whole = (tmp_path / "results.jsonl").read_bytes()
    (tmp_path / "results.jsonl").write_bytes(whole + b"\n" + msgspec.json.encode(ROWS[1])[:40])
    journal.append(ROWS[2])
    assert journal.rows() == [ROWS[0], ROWS[2]]


def matrix_of(tasks: list[Task], **changes: object) -> Matrix:
    price = load_prices().price_of(SCRIPTED_NAME)
    plain = Matrix(
        tasks=tasks,
        variants=("none", "navigator"),
        models=(SCRIPTED,),
        repeats=1,
        options=Options(max_rounds=1),
        prices={SCRIPTED: price, "gemini-2.0-flash": price},
    )
    return plain._replace(**changes)


@pytest.mark.anyio
async def test_a_stopped_benchmark_goes_on_where_it_was_and_a_broken_task_stops_nothing(
    tasks: dict[str, Task], tmp_path: Path
) -> None:
    broken = tasks["python-tax"].model_copy(update={"id": "broken", "repository": "no-such-folder"})
    journal = Journal(tmp_path / "results.jsonl")
    heard: list[tuple[int, int, bool]] = []

    def listen(number: int, total: int, run: RunRow, known: bool) -> None:
        heard.append((number, total, known))

    matrix = matrix_of([broken, tasks["python-voucher"]])
    rows = await run_matrix(matrix, journal, listen)
    assert [run.solved for run in rows] == [False, False, True, False]
    assert [run.key.variant for run in rows] == ["none", "navigator", "navigator", "none"]
    assert rows[0].failure.startswith("setup: FileNotFoundError")
    assert rows[2].usd > 0
    assert {stage.stage for stage in rows[2].stages} >= {"planner", "teardown"}
    assert [known for *_, known in heard] == [False] * 4
    heard.clear()
    assert await run_matrix(matrix, journal, listen) == rows
    assert heard == [(number, 4, True) for number in (1, 2, 3, 4)]


@pytest.mark.anyio
async def test_no_run_of_a_real_model_starts_once_the_money_is_spent(
    tasks: dict[str, Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "never-used")
    matrix = matrix_of([tasks["python-tax"]], models=("gemini-2.0-flash",), max_cost_usd=0.0)
    with pytest.raises(CostLimitError, match=r"the limit is \$0\.00; 2 runs are left"):
        await run_matrix(matrix, Journal(tmp_path / "results.jsonl"), lambda *_: None)


def test_the_command_runs_and_reports_without_a_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results.jsonl"
    arguments = ["agents", "run", "--only", "python-voucher", "--variants", "none,index"]
    assert main([*arguments, "--rounds", "1", "--against", "none", "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert "| index | 1 | 1 of 1 | 5.0 |" in said.out
    assert "Won 1: python-voucher. Lost 0: –." in said.out
    assert "2/2 python-voucher index scripted: solved" in said.err
    assert main(["agents", "report", "--out", str(out), "--against", "none"]) == 0
    assert capsys.readouterr().out == said.out
    assert main(["agents", "report", "--out", str(out), "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [run["key"]["variant"] for run in runs] == ["none", "index"]


def test_a_real_model_without_a_key_is_told_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["agents", "run", "--models", "gemini-2.0-flash", "--only", "python-voucher"]
    assert main([*arguments, "--out", str(tmp_path / "results.jsonl")]) == 2
    assert "needs a key: set GOOGLE_API_KEY" in capsys.readouterr().err
