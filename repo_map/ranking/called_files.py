"""Files that a title calls by name, without a path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from repo_map.ranking.corpus import Corpus
from repo_map.ranking.priors import are_auxiliary, file_kind_intents
from repo_map.text.terms import terms_in

_DOTFILE: Final = re.compile(r"(?<![\w/.)\]])\.\w[\w.-]*\w")
_BARE: Final = re.compile(r"\b[A-Z]{4,}\b|(?i:\b(?:readme|changelog|contributing|makefile|dockerfile)\b)")
"""Capitals, and files that everybody knows."""
_JOINED: Final = re.compile(r"(?<![\w/.-])(?:[A-Za-z]\w*(?:[-_]\w+)+|[A-Za-z]{2,}\d{2,})(?![\w/(-])")
"""``test_serving``, ``deploy-docs``, ``lib1560``."""
_LEAD: Final = re.compile(r"^([A-Za-z][\w-]{2,40})(?:\([^)]*\))?:\s")
"""``checksrc: …``."""
_ENDINGS: Final = ("", ".md", ".rst", ".txt", ".adoc", ".mdx")
_SURELY, _PERHAPS = 1.0, 0.8
_MOST_OF_A_STEM: Final = 3
"""Files with the same stem; more of them make it a word rather than a name."""


def find_called(corpus: Corpus, title: str) -> Iterator[tuple[int, float, str]]:
    """Yield each file that a title calls by name, how surely, and the name."""
    for match in _DOTFILE.finditer(title):
        files = corpus.files_of_name.get(match[0].lower(), [])
        yield from ((file, _SURELY, match[0]) for file in _outermost(corpus, files, title))
    for match in _BARE.finditer(title):
        names = (match[0].lower() + ending for ending in _ENDINGS)
        files = [file for name in names for file in corpus.files_of_name.get(name, ())]
        yield from ((file, _SURELY, match[0]) for file in _outermost(corpus, files, title))
    for match in _JOINED.finditer(title):
        yield from ((file, _PERHAPS, match[0]) for file in _of_stem(corpus, match[0]))
    if (lead := _LEAD.match(title)) and not file_kind_intents(lead[0]).kinds:
        # What leads a commit's message is often a folder or a topic: of code that says little.
        led = np.array(_of_stem(corpus, lead[1]), np.int64)
        beside: list[int] = led[are_auxiliary(corpus, led) > 0].tolist()
        yield from ((file, _PERHAPS, lead[1]) for file in beside)


def _of_stem(corpus: Corpus, stem: str) -> list[int]:
    files = corpus.files_of_stem.get(stem.lower(), [])
    return files if len(files) <= _MOST_OF_A_STEM else []


def _outermost(corpus: Corpus, files: Sequence[int], title: str) -> list[int]:
    """Return the files in the folder that the title names best or, where it names none, nearest the root."""
    said = terms_in(title)
    worth = [(len(said & corpus.path_terms[file]), -corpus.index.paths[file].count("/")) for file in files]
    best = max(worth, default=(0, 0))
    return [file for file, own in zip(files, worth, strict=True) if own == best][:_MOST_OF_A_STEM]
