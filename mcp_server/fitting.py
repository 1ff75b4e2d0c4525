"""An answer is counted as the host's model reads it, in both forms, and cut into pages if too long."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from navigator.errors import InvalidRequestError
from repo_map import tokens

MIN_TOKEN_BUDGET: Final = 400
"""Least that holds a report and a map worth reading."""
_REPORT_TOKENS: Final = 260
_REPORT_SHARE: Final = 0.04
_JSON_GROWTH: Final = 1.14
"""Source code takes 9 to 20 % more tokens as a JSON string: quotes and line ends are escaped."""


class Answer(NamedTuple):
    """One answer in both forms: hosts pass on the text or the object, rarely both."""

    text: str
    structured: dict[str, Any]

    @property
    def size(self) -> int:
        """Tokens of the longer form, the object as the costlier of the ways in which hosts write JSON."""
        spaced = json.dumps(self.structured, ensure_ascii=False)
        forms = [self.text, spaced]
        if not spaced.isascii():
            forms.append(json.dumps(self.structured))
        return max(map(tokens.count, forms))


class Cursor(NamedTuple):
    """Where the next page of a context starts."""

    step: int
    since_step: int | None
    offset: int

    def encode(self) -> str:
        """Return the opaque form that goes over the wire."""
        raw = json.dumps([self.step, self.since_step, self.offset], separators=(",", ":"))
        return base64.urlsafe_b64encode(raw.encode()).decode().rstrip("=")


def decode_cursor(text: str) -> Cursor:
    """Return the cursor that ``text`` encodes.

    Raises:
        InvalidRequestError: It is no cursor of ours.
    """
    try:
        match json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))):
            case [int(step), int() | None as since_step, int(offset)] if step >= 0 and offset >= 0:
                return Cursor(step, since_step, offset)
    except (ValueError, binascii.Error):
        pass
    raise InvalidRequestError(
        "`cursor` is none that this server gave out; call get_context without it for the first page."
    )


def context_budget(token_budget: int) -> int:
    """Return the tokens left for the map when the whole answer may take ``token_budget``."""
    return int((token_budget * (1 - _REPORT_SHARE) - _REPORT_TOKENS) / _JSON_GROWTH)


def answer_budget(context_tokens: int) -> int:
    """Return the token budget whose ``context_budget`` is at least ``context_tokens``."""
    return (
        int((context_tokens + 1) * _JSON_GROWTH + _REPORT_TOKENS) * 100 // int(100 * (1 - _REPORT_SHARE)) + 1
    )


def page_end(text: str, start: int, paths: Sequence[str], fits: Callable[[int], bool], guess: float) -> int:
    """Return the end of the longest page from ``start`` that fits, at a file's first line where there is one.

    Args:
        text: The whole context.
        start: Offset of the page's first character.
        paths: Files of the map; a line that begins with one of them, outside the source, starts a file.
        fits: Whether the page that ends at an offset fits the budget.
        guess: Share of the remaining text that is expected to fit.
    """
    if fits(len(text)):
        return len(text)
    files, lines = _boundaries(text, start, frozenset(paths))
    end = start + int((len(text) - start) * min(guess, 0.98))
    while end > start:
        for boundaries in (files, lines):
            # A page that would be mostly empty is cut within the file instead.
            near = [offset for offset in boundaries if start + (end - start) // 2 < offset <= end]
            if near and fits(near[-1]):
                return near[-1]
        end -= max((end - start) // 12, 1)
    return next(iter(lines), len(text))


def _boundaries(text: str, start: int, paths: frozenset[str]) -> tuple[list[int], list[int]]:
    files: list[int] = []
    lines: list[int] = []
    offset = 0
    for line in text.splitlines(keepends=True):
        if offset > start:
            lines.append(offset)
            if line.rstrip("\n").split(" [", 1)[0] in paths:
                files.append(offset)
        offset += len(line)
    return files, lines
