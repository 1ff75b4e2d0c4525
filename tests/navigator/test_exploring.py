"""A model that explores: what it is given, how it looks for code, what it selects, and how that ends."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import navigator.navigator as navigator_module
from navigator.agent.plugins import MAX_CALLS
from navigator.planner.arguments import turn_request
from navigator.settings import NavigationRequest, Timeouts
from navigator.state.client_state import ClientState
from navigator.state.reports import NavigatorOutput, StopReason, TurnReport
from repo_map.plan.yaml import parse_plan
from repo_map.text.tokens import count
from tests.navigator.conftest import MakeNavigator
from tests.navigator.flights import DONE, WIRES, Flown, fly, good
from tests.support.providers.minds import Call, Mind, Refuse, Say, Thought, call, say
from tests.support.providers.openai import messages_of
from tests.support.results import FENCE

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("gemini_key")]
WIRE = WIRES["openai"]
GOAL = "token_expired is wrong, and the router and the total of an invoice too"


async def flown(make: MakeNavigator, repository: Path, mind: Mind, **parts: Any) -> Flown:
    return await fly(make, repository, mind, wire=WIRE, **{"goal": GOAL, **parts})


def calls(*made: tuple[str, Mapping[str, Any]]) -> Say:
    return Say(tuple(Call(name, args) for name, args in made))


def script(*thoughts: Thought) -> Mind:
    """Answer in turn; the last answer is given from then on."""
    return lambda _request, number: thoughts[min(number, len(thoughts) - 1)]


def selects(*targets: Any, **more: Any) -> Say:
    places = [
        each if isinstance(each, dict) else {"target": each, "reason": "it matters"} for each in targets
    ]
    return call("finalize_context", {"summary": "Found.", "select": places, **more})


def results(request: dict[str, Any]) -> list[str]:
    return [each["content"] for each in request["messages"] if each["role"] == "tool"]


@pytest.mark.parametrize("wire", WIRES)
async def test_each_provider_is_made_to_call_one_of_six_tools(
    make_navigator: MakeNavigator, repository: Path, wire: str
) -> None:
    server = (await fly(make_navigator, repository, good, wire=WIRES[wire])).server
    if wire.startswith("gemini"):
        sent = " ".join(server.heard)
        assert re.search(r'"toolConfig":\s*\{"functionCallingConfig":\s*\{"mode":\s*"ANY"', sent)
        return
    assert {request["tool_choice"] for request in server.requests} == {"required"}
    declared = {
        tool["function"]["name"]: tool["function"]["parameters"] for tool in server.requests[0]["tools"]
    }
    assert {name: schema["required"] for name, schema in declared.items()} == {
        "search": ["pattern"],
        "read": ["targets"],
        "references": ["symbol", "kind"],
        "outline": ["path"],
        "update_flight_plan": ["reasoning"],
        "finalize_context": ["summary", "select"],
    }
    assert declared["update_flight_plan"]["properties"].keys() == {"reasoning", "select", "drop", "updates"}


async def test_instruction_and_tools_are_short_and_the_same_for_every_task(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    one = (await flown(make_navigator, repository, good)).server.requests[0]
    other = (await flown(make_navigator, repository, good, goal="rounding of totals")).server.requests[0]
    assert one["tools"] == other["tools"]
    assert one["messages"][0] == other["messages"][0]
    assert count(json.dumps(one["tools"])) < 1_000
    assert count(one["messages"][0]["content"]) < 420


async def test_the_first_message_has_the_outline_and_no_source(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    first = messages_of((await flown(make_navigator, repository, good)).server.requests[0])
    assert GOAL in first
    assert "python 5" in first
    assert "src/ 4" in first
    assert re.search(r"\d\* token_expired 11-13", first)
    assert "return age_s > LIFETIME_S" not in first


async def test_calls_of_one_turn_are_all_answered_and_the_conversation_goes_on(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    looks = calls(
        ("search", {"pattern": "LIFETIME_S"}),
        ("read", {"targets": ["check_password", "1"]}),
        ("references", {"symbol": "issue_token", "kind": "callers"}),
        ("outline", {"path": "src/auth"}),
    )
    found = await flown(make_navigator, repository, script(looks, selects("token_expired")))
    assert len(found.server.requests) == 2
    search, read, references, outline = results(found.server.requests[1])
    assert "src/auth/tokens.py:11-13 token_expired [function]" in search
    assert "stored_hash(user)" in read
    assert "src/auth/login.py:10-14 login [function]" in references
    assert "src/auth/tokens.py" in outline
    for text in (search, read, references, outline):
        assert re.fullmatch(FENCE, text)
    assert [report.step_number for report in found.reports] == [0, 1]


@pytest.mark.parametrize("wire", WIRES)
async def test_what_tools_return_reaches_every_provider_as_text(
    make_navigator: MakeNavigator, repository: Path, wire: str
) -> None:
    mind = script(call("read", {"targets": ["token_expired"]}), selects("token_expired"))
    found = await fly(make_navigator, repository, mind, wire=WIRES[wire], goal=GOAL)
    request = found.server.requests[1]
    if not wire.startswith("gemini"):
        (text,) = results(request)
    else:
        parts = [part for content in request["contents"] for part in content["parts"]]
        (given,) = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
        text = given.pop("output")
        assert not given
    assert re.fullmatch(FENCE, text)
    assert re.search(r"\n +\d+     return age_s > LIFETIME_S", text)


async def test_what_is_selected_is_what_arrives_in_its_order_with_its_reasons(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    places = (
        {"target": "src/billing.py", "reason": "sums the lines"},
        {"target": "src/auth/tokens.py:11-13", "reason": "compares the age"},
        {"target": "src/router.py:Router.dispatch", "reason": "calls the handler"},
    )
    output = (await flown(make_navigator, repository, script(selects(*places)))).output
    assert [(each.number, each.path, each.why) for each in output.outline] == [
        (1, "src/billing.py", "sums the lines"),
        (2, "src/auth/tokens.py", "compares the age"),
        (3, "src/router.py", "calls the handler"),
    ]
    assert output.outline[1].name == "token_expired"
    assert [file.path for file in output.files] == ["src/billing.py", "src/auth/tokens.py", "src/router.py"]
    assert "return age_s > LIFETIME_S" in output.context_string
    assert "def issue_token" not in output.context_string
    assert not any(each.tokens for each in output.outline)
    assert output.also_listed.startswith("src/auth/")


async def test_overrides_and_namesakes_of_a_selected_place_are_named(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    (repository / "src" / "base.py").write_text("class Base:\n    def send(self):\n        return 0\n")
    (repository / "src" / "child.py").write_text(
        "from src.base import Base\n\n\nclass Child(Base):\n    def send(self):\n        return 1\n"
    )
    places = ("src/base.py:Base.send", "src/child.py:Child.send", "token_expired")
    report = (await flown(make_navigator, repository, script(selects(*places)))).reports[-1]
    assert [each.also for each in report.outline] == [
        "also in src/child.py:5-6",
        "also in src/base.py:2-3",
        "",
    ]


async def test_a_limit_of_tokens_read_asks_a_model_to_finish(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        is_last = "Call finalize_context now" in request["messages"][-1]["content"]
        return (
            selects("token_expired")
            if is_last
            else call("read", {"targets": [f"src/auth/tokens.py:1-{9 + number}"]})
        )

    found = await flown(make_navigator, repository, mind, max_tokens_read=600)
    assert 1 < len(found.server.requests) < MAX_CALLS
    assert [each.name for each in found.output.outline] == ["token_expired"]


async def test_a_selection_replays_to_the_same_bytes(make_navigator: MakeNavigator, repository: Path) -> None:
    output = (await flown(make_navigator, repository, script(selects("token_expired", "login")))).output
    plan = parse_plan(output.flight_plan_yaml)
    assert {rule.why for rule in plan.verbosity} == {None, "it matters"}
    navigator = make_navigator()
    workspace, _ = await navigator._workspaces.open(str(repository))
    assert workspace.draw(plan, None).text == output.context_string


async def test_the_source_gives_way_from_the_last_place_on(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    mind = script(selects("token_expired", "login", "src/router.py", "src/billing.py"))
    output = (await flown(make_navigator, repository, mind, token_budget=110)).output
    assert "return age_s > LIFETIME_S" in output.context_string
    assert output.token_count <= 110
    assert len(output.outline) == 4
    assert output.outline[0].tokens == 0
    assert any(entry.tokens for entry in output.outline[1:])


async def test_a_step_builds_on_the_selection_of_the_last_one_and_reads_its_notes(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    first = {
        "reasoning": "The goal names it.",
        "select": [
            {"target": "token_expired", "reason": "compares"},
            {"target": "no_such_thing", "reason": "?"},
        ],
    }
    second = {"reasoning": "And the router.", "select": ["Router.dispatch"], "drop": ["1"]}
    mind = script(
        call("update_flight_plan", first), call("update_flight_plan", second), call("finalize_context", DONE)
    )
    found = await flown(make_navigator, repository, mind)
    opening = messages_of(found.server.requests[1])
    assert re.search(r"Selected so far:\n.*\nsrc/auth/tokens.py\n1 token_expired 11-13: compares", opening)
    assert "Nothing is called `no_such_thing`" in opening
    assert len(found.server.requests[1]["messages"]) == 2
    names = [[each.name for each in report.outline] for report in found.reports[1:]]
    assert names == [["token_expired"], ["Router.dispatch"], ["Router.dispatch", "token_expired"]]
    assert any("no_such_thing" in note for note in found.reports[1].notes)


WRITTEN: dict[str, Any] = {
    "a list of texts": {"select": ["token_expired"]},
    "one entry": {"select": {"target": "token_expired"}},
    "JSON in a text": {"select": '[{"target": "token_expired", "reason": "r"}]'},
    "a path beside its lines": {"select": [{"path": "src/auth/tokens.py", "lines": "11-13"}]},
    "with one that does not exist": {"select": ["token_expired", "nothing_like_it"]},
}


@pytest.mark.parametrize("given", WRITTEN.values(), ids=WRITTEN)
async def test_a_selection_is_understood_however_a_small_model_writes_it(
    make_navigator: MakeNavigator, repository: Path, given: dict[str, Any]
) -> None:
    found = await flown(
        make_navigator, repository, script(call("finalize_context", {"summary": "s", **given}))
    )
    assert [each.name for each in found.output.outline] == ["token_expired"]
    assert found.output.model == WIRE.model
    assert ("nothing_like_it" in found.notes) == ("nothing_like_it" in str(given))


REFUSED: dict[str, tuple[Say, str]] = {
    "no target exists": (selects("no_such_thing"), "Nothing is called"),
    "too many places": (selects(*(f"src/auth/login.py:{at}-{at}" for at in range(1, 23))), "maximum is 20"),
    "a number beyond the outline": (selects("777"), "The outline has no 777"),
    "an entry without a target": (selects({"reason": "r"}), "no target"),
    "nothing is left": (call("update_flight_plan", {"reasoning": "r", "drop": ["1"]}), "drops every"),
    "no summary": (call("finalize_context", {**DONE, "summary": ""}), "`summary`"),
    "an invalid pattern": (call("search", {"pattern": "(a"}), "can't be searched for"),
    "a level that is a word": (
        call(
            "update_flight_plan",
            {"reasoning": "r", "updates": {"verbosity": [{"pattern": "**", "level": "x"}]}},
        ),
        "`verbosity[0].level`",
    ),
}


@pytest.mark.parametrize(("wrong", "words"), REFUSED.values(), ids=REFUSED)
async def test_a_wrong_call_is_answered_with_the_reason_and_made_again(
    make_navigator: MakeNavigator, repository: Path, wrong: Say, words: str
) -> None:
    found = await flown(make_navigator, repository, script(wrong, selects("token_expired")))
    assert words in results(found.server.requests[1])[0]
    assert found.output.stop_reason is StopReason.FINISHED
    assert found.output.model == WIRE.model


ENDLESS: dict[str, tuple[Thought, int]] = {
    "searches without end": (call("search", {"pattern": "token"}), MAX_CALLS),
    "never mends its call": (selects("no_such_thing"), MAX_CALLS),
    "only talks": (say("I would rather talk."), 3),
    "calls what does not exist": (call("delete_everything", {}), 3),
    "updates nothing": (call("update_flight_plan", {"reasoning": "Later."}), MAX_CALLS),
    "finishes with nothing": (call("finalize_context", {"summary": "Nothing."}), 1),
    "is refused": (Refuse(403), 1),
}


@pytest.mark.parametrize(("thought", "asked"), ENDLESS.values(), ids=ENDLESS)
async def test_a_model_without_a_usable_selection_leaves_the_embedded_answer_and_a_note(
    make_navigator: MakeNavigator, repository: Path, thought: Thought, asked: int
) -> None:
    embedded = make_navigator()
    usual = await embedded.run(await embedded.open(NavigationRequest(GOAL, repository)))
    found = await flown(make_navigator, repository, lambda *_: thought)
    assert len(found.server.requests) == asked
    assert found.output.stop_reason is StopReason.FINISHED
    assert found.output.model == "embedded"
    assert found.output.context_string == usual.context_string
    assert found.output.outline == usual.outline
    assert WIRE.model in found.notes


async def test_what_a_model_asks_again_is_not_sent_again(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    search = call("search", {"pattern": "LIFETIME_S"})
    found = await flown(make_navigator, repository, script(search, search, selects("token_expired")))
    first, second = (
        each["content"] for each in found.server.requests[2]["messages"] if each["role"] == "tool"
    )
    assert "token_expired" in first
    assert "token_expired" not in second
    assert found.output.model == WIRE.model


async def test_a_model_is_asked_to_finish_with_its_last_call(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        if "Call finalize_context now" in request["messages"][-1]["content"]:
            return selects("token_expired")
        return call("search", {"pattern": "token"})

    found = await flown(make_navigator, repository, mind)
    assert len(found.server.requests) == MAX_CALLS
    assert found.output.model == WIRE.model
    assert [each.name for each in found.output.outline] == ["token_expired"]


async def test_a_limit_leaves_what_was_selected_before(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    def mind(_request: dict[str, Any], number: int) -> Say:
        first = {"reasoning": "r", "select": [{"target": "token_expired", "reason": "compares"}]}
        return call("search", {"pattern": "token"}) if number else call("update_flight_plan", first)

    found = await flown(make_navigator, repository, mind)
    assert found.output.stop_reason is StopReason.FINISHED
    assert [each.name for each in found.output.outline] == ["token_expired"]
    assert "its last selection is kept" in found.notes


async def test_a_cost_limit_keeps_the_price_of_finishing_in_reserve(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        text = json.dumps(request)
        if "Call finalize_context now" in text:
            return call("finalize_context", DONE, prompt=1_000)
        return call("search", {"pattern": f"token|{number}"}, prompt=1_000)

    found = await fly(make_navigator, repository, mind, max_cost_usd=0.003)
    assert found.output.model == "gemini-2.0-flash"
    assert 1 < len(found.server.requests) < MAX_CALLS
    assert 0 < found.output.total_cost <= Decimal("0.003")


async def test_what_the_user_leaves_out_is_not_shown_to_a_model(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    looks = calls(
        ("search", {"pattern": "LIFETIME_S"}),
        ("read", {"targets": ["src/auth/tokens.py"]}),
        ("outline", {"path": "src/auth/tokens.py"}),
        ("outline", {"path": "src/auth"}),
        ("references", {"symbol": "token_expired", "kind": "definition"}),
    )
    plan = {"verbosity": [{"pattern": "src/auth/tokens.py", "level": 0}]}
    mind = script(looks, selects("src/auth/tokens.py:11-13", "Router.dispatch"))
    found = await flown(make_navigator, repository, mind, flight_plan=plan)
    assert "age_s" not in json.dumps(results(found.server.requests[1]))
    assert [each.path for each in found.output.outline] == ["src/router.py"]
    assert "src/auth/tokens.py; it can't be selected" in found.notes


async def test_a_provider_that_refuses_to_be_forced_is_asked_again_without(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    def mind(request: dict[str, Any], number: int) -> Thought:
        if request.get("tool_choice") == "required":
            return Refuse(400, "tool_choice `required` is not supported")
        return good(request, number - 1)

    found = await flown(make_navigator, repository, mind)
    assert [request["tool_choice"] for request in found.server.requests] == ["required", "auto", "auto"]
    assert {report.model for report in found.reports[1:]} == {WIRE.model}
    assert found.output.notes == ()


def build(
    report: TurnReport, output: NavigatorOutput, _client: ClientState | None
) -> tuple[tuple[TurnReport, NavigatorOutput], ClientState]:
    step = report.step_number
    return (report, output), ClientState(token_budget=8_000, held_step=step, held_steps=(step,))


async def test_an_answer_that_is_being_built_at_the_deadline_is_the_only_one(
    make_navigator: MakeNavigator, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    navigator, began, built = make_navigator(), asyncio.Event(), list[int]()

    async def deadline_passes(_task: object, deadline: float | None) -> bool:
        if deadline is not None:
            await began.wait()
            return False
        return await is_done(_task, deadline)

    async def report(*given: Any) -> TurnReport:
        began.set()
        return await read(*given)

    def count_built(*given: Any) -> Any:
        built.append(given[0].step_number)
        return build(*given)

    is_done, read = navigator_module._is_done, navigator._reader.report
    monkeypatch.setattr(navigator_module, "_is_done", deadline_passes)
    monkeypatch.setattr(navigator._reader, "report", report)
    request = NavigationRequest(GOAL, repository, max_steps=1)
    answer, _ = await navigator.start(request, count_built, timeouts=Timeouts(None, 0.0))
    assert built == [answer.step_number]
    await navigator.aclose()


async def test_a_step_that_outlives_its_call_is_reported_as_running_and_then_delivered(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    may_answer = threading.Event()

    def mind(_request: dict[str, Any], _number: int) -> Say:
        may_answer.wait(20)
        return selects("token_expired")

    with WIRE.serve(mind) as server:
        navigator = make_navigator(**WIRE.settings(server))
        request = NavigationRequest(GOAL, repository, model=WIRE.model)
        early, _ = await navigator.start(request, build, timeouts=Timeouts(None, 0.0))
        may_answer.set()
        late, context = await navigator.step_and_respond(early.navigation_id, turn_request(), build)
    assert (early.is_running, early.step_number) == (True, 0)
    assert [each.name for each in early.outline][:1] != []
    assert (late.is_running, late.step_number, late.stop_reason) == (False, 1, StopReason.FINISHED)
    assert [each.name for each in late.outline] == ["token_expired"]
    assert context.since_step == 0
