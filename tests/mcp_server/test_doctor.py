"""``repo-navigator doctor``: what it finds, and that it shows no secret."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from repo_navigator.clients.hosts import HOSTS
from repo_navigator.commands.doctor import (
    FindingState,
    folder,
    host_configurations,
    keys,
    packages,
    vocabularies,
)
from repo_navigator.main import main
from tests.support.team_stores import own_schema, url_of


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", *(host.moved_by for host in HOSTS.values() if host.moved_by)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("repo_navigator.clients.client_commands.find_program", lambda _: None)
    return tmp_path


def test_a_healthy_installation_has_nothing_that_failed(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["doctor", "--json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [finding for finding in findings if finding["state"] == "failed"] == []
    assert code == 0
    assert findings[-1]["name"] == "offline navigation"


def test_a_folder_that_is_a_file_is_told_with_its_variable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    finding = folder("data folder", tmp_path / "file" / "below")
    assert finding.state is FindingState.FAILED
    assert "REPO_NAVIGATOR_DATA" in finding.advice


def test_keys_are_named_and_never_shown() -> None:
    finding = keys({"GOOGLE_API_KEY": "very-secret"})
    assert "GOOGLE_API_KEY" in finding.detail
    assert "very-secret" not in finding.detail


def test_a_host_whose_command_is_gone_is_told_how_to_mend_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    environ = {"HOME": str(tmp_path)}
    path = HOSTS["cursor"].path(environ, "linux")
    path.parent.mkdir()
    path.write_text(json.dumps({"mcpServers": {"repo-navigator": {"command": "/gone/python"}}}))
    (finding,) = host_configurations(environ, tmp_path)
    assert finding.state is FindingState.FAILED
    assert finding.advice == "run `repo-navigator install cursor` again"


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"command": sys.executable, "args": ["-m", "mcp_server"]}, "`python -m` imports from the folder"),
        (
            {"command": "./run/repo-navigator", "args": ["serve"]},
            "is looked for in the folder that is opened",
        ),
        ({"command": "uv", "args": ["run", "repo-navigator"]}, "uv takes its settings from the folder"),
    ],
)
def test_an_entry_that_runs_what_lies_in_the_opened_folder_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any], why: str
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    environ = {"HOME": str(tmp_path / "home")}
    mine = HOSTS["zed"].path(environ, "linux")
    shared = tmp_path / "project" / ".vscode" / "mcp.json"
    for path, servers in ((mine, "context_servers"), (shared, "servers")):
        path.parent.mkdir(parents=True)
        path.write_text(f'{{ // mine\n "{servers}": {{"repo-navigator": {json.dumps(entry)},}},}}')
    message = list(host_configurations(environ, tmp_path / "project"))
    assert [(each.name, each.state) for each in message] == [
        ("VS Code, this project", FindingState.FAILED),
        ("Zed", FindingState.FAILED),
    ]
    assert all(why in each.detail for each in message)
    assert [each.advice for each in message] == [
        "run `repo-navigator install --scope project vscode` again",
        "run `repo-navigator install zed` again",
    ]


def test_what_install_writes_is_safe_and_there(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", *HOSTS]) == 0
    assert main(["install", "--scope", "project", "codex", "vscode"]) == 0
    scripts = str(Path(sys.executable).parent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", scripts)
        message = list(host_configurations({"HOME": str(home)}, home / "project"))
    assert [each for each in message if each.state is not FindingState.OK] == []
    assert len(message) == len(HOSTS) + 2


def test_packages_and_tokenizer_are_there() -> None:
    assert packages().state is FindingState.OK
    assert vocabularies().state is FindingState.OK


def test_the_settings_of_a_team_are_checked(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REPO_NAVIGATOR_DATA", str(home / "data"))
    assert main(["doctor"]) == 0
    assert "✓ team stores: " in capsys.readouterr().out
    file = home / "repositories.yaml"
    file.write_text("- name: api\n  path: /srv/api\n  reader: []\n")
    monkeypatch.setenv("REPO_NAVIGATOR_REPOSITORIES", str(file))
    monkeypatch.setenv("REPO_NAVIGATOR_ALLOW", str(home / "nowhere"))
    monkeypatch.setenv("REPO_NAVIGATOR_HTTP_ISSUER", "https://idp.example")
    monkeypatch.setenv("REPO_NAVIGATOR_HTTP_RESOURCE", "https://navigator.example/mcp")
    monkeypatch.setenv("REPO_NAVIGATOR_HTTP_JWKS", "https://idp.example/keys")
    assert main(["doctor", "--json"]) == 1
    states = {each["name"]: each["state"] for each in json.loads(capsys.readouterr().out)["findings"]}
    wanted = {"repositories": "failed", "allowed folders": "failed", "identity provider": "ok"}
    assert {name: states[name] for name in wanted} == wanted
    file.write_text("- name: api\n  path: /srv/api\n")
    monkeypatch.setenv("REPO_NAVIGATOR_ALLOW", str(home))
    assert main(["doctor"]) == 0


def test_the_doctor_makes_no_tables(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REPO_NAVIGATOR_DATA", str(home / "data"))
    with own_schema() as address:
        monkeypatch.setenv("REPO_NAVIGATOR_STORE", url_of(address))
        for _ in range(2):
            assert main(["doctor"]) == 0
            told = capsys.readouterr().out
            assert f"· team stores: {address}; the database has no tables yet" in told
        for store, said in {
            url_of(replace(address, database="nowhere")): "failed (no such database)",
            f"{url_of(address)}&ssl=require": "it has no TLS, which `ssl` in the address asks for",
        }.items():
            monkeypatch.setenv("REPO_NAVIGATOR_STORE", store)
            assert main(["doctor"]) == 1
            assert said in capsys.readouterr().out
