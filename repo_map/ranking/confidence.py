"""How sure the choice is, what speaks against it, and when a plain search would do better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from repo_map.ranking.corpus import Floats, Ints
from repo_map.ranking.features import FileColumns, Signals
from repo_map.ranking.goal import GoalPart
from repo_map.ranking.grade import Grade
from repo_map.text.terms import terms_of, tokenize

FIRST = 25
"""The best units that a choice is judged by: about as many as an outline lists."""
SURE, LIKELY = 0.8, 0.65
_HIGH, _MEDIUM = 0.65, 0.5
"""Of 27 development tasks at .65 or more the 15 places of an outline had .88 of the edited functions, of 11
between .91, of 20 below .53; the area under the curve for all of them is .69 (58 tasks)."""
_NAMES = ("m.path", "m.frame", "m.dot", "m.udot")
"""Signals of files that the goal names, or a definition of."""
_NAMED_UNITS = 8
"""The best units, whose names may hold words of the goal's title."""
_MOST_LEAD = 6.0
"""Of the first unit's score over that of the last one that is listed; more tells no more."""
_FEW = 12
"""Units of the candidates that any outline lists."""
_KNOWN_WORDS = 0.5
"""Share of the goal's words that the repository has; nearly every goal of the development tasks has more."""
_HANDFUL = 20
"""Files below which there is little to stand apart from: the words themselves must tell."""
_HELD_WORDS = 0.5
"""Share of the goal's words that the first of a handful of files holds, where it is the right one."""
_AMONG_FEW = 0.46
"""How often it was right where it held less, in folders half of which had the file of a real task."""
_NAMED, _DEFINED = 0.7, 0.95
_HINT = "name a function, a file or an error text of it"
_QUOTED = 0.85
"""Confidence at least where the goal quotes one place of the code, and that stands first."""
_FEW_WORDS = 1
"""A goal of no more telling words than this leaves open what it is about, unless it names something."""
_SAYS_LITTLE = frozenset(
    term
    for word in tokenize(
        "add application app bad better break broken bug change clean code crash error fail fast faster "
        "feature file fix function good help implement improve issue make method new optimize please problem "
        "program project refactor remove repo repository rewrite slow something stuff support test thing "
        "update thank work wrong write"
    )
    for term in terms_of(word)
)
"""What any goal may say of any code."""
_MOST_NAMED = 4


class Sufficiency(NamedTuple):
    """A judgement of the choice, for the report."""

    confidence: float
    """Calibrated chance that the first 25 units hold every function of the goal's work, between 0 and 1.

    0 where the goal matches nothing at all.
    """
    notes: tuple[str, ...]
    """What speaks for and against, in sentences."""
    missing: tuple[str, ...]
    """Names that the goal writes as code and the repository lacks."""

    @property
    def grade(self) -> Grade:
        """What the confidence is called; see ``_HIGH``."""
        if not self.confidence:
            return Grade.NONE
        return (
            Grade.HIGH
            if self.confidence >= _HIGH
            else Grade.MEDIUM
            if self.confidence >= _MEDIUM
            else Grade.LOW
        )


def surety_signals(columns: FileColumns, scores: Floats, rows: Ints) -> dict[str, float]:
    """Return what tells whether the place is found: how far the best stand apart, and what they are called.

    Whether the goal names a path or a definition tells next to nothing besides. Where the candidates are so
    few that any outline lists them all, nothing has to stand apart.

    Args:
        columns: the signals of the candidates.
        scores: of the units, shape (units,).
        rows: of the best units, best first.
    """
    best = scores[rows[:FIRST]]
    lead = float(best[0] - best[-1]) if len(rows) > _FEW else _MOST_LEAD
    titled = float(columns.unit["nm.tcov"][rows[:_NAMED_UNITS]].max(initial=0.0))
    return {"bias": 1.0, "lead": min(lead, _MOST_LEAD), "titled": titled}


def confidence_of(signals: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the chance that the logistic model gives."""
    total = sum(weights.get(name, 0.0) * value for name, value in signals.items())
    return float(1.0 / (1.0 + np.exp(-total)))


def judge(signals: Signals, columns: FileColumns, scores: Floats, measured: float) -> Sufficiency:
    """Judge how sure the choice is.

    Args:
        signals: of the candidates.
        columns: the same as scoring has them.
        scores: of the candidate files, shape (files,).
        measured: what ``confidence_of`` gives, which the goal's words can still lower.
    """
    missing = _missing_names(signals)
    if not len(scores) or not (len(signals.query.ids) or signals.named.found):
        empty = not signals.candidates.corpus.index.paths
        note = (
            "The repository has no files."
            if empty
            else f"The goal reads as {signals.goal.language}, and the repository has no word of it: write it "
            f"in English, or {_HINT}."
            if signals.goal.language
            else f"Nothing in the repository shares a word with the goal: {_HINT}."
        )
        return Sufficiency(0.0, (note,), tuple(missing))
    best = int(np.argmax(scores))
    doubt = _doubt(signals, columns, best)
    confidence = min(measured, doubt.most)
    is_quoted = signals.named.quoted.get(int(signals.candidates.files[best]), 0.0) == 1.0
    if is_quoted:
        confidence = max(confidence, _QUOTED)
    quoted = "The first file contains the text that the goal quotes." if is_quoted else ""
    lacking = f"The repository has no {_listed(missing)}." if missing else ""
    notes = tuple(filter(None, (quoted or doubt.note, lacking)))
    return Sufficiency(confidence, notes, tuple(missing))


class _Doubt(NamedTuple):
    """What the goal's words allow at most."""

    most: float = 1.0
    """Confidence."""
    note: str = ""


def _doubt(signals: Signals, columns: FileColumns, best: int) -> _Doubt:
    """Return what follows where too few of the goal's words are found, or held by the best of few files."""
    known, strange = _words(signals)
    number = len(known) + len(strange)
    is_named = _is_placed(columns) or _is_named(columns, best)
    if signals.goal.language and len(known) < _KNOWN_WORDS * number:
        return _Doubt(1.0 if is_named else LIKELY / 2, _foreign(signals))
    if not is_named and len((known | strange) - _SAYS_LITTLE) <= _FEW_WORDS:
        return _Doubt(LIKELY / 2, f"The goal says little: {_HINT}.")
    if len(known) < _KNOWN_WORDS * number and not _is_placed(columns):
        message = f"The repository has only {len(known)} of the goal's {number} words: {_HINT}."
        return _Doubt(LIKELY / 2, message)
    if len(signals.candidates.corpus.index.paths) < _HANDFUL and not _is_named(columns, best):
        held = _held_words(signals, best, known)
        if held < _HELD_WORDS * number:
            return _Doubt(
                _AMONG_FEW, f"The first of few files has only {held} of the goal's {number} words: {_HINT}."
            )
    return _Doubt()


def _foreign(signals: Signals) -> str:
    """Return the sentence that says which words of a goal in another language could be used."""
    goal, terms = signals.goal, signals.candidates.corpus.index.terms
    found = [*signals.named.found]
    found += [
        goal.surface[term] if term.isascii() else term
        for source in (GoalPart.INLINE, GoalPart.TITLE, GoalPart.PROSE, GoalPart.ERROR)
        for term in goal.terms[source]
        if term in goal.surface and terms.get(term) is not None
    ]
    used = list(dict.fromkeys(found))
    told = f"only these words of it could be used: {_listed(used)}" if used else "no word of it could be used"
    return f"The goal reads as {goal.language}; {told}; an English goal finds more."


def _words(signals: Signals) -> tuple[set[str], set[str]]:
    """Return the goal's words that the repository has, and those that it lacks; code and output aside."""
    terms = signals.candidates.corpus.index.terms
    counts = (
        counts
        for source, counts in signals.goal.terms.items()
        if source not in (GoalPart.CODE, GoalPart.ERROR)
    )
    said = {term for each in counts for term in each} - signals.goal.guessed_terms
    known = {term for term in said if terms.get(term) is not None}
    return known, said - known


def _held_words(signals: Signals, row: int, known: set[str]) -> int:
    """Return how many of the words a candidate file holds."""
    corpus = signals.candidates.corpus
    file = int(signals.candidates.files[row])
    first, end = corpus.file_postings[file : file + 2].tolist()
    ids = np.array([corpus.index.terms.get(word) for word in known], dtype=np.int64)
    return int(np.isin(ids, corpus.index.postings.term[first:end]).sum())


def _is_named(columns: FileColumns, row: int) -> bool:
    """Say whether the goal names a candidate file, or what it defines."""
    named = max(float(columns.file[name][row]) for name in _NAMES)
    return named >= _NAMED or float(columns.file["def.umax"][row]) >= _DEFINED


def _is_placed(columns: FileColumns) -> bool:
    """Say whether the goal names a path or a stack frame of the repository: then its words matter less."""
    return any(bool(columns.file[name].any()) for name in ("m.path", "m.frame"))


def _missing_names(signals: Signals) -> list[str]:
    """Return the names that the goal writes as code and the repository lacks."""
    table = signals.candidates.corpus.index.strings
    terms = signals.candidates.corpus.index.terms
    in_paths = {part for path in signals.goal.paths for part in tokenize(path)}
    return [
        name
        for name, source in signals.goal.identifiers.items()
        if source is GoalPart.INLINE
        and name not in signals.goal.guesses
        and name not in in_paths
        and name not in signals.named.found
        and name not in table
        and terms.get(name.replace("_", "").lower()) is None
    ]


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED])
    return shown + (f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else "")
