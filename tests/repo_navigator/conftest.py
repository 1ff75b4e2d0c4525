"""The small repository of the server's tests, and a home folder without the commands of clients."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from repo_navigator.clients.hosts import HOSTS
from tests.mcp_server.conftest import _no_leftovers, shop

__all__ = ["_no_leftovers", "shop"]


@pytest.fixture(autouse=True)
def _no_client_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repo_navigator.clients.hosts.find_program", lambda _: None)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a user on Linux, without settings of clients."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("XDG_CONFIG_HOME", *(host.moved_by for host in HOSTS.values() if host.moved_by)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    return tmp_path


@pytest.fixture
def project(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in it, which is the working folder."""
    folder = home / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder
