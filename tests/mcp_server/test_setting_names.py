"""A variable that begins like a setting and is none is refused or told, never dropped in silence."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from mcp_server import setting_names
from mcp_server.setting_names import KNOWN, REMOVED_SETTINGS, unknown_settings
from mcp_server.settings import read_settings
from repo_navigator.main import main

ROOT = Path(__file__).parents[2]
READ_ELSEWHERE = {"REPO_NAVIGATOR_LENDERS", "REPO_NAVIGATOR_HTTP_USER_CLAIM"}
"""By what opens a git repository, and beside an identity provider alone."""


class _Recorded(Mapping[str, str]):
    def __init__(self) -> None:
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def test_the_names_are_those_that_are_read_and_those_of_the_page() -> None:
    asked = _Recorded()
    read_settings(asked)
    assert {name for name in asked.names if name.startswith("REPO_NAVIGATOR_")} | READ_ELSEWHERE == KNOWN
    page = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(REPO_NAVIGATOR_\w+)` \|", page, re.MULTILINE)) == KNOWN


def test_the_nearest_name_is_told() -> None:
    (told,) = unknown_settings(["REPO_NAVIGATOR_TOKEN", "PATH", "REPO_NAVIGATOR_DATA"])
    assert "REPO_NAVIGATOR_TOKENS" in told
    (told,) = unknown_settings(["REPO_NAVIGATOR_XYZZY"])
    assert "docs/server.md" in told


def test_a_server_refuses_it_the_doctor_tells_it_and_others_warn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("REPO_NAVIGATOR_TOKEN", "hunter2-0123456789")
    (said,) = unknown_settings(["REPO_NAVIGATOR_TOKEN"])
    for arguments in (["serve"], ["serve", "--http", "127.0.0.1:0"]):
        assert main(arguments) == 2
        assert said in capsys.readouterr().err
    assert main(["doctor"]) == 1
    assert f"✗ settings: {said}" in capsys.readouterr().out
    monkeypatch.setenv("REPO_NAVIGATOR_DATA", str(tmp_path))
    assert main(["forget", "nav-none"]) == 2
    out, err = capsys.readouterr()
    assert err.splitlines()[0].startswith(f"repo-navigator: {said}")
    assert "hunter2" not in out + err


def test_removed_settings_are_no_settings() -> None:
    assert not REMOVED_SETTINGS & KNOWN


def test_removed_settings_get_one_warning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    removed = {f"REPO_NAVIGATOR_REMOVED_{number}" for number in range(12)}
    monkeypatch.setattr(setting_names, "REMOVED_SETTINGS", frozenset(removed))
    for name in removed:
        monkeypatch.setenv(name, "hunter2-0123456789")
    monkeypatch.setenv("REPO_NAVIGATOR_DATA", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        runs = (["serve", "--http", f"127.0.0.1:{taken.getsockname()[1]}"], ["forget", "--older-than", "30"])
        for arguments in runs:
            main(arguments)
            err = capsys.readouterr().err
            assert [len(re.findall(rf"\b{name}\b", err)) for name in removed] == [1] * len(removed)
            assert "hunter2" not in err
    assert main(["doctor", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [each["state"] for each in findings if each["name"] == "settings"] == ["note"]
