"""The small repository of the server's tests, on a machine without the commands of clients."""

from __future__ import annotations

import pytest

from tests.mcp_server.conftest import _no_leftovers, shop

__all__ = ["_no_leftovers", "shop"]


@pytest.fixture(autouse=True)
def _no_client_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repo_navigator.clients.hosts.find_program", lambda _: None)
