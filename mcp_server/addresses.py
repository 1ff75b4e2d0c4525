"""The addresses of what can be attached without a tool call; every text that names one takes it from here."""

from __future__ import annotations

from typing import Final, Literal

NAVIGATIONS: Final = "navigator://navigations"
Part = Literal["context", "plan", "report", "decisions", "maps/{version}"]


def address(navigation_id: str, part: Part) -> str:
    """Return the address of a part of a navigation; ``{navigation_id}`` gives the template of all."""
    return f"navigator://{navigation_id}/{part}"
