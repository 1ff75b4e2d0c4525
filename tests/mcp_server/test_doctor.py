"""``repo-navigator doctor``: what it finds, and that it shows no secret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcp_server.checks import State, folder, host_configurations, keys, packages, vocabularies
from mcp_server.cli import main
from mcp_server.hosts import HOSTS


def test_a_healthy_installation_has_nothing_that_failed(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["doctor", "--json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [finding for finding in findings if finding["state"] == "failed"] == []
    assert code == 0
    assert findings[-1]["name"] == "offline navigation"


def test_a_folder_that_is_a_file_is_told_with_its_variable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    finding = folder("data folder", tmp_path / "file" / "below")
    assert finding.state is State.FAILED
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
    (finding,) = host_configurations(environ)
    assert finding.state is State.FAILED
    assert finding.advice == "run `repo-navigator install cursor` again"


def test_packages_and_tokenizer_are_there() -> None:
    assert packages().state is State.OK
    assert vocabularies().state is State.OK
