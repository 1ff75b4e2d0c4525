"""The command line of the measurements of the check."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from benchmarks.check.commits import Past
from benchmarks.check.forgotten import Case, Row, cases_of, run_case
from benchmarks.check.tests_chosen import TestsRow, test_rows
from repo_map.impact.findings import Finding


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add = parser.add_argument
    add("repos", nargs="+", metavar="OWNER/NAME", help="repositories, as the mirrors are called")
    add("--mirrors", type=Path, required=True, help="a folder with a bare clone of each")
    add("--trees", type=Path, default=Path("trees"), help="where trees and their indexes are kept")
    add("--count", type=int, default=10, help="commits of each repository")
    add("--reach", type=int, default=2000, help="commits that are looked at for those that fit")
    add("--out", type=Path, required=True, help="a file of rows, one JSON object a line, added to")
    add("--tests", action="store_true", help="count the tests that are chosen, in place of forgotten uses")
    add("--explain", action="store_true", help="tell on stderr what was found and what was not")


def run(options: argparse.Namespace) -> None:
    """Measure, and print the figures of all rows of the file."""
    if options.tests:
        _run_tests(options)
        return
    for repo in options.repos:
        past = Past(repo, options.mirrors, options.trees)
        done = {row.commit for row in _rows(options.out) if row.repo == repo}
        for number, case in enumerate(cases_of(past, options.reach)):
            if number >= options.count:
                break
            if case.commit[:12] in done:
                continue
            row, true, found = run_case(past, case)
            with options.out.open("a") as out:
                out.write(json.dumps(row._asdict()) + "\n")
            if options.explain:
                _explain(case, row, true, found)
    print(_summary(_rows(options.out)))


def _explain(case: Case, row: Row, true: Sequence[Finding], found: Sequence[Finding]) -> None:
    """Tell on stderr what was found, what not, and what is told of the commit as it is."""
    print(
        f"{row.repo} {row.commit} {row.kind} `{case.name}` found={row.found} {row.seconds}s",
        file=sys.stderr,
    )
    for line in case.hunk.removed[:3]:
        print(f"    - {case.path}:{case.hunk.start + 1} {line.strip()[:110]}", file=sys.stderr)
    for each in true:
        print(
            f"    ALARM {each.is_sure} {each.kind} {each.path}:{each.line} {each.message}",
            file=sys.stderr,
        )
    if not row.found:
        for each in [each for each in found if each not in true][:4]:
            print(f"    other {each.path}:{each.line} {each.message}", file=sys.stderr)


def _run_tests(options: argparse.Namespace) -> None:
    for repo in options.repos:
        past = Past(repo, options.mirrors, options.trees)
        for row in islice(test_rows(past, options.reach), options.count):
            with options.out.open("a") as out:
                out.write(json.dumps(row._asdict()) + "\n")
    rows = [TestsRow(**json.loads(line)) for line in options.out.read_text().splitlines()]
    edited = max(sum(row.edited for row in rows), 1)
    found, named = sum(row.found for row in rows), sum(row.named for row in rows)
    print(
        f"{len(rows)} commits edit {edited} files of tests: {found / edited:.2f} are among those chosen, "
        f"{named / edited:.2f} among those of the same name"
    )


def _rows(path: Path) -> list[Row]:
    return [Row(**json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []


def _summary(rows: Sequence[Row]) -> str:
    lines = ["| language | commits | found | share | alarms | a commit |", "|---|---|---|---|---|---|"]
    for language in [*sorted({row.language for row in rows}), ""]:
        own = [row for row in rows if not language or row.language == language]
        found, alarms = sum(row.found for row in own), sum(row.alarms for row in own)
        count = max(len(own), 1)
        lines.append(
            f"| {language or 'all'} | {len(own)} | {found} | {found / count:.2f} "
            f"| {alarms} | {alarms / count:.2f} |"
        )
    return "\n".join(lines)
