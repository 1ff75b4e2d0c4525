"""How near the predicted size of a map is to the size of the map that is drawn.

    python -m benchmarks.predictions TREE...

Each tree is priced as `repo-map costs` does (small ones are counted, large ones sampled), and drawn whole at
each level and in a mix.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from repo_map.drawing.costs import price_index, price_plan
from repo_map.drawing.draw import draw_map
from repo_map.index import RepoIndex, build_index
from repo_map.plan.model import FlightPlan, VerbosityRule

_UNLIMITED = 1_000_000_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one row per tree and plan."""
    parser = argparse.ArgumentParser(description="Compare predicted and real sizes of maps.")
    parser.add_argument("trees", metavar="TREE", type=Path, nargs="+", help="a repository")
    print("| tree | files | plan | price | predicted | drawn | off |\n|---|---|---|---|---|---|---|")
    worst = 0.0
    for tree in parser.parse_args(arguments).trees:
        index = build_index(tree)
        manifest = price_index(index)
        message = (tree.name, f"{len(index):,}")
        for name, plan in _plans(index):
            predicted, drawn = price_plan(manifest, plan), draw_map(index, plan).tokens
            off = predicted / drawn - 1
            worst = max(worst, abs(off))
            how = "counted" if manifest.exact else "sampled"
            cells = (*message, name, how, f"{predicted:,}", f"{drawn:,}", f"{off:+.1%}")
            print(f"| {' | '.join(cells)} |", flush=True)
    print(f"\nThe largest difference is {worst:.1%}.")


def _plans(index: RepoIndex) -> Iterator[tuple[str, FlightPlan]]:
    for level in (1, 2, 3, 4):
        yield f"all at level {level}", _plan((("**", level),))
    folders = sorted({path.split("/")[0] for path in index.paths if "/" in path})
    yield (
        "folders in turn at levels 1 to 4",
        _plan(tuple((f"{folder}/**", 1 + number % 4) for number, folder in enumerate(folders))),
    )


def _plan(rules: tuple[tuple[str, int], ...]) -> FlightPlan:
    verbosity = tuple(VerbosityRule(pattern=pattern, level=level) for pattern, level in rules)
    return FlightPlan(budget=_UNLIMITED, verbosity=verbosity)


if __name__ == "__main__":
    main()
