"""Published runs that tell each call of a tool, and not its tokens: what hooks say in them is judged.

Two forms are read: JSON of Vorflux, and text of Rovo Dev. Rovo Dev's keeps 500 characters of what a call
printed; a search of which more was printed is made again in the tree that the run began with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from benchmarks.replay.hooked import CRAWL, SEARCH, Known, Moment, Said, inside_tree, judged, utterances
from benchmarks.replay.looking import Kind, Reader, Step
from benchmarks.replay.placing import Spot
from benchmarks.replay.runs import Call, Run, RunsError
from benchmarks.tasks import Task
from benchmarks.trees import Snapshot
from repo_map.worktree.git import GitError
from repo_navigator.hooks.searches import Action, Search, action_of

_TREE: Final = "/testbed"
"""What the root of the tree is called in what is read."""
_ISSUE: Final = "## Issue\n"
_PROBLEM: Final = re.compile(r"<problem_statement>\n(.*?)</problem_statement>", re.DOTALL)
_PART: Final = re.compile(r"\n={100,}\n")
_CALL: Final = re.compile(r"TOOL CALL \((\w+)\)\n(.*)", re.DOTALL)
_RETURN: Final = re.compile(r"TOOL RETURN \(\w+\)\n```\n(.*?)\n?```\s*\Z", re.DOTALL)
_CUT: Final = "..."
"""Stands behind whatever Rovo Dev's calls printed."""
_LONGEST: Final = 500
_NO_MATCH: Final = re.compile(r"\ANo match(?:es)? found.*\Z", re.DOTALL)
_READING: Final = frozenset({"read_text_file", "open_files", "inspect_code", "expand_code_chunks"})
_EDITING: Final = frozenset(
    {"edit_file", "write_file", "find_and_replace_code", "create_file", "delete_file"}
)
_HEAD: Final = re.compile(r"\|\s*head\s+(?:-n\s*)?-?(\d+)")


class ToolCall(NamedTuple):
    """One call of a tool as it was published."""

    tool: str
    given: Mapping[str, Any]
    output: str
    is_cut: bool = False
    """Whether it printed more."""


class ToolRun(NamedTuple):
    """A run of an agent on a task."""

    goal: str
    calls: list[ToolCall]


def read_tool_run(file: Path, repo: str) -> ToolRun:
    """Read a run, its paths as if the tree lay at one place.

    Raises:
        RunsError: it can't be read.
    """
    try:
        text = file.read_text("utf-8", "replace")
        if file.suffix == ".json":
            entries = json.loads(text.replace(f"/code/{repo}", _TREE))["trajectory"]
            asked = next(entry["task_prompt"] for entry in entries if "task_prompt" in entry)
            return ToolRun(asked[0]["content"].partition(_ISSUE)[2], list(_of_json(entries)))
        goal = _PROBLEM.search(text)
        text = text.replace("/workspace/", f"{_TREE}/").replace("/workspace ", f"{_TREE} ")
        return ToolRun(goal[1] if goal else "", list(_of_text(text)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
        raise RunsError(f"The run `{file}` can't be read ({type(error).__name__}: {error}).") from None


def _of_json(entries: Sequence[Mapping[str, Any]]) -> Iterator[ToolCall]:
    for entry in entries:
        given = entry.get("arguments")
        if entry["type"] == "tool_call" and isinstance(given, dict):
            result = entry["result"]
            output = result.get("stdout") or "" if "stdout" in result else result
            yield ToolCall(entry["tool"], given, output if isinstance(output, str) else json.dumps(output))


def _of_text(text: str) -> Iterator[ToolCall]:
    waiting: tuple[str, Mapping[str, Any]] | None = None
    for part in _PART.split(text):
        if called := _CALL.match(part):
            waiting = called[1], _arguments(called[2])
        elif waiting and (answered := _RETURN.match(part)):
            yield ToolCall(*waiting, answered[1].removesuffix(_CUT), len(answered[1]) >= _LONGEST)
            waiting = None


def _arguments(written: str) -> Mapping[str, Any]:
    try:
        found = yaml.safe_load(written)
    except yaml.YAMLError:
        return {}
    return found if isinstance(found, dict) else {}


def tool_moments(calls: Sequence[ToolCall], snapshot: Snapshot) -> list[Moment]:
    """Return the calls of a run as a hook is told of them."""
    reader = Reader(snapshot.paths, snapshot.read)
    return [_moment(call, reader, snapshot) for call in calls]


def _moment(call: ToolCall, reader: Reader, snapshot: Snapshot) -> Moment:
    action = inside_tree(_action(call))
    output = "" if _NO_MATCH.match(call.output) else call.output.replace(f"{_TREE}/", "")
    command = _command(call)
    if call.is_cut and len(action.searches) == 1:
        output = _made_again(action.searches[0], call, snapshot) or output
    step = reader.step(Call(command, "", 0, 0, 0)) if command else None
    edited = step.edited if step else tuple(path for path in action.edits if path in snapshot.paths)
    asked = [place for each in action.searches for place in each.places] if output else []
    opened = frozenset(path for path in (*action.reads, *asked) if path in snapshot.paths)
    kind = Kind.EDIT if edited else Kind.LOOK if action.looks else Kind.OTHER
    shown = tuple(Spot(path, 1) for path in sorted(opened))
    return Moment(action, output, Step(kind, bool(action.searches), shown, (), edited, 0), opened)


def _command(call: ToolCall) -> str:
    command = call.given.get("command") if call.tool in ("bash", "bash_execute") else None
    folder = call.given.get("working_dir")
    return f"cd {folder} && {command}" if command and folder else str(command or "")


def _action(call: ToolCall) -> Action:
    given = call.given
    if command := _command(call):
        return action_of("bash", {"command": command})
    paths = [
        str(each)
        for each in (given.get("file_path"), given.get("filePath"), *(given.get("file_paths") or ()))
        if each
    ]
    if call.tool in _READING:
        return Action(reads=tuple(paths))
    if call.tool in _EDITING:
        return Action(edits=tuple(paths) or ("",))
    pattern = str(given.get("content_pattern") or given.get("pattern") or "")
    place = str(given.get("dirPath") or given.get("path") or "")
    if call.tool in ("grep", "grep_search"):
        return action_of("grep", {"pattern": pattern, "path": place} if place else {"pattern": pattern})
    return action_of("glob", {"pattern": pattern, "path": place}) if call.tool == "search_files" else Action()


def _made_again(search: Search, call: ToolCall, snapshot: Snapshot) -> str:
    """Return what a search of text finds in the tree, empty where git can't make it."""
    if search.for_files:
        return ""
    command = _command(call)
    glob = str(call.given.get("path_glob") or "")
    flags = "".join(re.findall(r"(?<=\s)-([a-zA-Z]+)", command))
    dialect = "-F" if search.is_plain else "-E" if "E" in flags or not command else "-G"
    options = ["-n", "-I", dialect, *(["-i"] if "i" in flags else []), *(["-l"] if "l" in flags else [])]
    kinds = re.findall(r"--include[= ]['\"]?\*(\.\w+)", command)
    places = [f":(glob){glob}"] if glob else [f":(glob)**/*{kind}" for kind in kinds] or search.places
    patterns = [word for pattern in search.patterns for word in ("-e", pattern)]
    try:
        found = snapshot.git("grep", *options, *patterns, snapshot.commit, "--", *places)
    except GitError:
        return ""
    lines = found.decode("utf-8", "replace").replace(f"{snapshot.commit}:", "").split("\n")
    most = _HEAD.search(command)
    return "\n".join(lines[: int(most[1])] if most else lines).strip("\n")


def said_in(task: Task, agent: str, run: ToolRun, known: Known) -> list[Said]:
    """Return every search of a run with what a hook says of it, and what it says at a crawl."""
    past = tool_moments(run.calls, known.snapshot)
    said = utterances(past, known, {SEARCH, CRAWL})
    return list(judged(task, Run(task.id, (), "", 0.0, agent), past, said))
