"""The one ladder of both command lines: each exception's exit code, and its one line on stderr."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_navigator.cli import REPO_MAP, REPO_NAVIGATOR, Command, Program, run_program
from tests.support.trees import write

FAILING = """
from navigator.errors import *
from repo_map.errors import *

def add_arguments(parser):
    parser.add_argument("--steps", dest="max_steps")
    parser.add_argument("what")

def run(options, settings=None):
    raise eval(options.what)
"""
PROGRAMS = [REPO_NAVIGATOR, REPO_MAP]
DATA = ", or set REPO_NAVIGATOR_DATA to another folder"


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """A command that raises what it is told to."""
    write(tmp_path, {"made_up_command.py": FAILING})
    monkeypatch.syspath_prepend(tmp_path)
    return Command("fail", "fail", "made_up_command")


def ended(
    program: Program, command: Command, error: str, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    code = run_program(program._replace(commands=(command,)), ["fail", error])
    out, err = capsys.readouterr()
    assert out == ""
    return code, err.removeprefix(f"{program.name}: ")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("InvalidRequestError('This is wrong; mend it.')", (2, "This is wrong; mend it.")),
        ("FlightPlanError('A plan\\nof two lines.')", (2, "A plan of two lines.")),
        ("RepositoryNotFoundError('There is none.')", (3, "There is none.")),
        ("ModelFailedError('It is asleep.')", (4, "It is asleep.")),
        ("KeyboardInterrupt()", (5, "cancelled")),
        ("InvalidArgumentError('max_steps', 'is 0; give 1.')", (2, "--steps is 0; give 1.")),
        (
            "InvalidArgumentError('model', 'out: none is needed.', 'Leave ')",
            (2, "Leave `model` out: none is needed."),
        ),
    ],
)
def test_an_error_for_users_is_one_line_and_its_code(
    program: Program,
    failing: Command,
    error: str,
    expected: tuple[int, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, line = expected
    assert ended(program, failing, error, capsys) == (code, f"{line}\n")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_an_unexpected_error_says_what_and_how_to_see_where(
    program: Program, failing: Command, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REPO_MAP_DEBUG", raising=False)
    for error in ("ValueError('odd')", "ExceptionGroup('many', [ValueError('odd'), TypeError()])"):
        code, err = ended(program, failing, error, capsys)
        assert code == 1
        assert err.startswith(f"failed unexpectedly (ValueError: odd); {program.debugging} shows where, ")
        assert err.count("\n") == 1


def test_repo_map_raises_what_is_unexpected_where_it_is_asked_to(
    failing: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPO_MAP_DEBUG", "yes")
    with pytest.raises(ValueError, match="odd"):
        run_program(REPO_MAP._replace(commands=(failing,)), ["fail", "ValueError('odd')"])


@pytest.mark.parametrize(("program", "advice"), [(REPO_NAVIGATOR, DATA), (REPO_MAP, "")])
def test_a_disk_that_fails_is_told_with_what_would_help_this_command(
    program: Program, advice: str, failing: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    code, err = ended(program, failing, "PermissionError(13, 'Permission denied', 'x.yaml')", capsys)
    assert code == 2
    what = "Could not read or write `x.yaml`: Permission denied"
    assert err == f"{what}; check its permissions and free space{advice}.\n"
