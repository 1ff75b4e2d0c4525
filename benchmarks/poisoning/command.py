"""``python -m benchmarks poisoning``: does a stuffed file or commit come among the first three files?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.git import run_git
from benchmarks.kept_rows import KeptRows
from benchmarks.localize import folder
from benchmarks.poisoning.attacks import ATTACKS, Victim
from benchmarks.tasks import Task, read_tasks
from benchmarks.trees import find_mirror, materialise
from repo_map.history.history import read_history
from repo_map.index import build_index
from repo_map.relevance.corpus import corpus_of
from repo_map.relevance.goal import parse_goal
from repo_map.relevance.priors import are_auxiliary
from repo_map.relevance.score import Relevance, score_goal

_FIRST = 3


class Attacked(msgspec.Struct, frozen=True):
    """What one kind of stuffing did to one task, as a line of the file of rows."""

    id: str
    kind: str
    place: int
    """Of the stuffed file, from 1; 0 for none."""
    kept: int
    """Of the first three files before, those that still are."""
    right: int
    """Edited files among the first three before."""
    right_kept: int
    """Edited files among the first three after."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument("tasks", nargs="+", type=Path, metavar="TASKS", help="task files (JSON lines)")
    parser.add_argument("--each", type=int, default=2, metavar="N", help="tasks of each repository (2)")
    parser.add_argument("--repos", type=int, default=10, metavar="N", help="repositories (10)")
    parser.add_argument("--kinds", metavar="K,…", help="kinds of stuffing, by commas; all if left out")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="rows, resumed from")
    parser.add_argument(
        "--mirrors", type=Path, default=folder("BENCH_MIRROR"), help="git mirrors ($BENCH_MIRROR)"
    )
    parser.add_argument("--trees", type=Path, default=folder("BENCH_TREES"), help="work trees ($BENCH_TREES)")


def run(options: argparse.Namespace) -> int:
    """Stuff the tree of each task in every way, and print how often that helped."""
    if options.mirrors is None or options.trees is None:
        print(
            "Say where mirrors and trees are: --mirrors DIR --trees DIR, or BENCH_MIRROR and BENCH_TREES.",
            file=sys.stderr,
        )
        return 2
    kept = KeptRows(options.out, Attacked)
    known = {(row.id, row.kind) for row in kept}
    kinds = options.kinds.split(",") if options.kinds else list(ATTACKS)
    for task in _chosen(options.tasks, options.mirrors, options.repos, options.each):
        missing = [kind for kind in kinds if (task.id, kind) not in known]
        if missing:
            kept.append(*_attack(task, missing, options.mirrors, options.trees))
            print(task.id, file=sys.stderr, flush=True)
    print(table(list(kept)))
    return 0


def _chosen(files: Iterable[Path], mirrors: Path, repos: int, each: int) -> Iterator[Task]:
    """Yield the first tasks of the first repositories that there is a mirror of."""
    found: dict[str, list[Task]] = {}
    for task in (task for file in files for task in read_tasks(file)):
        found.setdefault(task.repo, []).append(task)
    present = {path.name.lower() for path in mirrors.iterdir()}
    with_mirror = [repo for repo in found if repo.replace("/", "+").lower() in present]
    for repo in with_mirror[:repos]:
        find_mirror(repo, mirrors)
        yield from found[repo][:each]


def _ranked(tree: Path, goal: str) -> Relevance:
    index = build_index(tree, workers=1)
    relevance = score_goal(index, goal, read_history(tree, seconds=120))
    index.release()
    return relevance


def _attack(task: Task, kinds: Sequence[str], mirrors: Path, trees: Path) -> Iterator[Attacked]:
    tree = materialise(task.repo, task.base_commit, mirrors, trees)
    base = run_git(tree, "rev-parse", "HEAD").decode().strip()
    before = _ranked(tree, task.goal)
    first = tuple(file.path for file in before.files[:_FIRST])
    if len(first) < _FIRST:
        return
    index = build_index(tree, workers=1)
    corpus = corpus_of(index)
    ranked = [file.path for file in before.files]
    ids = [index.file_id(path) or 0 for path in ranked]
    plain = [
        path
        for path, file in zip(ranked, ids, strict=True)
        if corpus.is_code[file]
        and not are_auxiliary(corpus, np.array([file])).any()
        and path.endswith(Path(first[0]).suffix)
    ]
    later = plain[len(plain) // 2 :] or ranked[-1:]
    victim = Victim(tree, parse_goal(task.goal), index, first, later[0])
    for kind in kinds:
        try:
            stuffed = ATTACKS[kind](victim)
            after = [file.path for file in _ranked(tree, task.goal).files] if stuffed else []
        finally:
            run_git(tree, "reset", "-q", "--hard", base)
            run_git(tree, "clean", "-fdqx")
        if stuffed:
            place = after.index(stuffed) + 1 if stuffed in after else 0
            yield Attacked(
                task.id,
                kind,
                place,
                len(set(first) & set(after[:_FIRST])),
                len(set(first) & set(task.gold_files)),
                len(set(after[:_FIRST]) & set(task.gold_files)),
            )
    index.release()


def table(rows: Sequence[Attacked]) -> str:
    """Return a Markdown table, one line a kind."""
    lines = [
        "| kind | tasks | first | among the first 3 | one of the first 3 displaced | right file lost |",
        "|---" * 6 + "|",
    ]
    kinds = [kind for kind in ATTACKS if any(row.kind == kind for row in rows)]
    lines += [_line(kind, [row for row in rows if row.kind == kind]) for kind in kinds]
    return "\n".join([*lines, _line("all", rows)])


def _line(title: str, rows: Sequence[Attacked]) -> str:
    counts = (
        len(rows),
        sum(row.place == 1 for row in rows),
        sum(1 <= row.place <= _FIRST for row in rows),
        sum(row.kept < _FIRST for row in rows),
        sum(row.right_kept < row.right for row in rows),
    )
    return f"| {title} | " + " | ".join(map(str, counts)) + " |"


def main() -> None:
    """Run as ``python -m benchmarks.poisoning.command``."""
    parser = argparse.ArgumentParser(prog="benchmarks.poisoning")
    add_arguments(parser)
    sys.exit(run(parser.parse_args()))


if __name__ == "__main__":
    main()
