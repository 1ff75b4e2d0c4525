"""How `navigate --interactive` asks, between two steps, how to go on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import anyio.to_thread
from rich.console import Console
from rich.syntax import Syntax

from repo_navigator.terminal_report import budget_line, cost_table

if TYPE_CHECKING:
    from navigator.navigator import Navigator


HELP: Final = (
    "[y] next step  [n] stop here  [show] map  [plan] flight plan  [cost] costs  "
    "or a name, drop X, callers of X, …"
)
_YES: Final = frozenset({"", "y", "yes"})
_NO: Final = frozenset({"n", "no", "q", "quit"})


class InteractivePrompt:
    """Asks how to go on, and shows what the user wants to see first."""

    def __init__(self, navigator: Navigator, navigation_id: str, console: Console) -> None:
        self._navigator = navigator
        self._navigation_id = navigation_id
        self._console = console

    async def ask(self) -> str | None:
        """Return the user's feedback, empty for just going on, None for stopping here."""
        while True:
            self._console.print(HELP, style="dim", markup=False)
            self._console.print("> ", end="")
            answer = await anyio.to_thread.run_sync(_line, abandon_on_cancel=True)
            if answer is None or answer.lower() in _NO:
                return None
            if answer.lower() in _YES:
                return ""
            if answer.lower() in ("show", "plan", "cost"):
                await self._show(answer.lower())
            else:
                return answer.removeprefix("feedback").lstrip(": ").strip()

    async def _show(self, what: str) -> None:
        if what == "cost":
            reports = await self._navigator.decisions(self._navigation_id)
            self._console.print(budget_line(reports[-1]))
            self._console.print(cost_table(reports))
            return
        output = await self._navigator.context(self._navigation_id)
        if what == "plan":
            self._console.print(
                Syntax(output.flight_plan_yaml, "yaml", background_color="default", word_wrap=True)
            )
        else:
            self._console.print(output.context_string, markup=False, soft_wrap=True)


def _line() -> str | None:
    line = sys.stdin.readline()
    return line.strip() if line else None
