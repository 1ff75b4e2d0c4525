"""What `step` is asked for in fields: done to the letter, and never read as words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import Settings
from repo_map.steering.commands import OF_FILES, QUESTIONS
from tests.support.results import object_of, text_of

pytestmark = pytest.mark.anyio
GOAL = "The discount on an apple must never make its price negative"


async def opened(client: Client) -> dict[str, Any]:
    return object_of(await client.call_tool("navigate", {"goal": GOAL}))


async def stepped(client: Client, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """The text and the object of a step."""
    answer = await client.call_tool("step", arguments)
    return text_of(answer), object_of(answer)


async def shown(client: Client) -> str:
    return str(object_of(await client.call_tool("get_context", {}))["context_string"])


async def test_what_is_to_be_shown_and_left_out_is_done_in_one_step(client: Client) -> None:
    async with client:
        await opened(client)
        _, answer = await stepped(client, show=["shop/mail.py", "Cart.total"], drop=["docs"])
        assert "def send_receipt" in answer["context_delta"]
        assert "def total" in await shown(client)
        report = answer["turn_report"]
        assert "`README.md`" in report["answer"]


async def test_a_question_is_answered_without_a_step(client: Client) -> None:
    async with client:
        before = (await opened(client))["turn_report"]["step_number"]
        text, answer = await stepped(client, ask={"callers": ["discount", "price_of"], "definition": "Cart"})
        assert answer["turn_report"]["step_number"] == before
        assert "shop/prices.py:6-8 price_of" in text
        assert "shop/cart.py" in answer["turn_report"]["answer"]


@pytest.mark.parametrize("question", QUESTIONS)
async def test_every_question_has_an_answer(client: Client, question: str) -> None:
    async with client:
        await opened(client)
        about = "shop/cart.py" if question in OF_FILES or question == "outline" else "Cart"
        _, answer = await stepped(client, ask={question: about})
        assert answer["turn_report"]["answer"]
        assert not answer["turn_report"].get("not_understood")


async def test_an_unknown_name_is_told_with_the_nearest_and_the_others_are_done(client: Client) -> None:
    async with client:
        await opened(client)
        _, answer = await stepped(client, show=["shop/mail.py", "shop/mial.py"], drop=["cartt"])
        told = answer["turn_report"]["answer"]
        assert "def send_receipt" in answer["context_delta"]
        assert "`cartt`" in told
        assert answer["turn_report"]["understood"] is False
        assert "def total" in await shown(client)


async def test_numbers_may_be_written_as_text_and_unknown_ones_are_told(
    settings: Settings, large: Path, era: str
) -> None:
    async with Client(build_server(settings, working_folder=large), mode=era) as client:
        await client.call_tool("navigate", {"goal": "move the cart through the checkout"})
        _, answer = await stepped(client, show=[1, "2", 900])
        told = answer["turn_report"]["answer"]
        assert "900" in told
        assert answer["context_delta"]


async def test_a_file_that_is_called_like_an_order_is_asked_about_and_nothing_else(client: Client) -> None:
    async with client:
        await opened(client)
        before = await shown(client)
        _, answer = await stepped(client, ask={"definition": "x. Drop shop/prices.py. Why is y"})
        assert answer["turn_report"]["understood"] is False
        assert await shown(client) == before


async def test_what_was_left_out_comes_back_by_its_name(client: Client) -> None:
    async with client:
        await opened(client)
        await stepped(client, drop=["shop/prices.py"])
        assert "def discount" not in await shown(client)
        await stepped(client, show=["shop/prices.py"])
        assert "def discount" in await shown(client)
        await stepped(client, feedback="undo")
        assert "def discount" not in await shown(client)


async def test_fields_come_before_words(client: Client) -> None:
    async with client:
        await opened(client)
        await stepped(client, show=["shop/mail.py"], feedback="drop shop/mail.py")
        assert "def send_receipt" not in await shown(client)


async def test_guessed_names_lift_what_the_goal_does_not_say(client: Client) -> None:
    async with client:
        goal = {"goal": "Where is money taken off?"}
        found = object_of(await client.call_tool("navigate", goal | {"names": ["discount", "rebate_of"]}))
        assert "def discount" in found["context"]
        assert not found["turn_report"].get("notes")
        _, stepped_answer = await stepped(client, names="send_receipt, mail_to")
        assert "def send_receipt" in stepped_answer["context_delta"]


@pytest.mark.parametrize("names", [7, {"a": 1}, [f"x{number}" for number in range(30)], ["x" * 200], [1]])
async def test_names_that_can_not_be_used_are_refused(client: Client, names: Any) -> None:
    async with client:
        answer = await client.call_tool("navigate", {"goal": "x", "names": names})
        assert answer.is_error
