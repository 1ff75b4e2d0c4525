"""README and docs are usable: commands run, flags and links exist."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout
from functools import cache
from itertools import takewhile
from pathlib import Path

import pytest

from benchmarks.__main__ import BENCHMARKS
from repo_map.messages import install_command
from repo_navigator.cli import REPO_MAP, REPO_NAVIGATOR, Command, Program, command_parser
from tests.support import console
from tests.support.trees import write

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
)
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
_PROGRAM = r"repo-navigator|repo-map|python -m benchmarks"
PROGRAMS = {each.name: each for each in (REPO_NAVIGATOR, REPO_MAP, BENCHMARKS)}
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
_NAME = re.compile(r"[a-z]+(?:-[a-z]+)*")


def test_the_tutorials_commands_run(tmp_path: Path) -> None:
    tutorial = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    folder = write(tmp_path / "tree", console.files(tutorial))
    for command, printed in console.entries(tutorial):
        assert bool(console.run(command, folder)) == bool(printed), command


@pytest.mark.parametrize("name", ["docs/tutorial.md", "docs/scripts.md"])
def test_the_name_of_each_file_to_save_is_seen_where_comments_are_not(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    above = re.findall(r"^(.+)\n\n<!-- file: (\S+) -->$", text, re.MULTILINE)
    assert [path for _, path in above] == list(console.files(text))
    assert [path for line, path in above if f"`{path}`" not in line] == []


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
        known = _help(program, *takewhile(_NAME.fullmatch, words[:depth]))
        assert [flag for flag in _FLAG.findall(command) if flag not in known] == [], line


@pytest.mark.parametrize(
    ("program", "command"),
    [(program, each) for program in PROGRAMS.values() for each in program.commands],
    ids=lambda each: each.name,
)
def test_the_examples_of_every_commands_help_are_lines_that_it_takes(
    program: Program, command: Command
) -> None:
    module = command.load()
    parser = command_parser(program, command, module)
    assert module.EXAMPLES
    for example in module.EXAMPLES:
        parser.parse_args(shlex.split(re.split("[<>]", example)[0]))


@cache
def _help(program: str, *action: str) -> str:
    commands = {each.name: each for each in PROGRAMS[program].commands}
    if not action or action[0] not in commands:
        binary, *arguments = program.split()
        words = [Path(sys.executable).with_name(binary), *arguments, *action, "--help"]
        return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    command = commands[action[0]]
    parser = command_parser(PROGRAMS[program], command, command.load())
    printed = io.StringIO()
    with redirect_stdout(printed), pytest.raises(SystemExit):
        parser.parse_args([*action[1:], "--help"])
    return printed.getvalue()


def test_the_makefile_does_not_hold_the_goal_of_its_demo() -> None:
    shown = ["make", "--eval", "goal: ; @printf '%s' \"$$GOAL\"", "goal"]
    environment = {name: value for name, value in os.environ.items() if name not in ("GOAL", "MAKEFLAGS")}
    goal = subprocess.run(shown, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    assert len(goal.split()) > 3
    assert goal not in (ROOT / "Makefile").read_text("utf-8")


def test_an_extra_is_installed_from_where_the_readme_installs_the_product() -> None:
    address = r"git\+https://[\w./-]+"
    (readme,) = set(re.findall(address, (ROOT / "README.md").read_text("utf-8")))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    texts = [(ROOT / name).read_text("utf-8") for name in DOCUMENTS if name.startswith("docs/")]
    named = {extra for text in texts for extra in re.findall(r"install.*'repo-navigator\[(\w+)\]", text)}
    assert {"team", "otel", "openai", "languages"} == named <= set(extras)
    for extra in named:
        assert readme in install_command(extra)
        assert any(install_command(extra) in text for text in texts), extra


def test_the_documents_name_one_number_of_languages_whose_calls_are_resolved() -> None:
    readme, plan = ((ROOT / name).read_text("utf-8") for name in ("README.md", "docs/flight-plan.md"))
    resolved = re.search(r"resolves calls in \[(\w+)\]", readme)
    assert resolved
    assert f"resolved in {resolved[1]} languages" in plan
