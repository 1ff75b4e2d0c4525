"""Secrets become asterisks, byte for byte, so that every line, column and symbol stays where it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from repo_map.secrecy.formats import find

_ASTERISK, _LINE_BREAKS = ord("*"), b"\r\n"
_KEY_BEGINS = re.compile(rb"-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS = re.compile(rb"-----(BEGIN|END) ")
_KEY_BYTES = 16_384
_KEY_RUN = re.compile(rb"(?<!\\)(?:[A-Za-z0-9+/=]{40,}+|[A-Za-z0-9+/=]{4,}+(?=(?:\\[rn]|[\s\"'+,;.)\\])*$))")
"""A line of a key's body, or what stands last before its end."""


class Masked(NamedTuple):
    """Bytes without secrets, as many as before, and the format of each secret, in order of place."""

    source: bytes
    kinds: tuple[str, ...]


def mask(source: bytes) -> Masked:
    """Replace every secret of a known format by asterisks."""
    spans = sorted({*find(source), *_private_keys(source)})
    if not spans:
        return Masked(source, ())
    masked, kinds, covered = bytearray(source), list[str](), 0
    for first, last, kind in spans:
        if last <= covered:
            continue
        if first >= covered and kind:
            kinds.append(kind)
        for at in range(max(first, covered), last):
            if masked[at] not in _LINE_BREAKS:
                masked[at] = _ASTERISK
        covered = last
    return Masked(bytes(masked), tuple(kinds))


def mask_text(text: str) -> str:
    """Return a text without secrets: for goals, messages and log lines."""
    encoded = text.encode("utf-8", "surrogatepass")
    masked = mask(encoded)
    return masked.source.decode("utf-8", "surrogatepass") if masked.kinds else text


def _private_keys(source: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield the body of each private key as one span per line: what frames it stays."""
    if b"PRIVATE KEY" not in source:
        return
    for begins in _KEY_BEGINS.finditer(source):
        start = begins.end()
        ends = _KEY_ENDS.search(source, start, start + _KEY_BYTES)
        body = source[start : ends.start() if ends else start + _KEY_BYTES]
        is_whole = ends is not None and ends[1] == b"END"
        runs = [run for run in _KEY_RUN.finditer(body) if is_whole or run.end() - run.start() >= 40]
        for number, run in enumerate(runs):
            # A key has many lines and counts once.
            yield start + run.start(), start + run.end(), "" if number else "private key"
