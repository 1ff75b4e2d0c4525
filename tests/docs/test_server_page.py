"""The lists of docs/server.md and the tables of docs/assistant.md against schemas and clients."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mcp_server import report_text
from mcp_server.app import build_server
from mcp_server.settings import Settings
from mcp_server.tools import compact
from repo_navigator.clients.hosts import HOSTS
from tests.support.results import object_of

PAGE = Path(__file__).parents[2] / "docs" / "server.md"
README = Path(__file__).parents[2] / "README.md"
ASSISTANT = Path(__file__).parents[2] / "docs" / "assistant.md"
_TOOL = re.compile(r"^#### `(\w+)`$", re.M)
_ENTRY = re.compile(r"^- (?P<bold>\*\*)?`(?P<field>\w+)`(?:\*\*)? \((?P<types>[a-z ]+)\)", re.M)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_the_page_names_every_argument_and_field_with_its_type(tmp_path: Path) -> None:
    async with Client(build_server(Settings(data_dir=tmp_path))) as client:
        tools = (await client.list_tools()).tools
    assert shown("### Arguments") == {
        row
        for tool in tools
        for row in published(tool.name, tool.input_schema, tool.input_schema.get("required", []))
    }


@pytest.mark.anyio
async def test_the_page_names_every_field_of_an_answer(tmp_path: Path) -> None:
    report = report_text.TurnReportJson.model_json_schema(mode="serialization")
    rows = shown("### Results")
    assert {row for row in rows if row[0] == "get_turn_report"} == {
        *published("get_turn_report", compact(report), report["required"])
    }
    tree = tmp_path / "shop"
    tree.mkdir()
    (tree / "cart.py").write_text("def total(cart):\n    return sum(cart)\n")
    named = {(tool, field) for tool, field, _, _ in rows}
    always = {(tool, field) for tool, field, _, is_bold in rows if is_bold and tool != "get_turn_report"}
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("navigate", {"goal": "the total of a cart", "repo_path": str(tree)}),
        ("step", {"ask": {"callers": "total"}}),
        ("get_context", {}),
        ("get_context", {"cursor": "plan"}),
    )
    async with Client(build_server(Settings(data_dir=tmp_path / "data"))) as client:
        for tool, arguments in calls:
            fields = {(tool, field) for field in object_of(await client.call_tool(tool, arguments))}
            assert {each for each in always if each[0] == tool} <= fields <= named


def test_the_readme_lists_every_host_that_install_knows() -> None:
    (readme,) = re.findall(r"^`install` knows (.*?);$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(re.findall(r"`([a-z-]+)`", readme)) == sorted(HOSTS)


def test_the_assistant_page_names_the_files_and_the_key_of_every_host_that_install_knows() -> None:
    text = ASSISTANT.read_text("utf-8")
    rows = re.findall(r"^\| [^|]+ \| `([a-z-]+)` \| ([^|]+) \| `(\w+)` \|(.*)\|$", text, re.MULTILINE)
    assert {name: (key, shared.strip().strip("`")) for name, _, key, shared in rows} == {
        name: (host.servers, host.project_file) for name, host in HOSTS.items()
    }
    for name, own, _, _ in rows:
        assert own.split("`")[1].endswith(HOSTS[name].file), name


def shown(heading: str) -> set[tuple[str, str, str, bool]]:
    """The entries below a heading: tool, field, types, whether it is in bold."""
    section = re.split(r"\n#{2,3} ", PAGE.read_text(encoding="utf-8").split(f"{heading}\n")[1])[0]
    tools = _TOOL.split(section)[1:]
    return {
        (tool, each["field"], each["types"], bool(each["bold"]))
        for tool, text in zip(tools[::2], tools[1::2], strict=True)
        for each in _ENTRY.finditer(text)
    }


def published(tool: str, schema: dict[str, Any], required: list[str]) -> list[tuple[str, str, str, bool]]:
    """The rows that a schema asks for."""
    return [
        (tool, name, " or ".join(each["type"] for each in field.get("anyOf", [field])), name in required)
        for name, field in schema["properties"].items()
    ]
