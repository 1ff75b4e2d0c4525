"""``repo-navigator install HOST --hooks``: each host's own file, and the same settings after ``--undo``."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from repo_navigator.clients.entries import is_our_hook
from repo_navigator.clients.hosts import HOOK_HOSTS
from repo_navigator.main import main

COMMENTED = """\
{
  // mine
  "model": "opus",
  "hooks": {
    "PostToolUse": [
      {
        "matcher": "Edit",
        "hooks": [{ "type": "command", "command": "fmt" }]
      }
    ]
  },
}
"""
BEFORE = {
    "missing": None,
    "one line": '{"theme": "x", "mcpServers": {}}\n',
    "no hooks": '{\n  "a": 1\n}\n',
    "another's": '{"hooks": {"PostToolUse": [{"matcher": "X", "hooks": [{"command": "x"}]}]}}\n',
    "comments and last commas": COMMENTED,
    "tabs": '{\n\t"hooks": {\n\t\t"SessionStart": [\n\t\t\t{"hooks": []}\n\t\t]\n\t}\n}\n',
    "windows": '{\r\n  "a": [1],\r\n  "hooks": {"PostToolUse": [{"matcher": "X"}]}\r\n}\r\n',
}


SCOPES = ("user", "project")


def file_of(name: str, home: Path) -> Path:
    return HOOK_HOSTS[name].path({"HOME": str(home)}, "linux", hooks=True)


def settings_in(text: str) -> object:
    return json.loads(re.sub(r"// mine|,(?=\s*\}\s*\Z)", "", text))


@pytest.mark.parametrize(
    ("name", "kind", "scope"),
    [
        *((name, kind, "user") for name in ("claude-code", "copilot-cli") for kind in BEFORE),
        *((name, kind, scope) for name in HOOK_HOSTS for kind in ("missing", "tabs") for scope in SCOPES),
    ],
)
def test_undoing_gives_the_same_settings_back(name: str, kind: str, *, scope: str, project: Path) -> None:
    before = BEFORE[kind]
    hooks = HOOK_HOSTS[name].hooks
    assert hooks is not None
    home = project.parent
    file = file_of(name, home) if scope == "user" else project / hooks.project_file
    file.parent.mkdir(parents=True)
    if before is not None:
        file.write_bytes(before.encode())
    install = ["install", name, "--hooks", "--scope", scope]
    assert main(install) == 0
    added = file.read_bytes()
    if scope == "project":
        assert b'"repo-navigator hook tool"' in added
        assert str(home).encode() not in added
    assert main(install) == 0
    assert file.read_bytes() == added
    assert main([*install, "--undo"]) == 0
    assert (settings_in(file.read_text()) if file.exists() else None) == (before and settings_in(before))
    assert before is None or before.count("//") == file.read_text().count("//")
    # An empty folder goes too, as `install all` would take it for an installed client.
    assert file.parent.exists() == file.exists()


@pytest.mark.parametrize("name", HOOK_HOSTS)
def test_every_event_of_a_host_is_listed_once_beside_what_was_there(name: str, home: Path) -> None:
    file = file_of(name, home)
    file.parent.mkdir(parents=True)
    hooks = HOOK_HOSTS[name].hooks
    assert hooks is not None
    event = hooks.events[-1][0]
    mine = {"matcher": "Mine", "hooks": [{"type": "command", "command": "mine"}]}
    file.write_text(json.dumps({"mine": 1, "hooks": {event: [mine]}}))
    assert main(["install", name, "--hooks"]) == 0
    written = json.loads(file.read_text())
    assert written["mine"] == 1
    assert mine in written["hooks"][event]
    for host_event, _, _ in hooks.events:
        assert sum(map(is_our_hook, written["hooks"][host_event])) == 1


def test_what_was_changed_since_stays_when_hooks_are_taken_out(home: Path) -> None:
    file = file_of("claude-code", home)
    file.parent.mkdir(parents=True)
    file.write_text(COMMENTED)
    assert main(["install", "claude-code", "--hooks"]) == 0
    file.write_text(file.read_text().replace('"opus"', '"haiku"'))
    assert main(["install", "claude-code", "--hooks", "--undo"]) == 0
    assert settings_in(file.read_text()) == settings_in(COMMENTED.replace('"opus"', '"haiku"'))


def test_the_server_and_the_hooks_of_one_file_come_and_go_by_themselves(home: Path) -> None:
    file = file_of("gemini-cli", home)
    file.parent.mkdir(parents=True)
    file.write_text('{\n  "theme": "x"\n}\n')
    for arguments in ([], ["--hooks"], ["--undo"], ["--hooks", "--undo"]):
        assert main(["install", "gemini-cli", *arguments]) == 0
    assert json.loads(file.read_text()) == {"theme": "x"}


def test_the_command_that_a_host_is_given_answers(home: Path) -> None:
    commands = set()
    for name in HOOK_HOSTS:
        assert main(["install", name, "--hooks"]) == 0
        lists = json.loads(file_of(name, home).read_text())["hooks"]
        groups = [group for listed in lists.values() for group in listed]
        commands |= {entry["command"] for group in groups for entry in group.get("hooks", [group])}
    for command in commands:
        run = subprocess.run(shlex.split(command), check=False, input=b"{}", capture_output=True, timeout=60)
        assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


BAD = {
    "lists": '{"hooks": []}',
    "no list": '{"hooks": {"PostToolUse": {}}}',
    "broken": '{"hooks": ',
    "no object": "[]",
    "deep": '{"hooks": ' + "[" * 100_000,
}


@pytest.mark.parametrize("before", BAD.values(), ids=BAD)
def test_a_file_of_another_shape_is_left_alone(
    before: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = file_of("claude-code", home)
    file.parent.mkdir(parents=True)
    file.write_text(before)
    assert main(["install", "claude-code", "--hooks"]) == 1
    assert "not changed" in capsys.readouterr().err
    assert file.read_text() == before


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["zed", "--hooks"], "`zed` has no hooks"),
        (["claude-code", "--hooks", "--allow", "/tmp"], "--allow is"),
    ],
)
def test_what_a_host_does_not_have_is_refused(
    arguments: list[str], why: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", *arguments]) == 2
    assert why in capsys.readouterr().err
