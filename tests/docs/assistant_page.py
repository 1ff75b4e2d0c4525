"""The conversations of `docs/assistant.md`: real calls over MCP, and their answers whole.

``python -m tests.docs.assistant_page`` writes them anew into the page, between two comments.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import Settings
from tests.docs.steering_page import make, tokens_of

PAGE: Final = Path(__file__).parents[2] / "docs/assistant.md"
_MARKED: Final = re.compile(
    r"(?<=<!-- conversations: begin -->\n).*?(?=<!-- conversations: end -->)", re.DOTALL
)


class Call(NamedTuple):
    """One call of a tool, and why the model makes it."""

    tool: str
    arguments: Mapping[str, str | int]
    before: str
    after: str = ""


class Conversation(NamedTuple):
    """What one user wants, and the calls that it leads to."""

    title: str
    calls: tuple[Call, ...]
    edit: tuple[str, str, str] | None = None
    """A file, a text in it, and what stands in its place when the conversation begins."""


CONVERSATIONS: Final = (
    Conversation(
        "A bug",
        (
            Call(
                "navigate",
                {
                    "goal": "A credit of -0.50 in a supplier's price list is read as 50 cents",
                    "token_budget": 800,
                },
                "You: *A credit of -0.50 in a supplier's price list is read as 50 cents. Fix it.* "
                "The model calls `navigate` before it searches or opens files:",
                'The cause is in the answer: `int("-0")` is 0, so `parse_cents` loses the minus. '
                "The report says `unsure`, as it does for most tasks. "
                "Before it edits, the model asks which tests there are:",
            ),
            Call(
                "step",
                {"feedback": "which tests cover parse_cents?"},
                "",
                "No test reaches it, so the model fixes the function and adds a test.",
            ),
        ),
    ),
    Conversation(
        "A review",
        (
            Call(
                "navigate",
                {"goal": "", "changes": "worktree", "token_budget": 900},
                "You changed one line and have not committed it: "
                "in `percent`, `int(… + 0.5)` became `round(…)`. "
                "You: *Review my change.* The model passes `changes`; a goal is not needed:",
                "The report begins with what the change touches. The code begins with the changed function, "
                "and goes on with the callers that fit. The docstring still says *rounded half up*, but "
                "Python's `round` rounds half to even.",
            ),
            Call(
                "step",
                {"feedback": "show MoneyTest.test_half_a_cent_is_rounded_up"},
                "The model wants to see the test that the report names:",
                "9 % of 50 cents are 4.5, which `round` makes 4. The model answers that this test fails now, "
                "and which amounts on invoices change with it.",
            ),
        ),
        ("orderdesk/billing/money.py", "int(cents * rate / 100 + 0.5)", "round(cents * rate / 100)"),
    ),
)


async def held(conversation: Conversation) -> list[str]:
    """Hold a conversation with a server of its own; return the text of each answer."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root = make(folder / "shop")
        if conversation.edit:
            path, old, new = conversation.edit
            text = (root / path).read_text("utf-8")
            assert text.count(old) == 1, path
            (root / path).write_text(text.replace(old, new), "utf-8")
        settings = Settings(data_dir=folder / "data", cache_dir=folder / "cache")
        texts = []
        async with Client(build_server(settings, working_folder=root)) as client:
            for call in conversation.calls:
                result = await client.call_tool(call.tool, dict(call.arguments))
                assert not result.is_error, result.content
                (part,) = result.content
                texts.append(part.text)  # type: ignore[union-attr]
        return texts


def told(conversation: Conversation) -> str:
    """Return a conversation as Markdown."""
    lines = [f"### {conversation.title}", ""]
    for call, text in zip(conversation.calls, asyncio.run(held(conversation)), strict=True):
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        shown = re.sub(r"nav-\w+", "nav-…", text)
        lines += [_wrapped(call.before), ""] if call.before else []
        lines += ["```text", f"{call.tool}({arguments})", "```", ""]
        lines += [f"The answer, {tokens_of(text)} tokens:", "", "```text", shown, "```", ""]
        lines += [_wrapped(call.after), ""] if call.after else []
    return "\n".join(lines)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 130, break_long_words=False, break_on_hyphens=False)


def page(old: str) -> str:
    """Return the page with its conversations as they are held today."""
    new = "\n" + "\n".join(map(told, CONVERSATIONS)) + "\n"
    return _MARKED.sub(lambda _: new, old)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
