"""What strangers install from: the bundle, the one-click links, the registry entry."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import yaml

from bundle import PACKAGES
from manifests import HOOK_PLUGIN, PLUGIN, manifests, registry_entry
from model_texts import FILE, model_texts
from release import notes
from repo_navigator.clients.entries import entry_by_path, unsafe

ROOT = Path(__file__).parents[2]
SERVED = entry_by_path()
MANIFESTS = manifests()
PAGE_SOURCES = "navigator/picture/page"


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def link(beginning: str) -> str:
    (found,) = re.findall(
        rf"\(({re.escape(beginning)}[^)\s]*)\)", (ROOT / "docs/assistant.md").read_text("utf-8")
    )
    return str(found)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle, built as ``make bundle`` builds it."""
    target = tmp_path_factory.mktemp("bundle") / "repo-navigator.mcpb"
    subprocess.run([sys.executable, ROOT / "packaging/bundle.py", target], check=True, capture_output=True)
    return target


def test_the_bundle_holds_the_code_with_its_data_and_the_tested_versions(bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as opened:
        names = opened.namelist()
        manifest = json.loads(opened.read("manifest.json"))
        pinned = tomllib.loads(opened.read("pyproject.toml").decode())
    assert manifest["server"]["entry_point"] in names
    assert manifest["version"] == project()["version"]
    assert "navigator/state/prices.yaml" in names
    assert any(name.endswith(".scm") for name in names)
    assert not any("__pycache__" in name for name in names)
    assert any(pin.startswith("mcp==") for pin in pinned["tool"]["uv"]["constraint-dependencies"])


def _built(tree: Path, kind: str, target: Path) -> Path:
    """Build the distribution of a kind, as ``pip`` and ``build`` do."""
    build = f"import sys; from hatchling import build; print(build.build_{kind}(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", build, target], cwd=tree, check=True, capture_output=True, text=True
    )
    return target / done.stdout.strip()


def test_a_wheel_holds_the_product_with_its_data_and_neither_benchmarks_nor_training_nor_tests(
    tmp_path: Path,
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "constraints.txt"):
        shutil.copy(ROOT / name, tree)
    for name in ("benchmarks", "training", "tests", "packaging", *PACKAGES):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    wheel = _built(tree, "wheel", tmp_path)
    (tmp_path / "sources").mkdir()
    subprocess.run(["tar", "-xzf", _built(tree, "sdist", tmp_path), "-C", tmp_path / "sources"], check=True)
    (unpacked,) = (tmp_path / "sources").iterdir()
    assert _built(unpacked, "wheel", unpacked).read_bytes() == wheel.read_bytes()
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
        (entries,) = (opened.read(name).decode() for name in names if name.endswith("entry_points.txt"))
    folders = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    assert folders == set(PACKAGES)
    sources = {name for name in _data_files() if name.startswith(f"{PAGE_SOURCES}/")}
    assert _data_files() - set(names) == sources
    assert f"{PAGE_SOURCES}.html" in names
    assert re.findall(r"^([\w-]+) = ", entries, re.MULTILINE) == ["repo-map", "repo-navigator"]


def _data_files() -> set[str]:
    """What the packages hold beside sources."""
    files = (path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in files if path.suffix not in (".py", ".pyc")}


def test_the_bundles_server_answers_from_the_unpacked_folder(bundle: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle) as opened:
        opened.extractall(tmp_path)
        arguments = json.loads(opened.read("manifest.json"))["server"]["mcp_config"]["args"]
    # uv takes its settings from the bundle, and starts Python in an environment of its own.
    assert arguments[arguments.index("--directory") + 1] == "${__dirname}"
    assert arguments[-4:] == ["python", "-I", "-m", "mcp_server"]
    venv.create(tmp_path / "environment", symlinks=True)
    (packages,) = (tmp_path / "environment").glob("lib/**/site-packages")
    installed = [entry for entry in sys.path if entry.endswith("site-packages")]
    (packages / "bundle.pth").write_text("\n".join((str(tmp_path), *installed)))
    message = subprocess.run(
        [next((tmp_path / "environment").glob("bin/python*")), *arguments[-3:]],
        cwd=tmp_path,
        input='{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n',
        capture_output=True,
        text=True,
        check=False,
    )
    assert message.returncode == 0, message.stderr
    assert json.loads(message.stdout)["id"] == 1


def test_the_same_tree_gives_the_same_bundle(bundle: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.mcpb"
    subprocess.run([sys.executable, ROOT / "packaging/bundle.py", again], check=True, capture_output=True)
    assert again.read_bytes() == bundle.read_bytes()


def test_what_a_model_is_sent_is_what_is_written_down() -> None:
    assert model_texts() == (ROOT / FILE).read_text(encoding="utf-8"), "run: make manifests"


def test_the_notes_of_a_release_are_its_changes_and_the_hash_of_what_a_model_is_sent() -> None:
    text = notes(project()["version"])
    assert text.startswith("### ")
    assert hashlib.sha256((ROOT / FILE).read_bytes()).hexdigest() in text
    with pytest.raises(SystemExit, match=r"no heading for 9\.9"):
        notes("9.9")


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
    entry = registry_entry()
    (package,) = entry["packages"]
    assert entry["version"] == package["version"] == project()["version"]
    assert package["identifier"] == project()["name"]
    # The registry's own limits.
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 0 < len(entry["description"]) <= 100
    arguments = [argument["value"] for argument in package["packageArguments"]]
    assert arguments == SERVED["args"]


@pytest.mark.parametrize("path", sorted(MANIFESTS))
def test_what_is_written_for_assistants_is_what_the_repository_holds(path: str) -> None:
    assert (ROOT / path).read_text(encoding="utf-8") == MANIFESTS[path]


def entries_of(value: Any) -> list[dict[str, Any]]:
    """The entries of servers anywhere in a manifest."""
    if not isinstance(value, dict):
        return []
    found = [entry for each in value.values() for entry in entries_of(each)]
    return [*found, *value.get("mcpServers", {}).values()]


def test_every_entry_that_strangers_install_starts_the_server_and_imports_nothing_of_their_folder() -> None:
    block = re.findall(r"```json\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    texts = [*block, *(text for path, text in MANIFESTS.items() if path.endswith(".json"))]
    entries = [entry for text in texts for entry in entries_of(json.loads(text))]
    assert len(entries) == 6
    for entry in entries:
        assert {name: entry[name] for name in SERVED} == SERVED
        assert not unsafe(entry)


def test_each_assistant_finds_its_manifest_and_what_that_names() -> None:
    """The shapes are those of the published schemas and examples."""
    plugin = ROOT / PLUGIN
    claude, cursor, codex = (
        json.loads((plugin / f".{host}-plugin/plugin.json").read_text("utf-8"))
        for host in ("claude", "cursor", "codex")
    )
    gemini = json.loads((plugin / "gemini-extension.json").read_text(encoding="utf-8"))
    for manifest in (claude, cursor, codex, gemini):
        assert (manifest["name"], manifest["version"]) == (project()["name"], project()["version"])
    assert claude.keys() <= {"name", "version", "description", "author", "license", "keywords"}
    assert cursor.keys() <= claude.keys() | {"displayName", "category", "skills", "mcpServers"}
    assert codex.keys() <= claude.keys() | {"skills", "mcpServers", "interface"}
    assert 1 <= len(codex["interface"]["defaultPrompt"]) <= 3
    assert gemini.keys() <= {"name", "version", "description", "mcpServers"}
    assert (plugin / cursor["skills"] / "find-code/SKILL.md").is_file()
    marketplace = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text(encoding="utf-8"))
    for listed in marketplace["plugins"]:
        described = json.loads((ROOT / listed["source"] / ".claude-plugin/plugin.json").read_text("utf-8"))
        assert (described["name"], described["description"]) == (listed["name"], listed["description"])


def test_the_skill_has_the_form_of_agent_skills() -> None:
    text = (ROOT / PLUGIN / "skills/find-code/SKILL.md").read_text(encoding="utf-8")
    _, front, body = text.split("---\n", 2)
    fields = yaml.safe_load(front)
    assert fields["name"] == "find-code"
    assert len(fields["description"]) <= 1_024
    assert fields.keys() <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
    assert len(body.splitlines()) < 500


def test_the_hooks_are_no_part_of_the_plugin_that_everybody_installs() -> None:
    hooks = json.loads((ROOT / HOOK_PLUGIN / "hooks/hooks.json").read_text(encoding="utf-8"))
    commands = [
        entry["command"] for groups in hooks["hooks"].values() for group in groups for entry in group["hooks"]
    ]
    assert set(commands) == {
        "repo-navigator hook prompt",
        "repo-navigator hook tool",
    }
    assert not (ROOT / PLUGIN / "hooks").exists()
    assert "hooks" not in MANIFESTS[f"{PLUGIN}/.claude-plugin/plugin.json"]
