"""``python -m benchmarks relations``: precision and recall of callers and uses against a language server.

    python -m benchmarks relations --language go TREE...

Of each tree some hundred definitions are taken, the same ones each time. The answers of the index are
compared with the references that the language server of the language finds for each. Nothing is downloaded:
the message about a missing server names the command that installs it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from benchmarks.relations.client import ServerError
from benchmarks.relations.judging import Answers, Counts, Jury, Verdict, count
from benchmarks.relations.sampling import lines_of, sample
from benchmarks.relations.servers import JUDGES, JudgeMissingError, find_program, running
from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.languages.kinds import FUNCTIONS
from repo_navigator.cli import Parser

EXAMPLES = ("--language go gin echo",)

_COLUMNS = (
    "language | tree | definitions | used | as facts: precision | recall | likely too: precision | recall"
    " | unseen | judge s"
)


class Figures(NamedTuple):
    """One tree."""

    language: str
    tree: str
    counts: Counts
    judge_seconds: float
    failures: int
    """Definitions that the judge gave no answer to; in no figure."""


def add_arguments(parser: Parser) -> None:
    """Add the measurement's arguments."""
    parser.add_value("trees", "TREE", "repositories, checked out", nargs="+", type=Path)
    parser.add_argument("--language", required=True, choices=sorted(JUDGES), help="whose server judges")
    parser.add_value("--definitions", "N", "how many of each tree (300)", type=int, default=300)
    parser.add_value("--server", "PROGRAM", "the language server's program, if it is not on PATH")
    parser.add_value("--deadline", "S", "seconds for each answer (300)", type=float, default=300.0)
    parser.add_value(
        "--answers", "FOLDER", "a folder to keep the judge's answers in, and take them from", type=Path
    )
    parser.add_switch("--json", "print one JSON object a tree")
    parser.add_value("--differences", "N", "print so many wrong and missing edges", type=int, default=0)


def run(options: argparse.Namespace) -> int:
    """Judge every tree and print one line for each; return 2 where that can't be done."""
    try:
        if not options.json:
            print(f"| {_COLUMNS} |\n|{'---|' * len(_COLUMNS.split('|'))}", flush=True)
        for tree in options.trees:
            figures, differences = measure(tree.resolve(), options)
            print(json.dumps(as_data(figures)) if options.json else row_of(figures), flush=True)
            for line in differences[: options.differences]:
                print(line, file=sys.stderr)
    except (JudgeMissingError, ServerError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def measure(tree: Path, options: argparse.Namespace) -> tuple[Figures, list[str]]:
    """Judge one tree; return its figures, and each difference as a line of text."""
    judge = JUDGES[options.language]
    with tempfile.TemporaryDirectory(prefix="relations-") as folder:
        cache = Path(folder)
        index = build_index(tree, store=Store(cache))
        chosen = sample(index, judge.languages, options.definitions)
        files = [path for file, path in enumerate(index.paths) if index.language(file) in judge.languages]
        file = options.answers / f"{tree.name}.{options.language}.json" if options.answers else None
        verdicts, failures = [], 0
        with ExitStack() as servers:
            answers = Answers(
                file,
                lambda: servers.enter_context(
                    running(
                        judge,
                        find_program(options.language, options.server),
                        tree,
                        files,
                        options.deadline,
                    )
                ),
            )
            jury = Jury(index, judge, answers)
            try:
                for each in chosen:
                    try:
                        verdicts.append(jury.judge(each))
                    except ServerError:
                        failures += 1
                        if failures > len(chosen) // 3 + 3:
                            raise
            finally:
                answers.save()
        counts = count(verdicts, jury.edges)
        figures = Figures(options.language, tree.name, counts, answers.seconds, failures)
        return figures, list(differences_of(index, verdicts, jury))


def differences_of(index: Index, verdicts: Sequence[Verdict], jury: Jury) -> Iterator[str]:
    """Yield what was stated or likely and does not hold, then what was not stated and should be."""
    for verdict in verdicts:
        file, row = verdict.sample.place
        what = (
            f"{index.paths[file]}:{index.definitions(file)[row].sig_start} {index.qualified_name(file, row)}"
        )
        true = jury.edges(verdict.used)
        for site in sorted(verdict.stated - verdict.unseen):
            if not jury.edges([site]) <= true:
                yield f"wrong    {what} <- {_shown(index, site.file, site.line)}"
        for site in sorted(verdict.likely - verdict.stated - verdict.unseen):
            if not jury.edges([site]) <= true:
                yield f"unlikely {what} <- {_shown(index, site.file, site.line)}"
        wanted = verdict.called if verdict.sample.kind in FUNCTIONS else verdict.used
        stated = jury.edges(verdict.stated)
        for site in sorted(wanted):
            if not jury.edges([site]) <= stated:
                yield f"missing  {what} <- {_shown(index, site.file, site.line)}"


def _shown(index: Index, file: int, line: int) -> str:
    return f"{index.paths[file]}:{line} {lines_of(index, file)[line - 1].strip()[:90]}"


def as_data(figures: Figures) -> dict[str, object]:
    """Return the figures as JSON values."""
    counts = figures.counts
    shares = {
        name: each._asdict() | {"precision": each.precision, "recall": each.recall}
        for name, each in (("edges", counts.edges), ("likely", counts.likely))
    }
    return {**figures._asdict(), "counts": counts._asdict() | shares}


def row_of(figures: Figures) -> str:
    """Return the figures as a row of the table."""
    counts = figures.counts
    shares = [
        f"{share:.3f}" for each in (counts.edges, counts.likely) for share in (each.precision, each.recall)
    ]
    cells = [
        *(figures.language, figures.tree, str(counts.definitions), str(counts.used), *shares),
        *(str(counts.unseen), f"{figures.judge_seconds:.0f}"),
    ]
    return f"| {' | '.join(cells)} |"
