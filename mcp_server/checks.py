"""What ``doctor`` looks at; each check returns what it found, and what to do where that is not good."""

from __future__ import annotations

import importlib
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, NamedTuple

import anyio

from mcp_server.hosts import ENTRY, HOSTS
from mcp_server.loading import load_navigator
from mcp_server.settings import Settings
from navigator.errors import NavigatorError
from navigator.settings import NavigationRequest
from repo_map import tokens
from repo_map.errors import RepoMapError

_PACKAGES: Final = ("mcp", "google-adk", "google-genai", "tree-sitter", "pydantic", "splintr-rs")
_PYTHON: Final = 0x030B0000
_KEYS: Final = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY")
_SAMPLE: Final = "def hold_the_budget(tokens: int, budget: int) -> bool:\n    return tokens <= budget\n"
_COUNT: Final = ("Hold the budget.", 4)


class State(StrEnum):
    """How a check came out."""

    OK = "ok"
    NOTE = "note"
    """Worth knowing; everything works without."""
    FAILED = "failed"


class Finding(NamedTuple):
    """What one check found."""

    name: str
    state: State
    detail: str
    advice: str = ""


def all_findings(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the finding of every check, in the order in which one thing needs the other."""
    yield python_version()
    yield packages()
    yield vocabularies()
    yield grammars()
    yield git()
    yield folder("cache folder", settings.cache_dir)
    yield folder("data folder", settings.data_dir)
    yield keys(environ)
    yield from host_configurations(environ)
    yield offline_navigation(settings)


def python_version() -> Finding:
    """The interpreter is new enough."""
    told = f"{sys.version.split()[0]} at {sys.executable}"
    if sys.hexversion >= _PYTHON:
        return Finding("python", State.OK, told)
    return Finding("python", State.FAILED, told, "install Python 3.11 or newer and the package into it")


def packages() -> Finding:
    """The packages that everything is built on are installed."""
    found, missing = [], []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return Finding("packages", State.FAILED, f"missing: {', '.join(missing)}", "reinstall repo-navigator")
    return Finding("packages", State.OK, ", ".join(found))


def vocabularies() -> Finding:
    """The token counter works, without a download."""
    text, expected = _COUNT
    try:
        counted = tokens.count(text)
    except Exception as error:
        return Finding("tokenizer", State.FAILED, str(error), "reinstall splintr-rs")
    if counted != expected:
        return Finding(
            "tokenizer", State.FAILED, f"counts {counted} instead of {expected}", "reinstall splintr-rs"
        )
    return Finding("tokenizer", State.OK, "cl100k and o200k, shipped with the package")


def grammars() -> Finding:
    """Every grammar loads."""
    languages = importlib.import_module("repo_map.parsing.languages")
    names = sorted(name for name, spec in languages.LANGUAGES.items() if spec.module)
    broken = []
    for name in names:
        try:
            languages.parser_for(name)
        except Exception as error:
            broken.append(f"{name} ({error})")
    if broken:
        return Finding("grammars", State.FAILED, f"broken: {', '.join(broken)}", "reinstall repo-navigator")
    others = len(languages.LANGUAGES) - len(names)
    return Finding("grammars", State.OK, f"{len(names)} load, and {others} languages are read without one")


def git() -> Finding:
    """Git is there; plain folders work without it, history does not."""
    program = shutil.which("git")
    if program is None:
        return Finding(
            "git", State.NOTE, "not found", "install git: history and ignore rules sharpen the choice"
        )
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=10)
    return Finding("git", State.OK, told.stdout.strip() or program)


def folder(name: str, path: Path | None) -> Finding:
    """The folder can be written."""
    if path is None:
        return Finding(name, State.OK, "the user's own")
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path):
            pass
    except OSError as error:
        return Finding(
            name, State.FAILED, f"{path}: {error.strerror}", f"make it writable, or set {_variable(name)}"
        )
    free = shutil.disk_usage(path).free // 2**20
    if free < 200:
        return Finding(
            name, State.NOTE, f"{path}, {free} MB free", "make room: large repositories need up to 200 MB"
        )
    return Finding(name, State.OK, str(path))


def keys(environ: Mapping[str, str]) -> Finding:
    """Which model keys are set; their values are never shown."""
    found = [name for name in _KEYS if environ.get(name)]
    if found:
        return Finding("keys", State.OK, f"set: {', '.join(found)}")
    return Finding("keys", State.OK, "none: the embedded planner decides, which needs none")


def host_configurations(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether each assistant on this machine has the server, and whether its command exists."""
    import json  # noqa: PLC0415

    for host in HOSTS.values():
        path = host.path(environ, sys.platform)
        if not path.exists():
            continue
        try:
            entry = json.loads(path.read_text(encoding="utf-8") or "{}").get(host.servers, {}).get(ENTRY)
        except (OSError, ValueError, AttributeError) as error:
            yield Finding(host.title, State.NOTE, f"{path} can't be read: {error}", "mend the file")
            continue
        command = entry.get("command", "") if isinstance(entry, dict) else ""
        if entry is None:
            yield Finding(
                host.title, State.NOTE, "not installed", f"run `repo-navigator install {host.name}`"
            )
        elif shutil.which(command) is None:
            advice = f"run `repo-navigator install {host.name}` again"
            yield Finding(host.title, State.FAILED, f"its command `{command}` does not exist", advice)
        else:
            yield Finding(host.title, State.OK, str(path))


def offline_navigation(settings: Settings) -> Finding:
    """A navigation of a tiny repository works while nothing beyond this machine can be reached."""
    with tempfile.TemporaryDirectory() as scratch, _nothing_reachable() as attempts:
        repository = Path(scratch) / "repository"
        repository.mkdir()
        (repository / "budget.py").write_text(_SAMPLE)
        here = replace(settings, data_dir=None, cache_dir=Path(scratch) / "cache", model=None)
        try:
            context = anyio.run(_navigate, here, repository)
        except (NavigatorError, RepoMapError, OSError) as error:
            return Finding("offline navigation", State.FAILED, str(error), "report this with the lines above")
    if attempts:
        return Finding("offline navigation", State.FAILED, f"tried to reach {attempts[0]}", "report this")
    if "hold_the_budget" not in context:
        return Finding("offline navigation", State.FAILED, "did not find the function", "report this")
    return Finding("offline navigation", State.OK, "found the code of a test repository with the network cut")


async def _navigate(settings: Settings, repository: Path) -> str:
    navigator = load_navigator(settings)
    try:
        request = NavigationRequest("where is the budget held?", repository, token_budget=1_000)
        output = await navigator.run(await navigator.open(request))
    finally:
        await navigator.aclose()
    return output.context_string


@contextmanager
def _nothing_reachable() -> Iterator[list[str]]:
    attempts: list[str] = []
    real: Callable[..., Any] = socket.socket.connect

    def refuse(self: socket.socket, address: Any) -> Any:
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            attempts.append(str(address[0]))
            raise OSError("the network is cut for this check")
        return real(self, address)

    socket.socket.connect = refuse  # type: ignore[method-assign, assignment]
    try:
        yield attempts
    finally:
        socket.socket.connect = real  # type: ignore[method-assign]


def _variable(name: str) -> str:
    return f"REPO_NAVIGATOR_{name.split(maxsplit=1)[0].upper()}"
