"""The scripted model: a stand-in for a model that acts on what a request holds, and on nothing else.

It chooses modules by words that request and index share, greps for the request's names and longest words, and
knows each task's cure as a person would who has solved it before; yet it can write a cure only where the old
code, or the documentation that the cure needs, stands in the request. So a run that retrieves badly fails. It
measures the plumbing and the retrieval, and says nothing of how well a real model thinks.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.agents.model import SCRIPTED_NAME, Endpoint
from benchmarks.agents.task import Change, Task
from benchmarks.agents.trial import fresh_room, judge, run_tests
from repo_map.text.tokens import count
from tests.support.providers.gemini import gemini, text_of
from tests.support.providers.minds import Call, Say, Usage

_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]{2,}|\d+")
_CODE_WORD = re.compile(r"`([^`\n]{3,40})`|\b(\w+_\w+|[a-z]+[A-Z]\w+)\b")
_TOOL_TALK = re.compile(
    r"[^.!?\n]*\b(?:tool|grep|read_file|run_shell_command)\b[^.!?\n]*[.!?]\s*", re.IGNORECASE
)
_HIT = re.compile(r"^([\w./+-]+):\d+: ", re.MULTILINE)
_TITLES = (
    "Request|Model that the agent uses|Index|Knowledge|Plan|Verification plan|Candidate of round|Its log"
    "|Analysis of its run|Log"
)
_STOP = re.compile(
    "the|and|for|with|that|this|from|not|are|was|but|has|have|when|one|two|does|should|into|than|then|its|they"
    "|them|only|also|which|what|who|any|all|more|most|still|even|though|instead"
)
_CHOSEN, _SEARCHES, _READS = 3, 6, 2


class ScriptedModel:
    """Answers every stage of the workflow, and any agent that is written meanwhile."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tuple(tasks)

    def __call__(self, request: dict[str, Any], number: int) -> Say:
        """Answer one request; the server counts what was asked, and the answer is counted here."""
        del number
        answer = self._think(request)
        said = answer.text + "".join(f"{name}{json.dumps(arguments)}" for name, arguments in answer.calls)
        return answer._replace(usage=Usage(candidates=count(said)))

    def _think(self, request: dict[str, Any]) -> Say:
        role = request.get("systemInstruction", {}).get("parts", [{}])[0].get("text", "")
        brief = text_of({"contents": request["contents"][:1]})
        match role.partition(".")[0]:
            case "You are the prompt sanitiser":
                return Say(text=_TOOL_TALK.sub("", part_of(brief, "Request")).strip())
            case "You are the module selector":
                return _choose(brief) if part_of(brief, "Index") else _explore(request, brief)
            case "You are the planner":
                return self._plan(brief)
            case "You are the candidate creator":
                return self._create(brief)
            case "You are the run analyst":
                return _analyse(brief)
        return _act(request, brief)

    def _plan(self, brief: str) -> Say:
        task = self._known(brief)
        prompt = task.checks[0].prompt if task and task.checks else "Run the tests of the task."
        plan = f"Fulfil this with what is known: {part_of(brief, 'Request')[:300]}"
        return Say(
            (
                _call("save_implementation_plan", plan=plan),
                _call("save_verification_plan", test_prompt=prompt),
            )
        )

    def _create(self, brief: str) -> Say:
        task, knowledge = self._known(brief), part_of(brief, "Knowledge")
        if task is None:
            return Say(text="This request is not known.")
        tried = "Candidate of round" in brief
        if task.kind == "agent":
            if all(squeeze(line) in squeeze(knowledge) for line in task.script.needs):
                return Say(text=f"The documentation shows what to call.\n```python\n{task.script.code}```")
            return Say(text="What the agent has to call is not in what was retrieved.")
        changes = task.bugs if tried or not task.script.stumble else task.script.stumble
        if not all(_is_shown(change, knowledge) for change in changes):
            return Say(text="The function to mend is not in what was retrieved.")
        return Say(
            text="This is where it goes wrong.\n"
            + "\n".join(_edit(change, task.language) for change in changes)
        )

    def _known(self, brief: str) -> Task | None:
        asked = squeeze(part_of(brief, "Request"))
        return next((task for task in self._tasks if squeeze(_TOOL_TALK.sub("", task.goal)) == asked), None)


def part_of(brief: str, title: str) -> str:
    """Return the text of a brief's section, empty where it has none."""
    found = re.search(rf"^## {title}\n(.*?)(?=^## (?:{_TITLES})\b|\Z)", brief, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def squeeze(text: str) -> str:
    """Return a text with all white space made single."""
    return " ".join(text.split())


def _is_shown(change: Change, knowledge: str) -> bool:
    return change.path in knowledge and squeeze(change.wrong) in squeeze(knowledge)


def _edit(change: Change, language: str) -> str:
    old, new = change.wrong.rstrip("\n"), change.right.rstrip("\n")
    return f"```{language.lower()} {change.path}\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n```"


def _choose(brief: str) -> Say:
    """Choose the modules whose line of the index shares most words with the request."""
    wanted = set(_stems(part_of(brief, "Request")))
    scored = []
    for place, line in enumerate(part_of(brief, "Index").splitlines()):
        module = line.partition(": ")[0]
        scored.append((-len(wanted & set(_stems(line))), place, module))
    return Say(text=json.dumps({"modules": [module for _, _, module in sorted(scored)[:_CHOSEN]]}))


def _explore(request: dict[str, Any], brief: str) -> Say:
    """Search, then read what was hit most, then choose it."""
    answers = [
        part["functionResponse"]
        for content in request["contents"]
        for part in content["parts"]
        if "functionResponse" in part
    ]
    if not answers:
        return Say(tuple(_call("grep", pattern=each) for each in patterns_of(part_of(brief, "Request"))))
    found = [set(_HIT.findall(str(each["response"]["result"]))) for each in answers if each["name"] == "grep"]
    # What few files have says more than what many have.
    weights: dict[str, float] = {}
    for paths in found:
        for path in sorted(paths):
            weights[path] = weights.get(path, 0.0) + 1 / len(paths)
    ranked = sorted(weights, key=lambda path: (-weights[path], path))
    if len(answers) == len(found) and ranked:
        return Say(tuple(_call("read_file", path=path) for path in ranked[:_READS]))
    return Say(text=json.dumps({"modules": ranked[:_CHOSEN]}))


def patterns_of(request: str) -> list[str]:
    """Return what to search for: names that look like code, then the longest words."""
    named = [first or second for first, second in _CODE_WORD.findall(request)]
    words = sorted(dict.fromkeys(_stems(request)), key=lambda word: (-len(word), word))
    return [re.escape(pattern) for pattern in dict.fromkeys([*named, *words])][:_SEARCHES]


def _stems(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        lower = word.lower()
        if len(lower) > 2 and not _STOP.fullmatch(lower):
            yield lower[:-1] if lower.endswith("s") and len(lower) > 3 else lower


def _analyse(brief: str) -> Say:
    log = part_of(brief, "Log")
    if log.endswith("[exit status 0]"):
        return Say((_call("exit_loop"),))
    return Say(text=f"It failed: {squeeze(log)[-300:]}")


def _act(request: dict[str, Any], brief: str) -> Say:
    """Be an agent's model: call its first tool with the prompt's numbers and quoted words, say the result."""
    last = request["contents"][-1]["parts"][-1]
    if "functionResponse" in last:
        return Say(text=f"The result is {json.dumps(last['functionResponse']['response'].get('result'))}.")
    tools = [each for tool in request.get("tools", []) for each in tool.get("functionDeclarations", [])]
    if not tools:
        return Say(text="There is no tool to use.")
    schema = tools[0].get("parameters_json_schema") or tools[0].get("parameters") or {}
    numbers = iter(re.findall(r"-?\d+(?:\.\d+)?", brief))
    words = iter(re.findall(r"'([^']*)'", brief))
    arguments: dict[str, Any] = {}
    for name, about in schema.get("properties", {}).items():
        kind = str(about.get("type", "")).lower()
        value = next(numbers if kind in ("number", "integer") else words, None)
        if value is not None:
            arguments[name] = float(value) if kind == "number" else int(value) if kind == "integer" else value
    return Say((_call(tools[0]["name"], **arguments),))


def _call(tool: str, **arguments: Any) -> Call:
    return Call(tool, arguments)


async def check(task: Task) -> tuple[bool, bool]:
    """Return whether a task's tests pass with the bug, and whether they pass with its solution.

    An agent is asked what the task asks of it, with the scripted model as its model.
    """
    if task.kind == "agent":
        with tempfile.TemporaryDirectory(prefix="task-") as name, gemini(ScriptedModel([task])) as server:
            endpoint = Endpoint(SCRIPTED_NAME, server.url, "none-needed")
            without = await judge(task, {task.output: ""}, Path(name) / "before", endpoint)
            right = await judge(task, {task.output: task.script.code}, Path(name) / "after", endpoint)
        return without.solved, right.solved
    with tempfile.TemporaryDirectory(prefix="task-") as name:
        repository = Path(name) / "repository"
        task.lay_out(repository)
        before = await run_tests(task, fresh_room(repository, Path(name) / "before"))
        task.solve(repository)
        after = await run_tests(task, fresh_room(repository, Path(name) / "after"))
    return before.solved, after.solved
