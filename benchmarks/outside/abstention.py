"""``python -m benchmarks abstention``: does the answer say so where the repository has nothing to find?

The tasks are those of Agent Retrieval Bench (MIT, github.com/eyuansu62/agent-retrieval-bench): issues that
were resolved outside their repository, queries that were put to a wrong one, and tasks with files to find.
Its rule for a selective answer: where nothing is to be found it has to abstain, and elsewhere not to, with a
file that is to be found among its first 20.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks.agents.report import markdown
from benchmarks.kept_rows import KeptRows, kept_at
from benchmarks.localize import add_folders
from benchmarks.sent import first_answer
from benchmarks.tasks import Task, TaskFileError
from benchmarks.trees import MirrorNotFoundError, files_at_head, materialise
from repo_map.relevance.completeness import Evidence
from repo_map.worktree.git import GitError

NATURAL: Final = "resolved elsewhere"
WRONG: Final = "wrong repository"
POSITIVE: Final = "has files to find"
_FIRST: Final = 20
_SAID: Final = re.compile(r"^Evidence: (\w+)\.", re.MULTILINE)
_GOLD: Final = {
    "code2test": ("related_tests",),
    "comment2context": ("must_context_files", "context_files", "root_cause_files", "related_tests"),
    "trace2code": ("root_cause_files", "related_tests"),
}
"""Task type → the fields of which the first that is filled names the files to find."""
_NO_WORDS: Final = ("source", "line")
_HISTORY_S: Final = 120


class AbstentionRow(msgspec.Struct, frozen=True):
    """What the answers to one task said of themselves, as a line of the file of rows."""

    id: str
    repo: str
    kind: str
    """Whether there is something to find."""
    evidence: dict[str, str]
    """Tokens that an answer may have → the word of its report, empty where there is none."""
    confidence: float
    """Chance, 0 to 1, that all files of the work are among the first five."""
    found: bool
    """Whether a file to find is among the first 20."""

    def abstains(self, most: str, words: Sequence[str]) -> bool:
        return self.evidence[most] in words


RULES: Final = {
    "never": (),
    "says `nothing`": (Evidence.NOTHING,),
    "says `nothing` or `unsure`": (Evidence.NOTHING, Evidence.UNSURE),
}
"""When an answer counts as an abstention."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument(
        "samples",
        nargs="*",
        type=Path,
        metavar="SAMPLES",
        help="its data/benchmark/v2_abstention_pilot/abstention.jsonl, v0_1/samples.jsonl",
    )
    parser.add_argument("--tokens", default="400,1000,2000,4000", metavar="N,…", help="sizes of answers")
    parser.add_argument("--out", type=Path, metavar="FILE", help="keep rows here, and go on from here")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="report these rows, and measure nothing")
    add_folders(parser)


def run(options: argparse.Namespace) -> int:
    """Measure what is not in the rows yet, and print a table for a document."""
    if options.rows is not None:
        print(table(kept_at(options.rows, AbstentionRow)))
        return 0
    if not options.samples or options.mirrors is None:
        print("Say SAMPLES, and --mirrors DIR or BENCH_MIRROR; or --rows FILE.", file=sys.stderr)
        return 2
    sizes = sorted({int(each) for each in options.tokens.split(",")})
    samples = dealt([sample for file in options.samples for sample in read_samples(file)])
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="abstention-")))
        kept = KeptRows(options.out or scratch / "rows.jsonl", AbstentionRow)
        known = {row.id: row for row in kept}
        for task, kind in samples:
            if task.id in known and all(str(most) in known[task.id].evidence for most in sizes):
                continue
            try:
                tree = materialise(
                    task.repo, task.base_commit, options.mirrors, options.trees or scratch / "trees"
                )
            except (MirrorNotFoundError, GitError) as error:
                print(f"{task.id} is left out: {error}", file=sys.stderr, flush=True)
                continue
            if not files_at_head(tree):
                print(f"{task.id} is left out: its tree has no files.", file=sys.stderr, flush=True)
                continue
            row = measure(task, kind, tree, sizes)
            kept.append(row)
            known[task.id] = row
            print(f"{task.id}: {row.kind}, {row.evidence}", file=sys.stderr, flush=True)
        print(table([known[task.id] for task, _ in samples if task.id in known]))
    return 0


def read_samples(file: Path) -> list[tuple[Task, str]]:
    """Read tasks, each with its kind; the goal is all that a query says.

    Raises:
        TaskFileError: the file can't be read.
    """
    try:
        return [_sample(json.loads(line)) for line in file.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError, KeyError) as error:
        raise TaskFileError(
            f"Agent Retrieval Bench's samples can't be read from `{file}` ({error}); name its JSON lines."
        ) from None


def dealt(samples: Sequence[tuple[Task, str]]) -> list[tuple[Task, str]]:
    """Return samples in turn from each kind, so that a run which is stopped has some of each."""
    by_kind = [[each for each in samples if each[1] == kind] for kind in (NATURAL, WRONG, POSITIVE)]
    turns = itertools.zip_longest(*by_kind)
    return [each for turn in turns for each in turn if each is not None]


def _sample(said: dict[str, Any]) -> tuple[Task, str]:
    gold, query = said["gold"], said["query"]
    words = [str(value) for name, value in sorted(query.items()) if name not in _NO_WORDS and value]
    files: list[Any] = next((gold[name] for name in _GOLD.get(said["task_type"], ()) if gold.get(name)), [])
    paths = [each["path"] if isinstance(each, dict) else each for each in files]
    kind = POSITIVE if not gold.get("no_gold") else NATURAL if query["source"] == "issue" else WRONG
    return Task(said["id"], said["repo"], said["base_commit"], "", "\n".join(words), paths), kind


def measure(task: Task, kind: str, tree: Path, sizes: Sequence[int]) -> AbstentionRow:
    """Return the row of a task: what the answer of each size says of itself."""
    from navigator.workspaces.workspace import Workspace  # noqa: PLC0415 - figures of kept rows need no engine
    from repo_map.history.history import read_history  # noqa: PLC0415 - as above
    from repo_map.index import build_index  # noqa: PLC0415 - as above

    index = build_index(tree, workers=1)
    workspace = Workspace(index, read_history(tree, seconds=_HISTORY_S))
    sent = {most: first_answer(workspace, task, most) for most in sizes}
    relevance = sent[sizes[0]].relevance
    index.release()
    return AbstentionRow(
        task.id,
        task.repo,
        kind,
        {str(most): next(iter(_SAID.findall(each.text)), "") for most, each in sent.items()},
        relevance.sufficiency.confidence,
        any(file.path in task.gold_files for file in relevance.files[:_FIRST]),
    )


def table(rows: Sequence[AbstentionRow]) -> str:
    """Return for each size and rule how often it abstains, and how often that or the answer is right."""
    kinds = [kind for kind in (NATURAL, WRONG, POSITIVE) if any(row.kind == kind for row in rows)]
    lines: list[Sequence[str]] = [
        ("tokens", "abstains where it", *(f"{kind}: abstains" for kind in kinds), "right in all", "balanced")
    ]
    sizes = sorted({most for row in rows for most in row.evidence}, key=int)
    for most in sizes:
        for rule, words in RULES.items():
            if not words and most != sizes[0]:
                continue  # What never abstains is the same at every size.
            told = [row for row in rows if most in row.evidence]
            by_kind = [_share([row for row in told if row.kind == kind], most, words) for kind in kinds]
            right = sum(is_right(row, most, words) for row in told)
            lines.append(
                (
                    *(f"{int(most):,}" if words else "any", rule, *by_kind, f"{right} of {len(told)}"),
                    f"{balanced(told, most, words):.2f}",
                )
            )
    order = f"Area under the ROC curve of its confidence, .50 being chance: {told_apart(rows):.2f}."
    return f"{markdown(lines)}\n\n{order}"


def is_right(row: AbstentionRow, most: str, words: Sequence[str]) -> bool:
    """Say whether a selective answer is right by the benchmark's rule."""
    return row.found and not row.abstains(most, words) if row.kind == POSITIVE else row.abstains(most, words)


def balanced(rows: Sequence[AbstentionRow], most: str, words: Sequence[str]) -> float:
    """Return the mean of the shares that abstain where they should and that do not where they should not."""
    nothing = [row.abstains(most, words) for row in rows if row.kind != POSITIVE]
    something = [row.abstains(most, words) for row in rows if row.kind == POSITIVE]
    if not nothing or not something:
        return float("nan")
    return (sum(nothing) / len(nothing) + 1 - sum(something) / len(something)) / 2


def told_apart(rows: Sequence[AbstentionRow]) -> float:
    """Return the area under the ROC curve of the confidence; 0.5 is chance."""
    nothing = [row.confidence for row in rows if row.kind != POSITIVE]
    something = [row.confidence for row in rows if row.kind == POSITIVE]
    won = sum((high > low) + (high == low) / 2 for high in something for low in nothing)
    return won / (len(nothing) * len(something)) if nothing and something else float("nan")


def _share(rows: Sequence[AbstentionRow], most: str, words: Sequence[str]) -> str:
    return f"{sum(row.abstains(most, words) for row in rows)} of {len(rows)}"
