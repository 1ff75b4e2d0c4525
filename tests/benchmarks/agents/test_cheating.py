"""Solutions that leave the bug in and cheat otherwise: none of them solves anything, and honest ones do."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.agents.task import Task
from benchmarks.agents.trial import judge, with_failing_test
from tests.benchmarks.agents.conftest import endpoint_of
from tests.support.providers.gemini import GeminiServer

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

NO_TEST_RUNS = {
    "it ends the process": ("python-tax", "import os\nos._exit(0)\n"),
    "a script's own exit": ("python-tax", "raise SystemExit(0)\n"),
    "it ends well whatever happens": ("python-tax", "import atexit, os\natexit.register(os._exit, 0)\n"),
    "nothing is compared": (
        "python-tax",
        "import unittest\nunittest.TestCase.assertEqual = lambda *_, **__: None\n",
    ),
    "no test runs": ("python-tax", "import unittest\nunittest.TestCase.run = lambda *_, **__: None\n"),
    "the tests are rewritten": (
        "python-tax",
        "import pathlib, unittest\n"
        "for file in pathlib.Path('tests').glob('*.py'):\n    file.write_text('')\n"
        "unittest.TestResult.wasSuccessful = lambda _: True\n",
    ),
    "the shell exits": ("bash-retry-status", "exit 0\n"),
    "the shell's tests are rewritten": (
        "bash-retry-status",
        "for t in tests/test_*.sh tests/check.sh; do echo 'exit 0' > \"$t\"; done\nexit 0\n",
    ),
    "the shell traps its end": ("bash-retry-status", "trap 'exit 0' EXIT\n"),
    "the module ends node": ("javascript-weekday", "process.exit(0);\n"),
    "node's exit code is set": (
        "javascript-weekday",
        "process.on('exit', () => { process.exitCode = 0; process.reallyExit(0); });\n",
    ),
    "the library ends the test": (
        "c-csv-quoted",
        "#include <stdlib.h>\n__attribute__((constructor)) static void end(void) { _Exit(0); }\n",
    ),
}


def buggy(task: Task, folder: Path) -> dict[str, str]:
    """Return the files of a task's bugs as they are with the bug."""
    task.lay_out(folder)
    return {bug.path: (folder / bug.path).read_text() for bug in task.bugs}


@pytest.mark.parametrize("how", NO_TEST_RUNS)
async def test_a_solution_under_which_no_test_can_fail_solves_nothing(
    how: str, tasks: dict[str, Task], server: GeminiServer, tmp_path: Path
) -> None:
    name, cheat = NO_TEST_RUNS[how]
    task = tasks[name]
    if missing := task.missing_programs():
        pytest.skip(f"{', '.join(missing)} is not installed")
    solution = {path: cheat + text for path, text in buggy(task, tmp_path / "as-it-is").items()}
    verdict = await judge(task, solution, tmp_path / "judge", endpoint_of(server))
    assert not verdict.solved


BESIDE = {
    "a hook of pytest": {"conftest.py": "import os\nos._exit(0)\n", "orderdesk/conftest.py": ""},
    "a module that Python starts with": {"usercustomize.py": "import os\nos._exit(0)\n"},
    "a path file": {"evil.pth": "import os; os._exit(0)\n"},
    "a path file in the home folder": {
        "orderdesk/../../home/.local/lib/python3.11/site-packages/evil.pth": "import os; os._exit(0)\n"
    },
    "programs of its own": {"python": "#!/bin/sh\nexit 0\n", "bin/python": "#!/bin/sh\nexit 0\n"},
    "a hook of git": {".git/hooks/post-checkout": "#!/bin/sh\nexit 0\n"},
    "settings of the environment": {".env": "PYTHONSTARTUP=x.py\n", "pyvenv.cfg": "home = .\n"},
    "settings of the runner": {"setup.cfg": "[tool:pytest]\naddopts = --collect-only\n"},
    "an absolute path": {"/tmp/replay-absolute.py": "x = 1\n"},
    "a way out": {"../outside.py": "x = 1\n"},
}


@pytest.mark.parametrize("how", BESIDE)
async def test_files_beside_the_code_solve_nothing_and_leave_nothing_outside(
    how: str, tasks: dict[str, Task], server: GeminiServer, tmp_path: Path
) -> None:
    verdict = await judge(tasks["python-tax"], BESIDE[how], tmp_path / "judge", endpoint_of(server))
    assert not verdict.solved
    outside = [tmp_path / "judge" / "outside.py", tmp_path / "judge" / "room" / "outside.py"]
    assert not any(file.exists() for file in (*outside, Path("/tmp/replay-absolute.py")))
    assert not any((tmp_path / "judge" / "room" / "home").rglob("*.pth"))


async def test_a_link_in_the_repository_leads_no_solution_out_of_it(
    tasks: dict[str, Task], server: GeminiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, outside = tasks["python-tax"], tmp_path / "outside"
    outside.mkdir()
    lay_out = Task.lay_out

    def with_link(self: Task, folder: Path) -> None:
        lay_out(self, folder)
        (folder / "link").symlink_to(outside)

    monkeypatch.setattr(Task, "lay_out", with_link)
    verdict = await judge(task, {"link/file.py": "x = 1\n"}, tmp_path / "judge", endpoint_of(server))
    assert verdict.log == "link/file.py leads out of the repository."
    assert not list(outside.iterdir())


@pytest.mark.parametrize("name", ["python-tax", "bash-retry-status", "javascript-weekday", "c-csv-quoted"])
async def test_the_right_solution_is_no_cheat(
    name: str, tasks: dict[str, Task], server: GeminiServer, tmp_path: Path
) -> None:
    task = tasks[name]
    if missing := task.missing_programs():
        pytest.skip(f"{', '.join(missing)} is not installed")
    paths = list(buggy(task, tmp_path / "solved"))
    task.solve(tmp_path / "solved")
    solution = {path: (tmp_path / "solved" / path).read_text() for path in paths}
    verdict = await judge(task, solution, tmp_path / "judge", endpoint_of(server))
    assert verdict.solved, verdict.log


async def test_a_runner_that_leaves_the_added_test_out_accuses_nobody(
    tasks: dict[str, Task], server: GeminiServer, tmp_path: Path
) -> None:
    task = tasks["python-tax"]
    paths = list(buggy(task, tmp_path / "solved"))
    task.solve(tmp_path / "solved")
    solution = {path: (tmp_path / "solved" / path).read_text() for path in paths}
    chosen = ("python", "-m", "unittest", "tests.test_invoices.TaxTest")
    picky = task.model_copy(update={"test": chosen})
    assert (await judge(picky, solution, tmp_path / "judge", endpoint_of(server))).solved


def test_tests_of_an_unknown_language_get_no_failing_one() -> None:
    assert with_failing_test({"tests/main_test.go": "package main\n"}) == {}
    old = with_failing_test({"t/a.test.js": 'const { test } = require("node:test");\n'})
    assert 'require("node:test").test("must fail"' in old["t/a.test.js"]
