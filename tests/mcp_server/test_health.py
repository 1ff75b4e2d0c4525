"""The readiness probe, and what the log says of it."""

from __future__ import annotations

import time
from pathlib import Path

import httpx2
import pytest

from tests.mcp_server.test_http import Served

SECONDS = 60.0


def said_by(served: Served, until: str) -> httpx2.Response:
    """Return what the probe is answered once it is answered ``until``."""
    end = time.monotonic() + SECONDS
    while True:
        answer = httpx2.get(served.url.replace("/mcp", "/readyz"), timeout=SECONDS)
        if answer.json()["status"] == until or time.monotonic() > end:
            return answer


@pytest.mark.slow
def test_readiness_names_a_store_that_does_not_answer_in_the_log(shop: Path, tmp_path: Path) -> None:
    pytest.importorskip("asyncpg")
    served = Served(
        shop,
        REPO_NAVIGATOR_STORE="postgresql://nobody@127.0.0.1:1/none",
        REPO_NAVIGATOR_DATA=str(tmp_path / "data"),
    )
    probe = said_by(served, "not ready")
    served.stop()
    assert probe.status_code == 503
    assert "Not ready: The database at 127.0.0.1:1/none failed (connection refused)" in served.log
