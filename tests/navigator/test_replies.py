"""A model's reply is read as hostile: whatever it holds, the step ends well and is billed truly."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from navigator.agent.models.responses import MAX_TEXT_CHARS, explain, may_be_billed, parse_written_calls
from navigator.settings import NavigationRequest
from navigator.state.reports import StopReason
from navigator.state.usage import TokenUsage
from tests.navigator.conftest import MakeNavigator
from tests.navigator.flights import DONE, WIRES, ZOOM, fly
from tests.support.providers.gemini import gemini
from tests.support.providers.minds import Call, Say, Usage, call, say
from tests.support.providers.server import Answer, Drip, Reply

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("gemini_key")]
KEPT_OUT = "\x1b[31m\x1b]0;title\x07\u202e\u200b\u200d\U000e0041\ufe0f\x00\x9b2J\ud800"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
USUAL = {"promptTokenCount": 1000, "candidatesTokenCount": 50, "totalTokenCount": 1050}


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def of_gemini(content: Any, usage: Any = None) -> Reply:
    candidate = {"content": content, "finishReason": "STOP"}
    body = {"candidates": [candidate], "usageMetadata": USUAL if usage is None else usage}
    return Reply(json.dumps(body))


def calling(args: Any, usage: Any = None, *, name: Any = "update_flight_plan", times: int = 1) -> Reply:
    part = {"functionCall": {"name": name, "args": args}}
    return of_gemini({"role": "model", "parts": [part] * times}, usage)


def of_openai(arguments: str | None = "{}", **parts: Any) -> Reply:
    called = {
        "id": "1",
        "type": "function",
        "function": {"name": "update_flight_plan", "arguments": arguments},
    }
    message = {"role": "assistant", "content": None, "tool_calls": [called]}
    body: dict[str, Any] = {
        "id": "c",
        "created": 0,
        "model": "m",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050},
    }
    return Reply(json.dumps({**body, **parts}))


HOSTILE: dict[str, tuple[str, Answer]] = {
    "arguments that are a text": ("gemini", calling("hello")),
    "no arguments": ("gemini", calling(None)),
    "updates that are a text": ("gemini", calling({"reasoning": "r", "updates": "x"})),
    "rules that are a text": ("gemini", calling({"reasoning": "r", "updates": {"verbosity": "x"}})),
    "reasoning that is a list": ("gemini", calling({"reasoning": [1], "updates": {}})),
    "a summary that is a number": ("gemini", calling({"summary": 5}, name="finalize_context")),
    "a level without end": (
        "gemini",
        calling({"reasoning": "r", "updates": {"verbosity": [{"pattern": "**", "level": 10**400}]}}),
    ),
    "arguments nested 500 deep": ("gemini", calling({"reasoning": "r", "updates": nested(500)})),
    "arguments nested 10,000 deep": (
        "openai",
        of_openai('{"reasoning": "r", "updates": ' + "[" * 10_000 + "]" * 10_000 + "}"),
    ),
    "arguments of two megabytes": (
        "gemini",
        calling({"reasoning": "r", "updates": {"focus": "y" * 2_000_000}}),
    ),
    "three hundred calls": ("gemini", calling(DONE, name="finalize_context", times=300)),
    "a tool whose name is made to hurt": ("gemini", calling({}, name=f"rm{KEPT_OUT}\n" + "x" * 10_000)),
    "a name that is a number": ("gemini", calling({}, name=5)),
    "parts that are a text": ("gemini", of_gemini({"role": "model", "parts": "x"})),
    "no candidates": ("gemini", Reply({"candidates": []})),
    "a list in place of an answer": ("gemini", Reply("[]")),
    "nothing": ("gemini", Reply("")),
    "bytes that are no text": ("gemini", Reply(b"\xff\xfe{}")),
    "counts that are no numbers": ("gemini", calling(ZOOM, {"promptTokenCount": float("nan")})),
    "choices that are none": ("openai", of_openai(choices=None)),
    "arguments that are a list in a text": ("openai", of_openai("[1]")),
    "usage that is a text": ("openai", of_openai(usage="x")),
    "a stream that never ends": ("gemini, streamed", Drip({"candidates": []})),
    "a stream of words that never ends": (
        "openai, streamed",
        Drip({"id": "c", "created": 0, "model": "m", "object": "chat.completion.chunk", "choices": []}),
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_reply_is_the_models_fault_and_the_next_one_takes_over(
    make_navigator: MakeNavigator, repository: Path, name: str
) -> None:
    wire, answer = HOSTILE[name]
    timeouts = 0.2 if isinstance(answer, Drip) else 20.0
    flown = await fly(
        make_navigator, repository, lambda *_: answer, wire=WIRES[wire], retries=0, call_timeout_s=timeouts
    )
    assert flown.output.stop_reason is StopReason.FINISHED
    assert {report.model for report in flown.reports[1:]} == {"embedded"}
    assert WIRES[wire].model in flown.notes
    assert "return age_s > LIFETIME_S" in flown.output.context_string
    assert all(note.isprintable() and len(note) < 400 for note in flown.output.notes)


@pytest.mark.parametrize(
    "usage",
    [
        {"promptTokenCount": -5, "candidatesTokenCount": 10},
        {"promptTokenCount": 1000, "candidatesTokenCount": 10, "cachedContentTokenCount": -(10**6)},
        {"promptTokenCount": 10**18, "candidatesTokenCount": 10},
        {"promptTokenCount": 1000, "candidatesTokenCount": 10, "totalTokenCount": 10**18},
    ],
)
async def test_a_count_that_cannot_be_true_is_not_booked(
    make_navigator: MakeNavigator, repository: Path, usage: dict[str, int]
) -> None:
    flown = await fly(
        make_navigator, repository, lambda *_: calling(DONE, usage, name="finalize_context"), max_steps=2
    )
    assert flown.reports[-1].model == "gemini-2.0-flash"
    used = flown.output.total_usage
    assert 500 < used.input < 5_000
    assert 0 < used.output < 200
    assert 0 < flown.output.total_cost < 0.001
    assert "gemini-2.0-flash" in flown.notes


@pytest.mark.parametrize("usage", [{}, {"promptTokenCount": 0, "candidatesTokenCount": 0}])
async def test_a_usage_without_counts_is_counted_by_us(
    make_navigator: MakeNavigator, repository: Path, usage: dict[str, int]
) -> None:
    flown = await fly(make_navigator, repository, lambda *_: calling(DONE, usage, name="finalize_context"))
    used = flown.output.total_usage
    assert 500 < used.input < 5_000
    assert 0 < used.output < 200
    assert flown.output.total_cost > 0
    assert any("gemini-2.0-flash" in note for note in flown.output.notes)


async def test_a_count_of_the_input_alone_does_not_make_the_answer_free(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    usage = {"promptTokenCount": 1000}
    flown = await fly(make_navigator, repository, lambda *_: calling(DONE, usage, name="finalize_context"))
    assert flown.output.total_usage.input == 1000
    assert flown.output.total_usage.output > 0


async def test_an_answer_that_breaks_off_is_booked_at_the_most(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, lambda *_: Reply("no JSON"), retries=0)
    assert flown.output.total_usage.output == 4_096
    assert flown.output.total_cost > 0


async def test_a_provider_that_cannot_be_reached_costs_nothing(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    with gemini(lambda *_: call("finalize_context", DONE)) as server:
        gone = server.url
    navigator = make_navigator(model_urls={"gemini": gone}, retries=0)
    request = NavigationRequest("token_expired is wrong", repository, model="gemini-2.0-flash")
    output = await navigator.run(await navigator.open(request))
    assert "can't be reached" in " ".join(output.notes)
    assert (output.total_cost, output.total_usage) == (0, TokenUsage(calls=output.total_usage.calls))


async def test_what_a_model_says_is_clean_short_and_holds_no_secret_wherever_it_is_kept(
    make_navigator: MakeNavigator, repository: Path, tmp_path: Path
) -> None:
    words = f"It {KEPT_OUT}holds {TOKEN}. " + "long " * 100_000

    def mind(request: dict[str, Any], number: int) -> Say:
        usage = Usage(prompt=1000, cached=0)
        if number:
            return Say((Call("finalize_context", {"summary": words}),), text=words, usage=usage)
        return Say((Call("update_flight_plan", {**ZOOM, "reasoning": words}),), text=words, usage=usage)

    data = tmp_path / "data"
    flown = await fly(make_navigator, repository, mind, data_dir=data)
    assert flown.output.stop_reason is StopReason.FINISHED
    said = [flown.output.reasoning_summary, *(report.reasoning for report in flown.reports[1:])]
    for text in said:
        assert text.startswith("It holds ****")
        assert 1_000 < len(text) <= MAX_TEXT_CHARS
        assert text.isprintable()
    assert TOKEN not in json.dumps(flown.server.requests[1])
    files = [file for file in data.rglob("*") if file.is_file()]
    assert files
    assert sum(file.stat().st_size for file in files) < 400_000
    for file in files:
        kept = file.read_bytes()
        assert TOKEN.encode() not in kept
        assert b"\x1b[31m" not in kept
        assert b"\\u001b" not in kept
        assert "\u200b".encode() not in kept


REQUEST = httpx.Request("POST", "http://127.0.0.1:1")


class ConnectError(Exception):
    """Of somebody else, who means something else by it."""


def undecodable() -> json.JSONDecodeError:
    return json.JSONDecodeError("Expecting value", "<html>", 0)


@pytest.mark.parametrize(
    ("error", "passing", "billed"),
    [
        (httpx.ConnectError("no route", request=REQUEST), True, False),
        (httpx.ReadError("cut off", request=REQUEST), True, True),
        (httpx.InvalidURL("no host"), False, False),
        (ConnectionRefusedError("refused"), True, False),
        (undecodable(), False, True),
        (ConnectError("the cable is a metaphor"), False, True),
        (TimeoutError(), True, True),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_an_error_is_judged_by_its_class(error: Exception, passing: bool, billed: bool) -> None:
    assert explain(error).is_temporary is passing
    assert may_be_billed(error) is billed


def test_what_led_to_an_error_counts_for_what_may_be_billed() -> None:
    wrapped = RuntimeError("the package's own words")
    wrapped.__cause__ = httpx.ConnectTimeout("no route", request=REQUEST)
    assert not may_be_billed(wrapped)


def test_an_error_of_an_extra_is_told_where_the_extra_is_there() -> None:
    openai = pytest.importorskip("openai")
    assert explain(openai.APIConnectionError(request=REQUEST)).is_temporary
    assert "openai" in sys.modules


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
