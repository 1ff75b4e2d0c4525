"""Decisions that a model spells out in words: what Qwen2.5-Coder-1.5B really answered, behind llama.cpp."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from navigator.agent.models.responses import parse_written_calls
from navigator.state.reports import StopReason
from tests.navigator.conftest import MakeNavigator
from tests.navigator.flights import DONE, WIRES, fly
from tests.support.providers.minds import Say, call, say

pytestmark = pytest.mark.anyio

TOOLS = ("update_flight_plan", "finalize_context")


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "finalize_context", "arguments": {"summary": "all is there"}}',
        '<tool_call>\n{"name": "finalize_context", "arguments": {"summary": "all is there"}}\n</tool_call>',
        'Here is the call:\n\n```\n{"name": "finalize_context", "args": {"summary": "all is there"}}\n```',
        '{"name": "finalize_context", "arguments": "{\\"summary\\": \\"all is there\\"}"}',
        # As the same model wrote two of its next four answers.
        '{{"name": "finalize_context", "arguments": {"summary": "all is there"}}}\n```',
        '{{"name": "finalize_context", "arguments": {"summary": "all is there"}}}}}',
    ],
)
def test_the_common_spellings_of_a_call_are_read(text: str) -> None:
    (read,) = parse_written_calls(text, TOOLS)
    assert (read.name, read.args) == ("finalize_context", {"summary": "all is there"})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would rather talk.",
        'It says `{"name": "finalize_context", "arguments": {"summary": "x"}}` somewhere.',
        '{"name": "delete_everything", "arguments": {}}',
        '{"name": "finalize_context"}',
        '{"name": "finalize_context", "arguments": "no JSON"}',
        '{"name": "finalize_context", "arguments": {"summary": "cut o',
        '{"name": ["finalize_context"], "arguments": {}}',
        "{" * 100_000,
        '{"arguments": ' + "[" * 10_000 + "]" * 10_000 + "}",
    ],
    ids=lambda text: text[:30],
)
def test_what_spells_out_no_call_is_none(text: str) -> None:
    assert parse_written_calls(text, TOOLS) == []


def test_of_many_objects_few_are_looked_at() -> None:
    written = '{"name": "finalize_context", "arguments": {"summary": "x"}}'
    assert parse_written_calls('{"a": 1}\n' * 500 + written, TOOLS) == []


async def test_a_decision_in_words_is_taken_as_it_was_meant(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        if number:
            return call("finalize_context", DONE)
        text = '```json\n{"name": "update_flight_plan", "arguments": {"reasoning": "billing is not needed", '
        return say(
            text + '"updates": {"verbosity": [{"pattern": "src/billing.py", "level": 0}]}}}\n```\n\n\n'
        )

    flown = await fly(make_navigator, repository, mind, wire=WIRES["openai"])
    assert flown.output.stop_reason is StopReason.FINISHED
    assert [report.model for report in flown.reports[1:]] == [WIRES["openai"].model] * 2
    assert flown.output.notes == ()
    assert "src/billing.py" not in {file.path for file in flown.output.files}


@pytest.mark.parametrize(("wire", "stopped"), [("ollama", True), ("openai", True), ("gemini", False)])
async def test_only_a_model_on_this_machine_is_stopped_at_empty_lines(
    make_navigator: MakeNavigator,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    wire: str,
    stopped: bool,
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "a-key")
    flown = await fly(make_navigator, repository, lambda *_: call("finalize_context", DONE), wire=WIRES[wire])
    assert (repr("\n\n\n\n") in str(flown.server.requests[0])) is stopped
