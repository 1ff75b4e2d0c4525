"""Adding the server to an assistant's configuration, and taking it out again."""

from __future__ import annotations

import json
import os
import stat
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.startup import HELLO, started
from repo_navigator.clients.entries import unsafe
from repo_navigator.clients.hosts import ENTRY, HOSTS, Host
from repo_navigator.main import main
from tests.support.hostile import TRAPS, make_place

PROJECT_HOSTS = sorted(name for name, host in HOSTS.items() if host.project_file)
COMMENTED = """\
// Mine.
{
  "theme": "dark", // not light
  /* my servers */
  "%s": {
    // the first
    "other": { "command": "x", "args": ["a", "b",], },
  },
  "inputs": [1, 2,],
}
"""
COMMENTED_TOML = """\
# Mine.
model = "best"  # not the cheap one

[mcp_servers.other]
command = "x"
args = [
  "a",  # the first
]

# Projects that I trust.
[projects."/home/me/[x]"]
trust_level = "trusted"
"""


def configuration(home: Path, host: str) -> Path:
    return HOSTS[host].path({"HOME": str(home)}, "linux")


def commented(host: Host) -> str:
    return COMMENTED_TOML if host.file.endswith(".toml") else COMMENTED % host.servers


def entry_in(host: Host, path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    data = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    entry: dict[str, Any] = data[host.servers][ENTRY]
    return entry


def planted(home: Path, host: str, text: str) -> Path:
    path = configuration(home, host)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    return path


@pytest.mark.parametrize("name", sorted(HOSTS))
def test_a_host_without_a_configuration_gets_one_that_starts_this_server(home: Path, name: str) -> None:
    assert main(["install", name]) == 0
    entry = entry_in(HOSTS[name], configuration(home, name))
    assert entry["command"] == sys.executable
    assert entry["args"] == ["-I", "-m", "mcp_server"]
    assert main(["install", name, "--undo"]) == 0
    assert not configuration(home, name).exists()


@pytest.mark.parametrize("name", PROJECT_HOSTS)
def test_an_entry_that_a_project_shares_names_no_path_of_this_machine(project: Path, name: str) -> None:
    assert main(["install", "--scope", "project", name]) == 0
    path = project / HOSTS[name].project_file
    entry = entry_in(HOSTS[name], path)
    assert (entry["command"], entry["args"]) == ("repo-navigator", ["serve"])
    assert entry["env"] == {"PYTHONPATH": ""}
    assert [file.name for file in path.parent.iterdir() if file.name.startswith(path.name)] == [path.name]
    assert main(["install", "--scope", "project", name, "--undo"]) == 0
    assert not path.exists()


@pytest.mark.slow
def test_a_server_started_from_any_entry_runs_nothing_of_a_hostile_folder(project: Path) -> None:
    entries = []
    for name, host in HOSTS.items():
        assert main(["install", name]) == 0
        entries.append(entry_in(host, configuration(project.parent, name)))
        if host.project_file:
            assert main(["install", "--scope", "project", name]) == 0
            entries.append(entry_in(host, project / host.project_file))
    assert [entry for entry in entries if unsafe(entry)] == []
    launches = {json.dumps([each["command"], each["args"], each.get("env", {})]) for each in entries}
    assert len(launches) == 2, "one by this interpreter, one by PATH"
    (project.parent / "trap").mkdir()
    place = make_place(project.parent / "trap")
    next(trap for trap in TRAPS if trap.name == "shadows").plant(place)
    place.ran.unlink(missing_ok=True)
    for command, args, env in map(json.loads, launches):
        assert "src/app.py" in navigated_in(place.root, [command, *args], env)
        assert not place.ran.exists(), f"{command}: {place.ran.read_text()}"


def navigated_in(folder: Path, command: list[str], env: Mapping[str, str]) -> str:
    """Start a server in ``folder`` as a host does, and return what ``navigate`` answers."""
    scripts = str(Path(sys.executable).parent)
    # A host's PATH may name the working folder, after the folder in which it finds the program.
    path = os.pathsep.join((scripts, "", ".", os.environ["PATH"]))
    environ = {**os.environ, "PATH": path, "PYTHONPATH": f"{os.pathsep}.", **env}
    with started(command, environ, folder) as server:
        server.ask("initialize", **HELLO)
        server.ask("tools/list")
        return json.dumps(server.call("navigate", goal="start the app", token_budget=2000))


@pytest.mark.parametrize(
    "entry",
    [
        {"command": sys.executable, "args": ["-m", "mcp_server"]},
        {"command": ".venv/bin/repo-navigator", "args": ["serve"]},
        {"command": "uv", "args": ["run", "repo-navigator", "serve"]},
        {"command": "repo-navigator", "args": ["serve"], "env": {"PYTHONPATH": ":/home/me/lib"}},
    ],
)
def test_an_entry_that_runs_what_lies_in_the_folder_is_renewed_and_not_brought_back(
    home: Path, entry: dict[str, Any]
) -> None:
    assert unsafe(entry)
    path = planted(home, "cursor", json.dumps({"mcpServers": {ENTRY: {**entry, "disabled": True}}}, indent=2))
    assert main(["install", "cursor"]) == 0
    renewed = entry_in(HOSTS["cursor"], path)
    assert not unsafe(renewed)
    assert renewed["disabled"] is True
    assert main(["install", "cursor", "--undo"]) == 0
    assert "repo-navigator" not in (path.read_text() if path.exists() else "")


@pytest.mark.parametrize(("ending", "scope"), [("\n", "user"), ("\r\n", "project")])
@pytest.mark.parametrize("name", sorted(HOSTS))
def test_comments_and_order_stay_and_undo_gives_the_same_bytes(
    project: Path, name: str, ending: str, scope: str
) -> None:
    host = HOSTS[name]
    if scope == "project" and not host.project_file:
        return
    text = ("\ufeff" if ending == "\r\n" else "") + commented(host).replace("\n", ending)
    path = project / host.project_file if scope == "project" else configuration(project.parent, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    assert main(["install", name, "--scope", scope]) == 0
    installed = path.read_bytes().decode()
    added = [line for line in installed.split(ending) if line not in text.split(ending)]
    assert [line for line in text.split(ending) if line not in installed.split(ending)] == []
    assert any(ENTRY in line for line in added)
    assert main(["install", name, "--scope", scope, "--undo"]) == 0
    assert path.read_bytes() == text.encode()


@pytest.mark.parametrize("name", sorted(HOSTS))
def test_undo_keeps_what_was_edited_elsewhere_in_between(home: Path, name: str) -> None:
    text = commented(HOSTS[name])
    path = planted(home, name, text)
    assert main(["install", name]) == 0
    path.write_text(path.read_text().replace("Mine.", "All mine."))
    assert main(["install", name, "--undo"]) == 0
    assert path.read_text() == text.replace("Mine.", "All mine.")


@pytest.mark.parametrize(
    "text",
    [
        "// nothing yet\n{\n}\n",
        "{ // mine\n}\n",
        '{"a": 1}',
        '{"mcpServers": {"other": {"command": "x"}}}',
        '{\n\t"mcpServers": {\n\t\t"other": {}\n\t}\n}',
        '{"mcpServers": {"a": {}, // last\n}, "b": "// no comment, }"}',
        '{"mcpServers": {"a": "\\"}"}, "mcpServers": {"c": {}}}',
    ],
)
def test_every_way_to_write_a_configuration_is_kept_to_the_byte(home: Path, text: str) -> None:
    path = planted(home, "cursor", text)
    assert main(["install", "cursor"]) == 0
    installed = path.read_bytes()
    assert ENTRY.encode() in installed
    assert main(["install", "cursor"]) == 0
    assert path.read_bytes() == installed
    assert main(["install", "cursor", "--undo"]) == 0
    assert path.read_bytes() == text.encode()


def test_a_file_that_is_written_anew_keeps_its_permissions(home: Path) -> None:
    path = planted(home, "claude-code", '{"oauth": "secret"}')
    path.chmod(0o600)
    assert main(["install", "claude-code"]) == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_dry_run_shows_the_change_and_writes_nothing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", "claude-desktop", "--dry-run"]) == 0
    assert '+    "repo-navigator": {' in capsys.readouterr().out
    assert not configuration(home, "claude-desktop").exists()


def test_installing_again_keeps_the_allow_list_of_the_first_time(home: Path) -> None:
    main(["install", "cursor", "--allow", str(home)])
    main(["install", "cursor"])
    entry = entry_in(HOSTS["cursor"], configuration(home, "cursor"))
    assert entry["env"] == {"REPO_NAVIGATOR_ALLOW": str(home.resolve())}


@pytest.mark.parametrize("name", ["codex", "vscode"])
def test_an_entry_of_our_name_that_starts_another_program_is_left_alone(home: Path, name: str) -> None:
    host = HOSTS[name]
    mine = {"json": f'{{"{host.servers}": {{"{ENTRY}": {{"command": "mine"}}}}, "x": 1}}'}
    text = mine.get(host.file.rpartition(".")[2], f'[{host.servers}.{ENTRY}]\ncommand = "mine"\n\n[x]\n')
    path = planted(home, name, text)
    assert main(["install", name]) == 1
    assert main(["install", name, "--undo"]) == 0
    assert path.read_text() == text


@pytest.mark.parametrize(
    "text",
    [
        '{"mcpServers": {"a": }',
        "[1, 2]",
        "null",
        '{"mcpServers": []}',
        '{"mcpServers": null}',
        '{"a": ' * 100_000,
    ],
)
def test_one_broken_configuration_is_told_left_alone_and_stops_no_other(
    home: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    path = planted(home, "cursor", text)
    assert main(["install", "cursor", "zed"]) == 1
    message = capsys.readouterr()
    assert message.err.startswith("repo-navigator: Cursor: ")
    assert message.err.count("\n") == 1
    assert message.out.startswith("Zed: ")
    assert configuration(home, "zed").exists()
    assert main(["install", "cursor", "--undo"]) == 1
    assert path.read_text() == text


def test_a_configuration_in_another_encoding_or_read_only_is_left_alone(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = configuration(home, "cursor")
    odd.parent.mkdir()
    odd.write_bytes('{"ä": 1}'.encode("utf-16"))
    closed = planted(home, "gemini-cli", "{}")
    closed.chmod(0o444)
    pipe = configuration(home, "windsurf")
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    assert main(["install", "cursor", "gemini-cli", "windsurf", "--json"]) == 1
    errors = [host["error"] for host in json.loads(capsys.readouterr().out)["hosts"]]
    assert [error["code"] for error in errors] == ["unusable_configuration"] * 3
    for error, reason in zip(errors, ("UTF-8", "read-only", "not a file"), strict=True):
        assert reason in error["message"]
    assert closed.read_text() == "{}"


def test_all_means_the_assistants_that_are_there(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "all"]) == 2
    err = capsys.readouterr().err
    assert all(name in err for name in HOSTS)
    (home / ".claude").mkdir()
    (home / ".codex").mkdir()
    assert main(["install", "all"]) == 0
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["Claude Code", "Codex"]


def test_all_of_a_project_means_the_assistants_that_it_has_settings_for(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".vscode").mkdir()
    (project / ".mcp.json").write_text("{}")
    assert main(["install", "all", "--scope", "project"]) == 0
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["Claude Code", "VS Code"]


def test_a_projects_link_that_leads_out_of_it_is_not_written_through(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = project.parent / "profile.json"
    outside.write_text("{}")
    (project / ".mcp.json").symlink_to(outside)
    (project / ".cursor").symlink_to(project.parent)
    assert main(["install", "claude-code", "cursor", "--scope", "project"]) == 1
    assert capsys.readouterr().err.count("profile.json") == 1
    assert outside.read_text() == "{}"


@pytest.mark.parametrize("arguments", [["windsurf"], ["cursor", "--allow", "."]])
def test_what_a_project_can_not_share_is_not_written(project: Path, arguments: list[str]) -> None:
    assert main(["install", "--scope", "project", *arguments]) == 2
    assert [file.name for file in project.iterdir()] == [".git"]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_symlinked_configuration_stays_a_symlink(home: Path, is_there: bool) -> None:
    path, real = configuration(home, "cursor"), home / "dotfiles" / "mcp.json"
    path.parent.mkdir(parents=True)
    real.parent.mkdir()
    if is_there:
        real.write_text("{}")
    path.symlink_to(real)
    assert main(["install", "cursor"]) == 0
    assert path.is_symlink()
    assert "repo-navigator" in real.read_text()
    assert main(["install", "cursor", "--undo"]) == 0
    assert path.is_symlink()
    assert not real.exists()


def test_json_tells_what_was_changed_where_and_nothing_else(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = planted(home, "cursor", "{}")
    message = {}
    for name, *flags in (("shown", "--dry-run"), ("added",), ("again",), ("removed", "--undo")):
        assert main(["install", "cursor", "--json", *flags]) == 0
        (message[name],) = json.loads(capsys.readouterr().out)["hosts"]
    assert [host["changed"] for host in message.values()] == [False, True, False, True]
    assert [bool(host["diff"]) for host in message.values()] == [True, True, False, True]
    assert {host["path"] for host in message.values()} == {str(path)}
    assert {host["error"] for host in message.values()} == {None}


CLIENT = """\
#!{python}
import json, pathlib, sys
words = sys.argv[1:]
with pathlib.Path({log!r}).open("a") as log:
    log.write(json.dumps(words) + "\\n")
file = pathlib.Path({file!r})
servers = {{}}
if words[1] == "add-json":
    servers = {{words[-2]: json.loads(words[-1])}}
    del servers[words[-2]]["alwaysLoad"]
file.write_text(json.dumps({{"mcpServers": servers}}))
"""


def test_a_clients_own_command_adds_and_removes_the_server_and_what_it_leaves_out_is_added(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, log, program = configuration(home, "claude-code"), home / "log", home / "claude"
    program.write_text(CLIENT.format(python=sys.executable, log=str(log), file=str(path)))
    program.chmod(0o755)
    find = "repo_navigator.clients.hosts.find_program"
    monkeypatch.setattr(find, lambda name: str(program) if name == "claude" else None)
    assert main(["install", "claude-code", "--dry-run"]) == 0
    assert "claude mcp add-json" in capsys.readouterr().out
    assert not log.exists()
    assert main(["install", "claude-code", "--json"]) == 0
    (outcome,) = json.loads(capsys.readouterr().out)["hosts"]
    assert outcome["changed"]
    assert outcome["command"][1:4] == ["mcp", "add-json", "--scope"]
    assert entry_in(HOSTS["claude-code"], path)["alwaysLoad"] is True
    assert main(["install", "claude-code"]) == 0
    assert main(["install", "claude-code", "--undo"]) == 0
    assert not path.exists()
    assert [json.loads(line)[1] for line in log.read_text().splitlines()] == ["add-json"]
    program.write_text("#!/bin/sh\nexit 1\n")
    assert main(["install", "claude-code"]) == 0
    assert entry_in(HOSTS["claude-code"], path)["command"] == sys.executable
