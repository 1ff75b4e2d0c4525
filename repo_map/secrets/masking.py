"""Bytes in, the same bytes with secrets masked out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from repo_map.secrets import formats, named_values

_ASTERISK, _LINE_BREAKS = ord("*"), b"\r\n"
_KEY_BEGINS = re.compile(rb"-{4,5} ?BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_KEY_ENDS = re.compile(rb"-{4,5} ?(BEGIN|END) ")
_KEY_BYTES = 16_384
_KEY_GAP = 300
"""Bytes between the lines of a key whose end is missing: what is further off is something else."""
_KEY_RUN = re.compile(rb"(?<!\\)(?:[A-Za-z0-9+/=]{40,}+|[A-Za-z0-9+/=]{4,}+(?=(?:\\[rn]|[\s\"'+,;.)\\])*$))")
"""A line of a key's body, or what stands last before its end."""


class Masked(NamedTuple):
    """Bytes without secrets, as many as before, and the format of each secret, in order of place."""

    source: bytes
    kinds: tuple[str, ...]


def mask(source: bytes) -> Masked:
    """Replace by asterisks every secret of a known format, and every one that its name tells."""
    spans = sorted({*_anchored(source), *formats.find_anywhere(source), *_private_keys(source)})
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


Span = tuple[int, int, str]
"""First byte, end and kind of a secret."""


class _Rule(NamedTuple):
    find: Callable[[bytes, int, int], Iterable[Span]]
    """What it finds at an anchor, of which it is told the first byte and the end."""
    reaches: int = 0
    """How far behind an anchor it has looked, in bytes, and need not look again."""


def _anchored(source: bytes) -> Iterator[Span]:
    """Yield what is found where anchors stand, in no order and with overlaps."""
    search, rules = _anchors()
    passed: defaultdict[_Rule, int] = defaultdict(int)
    for number, start, end in search.find_matches_as_indexes(source.lower(), overlapping=True):
        for rule in rules[number]:
            if start < passed[rule]:
                continue
            if rule.reaches:
                passed[rule] = start + rule.reaches
            for span in rule.find(source, start, end):
                # What a rule has masked it need not try again: a run of anchors takes time in proportion.
                passed[rule] = max(passed[rule], span[1])
                if span[0] < span[1]:
                    yield span


@cache
def _anchors() -> tuple[BytesAhoCorasick, list[tuple[_Rule, ...]]]:
    """Return what finds all anchors at once, whatever their case, and the rules of each."""
    rules: defaultdict[str, list[_Rule]] = defaultdict(list)
    for form in formats.FORMATS:
        rule = _Rule(partial(_of_format, form), formats.AFTER // 2 if form.detector else 0)
        for anchor in form.anchors:
            rules[anchor].append(rule)
    for name in named_values.NAMES:
        rules[name].append(_Rule(partial(_of_name, name)))
    for anchor, pattern in named_values.ANCHORS.items():
        rules[anchor].append(_Rule(partial(_in_place, pattern)))
    search = BytesAhoCorasick([anchor.encode() for anchor in rules], implementation=Implementation.DFA)
    return search, [tuple(each) for each in rules.values()]


def _of_format(form: formats.Format, source: bytes, start: int, _: int) -> Iterable[Span]:
    return formats.find(source, form, start)


def _of_name(name: str, source: bytes, start: int, end: int) -> Iterable[Span]:
    return named_values.find(source, name, start, end)


def _in_place(pattern: re.Pattern[bytes], source: bytes, start: int, _: int) -> Iterable[Span]:
    return named_values.find_in_place(source, pattern, start)


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
        reached = 0
        for number, run in enumerate(runs):
            if not is_whole and run.start() - reached > _KEY_GAP:
                break
            reached = run.end()
            if len(set(run[0])) < 5:
                continue  # A line that was filled up by hand.
            # A key has many lines and counts once.
            yield start + run.start(), start + run.end(), "" if number else "private key"
