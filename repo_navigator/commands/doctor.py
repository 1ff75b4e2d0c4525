"""Check offline that everything works here, and say how to fix what does not. If a database or a bucket is
set, connect to it, and to nothing else.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import socket
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio

from mcp_server.repositories import read_repositories
from mcp_server.repository import work_tree
from mcp_server.settings import KNOWN, Settings, SettingsError, removed_settings, unknown_settings
from mcp_server.tokens import read_tokens
from navigator.errors import InvalidRequestError, NavigatorError
from navigator.settings import NavigationRequest, in_memory
from navigator.state.labels import EMBEDDED
from navigator.storage.addresses import DatabaseAddress, require_packages
from repo_map.errors import RepoMapError
from repo_map.languages.registry import LANGUAGES
from repo_map.sources.git import GitError, git_version
from repo_map.text import tokens
from repo_map.working_folder import find_program
from repo_navigator.cli import Parser
from repo_navigator.clients.configuration import Configuration
from repo_navigator.clients.entries import unsafe
from repo_navigator.clients.hosts import HOSTS
from repo_navigator.navigations import use_navigator

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.storage.postgres import SchemaState

_PACKAGES: Final = ("mcp", "google-adk", "google-genai", "tree-sitter", "pydantic", "splintr-rs")
_PYTHON: Final = 0x030B0000
_KEYS: Final = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY")
_SAMPLE: Final = "def hold_the_budget(tokens: int, budget: int) -> bool:\n    return tokens <= budget\n"
_COUNT: Final = ("Hold the budget.", 4)


class FindingState(StrEnum):
    """How a check came out."""

    OK = "ok"
    NOTE = "note"
    """Worth knowing; everything works without."""
    FAILED = "failed"


class Diagnosis(NamedTuple):
    """What one check found."""

    name: str
    state: FindingState
    detail: str
    advice: str = ""


def _ok(name: str, detail: str) -> Diagnosis:
    return Diagnosis(name, FindingState.OK, detail)


def _note(name: str, detail: str, advice: str = "") -> Diagnosis:
    return Diagnosis(name, FindingState.NOTE, detail, advice)


def _failed(name: str, detail: str, advice: str) -> Diagnosis:
    return Diagnosis(name, FindingState.FAILED, detail, advice)


def all_findings(settings: Settings, environ: Mapping[str, str]) -> Iterator[Diagnosis]:
    """Yield the finding of every check, in the order in which one thing needs the other."""
    yield python_version()
    yield packages()
    yield vocabularies()
    yield grammars()
    yield git()
    yield settings_known(environ)
    yield folder("cache folder", settings.cache_dir)
    yield folder("data folder", settings.data_dir)
    yield team_stores(settings)
    yield from team_settings(settings)
    yield keys(environ)
    yield from host_configurations(environ, work_tree(Path.cwd()) or Path.cwd())
    yield offline_navigation(settings)


def python_version() -> Diagnosis:
    """The interpreter is new enough."""
    message = f"{sys.version.split()[0]} at {sys.executable}"
    if sys.hexversion >= _PYTHON:
        return _ok("python", message)
    return _failed("python", message, "install Python 3.11 or newer and the package into it")


def packages() -> Diagnosis:
    """The packages that everything is built on are installed."""
    found, missing = [], []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return _failed("packages", f"missing: {', '.join(missing)}", "reinstall repo-navigator")
    return _ok("packages", ", ".join(found))


def vocabularies() -> Diagnosis:
    """The token counter works, without a download."""
    text, expected = _COUNT
    try:
        counted = tokens.count(text)
    except Exception as error:
        return _failed("tokenizer", str(error), "reinstall splintr-rs")
    if counted != expected:
        return _failed("tokenizer", f"counts {counted} instead of {expected}", "reinstall splintr-rs")
    return _ok("tokenizer", "cl100k and o200k, shipped with the package")


def grammars() -> Diagnosis:
    """Every grammar loads."""
    loading = importlib.import_module("repo_map.languages.grammars")
    names = sorted(name for name, each in LANGUAGES.items() if each.has_grammar)
    broken = []
    for name in names:
        try:
            loading.parser_for(name)
        except Exception as error:
            broken.append(f"{name} ({error})")
    if broken:
        return _failed("grammars", f"broken: {', '.join(broken)}", "reinstall repo-navigator")
    others = len(LANGUAGES) - len(names)
    return _ok("grammars", f"{len(names)} load, and {others} languages are read without one")


def git() -> Diagnosis:
    """Git is there; plain folders work without it, history does not."""
    try:
        return _ok("git", git_version())
    except GitError as error:
        return _note("git", str(error), "with git, history and ignore rules improve the choice")


def settings_known(environ: Mapping[str, str]) -> Diagnosis:
    """No variable begins like a setting and is none, and none was removed."""
    if unknown := unknown_settings(environ):
        return _failed("settings", " ".join(unknown), "`repo-navigator serve` does not start with it")
    if removed := removed_settings(environ):
        return _note("settings", removed[0], "CHANGELOG.md says why under `Removed`")
    names = sorted(set(environ) & KNOWN)
    return _ok("settings", f"set: {', '.join(names)}" if names else "all by default")


def folder(name: str, path: Path | None) -> Diagnosis:
    """The folder can be written."""
    if path is None:
        return _ok(name, "the user's own")
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path):
            pass
    except OSError as error:
        return _failed(name, f"{path}: {error.strerror}", f"make it writable, or set {_variable(name)}")
    free = shutil.disk_usage(path).free // 2**20
    if free < 200:
        return _note(name, f"{path}, {free} MB free", "make room: large repositories need up to 200 MB")
    return _ok(name, str(path))


def team_stores(settings: Settings) -> Diagnosis:
    """The database and the bucket that are named answer; nothing is made or changed in them."""
    stores = (settings.store, settings.bucket)
    named = ", ".join(str(each) for each in stores if each)
    if not named:
        return _ok("team stores", "none configured: SQLite and files")
    try:
        require_packages(settings.store, settings.bucket)
        layout = None if settings.store is None else anyio.run(_state_of, settings.store)
        if settings.bucket is not None:
            # Without the database, whose tables it would make.
            alone = in_memory(settings).model_copy(update={"bucket": settings.bucket})
            use_navigator(alone, lambda navigator: navigator.store.reach(), takes_steps=False)
    except (NavigatorError, OSError) as error:
        advice = "check that both exist; see docs/team.md"
        return _failed("team stores", str(error), advice)
    message = named if layout is None else f"{named}; the database has {layout}"
    return (_note if layout and layout.name != "CURRENT" else _ok)("team stores", message)


def team_settings(settings: Settings) -> Iterator[Diagnosis]:
    """The lists of repositories and tokens, the allowed folders and the identity provider, where set."""
    for name, path, read in (
        ("repositories", settings.repositories, read_repositories),
        ("tokens", settings.tokens, read_tokens),
    ):
        if path is not None:
            try:
                yield _ok(name, f"{path}: {len(read(path))} listed")
            except SettingsError as error:
                yield _failed(name, str(error), "fix the file; a running server uses its earlier content")
    if missing := [str(path) for path in settings.allowed if not path.is_dir()]:
        yield _failed("allowed folders", f"no folder: {', '.join(missing)}", "correct REPO_NAVIGATOR_ALLOW")
    elif settings.allowed:
        yield _ok("allowed folders", ", ".join(map(str, settings.allowed)))
    if (identity := settings.identity) is not None:
        message = f"{identity.issuer}, for {identity.resource}; doctor does not contact it"
        yield _ok("identity provider", message)


async def _state_of(address: DatabaseAddress) -> SchemaState:
    from navigator.storage.postgres import look_at  # noqa: PLC0415 - only where one is named

    return await look_at(address)


def keys(environ: Mapping[str, str]) -> Diagnosis:
    """Which model keys are set; their values are never shown."""
    found = [name for name in _KEYS if environ.get(name)]
    if found:
        return _ok("keys", f"set: {', '.join(found)}")
    return _ok("keys", "none, and none needed: the embedded planner chooses the code without a model")


def host_configurations(environ: Mapping[str, str], project: Path) -> Iterator[Diagnosis]:
    """Whether each assistant on this machine has the server, whether its command exists, and is safe."""
    for host in HOSTS.values():
        path = host.path(environ, sys.platform)
        if path.exists():
            found = _entry_finding(host.title, Configuration(host, path), f"install {host.name}")
            advice = f"run `repo-navigator install {host.name}`"
            yield found or _note(host.title, "not installed", advice)
        in_project = project / host.project_file
        if host.project_file and in_project.exists() and in_project != path:
            shared = Configuration(host, in_project, within=project)
            again = f"install --scope project {host.name}"
            if found := _entry_finding(f"{host.title}, this project", shared, again):
                yield found


def _entry_finding(name: str, configuration: Configuration, command: str) -> Diagnosis | None:
    """Return what is to say of our entry, or ``None`` where there is none."""
    try:
        entry = configuration.entry()
    except (InvalidRequestError, OSError) as error:
        return _note(name, str(error), "fix the file")
    if entry is None:
        return None
    again = f"run `repo-navigator {command}` again"
    program = str(entry.get("command", "")) if isinstance(entry, Mapping) else ""
    if isinstance(entry, Mapping) and (why := unsafe(entry)):
        return _failed(name, f"its entry may run code of a repository: {why}", again)
    if not (Path(program).is_file() if Path(program).is_absolute() else find_program(program)):
        return _failed(name, f"its command `{program}` does not exist", again)
    return _ok(name, str(configuration.path))


def offline_navigation(settings: Settings) -> Diagnosis:
    """A navigation of a tiny repository works while nothing beyond this machine can be reached."""
    with tempfile.TemporaryDirectory() as scratch, _nothing_reachable() as attempts:
        repository = Path(scratch) / "repository"
        repository.mkdir()
        (repository / "budget.py").write_text(_SAMPLE)
        here = in_memory(settings).model_copy(
            update={"cache_dir": Path(scratch) / "cache", "model": EMBEDDED}
        )
        try:
            context = use_navigator(here, partial(_navigate, repository))
        except (NavigatorError, RepoMapError, OSError) as error:
            return _failed("offline navigation", str(error), "report this with the lines above")
    if attempts:
        return _failed("offline navigation", f"tried to reach {attempts[0]}", "report this")
    if "hold_the_budget" not in context:
        return _failed("offline navigation", "did not find the function", "report this")
    return _ok("offline navigation", "found the code of a test repository without network access")


async def _navigate(repository: Path, navigator: Navigator) -> str:
    request = NavigationRequest("where is the budget held?", repository, token_budget=1_000)
    output = await navigator.run(await navigator.open(request))
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


_MARKS = {FindingState.OK: "✓", FindingState.NOTE: "·", FindingState.FAILED: "✗"}


EXAMPLES = ("", "--json")


def add_arguments(parser: Parser) -> None:
    """Add in which form the findings are printed."""
    parser.add_switch("--json", "print one JSON object instead of text")


def run(args: Namespace, settings: Settings) -> int:
    """Print every finding as it comes; the exit code is 1 where one failed."""
    findings: list[Diagnosis] = []
    for finding in all_findings(settings, os.environ):
        findings.append(finding)
        if not args.json:
            print(_line(finding), flush=True)
    if args.json:
        print(json.dumps({"findings": [finding._asdict() for finding in findings]}, ensure_ascii=False))
    return int(any(finding.state is FindingState.FAILED for finding in findings))


def _line(finding: Diagnosis) -> str:
    advice = f"\n    → {finding.advice}" if finding.advice else ""
    return f"{_MARKS[finding.state]} {finding.name}: {finding.detail}{advice}"
