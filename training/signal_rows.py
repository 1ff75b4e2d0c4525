"""Tasks as rows to learn from: every candidate's signals, and which candidates the real fix edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.tasks import Task
from repo_map.history.history import History
from repo_map.index.index import Index
from repo_map.ranking.call_edges import CallEdges, call_edges, links_around, neighbour_bonus
from repo_map.ranking.corpus import Floats, Ints, corpus_of
from repo_map.ranking.features import FileColumns, read_signals, unit_signals_given_files
from repo_map.ranking.goal import parse_goal
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
from repo_map.ranking.score import order_units, score_units

_UNIT_HEADER_TOKENS = 3
_EDGE_UNITS = 40
"""Units whose calls are kept: other weights put others first."""


class UnitOrder(NamedTuple):
    """How some weights order the units of a task."""

    files: Floats
    """Score of each file, what the goal names raised; shape (files,)."""
    units: Floats
    """Score of each unit, shape (units,)."""
    rows: Ints
    """Rows of the best files' best units, best first."""


@dataclass(frozen=True, eq=False)
class TaskRows:
    """The candidates of one task: signals, gold, and what each unit would cost to show."""

    id: str
    repo: str
    language: str
    kind: str
    """Where the task comes from, such as ``multiswe_dev``."""
    file: Mapping[str, Floats]
    unit: Mapping[str, Floats]
    files: Ints
    file_row: Ints
    """The file row of each unit."""
    start: Ints
    end: Ints
    tokens: Floats
    """Estimated tokens of each unit."""
    path_tokens: Floats
    edges: CallEdges
    gold_files: Ints
    """Ids of gold files; of those that the tree lacks there is none."""
    gold_count: int
    """Number of gold files, those that are no candidates included."""
    gold_functions: Ints
    """Shape (n, 3): file, first and last line."""
    gold_spans: Ints

    def file_gold(self) -> NDArray[np.bool_]:
        """Tell which candidate files are gold."""
        return np.isin(self.files, self.gold_files)

    def unit_gold(self) -> NDArray[np.bool_]:
        """Tell which units hold a gold function, or where a file has none, an edited line."""
        found = np.zeros(len(self.start), np.bool_)
        with_functions = set(self.gold_functions[:, 0].tolist())
        for file, first, last in self.gold_functions.tolist():
            found |= self._overlapping(file, first, last)
        for file, first, last in self.gold_spans.tolist():
            if file not in with_functions:
                found |= self._overlapping(file, first, last)
        return found

    def _overlapping(self, file: int, first: int, last: int) -> NDArray[np.bool_]:
        mine = self.files[self.file_row] == file if len(self.files) else np.zeros(0, np.bool_)
        return mine & (self.start <= last) & (self.end >= first)

    def are_all_in(self, rows: Ints) -> bool:
        """Tell whether some units hold a part of every gold function, or else of every edited place."""
        gold = self.gold_functions if len(self.gold_functions) else self.gold_spans
        among = np.zeros(len(self.start), np.bool_)
        among[rows] = True
        held = [bool((among & self._overlapping(*place)).any()) for place in gold.tolist()]
        return bool(held) and all(held)

    @property
    def columns(self) -> FileColumns:
        """The signals as scoring wants them."""
        return FileColumns(self.file, self.unit, self.file_row)

    def unit_signals(self, file_scores: Floats) -> dict[str, Floats]:
        """Return the unit signals, with those that hang on how the files score."""
        return {**self.unit, **unit_signals_given_files(self.columns, file_scores)}

    def file_scores(self, weights: Mapping[str, float]) -> Floats:
        """Return the weighted sum of the file signals."""
        return combine(self.file, weights, len(self.files))

    def order(self, weights: Weights) -> UnitOrder:
        """Return how weights order the units, as scoring does."""
        scores = hold_back_files(self.columns, self.file_scores(weights.file))
        files = raise_named_files(self.columns, scores)
        units = hold_back_units(self.columns, score_units(self.columns, scores, weights))
        units = raise_named_units(self.columns, units)
        by_file = np.argsort(-files, kind="stable")
        lent = neighbour_bonus(units, self.edges, order_units(self.file_row, by_file, units))
        units = lead_with_crash(self.columns, units + np.where(are_new(self.unit), 0.0, lent))
        return UnitOrder(files, units, order_units(self.file_row, by_file, units))


def read_rows(task: Task, kind: str, index: Index, history: History | None) -> TaskRows:
    """Compute the signals of a task's candidates and mark the gold ones."""
    signals = read_signals(corpus_of(index), parse_goal(task.goal), history)
    candidates = signals.candidates
    position = {path: file for file, path in enumerate(index.paths)}
    functions = [
        (position[symbol.file], symbol.start, symbol.end)
        for symbol in task.gold_symbols
        if symbol.kind == "function" and symbol.file in position
    ]
    spans = [(position[span.file], span.start, span.end) for span in task.gold_spans if span.file in position]
    start = index.units.start[candidates.units].astype(np.int64)
    end = index.units.end[candidates.units].astype(np.int64)
    file = candidates.files[candidates.file_row]
    columns = FileColumns(signals.file, signals.unit, candidates.file_row)
    weights = default_weights()
    file_scores = hold_back_files(columns, combine(signals.file, weights.file, len(candidates.files)))
    by_file = np.argsort(-raise_named_files(columns, file_scores), kind="stable")
    units = hold_back_units(columns, score_units(columns, file_scores, weights))
    units = raise_named_units(columns, units)
    seeds = order_units(candidates.file_row, by_file, units)[:_EDGE_UNITS]
    per_line = index.costs.levels[:, 4] / np.maximum(index.files.lines, 1)
    return TaskRows(
        id=task.id,
        repo=task.repo,
        language=task.language,
        kind=kind,
        file=signals.file,
        unit=signals.unit,
        files=candidates.files,
        file_row=candidates.file_row,
        start=start,
        end=end,
        tokens=(end - start + 1) * per_line[file] + _UNIT_HEADER_TOKENS,
        path_tokens=np.array([len(index.paths[row]) / 3 + 3 for row in candidates.files.tolist()]),
        edges=call_edges(links_around(candidates, seeds)),
        gold_files=np.array([position[path] for path in task.gold_files if path in position], np.int64),
        gold_count=len(task.gold_files),
        gold_functions=np.array(functions, np.int64).reshape(-1, 3),
        gold_spans=np.array(spans, np.int64).reshape(-1, 3),
    )


_PLAIN = (
    "files",
    "file_row",
    "start",
    "end",
    "tokens",
    "path_tokens",
    "gold_files",
    "gold_functions",
    "gold_spans",
)


def save_rows(rows: TaskRows, path: Path) -> None:
    """Write rows to a file."""
    arrays: dict[str, NDArray[np.generic]] = {name: getattr(rows, name) for name in _PLAIN}
    arrays["edges"] = np.stack(rows.edges, axis=1)
    arrays |= {f"file:{name}": values.astype(np.float32) for name, values in rows.file.items()}
    arrays |= {f"unit:{name}": values.astype(np.float32) for name, values in rows.unit.items()}
    arrays["about"] = np.array([rows.id, rows.repo, rows.language, rows.kind, str(rows.gold_count)])
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)  # type: ignore[arg-type]


def load_rows(path: Path) -> TaskRows:
    """Read rows that ``save_rows`` wrote."""
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    identity, repo, language, kind, gold_count = (str(value) for value in arrays.pop("about"))
    signals = {name: values.astype(np.float64) for name, values in arrays.items() if ":" in name}
    return TaskRows(
        id=identity,
        repo=repo,
        language=language,
        kind=kind,
        file={name[5:]: values for name, values in signals.items() if name.startswith("file:")},
        unit={name[5:]: values for name, values in signals.items() if name.startswith("unit:")},
        gold_count=int(gold_count),
        edges=CallEdges(*arrays["edges"].T),
        **{name: arrays[name] for name in _PLAIN},
    )


def read_folder(folder: Path) -> Sequence[TaskRows]:
    """Read every rows file of a folder, by name."""
    return [load_rows(path) for path in sorted(folder.glob("*.npz"))]
