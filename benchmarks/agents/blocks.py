"""Code in a model's answer: fenced blocks, and the edits in them."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from repo_map.sources.file_kinds import FileFlag, flags_of_path

_FENCE = re.compile(
    r"^(?P<marks>`{3,})(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=marks)[ \t]*$", re.MULTILINE | re.DOTALL
)
_EDIT = re.compile(
    r"^<{5,} SEARCH[ \t]*\n(?P<old>.*?)^={5,}[ \t]*\n(?P<new>.*?)^>{5,} REPLACE[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_TAKEN = frozenset(name.casefold() for name in sys.stdlib_module_names) | {"pytest", "_pytest", "conftest"}
_STARTED_BY_PYTHON = frozenset({"sitecustomize.py", "usercustomize.py", "conftest.py", "pytest.ini"})


class CandidateError(Exception):
    """An answer can't be turned into files; the message tells the model why."""


class Block(NamedTuple):
    """One fenced block; ``path`` is empty where the fence names none."""

    language: str
    path: str
    text: str


def blocks_of(response: str) -> list[Block]:
    """Return the fenced blocks of an answer: ``` language path ```."""
    blocks: list[Block] = []
    for fence in _FENCE.finditer(response):
        words = fence["info"].split()
        path = words[1].removeprefix("path=") if len(words) > 1 else ""
        blocks.append(Block(words[0] if words else "", path, fence["text"]))
    return blocks


def edits_of(response: str) -> str:
    """Return the blocks of an answer that name a file, and nothing else of it.

    Raises:
        CandidateError: there is none.
    """
    named = [block for block in blocks_of(response) if block.path]
    if not named:
        raise CandidateError("The answer has no block that names a file, as in ```python src/area.py```.")
    return "\n".join(f"```{block.language} {block.path}\n{block.text}```" for block in named)


def program_of(response: str) -> str:
    """Return the Python program of an answer: a Python block, ``code`` in JSON, any block, or all of it.

    Raises:
        CandidateError: nothing in it is Python.
    """
    for text in _programs(response):
        try:
            ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        if text.strip():
            return text
    raise CandidateError("The answer holds no complete Python program in a ```python block.")


def _programs(response: str) -> Iterator[str]:
    """Yield what may be the program, the likeliest first; of several blocks, the longest."""
    blocks = sorted(blocks_of(response), key=lambda block: -len(block.text))
    yield from (block.text for block in blocks if block.language.lower() in ("python", "py"))
    for text in (*(block.text for block in blocks if block.language == "json"), response):
        try:
            said = json.loads(text)
        except ValueError:
            continue
        if isinstance(said, dict) and isinstance(said.get("code"), str):
            yield said["code"]
    yield from (block.text for block in blocks)
    yield response


def apply_edits(edits: str, folder: Path, protected: Sequence[str]) -> list[str]:
    """Carry out the blocks that name a file; return the paths of the files they changed.

    A block holds edits (``<<<<<<< SEARCH``, old lines, ``=======``, new lines, ``>>>>>>> REPLACE``) or
    a whole file.

    Raises:
        CandidateError: a path leads out of the folder or to a test, or old lines are not there exactly once.
    """
    changed: list[str] = []
    for block in blocks_of(edits):
        file = target_of(folder, block.path, protected)
        changes = list(_EDIT.finditer(block.text))
        if changes and not file.is_file():
            raise CandidateError(f"There is no file {block.path} to edit.")
        text = file.read_text("utf-8") if changes else block.text
        for change in changes:
            text = _replace(text, change["old"], change["new"], block.path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        changed.append(block.path)
    return list(dict.fromkeys(changed))


def refusal_of(path: str, protected: Collection[str]) -> str:
    """Say why a candidate may not write a file, ``""`` where it may: the tests have to be the task's own.

    Args:
        path: of the file, relative to the repository.
        protected: files that decide the task.
    """
    names = [name.casefold() for name in PurePosixPath(path).parts]
    if path in protected or names[0] == "tests" or flags_of_path(path) & FileFlag.TEST:
        return f"{path} is a test of the task; it may not be changed."
    # The tests start in the repository's folder, where such a file would be found in place of the module.
    if names[0].partition(".")[0] in _TAKEN or names[-1] in _STARTED_BY_PYTHON:
        return f"{path} would take the place of a module that the tests need; call it otherwise."
    if "node_modules" in names or names[-1] == "package.json":
        return f"{path} decides how the tests are run; it may not be changed."
    return ""


def target_of(folder: Path, path: str, protected: Collection[str] | None) -> Path:
    """Return the file that a candidate writes in a copy of the repository.

    Args:
        folder: the copy.
        path: of the file, relative to it.
        protected: files that decide the task; None where nothing but the place matters.

    Raises:
        CandidateError: it leads out of the copy, also by a symbolic link, or may not be written.
    """
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or ".git" in parts:
        raise CandidateError(f"{path} leads out of the repository.")
    if protected is not None and (why := refusal_of(path, protected)):
        raise CandidateError(why)
    file = folder / path
    if not file.resolve().is_relative_to(folder.resolve()):
        raise CandidateError(f"{path} leads out of the repository.")
    return file


def _replace(text: str, old: str, new: str, path: str) -> str:
    """Replace ``old``, exactly or, failing that, line by line without regard to indentation."""
    if text.count(old) == 1:
        return text.replace(old, new)
    lines, wanted = text.splitlines(keepends=True), [line.strip() for line in old.splitlines()]
    places = [
        start
        for start in range(len(lines) - len(wanted) + 1)
        if wanted and [line.strip() for line in lines[start : start + len(wanted)]] == wanted
    ]
    if len(places) != 1:
        raise CandidateError(
            f"The SEARCH lines stand {len(places)} times in {path}; they have to stand there once."
        )
    start = places[0]
    shift = _indent(lines[start])[len(_indent(old)) :]
    moved = [shift + line if line.strip() else line for line in new.splitlines(keepends=True)]
    return "".join([*lines[:start], *moved, *lines[start + len(wanted) :]])


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
