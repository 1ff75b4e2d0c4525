"""How likely the first places hold all of a goal's work, and what the goal lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from repo_map.ranking.goal import GoalPart
from repo_map.ranking.grade import Grade
from repo_map.text.terms import tokenize

if TYPE_CHECKING:
    from repo_map.ranking.corpus import Floats, Ints
    from repo_map.ranking.features import Features

LISTED: Final = 15
"""The best units, which an outline lists."""
_HIGH, _MEDIUM = 0.65, 0.5
_MAX_LEAD: Final = 6.0
"""Of the first unit's score over that of the last one that is listed; more tells no more."""
_FEW: Final = 12
"""Units of the candidates that any outline lists."""
_NAMED_UNITS: Final = 8
"""The best units, whose names may have words of the goal's title."""
_KNOWN_SHARE: Final = 0.5
"""Share of the goal's words that the repository has; nearly every goal of the development tasks has more."""
_DOUBTFUL: Final = 0.3
_HINT: Final = "give `names`, identifiers that you expect in the code, or name a file or an error text"
_MAX_NAMED: Final = 4


class Sufficiency(NamedTuple):
    """A judgement of the choice, for the report."""

    confidence: float
    """Calibrated chance that the first 15 units hold every function of the goal's work, between 0 and 1.

    0 where the goal matches nothing at all.
    """
    notes: tuple[str, ...]
    """What speaks against it, in sentences."""

    @property
    def grade(self) -> Grade:
        """What the confidence is called."""
        if not self.confidence:
            return Grade.NONE
        is_high, is_medium = self.confidence >= _HIGH, self.confidence >= _MEDIUM
        return Grade.HIGH if is_high else Grade.MEDIUM if is_medium else Grade.LOW


def confidence_features(features: Features, scores: Floats, rows: Ints) -> dict[str, float]:
    """Return how far the best units stand apart, and whether the title has the words of their names.

    Args:
        features: of the candidates.
        scores: of the best units, descending.
        rows: of the same units.
    """
    # Candidates so few that any outline lists them all need not stand apart.
    lead = float(scores[0] - scores[: LISTED + 1][-1]) if len(rows) > _FEW else _MAX_LEAD
    titled = float(features.unit["nm.tcov"][rows[:_NAMED_UNITS]].max(initial=0.0))
    return {"bias": 1.0, "lead": min(lead, _MAX_LEAD), "titled": titled}


def confidence_of(features: Features, scores: Floats, rows: Ints, weights: Mapping[str, float]) -> float:
    """Return the chance that the logistic model gives; the arguments are those of ``confidence_features``."""
    if not len(rows):
        return 0.0
    known = confidence_features(features, scores, rows)
    total = sum(weights.get(name, 0.0) * value for name, value in known.items())
    return float(1.0 / (1.0 + np.exp(-total)))


def assess(features: Features, confidence: float) -> Sufficiency:
    """Judge how sure the choice is, whose measured confidence is given."""
    if not len(features.candidates.files):
        is_empty = not features.candidates.corpus.index.paths
        note = (
            "The repository has no files."
            if is_empty
            else f"Nothing in the repository shares a word with the goal: {_HINT}."
        )
        return Sufficiency(0.0, (note,))
    missing = _missing_names(features)
    lacking = f"The repository has no {_listed(missing)}." if missing else ""
    if doubt := _doubt(features):
        confidence = min(confidence, _DOUBTFUL)
    elif confidence < _MEDIUM and not features.goal.names:
        doubt = f"For a better answer {_HINT}."
    return Sufficiency(confidence, tuple(filter(None, (doubt, lacking))))


def _doubt(features: Features) -> str:
    """Return what to write if too few of the goal's words are known, and it names no place."""
    goal, terms = features.goal, features.candidates.corpus.index.terms
    parts = (part for part in GoalPart if part not in (GoalPart.CODE, GoalPart.ERROR))
    said = {term for part in parts for term in goal.terms[part]} - goal.guessed_terms
    known = {term for term in said if terms.get(term) is not None}
    if features.is_named or goal.names:
        return ""
    if len(said) <= 1:
        return f"The goal says little: {_HINT}."
    if len(known) < _KNOWN_SHARE * len(said):
        return f"The repository has only {len(known)} of the goal's {len(said)} words: {_HINT}."
    return ""


def _missing_names(features: Features) -> list[str]:
    """Return the names that the goal writes as code and the repository lacks."""
    goal, index = features.goal, features.candidates.corpus.index
    in_paths = {part for path in goal.paths for part in tokenize(path)}
    known = in_paths | features.named.found | goal.guesses
    names = [name for name, part in goal.identifiers.items() if part is GoalPart.INLINE and name not in known]
    plain = ((name, name.replace("_", "").lower()) for name in names if name not in index.strings)
    return [name for name, word in plain if index.terms.get(word) is None]


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_MAX_NAMED])
    return shown + (f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else "")
