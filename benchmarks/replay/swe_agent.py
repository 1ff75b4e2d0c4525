"""SWE-agent's published runs, its own search and file commands read as a shell's.

They tell the tokens of a run, not of each call. SWE-agent sends its instructions, every answer so far, and
the last five outputs; of older ones it says that they are left out. So each prompt is put together again from
the texts, and all of a run's are scaled to what it says it sent.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.replay.runs import LEFT_OUT, Call, Run, RunsError
from repo_map.text import tokens

_ENDING: Final = ".traj"
_FOUND: Final = re.compile(r"^\s*(/\S+) \((\d+) matches\)", re.MULTILINE)
_MANY: Final = re.compile(r"More than (\d+) files matched")
_OPENED: Final = re.compile(r"\[File: (\S+) \(")
_GOAL: Final = re.compile(r"ISSUE:\n(.*?)\n+INSTRUCTIONS:", re.DOTALL)
KEEPS: Final = 5


def read_agent_run(file: Path) -> Run:
    """Read one run in SWE-agent's format; raises ``RunsError`` where it can't be."""
    try:
        data = json.loads(file.read_text("utf-8"))
        steps = [
            _Step(each["action"] or "", each["observation"] or "", each["response"] or "")
            for each in data["trajectory"]
        ]
        first = _before_first_answer(data["history"])
        usage = data["info"].get("model_stats") or {}
        patch = data["info"].get("submission") or ""
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunsError(f"The run `{file}` can't be read ({type(error).__name__}: {error}).") from None
    name = file.name.removesuffix(_ENDING)
    goal = _GOAL.search(first[-1]) if first else None
    calls = _calls(_commands(steps, f"/{name.rpartition('-')[0]}/"), steps, first, usage)
    return Run(
        name,
        tuple(calls),
        patch,
        float(usage.get("instance_cost") or 0),
        file.parents[1].name,
        goal[1] if goal else "",
        KEEPS,
    )


class _Step(NamedTuple):
    action: str
    output: str
    answer: str


def _before_first_answer(history: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what was sent before the agent's first answer, demonstrations included."""
    texts = []
    for message in history:
        if message["role"] == "assistant" and not message.get("is_demo"):
            break
        texts.append(str(message["content"]))
    return texts


def _calls(
    commands: Iterator[tuple[str, str]],
    steps: Sequence[_Step],
    first: Sequence[str],
    usage: Mapping[str, Any],
) -> Iterator[Call]:
    base = sum(tokens.count(text, "cl100k") for text in first)
    answers = [tokens.count(step.answer, "cl100k") for step in steps]
    outputs = [tokens.count(step.output, "cl100k") for step in steps]
    sent = [
        base + said + sum(outputs[max(0, at - KEEPS) : at]) + LEFT_OUT * max(0, at - KEEPS)
        for at, said in enumerate(accumulate(answers, initial=0))
    ][: len(steps)]
    # Calls that were made again after an answer in no form are in no list of steps.
    is_whole = usage.get("api_calls") == len(steps)
    scale = usage["tokens_sent"] / sum(sent) if is_whole and sent else 1.0
    for at, (command, output) in enumerate(commands):
        yield Call(
            command,
            output,
            round(sent[at] * scale),
            0,
            round(answers[at] * scale),
            round(outputs[at] * scale),
        )


def _commands(steps: Sequence[_Step], folder: str) -> Iterator[tuple[str, str]]:
    """Yield each step as a shell's command, with what that would have printed."""
    opened = ""

    def inside(path: str) -> str:
        path = path.removeprefix(folder.rstrip("/"))
        return posixpath.normpath(path.lstrip("/")) if path else ""

    for step in steps:
        words, output = _words(step.action), step.output
        verb = words[0] if words else ""
        found = _OPENED.search(output)
        now = inside(found[1]) if found else opened
        place = inside(words[2]) if len(words) > 2 else ""
        if verb == "search_dir" and len(words) > 1:
            listed = _FOUND.findall(output)
            hits = [f"{inside(path)}:" for path, times in listed for _ in range(int(times))]
            yield f"grep -rnF {shlex.quote(words[1])} {shlex.quote(place or '.')}", _hits(output, hits)
        elif verb == "search_file" and len(words) > 1 and (place or opened):
            hits = re.findall(r"^Line (\d+:.*)$", output, re.MULTILINE)
            yield f"grep -nF {shlex.quote(words[1])} {shlex.quote(place or opened)}", _hits(output, hits)
        elif verb == "find_file" and len(words) > 1:
            hits = [inside(line) for line in output.splitlines() if line.startswith("/")]
            yield f"find {shlex.quote(place or '.')} -name {shlex.quote(words[1])}", _hits(output, hits)
        elif verb in ("open", "goto", "scroll_down", "scroll_up"):
            yield (f"cat -n {shlex.quote(now)}", _shown(output)) if found else ("true", output)
        elif verb in ("edit", "create"):
            yield (f"sed -i s/// {shlex.quote(now)}" if now else "true"), output
        elif verb == "submit":
            yield "true", output
        else:
            yield step.action.strip(), output.replace(folder, "")
        opened = now


def _hits(output: str, found: Sequence[str]) -> str:
    """Return what ``grep`` or ``find`` would have printed; of too many files it says their number alone."""
    if "No matches found" in output:
        return ""
    many = _MANY.search(output)
    return "\n".join(["…"] * int(many[1]) if many else found)


def _shown(output: str) -> str:
    return "\n".join(line for line in output.split("\n") if re.match(r"\d+:", line))


def _words(action: str) -> list[str]:
    line = action.strip().partition("\n")[0]
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()
