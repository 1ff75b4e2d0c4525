"""Text of a repository beside text of ours: markers around it that nothing within can imitate."""

from __future__ import annotations

from typing import Final

BEGIN: Final = "<<<repository text"
END: Final = "repository text>>>"


def quoted(text: str) -> str:
    """Return a text between the markers, with whatever imitates them set apart by a space."""
    text = text.replace(BEGIN, "<<< repository text").replace(END, "repository text >>>")
    return f"{BEGIN}\n{text}\n{END}"
