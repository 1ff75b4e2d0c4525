"""Private names of the SDKs are used in one module for each, with the reason; all else is public."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("repo_map", "navigator", "mcp_server", "repo_navigator", "benchmarks", "training")
PLACES = {"mcp_server/sdk_private.py", "benchmarks/agents/sdk_private.py"}
SDKS = ("mcp", "mcp_types", "google.adk", "google.genai")
_PRIVATE = re.compile(r"_[a-z]\w*")
_OF_NAMED_TUPLES = {"_replace", "_asdict", "_fields", "_make"}
_ACCESS = {"getattr", "setattr", "hasattr", "delattr"}


def private_names(source: str) -> Iterator[str]:
    """Yield the private names that a module imports of an SDK, and those that it asks of another's object."""
    tree = ast.parse(source)
    of_module = set(re.findall(r"(?:self|cls)\.(_[a-z]\w*)|def (_[a-z]\w*)", source))
    ours = {name for pair in of_module for name in pair}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None) or ""
            for alias in node.names:
                whole = f"{module}.{alias.name}".lstrip(".")
                if _is_of_sdk(whole) and any(map(_PRIVATE.fullmatch, whole.split("."))):
                    yield whole
        elif isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            if owner not in ("self", "cls", "super()", "os") and node.attr not in ours:
                yield from _private(node.attr)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in _ACCESS and len(node.args) > 1:
            match node.args[1]:
                case ast.Constant(value=str(name)):
                    yield from _private(name)


def _private(name: str) -> Iterator[str]:
    if _PRIVATE.fullmatch(name) and name not in _OF_NAMED_TUPLES:
        yield name


def _is_of_sdk(module: str) -> bool:
    return any(module == sdk or module.startswith(f"{sdk}.") for sdk in SDKS)


def _modules() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if "agents/tasks/" not in name:
                yield name, path.read_text(encoding="utf-8")


def _knows_an_sdk(source: str) -> bool:
    return re.search(r"^\s*(from|import) (mcp|mcp_types|google)\b", source, re.MULTILINE) is not None


def test_private_names_of_the_sdks_are_used_in_one_place_each() -> None:
    found = {name: [*private_names(source)] for name, source in _modules() if _knows_an_sdk(source)}
    assert {name: names for name, names in found.items() if names and name not in PLACES} == {}
    assert {name for name in PLACES if not found.get(name)} == set(), "this place is empty"


def test_no_class_of_ours_uses_a_private_name_of_the_sdks_class_below_it() -> None:
    derived, found = 0, {}
    for path, source in _modules():
        if not _knows_an_sdk(source) or path.startswith("benchmarks"):
            continue
        module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
        for name, kind in vars(module).items():
            if inspect.isclass(kind) and kind.__module__ == module.__name__:
                bases = [base for base in kind.__mro__ if _is_of_sdk(base.__module__)]
                theirs = {each for base in bases for each in _names_of(base)}
                derived += bool(bases)
                if used := theirs & _names_in(kind):
                    found[f"{path}: {name}"] = used
    assert derived > 5
    assert found == {}


def _names_of(kind: type) -> set[str]:
    """Return the private names of a class: its own, and those that its methods give an object."""
    return {*filter(_PRIVATE.fullmatch, vars(kind)), *_names_in(kind)}


def _names_in(kind: type) -> set[str]:
    try:
        source = inspect.getsource(kind)
    except OSError:  # Made by a call, as some of pydantic's are.
        return set()
    asked = re.findall(r"(?:self|cls|super\(\))\.(_[a-z]\w*)", source)
    return {*asked, *re.findall(r"def (_[a-z]\w*)", source)}


@pytest.mark.parametrize(
    "source",
    [
        "from mcp.shared._stream_protocols import ReadStream",
        "from google.adk.errors._stale_session_error import StaleSessionError",
        "from google.adk.sessions import _session_util",
        "import google.genai._api_client",
        "def f(server): return server._lowlevel_server",
        "def f(runner): runner.session_service._db_path = ''",
        "def f(server): return getattr(server, '_tool_manager')",
    ],
)
def test_a_private_name_is_found(source: str) -> None:
    assert [*private_names(source)]


@pytest.mark.parametrize(
    "source",
    [
        "from google.adk.errors import StaleSessionError",
        "import os\nos._exit(0)",
        "def f(report): return report._replace(a=1)",
        "class A:\n    def __init__(self): self._own = 1\n    def eq(self, other): return other._own == 1",
    ],
)
def test_what_is_public_or_ours_is_none(source: str) -> None:
    assert [*private_names(source)] == []


def test_an_sdk_with_private_names_in_use_is_pinned_to_its_minor_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines())
    for name in ("mcp", "google-adk"):
        (wanted,) = (each for each in project["dependencies"] if re.match(rf"{name}\W", each))
        major, minor, _ = map(int, pinned[name].split("."))
        assert re.fullmatch(rf"{name}>={major}\.{minor}\.\d+,<{major}\.{minor + 1}", wanted), wanted
