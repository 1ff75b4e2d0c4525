"""Adding the server to an assistant's configuration, and taking it out again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from mcp_server.cli import main
from mcp_server.hosts import HOSTS, backup_of
from repo_map.cli import main as repo_map_main


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    return tmp_path


def configuration(home: Path, host: str) -> Path:
    return HOSTS[host].path({"HOME": str(home)}, "linux")


@pytest.mark.parametrize("host", sorted(HOSTS))
def test_a_host_without_a_configuration_gets_one_that_starts_this_server(home: Path, host: str) -> None:
    assert main(["install", host]) == 0
    written = json.loads(configuration(home, host).read_text())
    entry = written[HOSTS[host].servers]["repo-navigator"]
    assert entry["command"] == sys.executable
    assert entry["args"] == ["-m", "mcp_server"]


def test_everything_else_in_the_file_stays_as_it_was(home: Path) -> None:
    path = configuration(home, "cursor")
    path.parent.mkdir(parents=True)
    before = {"theme": "grün", "mcpServers": {"other": {"command": "x"}}}
    path.write_text(json.dumps(before))
    assert main(["install", "cursor"]) == 0
    after = json.loads(path.read_text())
    assert after["mcpServers"].pop("repo-navigator")
    assert after == before
    assert json.loads(backup_of(path).read_text()) == before


def test_a_dry_run_shows_the_change_and_writes_nothing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", "claude-desktop", "--dry-run"]) == 0
    assert '+    "repo-navigator": {' in capsys.readouterr().out
    assert not configuration(home, "claude-desktop").exists()


def test_installing_again_keeps_the_allow_list_of_the_first_time(home: Path) -> None:
    main(["install", "cursor", "--allow", str(home)])
    main(["install", "cursor"])
    entry = json.loads(configuration(home, "cursor").read_text())["mcpServers"]["repo-navigator"]
    assert entry["env"] == {"REPO_NAVIGATOR_ALLOW": str(home.resolve())}


def test_undo_takes_out_our_entry_alone(home: Path) -> None:
    path = configuration(home, "vscode")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"servers": {"other": {"command": "x"}}, "inputs": []}))
    main(["install", "vscode"])
    changed_since = json.loads(path.read_text()) | {"inputs": ["later"]}
    path.write_text(json.dumps(changed_since))
    assert main(["install", "vscode", "--undo"]) == 0
    assert json.loads(path.read_text()) == {"servers": {"other": {"command": "x"}}, "inputs": ["later"]}
    assert not backup_of(path).exists()


def test_undo_puts_back_the_entry_that_was_there_before(home: Path) -> None:
    path = configuration(home, "cursor")
    path.parent.mkdir(parents=True)
    earlier = {"mcpServers": {"repo-navigator": {"command": "mine"}}}
    path.write_text(json.dumps(earlier))
    main(["install", "cursor"])
    main(["install", "cursor", "--undo"])
    assert json.loads(path.read_text()) == earlier


def test_undo_removes_a_file_that_only_we_needed(home: Path) -> None:
    main(["install", "cursor"])
    main(["install", "cursor", "--undo"])
    assert not configuration(home, "cursor").exists()


def test_installing_twice_changes_nothing_more(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["install", "cursor"])
    capsys.readouterr()
    assert main(["install", "cursor"]) == 0
    assert "nothing to change" in capsys.readouterr().out


def test_a_file_with_comments_is_left_alone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = configuration(home, "vscode")
    path.parent.mkdir(parents=True)
    path.write_text('{ // mine\n "servers": {} }')
    assert main(["install", "vscode"]) == 2
    assert "was left alone; mend it, or add this by hand" in capsys.readouterr().err
    assert "// mine" in path.read_text()


def test_no_host_is_changed_when_one_of_them_cannot_be(home: Path) -> None:
    path = configuration(home, "vscode")
    path.parent.mkdir(parents=True)
    path.write_text("broken")
    assert main(["install", "cursor", "vscode"]) == 2
    assert not configuration(home, "cursor").exists()


def test_a_symlinked_configuration_stays_a_symlink(home: Path) -> None:
    path, real = configuration(home, "cursor"), home / "dotfiles.json"
    path.parent.mkdir(parents=True)
    real.write_text("{}")
    path.symlink_to(real)
    assert main(["install", "cursor"]) == 0
    assert path.is_symlink()
    assert "repo-navigator" in real.read_text()


def test_allowed_folders_travel_in_the_environment(home: Path, tmp_path: Path) -> None:
    main(["install", "cursor", "--allow", str(tmp_path)])
    entry = json.loads(configuration(home, "cursor").read_text())["mcpServers"]["repo-navigator"]
    assert entry["env"] == {"REPO_NAVIGATOR_ALLOW": str(tmp_path)}


def test_json_tells_what_was_changed_where_and_nothing_else(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = configuration(home, "cursor")
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    told = {}
    for name, *flags in (("shown", "--dry-run"), ("added",), ("again",), ("removed", "--undo")):
        assert main(["install", "cursor", "--json", *flags]) == 0
        (told[name],) = json.loads(capsys.readouterr().out)["hosts"]
    assert [host["changed"] for host in told.values()] == [False, True, False, True]
    assert [bool(host["diff"]) for host in told.values()] == [True, True, False, True]
    assert told["added"]["backup"] == str(backup_of(path))
    assert {host["path"] for host in told.values()} == {str(path)}


def test_every_command_that_ends_offers_json(capsys: pytest.CaptureFixture[str]) -> None:
    benches = (
        ["localize"],
        ["concurrency"],
        *(["agents", name] for name in ("run", "report", "tasks", "mine")),
    )
    commands = [(main, ["bench", *words]) for words in benches]
    commands += [(main, [name]) for name in ("navigate", "replay", "install", "doctor")]
    commands += [(repo_map_main, [name]) for name in ("generate", "costs", "watch")]
    for run, words in commands:
        with pytest.raises(SystemExit):
            run([*words, "--help"])
        assert "--json" in capsys.readouterr().out, words
