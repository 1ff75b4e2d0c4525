"""The log tells what keeps a server from taking calls, and when nothing does any more, unasked."""

from __future__ import annotations

import time
from pathlib import Path

import httpx2
import pytest

from tests.mcp_server.test_http import Served

GOOD = "repositories:\n  api:\n    address: https://git.example/api.git\n    readers: ['user:alice']\n"
SECONDS = 60.0


def said_by(served: Served, until: str) -> httpx2.Response:
    """Return what the probe is answered once it is answered ``until``."""
    end = time.monotonic() + SECONDS
    while True:
        answer = httpx2.get(served.url.replace("/mcp", "/readyz"), timeout=SECONDS)
        if answer.json()["status"] == until or time.monotonic() > end:
            return answer


@pytest.mark.slow
def test_a_list_that_cannot_be_used_is_told_by_the_probe_and_in_the_log(shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "repositories.yaml"
    file.write_text(GOOD)
    served = Served(shop, REPO_NAVIGATOR_REPOSITORIES=str(file), REPO_NAVIGATOR_DATA=str(tmp_path / "data"))
    try:
        # What takes long to load is not ready either, and no fault.
        assert said_by(served, "ok").status_code == 200
        file.unlink()
        missing = said_by(served, "not ready")
        assert (missing.status_code, missing.json()) == (503, {"status": "not ready"})
        file.write_text(GOOD)
        assert said_by(served, "ok").status_code == 200
        file.write_text(GOOD.replace("readers", "reader"))
        earlier = said_by(served, "ok, with an earlier list of repositories")
        assert (earlier.status_code, list(earlier.json())) == (200, ["status"])
        file.write_text(GOOD)
        assert said_by(served, "ok").status_code == 200
    finally:
        served.stop()
    told = [line.partition("WARNING mcp_server.readiness: ")[2][:40] for line in served.log.splitlines()]
    assert [line for line in told if line] == [
        "Not ready: There is no file of repositor",
        "Ready again",
        "An earlier list of repositories is used,",
        "Ready again",
    ]
    assert "`repositories.api.reader`" in served.log


@pytest.mark.slow
def test_a_store_that_does_not_answer_is_told_at_the_start_unasked(shop: Path, tmp_path: Path) -> None:
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
