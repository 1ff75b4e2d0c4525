"""``python -m benchmarks claims``: which command makes which published figure, and whether they still agree.

A figure agrees where the command, run on rows that are kept in the repository, prints what the page says.
Minus signs and line breaks aside, that is letter by letter.
"""

from __future__ import annotations

import argparse
import contextlib
import io
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.agents.report import markdown

ROOT: Final = Path(__file__).parents[1]
_REPLAY: Final = ("replay", "--rows", "docs/laboratory/benchmark-replay.jsonl")
_EXPLAIN: Final = (
    *("explain", "tasks.jsonl", "--answers", "answers", "--figures", "--out"),
    "benchmarks/small_model/results/explain.jsonl",
)
_ORDERS: Final = ("orders", "--figures", "--out", "benchmarks/small_model/results/orders.jsonl")


class Cell(NamedTuple):
    """A cell of a table that a command prints."""

    row: tuple[str, ...]
    """How the row begins."""
    column: str


class Claim(NamedTuple):
    """What a page says by a command."""

    page: str
    command: tuple[str, ...]
    words: str = ""
    """A text of the page with ``{}`` for each figure.

    Empty for all tables that the command prints, or for all that it prints where it prints none.
    """
    cells: tuple[Cell, ...] = ()


_CONTEXT: Final = ("contextbench", "--rows", "docs/laboratory/contextbench.jsonl")


CLAIMS: Final = (
    Claim("docs/laboratory/benchmark-replay.md", _REPLAY),
    Claim("docs/laboratory/check.md", ("check", "--out", "docs/laboratory/check-fresh.jsonl")),
    Claim("docs/laboratory/check.md", ("check", "--out", "docs/laboratory/check-further.jsonl")),
    Claim("docs/laboratory/check.md", ("check", "--loop", "--out", "docs/laboratory/check-loop.jsonl")),
    Claim("docs/laboratory/check.md", ("check", "--made", "--out", "docs/laboratory/check-made.jsonl")),
    Claim(
        "docs/laboratory/check.md",
        ("check", "--out", "docs/laboratory/check-forgotten.jsonl"),
        "{} commits of 14 repositories were read, and the check was repaired after each miss. "
        "It finds {} of {} uses",
        (Cell(("all",), "commits"), Cell(("all",), "found"), Cell(("all",), "uses")),
    ),
    Claim(
        "docs/laboratory/check.md",
        ("check", "--alone", "--out", "docs/laboratory/check-alone.jsonl"),
        "The check names {} of {} lines",
        (Cell(("all",), "told"), Cell(("all",), "places")),
    ),
    Claim("docs/laboratory/check.md", ("check", "--tests", "--out", "docs/laboratory/check-tests.jsonl")),
    Claim("docs/laboratory/hooks.md", ("hooks", "--rows", "docs/laboratory/hooks-said-java.jsonl")),
    Claim("docs/laboratory/hooks.md", ("hooks", "--rows", "docs/laboratory/hooks-said-unseen.jsonl")),
    Claim("docs/laboratory/hooks.md", ("hooks", "--rows", "docs/laboratory/hooks-said-python.jsonl")),
    Claim("docs/laboratory/hooks.md", ("hooks", "--rows", "docs/laboratory/hooks-said-java-runs.jsonl")),
    Claim(
        "docs/laboratory/benchmark-replay.md",
        ("replay", "--rows", "docs/laboratory/benchmark-replay-java.jsonl"),
        "by the strict rule the answer of 1,000 tokens changes the cost by {}. By the generous one it is {}. "
        "With all hooks it is {}, strict",
        (
            Cell(("answer as sent", "1,000", "1 %"), "cost, strict"),
            Cell(("answer as sent", "1,000", "1 %"), "cost, generous"),
            Cell(("hooks, all", "–", "0 %"), "cost, strict"),
        ),
    ),
    Claim("docs/laboratory/benchmark.md", _CONTEXT),
    Claim("docs/laboratory/benchmark.md", ("abstention", "--rows", "docs/laboratory/abstention.jsonl")),
    Claim(
        "docs/laboratory/small-model.md",
        _ORDERS,
        "It obeyed {} order of {} with the markers and none without",
        (Cell(("all",), "obeyed with the fence"), Cell(("all",), "orders")),
    ),
    *(
        Claim(
            "docs/laboratory/small-model.md",
            _EXPLAIN,
            f"| {context} | 2,000 | {{}} | {{}} | {{}} | {{}} |",
            tuple(
                Cell((context, "2,000"), column)
                for column in ("tasks", "bits a token", "navigator less (95 %)", "navigator better in")
            ),
        )
        for context in ("BM25 functions", "the edited file's head", "nothing")
    ),
    Claim(
        "docs/laboratory/performance.md", ("growth", "--rounds", "0", "--out", "docs/laboratory/growth.jsonl")
    ),
    Claim("docs/laboratory/study.md", ("study", "--power")),
    Claim(
        "README.md",
        _REPLAY,
        "the cost changes by {}.",
        (Cell(("answer as sent", "1,000", "3 %"), "cost, strict"),),
    ),
    Claim(
        "README.md",
        _REPLAY,
        "If half of the lines are enough, it changes by {}.",
        (Cell(("answer as sent", "1,000", "3 %"), "cost, generous"),),
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's argument."""
    parser.add_argument(
        "--root", type=Path, default=ROOT, metavar="DIR", help="the folder of pages and rows (this one)"
    )


def run(options: argparse.Namespace) -> int:
    """Print every claim with its command; return 1 where a page and its rows part."""
    lines: list[Sequence[str]] = [("page", "claim", "made by", "agrees")]
    parted = False
    for claim in CLAIMS:
        missing = list(differences(claim, options.root))
        parted |= bool(missing)
        what = claim.words or "its tables"
        agrees = "yes" if not missing else f"NO: {missing[0]}"
        lines.append((claim.page, what, f"`python -m benchmarks {' '.join(claim.command)}`", agrees))
    print(markdown(lines))
    return 1 if parted else 0


def differences(claim: Claim, root: Path) -> Iterator[str]:
    """Yield what the rows give and the page does not say."""
    page = (root / claim.page).read_text("utf-8")
    printed = _printed(claim.command, root)
    if not claim.words:
        lines = {_plain(line) for line in page.splitlines()}
        told = [line for line in printed.splitlines() if line.strip()]
        tables = [line for line in told if line.startswith("|")]
        yield from (line for line in tables or told if _plain(line) not in lines)
        return
    said = claim.words.format(*(_cell(printed, cell) for cell in claim.cells))
    if _plain(said) not in _plain(page):
        yield said


def _plain(text: str) -> str:
    return " ".join(text.replace("−", "-").split())


def _cell(printed: str, wanted: Cell) -> str:
    """Return the only cell of that column in a row that begins so."""
    head: list[str] = []
    found: list[str] = []
    for line in printed.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")] if line.startswith("|") else []
        head = cells if cells and not head else head if cells else []
        if wanted.column in head and tuple(cells[: len(wanted.row)]) == wanted.row:
            found.append(cells[head.index(wanted.column)])
    if len(found) != 1:
        raise ValueError(f"{len(found)} cells of column {wanted.column} begin with {wanted.row}")
    return found[0]


@lru_cache
def _printed(command: tuple[str, ...], root: Path) -> str:
    from benchmarks.__main__ import main  # noqa: PLC0415 - it lists this command among others

    told = io.StringIO()
    # Rows are named as a reader of the page names them, from the repository's folder.
    with contextlib.chdir(root), contextlib.redirect_stdout(told):
        if code := main(command):
            raise RuntimeError(f"`python -m benchmarks {' '.join(command)}` ended with {code}.")
    return told.getvalue()
