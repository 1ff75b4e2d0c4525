"""``python -m benchmarks contextbench``: how much of what people chose does the first answer hold?"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.agents.report import markdown
from benchmarks.baselines import SYSTEMS, Baselines
from benchmarks.kept_rows import KeptRows, kept_at
from benchmarks.localize import add_folders
from benchmarks.outside.blocks import Lines, Overlap, overlaps
from benchmarks.outside.gold import GoldTask, read_gold
from benchmarks.replay.packet import held_lines
from benchmarks.sent import first_answer, outline_of
from benchmarks.trees import MirrorNotFoundError, files_at_head, materialise
from repo_map.worktree.git import GitError

SHOWN: Final = "answer, what it shows"
NAMED: Final = "answer, what it shows or names"
_SEARCHES: Final = SYSTEMS[1:]
LEVELS: Final = ("file", "block", "line")
PUBLISHED: Final = (
    ("roust, 8,192 tokens; 266 Python tasks", "", "67.9 % / 6.0 %", "34.6 % / 4.0 %", "27.4 % / 5.3 %", ""),
    (
        *("agent with Claude Sonnet 4.5; 500 tasks", ""),
        *("72.0 % / 66.5 %", "44.9 % / 42.0 %", "37.4 % / 34.4 %", ""),
    ),
)
"""As ``narehart/roust`` publishes both rows: other tasks than ours, of which these 50 are a part at most."""
_RESAMPLES: Final = 1_000
_HISTORY_S: Final = 120


class ContextRow(msgspec.Struct, frozen=True):
    """What the answers of one size to one task hold, as a line of the file of rows."""

    id: str
    repo: str
    language: str
    most: int
    """Tokens that an answer may have."""
    counts: dict[str, dict[str, tuple[int, int, int]]]
    """System → level → what is shared, wanted and shown."""

    def overlap(self, system: str, level: str) -> Overlap:
        return Overlap(*self.counts[system][level])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument(
        "gold", nargs="?", type=Path, metavar="GOLD", help="its data/test.parquet, or the same as JSON lines"
    )
    parser.add_argument("--tokens", default="400,1000,2000,4000", metavar="N,…", help="sizes of answers")
    parser.add_argument("--out", type=Path, metavar="FILE", help="keep rows here, and go on from here")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="report these rows, and measure nothing")
    add_folders(parser)


def run(options: argparse.Namespace) -> int:
    """Measure what is not in the rows yet, and print a table for a document."""
    if options.rows is not None:
        print(table(kept_at(options.rows, ContextRow)))
        return 0
    if options.gold is None or options.mirrors is None:
        print("Say GOLD, and --mirrors DIR or BENCH_MIRROR; or --rows FILE.", file=sys.stderr)
        return 2
    sizes = sorted({int(each) for each in options.tokens.split(",")})
    tasks = read_gold(options.gold)
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="contextbench-")))
        kept = KeptRows(options.out or scratch / "rows.jsonl", ContextRow)
        known = {(row.id, row.most): row for row in kept}
        for gold in tasks:
            task = gold.task
            if missing := [most for most in sizes if (task.id, most) not in known]:
                try:
                    tree = materialise(
                        task.repo, task.base_commit, options.mirrors, options.trees or scratch / "trees"
                    )
                except (MirrorNotFoundError, GitError) as error:
                    print(f"{task.id} is left out: {error}", file=sys.stderr, flush=True)
                    continue
                fresh = list(measure(gold, tree, missing))
                kept.append(*fresh)
                known |= {(row.id, row.most): row for row in fresh}
                print(f"{task.id}: {fresh[-1].counts[SHOWN]}", file=sys.stderr, flush=True)
        own = {gold.task.id for gold in tasks}
        print(table([row for row in known.values() if row.id in own and row.most in sizes]))
    return 0


def measure(gold: GoldTask, tree: Path, sizes: Sequence[int]) -> Iterator[ContextRow]:
    """Yield the row of each size: the answer as a host is sent it, and plain searches as large."""
    from navigator.workspaces.workspace import Workspace  # noqa: PLC0415 - figures of kept rows need no engine
    from repo_map.history.history import read_history  # noqa: PLC0415 - as above
    from repo_map.index import build_index  # noqa: PLC0415 - as above

    task, paths = gold.task, files_at_head(tree)
    index = build_index(tree, workers=1)
    workspace = Workspace(index, read_history(tree, seconds=_HISTORY_S))
    searches = Baselines(index).answers(task.goal, sizes)
    wanted = {
        path: frozenset(number for first, last in spans for number in range(first, last + 1))
        for path, spans in gold.spans.items()
    }

    def read(path: str) -> str:
        return (tree / path).read_text("utf-8", "replace")

    def counted(shown: Lines, files: Iterable[str]) -> dict[str, tuple[int, int, int]]:
        sources = {path: read(path) for path in {*wanted, *shown} if path in paths}
        found = overlaps(wanted, shown, files, sources)
        return {level: (each.shared, each.wanted, each.shown) for level, each in found.items()}

    for most in sizes:
        text = first_answer(workspace, task, most).text
        shown = shown_lines(text, paths, read)
        listed = [place for place in outline_of(text, paths) if not place.is_file]
        named = {
            path: shown.get(path, frozenset())
            | {n for place in listed if place.path == path for n in range(place.first, place.last + 1)}
            for path in {*shown, *(place.path for place in listed)}
        }
        counts = {SHOWN: counted(shown, shown), NAMED: counted(named, named)}
        for system in _SEARCHES:
            found = shown_lines(searches[system, most].context, paths, read)
            counts[system] = counted(found, found)
        yield ContextRow(task.id, task.repo, task.language, most, counts)
    index.release()


def shown_lines(text: str, paths: frozenset[str], read: Callable[[str], str]) -> dict[str, frozenset[int]]:
    """Return the lines that a text shows; blank ones count where the lines around them are there."""
    found: dict[str, set[int]] = {}
    for spot in held_lines(text, paths, read):
        found.setdefault(spot.path, set()).add(spot.line)
    return {path: _with_blanks(numbers, read(path)) for path, numbers in found.items()}


def _with_blanks(numbers: set[int], text: str) -> frozenset[int]:
    blanks, waiting = set[int](), set[int]()
    for number, line in enumerate(text.split("\n"), 1):
        if number in numbers and number - len(waiting) - 1 in numbers:
            blanks |= waiting
        waiting = waiting | {number} if number not in numbers and not line.strip() else set()
    return frozenset(numbers | blanks)


def table(rows: Sequence[ContextRow]) -> str:
    """Return recall and precision as they are published: over all tasks together, and lines over tasks too.

    Each has half of its 95 % bootstrap interval over tasks.
    """
    lines: list[Sequence[str]] = [
        (
            *("system", "tasks", *(f"{level}: recall / precision" for level in LEVELS)),
            "line, mean of tasks",
        )
    ]
    for most in sorted({row.most for row in rows}):
        own = [row for row in rows if row.most == most]
        for system in (SHOWN, NAMED, *_SEARCHES):
            pairs = (_pair([row.overlap(system, level) for row in own]) for level in LEVELS)
            each = [row.overlap(system, "line") for row in own]
            mean = f"{_mean([one.recall for one in each])} / {_mean([one.precision for one in each])}"
            lines.append((f"{system}, {most:,} tokens", str(len(own)), *pairs, mean))
    return markdown([*lines, *PUBLISHED])


def together(found: Iterable[Overlap]) -> Overlap:
    """Return the overlap of all tasks together."""
    shared, wanted, shown = (sum(each) for each in zip(*found, strict=True))
    return Overlap(shared, wanted, shown)


def _pair(found: Sequence[Overlap]) -> str:
    chance = random.Random(0)
    drawn = [together(chance.choices(found, k=len(found))) for _ in range(_RESAMPLES)]
    whole = together(found)
    recall = _cell(whole.recall, sorted(each.recall for each in drawn))
    return f"{recall} / {_cell(whole.precision, sorted(each.precision for each in drawn))}"


def _cell(value: float, drawn: Sequence[float]) -> str:
    low, high = drawn[int(0.025 * _RESAMPLES)], drawn[int(0.975 * _RESAMPLES)]
    return f"{_mean([value])} ±{50 * (high - low):.0f}"


def _mean(values: Sequence[float]) -> str:
    return f"{100 * sum(values) / len(values):.1f} %"
