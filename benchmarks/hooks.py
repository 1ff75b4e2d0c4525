"""``python -m benchmarks hooks``: does what hooks said in replayed runs name what was opened next?"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.agents.report import markdown
from benchmarks.replay.hooked import CRAWL, EDIT, SEARCH, START, Said
from benchmarks.replay.runs import read_rows

_HEAD: Final = (
    *("said", "chances", "spoken", "tokens each", "file opened or edited next", "later", "file edited later"),
    *("false", "false for a reader", "silent where the search was right"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the report's arguments."""
    parser.add_argument(
        "--rows", type=Path, required=True, metavar="FILE", help="what hooks said, as the replay keeps it"
    )
    parser.add_argument("--json", action="store_true", help="print the tables' lines as one JSON object")


def run(options: argparse.Namespace) -> int:
    """Report what hooks said in replayed runs."""
    rows = read_rows(options.rows, Said)
    runs = len({(row.id, row.agent) for row in rows})
    events = [event for event in (SEARCH, CRAWL, EDIT, START) if any(row.event == event for row in rows)]
    lines = [_HEAD, *(_line(rows, event, "", runs) for event in events)]
    kinds = sorted({row.kind for row in rows if row.event == SEARCH and row.kind})
    lines[2:2] = [_line(rows, SEARCH, kind, runs) for kind in kinds]
    if options.json:
        print(json.dumps({"lines": lines}))
    else:
        print(f"{runs} runs of {len({row.id for row in rows})} tasks\n\n{markdown(lines)}")
    return 0


def _line(rows: Sequence[Said], event: str, kind: str, runs: int) -> tuple[str, ...]:
    mine = [row for row in rows if row.event == event]
    spoken = [row for row in mine if row.kind and kind in ("", row.kind)]
    judged = [row for row in spoken if row.leads]
    right = [row for row in mine if row.was_right]
    silent = len(right) - sum(row.was_right for row in spoken)
    searches = event == SEARCH
    return (
        f"{event}: {kind}" if kind else event,
        f"{len(mine):,} searches" if searches else f"{runs:,} runs",
        f"{len(spoken):,} ({_percent(len(spoken), len(mine) if searches else runs)})",
        f"{sum(row.tokens for row in spoken) / max(1, len(spoken)):.0f}",
        *(_share(judged, field) for field in ("next_file", "later_file", "edited_file")),
        _of(sum(not row.later_file for row in judged), len(judged)),
        _of(sum(not row.is_sound for row in spoken), len(spoken)) if searches else "–",
        _of(silent, len(right)) if searches else "–",
    )


def _share(rows: Sequence[Said], field: str) -> str:
    return _of(sum(getattr(row, field) for row in rows), len(rows))


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({_percent(part, whole)})" if whole else "–"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.0f} %"
