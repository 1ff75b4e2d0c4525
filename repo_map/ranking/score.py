"""Score_goal: the entry, files and units in their order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from repo_map.history.history import History
from repo_map.ranking.bm25 import unit_hits
from repo_map.ranking.call_edges import SEEDS, call_edges, links_around, neighbour_bonus
from repo_map.ranking.chance import chance_signals, chances_of, with_hints
from repo_map.ranking.confidence import Sufficiency, confidence_of, judge, surety_signals
from repo_map.ranking.corpus import Floats, Ints, corpus_of
from repo_map.ranking.features import FileColumns, Signals, read_signals, unit_signals_given_files
from repo_map.ranking.goal import GoalPart, ParsedGoal, parse_goal
from repo_map.ranking.joined import Joined
from repo_map.ranking.located import files_at
from repo_map.ranking.model import (
    Weights,
    are_new,
    combine,
    default_weights,
    hold_back_files,
    hold_back_units,
    lead_with_crash,
    raise_named_files,
    raise_named_units,
)
from repo_map.ranking.named_text import asks_for, named_text
from repo_map.ranking.reasons import MOST_REASONS, SharedWords, file_reasons, unit_reasons
from repo_map.ranking.spelt import MOST_SPELT, spelt_places
from repo_map.text.terms import terms_of
from repo_map.text.units import GAP

if TYPE_CHECKING:
    from repo_map.index.index import Index


MOST_UNITS = 800
FILES_WITH_UNITS = 60
_REASONED_FILES = 40
_REASONED_UNITS = 120
_NAMING_UNITS = 5
"""The best units, whose text the goal may ask for."""
_ASKED_UNITS = 4
"""Of a text that is asked for, those that are raised: the first windows of 60 lines."""
_SHARE_OF_NAMING = 0.99
"""Score of a text by that of the file that names it."""
_SHORT_GOAL = 120
"""Characters of a question, or of an order; a report tells of more than it names."""
_SHORT_DEFINITION = 20
"""Lines of one whose source has room in the smallest answer."""
_BEST_FILES = 5
"""Files that the reasons of others may name."""


class ScoredFile(NamedTuple):
    """A file and how well it fits the goal; scores compare within one goal only."""

    path: str
    score: float
    """1 for the best file, less than 1 for the others, above 0."""
    reasons: tuple[str, ...]


class ScoredUnit(NamedTuple):
    """A function, class header or gap, and how well it fits the goal."""

    path: str
    start: int
    end: int
    name: str
    """Qualified name, empty for a gap."""
    kind: int
    """0 function, 1 class header, 2 gap."""
    score: float
    reasons: tuple[str, ...]
    chance: float = 0.0
    """Calibrated, 0 to 1, that the goal's work touches it."""


class Relevance(NamedTuple):
    """What a goal makes of a repository."""

    goal: ParsedGoal
    files: tuple[ScoredFile, ...]
    """Best first, at most 400."""
    units: tuple[ScoredUnit, ...]
    """Best first, at most ``MOST_UNITS``, those of the best files."""
    sufficiency: Sufficiency
    asked: frozenset[str] = frozenset()
    """Files of text that likely code names and that the goal asks for."""
    spelt: tuple[ScoredUnit, ...] = ()
    """What the goal spells out, surest first: definitions, and files, whose names are empty."""

    @property
    def is_about_one(self) -> bool:
        """Whether a short goal names one definition, which is short and stands first: it alone is meant."""
        if len(self.goal.text) > _SHORT_GOAL or len(self.spelt) != 1 or not self.units:
            return False
        one, first = self.spelt[0], self.units[0]
        is_short = bool(one.name) and one.end - one.start < _SHORT_DEFINITION
        # Of a class that has members, the head is not the whole.
        has_members = any(
            unit.path == one.path and unit.name.startswith(f"{one.name}.") for unit in self.units
        )
        return is_short and not has_members and (one.path, one.start) == (first.path, first.start)


def score_goal(
    index: Index,
    goal: str,
    history: History | None = None,
    *,
    names: Sequence[str] = (),
    weights: Weights | None = None,
) -> Relevance:
    """Score the files and units of a repository by how likely the goal's work touches them.

    Args:
        index: the repository.
        goal: what the user wants to do.
        history: its commits, if they are read.
        names: identifiers that the caller guesses to be in the code; wrong ones do little harm.
        weights: others than those shipped.
    """
    weights = weights or default_weights()
    corpus = corpus_of(index)
    parsed = parse_goal(goal, lambda path: bool(files_at(corpus, path)), corpus.template_lines, names)
    signals = read_signals(corpus, parsed, history)
    columns = FileColumns(signals.file, signals.unit, signals.candidates.file_row)
    scores = hold_back_files(columns, combine(signals.file, weights.file, len(signals.candidates.files)))
    unit_scores = hold_back_units(columns, score_units(columns, scores, weights))
    unit_scores = raise_named_units(columns, unit_scores)
    scores = raise_named_files(columns, scores)
    order = np.argsort(-scores, kind="stable")
    among = order_units(columns.file_row, order, unit_scores)
    links = links_around(signals.candidates, among[:SEEDS])
    lent = neighbour_bonus(unit_scores, call_edges(links), among)
    unit_scores = lead_with_crash(columns, unit_scores + np.where(are_new(signals.unit), 0.0, lent))
    wording = SharedWords(signals, unit_hits(signals.candidates, signals.query.ids))
    files = _scored_files(signals, scores, order, wording)
    best = order_units(columns.file_row, order, unit_scores)
    measured = confidence_of(surety_signals(columns, unit_scores, best), weights.surety)
    sufficiency = judge(signals, columns, scores, measured)
    joined = Joined(signals.candidates, links, among[:SEEDS].tolist())
    why = partial(unit_reasons, signals, wording, joined)
    units = _with_chances(_scored_units(signals, unit_scores, best, why), files, sufficiency, weights)
    units = with_hints(units, parsed)
    relevance = Relevance(signals.goal, files, units, sufficiency, spelt=_spelt(signals))
    return _with_asked_text(index, relevance)


def _spelt(signals: Signals) -> tuple[ScoredUnit, ...]:
    index = signals.candidates.corpus.index
    return tuple(
        _scored_unit(index, file, unit, 0.0, ())
        if unit >= 0
        else ScoredUnit(index.paths[file], 1, max(int(index.files.lines[file]), 1), "", GAP, 0.0, ())
        for file, unit in islice(spelt_places(signals), MOST_SPELT)
    )


def _with_asked_text(index: Index, relevance: Relevance) -> Relevance:
    """Put the text that the goal asks for, such as a page's template, beside the code that names it."""
    goal = relevance.goal
    said = {term for part in (GoalPart.TITLE, GoalPart.PROSE) for term in goal.terms.get(part, ())}
    # A word by itself: the ``page`` of ``users_page`` asks for none.
    terms = frozenset(term for term in said if terms_of(goal.surface.get(term, ""))[:1] == (term,))
    naming = [unit for unit in relevance.units[:_NAMING_UNITS] if unit.kind != GAP]
    places = [(index.file_id(unit.path) or 0, unit.start, unit.end) for unit in naming]
    asked: dict[str, ScoredUnit] = {}
    reasons: dict[str, str] = {}
    for text in named_text(index, places):
        path = index.paths[text.file]
        if path not in asked and asks_for(index, terms, text.file):
            asked[path], reasons[path] = naming[text.piece], text.why
    if not asked:
        return relevance
    scores = {file.path: file for file in relevance.files}
    for path, unit in asked.items():
        file = scores.get(path, ScoredFile(path, 0.0, ()))
        score = max(file.score, _SHARE_OF_NAMING * scores[unit.path].score)
        scores[path] = ScoredFile(path, score, (reasons[path], *file.reasons)[:MOST_REASONS])
    units = {(unit.path, unit.start): unit for unit in relevance.units}
    for path, unit in asked.items():
        for own in units_of(index, path)[:_ASKED_UNITS]:
            known = units.get((path, own.start), own)
            units[path, own.start] = known._replace(
                score=max(known.score, unit.score),
                chance=max(known.chance, unit.chance),
                reasons=(reasons[path], *known.reasons)[:MOST_REASONS],
            )
    return relevance._replace(
        files=tuple(sorted(scores.values(), key=lambda file: -file.score)),
        units=tuple(sorted(units.values(), key=lambda unit: -unit.score)[:MOST_UNITS]),
        asked=frozenset(asked),
    )


def units_of(index: Index, path: str) -> list[ScoredUnit]:
    """Return the units of a file, in its order, that nothing speaks for."""
    file = index.file_id(path)
    assert file is not None
    rows = range(int(index.units.file_start[file]), int(index.units.file_start[file + 1]))
    return [_scored_unit(index, file, row, -math.inf, ()) for row in rows]


def _with_chances(
    units: tuple[ScoredUnit, ...],
    files: tuple[ScoredFile, ...],
    sufficiency: Sufficiency,
    weights: Weights,
) -> tuple[ScoredUnit, ...]:
    place = {file.path: at for at, file in enumerate(files)}
    signals = chance_signals(
        np.array([unit.score for unit in units]),
        np.array([place[unit.path] for unit in units], np.int64),
        np.array([unit.kind for unit in units], np.int64),
        sufficiency.confidence,
    )
    chances = chances_of(signals, weights.chance).tolist()
    return tuple(unit._replace(chance=chance) for unit, chance in zip(units, chances, strict=True))


def order_units(file_row: Ints, file_order: Ints, unit_scores: Floats) -> Ints:
    """Return the rows of the best files' best units, best first.

    Args:
        file_row: of each unit, shape (units,).
        file_order: rows of the files, best first.
        unit_scores: shape (units,).
    """
    chosen = np.zeros(len(file_order), np.bool_)
    chosen[file_order[:FILES_WITH_UNITS]] = True
    rows = np.flatnonzero(chosen[file_row])
    return rows[np.argsort(-unit_scores[rows], kind="stable")][:MOST_UNITS]


def score_units(columns: FileColumns, file_scores: Floats, weights: Weights) -> Floats:
    """Return the score of every unit of the candidates."""
    features = {**columns.unit, **unit_signals_given_files(columns, file_scores)}
    return combine(features, weights.unit, len(columns.file_row))


def _scored_files(
    signals: Signals, scores: Floats, order: Ints, wording: SharedWords
) -> tuple[ScoredFile, ...]:
    paths = signals.candidates.corpus.index.paths
    best = [paths[int(signals.candidates.files[row])] for row in order[:_BEST_FILES].tolist()]
    # Only differences of scores mean something: the best file gets 1, the others a share of it.
    shares = np.exp(scores - scores.max(initial=-np.inf)) if len(scores) else scores
    return tuple(
        ScoredFile(
            paths[int(signals.candidates.files[row])],
            float(shares[row]),
            file_reasons(signals, wording, row, best) if place < _REASONED_FILES else (),
        )
        for place, row in enumerate(order.tolist())
    )


def _scored_units(
    signals: Signals, scores: Floats, rows: Ints, why: Callable[[int], tuple[str, ...]]
) -> tuple[ScoredUnit, ...]:
    candidates = signals.candidates
    index = candidates.corpus.index
    found = []
    for place, row in enumerate(rows.tolist()):
        unit = int(candidates.units[row])
        file = int(candidates.files[candidates.file_row[row]])
        reasons = why(row) if place < _REASONED_UNITS else ()
        found.append(_scored_unit(index, file, unit, float(scores[row]), reasons))
    return tuple(found)


def _scored_unit(index: Index, file: int, unit: int, score: float, reasons: tuple[str, ...]) -> ScoredUnit:
    definition = int(index.units.definition[unit])
    return ScoredUnit(
        index.paths[file],
        int(index.units.start[unit]),
        int(index.units.end[unit]),
        index.qualified_name(file, definition) if definition >= 0 else "",
        int(index.units.kind[unit]),
        score,
        reasons,
    )
