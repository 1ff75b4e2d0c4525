"""Why a file or unit was chosen, in a few words."""

from __future__ import annotations

import numpy as np

from repo_map.relevance.bm25 import Hits, Query
from repo_map.relevance.features import Signals
from repo_map.relevance.goal import GoalPart
from repo_map.text.units import NAME, SIGNATURE

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
