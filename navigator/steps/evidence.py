"""What a step says of how sure its choice is: in words, and in how many of ten such cases it is so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from navigator.records.reports import MenuPlace
from repo_map.relevance.completeness import (
    Completeness,
    Evidence,
    completeness,
    completeness_signals,
    in_ten,
)
from repo_map.relevance.model import default_weights

if TYPE_CHECKING:
    from repo_map.drawing.draw import RepoMap
    from repo_map.relevance.score import Relevance


def evidence_of(relevance: Relevance, drawn: RepoMap, menu: Sequence[MenuPlace]) -> str:
    """Return how likely a packet holds all that the goal's work changes, and what speaks against it.

    The chances were measured on packets that show the likeliest files: of one that a user has steered away
    from them only the notes are told.

    Args:
        relevance: of what the user's rules allow.
        drawn: the packet.
        menu: what stands beside it.
    """
    sufficiency = relevance.sufficiency
    if not sufficiency.confidence or not relevance.files:
        return " ".join((f"Evidence: {Evidence.NOTHING}.", *sufficiency.notes))
    if not drawn.excluded and all(block.level == _WHOLE for block in drawn.blocks):
        return " ".join((f"Evidence: {Evidence.SURE}. The whole repository is shown.", *sufficiency.notes))
    if drawn.block(relevance.files[0].path) is None:
        return " ".join(sufficiency.notes)
    weights = default_weights()
    signals = completeness_signals(sufficiency.confidence, drawn.tokens)
    chance = completeness(signals, weights.shown, weights.reached)
    measured = _in_words(chance, menu) if sufficiency.is_measured else f"Evidence: {chance.evidence}."
    return " ".join((measured, *sufficiency.notes))


_WHOLE = 4
_FIRST = {Evidence.LIKELY: "Check the menu first.", Evidence.UNSURE: "Choose from the menu first."}
"""What is to be done before the code is relied on."""


def _in_words(chance: Completeness, menu: Sequence[MenuPlace]) -> str:
    """Return what to do first, then how packets of this grade fared: they are counted, not this one."""
    shown, reached = in_ten(chance.shown), in_ten(chance.reached)
    first = f" {_FIRST[chance.evidence]}" if menu and chance.evidence in _FIRST else ""
    listed = f", {reached - shown} more listed the rest on the menu" if menu and reached > shown else ""
    return (
        f"Evidence: {chance.evidence}.{first} Of 10 packets rated like this one, "
        f"{shown} showed every function to change{listed}."
    )
