"""``repo-navigator doctor``: what it finds, and that it shows no secret."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from repo_navigator.clients.hosts import HOSTS
from repo_navigator.main import main
from tests.support.team_stores import own_schema, url_of

pytestmark = pytest.mark.usefixtures("project")


def examined(capsys: pytest.CaptureFixture[str], code: int = 0) -> dict[str, dict[str, str]]:
    """Return the findings of ``doctor --json`` by name."""
    capsys.readouterr()
    assert main(["doctor", "--json"]) == code
    return {each["name"]: each for each in json.loads(capsys.readouterr().out)["findings"]}


def test_a_healthy_installation_has_nothing_that_failed_and_shows_no_key(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "very-secret")
    findings = examined(capsys)
    assert {each["state"] for each in findings.values()} <= {"ok", "note"}
    assert list(findings)[-1] == "offline navigation"
    assert "GOOGLE_API_KEY" in findings["keys"]["detail"]
    assert "very-secret" not in str(findings)


ENTRIES = {
    "/gone/python": {"command": "/gone/python"},
    "imports from the folder": {"command": sys.executable, "args": ["-m", "mcp_server"]},
    "looked for in the folder": {"command": "./run/repo-navigator", "args": ["serve"]},
    "settings from the folder": {"command": "uv", "args": ["run", "repo-navigator"]},
}


def test_folders_and_entries_that_can_not_be_used_are_told_with_a_way_to_mend_them(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "file").touch()
    monkeypatch.setenv("REPO_NAVIGATOR_DATA", str(home / "file" / "below"))
    hosts = ("cursor", "windsurf", "zed", "vscode")
    for name, (why, entry) in zip(hosts, ENTRIES.items(), strict=True):
        host = HOSTS[name]
        path = home / "project" / ".vscode" / "mcp.json"
        if name != "vscode":
            path = host.path({"HOME": str(home)}, "linux")
        path.parent.mkdir(parents=True)
        path.write_text(f'{{ // {why}\n "{host.servers}": {{"repo-navigator": {json.dumps(entry)},}},}}')
    findings = examined(capsys, code=1)
    assert "REPO_NAVIGATOR_DATA" in findings["data folder"]["advice"]
    for name, why in zip(hosts, ENTRIES, strict=True):
        finding = findings[HOSTS[name].title + (", this project" if name == "vscode" else "")]
        assert finding["state"] == "failed"
        assert why in finding["detail"]
        assert finding["advice"].endswith(f"{name}` again")


def test_what_install_writes_is_safe_and_there(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", *HOSTS]) == 0
    assert main(["install", "--scope", "project", "codex", "vscode"]) == 0
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    findings = examined(capsys)
    titles = [*(host.title for host in HOSTS.values()), "Codex, this project", "VS Code, this project"]
    assert {findings[title]["state"] for title in titles} == {"ok"}


def test_the_settings_of_a_team_are_checked(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REPO_NAVIGATOR_DATA", str(home / "data"))
    assert main(["doctor"]) == 0
    assert "✓ team stores: " in capsys.readouterr().out
    file = home / "repositories.yaml"
    file.write_text("- name: api\n  path: /srv/api\n  reader: []\n")
    monkeypatch.setenv("REPO_NAVIGATOR_REPOSITORIES", str(file))
    monkeypatch.setenv("REPO_NAVIGATOR_HTTP_ISSUER", "https://idp.example")
    monkeypatch.setenv("REPO_NAVIGATOR_HTTP_RESOURCE", "https://navigator.example/mcp")
    monkeypatch.setenv("REPO_NAVIGATOR_HTTP_JWKS", "https://idp.example/keys")
    states = {name: each["state"] for name, each in examined(capsys, code=1).items()}
    wanted = {"repositories": "failed", "identity provider": "ok"}
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
