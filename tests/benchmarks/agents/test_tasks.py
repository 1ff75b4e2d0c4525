"""The shipped tasks can be solved, and a task file with an error is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.agents.scripted_model import check
from benchmarks.agents.task import Task, TaskError, read_task, read_tasks

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


def test_the_command_lists_tasks_and_tells_of_words_that_fit_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agents", "tasks", "--only", "python-tax"]) == 0
    assert capsys.readouterr().out.startswith("python-tax (fix, Python): The tax on an invoice")
    assert main(["agents", "tasks", "--only", "cobol"]) == 2
    assert "No task begins with cobol" in capsys.readouterr().err
