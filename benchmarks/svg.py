"""What the drawn figures share: colours, words, the frame."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_COLOURS = (
    "#4363d8",
    "#e6194b",
    "#3cb44b",
    "#f58231",
    "#911eb4",
    "#469990",
    "#9a6324",
    "#808000",
    "#000075",
    "#a9a9a9",
)


def document(width: int, height: int, body: Iterable[str]) -> str:
    """Return a whole drawing on white."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
            f'<rect width="{width}" height="{height}" fill="white"/>',
            *body,
            "</svg>\n",
        ]
    )


def colour(number: int) -> str:
    """Return the colour of the series with this number, from 0."""
    return _COLOURS[number % len(_COLOURS)]


def text(x: float, y: float, words: str, *, anchor: str = "start", bold: bool = False) -> str:
    """Return words at a place."""
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{weight}>{escape(words)}</text>'
