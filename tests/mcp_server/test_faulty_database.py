"""A PostgreSQL of the test's own that is stopped, killed and filled: what a client sees, what is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from mcp_server.app import build_server
from mcp_server.settings import Settings
from navigator.storage.addresses import DatabaseAddress
from tests.support.nginx import free_port
from tests.support.results import object_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root mounts a small disk"),
]
TURN = {"goal": "the discount on an apple", "mode": "interactive"}
MEGABYTES = 120


class Cluster:
    """A PostgreSQL server whose tables lie on a small disk, and whose log does not."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self._programs = programs
        self.disk, self._log = folder / "disk", folder / "log"
        self._log.mkdir()
        for part in (folder, self.disk, self._log):
            shutil.chown(part, "postgres")
        self.port = free_port()
        self._data = self.disk / "data"
        self._run("initdb", "-D", self._data, "-X", self._log / "wal", "-A", "trust", "-U", "postgres", "-N")

    @property
    def address(self) -> DatabaseAddress:
        return DatabaseAddress("127.0.0.1", self.port, "postgres", "postgres")

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self._log}"
        self._run("pg_ctl", "-D", self._data, "-w", "-l", self._log / "server.log", "-o", options, "start")

    def stop(self, how: str) -> None:
        self._run("pg_ctl", "-D", self._data, "-w", "-m", how, "stop")

    def fill(self) -> None:
        """Leave no byte of the disk."""
        with (self.disk / "ballast").open("wb", buffering=0) as ballast, suppress(OSError):
            while ballast.write(bytes(65_536)):
                pass

    def free(self) -> None:
        (self.disk / "ballast").unlink()

    def _run(self, program: str, *arguments: object) -> None:
        command = ["runuser", "-u", "postgres", "--", self._programs / program, *map(str, arguments)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={MEGABYTES}m"]
    if subprocess.run(["mount", *options, "tmpfs", folder], capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    pytest.importorskip("asyncpg")
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not programs or shutil.which("runuser") is None:
        pytest.skip("no programs of PostgreSQL in /usr/lib/postgresql")
    # Whoever PostgreSQL runs as must get there, and pytest closes its own folders.
    with TemporaryDirectory() as name, small_disk(Path(name) / "disk"):
        made = Cluster(Path(name), programs[-1].parent)
        try:
            made.start()
            yield made
        finally:
            with suppress(subprocess.CalledProcessError):
                made.stop("immediate")


def told_by(result: CallToolResult) -> str:
    assert result.is_error, result.content
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def test_a_database_that_is_killed_or_full_is_told_and_loses_no_answered_step(
    cluster: Cluster, settings: Settings, shop: Path
) -> None:
    settings = settings.model_copy(update={"store": cluster.address})
    server = build_server(settings, working_folder=shop)
    async with Client(server) as client:
        key = object_of(await client.call_tool("navigate", TURN))["navigation_id"]
        answered = 1

        async def step(budget: int) -> CallToolResult:
            return await client.call_tool("step", {"navigation_id": key, "updates": {"budget": budget}})

        async def known() -> int:
            return int(
                object_of(await client.call_tool("get_turn_report", {"navigation_id": key}))["step_number"]
            )

        for how in ("fast", "immediate"):
            answered = object_of(await step(900 + answered))["turn_report"]["step_number"]
            cluster.stop(how)
            assert told_by(await step(700)).startswith(
                f"The database at {cluster.address} failed (connection refused)"
            )
            cluster.start()
            assert await known() == answered
        cluster.fill()
        # Pages that are there already take a few more steps.
        refused = None
        for budget in range(1_000, 1_400):
            result = await step(budget)
            if result.is_error:
                refused = told_by(result)
                break
            answered = object_of(result)["turn_report"]["step_number"]
        assert refused is not None
        assert refused.startswith(f"The database at {cluster.address} failed (disk full)")
        # What was answered can be read all the same.
        assert await known() == answered
        cluster.free()
        assert object_of(await step(2_000))["turn_report"]["step_number"] == answered + 1
