"""Which files of a listing are read at a first look: those in which a goal's words stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from ahocorasick_rs import BytesAhoCorasick, Implementation
from numpy.typing import NDArray

from repo_map.arrays import distinct
from repo_map.first_look.words import SearchedWords, searched_words
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named, language_of
from repo_map.ranking.bm25 import inverse_frequency, term_weights
from repo_map.ranking.corpus import summed
from repo_map.ranking.goal import ParsedGoal
from repo_map.sources.file_kinds import (
    GENERATED_OR_VENDORED,
    FileFlag,
    flags_of_path,
    is_auxiliary,
    is_build_output,
    kind_bits,
)
from repo_map.sources.files import Listing
from repo_map.sources.source import MaskedReader
from repo_map.text.terms import terms_in

MOST_FILES = 200
MOST_CODE_BYTES, MOST_TEXT_BYTES = 2_000_000, 300_000
"""Of code that is parsed, and of prose and data, which hold many words and little of what is asked for."""
_LARGEST = 400_000
"""Bytes of a file that is read; a larger one is data more often than code."""
_SATURATION, _LENGTH = 4.0, 0.5
"""BM25's k1 and b over whole files."""
_PATH_SHARE = 1.5
"""What a word in a path is worth beside one in the text."""
_NAMED = 1_000.0
"""Score of a file that the goal names."""
_COPIED_SHARE, _AUXILIARY_SHARE, _TEXT_SHARE = 0.15, 0.5, 0.5
"""What is left of the score of copies, of tests and what stands aside, and of prose and data."""
_TEMPLATE = re.compile(
    r"(?:issue|pull_request|merge_request|bug_report)_?templates?(?:[/.]|$)", re.IGNORECASE
)
_MOST_TEMPLATES, _LARGEST_TEMPLATE = 20, 20_000
_WAIT_EVERY = 256
"""Files between two signs of life."""


class FoundWords(NamedTuple):
    """Where words stand: one entry for each file and word that it holds."""

    file: NDArray[np.int64]
    word: NDArray[np.int64]
    occurrences: NDArray[np.int64]


def choose(
    tree: MaskedReader, listing: Listing, goal: ParsedGoal, on_wait: Callable[[], object]
) -> NDArray[np.int64]:
    """Return the files, ascending, that a first look at a goal reads: the best, and templates of issues.

    ``on_wait`` is called now and then while files are looked through; what it raises ends that.
    """
    sizes = listing.states[:, 0]
    order = ranked(tree, listing, goal, on_wait)
    if not len(order):
        return order
    is_code = np.array([_is_code(listing.paths[file]) for file in order.tolist()], np.bool_)
    code, text = order[is_code], order[~is_code]
    fits = np.zeros(len(order), np.bool_)
    fits[is_code] = np.cumsum(sizes[code]) <= MOST_CODE_BYTES
    fits[~is_code] = np.cumsum(sizes[text]) <= MOST_TEXT_BYTES
    best = order[fits][:MOST_FILES]
    templates = [file for file, path in enumerate(listing.paths) if _TEMPLATE.search(path)]
    small = [file for file in templates if sizes[file] <= _LARGEST_TEMPLATE][:_MOST_TEMPLATES]
    return distinct(np.concatenate((best, np.array(small, np.int64))))


def ranked(
    tree: MaskedReader, listing: Listing, goal: ParsedGoal, on_wait: Callable[[], object]
) -> NDArray[np.int64]:
    """Return the files in which words of a goal stand, or whose paths hold them, the best first.

    Every file in a known language is looked through once.
    """
    sizes = listing.states[:, 0]
    wanted = searched_words(goal)
    scores = _path_scores(listing.paths, goal)
    readable = np.flatnonzero(sizes <= _LARGEST)
    searched = [file for file in readable.tolist() if language_of(listing.paths[file])]
    found = find_words(tree, listing.paths, searched, wanted, on_wait)
    scores += _text_scores(found, wanted, sizes, searched)
    hit = np.flatnonzero(scores)
    scores[hit] *= [_share(listing.paths[file], goal) for file in hit.tolist()]
    scores[_named_files(listing.paths, goal)] = _NAMED
    scores[sizes > _LARGEST] = 0.0
    order = np.argsort(-scores, kind="stable")
    return order[scores[order] > 0.0]


def find_words(
    tree: MaskedReader,
    paths: Sequence[str],
    files: Sequence[int],
    wanted: SearchedWords,
    on_wait: Callable[[], object],
) -> FoundWords:
    """Count words in the bytes of files, whatever their case, within longer words as well."""
    found_files, found_words = [], []
    if wanted.patterns:
        search = BytesAhoCorasick(list(wanted.patterns), implementation=Implementation.DFA)
        for number, file in enumerate(files):
            if number % _WAIT_EVERY == 0:
                on_wait()
            source = tree.fetch(paths[file]).source
            hits = search.find_matches_as_indexes(source.lower(), overlapping=True) if source else ()
            if hits:
                found_words.append(np.fromiter((hit[0] for hit in hits), np.int64, len(hits)))
                found_files.append(file)
    counts = [len(each) for each in found_words]
    keys = np.repeat(np.array(found_files, np.int64), counts) * max(len(wanted.patterns), 1)
    keys += np.concatenate([*found_words, np.zeros(0, np.int64)])
    found, occurrences = np.unique(keys, return_counts=True)
    of_file, of_word = np.divmod(found, max(len(wanted.patterns), 1))
    return FoundWords(of_file, of_word, occurrences)


def _text_scores(
    found: FoundWords, wanted: SearchedWords, sizes: NDArray[np.int64], searched: Sequence[int]
) -> NDArray[np.float64]:
    """Return BM25 of every file over the words that were found; shape (files,)."""
    frequency = np.bincount(found.word, minlength=len(wanted.patterns))
    worth = np.array(wanted.weights) * inverse_frequency(frequency, max(len(searched), 1))
    mean = max(float(sizes[searched].mean()), 1.0) if searched else 1.0
    length = 1.0 - _LENGTH + _LENGTH * sizes[found.file] / mean
    saturated = found.occurrences / (found.occurrences + _SATURATION * length)
    return summed(found.file, worth[found.word] * saturated, len(sizes))


def _path_scores(paths: Sequence[str], goal: ParsedGoal) -> NDArray[np.float64]:
    """Return what the words of each path are worth; shape (files,)."""
    weights = {term: weight for term, weight in term_weights(goal).items() if len(term) > 1}
    weights.update({compound: 1.0 for compound in goal.compounds if compound not in weights})
    of_folder: dict[str, frozenset[str]] = {}
    held: list[frozenset[str]] = []
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder not in of_folder:
            of_folder[folder] = terms_in(folder.replace("/", " ")) & weights.keys()
        held.append(of_folder[folder] | (terms_in(name) & weights.keys()))
    frequency: dict[str, int] = {}
    for terms in held:
        for term in terms:
            frequency[term] = frequency.get(term, 0) + 1
    names = sorted(frequency)
    idf = inverse_frequency(np.array([frequency[name] for name in names], np.int64), max(len(paths), 1))
    worth = {name: _PATH_SHARE * weights[name] * float(each) for name, each in zip(names, idf, strict=True)}
    return np.array([sum(worth[term] for term in sorted(terms)) for terms in held], np.float64)


def _share(path: str, goal: ParsedGoal) -> float:
    """Return what a file's kind leaves of its score."""
    flags = flags_of_path(path)
    is_test = bool(flags & FileFlag.TEST)
    if goal.aims.kinds and kind_bits(path, is_test) & int(goal.aims.kinds):
        return 1.0
    share = 1.0
    if flags & GENERATED_OR_VENDORED or is_build_output(path):
        share *= _COPIED_SHARE
    if is_test or is_auxiliary(path):
        share *= _AUXILIARY_SHARE
    if not _is_code(path):
        share *= _TEXT_SHARE
    return share


def _is_code(path: str) -> bool:
    return language_named(language_of(path)).role is LanguageRole.CODE


_MOST_OF_A_NAME = 12


def _named_files(paths: Sequence[str], goal: ParsedGoal) -> list[int]:
    """Return the files that a goal names by a path, or by a name that few bear."""
    named = {path.rpartition("/")[2].lower() for path in (*goal.paths, *(each.path for each in goal.frames))}
    named.discard("")
    found: dict[str, list[int]] = {}
    for file, path in enumerate(paths):
        name = path.rpartition("/")[2].lower()
        if name in named:
            found.setdefault(name, []).append(file)
    return [file for files in found.values() if len(files) <= _MOST_OF_A_NAME for file in files]
