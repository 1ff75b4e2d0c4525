"""A baseline for answers: BM25 over definitions with fields for name, path and body; no learned weight."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.tasks import NOT_CODE, Task
from repo_map.languages.kinds import FUNCTIONS, TYPES
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED, FileFlag, is_auxiliary
from repo_map.text import tokens
from repo_map.text.terms import terms_of, tokenize

if TYPE_CHECKING:
    from repo_map.index.index import Index

LISTED: Final = 15
SHOWN_LINES: Final = 70
_GOAL, _NAMES, _EXACT, _PART = 0.7, 5.0, 2.0, 6.0
_LEAF, _PATH, _K1, _B = 2.0, 0.7, 1.6, 0.6
_ASIDE, _FILE, _BEST_OF_FILE, _TYPE_LINES = 0.7, 0.5, 5, 16


class Ranked(NamedTuple):
    """A definition; its lines are 1-based and inclusive."""

    path: str
    first: int
    last: int


class _Document(NamedTuple):
    place: Ranked
    plain: str
    leaf: frozenset[str]
    on_path: frozenset[str]
    body: Counter[str]


def rank(index: Index, goal: str, names: Sequence[str] = ()) -> list[Ranked]:
    """Return the definitions of a repository, best first; ``names`` are guessed identifiers."""
    documents = list(_documents(index))
    count = max(len(documents), 1)
    held = Counter(word for each in documents for word in {*each.leaf, *each.on_path, *each.body})
    mean = sum(each.body.total() for each in documents) / count or 1.0
    namesakes = Counter(each.plain for each in documents)
    said = Counter(_words(goal))
    query = {word: _GOAL * min(3.0, 1 + math.log(number)) for word, number in said.items()}
    guesses = [frozenset(_words(name)) for name in names]
    for guess in guesses:
        for word in sorted(guess):
            query[word] = query.get(word, 0.0) + _NAMES / math.sqrt(len(guess))
    idf = {word: math.log1p((count - held[word] + 0.5) / (held[word] + 0.5)) for word in query}
    exact = {_plain(name) for name in names}
    scores = []
    for each in documents:
        length = 1 - _B + _B * each.body.total() / mean
        total = 0.0
        for word, weight in query.items():
            frequency = (
                _LEAF * (word in each.leaf) + _PATH * (word in each.on_path) + each.body[word] / length
            )
            total += weight * idf[word] * frequency / (_K1 + frequency)
        if each.plain in exact:
            total += _EXACT * math.log1p(count / (1 + namesakes[each.plain]))
        alike = (len(guess) > 1 and (each.leaf <= guess or guess <= each.leaf) for guess in guesses)
        total += _PART * sum(alike) * (len(each.leaf) > 1)
        scores.append(total * (_ASIDE if is_auxiliary(each.place.path) else 1.0))
    of_file: defaultdict[str, list[float]] = defaultdict(list)
    for each, score in zip(documents, scores, strict=True):
        of_file[each.place.path].append(score)
    best = {path: sum(sorted(own)[-_BEST_OF_FILE:]) / _BEST_OF_FILE for path, own in of_file.items()}
    order = zip(scores, (each.place for each in documents), strict=True)
    return [
        place for _, place in sorted(order, key=lambda each: (-each[0] - _FILE * best[each[1].path], each[1]))
    ]


def score_ranked(task: Task, ranked: Sequence[Ranked]) -> dict[str, float]:
    """Return the share of a task's functions among the first 15 places, and that shown whole in 70 lines."""
    listed, room, shown = list(ranked[:LISTED]), SHOWN_LINES, set()
    for place in listed:
        if (lines := place.last - place.first + 1) <= room:
            room -= lines
            shown.add(place)
    wanted = [each for each in task.gold_symbols if each.kind == "function"]
    reach = [any(_has(place, each.file, each.sig_line) for place in listed) for each in wanted]
    body = [any(_has(place, each.file, each.sig_line) for place in shown) for each in wanted]
    return {
        "reach": sum(reach) / len(reach),
        "body": sum(body) / len(body),
        "tokens": 0.0,
        "places": float(len(listed)),
    }


def ceiling(task: Task, room: int, read: Callable[[str], str]) -> float:
    """Return the share of a task's functions that a choice that knows them could show in ``room`` tokens."""
    wanted = [each for each in task.gold_symbols if each.kind == "function"]
    texts = ("\n".join(read(each.file).split("\n")[each.start - 1 : each.end]) for each in wanted)
    costs = sorted(map(tokens.count, texts))[:LISTED]
    fitting = 0
    for cost in costs:
        room -= cost
        fitting += room >= 0
    return fitting / len(wanted)


def _has(place: Ranked, path: str, line: int) -> bool:
    return place.path == path and place.first <= line <= place.last


def _documents(index: Index) -> Iterator[_Document]:
    for file, path in enumerate(index.paths):
        flags = int(index.files.flags[file])
        if index.language(file) in NOT_CODE or flags & int(GENERATED_OR_VENDORED | FileFlag.TEST):
            continue
        lines = index.sources.text(file).split("\n")
        on_path = frozenset(_words(path))
        for each in index.definitions(file):
            if each.kind in FUNCTIONS | TYPES:
                last = min(each.end, each.start + _TYPE_LINES - 1) if each.kind in TYPES else each.end
                body = Counter(_words("\n".join(lines[each.start - 1 : last])))
                leaf = frozenset(_words(each.name))
                yield _Document(Ranked(path, each.start, each.end), _plain(each.name), leaf, on_path, body)


def _words(text: str) -> list[str]:
    found = (terms_of(word) for word in tokenize(text))
    return [term for terms in found for term in (terms[1:] or terms)]


def _plain(name: str) -> str:
    return re.sub(r"\W", "", re.split(r"[.:#]+", name)[-1]).lower()
