"""The tables of docs/server.md and docs/assistant.md against schemas and clients."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from pydantic import BaseModel

from mcp_server import wire
from mcp_server.app import build_server
from mcp_server.settings import Settings
from mcp_server.tools import compact
from repo_navigator.clients.hosts import HOSTS

PAGE = Path(__file__).parents[2] / "docs" / "server.md"
README = Path(__file__).parents[2] / "README.md"
ASSISTANT = Path(__file__).parents[2] / "docs" / "assistant.md"
_ROW = re.compile(
    r"^\| `(?P<tool>\w+)` \| (?P<bold>\*\*)?`(?P<field>\w+)`(?:\*\*)? \| (?P<types>[^|]+) \| ", re.M
)


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
    assert shown("### Results") == {
        row
        for tool in tools
        for row in published(tool.name, compact(answered(tool.name)), answered(tool.name)["required"])
    }


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
    """The rows below a heading: tool, field, types, whether it is in bold."""
    section = PAGE.read_text(encoding="utf-8").split(f"{heading}\n")[1].split("\n##")[0]
    rows = _ROW.finditer(section)
    return {(row["tool"], row["field"], row["types"], bool(row["bold"])) for row in rows}


def answered(tool: str) -> dict[str, Any]:
    """The schema of the object in a tool's answers."""
    shapes: dict[str, type[BaseModel]] = {
        "navigate": wire.NavigateResultJson,
        "step": wire.StepResultJson,
        "get_turn_report": wire.TurnReportJson,
        "get_context": wire.NavigatorOutputJson,
    }
    return shapes[tool].model_json_schema(mode="serialization")


def published(tool: str, schema: dict[str, Any], required: list[str]) -> list[tuple[str, str, str, bool]]:
    """The rows that a schema asks for."""
    return [
        (tool, name, " or ".join(each["type"] for each in field.get("anyOf", [field])), name in required)
        for name, field in schema["properties"].items()
    ]
