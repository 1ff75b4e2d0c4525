"""``python -m benchmarks explain``: how much of the true fix does a context explain?"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from benchmarks.agents.report import markdown
from benchmarks.answers import Result
from benchmarks.figures import NAVIGATOR, bootstrap
from benchmarks.kept_rows import KeptRows
from benchmarks.small_model.fixes import Fix, fix_of
from benchmarks.small_model.likelihood import bits_of
from benchmarks.small_model.sampling import add_task_arguments, asked_tasks
from benchmarks.tasks import Task
from benchmarks.trees import materialise
from repo_map.errors import RepoMapError
from repo_map.text import tokens

NOTHING = "nothing"
HEAD = "the edited file's head"
SYSTEMS = (NAVIGATOR, "BM25 functions", HEAD, NOTHING)
_LONGEST_GOAL = 1_500
"""Characters; what follows is seldom more than logs and versions."""
_MEASURED_BY: Final = "cl100k"


class Explained(msgspec.Struct, frozen=True):
    """How likely the model found a fix behind one context."""

    id: str
    language: str
    system: str
    budget: int
    bits: float
    tokens: int
    """Of the fix, as the model counts them."""
    before: int
    """Of goal and context."""
    seconds: float
    commit: str
    """Of the fix."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    add_task_arguments(parser)
    parser.add_argument(
        "--answers",
        type=Path,
        required=True,
        metavar="DIR",
        help="where `localize … --baselines --out DIR` kept its answers: the contexts",
    )
    parser.add_argument(
        "--url",
        default="http://127.0.0.1:8011/v1",
        help="server that tells how likely a prompt is (default %(default)s)",
    )
    parser.add_argument("--model", default="local", help="the model's name there")
    parser.add_argument(
        "--tokens", default="2000,4000", metavar="N,…", help="budgets, by commas (default 2000,4000)"
    )
    parser.add_argument(
        "--most", type=int, default=1_000, metavar="N", help="characters of a fix (default 1000)"
    )


def run(options: argparse.Namespace) -> int:
    """Run the measurement and print its figures; a run that was stopped goes on where it was."""
    kept = KeptRows(options.out, Explained)
    if not options.figures:
        tasks = asked_tasks(options)
        if tasks is None:
            return 2
        budgets = sorted({int(each) for each in options.tokens.split(",")})
        contexts = _answers(options.answers)
        for number, task in enumerate(tasks, 1):
            for row in _explain(task, budgets, contexts, kept, options):
                kept.append(row)
                words = f"{row.system} {row.budget}: {row.bits / row.tokens:.2f} bits a token"
                print(f"{number}/{len(tasks)} {task.id}: {words}, {row.seconds:.0f} s", file=sys.stderr)
    print(table(list(kept)))
    return 0


def prompt_of(task: Task, context: str, path: str) -> str:
    """Return what stands before the fix: the goal first, so that a server reads it once for all contexts."""
    shown = f"Code of the repository:\n{context.rstrip()}\n\n" if context else ""
    goal = task.goal[:_LONGEST_GOAL].rstrip()
    return f"The task:\n{goal}\n\n{shown}The lines that the fix adds to {path}:\n"


def head_of(path: str, text: str, budget: int) -> str:
    """Return the first lines of a file that fit into a budget."""
    lines, room = [f"### {path}"], budget - tokens.count(f"### {path}\n", _MEASURED_BY)
    for line in text.split("\n"):
        room -= tokens.count(line + "\n", _MEASURED_BY)
        if room < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def table(rows: Sequence[Explained]) -> str:
    """Return bits a token by context, each beside the navigator on the tasks that have both."""
    lines = [["context", "budget", "tasks", "bits a token", "navigator less (95 %)", "navigator better in"]]
    measured = {(row.id, row.system, row.budget): row.bits / row.tokens for row in rows}
    for budget in sorted({row.budget for row in rows if row.budget}):
        ours = {
            id_: bits
            for (id_, system, size), bits in measured.items()
            if (system, size) == (NAVIGATOR, budget)
        }
        for system in SYSTEMS:
            size = 0 if system == NOTHING else budget
            theirs = {id_: measured[id_, system, size] for id_ in ours if (id_, system, size) in measured}
            if not theirs:
                continue
            saved = [theirs[id_] - ours[id_] for id_ in theirs]
            mean = sum(theirs.values()) / len(theirs)
            cells = ["", ""]
            if system != NAVIGATOR:
                low, high = bootstrap(saved)
                cells[0] = f"{sum(saved) / len(saved):+.2f} [{low:+.2f}, {high:+.2f}]"
                cells[1] = f"{sum(each > 0 for each in saved)} of {len(saved)}"
            lines.append([system, f"{budget:,}", str(len(theirs)), f"{mean:.2f}", *cells])
    return markdown(lines)


class _Subject(NamedTuple):
    task: Task
    fix: Fix
    tree: Path
    answers: Mapping[tuple[str, str, int], str]
    """Contexts by task, system and budget."""


def _answers(folder_: Path) -> dict[tuple[str, str, int], str]:
    files = sorted(folder_.glob("*.jsonl"))
    if not files:
        raise RepoMapError(
            f"`{folder_}` holds no answers; run `localize … --baselines --out {folder_}` first."
        )
    return {
        (result.id, result.system, result.budget): result.context
        for file in files
        for result in KeptRows(file, Result)
    }


def _explain(
    task: Task,
    budgets: Sequence[int],
    contexts: Mapping[tuple[str, str, int], str],
    kept: KeptRows[Explained],
    options: argparse.Namespace,
) -> Iterator[Explained]:
    """Yield the rows of a task that are not kept yet; none where its fix is not found."""
    known = {(row.system, row.budget) for row in kept if row.id == task.id}
    wanted = [(NOTHING, 0), *((system, budget) for budget in budgets for system in SYSTEMS[:-1])]
    if all(each in known for each in wanted):
        return
    fix = fix_of(task, options.mirrors)
    if fix is None:
        print(f"{task.id}: the mirror holds no commit that edits the lines of the task.", file=sys.stderr)
        return
    added = cut_lines(fix.added, options.most)
    tree = materialise(task.repo, task.base_commit, options.mirrors, options.trees)
    subject = _Subject(task, fix, tree, contexts)
    for system, budget in wanted:
        context = _context(subject, system, budget)
        if (system, budget) in known or context is None:
            continue
        started = time.perf_counter()
        found = bits_of(options.url, options.model, prompt_of(task, context, fix.path), added)
        yield Explained(
            task.id,
            task.language,
            system,
            budget,
            round(found.bits, 3),
            found.tokens,
            found.before,
            round(time.perf_counter() - started, 1),
            fix.commit,
        )


def _context(subject: _Subject, system: str, budget: int) -> str | None:
    """Return what a system shows for a task, None where its answer is not there."""
    if system == NOTHING:
        return ""
    if system == HEAD:
        path = subject.fix.path
        return head_of(path, (subject.tree / path).read_bytes().decode("utf-8", "replace"), budget)
    return subject.answers.get((subject.task.id, system, budget))


def cut_lines(text: str, most: int) -> str:
    """Return the first whole lines of a text that have ``most`` characters together, at least one line."""
    lines = text.splitlines(keepends=True)
    kept, room = lines[0], most - len(lines[0])
    for line in lines[1:]:
        room -= len(line)
        if room < 0:
            break
        kept += line
    return kept
