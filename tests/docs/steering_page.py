"""`docs/steering.md`: what steering understands, from the table that the parser reads, and a conversation."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import Settings
from repo_map.feedback.table import TABLE
from repo_map.text.tokens import count
from tests.support.trees import git

PAGE = Path(__file__).parents[2] / "docs/steering.md"
BUDGET = 1_500
REPOSITORY = Path(__file__).parents[2] / "benchmarks/agents/tasks/repositories/orderdesk"
GOAL = "A voucher of more than the order's worth makes the invoice total negative"
TALK = (
    "show delivery_window and pack in full",
    "who calls percent?",
    "drop the reports",
    "which tests cover Stock.reserve?",
    "show the callers of percent",
    "less of orderdesk/billing/discounts.py",
    "undo",
    "what does Invoice.total use?",
    "show orderdesk/catalog/stock.py",
    "Nimm die Tests raus",
    "show read_price_list, but not orderdesk/accounts",
    "thanks, that's enough",
)
_TOP = """# What steering understands

A model fills in the fields `show`, `drop` and `ask` of [`step`](server.md#arguments) with names and numbers. People write plain English: to
`step` with `feedback`, to `repo-navigator context --feedback`, or at the prompt of `navigate --interactive`. A parser reads it, not a model.

A sentence may hold several wishes. Write names as the language writes them: `src/a.py:31-40`, `Session.send`, `(*LB).tryAgain`, `Pool::connect`, the
end of a path, a test, or a quoted piece of code. If several definitions have the name, the one in the answer is meant. One typing error in a
name is corrected, and the answer says so.

- A question is answered in at most 200 tokens. It takes no step and sends no code again.
- A change is one step and changes only what it names. If the budget is full, the least valuable code is dropped, and one line names it.
- Only new parts are sent. `context --feedback --all` prints everything.
- A number means the latest outline.
- `undo` takes a change back.

## What is not understood

Every word must be part of a form below, part of a name, or known to change nothing (politeness, reasons, plans). If any other word is left:

- Nothing is taken away: no `drop`, `only`, `less`, outline, budget, `undo` or `finish`. What only adds is done, and what is asked is answered. The
  answer names what was not done, with similar sentences that would be understood.
- A wish is done as a whole or not at all: “drop the tests unless they are slow” drops nothing.
- “It” means the one thing that was named last, and “them” several; otherwise neither is understood.
- Only names may have a typing error. A line of source must be quoted.

How often it is right was measured on sentences about three small repositories. No form was written for them. The first row was seen
while the grammar was reduced; the second row was written afterwards.

| sentences | right | not understood, and said so | wrong |
| --- | --- | --- | --- |
| 140 | 129 | 6 | 5 |
| 59 | 57 | 1 | 1 |

The author of the parser wrote them, so expect fewer right ones from strangers. The tests hold them and 860 others
(`python -m pytest tests/repo_map/feedback`). `python -m tests.docs.steering_page` makes this page from the parser's table.

## Changes

"""


def make(folder: Path) -> Path:
    """Make a work tree of the conversation's repository."""
    shutil.copytree(REPOSITORY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "Add the order desk")
    return folder


class Said(NamedTuple):
    """One step of the conversation."""

    words: str
    status: str
    text: str
    context: str

    @property
    def tokens(self) -> int:
        """Tokens of the whole answer, as a host passes it on."""
        return tokens_of(self.text)


def tokens_of(text: str) -> int:
    """Return the tokens of a text, whatever id its navigation has."""
    return count(re.sub(r"nav-[0-9a-f]{24}", f"nav-{'0a1b2c' * 4}", text))


def rows(*, questions: bool) -> str:
    """Return the table of what is understood, changes or questions."""
    lines = ["| what happens | for example |", "| --- | --- |"]
    lines += [
        f"| {row.meaning} | {'; '.join(f'“{each}”' for each in row.examples)} |"
        for row in TABLE
        if row.is_question == questions
    ]
    return "\n".join(lines)


async def talk() -> tuple[int, list[Said]]:
    """Hold the conversation; return the tokens of the first packet, and the steps."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root = make(folder / "shop")
        settings = Settings(data_dir=folder / "data", cache_dir=folder / "cache")
        said = []
        async with Client(build_server(settings, working_folder=root)) as client:
            first = await client.call_tool("navigate", {"goal": GOAL, "token_budget": BUDGET})
            for words in TALK:
                result = await client.call_tool("step", {"feedback": words})
                answer = result.structured_content or {}
                (text,) = (part.text for part in result.content)  # type: ignore[union-attr]
                said.append(Said(words, answer["status"], text, answer["context_delta"]))
        (packet,) = (part.text for part in first.content)  # type: ignore[union-attr]
        return tokens_of(packet), said


def transcript(first: int, said: list[Said]) -> str:
    """Return the conversation as a table, with the tokens of each answer."""
    lines = [
        f"The repository is `orderdesk` of the benchmarks. `navigate` answers with {first:,} tokens, {BUDGET:,} at most.",
        "",
        "| step | feedback | tokens | of them code | status |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {at} | {each.words} | {each.tokens} | {count(each.context)} | {each.status} |"
        for at, each in enumerate(said, 1)
    ]
    whole = sum(each.tokens for each in said)
    code = sum(count(each.context) for each in said)
    lines += ["", f"The steps take {whole:,} tokens together, {code:,} of them for code.", ""]
    for at in (6, 10):
        shown = re.sub(r"nav-\w+", "nav-…", said[at - 1].text)
        lines += [f"The answer to {at}:", "", "```text", shown, "```", ""]
    return "\n".join(lines)


def page() -> str:
    """Return the whole page."""
    first, said = asyncio.run(talk())
    parts = [
        _TOP + rows(questions=False),
        "## Questions\n\n" + rows(questions=True),
        "## Twelve steps\n\n" + transcript(first, said),
    ]
    return "\n\n".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
