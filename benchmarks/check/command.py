"""``python -m benchmarks check``: what the check of an edit finds in real commits."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from benchmarks.check.commits import Past
from benchmarks.check.forgotten import Case, ForgottenRow, cases_of, without_use
from benchmarks.check.summaries import forgotten_summary, made_summary, tests_summary
from benchmarks.check.whole import MadeRow, TestsRow, made_rows, test_rows
from benchmarks.rows import RowFile
from repo_map.check.model import Finding

EXAMPLES = ("pallets/jinja --mirrors MIRRORS --out check.jsonl",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add = parser.add_argument
    add("repos", nargs="*", metavar="OWNER/NAME", help="repositories, as the mirrors are called; none: print")
    add("--mirrors", type=Path, help="a folder with a bare clone of each")
    add("--trees", type=Path, default=Path("trees"), help="where trees and their indexes are kept")
    add("--count", type=int, default=10, help="commits of each repository")
    add("--reach", type=int, default=2000, help="commits that are looked at for those that fit")
    add("--out", type=Path, required=True, help="a file of rows, one JSON object a line, added to")
    add("--explain", action="store_true", help="tell on stderr what was found and what was not")
    add("--made", action="store_true", help="count what is told of commits as they were made")
    add("--tests", action="store_true", help="count the tests that are chosen")


def run(options: argparse.Namespace) -> None:
    """Measure, and print the figures of all rows of the file."""
    kinds = (
        (options.tests, _choose_tests),
        (options.made, _read_as_made),
        (True, _leave_out),
    )
    next(measure for is_meant, measure in kinds if is_meant)(options)


def _choose_tests(options: argparse.Namespace) -> None:
    kept = RowFile(options.out, TestsRow)
    for past in _pasts(options):
        done = {(row.repo, row.commit) for row in kept}
        rows = islice(test_rows(past, options.reach), options.count)
        kept.append(*(row for row in rows if (row.repo, row.commit) not in done))
    print(tests_summary(list(kept)))


def _read_as_made(options: argparse.Namespace) -> None:
    kept = RowFile(options.out, MadeRow)
    for past in _pasts(options):
        done = {row.commit for row in kept if row.repo == past.repo}
        for each, told in islice(made_rows(past, options.reach, done), max(options.count - len(done), 0)):
            kept.append(each)
            if options.explain and told:
                _tell("\n    ".join((f"{each.repo} {each.commit}", *told)))
    print(made_summary(list(kept)))


def _leave_out(options: argparse.Namespace) -> None:
    kept = RowFile(options.out, ForgottenRow)
    done = {(row.repo, row.commit) for row in kept}
    for past in _pasts(options):
        for case in islice(cases_of(past, options.reach), options.count):
            if (past.repo, case.commit[:12]) not in done:
                _forget(past, case, kept, explain=options.explain)
    print(forgotten_summary(list(kept)))


def _pasts(options: argparse.Namespace) -> Iterator[Past]:
    return (Past(repo, options.mirrors, options.trees) for repo in options.repos)


def _forget(past: Past, case: Case, rows: RowFile[ForgottenRow], *, explain: bool) -> None:
    row, true, found = without_use(past, case)
    rows.append(row)
    if not explain:
        return
    _tell(f"{row.repo} {row.commit} {row.kind} `{row.name}` found={row.found} {row.seconds}s")
    for line in case.use.hunk.removed[:3]:
        _tell(f"    - {row.path}:{row.line} {line.strip()[:110]}")
    for each in true:
        _tell(f"    ALARM {_short(each)}")
    for each in [each for each in found if each not in true][:4] if not row.found else ():
        _tell(f"    other {_short(each)}")


def _short(finding: Finding) -> str:
    return f"{finding.is_sure} {finding.kind} {finding.path}:{finding.line} {finding.message}"


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
