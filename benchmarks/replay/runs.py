"""Published runs of agents: every call with its command, what it printed, and its usage."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from repo_map.errors import RepoMapError

_BLOCK = re.compile(r"```bash\s*\n(.*?)\n```", re.DOTALL)
_WARNING = re.compile(r"<warning>.*?</warning>", re.DOTALL)
_TAG = re.compile(r"</?(?:returncode|output|output_head|output_tail|elided_chars)>")
_STATUS = re.compile(r"<returncode>-?\d+</returncode>")
_ENDING = ".traj.json"
_Row = TypeVar("_Row")
LEFT_OUT = 10
"""Tokens that say that an old output is left out of a prompt."""


class RunsError(RepoMapError):
    """A folder holds no runs, or a run can't be read; the message says which and why."""


class Call(NamedTuple):
    """One call of the model, and what its command printed."""

    command: str
    """Empty where the answer held no command, or more than one."""
    output: str
    prompt: int
    """Tokens sent."""
    cached: int
    """Those of them that the provider read from its cache."""
    out: int
    """Tokens received, thinking included."""
    printed: int = 0
    """Tokens of what the command printed, where later prompts do not hold it for good."""


class Run(NamedTuple):
    """One agent at work on one task."""

    id: str
    calls: tuple[Call, ...]
    patch: str
    """What it handed in."""
    usd: float
    """What the provider asked for it; 0 where the run does not tell."""
    agent: str = "mini-SWE-agent"
    goal: str = ""
    """What was asked for, where the run tells."""
    keeps: int = 0
    """How many of the last outputs a prompt holds, older ones being left out; 0 for all."""


def find_runs(folder: Path) -> dict[str, list[Path]]:
    """Return the runs below a folder by the task that they are of (``TASK.traj.json``, ``TASK.traj``).

    Raises:
        RunsError: there is none.
    """
    found: dict[str, list[Path]] = {}
    for file in sorted(folder.rglob("*.traj*")):
        found.setdefault(file.name.removesuffix(".json").removesuffix(".traj"), []).append(file)
    if not found:
        raise RunsError(f"There is no run in `{folder}`: no file ends in `{_ENDING}`; name the runs' folder.")
    return found


def read_run(file: Path) -> Run:
    """Read one run in mini-SWE-agent's format.

    Raises:
        RunsError: it can't be read, or a call has no usage.
    """
    try:
        data = json.loads(file.read_text("utf-8"))
        return Run(
            file.name.removesuffix(_ENDING),
            tuple(_calls(data["messages"])),
            data["info"].get("submission") or "",
            float(data["info"].get("model_stats", {}).get("instance_cost") or 0),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunsError(f"The run `{file}` can't be read ({type(error).__name__}: {error}).") from None


def _calls(messages: list[Mapping[str, Any]]) -> list[Call]:
    calls: list[Call] = []
    for at, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        blocks = _BLOCK.findall(message["content"])
        answer = messages[at + 1]["content"] if at + 1 < len(messages) else ""
        usage = message["extra"]["response"]["usage"]
        calls.append(
            Call(
                blocks[0] if len(blocks) == 1 else "",
                _printed(answer),
                usage["prompt_tokens"],
                (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
                usage["completion_tokens"],
            )
        )
    return calls


def _printed(answer: str) -> str:
    """Return what a command printed, without the agent's own marks around it."""
    return _TAG.sub("", _WARNING.sub("", _STATUS.sub("", answer))).strip("\n")


def read_rows(file: Path, kind: type[_Row]) -> list[_Row]:
    """Return the rows that a measurement of runs has kept, a line each.

    Raises:
        RunsError: they can't be read.
    """
    try:
        return [msgspec.json.decode(line, type=kind) for line in file.read_bytes().splitlines() if line]
    except (OSError, msgspec.MsgspecError) as error:
        raise RunsError(f"The rows can't be read from `{file}`: {error}.") from None
