"""``python -m benchmarks hook-hosts``: does what a hook says reach the model of each assistant?

The assistants' own command lines are run in a home of their own, with hooks installed there, against a
stand-in for their models on loopback. The stand-in asks for a search that misses a name by its ending.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.git import run_git
from benchmarks.stand_in_model import StandIn, standing_in
from repo_map.index import build_index
from repo_map.indexing.store import user_store
from repo_navigator.hooks.facts import facts_of
from repo_navigator.hooks.names_writer import write_names

_PROMPT: Final = "Where is the total of the cart worked out?"
_LINE: Final = "grep -rn discount_total ."
_FILES: Final = {
    "shop/pricing.py": "def discounted_total(cart):\n    return sum(cart) - 1\n",
    "tests/test_pricing.py": "from shop.pricing import discounted_total\n\n\ndef test_total():\n    pass\n",
}
_SECONDS: Final = 180


class _Host(NamedTuple):
    """How an assistant's command line is made to call the stand-in."""

    program: str
    arguments: tuple[str, ...]
    environ: Callable[[str], Mapping[str, str]]
    """What it has to know of the stand-in at an address."""
    prepare: Callable[[Path, str, Path], None] = lambda home, url, root: None
    """Writes what it reads beside the hooks, in a home."""


def _codex(home: Path, url: str, root: Path) -> None:
    provider = f'[model_providers.here]\nname = "here"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
    trusted = f'[projects."{root}"]\ntrust_level = "trusted"\n'
    file = home / ".codex/config.toml"
    file.write_text(f'model = "stand-in"\nmodel_provider = "here"\n{provider}{trusted}')


def _gemini(home: Path, url: str, root: Path) -> None:
    del url, root
    file = home / ".gemini/settings.json"
    chosen = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    file.write_text(json.dumps(json.loads(file.read_text()) | chosen))


_HOSTS: Final = {
    "claude-code": _Host(
        "claude",
        ("-p", _PROMPT, "--allowedTools", "Bash"),
        lambda url: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        },
    ),
    "codex": _Host(
        "codex",
        ("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", _PROMPT),
        lambda url: {},
        _codex,
    ),
    "copilot-cli": _Host(
        "copilot",
        ("-p", _PROMPT, "--allow-all-tools"),
        lambda url: {
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "stand-in",
            "COPILOT_OFFLINE": "true",
        },
    ),
    "gemini-cli": _Host(
        "gemini",
        ("--approval-mode", "yolo", "-m", "gemini-2.5-pro", "-p", _PROMPT),
        lambda url: {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        _gemini,
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument("programs", type=Path, metavar="DIR", help="folder of the assistants' programs")
    parser.add_argument("--only", choices=sorted(_HOSTS), help="this assistant alone")


def run(options: argparse.Namespace) -> int:
    """Run each assistant that is there, and tell what its model was sent; 1 where something is missing."""
    print("| assistant | version | the facts arrive | what is said of the search arrives |")
    print("| --- | --- | --- | --- |")
    arrived = True
    for name, host in _HOSTS.items():
        program = options.programs.resolve() / host.program
        if options.only in (None, name) and program.exists():
            version, facts, said = _tried(name, host, program)
            arrived = arrived and facts and said
            print(f"| {name} | {version} | {_yes(facts)} | {_yes(said)} |", flush=True)
    return 0 if arrived else 1


def _tried(name: str, host: _Host, program: Path) -> tuple[str, bool, bool]:
    with tempfile.TemporaryDirectory() as made, standing_in(_LINE) as model:
        folder = Path(made).resolve()
        home, root = folder / "home", folder / "shop"
        home.mkdir()
        kept = {
            "HOME": str(home),
            "REPO_NAVIGATOR_CACHE": str(folder / "cache"),
            "REPO_NAVIGATOR_DATA": str(folder / "data"),
        }
        _write_repository(root, kept)
        environ = {"PATH": os.environ.get("PATH", os.defpath), **kept, **host.environ(model.url)}
        _run([sys.executable, "-m", "repo_navigator.main", "install", name, "--hooks"], environ)
        host.prepare(home, model.url, root)
        version = _run([str(program), "--version"], environ).split("\n")[0]
        _run([str(program), *host.arguments], environ, root)
        return version, *_arrived(model)


def _arrived(model: StandIn) -> tuple[bool, bool]:
    """Tell whether the first request held the facts, and the second what is said of the search."""
    sent = [*model.sent, "", ""]
    return "code: shop/" in sent[0], "discounted_total (function)" in sent[1]


def _write_repository(root: Path, kept: Mapping[str, str]) -> None:
    for path, text in _FILES.items():
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(text)
    run_git(root, "init", "-q", ".")
    os.environ.update({name: value for name, value in kept.items() if name != "HOME"})
    index, cache = build_index(root), user_store().folder
    assert cache is not None
    write_names(index, cache, root, {"facts": facts_of(index), "tree": index.fingerprint}, seconds=1)


def _run(command: list[str], environ: Mapping[str, str], folder: Path | None = None) -> str:
    try:
        done = subprocess.run(
            command,
            check=False,
            env=dict(environ),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.decode("utf-8", "replace").strip()


def _yes(value: bool) -> str:
    return "yes" if value else "no"
