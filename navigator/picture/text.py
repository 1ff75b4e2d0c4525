"""A picture's data as text: printable, bounded, and harmless wherever it stands."""

from __future__ import annotations

import json
from typing import Any

from repo_map.messages import counted, one_line, printable

PictureData = dict[str, Any]
"""As ``docs/picture.md`` describes it: numbers and printable texts alone."""


def as_json(data: PictureData) -> str:
    """Return a picture's data as text that can stand in a page: no tag, comment or line end begins in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def clipped(text: str, characters: int, *, lines: bool = False) -> str:
    """Return a text without what nobody sees, its end cut off where it is too long.

    ``lines`` keeps its line breaks.
    """
    text = printable(text).strip() if lines else one_line(text)
    return text if len(text) <= characters else f"{text[: characters - 1].rstrip()}…"


def totals(data: PictureData) -> str:
    """Return how much of the budget and of the files is shown."""
    shown, all_files = sum(file["level"] > 1 for file in data["files"]), data["tree"]["files"][0]
    budget = counted(data["token_budget"], "token")
    return f"{data['tokens']:,} of {budget}, {shown:,} of {counted(all_files, 'file')}"
