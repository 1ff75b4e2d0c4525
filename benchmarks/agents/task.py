"""Tasks: what is asked, in which repository, and the tests that decide whether it was done."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

TASKS_FOLDER = Path(__file__).parent / "tasks"
REPOSITORIES_FOLDER = Path(__file__).parents[2] / "tests" / "fixtures" / "repositories"


class TaskError(Exception):
    """A task can't be used; the message says why, and what to do."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Change(_Part):
    """A bug: in ``path``, the text ``right`` was made ``wrong``."""

    path: str
    right: str
    wrong: str


class AgentCheck(_Part):
    """How an ADK agent is tested: what it is asked, and what its answer has to contain."""

    prompt: str
    expect: tuple[str, ...]


class Script(_Part):
    """What the scripted model knows; no other part of the benchmark reads it."""

    stumble: tuple[Change, ...] = ()
    """The first try, which does not help: ``right`` is what it writes."""
    needs: tuple[str, ...] = ()
    """Lines that it has to have read before it can write the agent."""
    code: str = ""
    """The agent that it writes then."""


class Task(_Part):
    """One task; ``kind`` tells whether a bug is to be mended or an ADK agent to be written."""

    id: str
    kind: Literal["fix", "agent"] = "fix"
    language: str
    goal: str
    """What the user asks, in the words of somebody who does not know the code."""
    repository: str
    """A folder of ``tests/fixtures/repositories``."""
    bugs: tuple[Change, ...] = ()
    tests: Mapping[str, str] = {}
    """Files that are laid over the repository and that no candidate may change."""
    test: tuple[str, ...] = ()
    """The command that passes once the task is solved."""
    needs: tuple[str, ...] = ()
    """Programs that the tests need."""
    libraries: tuple[str, ...] = ()
    """Installed Python modules that belong into the index of modules."""
    output: str = "my_agent.py"
    """The file that an agent task asks for."""
    checks: tuple[AgentCheck, ...] = ()
    script: Script = Script()

    @model_validator(mode="after")
    def _is_complete(self) -> Task:
        if self.kind == "fix" and not self.test:
            raise ValueError("a fix needs `test`, the command that decides")
        if self.kind == "agent" and not self.checks:
            raise ValueError("an agent needs `checks`")
        return self

    def missing_programs(self) -> list[str]:
        """Return the programs that the tests need and that this machine lacks."""
        return [program for program in self.needs if shutil.which(program) is None]

    def lay_out(self, folder: Path) -> None:
        """Write the repository as the user has it: with the bug, and with the test that shows it.

        Raises:
            TaskError: the bug does not fit the repository.
        """
        shutil.copytree(REPOSITORIES_FOLDER / self.repository, folder, dirs_exist_ok=True)
        for bug in self.bugs:
            replace_once(folder / bug.path, bug.right, bug.wrong)
        self.lay_tests(folder)

    def lay_tests(self, folder: Path) -> None:
        """Write the tests as they must be, whatever stands there."""
        for path, text in self.tests.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")

    def solve(self, folder: Path) -> None:
        """Write the known solution into a repository that was laid out."""
        for bug in self.bugs:
            replace_once(folder / bug.path, bug.wrong, bug.right)
        if self.kind == "agent":
            (folder / self.output).write_text(self.script.code, encoding="utf-8")


def replace_once(file: Path, old: str, new: str) -> None:
    """Replace the only occurrence of ``old`` in a file.

    Raises:
        TaskError: there is none, or more than one.
    """
    text = file.read_text("utf-8")
    if text.count(old) != 1:
        raise TaskError(f"{file} has {text.count(old)} places that read {old!r}; exactly one is needed.")
    file.write_text(text.replace(old, new), encoding="utf-8")


def read_task(file: Path) -> Task:
    """Read one task from YAML.

    Raises:
        TaskError: the file can't be read or is not well-formed.
    """
    try:
        data: Any = yaml.safe_load(file.read_text("utf-8"))
        return Task.model_validate(data)
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise TaskError(f"The task file {file} can't be used: {error}") from error


def read_tasks(only: Iterable[str] = ()) -> list[Task]:
    """Read the tasks, by id; ``only`` keeps those whose id begins with one of its texts.

    Raises:
        TaskError: none is left, or a file can't be read.
    """
    tasks = sorted(map(read_task, TASKS_FOLDER.glob("*.yaml")), key=lambda task: task.id)
    starts = tuple(only)
    chosen = [task for task in tasks if not starts or task.id.startswith(starts)]
    if not chosen:
        raise TaskError(
            f"No task begins with {', '.join(starts)}; `python -m benchmarks agents tasks` lists them."
        )
    return chosen
