"""Draw the context of a saved flight plan again, and report what changed since."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mcp_server.settings import Settings
from navigator.planner.arguments import require_token_budget
from repo_map.cache import require_writable
from repo_map.index.index import Index
from repo_map.messages import one_line, plural
from repo_map.outline.draw import RepoMap
from repo_map.outline.replay import Drift, replay
from repo_map.plan.yaml import parse_plan
from repo_navigator.arguments import (
    add_further,
    add_output,
    open_index,
    require_repository,
    write,
    write_json,
)
from repo_navigator.cli import Parser
from repo_navigator.terminal import DRIFTED, read_plan

EXAMPLES = ("plan.yaml .", "plan.yaml . --json")
_EMPTY: Final = (
    "The map shows no file: nothing that the plan shows is in this repository; check that it is the right "
    "one."
)


def add_arguments(parser: Parser) -> None:
    """Add which plan is drawn, and on which repository."""
    parser.add_value("plan", "PLAN", "flight plan, as --save-plan wrote it; - reads stdin")
    parser.add_value("repo", "REPO", "the repository (default: this git work tree)", nargs="?")
    add_further(parser)
    parser.add_value(
        "--tokens", "N", "maximum tokens, instead of the plan's budget", dest="token_budget", type=int
    )
    parser.add_switch(
        "--fail-on-drift",
        f"exit with {DRIFTED} if a file in the map changed since the plan was made, if a pattern of the "
        "plan matches nothing, or if that is unknown",
    )
    add_output(parser)


def run(args: Namespace, settings: Settings) -> int:
    """Draw the plan on the tree as it is now, and tell on stderr how the tree drifted."""
    if args.output:
        require_writable(Path(args.output))
    _, drawn, drift = replayed(args.plan, args.repo, args.further, args.token_budget, settings)
    notes = [*drawn.notes, *(() if drawn.blocks else (_EMPTY,))]
    if args.json:
        write_json(args, _as_data(drawn, drift, notes))
    else:
        write(args, drawn.text)
    if not (args.json or args.quiet):
        size = f"{drawn.tokens:,} of {plural(drawn.budget, 'token')}, {plural(len(drawn.blocks), 'file')}"
        lines = [f"{file.change}: {file.path}" for file in drift.files]
        for line in (*lines, f"{drift.describe()} {size}.", *(f"note: {note}" for note in notes)):
            print(one_line(line), file=sys.stderr)
    return DRIFTED if args.fail_on_drift and not drift.is_none else 0


def replayed(
    plan_file: str, repo: str | None, further: Sequence[str], token_budget: int | None, settings: Settings
) -> tuple[Index, RepoMap, Drift]:
    """Return the tree, the map of a saved plan (``-`` for stdin) as drawn now, and how the tree drifted.

    Raises:
        RepositoryNotFoundError: there is no such repository.
        FlightPlanError: the plan is not well-formed.
    """
    address = require_repository(repo, further, settings, "after the plan")
    plan = parse_plan(read_plan(Path(plan_file)))
    if token_budget is not None:
        plan = plan.model_copy(update={"budget": require_token_budget(token_budget)})
    index, _ = open_index(address, settings)
    return index, *replay(index, plan)


def _as_data(drawn: RepoMap, drift: Drift, notes: Sequence[str]) -> dict[str, object]:
    return {
        "context": drawn.text,
        "tokens": drawn.tokens,
        "token_budget": drawn.budget,
        "files": [
            {"path": block.path, "level": block.level, "tokens": block.tokens} for block in drawn.blocks
        ],
        "drift": {
            "status": "none" if drift.is_none else "drifted" if drift.knows_files else "unknown",
            "told": drift.describe(),
            "same_tree": drift.same_tree if drift.stamped else None,
            "files": [file._asdict() for file in drift.files] if drift.knows_files else None,
            "unmatched": list(drift.unmatched),
        },
        "notes": list(notes),
    }
