"""Lists to rerank: a goal, the first units that the scorer finds for it, their source, and which are gold.

    python -m training.unit_lists --tasks FILE… --mirrors M --trees T --out FOLDER [--units 60]
        [--rows ROWS --weights WEIGHTS]

One JSON file a task. With ROWS, the signals that ``training.learn_weights`` keeps, units are ordered by
weights that saw no task of their repository; WEIGHTS is the file that keeps these weights.
Without, the weights that are shipped order them, which have seen the development tasks.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.tasks import Task, read_tasks
from benchmarks.trees import materialise
from repo_map.history.history import History, read_history
from repo_map.index import RepoIndex, build_index
from repo_map.relevance.model import Weights
from repo_map.relevance.score import ScoredUnit, score_goal
from training.foreign_weights import kept_weights
from training.signal_rows import read_folder

UNITS = 60
"""Units of a list: those that a reranker could bring to the front."""
_LONGEST_SOURCE = 4_000
"""Characters; an encoder reads the first few hundred."""
_SECONDS = 120


class ListedUnit(msgspec.Struct, frozen=True):
    """A unit of a list, as the scorer left it."""

    path: str
    name: str
    start: int
    end: int
    kind: int
    score: float
    gold: bool
    source: str


class UnitList(msgspec.Struct, frozen=True):
    """The first units of one task, best first."""

    id: str
    repo: str
    language: str
    kind: str
    goal: str
    gold_functions: int
    """Edited functions in all, those that the list lacks included."""
    units: list[ListedUnit]


def is_gold(task: Task, unit: ScoredUnit) -> bool:
    """Tell whether a unit holds an edited function, or where its file has none, an edited line."""
    functions = [each for each in task.gold_symbols if each.kind == "function" and each.file == unit.path]
    spans = [each for each in task.gold_spans if each.file == unit.path]
    places = [(each.start, each.end) for each in functions or spans]
    return any(unit.start <= end and unit.end >= start for start, end in places)


def list_units(
    task: Task,
    kind: str,
    index: RepoIndex,
    history: History | None,
    *,
    most: int = UNITS,
    weights: Weights | None = None,
) -> UnitList:
    """Return the scorer's first ``most`` units of a task, by the weights that are shipped or others."""
    units = score_goal(index, task.goal, history, weights=weights).units[:most]
    lines = {path: index.text(_file(index, path)).split("\n") for path in {unit.path for unit in units}}
    return UnitList(
        id=task.id,
        repo=task.repo,
        language=task.language,
        kind=kind,
        goal=task.goal,
        gold_functions=sum(symbol.kind == "function" for symbol in task.gold_symbols),
        units=[
            ListedUnit(
                path=unit.path,
                name=unit.name,
                start=unit.start,
                end=unit.end,
                kind=unit.kind,
                score=unit.score,
                gold=is_gold(task, unit),
                source="\n".join(lines[unit.path][unit.start - 1 : unit.end])[:_LONGEST_SOURCE],
            )
            for unit in units
        ],
    )


def _file(index: RepoIndex, path: str) -> int:
    file = index.file_id(path)
    assert file is not None
    return file


def read_lists(folder: Path) -> list[UnitList]:
    """Read every list of a folder, by name."""
    return [msgspec.json.decode(path.read_bytes(), type=UnitList) for path in sorted(folder.glob("*.json"))]


def in_turn(tasks: Sequence[tuple[str, Task]]) -> list[tuple[str, Task]]:
    """Return tasks so that each repository comes once before any comes again."""
    seen: dict[str, int] = {}
    turns = []
    for kind, task in tasks:
        turn = seen[task.repo] = seen.get(task.repo, 0) + 1
        turns.append((turn, kind, task))
    return [(kind, task) for _, kind, task in sorted(turns, key=lambda each: each[0])]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=Path, nargs="+", required=True)
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--units", type=int, default=UNITS)
    parser.add_argument("--most", type=int, help="tasks in all, dealt evenly to the repositories")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    tasks = [(path.stem, task) for path in options.tasks for task in read_tasks(path)]
    weights: dict[str, Weights] = {}
    if options.rows:
        rows = [each for each in read_folder(options.rows) if len(each.files)]
        weights = kept_weights(rows, options.weights)
        tasks = [(kind, task) for kind, task in tasks if task.repo in weights]
    for kind, task in in_turn(tasks)[: options.most]:
        target = options.out / f"{task.id.replace('/', '__')}.json"
        if target.exists():
            continue
        tree = materialise(task.repo, task.base_commit, options.mirrors, options.trees)
        index = build_index(tree, workers=1)
        history = read_history(tree, seconds=_SECONDS)
        listed = list_units(task, kind, index, history, most=options.units, weights=weights.get(task.repo))
        target.write_bytes(msgspec.json.encode(listed))
        index.release()
        sys.stderr.write(f"{task.id}\n")


if __name__ == "__main__":
    main()
