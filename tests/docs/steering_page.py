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

Models fill in the fields `show`, `drop` and `ask` of [`step`](server.md#arguments): names are values there, and nothing has to be read.

For people, `step` with `feedback`, `repo-navigator context --feedback` and the prompt of `navigate --interactive` take plain English. A sentence
may hold several wishes. Names are found wherever they stand, as their language writes them. They are paths and their ends, `src/a.py:31-40`,
`Session.send`, `(*LB).tryAgain`, `Pool::connect`, tests, and quoted texts of the code. Of namesakes the ones on screen are meant. One
slip of the fingers in a name is forgiven, and told.

- A question is answered at once, in at most 200 tokens: no step is taken, nothing is sent again, and the status stays.
  What only a name says is told as likely. So is where a parameter, an attribute or a local stands.
- A change is one step, and changes what it names. What was shown stays while the budget has room; without room the least valuable
  gives way, and one line says what. Who asks for more of something, or for a larger budget, gets what the planner finds beside it.
- Only the parts that are new to the reader are sent; what it has already is named. `context --feedback --all` prints the whole.
- What is not understood changes nothing. The answer says so. Where it names something on screen, it says the nearest sentences that would be understood.
  Of a name that nothing in the repository has, it says that, with the nearest names.
- Numbers mean the menu that was sent last.

## What is not understood

Every word counts. Each is read by one of the forms below, belongs to a name, or is known to change nothing. Politeness, a reason, and what
somebody is about to do change nothing. Any other word is not understood, and is told:

- A wish is done as a whole or not at all: “drop the tests unless they are slow” drops nothing.
- Of a message the clear part is done. Beside words that are not understood, nothing is taken away: no `drop`, `only`, `less`, outline, budget, `undo` or `finish`. What only adds,
  and what is asked, is done, unless what is not understood may take it back (“actually, don't”). The answer names what was left undone.
- “It” means the one thing that was named last, “them” several, or what was just asked about. Else neither is understood.
  An earlier message counts too, also of another process, unless it was not understood.
- “The first one” is that of the menu, and after a question in the same message it is not understood.

Words of the grammar have to be spelled right; names are forgiven one slip. A line of source is no wish: quote it.

The sentences below are about three small repositories, and no form was written for them. Those of the first row were there while the
grammar was cut down, and a few words of it are theirs. Those of the second row were written afterwards, and nothing was mended for them.

| sentences | done or refused as they must be | honestly not understood | wrong |
| --- | --- | --- | --- |
| 140 | 129 | 6 | 5 |
| 59 | 57 | 1 | 1 |

All were written by who wrote the parser: expect somewhat less of a stranger's. “Wrong” is counted strictly, by what the sentence's writer had
noted: “drop proxy/ and show dial in full”, where `dial` stands in proxy/. Each answer tells what was understood, and `undo` takes it back.

The tests hold them and 860 others, with what must happen (`python -m pytest tests/repo_map/feedback`). Rules that were needed by a few
older sentences alone were taken out: 43 sentences are not understood as they were meant since
then, and nothing is taken away by them. The page is made from the table that the parser reads: `python -m tests.docs.steering_page`.

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
        f"The benchmarks' `orderdesk`, a packet of {BUDGET:,} tokens at most; `navigate` answers with {first:,} tokens.",
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
    lines += ["", f"Together {whole:,} tokens, of them {code:,} of code.", ""]
    for at in (2, 6, 10):
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
