"""What README and docs show is run: commands, their output, links, settings."""

from __future__ import annotations

import importlib
import io
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from functools import cache
from itertools import takewhile
from pathlib import Path

import pytest

from benchmarks.__main__ import BENCHMARKS
from repo_navigator.commands import REPO_MAP, REPO_NAVIGATOR, Command
from repo_navigator.terminal import FlagParser
from tests.support import console
from tests.support.trees import write

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
)
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
_PROGRAM = r"repo-navigator|repo-map|python -m benchmarks"
PROGRAMS = {each.name: each for each in (REPO_NAVIGATOR, REPO_MAP, BENCHMARKS)}
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def test_the_tutorial_prints_what_it_shows(tmp_path: Path) -> None:
    tutorial = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    folder = write(tmp_path / "tree", console.files(tutorial))
    for entry in console.entries(tutorial):
        assert console.run(entry.command, folder) == entry.printed, entry.command


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_within_the_documents_leads_somewhere(name: str) -> None:
    document = ROOT / name
    targets = _LINK.findall(document.read_text(encoding="utf-8"))
    assert [target for target in targets if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_flag_in_a_shown_command_exists(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    shown = re.findall(rf"^(?:\$ )?(?:\S+=\S+ )*({_PROGRAM}) (.*)$", text, re.MULTILINE)
    for program, line in shown:
        command = line.split("#")[0].split("|")[0]
        words = command.split()
        depth = 2 if words[0] in ("agents", "repositories") else 1
        known = _help(program, *takewhile(str.isalpha, words[:depth]))
        assert [flag for flag in _FLAG.findall(command) if flag not in known] == [], line


@pytest.mark.parametrize(
    "command",
    [each for program in PROGRAMS.values() for each in program.commands],
    ids=lambda command: command.name,
)
def test_the_example_of_every_commands_help_is_a_line_that_it_takes(command: Command) -> None:
    parser = FlagParser(prog=command.name)
    importlib.import_module(command.module).add_arguments(parser)
    parser.parse_args(shlex.split(command.example.partition("<")[0]))


@cache
def _help(program: str, *action: str) -> str:
    commands = {each.name: each for each in PROGRAMS[program].commands}
    if not action or action[0] not in commands:
        binary, *arguments = program.split()
        words = [Path(sys.executable).with_name(binary), *arguments, *action, "--help"]
        return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    parser = FlagParser(prog=program)
    importlib.import_module(commands[action[0]].module).add_arguments(parser)
    printed = io.StringIO()
    with redirect_stdout(printed), pytest.raises(SystemExit):
        parser.parse_args([*action[1:], "--help"])
    return printed.getvalue()
