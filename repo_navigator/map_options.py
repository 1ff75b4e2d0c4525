"""What the commands of ``repo-map`` take alike: the repository, how it is indexed, and the plan."""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from repo_map.index.progress import RemainingTime
from repo_map.limits import read_limits
from repo_navigator.cli import Parser, nonempty, positive
from repo_navigator.terminal import read_plan

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.plan.model import FlightPlan


def add_map_arguments(parser: Parser) -> None:
    """Add the repository, how it is indexed, and the flight plan to start from."""
    parser.add_argument("path", metavar="PATH", type=nonempty, help="the repository's folder")
    parser.add_argument(
        "-C", "--plan", "--config", metavar="FILE", type=Path, help="a flight plan in YAML, - for stdin"
    )
    parser.add_argument(
        "--tokenizer",
        choices=("both", "cl100k", "o200k"),
        default="both",
        help="which vocabulary counts tokens: the larger count of both (the default), or one alone",
    )
    parser.add_switch("--json", "print one JSON object instead of text")
    parser.add_argument("--workers", metavar="N", type=positive, help="maximum number of parsing processes")
    parser.add_argument(
        "--unmask",
        metavar="GLOB",
        action="append",
        default=[],
        help="show secrets in files that match this glob",
    )
    parser.add_switch("--no-cache", "parse everything again and cache nothing")
    parser.add_switch("-q", "--quiet", "print only errors on stderr")


def given_plan(args: Namespace) -> FlightPlan | None:
    """Return the flight plan that is named; raises ``FlightPlanError`` where it is not well-formed."""
    if not args.plan:
        return None
    from repo_map.plan.yaml import parse_plan  # noqa: PLC0415 - YAML loads only for plans that are text

    return parse_plan(read_plan(args.plan))


def open_index(args: Namespace) -> Index:
    """Index the repository, with progress on a terminal."""
    from repo_map.index.build import build_index  # noqa: PLC0415 - loads numpy: flags and help come first
    from repo_map.index.store import Store  # noqa: PLC0415 - as above

    store = Store(None) if args.no_cache else None
    progress = ProgressLine(shown=not args.quiet and sys.stderr.isatty())
    try:
        return build_index(
            Path(args.path),
            store=store,
            workers=args.workers,
            on_progress=progress.report,
            unmasked=args.unmask,
            limits=read_limits(os.environ),
        )
    finally:
        progress.clear()


_QUIET_SECONDS = 1.0


class ProgressLine:
    """Hears how far an index is, and shows it on stderr once the work has lasted a second."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._started = time.monotonic()
        self._drawn = ""
        self._remaining = RemainingTime()

    def report(self, phase: str, done: int, total: int) -> None:
        """Show how far a phase is and how long it will go on, once the work has lasted a second."""
        left = self._remaining.words(done, total) if phase == "parsing" else ""
        if not self._shown or time.monotonic() - self._started < _QUIET_SECONDS:
            return
        line = f"{phase} {done:,} of {total:,}{left}"
        sys.stderr.write("\r" + line.ljust(len(self._drawn)))
        sys.stderr.flush()
        self._drawn = line

    def clear(self) -> None:
        """Leave no trace of the line."""
        if self._drawn:
            sys.stderr.write("\r" + " " * len(self._drawn) + "\r")
            sys.stderr.flush()
