"""SWE-agent's published runs: its own search and file commands read as searches, reads and edits."""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.replay.runs import RunsError
from repo_navigator.hooks.searches import Action, Search, of_shell

_ENDING: Final = ".traj"
_FOUND: Final = re.compile(r"^\s*(/\S+) \((\d+) matches\)", re.MULTILINE)
_MANY: Final = re.compile(r"More than (\d+) files matched")
_OPENED: Final = re.compile(r"\[File: (\S+) \(")
_PATCHED: Final = re.compile(
    r"^diff --git a/(\S+) b/\S+\n(?:old mode.*\nnew mode.*\n)?index ([0-9a-f]{7,40})\.\.", re.MULTILINE
)


class Moment(NamedTuple):
    """One call: what it looked for, what came back, and which files it opened or edited."""

    searches: tuple[Search, ...]
    output: str
    """What a hook would be given, in the form that ``grep`` prints."""
    opened: frozenset[str]
    edited: frozenset[str]


class AgentRun(NamedTuple):
    """One run of SWE-agent."""

    id: str
    agent: str
    moments: tuple[Moment, ...]
    blobs: Mapping[str, str]
    """What its patch says of the files before it: the beginning of each blob's name by path."""


def read_agent_run(file: Path) -> AgentRun:
    """Read one run in SWE-agent's format; raises ``RunsError`` where it can't be."""
    try:
        data = json.loads(file.read_text("utf-8"))
        steps = [(step["action"] or "", step["observation"] or "") for step in data["trajectory"]]
        patch = data["info"].get("submission") or ""
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunsError(f"The run `{file}` can't be read ({type(error).__name__}: {error}).") from None
    name = file.name.removesuffix(_ENDING)
    folder = f"/{name.rpartition('-')[0]}/"
    return AgentRun(name, file.parents[1].name, tuple(_moments(steps, folder)), dict(_PATCHED.findall(patch)))


def _moments(steps: list[tuple[str, str]], folder: str) -> Iterator[Moment]:
    opened = ""

    def inside(path: str) -> str:
        path = path.removeprefix(folder.rstrip("/"))
        return posixpath.normpath(path.lstrip("/")) if path else ""

    for action, output in steps:
        words = _words(action)
        verb = words[0] if words else ""
        found = _OPENED.search(output)
        now = inside(found[1]) if found else opened
        if verb in ("search_dir", "find_file", "search_file") and len(words) > 1:
            yield _searched(verb, words, output, opened, inside)
        elif verb in ("open", "goto", "scroll_down", "scroll_up"):
            yield Moment((), output, frozenset({now} if found else ()), frozenset())
        elif verb in ("edit", "create"):
            yield Moment((), output, frozenset(), frozenset({now} if now else ()))
        else:
            done: Action = of_shell(action)
            edits = {inside(path) for path in done.edits if path}
            reads = {inside(path) for path in done.reads}
            yield Moment(done.searches, output.replace(folder, ""), frozenset(reads), frozenset(edits))
        opened = now


def _searched(verb: str, words: list[str], output: str, opened: str, inside: Callable[[str], str]) -> Moment:
    place = inside(words[2]) if len(words) > 2 else ""
    if verb == "search_file" and not place:
        place = opened
    search = Search((words[1],), (place,) if place else (), for_files=verb == "find_file", is_plain=True)
    if "No matches found" in output:
        plain = ""
    elif many := _MANY.search(output):
        plain = "\n".join(["…"] * int(many[1]))
    elif verb == "search_file":
        plain = "\n".join(re.findall(r"^Line (\d+:.*)$", output, re.MULTILINE))
    elif verb == "search_dir":
        plain = "\n".join(
            f"{inside(path)}:" for path, times in _FOUND.findall(output) for _ in range(int(times))
        )
    else:
        plain = "\n".join(inside(line) for line in output.splitlines() if line.startswith("/"))
    reads = {place} if verb == "search_file" and place else set()
    return Moment((search,), plain, frozenset(reads), frozenset())


def _words(action: str) -> list[str]:
    line = action.strip().partition("\n")[0]
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()
