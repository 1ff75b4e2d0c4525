"""``python -m benchmarks localize``: does the context hold the code that the real fix edited?"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.answers import Result, navigate, search
from benchmarks.baselines import SYSTEMS
from benchmarks.document import document
from benchmarks.figures import NAVIGATOR, Row, as_data, table
from benchmarks.kept_rows import KeptRows
from benchmarks.scoring import Answer, score
from benchmarks.tasks import Task, read_tasks
from benchmarks.trees import files_at_head, materialise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument("tasks", nargs="+", type=Path, metavar="TASKS", help="task files (JSON lines)")
    parser.add_argument(
        "--tokens", default="8000", metavar="N,…", help="budgets to measure, by commas (default 8000)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="keep answers and scores here, and resume from here"
    )
    parser.add_argument("--baselines", action="store_true", help="measure plain search beside the navigator")
    parser.add_argument(
        "--by",
        choices=("language", "repo", "surety"),
        help="figures by group as well; surety: how sure it said",
    )
    parser.add_argument("--markdown", action="store_true", help="print the figures as tables for a document")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N tasks of each file only")
    add_folders(parser)


def add_folders(parser: argparse.ArgumentParser) -> None:
    """Add where repositories come from, and where their work trees go."""
    parser.add_argument(
        "--mirrors", type=Path, default=folder("BENCH_MIRROR"), help="folder of git mirrors ($BENCH_MIRROR)"
    )
    parser.add_argument(
        "--trees", type=Path, default=folder("BENCH_TREES"), help="folder for work trees ($BENCH_TREES)"
    )


def run(options: argparse.Namespace) -> int:
    """Run the measurement and print its figures; a run that was stopped goes on where it was."""
    if options.mirrors is None:
        print(
            "Say where the mirrors of the repositories are: --mirrors DIR or BENCH_MIRROR.", file=sys.stderr
        )
        return 2
    budgets = sorted({int(tokens) for tokens in options.tokens.split(",")})
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="localize-")))
        place = _Place(options.mirrors, options.trees or scratch / "trees", options.out or scratch)
        sets: dict[str, list[Row]] = {}
        for file in options.tasks:
            tasks = read_tasks(file)[: options.limit]
            measured = _measure(tasks, budgets, place, file.stem, baselines=options.baselines)
            sets[file.stem] = list(measured)
            if not options.markdown and not options.json:
                print(f"\n{file.stem}: {len(tasks)} tasks\n\n{table(sets[file.stem], options.by)}")
    if options.json:
        print(json.dumps({name: as_data(rows, options.by) for name, rows in sets.items()}))
    elif options.markdown:
        print(document(sets))
    elif len(sets) > 1:
        together = [row for rows in sets.values() for row in rows]
        print(f"\nall: {len({row.task.id for row in together})} tasks\n\n{table(together, options.by)}")
    return 0


class _Place(NamedTuple):
    mirrors: Path
    trees: Path
    out: Path


def _measure(
    tasks: Sequence[Task],
    budgets: Sequence[int],
    place: _Place,
    name: str,
    *,
    baselines: bool,
) -> Iterator[Row]:
    """Yield the score of every answer, asking only for answers that the results file lacks."""
    place.out.mkdir(parents=True, exist_ok=True)
    kept = KeptRows(place.out / f"{name}.jsonl", Result)
    known = {(result.id, result.system, result.budget): result for result in kept}
    for number, task in enumerate(tasks, 1):
        tree = materialise(task.repo, task.base_commit, place.mirrors, place.trees)
        fresh = [
            navigate(task, tree, budget) for budget in budgets if (task.id, NAVIGATOR, budget) not in known
        ]
        if baselines:
            fresh += search(
                task, tree, [each for each in budgets if (task.id, SYSTEMS[-1], each) not in known]
            )
        kept.append(*fresh)
        known |= {(result.id, result.system, result.budget): result for result in fresh}
        _show_progress(number, len(tasks), task, fresh)
        paths = files_at_head(tree)
        for (identity, system, budget), result in known.items():
            if identity == task.id and budget in budgets:
                answer = Answer(result.context, result.ranked)
                measures = score(task, answer, paths, _reader(tree))
                yield Row(task, system, budget, {**measures, "seconds": result.seconds}, result.surety)


def _reader(tree: Path) -> Any:
    def read(path: str) -> str:
        return (tree / path).read_bytes().decode("utf-8", "replace")

    return read


def _show_progress(number: int, total: int, task: Task, fresh: Sequence[Result]) -> None:
    seconds = sum(result.seconds for result in fresh)
    what = f"{seconds:.1f} s" if fresh else "known"
    print(f"{number}/{total} {task.id}: {what}", file=sys.stderr, flush=True)


def folder(variable: str) -> Path | None:
    """Return the folder that a variable of the environment names."""
    value = os.environ.get(variable)
    return Path(value) if value else None


def main() -> None:
    """Run as ``python -m benchmarks.localize``."""
    parser = argparse.ArgumentParser(prog="benchmarks.localize")
    add_arguments(parser)
    sys.exit(run(parser.parse_args()))


if __name__ == "__main__":
    main()
