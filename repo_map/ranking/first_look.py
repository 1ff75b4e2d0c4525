"""A first look at a large tree: an index in which only the files that match a goal are read."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from ahocorasick_rs import BytesAhoCorasick, Implementation
from numpy.typing import NDArray

from repo_map.arrays import distinct
from repo_map.index.build import OnProgress, ignore_progress, read_some, require_memory
from repo_map.index.index import Build, Index
from repo_map.index.store import Store
from repo_map.index.worker_pool import warm_up
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named, language_of
from repo_map.limits import DEFAULT, Limits
from repo_map.ranking.bm25 import inverse_frequency, term_weights
from repo_map.ranking.corpus import MAX_TEMPLATE_BYTES, MAX_TEMPLATES, TEMPLATE, summed, terms_of_paths
from repo_map.ranking.goal import GoalPart, ParsedGoal, parse_goal
from repo_map.ranking.mentions import MAX_FILES_OF_NAME
from repo_map.sources.file_kinds import (
    GENERATED_OR_VENDORED,
    FileFlag,
    flags_of_path,
    is_auxiliary,
    is_build_output,
    kind_bits,
)
from repo_map.sources.files import Listing
from repo_map.sources.source import FileSource, MaskedReader, MaskedSource

LARGE_BYTES, LARGE_FILES = 6_000_000, 1_500
"""Of source: a smaller tree is indexed within some seconds."""
_WORKERS = 2
MAX_FILES = 200
_MAX_CODE_BYTES, _MAX_TEXT_BYTES = 2_000_000, 300_000
"""Of code that is parsed, and of prose and data, which match many words and seldom are what is asked for."""
_MAX_FILE_BYTES = 400_000
"""A larger file is data more often than code."""
_K1, _B = 4.0, 0.5
"""BM25 over whole files."""
_PATH_WEIGHT = 1.5
"""Of a word in a path, relative to one in the text."""
_NAMED_SCORE = 1_000.0
"""Of a file that the goal names."""
_GENERATED_WEIGHT, _AUXILIARY_WEIGHT, _TEXT_WEIGHT = 0.15, 0.5, 0.5
"""Score multipliers of generated and vendored files, of tests and auxiliary files, and of prose and data."""
_FILES_PER_PROGRESS = 256
_MIN_PATTERN_BYTES = 3
_MAX_PATTERNS = 400
_COMPOUND_WEIGHT, _IDENTIFIER_WEIGHT, _DEFINITION_WEIGHT, _MESSAGE_WEIGHT = 1.0, 3.0, 6.0, 4.0
_MAX_IDENTIFIERS, _MAX_MESSAGES, _MAX_MESSAGE_CHARS = 24, 12, 120
_DEFINING: Final = (
    *("def", "class", "func", "function", "fn", "struct", "interface", "type", "trait", "enum"),
    *("const", "let", "var", "#define", "module", "object", "record"),
)
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w{2,}")


def is_unindexed(
    source: FileSource, store: Store, unmasked: tuple[str, ...] = (), limits: Limits = DEFAULT
) -> bool:
    """Return True if the source is one folder of which the store has no index."""
    store = store.under(limits)
    is_known = store.has_state(_masked_source(source, unmasked, limits).name)
    return not is_known and len(source.parts) == 1 and not source.parts[0].ref


def first_look(
    source: FileSource,
    goal: str,
    *,
    store: Store,
    workers: int | None = None,
    on_progress: OnProgress | None = None,
    unmasked: tuple[str, ...] = (),
    limits: Limits = DEFAULT,
) -> Index | None:
    """Return an index in which the files that match ``goal`` are parsed and all others are only listed.

    Return None if that saves nothing: the tree is small, or the store has an index of it or of a similar one.
    A refresh of the index parses the rest.

    Raises:
        RepositoryNotFoundError: There is nothing to list.
        TreeTooLargeError: The full index would take more memory than ``limits`` allow.
    """
    if not is_unindexed(source, store, unmasked, limits):
        return None
    store = store.under(limits)
    tree = _masked_source(source, unmasked, limits)
    on_progress = on_progress or ignore_progress
    warm_up(_WORKERS)
    taken_ns = time.time_ns()
    on_progress("listing", 0, 1)
    listing = tree.list(None, lambda: on_progress("listing", 0, 1))
    require_memory(tree, listing)
    if not _is_large(listing, limits) or any(True for _ in store.related(listing.paths)):
        return None
    chosen = choose_files(
        tree.at(listing), listing, parse_goal(goal), lambda: on_progress("searching", 0, len(listing.paths))
    )
    if not len(chosen):
        return None
    known = read_some(tree, listing, taken_ns, chosen, workers=workers, on_progress=on_progress)
    return Index(Build(tree, known, store, workers))


def _masked_source(source: FileSource, unmasked: tuple[str, ...], limits: Limits) -> MaskedSource:
    return MaskedSource(source, tuple(sorted(set(unmasked))), limits)


def _is_large(listing: Listing, limits: Limits) -> bool:
    """Return True if a full index takes longer than an answer should."""
    sizes = np.minimum(listing.states[:, 0], limits.file_bytes)
    is_source = [language_of(path) != "" for path in listing.paths]
    return sum(is_source) > LARGE_FILES or int(sizes[is_source].sum()) > LARGE_BYTES


def search_patterns(goal: ParsedGoal) -> dict[bytes, float]:
    """Return the patterns of a goal in lower case, weighted: terms, names, and definitions of these."""
    found: dict[bytes, float] = {}
    for text, weight in _texts(goal):
        pattern = text.lower().encode("utf-8", "replace")
        if len(pattern) >= _MIN_PATTERN_BYTES and len(found) < _MAX_PATTERNS:
            found[pattern] = max(found.get(pattern, 0.0), weight)
    return found


def _texts(goal: ParsedGoal) -> Iterator[tuple[str, float]]:
    strong = [name for name, part in goal.identifiers.items() if part is not GoalPart.CODE]
    weak = [name for name, part in goal.identifiers.items() if part is GoalPart.CODE]
    dotted = [part for name in goal.dotted for part in name.split(".") if _IDENTIFIER.fullmatch(part)]
    names = dict.fromkeys([*strong, *dotted, *weak])
    for name in list(names)[:_MAX_IDENTIFIERS]:
        yield name, _IDENTIFIER_WEIGHT
        for keyword in _DEFINING:
            yield f"{keyword} {name}", _DEFINITION_WEIGHT
    for message in goal.messages[:_MAX_MESSAGES]:
        yield message[:_MAX_MESSAGE_CHARS], _MESSAGE_WEIGHT
    yield from term_weights(goal).items()
    for compound in goal.compounds:
        yield compound, _COMPOUND_WEIGHT
        yield goal.surface.get(compound, compound).replace(" ", "_"), _COMPOUND_WEIGHT


class PatternMatches(NamedTuple):
    """One entry per file and pattern that occurs in it."""

    file: NDArray[np.int64]
    word: NDArray[np.int64]
    occurrences: NDArray[np.int64]


def choose_files(
    tree: MaskedReader, listing: Listing, goal: ParsedGoal, on_progress: Callable[[], object]
) -> NDArray[np.int64]:
    """Return the files, ascending, that a first look at a goal parses: the best, and issue templates.

    ``on_progress`` is called now and then during the search; an exception ends it.
    """
    sizes = listing.states[:, 0]
    order = rank_files(tree, listing, goal, on_progress)
    if not len(order):
        return order
    is_code = np.array([_is_code(listing.paths[file]) for file in order.tolist()], np.bool_)
    code, text = order[is_code], order[~is_code]
    fits = np.zeros(len(order), np.bool_)
    fits[is_code] = np.cumsum(sizes[code]) <= _MAX_CODE_BYTES
    fits[~is_code] = np.cumsum(sizes[text]) <= _MAX_TEXT_BYTES
    best = order[fits][:MAX_FILES]
    templates = [file for file, path in enumerate(listing.paths) if TEMPLATE.search(path)]
    small = [file for file in templates if sizes[file] <= MAX_TEMPLATE_BYTES][:MAX_TEMPLATES]
    return distinct(np.concatenate((best, np.array(small, np.int64))))


def rank_files(
    tree: MaskedReader, listing: Listing, goal: ParsedGoal, on_progress: Callable[[], object]
) -> NDArray[np.int64]:
    """Return the files whose text or path matches a goal, the best first; each file is searched once."""
    sizes = listing.states[:, 0]
    patterns = search_patterns(goal)
    scores = _path_scores(listing.paths, goal)
    readable = np.flatnonzero(sizes <= _MAX_FILE_BYTES)
    searched = [file for file in readable.tolist() if language_of(listing.paths[file])]
    found = find_patterns(tree, listing.paths, searched, patterns, on_progress)
    scores += _text_scores(found, patterns.values(), sizes, searched)
    hit = np.flatnonzero(scores)
    scores[hit] *= [_kind_weight(listing.paths[file], goal) for file in hit.tolist()]
    scores[_files_named_in_goal(listing.paths, goal)] = _NAMED_SCORE
    scores[sizes > _MAX_FILE_BYTES] = 0.0
    order = np.argsort(-scores, kind="stable")
    return order[scores[order] > 0.0]


def find_patterns(
    tree: MaskedReader,
    paths: Sequence[str],
    files: Sequence[int],
    patterns: Collection[bytes],
    on_progress: Callable[[], object],
) -> PatternMatches:
    """Count the occurrences of patterns in files, ignoring case and word boundaries."""
    found_files, found_words = [], []
    if patterns:
        search = BytesAhoCorasick(list(patterns), implementation=Implementation.DFA)
        for number, file in enumerate(files):
            if number % _FILES_PER_PROGRESS == 0:
                on_progress()
            source = tree.fetch(paths[file]).source
            hits = search.find_matches_as_indexes(source.lower(), overlapping=True) if source else ()
            if hits:
                found_words.append(np.fromiter((hit[0] for hit in hits), np.int64, len(hits)))
                found_files.append(file)
    counts = [len(each) for each in found_words]
    keys = np.repeat(np.array(found_files, np.int64), counts) * max(len(patterns), 1)
    keys += np.concatenate([*found_words, np.zeros(0, np.int64)])
    found, occurrences = np.unique(keys, return_counts=True)
    of_file, of_word = np.divmod(found, max(len(patterns), 1))
    return PatternMatches(of_file, of_word, occurrences)


def _text_scores(
    found: PatternMatches, weights: Collection[float], sizes: NDArray[np.int64], searched: Sequence[int]
) -> NDArray[np.float64]:
    """Return the BM25 score of each file's text; shape (files,)."""
    frequency = np.bincount(found.word, minlength=len(weights))
    term_worth = np.array([*weights]) * inverse_frequency(frequency, max(len(searched), 1))
    mean = max(float(sizes[searched].mean()), 1.0) if searched else 1.0
    length = 1.0 - _B + _B * sizes[found.file] / mean
    saturated = found.occurrences / (found.occurrences + _K1 * length)
    return summed(found.file, term_worth[found.word] * saturated, len(sizes))


def _path_scores(paths: Sequence[str], goal: ParsedGoal) -> NDArray[np.float64]:
    """Return the score of each path; shape (files,)."""
    weights = {term: weight for term, weight in term_weights(goal).items() if len(term) > 1}
    weights.update({compound: 1.0 for compound in goal.compounds if compound not in weights})
    path_terms = [terms & weights.keys() for terms in terms_of_paths(paths)]
    frequency = Counter(term for terms in path_terms for term in terms)
    names = sorted(frequency)
    idf = inverse_frequency(np.array([frequency[name] for name in names], np.int64), max(len(paths), 1))
    term_worth = {
        name: _PATH_WEIGHT * weights[name] * float(each) for name, each in zip(names, idf, strict=True)
    }
    return np.array([sum(term_worth[term] for term in sorted(terms)) for terms in path_terms], np.float64)


def _kind_weight(path: str, goal: ParsedGoal) -> float:
    """Return the score multiplier of a file's kind."""
    flags = flags_of_path(path)
    is_test = bool(flags & FileFlag.TEST)
    if goal.aims.kinds and kind_bits(path, is_test) & int(goal.aims.kinds):
        return 1.0
    weight = 1.0
    if flags & GENERATED_OR_VENDORED or is_build_output(path):
        weight *= _GENERATED_WEIGHT
    if is_test or is_auxiliary(path):
        weight *= _AUXILIARY_WEIGHT
    if not _is_code(path):
        weight *= _TEXT_WEIGHT
    return weight


def _is_code(path: str) -> bool:
    return language_named(language_of(path)).role is LanguageRole.CODE


def _files_named_in_goal(paths: Sequence[str], goal: ParsedGoal) -> list[int]:
    """Return the files whose names the goal mentions, unless many files have the same name."""
    named = {path.rpartition("/")[2].lower() for path in (*goal.paths, *(each.path for each in goal.frames))}
    named.discard("")
    names = [path.rpartition("/")[2].lower() for path in paths]
    counts = Counter(name for name in names if name in named)
    return [file for file, name in enumerate(names) if 0 < counts[name] <= MAX_FILES_OF_NAME]
