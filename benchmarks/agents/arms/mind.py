"""A scripted mind with a shell: it looks where it can, and mends what it knows once it has seen it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Any

from benchmarks.agents.mind import CountedMind, patterns_of, squeeze
from benchmarks.agents.task import Change
from tests.support.providers.gemini import text_of
from tests.support.providers.minds import Call, Say

_HIT = re.compile(r"^\./([\w./+-]+):\d+:", re.MULTILINE)
_READS = 2


class ShellMind(CountedMind):
    """Asks the navigator where it sees it, else searches; mends the faulty lines where they were shown."""

    def _think(self, request: dict[str, Any]) -> Say:
        goal = text_of({"contents": request["contents"][:1]})
        task = next((task for task in self._tasks if squeeze(task.goal) == squeeze(goal)), None)
        parts = [part for content in request["contents"] for part in content["parts"]]
        asked = [part["functionCall"] for part in parts if "functionCall" in part]
        seen = [
            str(part["functionResponse"]["response"]["result"])
            for part in parts
            if "functionResponse" in part
        ]
        offered = [each["name"] for tool in request["tools"] for each in tool["functionDeclarations"]]
        names = [each["name"] for each in asked]
        if task is None or any("replace(" in str(each.get("args")) for each in asked):
            return Say(text="It is done.")
        if all(squeeze(bug.wrong) in squeeze("\n".join(seen)) for bug in task.bugs):
            return Say((_shell(_cure(task.bugs)),))
        if "navigate" in offered and "navigate" not in names:
            return Say((Call("navigate", {"goal": goal, "token_budget": 2_000}),))
        if "find_tools" in offered and "find_tools" not in names:
            return Say((Call("find_tools", {"query": "code for a task"}),))
        return _search(goal, seen, names.count("shell"))


def _search(goal: str, seen: Sequence[str], tries: int) -> Say:
    """Grep for the goal's words, then read the two files that were hit most."""
    if tries == 0:
        wanted = "|".join(patterns_of(goal))
        return Say((_shell(f"grep -rniE {shlex.quote(wanted)} . --exclude-dir=tests | head -n 60"),))
    if tries == 1:
        hits = _HIT.findall(seen[-1])
        best = sorted(dict.fromkeys(hits), key=lambda path: (-hits.count(path), path))[:_READS]
        if best:
            return Say((_shell(f"cat {' '.join(map(shlex.quote, best))}"),))
    return Say(text="The function to mend was not found.")


def _cure(bugs: Sequence[Change]) -> str:
    """Return a command that replaces the faulty lines."""
    lines = ["import pathlib"]
    for bug in bugs:
        lines += [
            f"file = pathlib.Path({bug.path!r})",
            f"file.write_text(file.read_text().replace({bug.wrong!r}, {bug.right!r}))",
        ]
    return f"python -c {shlex.quote(chr(10).join(lines))}"


def _shell(command: str) -> Call:
    return Call("shell", {"command": command})
