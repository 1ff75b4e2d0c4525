"""Where a command's text goes: stdout, a pager, a file; and the console on stderr."""

from __future__ import annotations

import os
import pydoc
import shutil
import sys
from typing import Final

from rich.console import Console, RenderableType
from rich.text import Text

from repo_map.outline.rendering import ELISION, MARK, path_in_header
from repo_navigator.terminal import print_text, write_or_print

_IN_PAGER: Final = (
    "Space goes on, q ends; the report stands below the code. --no-pager prints without a pager."
)


def stderr_console() -> Console:
    """Return a console on stderr."""
    return Console(stderr=True, highlight=False)


def show_context(text: str, file: str | None, *, below: RenderableType = "", pages: bool = True) -> None:
    """Write a context to ``file``, or print it.

    On a terminal headers stand out, and what is longer than the screen is shown by the user's pager, from its
    beginning, with ``below`` at its end. A pipe gets the very text.
    """
    if file is not None or not sys.stdout.isatty():
        write_or_print(text, file)
        return
    console = Console(highlight=False)
    is_paged = pages and len(text.splitlines()) > shutil.get_terminal_size().lines
    with console.capture() as captured:
        if is_paged:
            console.print(_IN_PAGER, style="dim", markup=False)
        console.print(_highlighted(text), soft_wrap=True, end="" if text.endswith("\n") else "\n")
        if is_paged:
            console.print(below, soft_wrap=True)
    if is_paged:
        # As git does: colours as they are, the text stays on the screen, an interrupt is the pager's.
        os.environ.setdefault("LESS", "FRX")
        pydoc.pager(captured.get())
    else:
        print_text(captured.get())


def _highlighted(text: str) -> Text:
    shown, start = Text(text), 0
    for line in text.split("\n"):
        end = start + len(line)
        if (path := path_in_header(line)) is not None:
            named = start + len(f"{MARK} {path}")
            shown.stylize("bold cyan", start, named)
            shown.stylize("dim", named, end)
        elif line.startswith(ELISION):
            shown.stylize("dim", start, end)
        start = end + 1
    return shown
