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
"""Bytes between the lines of a key whose end is missing; beyond them the key has ended."""
_KEY_RUN = re.compile(rb"(?<!\\)(?:[A-Za-z0-9+/=]{40,}+|[A-Za-z0-9+/=]{4,}+(?=(?:\\[rn]|[\s\"'+,;.)\\])*$))")
"""A line of a key's body, or its last part."""


class Masked(NamedTuple):
    """As many bytes as before, without secrets, and the format of each secret in order."""

    source: bytes
    kinds: tuple[str, ...]


def mask(source: bytes) -> Masked:
    """Replace by asterisks every secret of a known format, and every value with a secret's name."""
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


_Rule = Callable[[bytes, int, int], Iterable[Span]]
"""Returns its matches at an anchor, given the anchor's first byte and end."""


def _anchored(source: bytes) -> Iterator[Span]:
    """Yield the matches at anchors, in no order and with overlaps."""
    search, rules = _anchors()
    passed: defaultdict[_Rule, int] = defaultdict(int)
    for number, start, end in search.find_matches_as_indexes(source.lower(), overlapping=True):
        for rule in rules[number]:
            if start < passed[rule]:
                continue
            for span in rule(source, start, end):
                # A rule is not tried again within its match, so that a run of anchors stays linear.
                passed[rule] = max(passed[rule], span[1])
                if span[0] < span[1]:
                    yield span


@cache
def _anchors() -> tuple[BytesAhoCorasick, list[tuple[_Rule, ...]]]:
    """Return the search for all anchors, in lower case, and the rules of each."""
    rules: defaultdict[str, list[_Rule]] = defaultdict(list)
    for form in formats.read_formats():
        rule = partial(_of_format, form)
        for anchor in form.anchors:
            rules[anchor].append(rule)
    for name in named_values.NAMES:
        rules[name].append(partial(_of_name, name))
    for anchor, place in named_values.ANCHORS.items():
        rules[anchor].append(partial(_in_place, place))
    search = BytesAhoCorasick([anchor.encode() for anchor in rules], implementation=Implementation.DFA)
    return search, [tuple(each) for each in rules.values()]


def _of_format(form: formats.Format, source: bytes, start: int, _: int) -> Iterable[Span]:
    return formats.find(source, form, start)


def _of_name(name: str, source: bytes, start: int, end: int) -> Iterable[Span]:
    return named_values.find(source, name, start, end)


def _in_place(place: named_values.Place, source: bytes, start: int, _: int) -> Iterable[Span]:
    return named_values.find_in_place(source, place, start)


def _private_keys(source: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield the lines of each private key's body, without its frame."""
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
