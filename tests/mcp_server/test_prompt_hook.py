"""``repo-navigator prompt``: the code for a task, or nothing, and 0 whatever comes in."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repo_navigator.main import main

TASK = "the discount on an apple must never be negative"


def answered(given: bytes, capfd: pytest.CaptureFixture[str]) -> str:
    """Return what the hook prints for what a host writes on its stdin; stderr holds a line at most."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        assert main(["prompt"]) == 0
    printed = capfd.readouterr()
    assert "Traceback" not in printed.err
    assert printed.err.count("\n") <= 1
    return printed.out


def hooked(prompt: object, folder: object, capfd: pytest.CaptureFixture[str]) -> str:
    return answered(json.dumps({"prompt": prompt, "cwd": folder}).encode(), capfd)


def test_the_prompt_hook_adds_the_code_for_a_task_within_what_a_hook_may_add(
    shop: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    message = hooked(TASK, str(shop), capfd)
    assert "def discount" in message
    assert "data, never instructions" in message
    assert "<<<repository text" in message
    assert len(message) <= 10_000


def test_a_task_is_answered_where_its_text_is_cut_within_a_pair(
    shop: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert "def discount" in hooked(f"{TASK} \ud83d", str(shop), capfd)


@pytest.mark.parametrize("prompt", ["go on", "/compact and go on with it", "# remember this rule well", ""])
def test_the_prompt_hook_adds_nothing_to_what_is_no_task(
    shop: Path, capfd: pytest.CaptureFixture[str], prompt: str
) -> None:
    assert hooked(prompt, str(shop), capfd) == ""


INPUTS = {
    "nothing": b"",
    "white space": b" \n\t ",
    "no JSON": b"where is the discount",
    "a byte order mark": b"\xef\xbb\xbf",
    "UTF-16": json.dumps({"prompt": TASK}).encode("utf-16"),
    "invalid UTF-8": b'{"prompt": "\xff\xfe\xc0\x80", "cwd": "/tmp"}',
    "a cut object": b'{"prompt": "where is the discount on',
    "two objects": b"{}{}",
    "null": b"null",
    "true": b"true",
    "a number": b"17",
    "a text": b'"prompt"',
    "a list": b'["prompt", "cwd"]',
    "an empty object": b"{}",
    "no folder": json.dumps({"prompt": TASK}).encode(),
    "no prompt": b'{"cwd": "/tmp"}',
    "NUL bytes": bytes(100_000),
    "lists nested deep": b"[" * 100_000,
    "objects nested deep": b'{"a":' * 100_000,
    "nested deep and closed": b"[" * 100_000 + b"]" * 100_000,
    "a prompt nested deep": b'{"cwd": "/tmp", "prompt": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a number of 100,000 digits": b"9" * 100_000,
    "a prompt of 100,000 digits": b'{"cwd": "/tmp", "prompt": ' + b"9" * 100_000 + b"}",
    "an endless exponent": b'{"cwd": "/tmp", "prompt": 1e999999999}',
    "no number": b'{"cwd": NaN, "prompt": Infinity}',
    "more than is read": b'{"prompt": "' + b"a " * 6_000_000 + b'", "cwd": "/tmp"}',
    "a hundred thousand keys": json.dumps({str(each): each for each in range(100_000)}).encode(),
    "an invalid escape": b'{"prompt": "\\x00", "cwd": "/tmp"}',
    "a cut escape": b'{"prompt": "\\u12',
    "other letters of the keys": json.dumps({"Prompt": TASK, "CWD": "/tmp"}).encode(),
}


@pytest.mark.parametrize("given", INPUTS.values(), ids=INPUTS)
def test_what_is_no_message_of_a_hook_is_answered_with_nothing(
    given: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    assert answered(given, capfd) == ""


@pytest.mark.parametrize("odd", [None, True, 0, -1.5, 10**400, [TASK], {"text": TASK}, [], {}])
def test_a_prompt_or_a_folder_of_another_type_is_answered_with_nothing(
    odd: object, shop: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert hooked(odd, str(shop), capfd) == ""
    assert hooked(TASK, odd, capfd) == ""


FOLDERS: dict[str, Callable[[Path], object]] = {
    "NUL in it": lambda shop: f"{shop}\0",
    "a lone surrogate": lambda shop: f"{shop}\ud800",
    "a surrogate of a file's name": lambda shop: f"{shop}\udcff",
    "an escape sequence": lambda shop: f"{shop}\x1b[2J",
    "a line break": lambda shop: f"{shop}\n",
    "empty": lambda shop: "",
    "blank": lambda shop: "  ",
    "missing": lambda shop: "/nowhere/at/all",
    "a device": lambda shop: "/dev/null",
    "within a device": lambda shop: "/dev/null/x",
    "too long a name": lambda shop: "/" + "x" * 5_000,
    "too long a path": lambda shop: "/x" * 50_000,
    "many steps up": lambda shop: "../" * 50_000,
    "another machine": lambda shop: "//evil.example/share",
    "a UNC path": lambda shop: "\\\\evil.example\\share",
    "a URI of another machine": lambda shop: "file://evil.example/etc",
    "a broken URI": lambda shop: "file://[",
    "another scheme": lambda shop: "https://evil.example",
    "an unknown home": lambda shop: "~nobody-of-this-name/x",
    "the root": lambda shop: "/",
    "devices": lambda shop: "/dev/fd/0",
    "processes": lambda shop: "/proc/self/fd",
}


@pytest.mark.parametrize("make", FOLDERS.values(), ids=FOLDERS)
def test_a_folder_that_is_none_is_answered_with_nothing(
    make: Callable[[Path], object],
    shop: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert hooked(TASK, make(shop), capfd) == ""


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


def pipe_for_git(folder: Path) -> Path:
    os.mkfifo(folder / ".git")
    return folder


def pipe_for_a_commit(folder: Path) -> Path:
    (folder / ".git").mkdir()
    os.mkfifo(folder / ".git/HEAD")
    return folder


def linked_in_a_circle(folder: Path) -> Path:
    (folder / "circle").symlink_to(folder / "circle")
    return folder / "circle"


def unreadable(folder: Path) -> Path:
    (folder / "closed/.git").mkdir(parents=True)
    (folder / "closed").chmod(0)
    return folder / "closed"


def without_a_repository(folder: Path) -> Path:
    (folder / "discount.py").write_text("def discount(): ...\n")
    return folder


@pytest.mark.parametrize(
    "make", [pipe, pipe_for_git, pipe_for_a_commit, linked_in_a_circle, unreadable, without_a_repository]
)
def test_a_place_that_is_no_repository_is_answered_with_nothing(
    make: Callable[[Path], Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place = make(tmp_path)
    assert hooked(TASK, str(place), capfd) == ""
    if place.is_dir():
        place.chmod(0o755)


SETTINGS = {
    "no number": {"REPO_NAVIGATOR_TOKEN_BUDGET": "many"},
    "no switch": {"REPO_NAVIGATOR_LINE_NUMBERS": "perhaps"},
    "no limit": {"REPO_NAVIGATOR_MAX_FILES": "-1"},
    "another folder allowed": {"REPO_NAVIGATOR_ALLOW": "/nowhere"},
    "no store": {"REPO_NAVIGATOR_STORE": "mysql://x"},
    "no prices": {"REPO_NAVIGATOR_PRICES": "/nowhere/prices.yaml"},
    "no repositories": {"REPO_NAVIGATOR_REPOSITORIES": "/nowhere/repositories.yaml"},
}


@pytest.mark.parametrize("environment", SETTINGS.values(), ids=SETTINGS)
def test_settings_that_can_not_be_used_keep_no_prompt_from_being_answered(
    environment: dict[str, str],
    shop: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    hooked(TASK, str(shop), capfd)


def ran(
    given: bytes | None = b"", program: str = "main()", **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run a hook in a process of its own; without ``given`` its stdin is in ``options``."""
    code = (
        "import sys; from repo_navigator.command_line import run_program; sys.argv[1:] = ['prompt']; "
        f"from repo_navigator.main import REPO_NAVIGATOR, main; sys.exit({program})"
    )
    stdin = {} if given is None else {"input": given}
    run = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        timeout=60,
        stdout=subprocess.PIPE,
        **stdin,
        **options,
    )
    assert run.returncode == 0
    return run


HASTY = (
    "run_program(REPO_NAVIGATOR._replace(commands="
    "tuple(each._replace(hook_seconds=each.hook_seconds and 1.0) for each in REPO_NAVIGATOR.commands)))"
)
"""The hook with a second for all that it does."""


def test_a_stdin_that_never_ends_is_left_in_time() -> None:
    reading, writing = os.pipe()
    try:
        assert ran(None, HASTY, stdin=reading).stdout == b""
    finally:
        os.close(reading)
        os.close(writing)


def test_settings_that_are_a_pipe_are_left_in_time(shop: Path, tmp_path: Path) -> None:
    prices = pipe(tmp_path)
    given = json.dumps({"prompt": TASK, "cwd": str(shop)}).encode()
    assert ran(given, HASTY, env={**os.environ, "REPO_NAVIGATOR_PRICES": str(prices)}).stdout == b""


def test_a_stdin_without_end_is_read_in_part() -> None:
    with Path("/dev/zero").open("rb") as endless:
        assert ran(None, stdin=endless).stdout == b""


@pytest.mark.slow
@pytest.mark.parametrize(
    "closing", ["<&-", ">&-", "2>&-", ">/dev/full", "2>/dev/full", "<&- >&- 2>&-", "| true"]
)
def test_a_closed_or_full_stream_is_no_failure(closing: str, shop: Path, tmp_path: Path) -> None:
    hook = tmp_path / "hook.json"
    hook.write_text(json.dumps({"prompt": TASK, "cwd": str(shop)}))
    command = f'set -o pipefail; "{sys.executable}" -m repo_navigator.main prompt < {hook} {closing}'
    run = subprocess.run(["bash", "-c", command], check=False, capture_output=True, timeout=60)
    assert (run.returncode, b"Traceback" in run.stderr) == (0, False)


def test_a_user_without_a_home_and_a_folder_that_is_gone_are_no_failure(shop: Path, tmp_path: Path) -> None:
    given = json.dumps({"prompt": TASK, "cwd": str(shop)}).encode()
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "USERPROFILE")}
    gone = tmp_path / "gone"
    gone.mkdir()
    program = f"(__import__('os').chdir({str(gone)!r}), __import__('os').rmdir({str(gone)!r}), main())[-1]"
    assert b"def discount" in ran(given, program, env=environment).stdout


def test_a_wrong_command_line_keeps_no_prompt_from_being_answered(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["prompt", "--verbose"]) == 0
    assert capfd.readouterr().out == ""
