"""The four tools as a host calls them, in both eras, on the real navigator."""

from __future__ import annotations

import dataclasses
import json
import random
import re
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import (
    INTERNAL_ERROR,
    CallToolResult,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    Implementation,
    ListRootsResult,
    Root,
    TextResourceContents,
)

from mcp_server import client as client_module
from mcp_server.app import build_server
from mcp_server.settings import Settings
from repo_map.messages import quoted
from repo_map.text.tokens import count
from tests.mcp_server.conftest import both_eras, plant
from tests.support.results import object_of, text_of

pytestmark = pytest.mark.anyio
GOAL = "The discount on an apple must never make its price negative"


def assert_both_forms_fit(result: CallToolResult, token_budget: int) -> None:
    assert count(text_of(result)) <= token_budget
    assert count(json.dumps(object_of(result))) <= token_budget
    assert count(json.dumps(object_of(result), ensure_ascii=False)) <= token_budget


@both_eras
async def test_there_are_four_tools_and_each_says_what_it_does(client: Client) -> None:
    async with client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["navigate", "step", "get_turn_report", "get_context"]
    for tool in tools:
        assert re.match(r"(Find|Explore|Explain|Read) ", tool.description or "")
        assert tool.title
        assert tool.output_schema is None, "a client that knows one demands an object"
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint


async def test_listing_the_tools_costs_a_conversation_at_most_1250_tokens(client: Client) -> None:
    async with client:
        listed = await client.list_tools()
    assert count(listed.model_dump_json(by_alias=True, exclude_none=True, include={"tools"})) <= 1_250


async def test_claude_code_is_told_to_load_navigate_and_to_cut_no_context(client: Client) -> None:
    async with client:
        message = {tool.name: tool.meta or {} for tool in (await client.list_tools()).tools}
        instructions = client.instructions or ""
    assert [name for name, meta in message.items() if meta.get("anthropic/alwaysLoad")] == ["navigate"]
    raised = {name for name, meta in message.items() if "anthropic/maxResultSizeChars" in meta}
    assert raised == {"navigate", "step", "get_context"}
    # What Claude Code shows of the instructions.
    assert 0 < len(instructions) <= 2_048


@both_eras
async def test_one_call_returns_the_code_in_both_forms(client: Client) -> None:
    async with client:
        result = await client.call_tool("navigate", {"goal": GOAL})
    answer = object_of(result)
    assert "return max(PRICES[item] - discount(item), 0)" in answer["context"]
    assert answer["context"] in text_of(result)
    assert answer["navigation_id"] in text_of(result)
    assert answer["status"] == "finished"
    assert answer["turn_report"]["map_size_tokens"] == count(answer["context"])


@pytest.mark.parametrize("token_budget", [400, 4_000])
async def test_every_answer_fits_the_token_budget_in_each_form(
    settings: Settings, large: Path, era: str, token_budget: int
) -> None:
    async with Client(build_server(settings, working_folder=large), mode=era) as client:
        result = await client.call_tool("navigate", {"goal": GOAL, "token_budget": token_budget})
        assert_both_forms_fit(result, token_budget)
        for tool, arguments in (
            ("step", {"feedback": "more about the checkout flow"}),
            ("get_turn_report", {}),
            ("get_context", {}),
        ):
            assert_both_forms_fit(await client.call_tool(tool, arguments), token_budget)


async def test_feedback_that_comes_with_the_wish_to_finish_is_heeded_first(
    settings: Settings, large: Path
) -> None:
    async with Client(build_server(settings, working_folder=large)) as client:
        first = object_of(await client.call_tool("navigate", {"goal": GOAL, "token_budget": 2_000}))
        before = first["turn_report"]["step_number"]
        wish = {"feedback": "send_receipt (shop/mail.py)", "action": "finish"}
        done = object_of(await client.call_tool("step", wish))
        assert "send_receipt" in done["context_delta"]
        assert (done["status"], done["turn_report"]["step_number"]) == ("user", before + 1)
        raised = {"verbosity": [{"pattern": "shop/prices.py", "level": 1}]}
        done = object_of(await client.call_tool("step", {"updates": raised, "action": "finish"}))
        assert (done["status"], done["turn_report"]["step_number"]) == ("user", before + 2)
        gone = object_of(await client.call_tool("step", {"feedback": "more", "action": "cancel"}))
        assert (gone["status"], gone["turn_report"]["step_number"]) == ("cancelled", before + 2)


async def test_an_assistant_is_sent_the_text_alone(settings: Settings, shop: Path) -> None:
    info = Implementation(name="claude-code", version="1")
    async with Client(build_server(settings, working_folder=shop), client_info=info) as client:
        found = await client.call_tool("navigate", {"goal": GOAL})
        stepped = await client.call_tool("step", {"ask": {"callers": "discount"}})
    assert found.structured_content is stepped.structured_content is None
    assert "return max(PRICES[item] - discount(item), 0)" in text_of(found)
    assert "navigation nav-" in text_of(found)


async def test_an_answer_without_a_model_has_no_costs_and_says_nothing_twice(client: Client) -> None:
    async with client:
        answer = object_of(await client.call_tool("navigate", {"goal": GOAL}))
        shown = await client.call_tool("get_context", {})
    costs = {"cost_this_turn", "total_cost", "budget_remaining", "left_out"}
    assert not answer["turn_report"].keys() & {*costs, "navigation_id", "status"}
    assert "flight_plan_yaml" not in object_of(shown)
    assert "verbosity:" not in text_of(shown)


@pytest.mark.parametrize(
    ("feedback", "understood"),
    [("who calls discount?", True), ("who calls nosuchfunction?", False), ("", None)],
)
async def test_a_step_says_as_data_whether_the_feedback_was_understood(
    client: Client, feedback: str, understood: bool | None
) -> None:
    async with client:
        await client.call_tool("navigate", {"goal": GOAL})
        stepped = await client.call_tool("step", {"feedback": feedback})
        assert object_of(stepped)["turn_report"].get("understood") is understood
        assert "understood" not in object_of(await client.call_tool("get_turn_report", {}))


async def test_a_report_answers_what_the_feedback_asked_and_counts_what_was_left_out(
    settings: Settings, large: Path, era: str
) -> None:
    async with Client(build_server(settings, working_folder=large), mode=era) as client:
        await client.call_tool("navigate", {"goal": GOAL, "token_budget": 800, "fill": True})
        result = await client.call_tool("step", {"feedback": "why is shop/prices.py shown?"})
        whole = await client.call_tool("get_turn_report", {})
    report = object_of(result)["turn_report"]
    assert object_of(result)["context_delta"] == "", "a question takes no step"
    assert "shop/prices.py" in report["answer"]
    assert report["answer"] in text_of(result)
    assert report["left_out"] > 0
    assert f"{report['left_out']} files" in text_of(whole)
    assert "usage" not in report, "no model was asked"


async def test_answers_name_as_data_the_paths_that_are_shown_in_most_detail(client: Client) -> None:
    async with client:
        found = object_of(await client.call_tool("navigate", {"goal": GOAL, "fill": True}))
        reported = object_of(await client.call_tool("get_turn_report", {}))
        stepped = object_of(await client.call_tool("step", {"show": ["shop/mail.py"]}))
        reported_then = object_of(await client.call_tool("get_turn_report", {}))
        asked = object_of(await client.call_tool("step", {"feedback": "who calls discount?"}))
    assert found["turn_report"]["focus_areas"] == reported["focus_areas"] != []
    assert stepped["turn_report"]["focus_areas"] == reported_then["focus_areas"]
    assert "shop/mail.py" in reported_then["focus_areas"]
    assert asked["turn_report"]["focus_areas"] == reported_then["focus_areas"][:3]


async def test_the_context_can_be_read_again_and_as_news(client: Client) -> None:
    async with client:
        answer = object_of(await client.call_tool("navigate", {"goal": GOAL}))
        again = object_of(await client.call_tool("get_context", {}))
        news = object_of(await client.call_tool("get_context", {"since_step": 0}))
    assert again["context_string"] == answer["context"]
    assert again["token_count"] == count(again["context_string"])
    assert news["since_step"] == 0


@both_eras
async def test_pages_put_together_are_the_whole_context(settings: Settings, tmp_path: Path, era: str) -> None:
    words = "\n".join(f'    "clé {number}": "café «{number}» été",' for number in range(8))
    files = {f"words_{part}.py": f"CAFÉ_{part} = {{\n{words}\n}}\n" for part in range(30)}
    folder = plant(tmp_path / "accents", files)
    async with Client(build_server(settings, working_folder=folder), mode=era) as client:
        first = await client.call_tool("navigate", {"goal": "the words", "token_budget": 1_600})
        raised = {"verbosity": [{"pattern": "words_*.py", "level": 4}]}
        assert_both_forms_fit(await client.call_tool("step", {"updates": raised}), 1_600)
        pages, cursor = [], None
        while not pages or cursor is not None:
            page = await client.call_tool("get_context", {"cursor": cursor})
            assert_both_forms_fit(page, 1_600)
            pages.append(object_of(page)["context_string"])
            cursor = object_of(page).get("next_cursor")
        whole = await client.read_resource(f"navigator://{object_of(first)['navigation_id']}/context")
    assert isinstance(whole.contents[0], TextResourceContents)
    assert len(pages) > 1
    assert quoted("".join(pages).removesuffix("\n")) == whole.contents[0].text


@both_eras
async def test_progress_grows_and_reads_well(client: Client) -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with client:
        await client.call_tool("navigate", {"goal": GOAL}, progress_callback=note)
    values = [progress for progress, _, _ in seen]
    assert len(values) >= 2
    assert values == sorted(set(values))
    for progress, total, message in seen:
        assert total is not None
        assert progress <= total
        assert message
        assert len(message) <= 200
        assert "\n" not in message


async def test_a_call_out_of_time_answers_with_what_there_is_and_step_goes_on(
    tmp_path: Path, large: Path
) -> None:
    hasty = Settings(data_dir=tmp_path / "data", cache_dir=tmp_path / "cache", call_seconds=0.001)
    async with Client(build_server(hasty, working_folder=large)) as client:
        first = object_of(await client.call_tool("navigate", {"goal": GOAL}))
        assert first["context"]
        status, steps = first["status"], 0
        while status == "open" and steps < 20:
            status = object_of(await client.call_tool("step", {}))["status"]
            steps += 1
    assert status == "finished"


async def test_navigation_ids_cannot_be_guessed(client: Client) -> None:
    ids = []
    async with client:
        for _ in range(3):
            # What can be seeded can be guessed.
            random.seed(1)
            ids.append(object_of(await client.call_tool("navigate", {"goal": GOAL}))["navigation_id"])
        near = f"{ids[0][:-1]}{_other(ids[0][-1])}"
        known = await client.call_tool("get_turn_report", {"navigation_id": near})
    assert all(re.fullmatch(r"nav-[0-9a-f]{24}", key) for key in ids)
    # Of 24 random digits three ids have one in common in a tenth of all cases; those of a clock, most.
    assert sum(len(set(digits)) == 1 for digits in zip(*(key[4:] for key in ids), strict=True)) < 6
    assert known.is_error


def _other(digit: str) -> str:
    return "0" if digit != "0" else "1"


@both_eras
async def test_a_cancelled_call_stops_at_once_and_keeps_its_steps(
    settings: Settings, large: Path, era: str
) -> None:
    async with Client(build_server(settings, working_folder=large), mode=era) as client:
        with anyio.CancelScope() as call:

            async def stop_after_a_step(progress: float, _: float | None, __: str | None) -> None:
                if progress >= 1:
                    call.cancel()

            await client.call_tool("navigate", {"goal": "move the cart"}, progress_callback=stop_after_a_step)
        assert call.cancelled_caught
        report = object_of(await client.call_tool("get_turn_report", {}))
        assert report["step_number"] >= 1
        assert object_of(await client.call_tool("step", {}))["navigation_id"] == report["navigation_id"]


async def test_more_navigations_at_once_than_stay_live_do_not_mix(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("navigator.planner.context.MAX_CACHED", 2)
    folders = [
        plant(tmp_path / f"r{number}", {"only.py": f"def only_here_{number}():\n    return {number}\n"})
        for number in range(4)
    ]
    contexts: dict[int, str] = {}
    async with Client(build_server(settings)) as client:

        async def fly(number: int) -> None:
            call = {"goal": "what is only here", "repo_path": str(folders[number])}
            contexts[number] = object_of(await client.call_tool("navigate", call))["context"]

        async with anyio.create_task_group() as tasks:
            for number in range(len(folders)):
                tasks.start_soon(fly, number)
    for number, context in contexts.items():
        assert f"only_here_{number}" in context
        assert context.count("def only_here_") == 1


@both_eras
async def test_the_roots_of_the_host_name_the_repository(
    settings: Settings, shop: Path, tmp_path: Path, era: str
) -> None:
    async def roots(_: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=shop.as_uri(), name="Till")])

    (tmp_path / "beside").mkdir()
    (tmp_path / "beside/a.py").write_text("def beside():\n    return 1\n")
    server = build_server(settings, working_folder=tmp_path)
    async with Client(server, mode=era, list_roots_callback=roots) as client:
        for named in ({}, {"repo_path": "Till"}, {"repo_path": [shop.name]}):
            found = object_of(await client.call_tool("navigate", {"goal": GOAL, **named}))
            assert "def discount" in found["context"]
        found = object_of(await client.call_tool("navigate", {"goal": "beside", "repo_path": "beside"}))
        assert "def beside" in found["context"]


@pytest.mark.parametrize("is_silent", [True, False])
async def test_a_host_that_lists_no_roots_is_answered(
    settings: Settings, shop: Path, monkeypatch: pytest.MonkeyPatch, *, is_silent: bool
) -> None:
    async def roots(_: Any) -> ErrorData:
        if is_silent:
            await anyio.sleep_forever()
        return ErrorData(code=INTERNAL_ERROR, message="no folder is open")

    monkeypatch.setattr(client_module, "ROOTS_SECONDS", 0.05)
    server = build_server(settings, working_folder=shop)
    async with Client(server, mode="legacy", list_roots_callback=roots) as client:
        found = object_of(await client.call_tool("navigate", {"goal": GOAL}))
    assert "def discount" in found["context"]


@both_eras
async def test_an_interactive_user_is_asked_where_the_host_can_ask(client: Client) -> None:
    asked: list[str] = []

    async def answer(_: Any, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"action": "finish", "feedback": ""})

    asking = dataclasses.replace(client, elicitation_callback=answer)
    async with asking:
        await asking.call_tool("navigate", {"goal": GOAL, "mode": "interactive"})
        done = object_of(await asking.call_tool("step", {}))
    assert done["status"] == "user"
    assert len(asked) == 1


@both_eras
@pytest.mark.anyio
async def test_arguments_that_clients_add_are_ignored_with_a_note_and_empty_texts_are_absent(
    client: Client,
) -> None:
    added = {"task_progress": "- [ ] fix", "toolCallId": "call_1", "sessionId": "s", "conversation_id": "c"}
    async with client:
        plain = object_of(await client.call_tool("navigate", {"goal": GOAL}))
        empty = dict.fromkeys(("repo_path", "token_budget", "mode", "model", "flight_plan", "changes"), "")
        result = await client.call_tool("navigate", {"goal": GOAL, **empty, **added})
        assert object_of(result)["context"] == plain["context"]
        assert any("task_progress" in note for note in object_of(result)["notes"])
        assert "task_progress" in text_of(result)
        del added["conversation_id"]
        for tool in ("step", "get_turn_report", "get_context"):
            given = {"navigation_id": "", "step": "", "cursor": "", "feedback": "", **added}
            assert "toolCallId" in text_of(await client.call_tool(tool, given))
