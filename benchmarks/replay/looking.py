"""What each call of a run does: look at the tree, edit it, or something else, and which lines it shows."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from benchmarks.replay.placing import Source, Spot, place, plain
from benchmarks.replay.runs import Call
from repo_navigator.hooks.shell import Simple, simple_commands

_SHOWING = frozenset(
    (
        *("awk", "cat", "cut", "diff", "egrep", "fgrep", "file", "find", "git", "grep", "head", "less", "ls"),
        *("more", "nl", "od", "rg", "sed", "sort", "stat", "tail", "tr", "tree", "uniq", "wc", "xargs"),
    )
)
_SEARCHING = frozenset(["egrep", "fgrep", "find", "git", "grep", "ls", "rg", "tree", "xargs"])
_SILENT = frozenset(["cd", "echo", "export", "printf", "pwd", "set", "sleep", "test", "true", "which", "["])
_EDITORS = frozenset(["cp", "ed", "ex", "mv", "patch", "perl", "rm", "tee", "truncate", "vim"])
_GIT_LOOKS = frozenset(("blame", "diff", "grep", "log", "ls-files", "ls-tree", "show", "status"))
_GIT_EDITS = frozenset(
    ("am", "apply", "checkout", "clean", "mv", "reset", "restore", "revert", "rm", "stash")
)
_PYTHON = re.compile(r"^(?:.*/)?python[\d.]*$")
_WRITES = re.compile(r"open\([^)]*['\"][wa]b?\+?['\"]|\.write\(|write_text\(|writelines\(|fileinput|shutil\.")
_SHOWS = re.compile(r"\bprint\b.*|sys\.stdout", re.DOTALL)
_OPENS = re.compile(r"\bopen\(|read_text\(|getsource|linecache")
_STRING = re.compile(r"['\"]([^'\"\n]{3,200})['\"]")
_PATH_WORD = re.compile(r"[\w@+\-./]+\.\w+")
_WITH_PATH = re.compile(r"^([\w@+\-./]+?)[:\-](?:(\d+)[:\-])?(.*)$")
_NUMBERED = re.compile(r"^\s*(\d+)(?:[\t:\-]|\s\s)(.*)$")
_BARE = re.compile(r"\s*(?:\d+[\t:\-]?|--)?\s*")
"""Blank, numbered or not, or what grep prints between hits."""
_ROOTS = ("/testbed/", "./")


class Kind(StrEnum):
    """What a call does."""

    LOOK = "look-up"
    """It only shows files, or searches them."""
    EDIT = "edit"
    """It changes a file of the tree."""
    OTHER = "other"
    """It runs something, makes a file of its own, hands in."""
    UNREAD = "unread"
    """Its command could not be taken apart, or it held none."""


class Step(NamedTuple):
    """One call as it was understood."""

    kind: Kind
    searches: bool
    """Whether it is a look-up that searches."""
    shown: tuple[Spot, ...]
    """Lines of the tree that it shows."""
    named: tuple[str, ...]
    """Files of the tree that its command or its output names, in order."""
    edited: tuple[str, ...]
    """Files of the tree that it changes."""
    unplaced: int
    """Lines that a look-up shows and that stand nowhere in the files it names."""


class Reader:
    """Understands the calls of one run in their order.

    Args:
        paths: the files of the tree.
        read: gives a file's text at the commit that the run began with.
    """

    def __init__(self, paths: frozenset[str], read: Callable[[str], str]) -> None:
        self._paths = paths
        self._read = read
        self._sources: dict[str, Source] = {}
        self._scripts: dict[str, tuple[str, ...]] = {}

    def step(self, call: Call) -> Step:
        """Return what a call does."""
        parts = simple_commands(call.command) if call.command else None
        if not parts:
            return Step(Kind.UNREAD, False, (), (), (), 0)
        kinds, named, edited, folder = [], [], [], ""
        for part in parts:
            if part.words[:1] == ("cd",):
                folder = self._inside(part.words[1:2], folder)
            kind, changed = self._kind(part, folder)
            kinds.append(kind)
            edited += changed
            named += self._files((word.rpartition("HEAD:")[2] for word in part.words), folder)
            named += self._files(_STRING.findall(_code(part)), folder) if kind is Kind.LOOK else []
        if edited or Kind.EDIT in kinds:
            return Step(Kind.EDIT, False, (), _unique(named), _unique(edited), 0)
        looks = [part for part, kind in zip(parts, kinds, strict=True) if kind is Kind.LOOK]
        shows = any(_program(part) not in _SILENT for part in looks)
        if not shows:
            return Step(Kind.OTHER, False, (), _unique(named), (), 0)
        spots, seen, unplaced = self._place(call.output, _unique(named), folder)
        only = all(kind is Kind.LOOK for kind in kinds)
        searches = any(_program(part) in _SEARCHING for part in looks)
        kind = Kind.LOOK if only else Kind.OTHER
        missed = unplaced if only and named else 0
        return Step(kind, searches and only, spots, _unique([*named, *seen]), (), missed)

    def _kind(self, part: Simple, folder: str) -> tuple[Kind, list[str]]:
        """Return what a simple command does, and the files of the tree that it changes."""
        program = _program(part)
        written = self._files(part.writes, folder)
        if written:
            return Kind.EDIT, written
        makes = [name for name in part.writes if not name.startswith("/dev/")]
        if makes:
            if _WRITES.search(part.text):
                changed = tuple(self._files(_STRING.findall(part.text), folder))
                self._scripts |= {posixpath.basename(name): changed for name in makes}
            return Kind.OTHER, []
        if _PYTHON.match(program):
            return self._python(part, folder)
        if program == "git":
            return self._git(part, folder)
        if program == "sed" and any(word.startswith("-i") or word == "--in-place" for word in part.words):
            return self._edit(part, folder)
        if program in _EDITORS:
            return self._edit(part, folder)
        if program == "xargs" and not any(word in _SHOWING for word in part.words[1:]):
            return Kind.OTHER, []
        if program == "find" and any(word in ("-delete", "-exec", "-execdir") for word in part.words):
            shows = any(word in _SHOWING for word in part.words[1:])
            return (Kind.LOOK if shows else Kind.OTHER), []
        return (Kind.LOOK if program in _SHOWING | _SILENT else Kind.OTHER), []

    def _edit(self, part: Simple, folder: str) -> tuple[Kind, list[str]]:
        changed = self._files(part.words, folder)
        # What it does to files of its own is no edit of the tree.
        return (Kind.EDIT if changed else Kind.OTHER), changed

    def _git(self, part: Simple, folder: str) -> tuple[Kind, list[str]]:
        what = next((word for word in part.words[1:] if not word.startswith("-")), "")
        if what in _GIT_EDITS:
            changed = self._files(part.words, folder)
            return (Kind.EDIT if changed or what in ("apply", "stash", "reset") else Kind.OTHER), changed
        return (Kind.LOOK if what in _GIT_LOOKS else Kind.OTHER), []

    def _python(self, part: Simple, folder: str) -> tuple[Kind, list[str]]:
        code = _code(part)
        strings = self._files(_STRING.findall(code), folder)
        if _WRITES.search(code) and strings:
            return Kind.EDIT, strings
        if _OPENS.search(code) and _SHOWS.search(code) and strings:
            return Kind.LOOK, []
        for word in part.words[1:]:
            if changed := self._scripts.get(posixpath.basename(word)):
                return Kind.EDIT, list(changed)
        return Kind.OTHER, []

    def _place(
        self, output: str, named: Sequence[str], folder: str
    ) -> tuple[tuple[Spot, ...], list[str], int]:
        """Return the lines shown, the files that the output names, and how many lines stand nowhere."""
        spots: list[Spot] = []
        seen: list[str] = []
        unplaced = 0
        rest: list[str] = []

        def place_rest() -> None:
            nonlocal unplaced
            found = place(rest, {path: self._source(path) for path in named})
            spots.extend(spot for spot in found if spot)
            unplaced += sum(1 for line, spot in zip(rest, found, strict=True) if line.strip() and not spot)
            rest.clear()

        for line in output.split("\n"):
            path, spot = self._with_path(line, folder)
            if path:
                seen.append(path)
            spot = spot or self._numbered(line, named)
            if spot:
                place_rest()
                spots.append(spot)
            elif not path and not _BARE.fullmatch(line):
                rest.append(line)
        place_rest()
        return tuple(dict.fromkeys(spots)), seen, unplaced

    def _with_path(self, line: str, folder: str) -> tuple[str, Spot | None]:
        """Read ``path:12:text``, ``path:text`` and a path alone; the path is empty where there is none."""
        alone = self._files([line.strip()], folder)
        if alone:
            return alone[0], None
        for match in (
            _WITH_PATH.match(line),
            re.match(r"^([\w@+\-./]+\.\w+)[:\-](?:(\d+)[:\-])?(.*)$", line),
        ):
            if match and (paths := self._files([match[1]], folder)):
                source = self._source(paths[0])
                text, number = plain(match[3]), int(match[2] or 0)
                if number and _stands(source, number, text):
                    return paths[0], Spot(paths[0], number)
                places = source.places(text) if text else ()
                return paths[0], Spot(paths[0], places[0] + 1) if places else None
        listed = [path for word in _PATH_WORD.findall(line) for path in self._files([word], folder)]
        return (listed[0] if listed and " " not in line.strip() else ""), None

    def _numbered(self, line: str, named: Sequence[str]) -> Spot | None:
        """Read ``12:text``, ``12-text`` and what ``nl`` and ``cat -n`` print."""
        if match := _NUMBERED.match(line):
            number, text = int(match[1]), plain(match[2])
            for path in named:
                if text and _stands(self._source(path), number, text):
                    return Spot(path, number)
            for path in named:
                # Its number may have moved by an edit.
                if text and (places := self._source(path).places(text)):
                    return Spot(path, min(places, key=lambda at: abs(at + 1 - number)) + 1)
        return None

    def _source(self, path: str) -> Source:
        if path not in self._sources:
            self._sources[path] = Source(path, self._read(path))
        return self._sources[path]

    def _files(self, words: Iterable[str], folder: str) -> list[str]:
        """Return the files of the tree that words name."""
        found = []
        for word in words:
            path = self._inside((word,), folder)
            found += [path] if path in self._paths else []
        return found

    def _inside(self, words: Sequence[str], folder: str) -> str:
        """Return a path relative to the tree's root."""
        if not words:
            return folder
        word = words[0]
        for root in _ROOTS:
            if word.startswith(root):
                folder = "" if root.startswith("/") else folder
                word = word.removeprefix(root)
        return posixpath.normpath(posixpath.join(folder, word)) if len(word) < 300 else ""


def _stands(source: Source, number: int, text: str) -> bool:
    return 0 < number <= len(source.lines) and source.lines[number - 1] == text


def _program(part: Simple) -> str:
    words = [word for word in part.words if not re.match(r"^\w+=", word)]
    return posixpath.basename(words[0]) if words else ""


def _code(part: Simple) -> str:
    """Return the program that a command holds itself: its here-document, or what follows ``-c``."""
    inline = part.words.index("-c") + 1 if "-c" in part.words[:-1] else 0
    return part.text or (part.words[inline] if inline else "")


def _unique(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))
