"""The shipped tasks are real, a history makes more of them, and what is wrong with one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import agents
from benchmarks.__main__ import main
from benchmarks.agents.checking import check
from benchmarks.agents.factories import create_navigator_workflow_adk_generator
from benchmarks.agents.meter import Meter
from benchmarks.agents.mind import ScriptedMind
from benchmarks.agents.task import Task, TaskError, read_task, read_tasks
from benchmarks.agents.trial import judge
from repo_navigator.flag_parser import FlagParser
from tests.benchmarks.agents.conftest import endpoint_of
from tests.support.providers.gemini import gemini
from tests.support.trees import commit

pytestmark = pytest.mark.slow

TASKS = read_tasks()
ONE_OF_EACH = list({task.language: task for task in TASKS if task.kind == "fix"}.values())
"""`bench agents tasks --check` looks at all of them."""


def test_there_are_fixes_in_several_languages_and_agents_to_write() -> None:
    fixes = [task for task in TASKS if task.kind == "fix"]
    assert len(fixes) >= 12
    assert len({task.language for task in fixes}) >= 4
    assert sum(task.kind == "agent" for task in TASKS) >= 2


@pytest.mark.anyio
@pytest.mark.parametrize("task", ONE_OF_EACH, ids=lambda task: task.language)
async def test_a_fix_is_needed_and_possible(task: Task) -> None:
    if missing := task.missing_programs():
        pytest.skip(f"{', '.join(missing)} is not installed")
    assert await check(task) == (False, True)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_a_request_does_not_name_the_file_to_change(task: Task) -> None:
    named = [bug.path for bug in task.bugs if bug.path in task.goal or Path(bug.path).name in task.goal]
    assert not named


def test_an_unusable_task_file_is_told_with_its_reason(tmp_path: Path) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text("id: broken\nlanguage: Python\ngoal: Mend it.\nrepository: orderdesk\n")
    with pytest.raises(TaskError, match=r"broken\.yaml can't be used: .*\n.*a fix needs `test`"):
        read_task(file)


AREA = """def area(width, height):
    return width {} height


def around(width, height):
    return 2 * (width + height)
"""
TEST = """import unittest
from area import area, around


class AreaTest(unittest.TestCase):
    def test_area(self):
        self.assertEqual(area(3, 4), 12)

    def test_around(self):
        self.assertEqual(around(3, 4), 14)
"""


@pytest.mark.anyio
async def test_a_commit_whose_test_fails_before_it_becomes_a_task_that_the_workflow_solves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = tmp_path / "shapes"
    commit(repo, {"area.py": AREA.format("+"), "tests/__init__.py": ""}, message="Start")
    commit(
        repo,
        {"area.py": AREA.format("*"), "tests/test_area.py": TEST},
        message="Compute areas by multiplying",
    )
    commit(
        repo,
        {"area.py": AREA.format("*") + "\n", "tests/test_area.py": TEST + "\n"},
        message="Add blank lines",
    )
    into = tmp_path / "tasks"
    options = ["mine", str(repo), "--test", "python -m unittest {tests}", "--into", str(into)]
    assert await _mine(options) == 0
    said = capsys.readouterr()
    assert "Compute areas by multiplying" in said.out
    assert "its test passes before it" in said.err
    [task] = read_tasks([into])
    assert task.goal == "Compute areas by multiplying"
    assert [(bug.path, "width * height" in bug.right) for bug in task.bugs] == [("area.py", True)]
    with gemini(ScriptedMind([task])) as server:
        generator = create_navigator_workflow_adk_generator(endpoint_of(server))
        outcome = await generator.generate(task, tmp_path / "scratch", Meter())
        verdict = await judge(task, outcome.solution, tmp_path / "judge", endpoint_of(server))
    assert verdict.solved, (outcome.state, verdict.log)


async def _mine(arguments: list[str]) -> int:
    from benchmarks.agents.mining import mine

    parser = FlagParser()
    agents.add_arguments(parser)
    return await mine(parser.parse_args(arguments))


def test_the_command_lists_tasks_and_tells_of_words_that_fit_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agents", "tasks", "--only", "python-tax"]) == 0
    assert capsys.readouterr().out.startswith("python-tax (fix, Python): The tax on an invoice")
    assert main(["agents", "tasks", "--only", "cobol"]) == 2
    assert "No task begins with cobol" in capsys.readouterr().err
