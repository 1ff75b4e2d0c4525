"""A scripted mind with a shell: it looks where it can, and mends what it knows once it has seen it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Any

from benchmarks.agents.mind import CountedMind, patterns_of, squeeze
from benchmarks.agents.task import Change
from tests.support.providers.minds import Call, Say

_HIT = re.compile(r"^(?:\./)?([\w./+-]+):\d+:", re.MULTILINE)
_NAVIGATION = re.compile(r"navigation ([\w-]+):")
_READS = 2
_SHOWN = (1, 2, 3)
"""Places of an outline that are asked for."""


class ShellMind(CountedMind):
    """Asks the navigator where it sees it, else searches; mends the faulty lines where they were shown."""

    def _think(self, request: dict[str, Any]) -> Say:
        first = [part.get("text", "") for part in request["contents"][0]["parts"]]
        goal, beside = first[0], first[1:]
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
        if task is None or "edit_file" in names or any("replace(" in str(each.get("args")) for each in asked):
            return Say(text="It is done.")
        has_shell = "shell" in offered
        if all(squeeze(bug.wrong) in squeeze("\n".join([*beside, *seen])) for bug in task.bugs):
            return Say((_shell(_cure(task.bugs)),) if has_shell else tuple(map(_edit, task.bugs)))
        if "navigate" in offered and "navigate" not in names:
            return Say((Call("navigate", {"goal": goal}),))
        if names == ["navigate"] and (begun := _NAVIGATION.match(seen[0])):
            # The outline named the places; their source is one step away.
            return Say((Call("step", {"navigation_id": begun[1], "show": list(_SHOWN)}),))
        searches = _search if has_shell else _search_files
        return searches(goal, seen, sum(name in ("shell", "search", "read_file") for name in names))


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


def _search_files(goal: str, seen: Sequence[str], tries: int) -> Say:
    """Do the same with the tools of a host that has no shell."""
    if tries == 0:
        return Say((Call("search", {"pattern": f"(?i){'|'.join(patterns_of(goal))}"}),))
    if tries == 1:
        hits = [path for path in _HIT.findall(seen[-1]) if not path.startswith("tests/")]
        best = sorted(dict.fromkeys(hits), key=lambda path: (-hits.count(path), path))[:_READS]
        if best:
            return Say(tuple(Call("read_file", {"path": path}) for path in best))
    return Say(text="The function to mend was not found.")


def _edit(bug: Change) -> Call:
    return Call("edit_file", {"path": bug.path, "old": bug.wrong, "new": bug.right})


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
