"""How sure the choice is, what speaks against it, and when a plain search would do better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from repo_map.relevance.corpus import Floats
from repo_map.relevance.goal import Source
from repo_map.relevance.signals import FileColumns, Signals

FIRST = 5
SURE, LIKELY = 0.8, 0.65
_MOST_LEAD, _MOST_GAP = 3.0, 6.0
_KNOWN_WORDS = 0.5
"""Share of the goal's words that the repository has; nearly every goal of the development tasks has more."""
_HINT = "say what it is about in the words of the code"
_MANY_NAMESAKES = 4
_RARE_UNITS = 3
_MOST_NAMED = 4


class Surety(StrEnum):
    """How likely the first files hold what the goal needs."""

    SURE = "sure"
    LIKELY = "likely"
    UNSURE = "unsure"
    NOTHING = "nothing"
    """The goal matches nothing at all."""


_MEANINGS = {
    Surety.SURE: "The first files stand apart from all others.",
    Surety.LIKELY: "The right files are probably among the first; others fit nearly as well.",
    Surety.UNSURE: "No file stands out: several fit the goal's words about as well.",
}


class Sufficiency(NamedTuple):
    """A judgement of the choice, for the report."""

    surety: Surety
    confidence: float
    """Calibrated chance that all files of the goal's work are among the first five, between 0 and 1."""
    notes: tuple[str, ...]
    """What speaks for and against, in sentences."""
    coverage: float
    """Share of the goal's identifiers, paths and names that the repository has; 1 where the goal has none."""
    missing: tuple[str, ...]
    """Identifiers of the goal that the repository lacks."""
    ambiguous: tuple[str, ...]
    """Identifiers that several definitions bear."""


def surety_signals(scores: Floats) -> dict[str, float]:
    """Return what tells a clear choice from a vague one; ``scores`` are those of the candidate files."""
    ordered = np.sort(scores)[::-1]
    return {
        "bias": 1.0,
        "lead": min(float(ordered[0] - ordered[1]) if len(ordered) > 1 else _MOST_LEAD, _MOST_LEAD),
        "gap": min(float(ordered[0] - ordered[FIRST]) if len(ordered) > FIRST else _MOST_GAP, _MOST_GAP),
    }


def confidence_of(signals: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the chance that the logistic model gives."""
    total = sum(weights.get(name, 0.0) * value for name, value in signals.items())
    return float(1.0 / (1.0 + np.exp(-total)))


def judge(
    signals: Signals, columns: FileColumns, scores: Floats, weights: Mapping[str, float]
) -> Sufficiency:
    """Judge how sure the choice is."""
    known, missing = _identifiers(signals)
    ambiguous = {name: count for name, count in signals.named.ambiguous.items() if count >= _MANY_NAMESAKES}
    coverage = len(known) / (len(known) + len(missing)) if known or missing else 1.0
    if not len(scores) or not (len(signals.query.ids) or signals.named.found):
        empty = not signals.candidates.corpus.index.paths
        note = (
            "The repository has no files."
            if empty
            else f"Nothing in the repository shares a word with the goal: {_HINT}."
        )
        return Sufficiency(Surety.NOTHING, 0.0, (note,), coverage, tuple(missing), ())
    confidence = confidence_of(surety_signals(scores), weights)
    words, strange = _words(signals)
    is_foreign = len(words) < _KNOWN_WORDS * (len(words) + len(strange)) and not _is_placed(columns)
    if is_foreign:
        confidence = min(confidence, LIKELY / 2)
    surety = Surety.SURE if confidence >= SURE else Surety.LIKELY if confidence >= LIKELY else Surety.UNSURE
    vague = {name: count for name, count in ambiguous.items() if name in known}
    notes = list(_notes(signals, surety, missing, vague))
    if is_foreign:
        of_all = f"{len(words)} of the goal's {len(words) + len(strange)} words"
        notes[0] = f"The repository has only {of_all}: {_HINT}."
    return Sufficiency(surety, confidence, tuple(notes), coverage, tuple(missing), tuple(vague))


def _words(signals: Signals) -> tuple[set[str], set[str]]:
    """Return the goal's words that the repository has, and those that it lacks; code and output aside."""
    terms = signals.candidates.corpus.index.terms
    counts = (
        counts for source, counts in signals.goal.terms.items() if source not in (Source.CODE, Source.ERROR)
    )
    words = {term for each in counts for term in each}
    known = {term for term in words if terms.get(term) is not None}
    return known, words - known


def _is_placed(columns: FileColumns) -> bool:
    """Say whether the goal names a path or a stack frame of the repository: then its words matter less."""
    return any(bool(columns.file[name].any()) for name in ("m.path", "m.frame"))


def _identifiers(signals: Signals) -> tuple[list[str], list[str]]:
    """Return the goal's own identifiers that the repository has, and those that it lacks."""
    table = signals.candidates.corpus.index.strings
    terms = signals.candidates.corpus.index.terms
    known: list[str] = []
    missing: list[str] = []
    for name, source in signals.goal.identifiers.items():
        if source in (Source.CODE, Source.ERROR):
            continue
        found = name in table or terms.get(name.replace("_", "").lower()) is not None
        (known if found or name in signals.named.found else missing).append(name)
    return known, missing


def _notes(
    signals: Signals, surety: Surety, missing: list[str], ambiguous: Mapping[str, int]
) -> Iterator[str]:
    yield _MEANINGS[surety]
    if missing:
        yield f"The repository has no {_listed(missing)}."
    for name, count in list(ambiguous.items())[:2]:
        yield f"`{name}` is defined in {count} places; a qualified name would tell which."
    if surety is not Surety.SURE:
        rare = _rare_names(signals)
        if rare:
            yield f"A plain search for {_listed(rare)} finds few places and may do better."


def _rare_names(signals: Signals) -> list[str]:
    """Return identifiers of the goal that only a few units hold."""
    corpus = signals.candidates.corpus
    rare: list[str] = []
    for name, source in signals.goal.identifiers.items():
        term = corpus.index.terms.get(name.replace("_", "").lower())
        if source is not Source.CODE and term is not None and corpus.term_postings[term] <= _RARE_UNITS:
            rare.append(name)
    return rare


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED])
    return shown + (f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else "")
