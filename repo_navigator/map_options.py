"""What the commands of ``repo-map`` take alike: the repository, how it is indexed, and the plan."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from repo_map.index.progress import RemainingTime
from repo_map.limits import read_limits
from repo_navigator.options import argument, count, flag, folder, quiet_switch, repeated, switch
from repo_navigator.terminal import read_plan

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.plan.model import FlightPlan


@dataclass(frozen=True, kw_only=True)
class IndexOptions:
    """The repository, and how it is indexed."""

    path: Path = argument("PATH", "the repository's folder", read=folder, nargs=None)
    json: bool = switch("--json", "print one JSON object instead of text")
    workers: int | None = flag("--workers", "N", "maximum number of parsing processes", read=count)
    unmask: tuple[str, ...] = repeated("--unmask", "GLOB", "show secrets in files that match this glob")
    no_cache: bool = switch("--no-cache", "parse everything again and cache nothing")
    quiet: bool = quiet_switch()


@dataclass(frozen=True, kw_only=True)
class MapOptions(IndexOptions):
    """The flight plan to start from, and how its tokens are counted."""

    plan: Path | None = flag("-C --plan --config", "FILE", "a flight plan in YAML, - for stdin", read=Path)
    tokenizer: Literal["both", "cl100k", "o200k"] = flag(
        "--tokenizer",
        "",
        "which vocabulary counts tokens: the larger count of both (the default), or one alone",
        choices=("both", "cl100k", "o200k"),
        default="both",
    )


def given_plan(options: MapOptions) -> FlightPlan | None:
    """Return the flight plan that is named; raises ``FlightPlanError`` where it is not well-formed."""
    if not options.plan:
        return None
    from repo_map.plan.yaml import parse_plan  # noqa: PLC0415 - YAML loads only for plans that are text

    return parse_plan(read_plan(options.plan))


def open_index(options: IndexOptions) -> Index:
    """Index the repository, with progress on a terminal."""
    from repo_map.index.build import build_index  # noqa: PLC0415 - loads numpy: flags and help come first
    from repo_map.index.store import Store  # noqa: PLC0415 - as above

    store = Store(None) if options.no_cache else None
    progress = ProgressLine(shown=not options.quiet and sys.stderr.isatty())
    try:
        return build_index(
            options.path,
            store=store,
            workers=options.workers,
            on_progress=progress.report,
            unmasked=options.unmask,
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
