"""The server as a process on real pipes: both eras, a hand-written client, restarts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

GOAL = "The discount on an apple must never make its price negative"
COMMAND = (sys.executable, "-m", "mcp_server")


def process_in(folder: Path) -> StdioServerParameters:
    return StdioServerParameters(command=COMMAND[0], args=list(COMMAND[1:]), cwd=folder, env=dict(os.environ))


def answer(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


@pytest.mark.anyio
async def test_a_client_flies_a_whole_navigation(shop: Path, era: str) -> None:
    async with Client(process_in(shop), mode=era) as client:
        found = answer(await client.call_tool("navigate", {"goal": GOAL}))
        raised = {"verbosity": [{"pattern": "shop/mail.py", "level": 4}]}
        step = answer(await client.call_tool("step", {"updates": raised}))
        report = answer(await client.call_tool("get_turn_report", {}))
        context = answer(await client.call_tool("get_context", {}))
    assert "def discount" in found["context"]
    assert "you paid" in step["context_delta"]
    assert report["step_number"] == step["turn_report"]["step_number"]
    assert "you paid" in context["context_string"]


@pytest.mark.anyio
async def test_a_killed_and_restarted_server_answers_for_an_earlier_navigation(shop: Path, era: str) -> None:
    async with Client(process_in(shop), mode=era) as client:
        before = answer(await client.call_tool("navigate", {"goal": GOAL}))
    async with Client(process_in(shop), mode=era) as client:
        arguments = {"navigation_id": before["navigation_id"]}
        assert answer(await client.call_tool("get_context", arguments))["context_string"] == before["context"]


@pytest.mark.anyio
async def test_two_processes_on_one_data_folder_do_not_see_each_other(shop: Path) -> None:
    async with Client(process_in(shop)) as one, Client(process_in(shop)) as other:
        mine = answer(await one.call_tool("navigate", {"goal": GOAL}))["navigation_id"]
        refused = await other.call_tool("get_turn_report", {})
        assert refused.is_error
        assert mine not in str(refused.content)


def test_lines_written_by_hand_are_answered_and_stdout_carries_nothing_else(shop: Path) -> None:
    requests = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2024-11-05",
                "capabilities": {},
                "clientInfo": {"name": "hand", "version": "0"},
            },
        },
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": {"name": "navigate", "arguments": {"goal": GOAL}}},
    ]
    process = subprocess.Popen(
        COMMAND, cwd=shop, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for request in requests:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **request}) + "\n")
    process.stdin.flush()
    answers: dict[int, dict[str, Any]] = {}
    while 3 not in answers:
        line = json.loads(process.stdout.readline())
        if "id" in line:
            answers[line["id"]] = line["result"]
    rest, errors = process.communicate(timeout=30)
    assert rest == ""
    assert "Traceback" not in errors
    assert process.returncode == 0
    assert answers[1]["serverInfo"]["name"] == "repo-navigator"
    assert len(answers[2]["tools"]) == 4
    assert "def discount" in answers[3]["content"][0]["text"]


def test_the_example_configuration_starts_the_server(shop: Path) -> None:
    example = json.loads((Path(__file__).parents[2] / "claude_desktop_config.example.json").read_text())
    entry = example["mcpServers"]["repo-navigator"]
    assert entry["command"] == "repo-navigator"
    assert entry["args"] == ["serve"]
    command = [Path(sys.executable).with_name(entry["command"]), *entry["args"]]
    hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    process = subprocess.run(
        command, cwd=shop, input=json.dumps(hello) + "\n", capture_output=True, text=True, check=False
    )
    assert process.returncode == 0
    assert json.loads(process.stdout)["id"] == 1
