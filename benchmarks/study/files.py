"""The tools of a host without a shell: list, search, read, edit and write files of one repository."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final, NamedTuple

from google.genai import types

from benchmarks.agents.blocks import CandidateError, target_of

_MOST_FILES: Final = 200
_MOST_HITS: Final = 60
_MOST_LINES: Final = 200
_LONGEST_LINE: Final = 200
_LARGEST: Final = 1_000_000
"""Bytes of a file that is searched."""


class FileTool(NamedTuple):
    """One tool, and what Claude Code calls its like, which is what hooks hear."""

    declaration: types.FunctionDeclaration
    act: Callable[..., str]
    host_name: str
    host_arguments: dict[str, str]
    """The tool's arguments → Claude Code's."""


def file_tools(folder: Path) -> dict[str, FileTool]:
    """Return the tools by name, over the files of a folder."""
    files = _Files(folder)
    return {
        tool.declaration.name or "": tool
        for tool in (
            _tool(files.list_files, "Glob", {"pattern": "pattern"}, "List files, by a pattern such as *.py."),
            _tool(
                files.search,
                "Grep",
                {"pattern": "pattern", "path": "path"},
                "Search the lines of all files below a path for a regular expression.",
            ),
            _tool(
                files.read_file,
                "Read",
                {"path": "file_path", "first_line": "offset"},
                "Read up to 200 lines of a file.",
            ),
            _tool(
                files.edit_file,
                "Edit",
                {"path": "file_path", "old": "old_string", "new": "new_string"},
                "Replace a text that stands in a file exactly once.",
            ),
            _tool(
                files.write_file,
                "Write",
                {"path": "file_path", "text": "content"},
                "Write a whole file.",
            ),
        )
    }


class _Files:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def list_files(self, pattern: str = "*") -> str:
        found = [
            path for path in self._paths() if fnmatch(path, pattern) or fnmatch(Path(path).name, pattern)
        ]
        more = [f"… {len(found) - _MOST_FILES} more"] if len(found) > _MOST_FILES else []
        return "\n".join(found[:_MOST_FILES] + more) or "No file fits."

    def search(self, pattern: str, path: str = "") -> str:
        wanted, found = re.compile(pattern), list[str]()
        for name in self._paths():
            if path and not f"{name}/".startswith(f"{path.strip('/')}/"):
                continue
            file = self._folder / name
            if file.stat().st_size > _LARGEST:
                continue
            for number, line in enumerate(file.read_text("utf-8", "replace").split("\n"), 1):
                if wanted.search(line):
                    found.append(f"{name}:{number}:{line[:_LONGEST_LINE]}")
        more = [f"… {len(found) - _MOST_HITS} more"] if len(found) > _MOST_HITS else []
        return "\n".join(found[:_MOST_HITS] + more) or "No line matches."

    def read_file(self, path: str, first_line: int = 1) -> str:
        lines = self._file(path).read_text("utf-8", "replace").split("\n")
        first = max(1, int(first_line))
        shown = lines[first - 1 : first - 1 + _MOST_LINES]
        more = [f"… {len(lines) - first + 1 - _MOST_LINES} more lines"]
        return "\n".join(shown + (more if first - 1 + _MOST_LINES < len(lines) else []))

    def edit_file(self, path: str, old: str, new: str) -> str:
        file = self._file(path)
        text = file.read_text("utf-8")
        if text.count(old) != 1:
            return f"The old text stands {text.count(old)} times in {path}; it has to stand there once."
        file.write_text(text.replace(old, new), encoding="utf-8")
        return f"{path} is edited."

    def write_file(self, path: str, text: str) -> str:
        file = self._file(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return f"{path} is written."

    def _file(self, path: str) -> Path:
        return target_of(self._folder, path, None)

    def _paths(self) -> Iterator[str]:
        for file in sorted(self._folder.rglob("*")):
            path = file.relative_to(self._folder)
            if file.is_file() and not file.is_symlink() and ".git" not in path.parts:
                yield path.as_posix()


def _tool(act: Callable[..., str], host_name: str, names: dict[str, str], about: str) -> FileTool:
    numbers = {"first_line"}
    optional = {"first_line", "path"} if act.__name__ in ("search", "read_file") else {"pattern"}
    required = [
        name for name in names if name not in optional or (name, act.__name__) == ("path", "read_file")
    ]
    properties = {name: {"type": "integer" if name in numbers else "string"} for name in names}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    declaration = types.FunctionDeclaration(
        name=act.__name__, description=about, parameters_json_schema=schema
    )
    return FileTool(declaration, _told(act), host_name, names)


def _told(act: Callable[..., str]) -> Callable[..., str]:
    """Return what tells what went wrong, as a tool does, and raises nothing."""

    def acts(**given: Any) -> str:
        try:
            return act(**given)
        except (OSError, TypeError, ValueError, re.error, CandidateError) as error:
            return f"That did not work: {error}"

    return acts
