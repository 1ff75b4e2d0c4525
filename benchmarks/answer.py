"""``python -m benchmarks answer``: does the first answer, as a host is sent it, name what the fix edits?"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from benchmarks.rows import RowFile, bootstrap
from benchmarks.sent import first_answer, score_sent
from benchmarks.tasks import Task, read_tasks
from benchmarks.trees import MirrorNotFoundError, add_folders, files_at_head, find_mirror, materialise
from repo_map.ranking.score import WeightTable

if TYPE_CHECKING:
    from navigator.workspaces.workspace import Workspace
    from repo_map.index.index import Index

EXAMPLES = ("tasks.jsonl --tokens 400,1000 --limit 10",)

_SHOWN: Final = ("reach", "body", "spelt", "tokens", "places", "seconds")
LOOKS: Final = ("whole index", "first look")
"""What rows are called whose answers are of the same tasks from either."""


class AnswerRow(msgspec.Struct, frozen=True):
    """What one answer scored, as a line of the file of rows."""

    id: str
    repo: str
    language: str
    kind: str
    """The name of its set."""
    most: int
    """Tokens that the answer may have."""
    measures: dict[str, float]
    signals: dict[str, float]
    """What tells how much of the work it holds."""


class Arm(NamedTuple):
    """A way to answer tasks."""

    kind: str
    """What its rows are called."""
    sizes: Sequence[int]
    names: Sequence[str] = ()
    """Identifiers that the caller guesses."""
    with_baseline: bool = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument("tasks", nargs="+", type=Path, metavar="TASKS", help="task files (JSON lines)")
    parser.add_argument(
        "--tokens", default="400,700,1000,2000", metavar="N,…", help="sizes of answers, by commas"
    )
    parser.add_argument(
        "--limit", type=int, metavar="N", help="of each file N tasks, in turn from each repository"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="keep rows here, and go on from here")
    parser.add_argument("--weights", type=Path, metavar="FILE", help="weights by repository and kind (JSON)")
    parser.add_argument("--names", type=Path, metavar="FILE", help="guessed names by task (JSON object)")
    parser.add_argument(
        "--bm25f", action="store_true", help="measure the baseline and the ceiling beside the answers"
    )
    parser.add_argument(
        "--first-look",
        action="store_true",
        help="measure first looks beside whole indexes, where one is taken",
    )
    add_folders(parser)


def run(options: argparse.Namespace) -> int:
    """Measure the answers and print a table for a document."""
    if options.mirrors is None:
        print(
            "Say where the mirrors of the repositories are: --mirrors DIR or BENCH_MIRROR.", file=sys.stderr
        )
        return 2
    sizes = sorted({int(each) for each in options.tokens.split(",")})
    weights: dict[str, WeightTable] = {}
    if options.weights:
        weights = msgspec.json.decode(options.weights.read_bytes(), type=dict[str, WeightTable])
    names: Mapping[str, list[str]] = (
        msgspec.json.decode(options.names.read_bytes(), type=dict[str, list[str]]) if options.names else {}
    )
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="answer-")))
        kept = RowFile(options.out or scratch / "rows.jsonl", AnswerRow)
        known = {(row.id, row.kind, row.most): row for row in kept}
        rows: list[AnswerRow] = []
        for file in options.tasks:
            for task in chosen(read_tasks(file), options.mirrors, options.limit):
                guessed = names.get(task.id, [])
                kind = LOOKS[0] if options.first_look else f"{file.stem}, names" if guessed else file.stem
                missing = [most for most in sizes if (task.id, kind, most) not in known]
                if missing:
                    arm = Arm(kind, missing, guessed, options.bm25f)
                    tree = materialise(
                        task.repo, task.base_commit, options.mirrors, options.trees or scratch / "trees"
                    )
                    fresh = list(
                        beside_first_look(task, tree, missing, weights.get(task.repo))
                        if options.first_look
                        else measure(task, tree, arm, weights.get(task.repo))
                    )
                    kept.append(*fresh)
                    known |= {(row.id, row.kind, row.most): row for row in fresh}
                    for row in fresh[-1:]:
                        print(f"{task.id}: {row.measures}", file=sys.stderr, flush=True)
                beside = (f"{kind}, bm25f", f"{kind}, ceiling") if options.bm25f else ()
                kinds = LOOKS if options.first_look else (kind, *beside)
                rows += [known[key] for key in product((task.id,), kinds, sizes) if key in known]
    print("\n".join(table(rows)))
    return 0


def chosen(tasks: Sequence[Task], mirrors: Path, most: int | None) -> list[Task]:
    """Return ``most`` tasks whose fix edits functions, in turn from each repository that has a mirror."""
    by_repo: dict[str, list[Task]] = {}
    for task in tasks:
        with contextlib.suppress(MirrorNotFoundError):
            find_mirror(task.repo, mirrors)
            if any(symbol.kind == "function" for symbol in task.gold_symbols):
                by_repo.setdefault(task.repo, []).append(task)
    longest = max(map(len, by_repo.values()), default=0)
    dealt = [own[at] for at in range(longest) for own in by_repo.values() if at < len(own)]
    return dealt[:most]


def measure(task: Task, tree: Path, arm: Arm, weights: WeightTable | None = None) -> Iterator[AnswerRow]:
    """Yield the row of each size of answer to a task, by the weights that are shipped or by others."""
    from navigator.workspaces.workspace import Workspace  # noqa: PLC0415 - figures of kept rows need no engine
    from repo_map.index.build import build_index  # noqa: PLC0415 - as above

    index = build_index(tree, workers=1)
    workspace = Workspace(index, weights)
    if arm.with_baseline:
        yield from _baseline(task, tree, arm, index)
    yield from _answers(task, tree, arm, workspace)
    index.release()


def _baseline(task: Task, tree: Path, arm: Arm, index: Index) -> Iterator[AnswerRow]:
    """Yield the rows of the baseline, whose size is fixed, and of a choice that knows the solution."""
    from benchmarks import bm25f  # noqa: PLC0415 - figures of kept rows need no engine

    found = bm25f.score_ranked(task, bm25f.rank(index, task.goal, arm.names))
    for most in arm.sizes:
        known = bm25f.ceiling(task, most, lambda path: (tree / path).read_text("utf-8", "replace"))
        for name, measures in (("bm25f", found), ("ceiling", {"body": known})):
            kind = f"{arm.kind}, {name}"
            yield AnswerRow(task.id, task.repo, task.language, kind, most, measures, {})


def beside_first_look(
    task: Task, tree: Path, sizes: Sequence[int], weights: WeightTable | None = None
) -> Iterator[AnswerRow]:
    """Yield the rows of the whole index and those of a first look; none where no first look is taken."""
    from navigator.workspaces.workspace import Workspace  # noqa: PLC0415 - figures of kept rows need no engine
    from repo_map.index.store import Store  # noqa: PLC0415 - as above
    from repo_map.ranking.first_look import first_look  # noqa: PLC0415 - as above
    from repo_map.sources.source import folder_source  # noqa: PLC0415 - as above

    place = folder_source(tree)
    look = first_look(place, task.goal, store=Store(None), workers=1)
    if look is None:
        return
    whole, first = LOOKS
    yield from measure(task, tree, Arm(whole, sizes), weights)
    yield from _answers(task, tree, Arm(first, sizes), Workspace(look, weights))
    look.release()


def _answers(task: Task, tree: Path, arm: Arm, workspace: Workspace) -> Iterator[AnswerRow]:
    paths = files_at_head(tree)
    for most in arm.sizes:
        started = time.perf_counter()
        sent = first_answer(workspace, task, most, arm.names)
        seconds = time.perf_counter() - started
        measures = score_sent(task, sent, paths, lambda path: (tree / path).read_text("utf-8", "replace"))
        yield AnswerRow(
            task.id,
            task.repo,
            task.language,
            arm.kind,
            most,
            {**measures, "seconds": seconds},
            {"confidence": sent.relevance.sufficiency.confidence, "shown": float(sent.shown)},
        )


def table(rows: Sequence[AnswerRow]) -> list[str]:
    """Return the means as lines of a table, of all tasks, by set and by language."""
    lines = [f"| answers | tokens at most | {' | '.join(_SHOWN)} |", "|---" * (len(_SHOWN) + 2) + "|"]
    groups = {"all": list(rows)}
    for row in rows:
        groups.setdefault(row.kind, []).append(row)
    for row in sorted(rows, key=lambda each: each.language):
        groups.setdefault(row.language, []).append(row)
    for name, own in groups.items():
        for most in sorted({row.most for row in own}):
            of_size = [row for row in own if row.most == most]
            cells = (_cell(of_size, measure) for measure in _SHOWN)
            lines.append(f"| {name} ({len(of_size)}) | {most:,} | {' | '.join(cells)} |")
    return lines


def _cell(rows: Sequence[AnswerRow], name: str) -> str:
    values = [row.measures[name] for row in rows if name in row.measures]
    if not values:
        return "–"
    mean = sum(values) / len(values)
    if name in ("reach", "body"):
        low, high = bootstrap(values)
        return f"{mean:.2f} ±{(high - low) / 2:.2f}"
    return f"{mean:,.0f}" if name in ("tokens", "places") else f"{mean:.2f}"
