"""Estimate the tokens of files and definitions at every level, without a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.languages.kinds import MEMBERS
from repo_map.languages.registry import language_named

# A token starts between two neighbouring bytes with a probability that depends mostly on their classes. These
# are percentages, row = class of the byte before, column = class of the byte itself, counted over 26 MB of
# source in 30 languages with cl100k and o200k (the larger of the two). Per file the sum is 4 % off (median).
# Classes: those below, then UTF-8 continuation bytes, two-byte leads, longer leads, control bytes.
_LETTERS = "AEIOU BCDFGLMNPRST HJKQVWXYZ aeio u rstnl cdmp bfghvwy jkqxz"
_SIGNS = "_ () []{} <> \"'` . ,;: /\\ -= *#@$%&!|+?~^"
_CLASSES = (
    "\n",
    " ",
    "\t",
    "0123456789",
    *_LETTERS.split(),
    *_SIGNS.split(),
)
_BOUNDARY_PERCENT = """
    0 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 72 100 100 30 99 100 97
    0 17 62 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 30 6 7 100
    0 95 43 100 51 40 74 6 28 5 6 6 13 100 100 100 100 100 100 99 100 100 100 30 97 77 100
    100 100 100 4 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 30 98 100 100
    100 100 95 100 11 2 17 83 34 1 4 13 13 100 100 100 100 98 100 100 100 100 100 30 96 98 100
    100 100 98 100 15 17 25 4 12 7 38 14 89 100 100 100 100 100 100 100 100 100 100 30 83 99 100
    100 100 91 100 22 32 40 16 22 37 59 64 97 100 100 100 100 100 100 100 100 100 100 30 90 98 100
    100 100 93 100 97 96 99 5 1 0 1 2 3 100 100 100 100 99 100 100 100 100 100 30 69 100 100
    100 100 30 100 100 99 100 1 31 0 0 1 3 99 100 100 100 87 100 100 100 100 100 30 60 95 99
    100 100 99 100 96 98 96 4 7 3 6 5 11 100 100 100 100 98 100 100 100 100 100 30 77 100 100
    100 100 100 100 99 99 100 4 10 5 11 11 10 100 100 100 100 100 100 100 100 100 100 30 78 100 100
    100 100 82 100 98 99 98 4 6 5 20 12 36 100 100 100 100 100 100 100 100 100 100 30 77 100 100
    100 100 30 100 94 97 99 9 4 5 14 40 34 100 100 100 100 100 100 100 100 100 100 30 72 98 100
    4 100 30 100 5 3 4 9 7 7 8 11 15 0 15 71 95 83 61 4 22 66 41 30 100 100 100
    0 100 100 100 59 58 45 37 31 27 29 62 30 3 1 11 27 9 4 0 27 7 20 30 77 97 99
    0 100 90 100 85 95 95 82 95 76 93 97 83 33 7 47 24 17 26 9 46 35 70 30 97 100 97
    0 100 99 100 63 57 55 82 13 68 88 85 96 6 15 29 1 21 67 7 1 17 13 30 65 100 98
    1 100 97 100 100 99 100 98 98 85 99 99 100 58 6 13 15 18 12 1 17 54 22 30 99 100 99
    0 100 65 100 5 4 5 14 32 18 11 14 9 2 29 83 29 27 2 16 1 83 17 30 95 35 98
    0 100 97 100 96 95 93 75 68 66 84 70 51 22 33 20 4 5 25 1 2 2 30 30 30 94 96
    1 100 99 100 69 55 35 47 64 38 36 60 26 74 65 72 7 22 37 12 1 40 36 30 88 98 76
    34 100 30 100 74 34 57 37 30 24 24 26 32 60 31 48 4 3 72 53 38 2 49 30 93 98 100
    5 100 100 100 86 89 99 74 82 94 87 87 85 74 17 31 38 60 28 12 15 34 7 30 77 100 100
    76 100 30 100 99 99 100 78 98 63 82 89 95 100 97 100 98 100 99 100 100 99 100 31 83 77 100
    76 100 30 100 99 99 100 78 98 63 82 89 95 100 97 100 98 100 99 100 100 99 100 25 83 77 100
    76 100 30 100 99 99 100 78 98 63 82 89 95 100 97 100 98 100 99 100 100 99 100 4 83 77 100
    1 30 100 30 30 30 30 30 88 99 30 30 30 30 30 100 100 30 30 88 30 30 30 30 30 77 30
"""
# Blocks that stay in the processor's cache; whole-file temporaries are four times slower.
_BLOCK = 16_384
_DOC_LINES = 12
_OUTLINE_LINE_TOKENS = 70
_PARAGRAPH_LINES = 4


class FileText(NamedTuple):
    """A file whose tokens are estimated."""

    source: bytes
    language: str
    definitions: int
    """Number of its definitions."""


class DefinitionLines(NamedTuple):
    """The definitions of files, one after the other, as columns of ``parsing.values.Definition``."""

    kind: Sequence[str]
    parent: NDArray[Any]
    """Row within the file, -1 for none."""
    start: NDArray[Any]
    end: NDArray[Any]
    sig_start: NDArray[Any]
    sig_end: NDArray[Any]
    doc_start: NDArray[Any]
    doc_end: NDArray[Any]


class TokenEstimates(NamedTuple):
    """Estimated tokens of the contents of files, without their paths."""

    levels: NDArray[np.int64]
    """Tokens at levels 0 to 4, shape (files, 5); 0 and 1 show no content."""
    definitions: NDArray[np.int64]
    """Tokens of each definition at levels 2, 3 and 4, what it encloses included; shape (definitions, 3)."""


def estimate_files(files: Sequence[FileText], definitions: DefinitionLines) -> TokenEstimates:
    """Estimate files and their definitions at every level: about 5 ns a byte, 1 µs a definition."""
    lines, counts = _line_tokens_of(files)
    ends = np.cumsum(counts)
    begins = ends - counts
    places = begins + np.arange(len(files))
    sums = _Sums(counts, places, np.zeros(len(lines) + len(files)), np.zeros(len(lines) + len(files)))
    short = np.minimum(lines, _OUTLINE_LINE_TOKENS)
    totals = np.zeros(len(files))
    for row, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
        totals[row] = lines[begin:end].sum()
        if files[row].definitions:
            np.cumsum(lines[begin:end], out=sums.whole[begin + row + 1 : end + row + 1])
            np.cumsum(short[begin:end], out=sums.outline[begin + row + 1 : end + row + 1])
    owner = np.repeat(np.arange(len(files)), [file.definitions for file in files])
    own = _own_tokens(definitions, owner, sums)
    levels = np.zeros((len(files), 5))
    for level, values in enumerate(own[:2], start=2):
        levels[:, level] = np.bincount(owner, values, len(files))
    levels[:, 4] = totals
    structure, interface = (_with_enclosed(values, owner, definitions.parent) for values in own[:2])
    estimates = np.stack((structure, interface, own[2]), axis=1)
    return TokenEstimates(np.rint(levels).astype(np.int64), np.rint(estimates).astype(np.int64))


def estimate_paths(paths: Sequence[str]) -> NDArray[np.int32]:
    """Estimate the tokens of each path as a line of a map; shape (n,)."""
    if not paths:
        return np.zeros(0, np.int32)
    together = "\n".join(paths)
    if together.count("\n") != len(paths) - 1:
        together = "\n".join(path.replace("\n", " ") for path in paths)
    lines = together.encode("utf-8", "surrogatepass")
    return np.ceil(_line_tokens(lines, "")).astype(np.int32)


def estimate(text: str, language: str = "") -> int:
    """Estimate the tokens of any text without a tokenizer."""
    return round(float(_line_tokens(text.encode("utf-8", "surrogatepass"), language).sum()))


class _Sums(NamedTuple):
    """Tokens of the first n lines of each file, n from 0."""

    counts: NDArray[np.int64]
    """Lines of each file."""
    places: NDArray[np.int64]
    """Where each file begins in the two that follow."""
    whole: NDArray[np.float64]
    """As source."""
    outline: NDArray[np.float64]
    """With long lines cut short."""


def _own_tokens(
    found: DefinitionLines, owner: NDArray[np.int64], sums: _Sums
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return each definition's tokens at levels 2, 3 and 4; enclosed definitions count in the third only.

    ``owner`` is the row of each definition's file.
    """
    last, at, whole, outline = sums.counts[owner], sums.places[owner], sums.whole, sums.outline
    start, head, tail, end = _within(last, found.start, found.sig_start, found.sig_end, found.end)
    doc_start, doc_end = found.doc_start, np.minimum(found.doc_end, last)
    # Minified code has many definitions on one line, which is shown once.
    is_first = (np.diff(head, prepend=0) != 0) | (np.diff(owner, prepend=-1) != 0)
    is_member = np.array([kind in MEMBERS for kind in found.kind], np.bool_)
    is_heading = np.array([kind == "heading" for kind in found.kind], np.bool_)
    interface = np.where(is_first, outline[at + tail] - outline[at + start - 1], 0.0)
    structure = np.where(is_first & ~is_member, outline[at + head] - outline[at + head - 1], 0.0)
    body = whole[at + end] - whole[at + start - 1]
    has_doc = (doc_start > 0) & (doc_start <= last)
    with_doc, first = at[has_doc], doc_start[has_doc]
    until = np.maximum(np.minimum(doc_end[has_doc], first + _DOC_LINES), first - 1)
    interface[has_doc] += outline[with_doc + until] - outline[with_doc + first - 1]
    is_above = has_doc & (doc_end < start)
    above = at[is_above]
    body[is_above] += whole[above + doc_end[is_above]] - whole[above + doc_start[is_above] - 1]
    is_plain = is_heading & ~has_doc
    plain = at[is_plain]
    until = np.minimum(tail[is_plain] + _PARAGRAPH_LINES, end[is_plain])
    interface[is_plain] += outline[plain + until] - outline[plain + tail[is_plain]]
    return structure, interface, body


def _within(last: NDArray[np.int64], *numbers: NDArray[Any]) -> list[NDArray[np.int64]]:
    """Clamp line numbers to their files, each at lower the one before."""
    found: list[NDArray[np.int64]] = []
    lower = np.minimum(1, last)
    for number in numbers:
        lower = np.minimum(np.maximum(number, lower), last)
        found.append(lower)
    return found


def _with_enclosed(
    values: NDArray[np.float64], owner: NDArray[np.int64], parent: NDArray[Any]
) -> list[float]:
    """Add to each definition's tokens those of the definitions in it; an enclosing one comes first."""
    totals: list[float] = values.tolist()
    first = np.searchsorted(owner, owner)
    inner = np.flatnonzero(parent >= 0)[::-1]
    for row, outer in zip(inner.tolist(), (first + parent)[inner].tolist(), strict=True):
        totals[outer] += totals[row]
    return totals


def _line_tokens(source: bytes, language: str) -> NDArray[np.float64]:
    """Return the estimated tokens of every line."""
    return _line_tokens_of([FileText(source, language, 0)])[0]


def _line_tokens_of(files: Sequence[FileText]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the estimated tokens of the lines of files, one after the other, and how many each has."""
    classes, boundary = _tables()
    # A line begins behind each line end, the one before the file included, but not behind the last byte.
    joined = b"".join([part for file in files for part in (b"\n", file.source)]).translate(classes)
    kinds = np.frombuffer(joined, np.uint8)
    sizes = np.array([len(file.source) for file in files], np.int64)
    lasts = np.cumsum(sizes + 1) - 1
    begins = np.empty(len(kinds), np.uint8)
    for at in range(0, len(kinds) - 1, _BLOCK):
        block = kinds[at : at + _BLOCK + 1].astype(np.intp)
        pairs = block[:-1] * len(_BOUNDARY_ROWS)
        pairs += block[1:]
        boundary.take(pairs, out=begins[at : at + len(pairs)], mode="clip")
    begins[lasts] = 0
    is_start = kinds == 0
    is_start[lasts] = False
    starts = np.flatnonzero(is_start)
    counts = np.diff(np.searchsorted(starts, lasts, side="right"), prepend=0)
    if not len(starts):
        return np.zeros(0), counts
    lines = np.add.reduceat(begins, starts, dtype=np.int64)
    factors = np.array([language_named(file.language).token_factor / 100 for file in files])
    return lines * np.repeat(factors, counts), counts


_BOUNDARY_ROWS = tuple(tuple(map(int, row.split())) for row in _BOUNDARY_PERCENT.strip().splitlines())


@cache
def _tables() -> tuple[bytes, NDArray[np.uint8]]:
    """Return the class of every byte, and the percentage of a token start per pair of classes."""
    named = len(_CLASSES)
    kinds = bytearray(named + 3 for _ in range(256))
    for kind, characters in enumerate(_CLASSES):
        for character in characters:
            kinds[ord(character)] = kind
    for byte in range(0x80, 256):
        kinds[byte] = named if byte < 0xC0 else named + 1 if byte < 0xE0 else named + 2
    return bytes(kinds), np.array(_BOUNDARY_ROWS, dtype=np.uint8).ravel()
