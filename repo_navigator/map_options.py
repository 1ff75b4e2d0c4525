"""What the commands of ``repo-map`` take alike: the repository, how it is indexed, and the plan."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    parser.add_value("path", "PATH", "the repository's folder", type=nonempty)
    parser.add_value("-C", "--plan", "--config", "FILE", "a flight plan in YAML, - for stdin", type=Path)
    parser.add_switch("--json", "print one JSON object instead of text")
    parser.add_value("--workers", "N", "maximum number of parsing processes", type=positive)
    parser.add_values("--unmask", "GLOB", "show secrets in files that match this glob")
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

    with _progress(shown=not args.quiet and sys.stderr.isatty()) as report:
        return build_index(
            Path(args.path),
            store=Store(None) if args.no_cache else None,
            workers=args.workers,
            on_progress=report,
            unmasked=args.unmask,
            limits=read_limits(os.environ),
        )


@contextmanager
def _progress(*, shown: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Yield what takes how far an index is, and show it on the terminal until the block ends."""
    if not shown:
        yield lambda *_: None
        return
    from rich.console import Console  # noqa: PLC0415 - only a terminal shows progress

    remaining = RemainingTime()
    with Console(stderr=True).status("listing files") as status:

        def report(phase: str, done: int, total: int) -> None:
            left = remaining.words(done, total) if phase == "parsing" else ""
            status.update(f"{phase} {done:,} of {total:,}{left}")

        yield report
