"""Why a file or unit was chosen, in words that a developer would use."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from repo_map.messages import plural
from repo_map.ranking.bm25 import Hits, Query
from repo_map.ranking.corpus import Ints
from repo_map.ranking.features import Signals
from repo_map.ranking.goal import GoalPart
from repo_map.ranking.joined import Joined
from repo_map.text.terms import tokenize
from repo_map.text.units import NAME, SIGNATURE

_MOST_WORDS = 3
MOST_REASONS = 4


class SharedWords:
    """Finds the words that a unit shares with the goal; reads the hits once for all."""

    def __init__(self, signals: Signals, hits: Hits) -> None:
        self._signals = signals
        self._query: Query = signals.query
        self._value = signals.query.weights * signals.query.idf
        order = np.argsort(hits.row, kind="stable")
        self._row, self._column, self._field = hits.row[order], hits.column[order], hits.field[order]

    def of_unit(self, row: int) -> str:
        """Return the most telling words that a unit shares with the goal: ``its name matches `zip` ``."""
        columns, fields = self._hits(row, row + 1)
        return self._told(columns, set(columns[(fields == NAME) | (fields == SIGNATURE)].tolist()), "name")

    def of_file(self, first_row: int, last_row: int, path_terms: Collection[str]) -> str:
        """Return the most telling words that a file's units and its path share with the goal."""
        columns, _ = self._hits(first_row, last_row)
        on_path = {column for column, term in enumerate(self._query.terms) if term in path_terms}
        return self._told([*columns.tolist(), *on_path], on_path, "path")

    def _hits(self, first_row: int, last_row: int) -> tuple[Ints, Ints]:
        low, high = np.searchsorted(self._row, (first_row, last_row))
        return self._column[low:high], self._field[low:high]

    def _told(self, columns: Iterable[int], named: Collection[int], holder: str) -> str:
        """Tell the words of the title first; where it has none here, the others."""
        best = sorted({int(column) for column in columns}, key=lambda column: (-self._value[column], column))
        in_title = self._query.sources[GoalPart.TITLE]
        chosen = [column for column in best if in_title[column]] or best
        # What is only a part of an identifier, or the beginning of a word, is told for want of a whole one.
        surface = self._signals.goal.surface
        whole = [column for column in chosen if self._query.terms[column] in surface]
        if chosen and not whole:
            return f"its text matches a part of `{self._word(chosen[0])}`"
        written: dict[str, bool] = {}
        for column in whole:
            word = self._word(column)
            written[word] = written.get(word, False) or column in named
        shown = dict(list(written.items())[:_MOST_WORDS])
        if not shown:
            return ""
        where = holder if all(shown.values()) else f"{holder} and text" if any(shown.values()) else "text"
        verb = "match" if where.endswith("and text") else "matches"
        return f"its {where} {verb} {_quoted(shown)}"

    def _word(self, column: int) -> str:
        term, goal = self._query.terms[column], self._signals.goal
        return goal.surface.get(term) or goal.part_of.get(term) or term


def file_reasons(
    signals: Signals, wording: SharedWords, row: int, best: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return why a candidate file is where it is, the strongest evidence first.

    ``best`` are the paths of the best files, which its own may go with.
    """
    named, file = signals.named, int(signals.candidates.files[row])
    corpus, evidence = signals.candidates.corpus, named.evidence
    reasons = [
        text.format(evidence[key, file])
        for key, text in (
            ("frame", "named in the stack trace or a link: {}"),
            ("path", "the goal names `{}`"),
            ("quoted", "says “{}”"),
            ("commit", "changed by commit {}"),
            ("dotted", "defines `{}`"),
            ("folder", "the goal names `{}`"),
        )
        if (key, file) in evidence
    ]
    units = corpus.index.units
    first, last = int(units.file_start[file]), int(units.file_start[file + 1])
    defined = {
        evidence[key] for key in (("definition", unit) for unit in range(first, last)) if key in evidence
    }
    if defined and ("dotted", file) not in evidence:
        reasons.append(f"defines {_quoted(sorted(defined)[:3])}")
    start = int(np.searchsorted(signals.candidates.file_row, row))
    end = start + int(signals.candidates.unit_counts[row])
    # What is quoted word for word has these words.
    shared = "" if ("quoted", file) in evidence else wording.of_file(start, end, corpus.path_terms[file])
    if signals.file["m.stem"][row] >= 0.7 and ("path", file) not in evidence and "its path" not in shared:
        reasons += _namesake(signals, corpus.index.paths[file])
    reasons.extend(_past_reason(signals, file))
    if shared:
        reasons.append(shared)
    if len(reasons) < 2 and signals.votes is not None:
        shared_changes = signals.votes.past.together.best_partner(corpus.index.paths[file], best)
        if shared_changes is not None:
            other, together, changes = shared_changes
            reasons.append(
                f"changed together with `{other}` in {together} of its last {plural(changes, 'commit')}"
            )
    return tuple(reasons[:MOST_REASONS])


def _namesake(signals: Signals, path: str) -> list[str]:
    """Say which word of the goal the file is called like, as the goal wrote it."""
    stem = path.rpartition("/")[2].split(".")[0].replace("_", "").replace("-", "").lower()
    goal = signals.goal
    said = (
        *goal.identifiers,
        *(part for name in goal.dotted for part in name.split(".")),
        *tokenize(goal.title),
    )
    written = next((each for each in said if each.replace("_", "").lower() == stem), None)
    written = written or goal.surface.get(stem)
    return [f"is called like `{written}`"] if written else []


def _past_reason(signals: Signals, file: int) -> list[str]:
    votes = signals.votes
    if votes is None or votes.voters[file] == 0:
        return []
    count = int(votes.voters[file])
    return [f"changed by {plural(count, 'past commit')} like this goal"]


def unit_reasons(signals: Signals, wording: SharedWords, joined: Joined, row: int) -> tuple[str, ...]:
    """Return why a candidate unit is where it is, the strongest evidence first."""
    unit = int(signals.candidates.units[row])
    evidence, columns = signals.named.evidence, signals.unit
    reasons = [
        text.format(evidence[key, unit])
        for key, text in (
            ("frame unit", "on the stack trace or behind a link: {}"),
            ("quoted unit", "says “{}”"),
            ("dotted unit", "is `{}`"),
            ("definition", "defines `{}`"),
            ("commit unit", "changed by commit {}"),
        )
        if (key, unit) in evidence and not (key == "definition" and ("dotted unit", unit) in evidence)
    ]
    shared = "" if ("quoted unit", unit) in evidence else wording.of_unit(row)
    if shared:
        reasons.append(shared)
    if "h.unit" in columns and columns["h.unit"][row] > 0.3:
        reasons.append("changed by past commits like this goal")
    if told := joined.of_unit(row):
        reasons.append(told)
    elif not joined.is_resolved(row):
        if columns["s.callee"][row] > 0.4:
            reasons.append("likely code uses its name")
        elif columns["s.caller"][row] > 0.5:
            reasons.append("uses names of likely code")
    if not reasons:
        reasons.append("in a likely file")
    return tuple(reasons[:MOST_REASONS])


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
