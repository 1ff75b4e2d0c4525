"""The small repository of the server's tests."""

from __future__ import annotations

from tests.mcp_server.conftest import _no_leftovers, shop

__all__ = ["_no_leftovers", "shop"]
