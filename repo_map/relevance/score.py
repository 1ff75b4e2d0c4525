"""Score_goal: the entry, and each file's reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from repo_map.history.history import History
from repo_map.relevance.bm25 import Hits, Query, unit_hits
from repo_map.relevance.call_edges import SEEDS, call_edges, neighbour_bonus
from repo_map.relevance.chance import chance_signals, chances_of
from repo_map.relevance.confidence import Sufficiency, judge
from repo_map.relevance.corpus import Floats, Ints, corpus_of
from repo_map.relevance.features import FileColumns, Signals, read_signals, unit_signals_given_files
from repo_map.relevance.goal import GoalPart, ParsedGoal, parse_goal
from repo_map.relevance.model import Weights, combine, default_weights, raise_named_files, raise_named_units
from repo_map.text.units import NAME, SIGNATURE

if TYPE_CHECKING:
    from repo_map.index import RepoIndex


_MOST_WORDS = 4
_MOST_REASONS = 4


class SharedWords:
    """Finds the words that a unit shares with the goal; reads the hits once for all."""

    def __init__(self, signals: Signals, hits: Hits) -> None:
        self._signals = signals
        self._query: Query = signals.query
        self._value = signals.query.weights * signals.query.idf
        order = np.argsort(hits.row, kind="stable")
        self._row, self._column, self._field = hits.row[order], hits.column[order], hits.field[order]

    def _columns(self, first_row: int, last_row: int) -> tuple[list[int], list[int]]:
        low, high = np.searchsorted(self._row, (first_row, last_row))
        columns, fields = self._column[low:high], self._field[low:high]
        best = sorted(set(columns.tolist()), key=lambda column: (-self._value[column], column))
        named = set(columns[(fields == NAME) | (fields == SIGNATURE)].tolist())
        return best, [column for column in best if column in named]

    def words(self, first_row: int, last_row: int) -> str:
        """Return the most telling shared words of some units, those of the title first said so."""
        best, _ = self._columns(first_row, last_row)
        surface = self._signals.goal.surface
        in_title = self._query.sources[GoalPart.TITLE]
        title = [column for column in best if in_title[column]]
        chosen = title[:_MOST_WORDS] or best[:_MOST_WORDS]
        if not chosen:
            return ""
        seen = dict.fromkeys(
            surface.get(self._query.terms[column], self._query.terms[column]) for column in chosen
        )
        return ("title words: " if title else "words: ") + ", ".join(seen)


def file_reasons(signals: Signals, wording: SharedWords, row: int) -> tuple[str, ...]:
    """Return why a candidate file is where it is, the strongest evidence first."""
    named, file = signals.named, int(signals.candidates.files[row])
    reasons: list[str] = []
    evidence = named.evidence
    if ("frame", file) in evidence:
        reasons.append(f"named in the stack trace or a link: {evidence['frame', file]}")
    if ("path", file) in evidence:
        reasons.append(f"the goal names `{evidence['path', file]}`")
    if ("dotted", file) in evidence:
        reasons.append(f"defines `{evidence['dotted', file]}`")
    if ("folder", file) in evidence:
        reasons.append(f"is what `{evidence['folder', file]}` leads to")
    units = signals.candidates.corpus.index.units
    first, last = int(units.file_start[file]), int(units.file_start[file + 1])
    defined = {
        evidence[key] for key in (("definition", unit) for unit in range(first, last)) if key in evidence
    }
    if defined and ("dotted", file) not in evidence:
        names = ", ".join(f"`{name}`" for name in sorted(defined)[:3])
        reasons.append(f"defines {names}")
    if signals.file["m.stem"][row] >= 0.7 and ("path", file) not in evidence:
        reasons.append("is called like a word of the goal")
    reasons.extend(_past_reason(signals, file))
    start = int(np.searchsorted(signals.candidates.file_row, row))
    shared = wording.words(start, start + int(signals.candidates.unit_counts[row]))
    if shared:
        reasons.append(shared)
    if len(reasons) < 2 and "h.co" in signals.file and signals.file["h.co"][row] > 0.3:
        reasons.append("often changed together with the other files here")
    return tuple(reasons[:_MOST_REASONS])


def _past_reason(signals: Signals, file: int) -> list[str]:
    votes = signals.votes
    if votes is None or votes.voters[file] == 0:
        return []
    count = int(votes.voters[file])
    return [f"changed by {count} past commit{'s' if count > 1 else ''} like this goal"]


def unit_reasons(signals: Signals, wording: SharedWords, row: int) -> tuple[str, ...]:
    """Return why a candidate unit is where it is, the strongest evidence first."""
    unit = int(signals.candidates.units[row])
    evidence, columns = signals.named.evidence, signals.unit
    reasons: list[str] = []
    if ("frame unit", unit) in evidence:
        reasons.append(f"on the stack trace or behind a link: {evidence['frame unit', unit]}")
    if ("dotted unit", unit) in evidence:
        reasons.append(f"is `{evidence['dotted unit', unit]}`")
    elif ("definition", unit) in evidence:
        reasons.append(f"defines `{evidence['definition', unit]}`")
    if columns["fld.errstr"][row] >= 0.5:
        reasons.append("holds the quoted message")
    shared = wording.words(row, row + 1)
    if shared:
        reasons.append(shared)
    if "h.unit" in columns and columns["h.unit"][row] > 0.3:
        reasons.append("changed by past commits like this goal")
    if columns["s.callee"][row] > 0.4:
        reasons.append("likely code uses its name")
    elif columns["s.caller"][row] > 0.5:
        reasons.append("uses names of likely code")
    if not reasons:
        reasons.append("in a likely file")
    return tuple(reasons[:_MOST_REASONS])


MOST_UNITS = 800
FILES_WITH_UNITS = 60
_REASONED_FILES = 40
_REASONED_UNITS = 120


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


def score_goal(
    index: RepoIndex, goal: str, history: History | None = None, *, weights: Weights | None = None
) -> Relevance:
    """Score the files and units of a repository by how likely the goal's work touches them."""
    weights = weights or default_weights()
    signals = read_signals(corpus_of(index), parse_goal(goal), history)
    scores = combine(signals.file, weights.file, len(signals.candidates.files))
    columns = FileColumns(signals.file, signals.unit, signals.candidates.file_row)
    unit_scores = raise_named_units(columns, score_units(columns, scores, weights))
    scores = raise_named_files(columns, scores)
    order = np.argsort(-scores, kind="stable")
    among = order_units(columns.file_row, order, unit_scores)
    edges = call_edges(signals.candidates, among[:SEEDS])
    unit_scores = unit_scores + neighbour_bonus(unit_scores, edges, among)
    wording = SharedWords(signals, unit_hits(signals.candidates, signals.query.ids))
    files = _scored_files(signals, scores, order, wording)
    sufficiency = judge(signals, columns, scores, weights.surety)
    units = _with_chances(_scored_units(signals, unit_scores, order, wording), files, sufficiency, weights)
    return Relevance(signals.goal, files, units, sufficiency)


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
    # Only differences of scores mean something: the best file gets 1, the others a share of it.
    shares = np.exp(scores - scores.max(initial=-np.inf)) if len(scores) else scores
    return tuple(
        ScoredFile(
            paths[int(signals.candidates.files[row])],
            float(shares[row]),
            file_reasons(signals, wording, row) if place < _REASONED_FILES else (),
        )
        for place, row in enumerate(order.tolist())
    )


def _scored_units(
    signals: Signals, scores: Floats, order: Ints, wording: SharedWords
) -> tuple[ScoredUnit, ...]:
    candidates = signals.candidates
    index = candidates.corpus.index
    rows = order_units(candidates.file_row, order, scores)
    found = []
    for place, row in enumerate(rows.tolist()):
        unit = int(candidates.units[row])
        file = int(candidates.files[candidates.file_row[row]])
        definition = int(index.units.definition[unit])
        found.append(
            ScoredUnit(
                index.paths[file],
                int(index.units.start[unit]),
                int(index.units.end[unit]),
                index.qualified_name(file, definition) if definition >= 0 else "",
                int(index.units.kind[unit]),
                float(scores[row]),
                unit_reasons(signals, wording, row) if place < _REASONED_UNITS else (),
            )
        )
    return tuple(found)
