"""The page of what steering understands is made from the parser's table, and its conversation is held."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import Settings
from repo_map.text.tokens import count
from tests.docs.steering_page import BUDGET, GOAL, PAGE, TALK, make, page, talk
from tests.support.maps import HEADER


def test_the_page_is_what_the_table_and_the_conversation_say() -> None:
    assert PAGE.read_text("utf-8") == page(), "python -m tests.docs.steering_page writes it"


@pytest.mark.anyio
async def test_a_question_costs_two_hundred_tokens_at_most_and_changes_no_status() -> None:
    _, said = await talk()
    for each in said:
        if each.words.endswith("?") or each.words.startswith("Nimm"):
            assert each.tokens <= 200, each.words
            assert each.context == ""
            assert each.status == "finished"


@pytest.mark.anyio
async def test_in_twelve_steps_little_more_is_sent_than_is_new(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", cache_dir=tmp_path / "cache")
    sent = new = 0
    async with Client(build_server(settings, working_folder=make(tmp_path / "shop"))) as client:

        async def shown() -> set[tuple[str, str]]:
            """Return the lines of the whole context, each with its file."""
            whole = (await client.call_tool("get_context", {})).structured_content or {}
            lines, path = set(), ""
            for line in whole["context_string"].split("\n"):
                if found := re.fullmatch(rf"{HEADER} (.+?)(?::\d+)?", line):
                    path = found[1]
                if not line.startswith("⋮"):
                    lines.add((path, line))
            return lines

        await client.call_tool("navigate", {"goal": GOAL, "token_budget": BUDGET})
        held = await shown()
        for words in TALK:
            stepped = (await client.call_tool("step", {"feedback": words})).structured_content or {}
            now = await shown()
            sent += count(stepped["context_delta"])
            new += sum(count(f"{line}\n") for _, line in now - held)
            held |= now
    assert new > 100
    assert sent <= 1.3 * new
