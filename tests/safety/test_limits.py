"""Each limit says what it left out or refused, and where it is set."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client
from mcp_types import TextContent

from mcp_server.app import build_server
from mcp_server.settings import Settings, read_settings
from repo_map.drawing import draw_map
from repo_map.flight_plan import FlightPlan
from repo_map.index import build_index
from repo_map.indexing.store import Store
from repo_map.worktree import files
from tests.support.trees import write


def told_of(root: Path) -> str:
    problems = build_index(root, store=Store(None), workers=1).problems
    return "\n".join(f"{problem.path}: {problem.what}" for problem in problems)


def test_a_file_over_the_size_limit_is_listed_by_path_and_told(tmp_path: Path) -> None:
    write(tmp_path, {"big.py": b"x = 1\n" * 260_000, "small.py": "y = 2\n"})
    assert "big.py: 1,560,000 bytes, over the limit of 1,500,000; listed by path only" in told_of(tmp_path)


def test_files_over_the_limit_are_counted_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FILES_LIMIT", 3)
    write(tmp_path, {f"part_{number}.py": "x = 1\n" for number in range(5)})
    assert ": 5 files, over the limit of 3; the first by path were indexed" in told_of(tmp_path)


def test_a_long_line_is_cut_short_in_an_outline(tmp_path: Path) -> None:
    write(tmp_path, {"long.py": f"def long({', '.join(f'argument_{n}' for n in range(400))}): ...\n"})
    index = build_index(tmp_path, store=Store(None), workers=1)
    drawn = draw_map(index, FlightPlan.from_yaml("budget: 9000\nverbosity: [{pattern: '**', level: 2}]"))
    assert max(map(len, drawn.text.split("\n"))) < 300
    assert "…" in drawn.text


@pytest.mark.anyio
async def test_a_caller_who_opens_without_end_is_refused(tmp_path: Path) -> None:
    repository = write(tmp_path / "shop", {"a.py": "def total(): return 1\n"})
    settings = Settings(data_dir=tmp_path / "data", max_navigations=2)
    async with Client(build_server(settings, working_folder=repository)) as client:
        arguments = {"goal": "total", "repo_path": str(repository)}
        for _ in range(2):
            assert not (await client.call_tool("navigate", arguments)).is_error
        refused = await client.call_tool("navigate", arguments)
    assert refused.is_error
    (block,) = refused.content
    assert isinstance(block, TextContent)
    assert block.text.startswith("You have 2 navigations, the most that are kept for one caller;")


def test_the_limits_of_the_server_can_be_set() -> None:
    named = {"REPO_NAVIGATOR_MAX_NAVIGATIONS": "7", "REPO_NAVIGATOR_HTTP_MAX_BODY": "5000"}
    settings = read_settings({"HOME": "/nowhere", **named})
    assert settings.max_navigations == 7
    assert settings.http.max_body_bytes == 5_000
