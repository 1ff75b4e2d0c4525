"""Forks servers that die where they are told to: at their n-th write, or whenever somebody kills them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import sqlite3
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

from mcp import Client

from mcp_server import loading
from mcp_server.app import build_server
from mcp_server.settings import Settings
from navigator.service import Navigator
from navigator.settings import NavigatorSettings

STEPS = 4
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class WritePoints:
    """Counts writes to disk, and ends the process at one of them as the power would."""

    def __init__(self, kill_at: int) -> None:
        self.passed = 0
        self._kill_at = kill_at

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Audit hook: a file is opened for writing, moved, made or removed."""
        if event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate"):
            self.point(event)
        elif event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES:
            self.point("open")

    def point(self, name: str) -> None:
        self.passed += 1
        if self.passed == self._kill_at:
            os.write(1, f"dies {name}\n".encode())
            os.kill(os.getpid(), signal.SIGKILL)


def watched(points: WritePoints) -> type[sqlite3.Connection]:
    """Return a connection that passes a write point before each change, and around each commit."""

    class Watched(sqlite3.Connection):
        def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
            if not sql.lstrip().upper().startswith(("SELECT", "PRAGMA")):
                points.point("sqlite.execute")
            return super().execute(sql, *rest)

        def commit(self) -> None:
            points.point("sqlite.before_commit")
            super().commit()
            points.point("sqlite.after_commit")

    return Watched


async def fly(folder: Path, repository: Path, models_url: str, known: str) -> None:
    """Open a navigation or go on with a known one, and say what each answer said."""
    settings = Settings(data_dir=folder / "data", cache_dir=None, max_cost_usd=50.0)

    def load(_: Settings) -> Navigator:
        return Navigator(
            NavigatorSettings(
                data_dir=folder / "data",
                use_cache=False,
                workers=1,
                model="gemini-2.0-flash",
                model_urls={"gemini": models_url},
                retries=0,
            )
        )

    loading_before, loading.load_navigator = loading.load_navigator, load
    server = build_server(settings, working_folder=repository)
    server.navigations._load = load
    loading.load_navigator = loading_before
    async with Client(server) as client:
        for number in range(STEPS):
            arguments: dict[str, Any] = {
                "goal": "add up the total",
                "mode": "interactive",
                "repo_path": str(repository),
            }
            if known:
                updates = {"verbosity": [{"pattern": "src/part_1.py", "level": 1 + number % 4}]}
                arguments = {"navigation_id": known, **({"updates": updates} if number % 2 else {})}
            answer = await client.call_tool("step" if known else "navigate", arguments)
            if answer.is_error:
                print("refused", json.dumps(str(answer.content))[:300], file=sys.stderr, flush=True)
                return
            assert answer.structured_content is not None
            report = answer.structured_content["turn_report"]
            known = answer.structured_content["navigation_id"]
            await say(server.navigations, known, report)


async def say(navigations: Any, navigation_id: str, report: dict[str, Any]) -> None:
    navigator = await navigations.navigator()
    whole = await navigator.report(navigation_id, step=report["step_number"])
    text = await navigator.map_text(navigation_id, version=whole.map_version)
    spent: Decimal = whole.total_cost
    digest = hashlib.sha256(text.encode()).hexdigest()
    os.write(1, f"ack {navigation_id} {whole.step_number} {digest} {spent}\n".encode())


def serve_one(arguments: list[str], known: str, kill_at: int) -> None:
    """Be the server of one run; never returns."""
    folder, repository, models_url = arguments
    points = WritePoints(kill_at)
    connection = watched(points)
    connect = sqlite3.connect
    sqlite3.connect = lambda *a, **k: connect(*a, **{"factory": connection, **k})  # type: ignore[assignment]
    sys.addaudithook(points.hear)
    asyncio.run(fly(Path(folder), Path(repository), models_url, known))
    os.write(1, f"dies end {points.passed}\n".encode())
    os._exit(0)


def warm(repository: Path) -> None:
    """Import and build what every server needs, so that no fork pays for it."""
    import google.adk.models.google_llm
    import google.genai  # noqa: F401

    import navigator.adk.hangar  # noqa: F401
    from repo_map import tokens
    from repo_map.drawing import draw_map
    from repo_map.flight_plan import FlightPlan
    from repo_map.index import build_index
    from repo_map.indexing.store import Store

    tokens.count("")
    draw_map(build_index(repository, store=Store(None), workers=1), FlightPlan())


def main() -> None:
    """Fork one server for each line on standard input, and say how it ended."""
    warm(Path(sys.argv[2]))
    for line in sys.stdin:
        known, kill_at = json.loads(line)
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            os.dup2(writer, 1)
            try:
                serve_one(sys.argv[1:4], known, kill_at)
            finally:
                os._exit(1)
        os.close(writer)
        print("started", child, flush=True)
        where = "any moment"
        with os.fdopen(reader) as said:
            for told in said:
                if told.startswith("dies "):
                    where = told.removeprefix("dies ").strip()
                elif told.endswith("\n"):
                    print(told, end="", flush=True)
        os.waitpid(child, 0)
        print("ended", where, flush=True)


if __name__ == "__main__":
    main()
