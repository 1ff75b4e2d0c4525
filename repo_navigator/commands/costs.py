"""List what each part of a map would cost in tokens at each level, without drawing it."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from repo_map import globs
from repo_map.plan.levels import level_label
from repo_navigator.cli import Parser
from repo_navigator.map_options import add_map_arguments, given_plan, open_index
from repo_navigator.terminal import print_text

if TYPE_CHECKING:
    from repo_map.outline.costs import CostManifest, CostRow


EXAMPLES = (".", ". --by glob --glob 'src/**'")


def add_arguments(parser: Parser) -> None:
    """Add what is priced, and what a row is."""
    parser.add_argument(
        "--by",
        choices=("glob", "file"),
        default="file",
        help="what a row is: a file (the default), or the files of a glob",
    )
    parser.add_values("--glob", "GLOB", "a row (--by glob), or which files to list")
    add_map_arguments(parser)


def run(args: Namespace) -> None:
    """Print the table, or the JSON object, that the options ask for."""
    print_text(_priced(args))


def _priced(args: Namespace) -> str:
    plan = given_plan(args)
    index = open_index(args)
    from repo_map.outline.costs import price_index, price_plan  # noqa: PLC0415 - loads numpy: flags come first
    from repo_map.outline.lint import find_unmatched  # noqa: PLC0415 - as above

    manifest = price_index(index)
    rows = _rows(manifest, args)
    total = manifest.total()
    planned = price_plan(manifest, plan) if plan else None
    notes = find_unmatched(index, plan) if plan else ()
    if args.json:
        data = {"exact": manifest.exact, "total": total._asdict(), "rows": [row._asdict() for row in rows]}
        priced = {"plan": planned, "notes": notes} if plan else {}
        return json.dumps(data | priced, ensure_ascii=False, indent=2) + "\n"
    if not args.quiet:
        sys.stderr.write("".join(f"repo-map: {note}\n" for note in notes))
    text = _table([*rows, total], exact=manifest.exact)
    return text if planned is None else f"{text}the plan, drawn in full: {planned:,}\n"


def _rows(manifest: CostManifest, args: Namespace) -> list[CostRow]:
    if args.by == "glob":
        return manifest.by_glob(args.glob or ["**"])
    is_listed = (lambda path: any(globs.matches(each, path) for each in args.glob)) if args.glob else bool
    return [row for row in manifest.by_file() if is_listed(row.name)]


def _table(rows: Sequence[CostRow], *, exact: bool) -> str:
    cells: list[tuple[str, ...]] = [
        ("", "files", *(f"{level} {level_label(level)}" for level in range(1, 5)))
    ]
    cells += [(row.name, f"{row.files:,}", *(f"{tokens:,}" for tokens in row.levels)) for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(6)]
    lines = [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in cells
    ]
    how = "counted" if exact else "estimated, sums within about 5 %"
    return "\n".join([*(line.rstrip() for line in lines), f"tokens per level, {how}", ""])
