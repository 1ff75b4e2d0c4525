"""Documentation without source: an index of all modules, and what each of them offers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import yaml

from benchmarks.agents.isolation.limits import Limits
from benchmarks.agents.isolation.sandbox import Room, run_isolated
from repo_map.drawing.draw import draw_map
from repo_map.index import RepoIndex, build_index
from repo_map.indexing.store import Store
from repo_map.plan.model import FlightPlan, VerbosityRule
from repo_map.text.tokens import count
from repo_map.worktree.file_kinds import FileFlag, flags_of_path

INDEX_NAME = "adk_index.yaml"
_INDEX_TOKENS = 20_000
_HELP_TOKENS = 4_000
_ONE_LINE = 1_000_000
"""Characters after which the index would break a line."""
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_WORDS = re.compile(r"[^\W_]")
_HELP = Path(__file__).with_name("module_help.py")
_HELP_LIMITS = Limits(seconds=30, output_bytes=24_000)


def index_of(repository: Path) -> RepoIndex:
    """Index a small repository in this process, keeping nothing."""
    return build_index(repository, store=Store(None), workers=1)


class IndexEntry(NamedTuple):
    """One module of the index."""

    module: str
    summary: str
    names: tuple[str, ...]

    def line(self) -> str:
        """Return the entry as a line of YAML."""
        message = {self.module: f"{self.summary} [{', '.join(self.names)}]"}
        line: str = yaml.safe_dump(message, allow_unicode=True, width=_ONE_LINE)
        return line.rstrip("\n")


def index_text(entries: Iterable[IndexEntry]) -> str:
    """Return the index as text, cut at its limit with a line that says so."""
    lines: list[str] = []
    tokens = 0
    every = [entry.line() for entry in entries]
    for line in every:
        tokens += count(line) + 1
        if tokens > _INDEX_TOKENS:
            return "\n".join([*lines, f"# {len(every) - len(lines)} further modules are left out"])
        lines.append(line)
    return "\n".join(lines)


def index_modules(index: RepoIndex) -> list[IndexEntry]:
    """Return an entry for each source file that is no test: path, what it says of itself, what it defines."""
    entries: list[IndexEntry] = []
    for number, path in enumerate(index.paths):
        top = [each for each in index.definitions(number) if each.kind != "heading" and each.parent < 0]
        if top and not flags_of_path(path) & FileFlag.TEST:
            names = tuple(dict.fromkeys(each.name for each in top))
            entries.append(IndexEntry(path, _summary(index.text(number)), names))
    return entries


def _summary(text: str) -> str:
    """Return the first line of a file that has words: files begin with a docstring or a comment."""
    for line in text.splitlines():
        if _WORDS.search(line) and not line.startswith("#!"):
            return line.strip(" \t/*#\"'")[:120]
    return ""


async def get_module_help(module: str, index: RepoIndex, room: Room) -> str:
    """Return signatures and docstrings of a module, without its source.

    A path names a file of the repository; a dotted name an installed Python module, imported in a cell.
    """
    if index.file_id(module) is not None:
        rules = (VerbosityRule(pattern="**", level=0), VerbosityRule(pattern=module, level=3))
        return draw_map(index, FlightPlan(budget=_HELP_TOKENS, verbosity=rules)).text
    if not _DOTTED.fullmatch(module):
        return f"{module}: no such file, and no name of a Python module."
    ended = await run_isolated(("python", "-I", str(_HELP), module), room, _HELP_LIMITS, readable=(_HELP,))
    return ended.output if ended.passed else f"{module}: can't be imported.\n{ended.log()[-400:]}"
