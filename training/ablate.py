"""What each kind of signal brings: cross-validated figures without it.

    python -m training.ablate --rows ROWS

ROWS are the signals that ``training.learn_weights`` keeps. Weights are learned once a fold; each line
takes one kind of signal away from them, without learning anew, and says by how much the figures differ from
those with all signals, with the 95 % bootstrap interval of the difference over tasks.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from repo_map.relevance.model import Weights
from training.estimated_packet import MEASURES, measure
from training.learn_weights import FORMULA, learn_folds
from training.learning_report import Results, difference, interval, mean
from training.signal_rows import TaskRows, read_folder

LEVERS = {
    "which part of the goal says it": (r"(?:top:)?(?:f|u|um)\.(?:title|code|inline|error|wall)"),
    "names, signatures, docs, strings": r"fld\.|nm\.|g\.",
    "path": r"path\.|m\.stem",
    "paths, traces, qualified names": r"m\.(?:path|folder|frame|dot|udot)",
    "definition lookup": r"def\.",
    "kind, place and size": r"p\.",
    "past commits": r"(?:top:)?h\.",
    "commit words translated": r"(?:top:)?tr\.",
    "callers, callees, namesakes": r"s\.u?call|s\.namesake",
    "feedback from the first hits": r"prf\.",
    "share of the file's best": r"top:|s\.share",
}
"""Kind of signal → pattern that its names begin with."""


def without(weights: Weights, pattern: str) -> Weights:
    """Return the weights less those of all signals whose names begin with a pattern."""
    return Weights(
        {name: weight for name, weight in weights.file.items() if not re.match(pattern, name)},
        {name: weight for name, weight in weights.unit.items() if not re.match(pattern, name)},
    )


def table(tasks: Sequence[TaskRows]) -> list[str]:
    """Return a Markdown table: all signals, the formula without learning, and each kind taken away."""
    learned = learn_folds(tasks, FORMULA)
    whole = [measure(task, learned[task.repo]) for task in tasks]
    formula = [measure(task, FORMULA) for task in tasks]
    lines = ["| | " + " | ".join(MEASURES) + " |", "|---" * (len(MEASURES) + 1) + "|"]
    lines.append(_line("all signals, learned", [_with_interval(whole, name) for name in MEASURES]))
    lines.append(_line("the plain formula instead", [_gained(formula, whole, name) for name in MEASURES]))
    for lever, pattern in LEVERS.items():
        less = {repo: without(weights, pattern) for repo, weights in learned.items()}
        rest = [measure(task, less[task.repo]) for task in tasks]
        lines.append(_line(f"less {lever}", [_gained(rest, whole, name) for name in MEASURES]))
    return lines


def _line(title: str, cells: Sequence[str]) -> str:
    return f"| {title} | " + " | ".join(cells) + " |"


def _with_interval(results: Results, name: str) -> str:
    low, high = interval(results, name)
    return f"{mean(results, name):.3f} ({low:.2f} to {high:.2f})"


def _gained(results: Results, whole: Results, name: str) -> str:
    by, low, high = difference(results, whole, name)
    return f"{by:+.3f} ({low:+.2f} to {high:+.2f})"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=Path, required=True)
    sys.stdout.write("\n".join(table(read_folder(parser.parse_args().rows))) + "\n")


if __name__ == "__main__":
    main()
