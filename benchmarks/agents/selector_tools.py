"""Tools of the selector: an index of all modules, the documentation of one, and a shell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import yaml

from benchmarks.agents.isolation.sandbox import Limits, Room, run_isolated
from benchmarks.agents.trial import fresh_room
from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.outline.draw import draw_map
from repo_map.plan.model import FlightPlan, VerbosityRule
from repo_map.sources.file_kinds import FileFlag, flags_of_path
from repo_map.text.tokens import count

INDEX_NAME = "adk_index.yaml"
_INDEX_TOKENS = 20_000
_HELP_TOKENS = 4_000
_ONE_LINE = 1_000_000
"""Characters after which the index would break a line."""
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_WORDS = re.compile(r"[^\W_]")
_HELP = Path(__file__).with_name("module_help.py")
_HELP_LIMITS = Limits(seconds=30, output_bytes=24_000)
_MOST_HITS = 40
_MOST_LINES = 200
_MOST_FILES = 200


def index_of(repository: Path) -> Index:
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


def index_modules(index: Index) -> list[IndexEntry]:
    """Return an entry for each source file that is no test: path, what it says of itself, what it defines."""
    entries: list[IndexEntry] = []
    for number, path in enumerate(index.paths):
        top = [each for each in index.definitions(number) if each.kind != "heading" and each.parent < 0]
        if top and not flags_of_path(path) & FileFlag.TEST:
            names = tuple(dict.fromkeys(each.name for each in top))
            entries.append(IndexEntry(path, _summary(index.sources.text(number)), names))
    return entries


def _summary(text: str) -> str:
    """Return the first line of a file that has words: files begin with a docstring or a comment."""
    for line in text.splitlines():
        if _WORDS.search(line) and not line.startswith("#!"):
            return line.strip(" \t/*#\"'")[:120]
    return ""


async def get_module_help(module: str, index: Index, room: Room) -> str:
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


class SelectorTools:
    """The tools of the selector that searches; ``open`` names the repository before the first call."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.repository = self.scratch = Path()

    def open(self, repository: Path, scratch: Path) -> None:
        """Work on ``repository`` from now on; commands run in a copy of it below ``scratch``."""
        self.repository, self.scratch = repository, scratch
        for name in ("index", "room"):
            self.__dict__.pop(name, None)

    @cached_property
    def index(self) -> Index:
        """The repository's index."""
        return index_of(self.repository)

    @cached_property
    def room(self) -> Room:
        """A copy of the repository: commands may write there without changing what is worked on."""
        return fresh_room(self.repository, self.scratch / "shell")

    def find_files(self, name_contains: str = "") -> str:
        """List the files whose path contains a text; all of them for an empty one."""
        paths = [path for path in self.index.paths if name_contains.lower() in path.lower()]
        more = f"\n… {len(paths) - _MOST_FILES} more" if len(paths) > _MOST_FILES else ""
        return "\n".join(paths[:_MOST_FILES]) + more or "No file's path contains that."

    def grep(self, pattern: str) -> str:
        """Search all files but tests for a regular expression, in any case; gives path:line: text."""
        try:
            wanted = re.compile(pattern, re.IGNORECASE)
        except re.error as error:
            return f"`{pattern}` is no regular expression: {error}."
        hits: list[str] = []
        for number, path in enumerate(self.index.paths):
            if flags_of_path(path) & FileFlag.TEST:
                continue
            for row, line in enumerate(self.index.sources.text(number).splitlines(), 1):
                if wanted.search(line):
                    hits.append(f"{path}:{row}: {line.strip()[:160]}")
        more = f"\n… {len(hits) - _MOST_HITS} more" if len(hits) > _MOST_HITS else ""
        return "\n".join(hits[:_MOST_HITS]) + more or "No line matches."

    def read_file(self, path: str, first_line: int = 1) -> str:
        """Read up to 200 lines of a file from a line on."""
        number = self.index.file_id(path)
        if number is None:
            near = [known for known in self.index.paths if Path(known).name == Path(path).name]
            return f"There is no file {path}." + (f" Did you mean {near[0]}?" if near else "")
        lines = self.index.sources.text(number).splitlines()
        start = max(first_line, 1) - 1
        rest = len(lines) - start - _MOST_LINES
        more = f"\n… {rest} more lines" if rest > 0 else ""
        return "\n".join(lines[start : start + _MOST_LINES]) + more

    async def get_module_help(self, module: str) -> str:
        """Get signatures and docstrings of a file of the repository, or of an installed Python module."""
        return await get_module_help(module, self.index, self.room)

    async def run_shell_command(self, command: str) -> str:
        """Run a command line in a copy of the repository; get what it printed and how it ended."""
        return (await run_isolated(("bash", "-c", command), self.room, self._limits)).log()
