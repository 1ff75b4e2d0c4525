"""What a step says of how sure its choice is: in words, and in how many of ten such cases it is so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from navigator.state.reports import OutlineEntry
from repo_map.ranking.completeness import (
    Completeness,
    Evidence,
    completeness,
    completeness_signals,
    in_ten,
)
from repo_map.ranking.model import default_weights

if TYPE_CHECKING:
    from repo_map.outline.draw import RepoMap
    from repo_map.ranking.score import Relevance


class Confidence(NamedTuple):
    """How sure a choice is."""

    evidence: Evidence | None
    """The grade; None for a packet that a user has steered away from the likeliest files."""
    words: str
    """The grade, what it means and what speaks against the choice, in sentences."""


def confidence_of(relevance: Relevance, drawn: RepoMap, outline: Sequence[OutlineEntry]) -> Confidence:
    """Return how likely a packet holds all that the goal's work changes, and what speaks against it.

    The chances were measured on packets that show the likeliest files: of one that a user has steered away
    from them only the notes are told.

    Args:
        relevance: of what the user's rules allow.
        drawn: the packet.
        outline: what stands beside it.
    """
    sufficiency = relevance.sufficiency
    if not sufficiency.confidence or not relevance.files:
        return _surety(Evidence.NOTHING, "", sufficiency.notes)
    if not drawn.excluded and all(block.level == _WHOLE for block in drawn.blocks):
        return _surety(Evidence.SURE, "The whole repository is shown.", sufficiency.notes)
    first = relevance.files[0].path
    if drawn.block(first) is None and not any(place.path == first for place in outline):
        return Confidence(None, " ".join(sufficiency.notes))
    weights = default_weights()
    signals = completeness_signals(sufficiency.confidence, drawn.tokens)
    chance = completeness(signals, weights.shown, weights.reached)
    measured = _in_words(chance, outline) if sufficiency.is_measured else ""
    return _surety(chance.evidence, measured, sufficiency.notes)


_WHOLE = 4


def _surety(evidence: Evidence, meaning: str, notes: Sequence[str]) -> Confidence:
    return Confidence(evidence, " ".join(filter(None, (f"Evidence: {evidence}.", meaning, *notes))))


def _in_words(chance: Completeness, outline: Sequence[OutlineEntry]) -> str:
    """Return how answers of this grade fared: they are counted, not this one."""
    shown, reached = in_ten(chance.shown), in_ten(chance.reached)
    listed = f", {reached} at least list it" if outline and reached > shown else ""
    return f"Of 10 such answers, {shown} show all code to change{listed}."
