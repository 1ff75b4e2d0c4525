"""Check offline that everything works here, and say how to fix what does not. If a database or a bucket is
set, connect to it, and to nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import anyio

from mcp_server.repositories import listed_repositories, work_tree
from mcp_server.settings import KNOWN, Settings, unknown_settings
from mcp_server.tokens import listed_tokens
from navigator.errors import InvalidRequestError
from navigator.settings import NavigationRequest, in_memory
from navigator.state.labels import EMBEDDED
from navigator.storage.addresses import require_packages
from repo_map.languages.grammars import GrammarMissingError, parser_for
from repo_map.languages.registry import LANGUAGES
from repo_map.messages import install_command
from repo_map.sources.git import GitError, git_version
from repo_map.text import tokens
from repo_map.working_folder import find_program
from repo_navigator.cli import Parser
from repo_navigator.clients.configuration import ConfigurationFile
from repo_navigator.clients.entries import unsafe
from repo_navigator.clients.hosts import HOSTS
from repo_navigator.navigations import use_navigator

if TYPE_CHECKING:
    from navigator.navigator import Navigator

EXAMPLES = ("", "--json")
_PACKAGES: Final = ("mcp", "google-adk", "google-genai", "tree-sitter", "pydantic", "splintr-rs")
_KEYS: Final = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY")
_SAMPLE: Final = "def hold_the_budget(tokens: int, budget: int) -> bool:\n    return tokens <= budget\n"
_MARKS: Final = {"ok": "✓", "note": "·", "failed": "✗"}
_MIN_FREE_MB: Final = 200


class Finding(NamedTuple):
    """What one check found."""

    name: str
    state: Literal["ok", "note", "failed"]
    """A note is worth knowing; everything works without."""
    detail: str
    advice: str = ""


class CheckError(Exception):
    """A check failed; the message says why."""


def add_arguments(parser: Parser) -> None:
    """Add in which form the findings are printed."""
    parser.add_switch("--json", "print one JSON object instead of text")


def run(args: Namespace, settings: Settings) -> int:
    """Print every finding as it comes; the exit code is 1 where one failed."""
    findings: list[Finding] = []
    for finding in _findings(settings, os.environ):
        findings.append(finding)
        if not args.json:
            advice = f"\n    → {finding.advice}" if finding.advice else ""
            print(f"{_MARKS[finding.state]} {finding.name}: {finding.detail}{advice}", flush=True)
    if args.json:
        print(json.dumps({"findings": [each._asdict() for each in findings]}, ensure_ascii=False))
    return int(any(each.state == "failed" for each in findings))


def _findings(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the finding of every check, in the order in which one thing needs the other."""
    yield Finding("python", "ok", f"{sys.version.split()[0]} at {sys.executable}")
    yield _check("packages", _packages, "reinstall repo-navigator")
    yield _check("tokenizer", _tokenizer, "reinstall splintr-rs")
    yield _check("grammars", _grammars, "reinstall repo-navigator")
    try:
        yield Finding("git", "ok", git_version())
    except GitError as error:
        yield Finding("git", "note", str(error), "with git, history and ignore rules improve the choice")
    yield _settings_known(environ)
    for name, folder in (("cache", settings.cache_dir), ("data", settings.data_dir)):
        yield _folder(name, folder)
    yield _team_stores(settings)
    yield from _team_settings(settings)
    keys = ", ".join(name for name in _KEYS if environ.get(name))
    none = "none, and none needed: the embedded planner chooses the code without a model"
    yield Finding("keys", "ok", f"set: {keys}" if keys else none)
    yield from _clients(environ, work_tree(Path.cwd()) or Path.cwd())
    yield _check("offline navigation", lambda: _offline_navigation(settings), "report this")


def _check(name: str, work: Callable[[], str], advice: str) -> Finding:
    """Return what ``work`` tells, or why it failed."""
    try:
        return Finding(name, "ok", work())
    except Exception as error:
        return Finding(name, "failed", str(error) or type(error).__name__, advice)


def _packages() -> str:
    return ", ".join(f"{name} {version(name)}" for name in _PACKAGES)


def _tokenizer() -> str:
    if (counted := tokens.count("Hold the budget.")) != 4:
        raise CheckError(f"counts {counted} instead of 4")
    return "cl100k and o200k, shipped with the package"


def _grammars() -> str:
    loaded, extra = 0, []
    for name, each in LANGUAGES.items():
        if each.has_grammar:
            try:
                parser_for(name)
                loaded += 1
            except GrammarMissingError:
                if not each.is_extra:
                    raise
                extra.append(name)
    missing = f"; {', '.join(extra)}: run `{install_command('languages')}`" if extra else ""
    return f"{loaded} load{missing}"


def _settings_known(environ: Mapping[str, str]) -> Finding:
    if unknown := unknown_settings(environ):
        return Finding(
            "settings", "failed", " ".join(unknown), "`repo-navigator serve` does not start with it"
        )
    names = ", ".join(sorted(set(environ) & KNOWN))
    return Finding("settings", "ok", f"set: {names}" if names else "all by default")


def _folder(name: str, path: Path | None) -> Finding:
    """Return whether a folder can be written, and has room."""
    title = f"{name} folder"
    if path is None:
        return Finding(title, "ok", "the user's own")
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path):
            pass
    except OSError as error:
        advice = f"make it writable, or set REPO_NAVIGATOR_{name.upper()}"
        return Finding(title, "failed", f"{path}: {error.strerror}", advice)
    free = shutil.disk_usage(path).free // 2**20
    if free < _MIN_FREE_MB:
        advice = f"make room: large repositories need up to {_MIN_FREE_MB} MB"
        return Finding(title, "note", f"{path}, {free} MB free", advice)
    return Finding(title, "ok", str(path))


def _team_stores(settings: Settings) -> Finding:
    """Return whether the database and the bucket answer; nothing is made or changed in them."""
    change = ""

    def reach() -> str:
        nonlocal change
        named = ", ".join(str(each) for each in (settings.store, settings.bucket) if each)
        if not named:
            return "none configured: SQLite and files"
        require_packages(settings.store, settings.bucket)
        if settings.store is not None:
            from navigator.storage.postgres import look_at  # noqa: PLC0415 - only where one is named

            change = anyio.run(look_at, settings.store)
        if settings.bucket is not None:
            # Without the database, whose tables it would make.
            alone = in_memory(settings).model_copy(update={"bucket": settings.bucket})
            use_navigator(alone, lambda navigator: navigator.store.reach(), takes_steps=False)
        return f"{named}; the database has {change}" if change else named

    finding = _check("team stores", reach, "check that both exist; see docs/team.md")
    return finding._replace(state="note") if finding.state == "ok" and change else finding


def _team_settings(settings: Settings) -> Iterator[Finding]:
    """Yield what is wrong with the lists of repositories and tokens."""
    advice = "fix the file; a running server uses its earlier content"
    if repositories := settings.repositories:
        listed = lambda: f"{repositories}: {len(listed_repositories(repositories).entries)} listed"  # noqa: E731
        yield _check("repositories", listed, advice)
    if file := settings.tokens:
        yield _check("tokens", lambda: f"{file}: {len(listed_tokens(file).entries)} listed", advice)
    if settings.allowed:
        yield Finding("allowed folders", "ok", ", ".join(map(str, settings.allowed)))
    if settings.http_issuer:
        detail = f"{settings.http_issuer}, for {settings.http_resource}; doctor does not contact it"
        yield Finding("identity provider", "ok", detail)


def _clients(environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    """Yield whether each client on this machine has the server, and whether its entry exists and is safe."""
    for host in HOSTS.values():
        path = host.path(environ, sys.platform)
        if path.exists():
            finding = _entry(host.title, ConfigurationFile(host, path), f"install {host.name}")
            advice = f"run `repo-navigator install {host.name}`"
            yield finding or Finding(host.title, "note", "not installed", advice)
        shared = project / host.project_file
        if host.project_file and shared.exists() and shared != path:
            configuration = ConfigurationFile(host, shared, within=project)
            again = f"install --scope project {host.name}"
            if finding := _entry(f"{host.title}, this project", configuration, again):
                yield finding


def _entry(name: str, configuration: ConfigurationFile, command: str) -> Finding | None:
    """Return what is to say of our entry, or ``None`` where there is none."""
    try:
        entry = configuration.entry()
    except (InvalidRequestError, OSError) as error:
        return Finding(name, "note", str(error), "fix the file")
    if entry is None:
        return None
    again = f"run `repo-navigator {command}` again"
    program = str(entry.get("command", "")) if isinstance(entry, Mapping) else ""
    if isinstance(entry, Mapping) and (why := unsafe(entry)):
        return Finding(name, "failed", f"its entry may run code of a repository: {why}", again)
    if not (Path(program).is_file() if Path(program).is_absolute() else find_program(program)):
        return Finding(name, "failed", f"its command `{program}` does not exist", again)
    return Finding(name, "ok", str(configuration.path))


def _offline_navigation(settings: Settings) -> str:
    """Navigate a tiny repository by the embedded planner, which uses no network."""
    with tempfile.TemporaryDirectory() as scratch:
        repository = Path(scratch) / "repository"
        repository.mkdir()
        (repository / "budget.py").write_text(_SAMPLE)
        changes = {"cache_dir": Path(scratch) / "cache", "model": EMBEDDED}
        here = in_memory(settings).model_copy(update=changes)

        async def navigate(navigator: Navigator) -> str:
            request = NavigationRequest("where is the budget held?", repository, token_budget=1_000)
            return (await navigator.run(await navigator.open(request))).context_string

        if "hold_the_budget" not in use_navigator(here, navigate):
            raise CheckError("did not find the function")
    return "found the code of a test repository without a model"
