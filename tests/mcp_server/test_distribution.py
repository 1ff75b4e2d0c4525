"""What strangers install from: the bundle, the one-click links, the registry entry."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import Settings

ROOT = Path(__file__).parents[2]
SERVED = {"command": "repo-navigator", "args": ["serve"]}


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def link(beginning: str) -> str:
    (found,) = re.findall(rf"\(({re.escape(beginning)}[^)\s]*)\)", (ROOT / "README.md").read_text("utf-8"))
    return str(found)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle, built as ``make bundle`` builds it."""
    target = tmp_path_factory.mktemp("bundle") / "repo-navigator.mcpb"
    subprocess.run([sys.executable, ROOT / "bundle" / "build.py", target], check=True, capture_output=True)
    return target


def test_the_bundle_holds_the_code_with_its_data_and_the_tested_versions(bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as opened:
        names = opened.namelist()
        manifest = json.loads(opened.read("manifest.json"))
        pinned = tomllib.loads(opened.read("pyproject.toml").decode())
    assert manifest["server"]["entry_point"] in names
    assert manifest["version"] == project()["version"]
    assert "navigator/prices.yaml" in names
    assert any(name.endswith(".scm") for name in names)
    assert not any("__pycache__" in name for name in names)
    assert any(pin.startswith("mcp==") for pin in pinned["tool"]["uv"]["constraint-dependencies"])


def test_the_bundles_server_answers_from_the_unpacked_folder(bundle: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle) as opened:
        opened.extractall(tmp_path)
        arguments = json.loads(opened.read("manifest.json"))["server"]["mcp_config"]["args"]
    assert arguments[-3:] == ["python", "-m", "mcp_server"]
    # uv would start this very command in an environment of its own; the code is the unpacked one.
    told = subprocess.run(
        [sys.executable, *arguments[-2:]],
        cwd=tmp_path,
        input='{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n',
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["id"] == 1


def test_the_same_tree_gives_the_same_bundle(bundle: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.mcpb"
    subprocess.run([sys.executable, ROOT / "bundle" / "build.py", again], check=True, capture_output=True)
    assert again.read_bytes() == bundle.read_bytes()


@pytest.mark.anyio
async def test_the_bundles_manifest_lists_the_tools_that_there_are(settings: Settings) -> None:
    listed = json.loads((ROOT / "bundle" / "manifest.json").read_text(encoding="utf-8"))["tools"]
    async with Client(build_server(settings)) as client:
        tools = (await client.list_tools()).tools
    assert [(tool["name"], tool["description"]) for tool in listed] == [
        (tool.name, tool.title) for tool in tools
    ]


def test_the_cursor_link_decodes_to_the_command() -> None:
    query = parse_qs(urlsplit(link("https://cursor.com/")).query)
    assert query["name"] == ["repo-navigator"]
    assert json.loads(base64.b64decode(query["config"][0])) == SERVED


def test_the_vscode_link_decodes_to_the_command() -> None:
    (target,) = parse_qs(urlsplit(link("https://insiders.vscode.dev/")).query)["url"]
    scheme, _, payload = target.partition("?")
    assert scheme == "vscode:mcp/install"
    assert json.loads(unquote(payload)) == {"name": "repo-navigator", **SERVED}


def test_the_registry_entry_agrees_with_the_package() -> None:
    entry = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    (package,) = entry["packages"]
    assert entry["version"] == package["version"] == project()["version"]
    assert package["identifier"] == project()["name"]
    # The registry's own limits.
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 0 < len(entry["description"]) <= 100
    arguments = [argument["value"] for argument in package["packageArguments"]]
    assert arguments == SERVED["args"]
