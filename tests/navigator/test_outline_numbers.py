"""A model that plans: what it is shown, what it may write, and how little it takes to be understood."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from navigator.planner.outline_text import outline_text
from navigator.state.reports import OutlineEntry, StopReason, TurnReport
from navigator.turns import OPENING_SHARE
from repo_map.plan.model import FlightPlan
from repo_map.plan.schema import update_schema
from repo_map.plan.update import PlanUpdate, apply_update
from repo_map.text.tokens import count
from tests.navigator.conftest import MakeNavigator
from tests.navigator.flights import DONE, WIRES, Flown, fly, good
from tests.support.providers.minds import Mind, Refuse, Thought, call
from tests.support.providers.openai import messages_of

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("gemini_key")]
WIRE = WIRES["openai"]
GOAL = "token_expired is wrong, and the router and the total of an invoice too"
SMALL = 200
"""Tokens of a packet that leaves most places to the outline."""


def takes(arguments: Any) -> Mind:
    """Answer with the arguments once, then finish; 1 in them is the first number that the outline offers."""

    def mind(request: dict[str, Any], number: int) -> Thought:
        if number:
            return call("finalize_context", DONE)
        first = re.search(r"The outline:\n(?:.*\n)*?(\d+)\*? \S", messages_of(request))
        assert first is not None
        return call("update_flight_plan", json.loads(re.sub(r"\b1\b", first[1], json.dumps(arguments))))

    return mind


def offered(report: TurnReport) -> list[OutlineEntry]:
    """Return the places of an outline that the map does not show."""
    return [place for place in report.outline if place.tokens]


async def flown(make: MakeNavigator, repository: Path, mind: Mind, **parts: Any) -> Flown:
    """Fly over the OpenAI wire from a small packet, with room for what is chosen."""
    return await fly(make, repository, mind, wire=WIRE, **{"goal": GOAL, "token_budget": SMALL, **parts})


def test_the_schema_tells_every_field_of_a_partial_plan_with_its_type() -> None:
    schema = update_schema()
    assert schema["properties"].keys() == PlanUpdate.model_fields.keys()
    rule = schema["properties"]["verbosity"]["items"]
    assert rule["required"] == ["pattern"]
    assert rule["properties"]["level"] == {"type": "integer", "minimum": 0, "maximum": 4}
    assert rule["properties"]["sections"]["items"]["properties"].keys() == {"pattern", "lines", "level"}
    assert "$ref" not in json.dumps(schema)
    assert update_schema("budget")["properties"].keys() == {"budget"}


def test_what_the_schema_tells_is_what_an_update_takes() -> None:
    rules = [{"pattern": "src/**", "level": 3, "sections": [{"pattern": "Router.*", "level": 4}]}]
    change = apply_update(FlightPlan(), {"verbosity": rules, "budget": 500})
    assert change.plan.budget == 500
    assert change.plan.verbosity[0].sections[0].level == 4


@pytest.mark.parametrize("wire", [name for name in WIRES if "interactions" not in name])
async def test_each_provider_is_made_to_call_a_tool_and_told_its_types(
    make_navigator: MakeNavigator, repository: Path, wire: str
) -> None:
    server = (await fly(make_navigator, repository, good, wire=WIRES[wire])).server
    told = " ".join(server.heard)
    if wire.startswith("gemini"):
        assert re.search(r'"toolConfig":\s*\{"functionCallingConfig":\s*\{"mode":\s*"ANY"', told)
        return
    assert {request["tool_choice"] for request in server.requests} == {"required"}
    plan, finish = (tool["function"]["parameters"] for tool in server.requests[0]["tools"])
    assert plan["properties"]["updates"]["properties"].keys() == {"numbers", "verbosity", "budget"}
    assert (plan["required"], finish["required"]) == (["reasoning", "updates"], ["summary"])


async def test_what_every_navigation_is_told_takes_few_tokens_and_is_the_same(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    one = (await flown(make_navigator, repository, good)).server.requests[0]
    other = (await flown(make_navigator, repository, good, goal="rounding of totals")).server.requests[0]
    assert one["tools"] == other["tools"]
    assert one["messages"][0] == other["messages"][0]
    assert count(json.dumps(one["tools"])) < 500
    assert count(one["messages"][0]["content"]) < 300


async def test_a_provider_that_refuses_to_be_forced_is_asked_again_without(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    def mind(request: dict[str, Any], number: int) -> Thought:
        if request.get("tool_choice") == "required":
            return Refuse(400, "tool_choice `required` is not supported")
        return good(request, number - 1)

    found = await flown(make_navigator, repository, mind)
    assert [request["tool_choice"] for request in found.server.requests] == ["required", "auto", "auto"]
    assert found.output.stop_reason is StopReason.FINISHED
    assert {report.model for report in found.reports[1:]} == {WIRE.model}
    assert found.output.notes == ()


async def test_a_model_starts_from_the_packet_and_its_outline(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    found = await flown(make_navigator, repository, good)
    told = messages_of(found.server.requests[0])
    assert GOAL in told
    assert "return age_s > LIFETIME_S" in told
    assert "return len(user)" not in told
    assert outline_text(offered(found.reports[0])) in told
    assert found.reports[0].map_size_tokens <= OPENING_SHARE * SMALL


async def test_numbers_show_their_places_and_the_next_outline_is_told(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    # The packet of a small budget leaves room for a place that is short.
    found = await flown(make_navigator, repository, takes({"reasoning": "r", "updates": {"numbers": [1]}}))
    opening, after = found.reports[:2]
    first = offered(opening)[0]
    assert after.map_size_tokens > opening.map_size_tokens
    assert re.search(rf"(?:def|class) {first.name.rpartition('.')[2]}\b", found.output.context_string)
    assert first.name not in [place.name for place in offered(after)]
    assert outline_text(offered(after)) in messages_of(found.server.requests[1])


WRITTEN = {
    "numbers": {"reasoning": "r", "updates": {"numbers": [1]}},
    "numbers in words": {"reasoning": "r", "updates": {"numbers": "1"}},
    "numbers as texts": {"reasoning": "r", "updates": {"numbers": ["1"]}},
    "numbers one level too high": {"reasoning": "r", "numbers": [1]},
    "numbers too high beside empty updates": {"reasoning": "r", "updates": {}, "numbers": [1]},
    "updates as a text": {"reasoning": "r", "updates": '{"numbers": [1]}'},
    "numbers that the outline lacks as well": {"reasoning": "r", "updates": {"numbers": [1, 777]}},
}


@pytest.mark.parametrize("arguments", WRITTEN.values(), ids=WRITTEN)
async def test_a_choice_is_understood_however_a_small_model_writes_it(
    make_navigator: MakeNavigator, repository: Path, arguments: dict[str, Any]
) -> None:
    found = await flown(make_navigator, repository, takes(arguments))
    first = offered(found.reports[0])[0]
    (rule,) = found.reports[1].config_diff["verbosity"]
    assert rule["pattern"] == first.path
    assert [part["pattern"] for part in rule["sections"]] == [first.name]
    assert [report.usage.calls for report in found.reports[1:]] == [1, 1]
    assert ("777" in " ".join(found.output.notes)) == ("777" in str(arguments))


CORRECTED = {
    "a number that the outline lacks": ({"numbers": [777]}, "777"),
    "numbers that are none": ({"numbers": ["the router"]}, "`numbers`"),
    "a level that is a word": (
        {"verbosity": [{"pattern": "src/**", "level": "full"}]},
        "`verbosity[0].level`",
    ),
}


@pytest.mark.parametrize(("updates", "words"), CORRECTED.values(), ids=CORRECTED)
async def test_a_wrong_choice_is_corrected_in_one_sentence_and_made_again(
    make_navigator: MakeNavigator, repository: Path, updates: dict[str, Any], words: str
) -> None:
    def mind(request: dict[str, Any], number: int) -> Thought:
        if number == 0:
            return call("update_flight_plan", {"reasoning": "r", "updates": updates})
        return call("finalize_context", DONE)

    found = await flown(make_navigator, repository, mind)
    said = [message for message in found.server.requests[1]["messages"] if message["role"] == "tool"]
    assert words in json.loads(said[0]["content"])["error"]
    assert found.output.stop_reason is StopReason.FINISHED
