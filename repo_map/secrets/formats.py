"""Formats of secrets with fixed text, such as ``ghp_``; their patterns are in ``formats.toml``.

Values that only the name of a variable marks as secret are in ``named_values``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from repo_map.secrets.placeholders import is_padding, looks_random

_DATA = Path(__file__).with_name("formats.toml")
_DISCORD = re.compile(rb"\.[\w-]{6}\.[\w-]{27,}+")
_DISCORD_ID = re.compile(rb"[MNO][\w-]{22,27}")
"""Of a bot's token, the first part is a number in base64; no fixed text tells the place."""
_DISCORD_AHEAD = range(28, 22, -1)

_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_WORD = _LETTERS | frozenset(b"_")
_ANYWHERE = frozenset[int]()
_WORD_ENDS = frozenset(
    {
        *("api-", "ico-", "key-", "live_", "mfa.", "pat.", "sat.", "sdk-", "test_"),
        *("sk-admin-", "sk-none-", "sk-proj-", "sk-svcacct-"),
    }
)
"""Fixed texts that other words end with, such as ``task-``: they must begin one."""
_MIN_FIXED_CHARS = 4
_FIXED = re.compile(rf"(?=.{{{_MIN_FIXED_CHARS}}}).*[^a-z0-9+/=]")
"""Fixed text that hashes and pictures hold by no chance: long, and with a mark that base64 lacks."""
_ESCAPE = re.compile(
    rb"(?:\\(?:[nrtbf0]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})|%[0-9A-Fa-f]{2}"
    rb"|(?:\x1b|\\033|\\e|\\x1b|\\u001b)\[[0-9;]{0,8}m)\Z"
)
"""Of texts, addresses and colours, each of which may end with a letter or a digit."""
_MAX_ESCAPE_BYTES = 16
_JUDGED_BYTES = 400
"""Bytes that decide whether a token is one; it is masked to its end."""


class Format(NamedTuple):
    """One issuer's format; see ``formats.toml``."""

    name: str
    anchors: tuple[str, ...]
    pattern: str
    ahead: tuple[int, ...]
    word: frozenset[int]
    """Bytes that may not precede a match."""


@cache
def read_formats() -> tuple[Format, ...]:
    """Return all formats, in no order that matters: where two of them match, it is masked once."""
    rows = tomllib.loads(_DATA.read_text("utf-8"))["format"]
    return tuple(
        Format(
            row["name"],
            tuple(row["anchors"]),
            row["pattern"],
            tuple(row.get("ahead", (0,))),
            _bytes_before(row["anchors"], is_anywhere=row.get("inside", False), is_ahead="ahead" in row),
        )
        for row in rows
    )


def _bytes_before(anchors: list[str], *, is_anywhere: bool, is_ahead: bool) -> frozenset[int]:
    if _WORD_ENDS.issuperset(anchors):
        return _WORD
    if is_anywhere or (not is_ahead and all(map(_FIXED.search, anchors))):
        return _ANYWHERE
    return _WORD if min(map(len, anchors)) < _MIN_FIXED_CHARS else _LETTERS


def starts_within_word(source: bytes, start: int, word: frozenset[int] = _WORD) -> bool:
    """Return True if a word of the bytes ``word`` goes on at ``start``; the end of an escape is none."""
    if start == 0 or source[start - 1] not in word:
        return False
    before = source[max(start - _MAX_ESCAPE_BYTES, 0) : start]
    # Plain searches first: most words end no escape, and the pattern takes ten times as long.
    if b"\\" not in before and b"%" not in before and b"\x1b" not in before:
        return True
    return _ESCAPE.search(before) is None


def find(source: bytes, form: Format, at: int) -> Iterator[tuple[int, int, str]]:
    """Yield first byte, end and name of the match of a format at an anchor that begins at ``at``.

    An empty match is no secret, and ends where there is none so far.
    """
    pattern = _compiled(form.pattern)
    for ahead in form.ahead:
        start = at - ahead
        if start < 0 or starts_within_word(source, start, form.word):
            continue
        match = pattern.match(source, start)
        if match is not None:
            first, last = match.span("secret" if pattern.groups else 0)
            value = source[first : min(last, first + _JUDGED_BYTES)].decode("latin-1")
            is_secret = looks_random(value) and not is_padding(value)
            yield (first, last, form.name) if is_secret else (last, last, "")


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    # Compiled on use: most sources have the anchors of few formats.
    return re.compile(pattern.encode())


def find_anywhere(source: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield the matches of formats without an anchor, in the same form."""
    for rest in _DISCORD.finditer(source):
        for ahead in _DISCORD_AHEAD:
            start = rest.start() - ahead
            if start < 0 or source[start - 1 : start] == b"-" or starts_within_word(source, start):
                continue
            if _DISCORD_ID.fullmatch(source, start, rest.start()):
                yield start, rest.end(), "Discord token"
                break
