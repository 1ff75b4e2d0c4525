"""Tokens of a file's parts at every level."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from repo_map.languages.kinds import MEMBERS
from repo_map.languages.registry import language_named

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from repo_map.parsing.values import Definition, FileSymbols


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


class FileCosts(NamedTuple):
    """Estimated tokens of one file's content, its path not included, so that equal contents cost the same."""

    levels: tuple[int, int, int, int, int]
    """Tokens at levels 0 to 4; 0 and 1 show no content."""
    definitions: list[tuple[int, int, int]]
    """Tokens of each definition at levels 2, 3 and 4, whatever it encloses included."""


def price_file(source: bytes, symbols: FileSymbols, path: str) -> FileCosts:
    """Estimate what a file and its definitions cost at every level: about 7 ns a byte, 3 µs a definition."""
    lines = _line_tokens(source, symbols.language)
    total = float(lines.sum())
    if not symbols.definitions:
        return FileCosts((0, 0, 0, 0, round(total)), [])
    whole = [0.0, *np.cumsum(lines).tolist()]
    outline = [0.0, *np.cumsum(np.minimum(lines, _OUTLINE_LINE_TOKENS)).tolist()]
    structure, interface, body = _own_tokens(symbols.definitions, whole, outline)
    all_structure, all_interface = sum(structure), sum(interface)
    for index in range(len(body) - 1, -1, -1):
        parent = symbols.definitions[index].parent
        if parent >= 0:
            structure[parent] += structure[index]
            interface[parent] += interface[index]
    levels = (0, 0, round(all_structure), round(all_interface), round(total))
    return FileCosts(
        levels, list(zip(map(round, structure), map(round, interface), map(round, body), strict=True))
    )


def price_paths(paths: Sequence[str]) -> NDArray[np.int32]:
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


def _own_tokens(
    definitions: Sequence[Definition], whole: Sequence[float], outline: Sequence[float]
) -> tuple[list[float], list[float], list[float]]:
    """Return each definition's tokens at levels 2, 3 and 4; what it encloses counts in the third only.

    ``whole`` and ``outline`` are the tokens of the first n lines, as source and with long lines cut short.
    """
    last = len(whole) - 1
    structures, interfaces, bodies = [], [], []
    line = 0
    for _, kind, _, start, end, head, tail, doc_start, doc_end in definitions:
        if not 0 < start <= head <= tail <= end <= last:
            start, head, tail, end = _within(last, start, head, tail, end)  # noqa: PLW2901
        structure = interface = 0.0
        # Minified code defines many names on one line, which is drawn once.
        if head != line:
            interface = outline[tail] - outline[start - 1]
            if kind not in MEMBERS:
                structure = outline[head] - outline[head - 1]
            line = head
        body = whole[end] - whole[start - 1]
        if 0 < doc_start <= last:
            doc_end = min(doc_end, last)  # noqa: PLW2901
            interface += (
                outline[max(min(doc_end, doc_start + _DOC_LINES), doc_start - 1)] - outline[doc_start - 1]
            )
            if doc_end < start:
                body += whole[doc_end] - whole[doc_start - 1]
        elif kind == "heading":
            interface += outline[min(tail + _PARAGRAPH_LINES, end)] - outline[tail]
        structures.append(structure)
        interfaces.append(interface)
        bodies.append(body)
    return structures, interfaces, bodies


def _within(last: int, *numbers: int) -> list[int]:
    """Bring line numbers into the file, each at least the one before."""
    found, least = [], min(1, last)
    for number in numbers:
        least = min(max(number, least), last)
        found.append(least)
    return found


def _line_tokens(source: bytes, language: str) -> NDArray[np.float64]:
    """Return the estimated tokens of every line."""
    if not source:
        return np.zeros(0)
    classes, boundary = _tables()
    kinds = np.frombuffer((b"\n" + source).translate(classes), dtype=np.uint8)
    begins = np.empty(len(source), np.uint8)
    for at in range(0, len(source), _BLOCK):
        block = kinds[at : at + _BLOCK + 1].astype(np.intp)
        pairs = block[:-1] * len(_BOUNDARY_ROWS)
        pairs += block[1:]
        boundary.take(pairs, out=begins[at : at + _BLOCK], mode="clip")
    lines = np.add.reduceat(begins, np.flatnonzero(kinds[:-1] == 0), dtype=np.int64)
    return lines * (language_named(language).token_factor / 100)


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
