"""What plain search gives for the same budget: files by BM25, functions by BM25, files by grep."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple, TypeVar

from benchmarks.scoring import Answer
from benchmarks.tasks import NOT_CODE
from repo_map.index import RepoIndex
from repo_map.text import tokens
from repo_map.worktree.file_kinds import PATH_ONLY, FileFlag

SYSTEMS = ("BM25 files", "BM25 functions", "grep")
_SATURATION = 1.5
_LENGTH_SHARE = 0.75
_WINDOW = 60
"""Lines of a chunk between functions."""
_BEST_FILES = 150
"""Files whose functions compete."""
_MOST_RANKED = 200
_FEW = 40
"""Candidates in a row that don't fit before a packet counts as full."""
_LONGEST_FILE = 1_500_000
"""Bytes."""
_LONGEST_WORD = 80
_LEFT_OUT = PATH_ONLY | FileFlag.TEST | FileFlag.VENDORED
_ASIDE = re.compile(r"(?:^|/)(?:fixtures?|benchmarks?|benches|examples?|docs?|documentation|website)/", re.I)
"""Folders whose files a fix rarely edits; plain search is measured at its best, without them."""

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_CODE_LIKE = re.compile(r"\w_\w|[a-z][A-Z]|^[A-Z][a-z]+[A-Z]")
_INLINE = re.compile(r"`([^`\n]{2,60})`")
_STOP = frozenset(
    """
    a an and or of to in is it that this for on with as be are was were not but if when then else by from at
    we you can should would could have has had do does did will my i our your its there here what which how
    why all any some no yes also just only than so such into out up down over after before same other more
    most very using use used get set new one two see like bug issue expected actual behavior behaviour version
    steps reproduce http https com www github the
    """.split()  # noqa: SIM905
)


_Item = TypeVar("_Item")


class _Chunk(NamedTuple):
    file: int
    first: int
    last: int
    text: str
    counts: Counter[str]


class Baselines:
    """The baselines over one tree; what they count of a file is counted once."""

    def __init__(self, index: RepoIndex) -> None:
        self._index = index
        flags, languages = index.files.flags, index.files.language
        self._files = [
            file
            for file in range(len(index.paths))
            if not flags[file] & int(_LEFT_OUT)
            and not _ASIDE.search(index.paths[file])
            and index.languages[int(languages[file])] not in NOT_CODE
            and index.files.size[file] < _LONGEST_FILE
        ]
        self._counts = {
            file: _count(index.text(file)) + Counter(_terms(index.paths[file])) for file in self._files
        }
        self._tokens: dict[int, int] = {}

    def answers(self, goal: str, budgets: Iterable[int]) -> dict[tuple[str, int], Answer]:
        """Return the answer of every baseline at every budget."""
        self._rarity = _rarity(_terms(goal), self._counts.values())
        scores = _bm25(self._rarity, list(self._counts.values()))
        by_score = sorted(zip(self._files, scores, strict=True), key=lambda pair: -pair[1])
        order = [file for file, _ in by_score]
        chunks = self._ranked_chunks(goal, dict(by_score[:_BEST_FILES]))
        grep = self._grep(goal)
        found: dict[tuple[str, int], Answer] = {}
        for budget in budgets:
            found[SYSTEMS[0], budget] = self._whole_files(order, budget)
            found[SYSTEMS[1], budget] = self._functions(chunks, budget)
            found[SYSTEMS[2], budget] = self._whole_files(grep, budget)
        return found

    def _grep(self, goal: str) -> list[int]:
        """Return the files that hold the goal's identifiers, those with the most different ones first."""
        wanted = _keywords(goal)
        ranked = []
        for file in self._files:
            words = Counter(_IDENTIFIER.findall(self._index.text(file)))
            stem = PurePosixPath(self._index.paths[file]).stem
            different = sum((word in words) + (word == stem) for word in wanted)
            if different:
                ranked.append(
                    (-different, -sum(words[word] for word in wanted), self._index.paths[file], file)
                )
        return [file for *_, file in sorted(ranked)]

    def _ranked_chunks(self, goal: str, files: dict[int, float]) -> list[_Chunk]:
        chunks = [chunk for file in files for chunk in _chunks(self._index, file)]
        # How rare a term is among files tells more than how rare it is among the chunks of the best of them.
        scores = _bm25(self._rarity, [chunk.counts for chunk in chunks])
        best_file, best_chunk = max(files.values(), default=0) or 1, max(scores, default=0) or 1
        both = [
            score / best_chunk + files[chunk.file] / best_file
            for chunk, score in zip(chunks, scores, strict=True)
        ]
        return [chunks[at] for at in sorted(range(len(chunks)), key=lambda at: -both[at])]

    def _whole_files(self, order: Sequence[int], budget: int) -> Answer:
        def cost(file: int) -> int:
            if file not in self._tokens:
                self._tokens[file] = tokens.count(self._block(file, self._index.text(file)), "cl100k")
            return self._tokens[file]

        taken = _fill(order, cost, budget)
        context = "".join(self._block(file, self._index.text(file)) for file in taken)
        return Answer(context, [self._index.paths[file] for file in order[:_MOST_RANKED]])

    def _functions(self, order: Sequence[_Chunk], budget: int) -> Answer:
        taken = _fill(
            order, lambda chunk: tokens.count(self._block(chunk.file, chunk.text), "cl100k"), budget
        )
        by_file: dict[int, list[_Chunk]] = {}
        for chunk in taken:
            by_file.setdefault(chunk.file, []).append(chunk)
        blocks = (
            self._block(
                file, "\n...\n".join(chunk.text for chunk in sorted(chunks, key=lambda chunk: chunk.first))
            )
            for file, chunks in by_file.items()
        )
        ranked = dict.fromkeys(self._index.paths[chunk.file] for chunk in order)
        return Answer("".join(blocks), list(ranked)[:_MOST_RANKED])

    def _block(self, file: int, text: str) -> str:
        return f"### {self._index.paths[file]}\n{text}\n"


def _fill(order: Iterable[_Item], cost: Callable[[_Item], int], budget: int) -> list[_Item]:
    """Take items in order while they fit, skipping those that don't."""
    taken: list[_Item] = []
    left, misses = budget, 0
    for item in order:
        price = cost(item)
        if price <= left:
            taken.append(item)
            left, misses = left - price, 0
        else:
            misses += 1
        if misses > _FEW:
            break
    return taken


def _chunks(index: RepoIndex, file: int) -> Iterable[_Chunk]:
    """Cut a file into outermost functions and windows of what is between them."""
    lines = index.text(file).split("\n")
    at = 1
    for start, end, name in [*_outermost_functions(index, file), (len(lines) + 1, len(lines), "")]:
        windows = [(first, min(first + _WINDOW - 1, start - 1), "") for first in range(at, start, _WINDOW)]
        for first, last, title in [*windows, (start, end, name)]:
            text = "\n".join(lines[first - 1 : last])
            if len(text.strip()) >= 10:
                yield _Chunk(file, first, last, text, _count(f"{text} {title}"))
        at = end + 1


def _outermost_functions(index: RepoIndex, file: int) -> Iterable[tuple[int, int, str]]:
    last = 0
    for definition in index.definitions(file):
        if definition.kind in ("function", "method") and definition.start > last:
            last = definition.end
            yield definition.start, definition.end, definition.name


def _count(text: str) -> Counter[str]:
    """Return how often each term stands in a text."""
    counts: Counter[str] = Counter()
    for word, times in Counter(_IDENTIFIER.findall(text)).items():
        for term in _terms_of_word(word):
            counts[term] += times
    return counts


def _terms(text: str) -> list[str]:
    """Return the terms of a text in order."""
    return [term for word in _IDENTIFIER.findall(text) for term in _terms_of_word(word)]


@lru_cache(maxsize=500_000)
def _terms_of_word(word: str) -> tuple[str, ...]:
    """Return an identifier in lower case, and the parts of one that is compound."""
    if len(word) > _LONGEST_WORD:
        return ()
    parts = [part.lower() for part in _PART.findall(word)]
    whole = [word.lower().strip("_")] if len(parts) > 1 else []
    return (*whole, *(part for part in parts if len(part) > 1 and part not in _STOP))


def _keywords(goal: str) -> set[str]:
    """Return what a person would grep for: inline code, compounds, called functions; else long words."""
    found = {name for code in _INLINE.findall(goal) for name in _IDENTIFIER.findall(code)}
    for match in _IDENTIFIER.finditer(goal):
        if _CODE_LIKE.search(match[0]) or goal[match.end() : match.end() + 1] == "(":
            found.add(match[0])
    found = {word for word in found if len(word) > 2 and word.lower() not in _STOP}
    if len(found) < 3:
        found |= {word for word in _IDENTIFIER.findall(goal) if len(word) > 3 and word.lower() not in _STOP}
    return found


def _rarity(query: Iterable[str], documents: Iterable[Counter[str]]) -> dict[str, float]:
    """Return the inverse document frequency of each term of the query, each counted once."""
    found, number = Counter[str](), 0
    terms = sorted(set(query))
    for document in documents:
        number += 1
        found.update(term for term in terms if term in document)
    return {term: math.log(1 + (number - found[term] + 0.5) / (found[term] + 0.5)) for term in terms}


def _bm25(rarity: Mapping[str, float], documents: Sequence[Counter[str]]) -> list[float]:
    """Return the BM25 score (k1 1.5, b .75) of each document."""
    lengths = [document.total() for document in documents]
    mean = sum(lengths) / max(1, len(documents)) or 1.0
    norms = [_SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / mean) for length in lengths]
    scores = [0.0] * len(documents)
    for term, weight in rarity.items():
        for at, document in enumerate(documents):
            if (count := document.get(term, 0)) > 0:
                scores[at] += weight * count * (_SATURATION + 1) / (count + norms[at])
    return scores
