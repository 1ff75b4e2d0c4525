"""What was registered, what is refused, and the analysis on attempts that were made up."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.agents.task import TaskError
from benchmarks.study.analysis import (
    RATIOS,
    change,
    difference,
    least_change,
    pairs,
    spread_of_none,
    whole_blocks,
)
from benchmarks.study.attempts import journal_of
from benchmarks.study.files import file_tools
from benchmarks.study.records import Arm, Attempt, AttemptKey
from benchmarks.study.registration import (
    LARGE,
    NAMED,
    UNNAMED,
    clone_missing,
    read_registration,
    registered_tasks,
)
from tests.support.trees import commit, git


def attempt(task: str, arm: Arm, usd: float, *, solved: bool = True, repeat: int = 0) -> Attempt:
    key = AttemptKey(task, "shell", arm, "m", repeat)
    return Attempt(key, task[0], (UNNAMED,), solved, usd, 10, 0, 0, 100, 0, 10, 1.0, "", "")


def test_the_registration_has_sixty_tasks_of_every_kind_spares_and_one_test() -> None:
    registered = read_registration()
    assert (registered.wanted, registered.repeats) == (60, 3)
    assert Arm(registered.primary) is Arm.BOTH
    assert len({task.commit for task in registered.tasks}) == len(registered.tasks) >= 90
    first = registered.tasks[:60]
    kinds = [stratum for task in first for stratum in task.strata]
    assert kinds.count(NAMED) + kinds.count(UNNAMED) == 60
    assert kinds.count(UNNAMED) >= 20
    assert kinds.count(LARGE) >= 10
    assert sum(task.no_shell for task in first) == 20


def test_a_registered_task_is_the_tree_before_a_commit_and_its_tests_decide(tmp_path: Path) -> None:
    source = commit(tmp_path / "origin" / "ada" / "shop", {"tax.py": "RATE = 1\n", "test_tax.py": "old\n"})
    (source / "tax.py").write_text("RATE = 2\n")
    (source / "test_tax.py").write_text("new\n")
    git(source, "commit", "-q", "-am", "Mend the rate")
    fix = git(source, "rev-parse", "HEAD").strip()
    (tmp_path / "study.yaml").write_text(
        "date: soon\nrepeats: 3\nprimary: tool\nharm: 0.25\nwanted: 1\n"
        "repositories: {ada/shop: {test: 'python -m pytest {tests}'}}\n"
        f"tasks: [{{repo: ada/shop, commit: {fix}, strata: [{UNNAMED}], no_shell: true}}]\n"
    )
    registered = read_registration(tmp_path / "study.yaml")
    mirrors = tmp_path / "mirrors"
    assert clone_missing(["ada/shop"], mirrors, str(tmp_path / "origin")) == ["ada/shop"]
    assert clone_missing(["ada/shop"], mirrors, str(tmp_path / "origin")) == []
    (found,) = registered_tasks(registered, mirrors)
    assert found.task.goal == "Mend the rate"
    assert found.task.tests == {"test_tax.py": "new\n"}
    assert found.task.test == ("python", "-m", "pytest", "test_tax.py")
    assert found.hosts == ("shell", "no shell")
    found.task.lay_out(tmp_path / "tree")
    assert (tmp_path / "tree" / "tax.py").read_text() == "RATE = 1\n"
    with pytest.raises(TaskError, match="can't be cloned from"):
        clone_missing(["eve/none"], mirrors, str(tmp_path / "origin"))


ORPHAN = """date: d
repeats: 3
primary: tool
harm: 0.2
wanted: 1
repositories: {}
tasks: [{repo: a/b, commit: c, strata: []}]
"""


@pytest.mark.parametrize(("text", "why"), [("date: [", "can't be used"), (ORPHAN, "lists no repository a/b")])
def test_a_registration_that_cannot_be_used_says_why(
    text: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "study.yaml").write_text(text)
    assert main(["study", "--dry-run", "--registered", str(tmp_path / "study.yaml")]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "A study needs a model; name it by --model, or try it without a key by --dry-run."),
        (["--model", "gemini-2.0-flash"], "A study needs a limit; name it in US dollars by --max-cost."),
        (["--hosts", "nobody"], "There is no host nobody; choose of shell, no shell, claude-code, codex."),
    ],
)
def test_what_cannot_be_run_is_told_before_anything_is_cloned(
    more: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "--out", str(tmp_path), "--origin", str(tmp_path / "none"), *more]) == 2
    assert message in capsys.readouterr().err


def test_costs_are_compared_as_ratios_over_repositories_and_solved_as_differences() -> None:
    rows = [
        attempt("a1", Arm.NONE, 1.0),
        attempt("a1", Arm.TOOL, 0.5),
        attempt("b1", Arm.NONE, 4.0, solved=False),
        attempt("b1", Arm.TOOL, 8.0),
    ]
    found = pairs(rows, Arm.TOOL)
    cost = change(found, RATIOS["cost"])
    assert cost.value == pytest.approx(0.0)
    assert cost.low == pytest.approx(-0.5)
    assert cost.high == pytest.approx(1.0)
    assert difference(found).value == 0.5
    assert [pair.is_harmed(0.25) for pair in found] == [False, True]
    lost = pairs([attempt("a1", Arm.NONE, 1.0), attempt("a1", Arm.HOOKS, 0.5, solved=False)], Arm.HOOKS)
    assert lost[0].is_harmed(0.25)


def test_only_repeats_in_which_every_arm_was_tried_count() -> None:
    rows = [
        attempt("a1", Arm.NONE, 1.0),
        attempt("a1", Arm.TOOL, 0.5),
        attempt("a1", Arm.NONE, 3.0, repeat=1),
    ]
    assert whole_blocks(rows) == rows[:2]
    again = [attempt("a1", Arm.NONE, usd, repeat=number) for number, usd in enumerate((1.0, math.e**2))]
    assert spread_of_none(again) == pytest.approx(math.sqrt(2))


def test_more_tasks_and_less_spread_let_a_smaller_change_be_seen() -> None:
    assert least_change(60, 3, 0.5) < least_change(20, 3, 0.5)
    assert least_change(60, 3, 0.3) < least_change(60, 3, 0.5)
    error = math.sqrt((0.15**2 + 2 * 0.5**2 / 3) / 60)
    assert least_change(60, 3, 0.5) == pytest.approx(1 - math.exp(-2.8016 * error), abs=1e-4)


def test_a_report_counts_only_what_was_made_and_names_harmed_tasks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = journal_of(tmp_path)
    for arm, usd in ((Arm.NONE, 1.0), (Arm.BOTH, 2.0), (Arm.TOOL, 0.9), (Arm.HOOKS, 1.0)):
        journal.append(attempt("a1", arm, usd))
    assert main(["study", "--report", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "4 of 960 attempts were made, for $4.90; 4 of them are" in said
    assert "| tool and hooks | 1 | +100.0 % (+100.0 % … +100.0 %)" in said
    assert "Harmed by tool and hooks: a1 (+100%, +0 points)." in said
    assert "Harmed by tool: none." in said


def test_the_power_of_the_study_is_printed_without_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "--power"]) == 0
    assert "| 60 |" in capsys.readouterr().out


def test_a_host_without_a_shell_reads_and_writes_inside_of_its_folder_alone(tmp_path: Path) -> None:
    commit(tmp_path / "shop", {"a.py": "x = 1\ny = 2\n", "deep/b.py": "x = 3\n"})
    act = {name: tool.act for name, tool in file_tools(tmp_path / "shop").items()}
    assert act["list_files"](pattern="*.py") == "a.py\ndeep/b.py"
    assert act["search"](pattern="^x", path="deep") == "deep/b.py:1:x = 3"
    assert act["read_file"](path="a.py", first_line=2) == "y = 2\n"
    assert act["edit_file"](path="a.py", old="x = 1", new="x = 9") == "a.py is edited."
    assert "stands 0 times" in act["edit_file"](path="a.py", old="x = 1", new="")
    assert act["write_file"](path="new/c.py", text="z\n") == "new/c.py is written."
    assert (tmp_path / "shop" / "new" / "c.py").read_text() == "z\n"
    for wrong in ("../out.py", "/etc/passwd", ".git/config"):
        assert "leads out of the repository" in act["read_file"](path=wrong)
    assert "did not work" in act["search"](pattern="(")
