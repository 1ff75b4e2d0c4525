"""What is typed after ``make`` stays text."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOSTILE = "the `touch ran` call fails; $(touch ran) $(shell touch ran) $$HOME \"'\\ \n& touch ran"
NAMES = ("GOAL", "REPO", "TOKENS")
SETTINGS = {*NAMES, "PYTHON", "VENV", "MODELS", "CONFORMANCE"}
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile with an installation whose commands print what they are called with."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    for name in ("repo-navigator", "python"):
        script = tmp_path / ".venv/bin" / name
        script.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
        script.chmod(0o755)
    (tmp_path / ".venv/.installed").touch()
    return tmp_path


def make(folder: Path, *arguments: str, **variables: str) -> str:
    # A `make test` with variables of its own hands them on in the environment.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environ = {name: value for name, value in environ.items() if name not in SETTINGS} | variables
    done = subprocess.run(
        ["make", "--silent", *arguments], cwd=folder, env=environ, capture_output=True, text=True, check=True
    )
    return done.stdout


@needs_make
def test_a_goal_with_backticks_dollars_and_quotes_is_handed_on_as_it_is(checkout: Path) -> None:
    wanted = ["navigate", HOSTILE, "--goal", HOSTILE, "--tokens", HOSTILE]
    assert json.loads(make(checkout, "demo", *(f"{name}={HOSTILE}" for name in NAMES))) == wanted
    assert json.loads(make(checkout, "demo", **dict.fromkeys(NAMES, HOSTILE))) == wanted
    assert json.loads(make(checkout, "bench-agents", f"MODELS={HOSTILE}"))[5] == HOSTILE
    message = json.loads(make(checkout, "conformance", f"CONFORMANCE={HOSTILE}"))
    assert message == ["-m", "tests.conformance", *HOSTILE.split()]
    assert not (checkout / "ran").exists()


@needs_make
def test_the_interpreter_is_named_and_no_command_line(checkout: Path) -> None:
    (checkout / ".venv/.installed").unlink()
    with pytest.raises(subprocess.CalledProcessError):
        make(checkout, "demo", f"PYTHON={HOSTILE}")
    assert not (checkout / "ran").exists()


@needs_make
def test_help_tells_every_target(checkout: Path) -> None:
    written = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", written, re.MULTILINE)
    targets = re.findall(r"^([a-z][a-z-]*):", written, re.MULTILINE)
    assert sorted(phony.split()) == sorted(targets)
    message = dict(line.split(": ", 1) for line in make(checkout, "help").splitlines())
    assert sorted(message) == sorted(targets)
    assert all(len(words.split()) >= 3 for words in message.values())
    assert make(checkout) == make(checkout, "help")
