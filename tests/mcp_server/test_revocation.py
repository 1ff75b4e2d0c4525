"""A principal that is revoked is turned away from its next call on, whoever gave it its token."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from mcp_server.app import build_server
from mcp_server.http import http_app
from mcp_server.settings import HttpSettings, Settings
from tests.mcp_server.test_http import ALICE, BOB

pytestmark = pytest.mark.anyio


async def test_who_is_revoked_is_turned_away_from_the_next_call_on(tmp_path: Path) -> None:
    file = tmp_path / "repositories.yaml"
    http = HttpSettings(tokens={ALICE: "alice", BOB: "bob"})
    settings = Settings(repositories=file, data_dir=tmp_path / "data", http=http)
    transport = httpx2.ASGITransport(app=http_app(build_server(settings), http))  # type: ignore[arg-type]

    async def admitted() -> list[bool]:
        """Tell who gets past the door; the path behind it is none."""
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            answers = [
                await client.get("/nothing", headers={"authorization": f"Bearer {token}"})
                for token in (ALICE, BOB)
            ]
        assert {each.status_code for each in answers} <= {401, 404}
        return [each.status_code == 404 for each in answers]

    assert await admitted() == [True, True]
    file.write_text("revoked: [alice]\n")
    assert await admitted() == [False, True]
    # A slip of the pen gives nobody his right back.
    file.write_text("revoked: [\n")
    assert await admitted() == [False, True]
    file.write_text("revoked: [bob]\n")
    assert await admitted() == [True, False]
    # Nor does a file that is gone, or was never read.
    file.unlink()
    assert await admitted() == [True, False]
    file.mkdir()
    transport = httpx2.ASGITransport(app=http_app(build_server(settings), http))  # type: ignore[arg-type]
    assert await admitted() == [False, False]
