"""A server that is given one repository after the other holds no more of them than it may."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from mcp import Client

from tests.support.http_server import served

REPOSITORIES = 20


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't tell what a process has mapped")
@pytest.mark.anyio
async def test_a_server_gives_back_the_memory_of_the_repositories_that_had_to_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPO_NAVIGATOR_MAX_MEMORY_MB", "40")
    with served(tmp_path) as (url, server):
        async with Client(url) as client:
            for number in range(REPOSITORIES):
                folder = tmp_path / f"r{number}"
                folder.mkdir()
                (folder / "only.py").write_text(f"def only_here():\n    return {number}\n")
                opened = await client.call_tool("navigate", {"goal": "only_here", "repo_path": str(folder)})
                assert not opened.is_error, opened.content
        assert len(mapped_by(server.pid, tmp_path / "cache/snapshots")) == 1


def mapped_by(process: int, folder: Path) -> set[str]:
    """Return the files below ``folder`` that a process has mapped into its memory."""
    lines = Path(f"/proc/{process}/maps").read_text().splitlines()
    return {line.rpartition("/")[2] for line in lines if f"{folder}/" in line}
