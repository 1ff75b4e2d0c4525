"""Draw the context of a saved flight plan again, and report what changed since."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mcp_server.settings import Settings
from navigator.planner.arguments import require_token_budget
from navigator.workspaces.address import file_source_of
from repo_map.cache import require_writable
from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.messages import one_line, plural
from repo_map.outline.draw import RepoMap
from repo_map.outline.replay import Drift, replay
from repo_map.plan.yaml import parse_plan
from repo_navigator.arguments import add_further, add_output, require_repository, write, write_json
from repo_navigator.cli import Parser
from repo_navigator.terminal import DRIFTED, read_plan

EXAMPLES = ("plan.yaml .", "plan.yaml . --json")
_EMPTY: Final = (
    "The map shows no file: nothing that the plan shows is in this repository; check that it is the right "
    "one."
)


def add_arguments(parser: Parser) -> None:
    """Add which plan is drawn, and on which repository."""
    parser.add_argument("plan", metavar="PLAN", help="flight plan, as --save-plan wrote it; - reads stdin")
    parser.add_argument(
        "repo", metavar="REPO", nargs="?", help="the repository (default: this git work tree)"
    )
    add_further(parser)
    parser.add_argument(
        "--tokens",
        dest="token_budget",
        metavar="N",
        type=int,
        help="maximum tokens, instead of the plan's budget",
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
        write_json(args, _object(drawn, drift, notes))
    else:
        write(args, drawn.text)
        if not args.quiet:
            _report(drawn, drift, notes)
    return DRIFTED if args.fail_on_drift and not drift.is_none else 0


def _report(drawn: RepoMap, drift: Drift, notes: Sequence[str]) -> None:
    for file in drift.files:
        print(one_line(f"{file.change}: {file.path}"), file=sys.stderr)
    size = f"{drawn.tokens:,} of {plural(drawn.budget, 'token')}"
    print(f"{drift.describe()} {size}, {plural(len(drawn.blocks), 'file')}.", file=sys.stderr)
    for note in notes:
        print(one_line(f"note: {note}"), file=sys.stderr)


def replayed(
    plan_file: str, repo: str | None, further: Sequence[str], token_budget: int | None, settings: Settings
) -> tuple[Index, RepoMap, Drift]:
    """Return the tree, the map of a saved plan as it is drawn now, and how the tree drifted.

    Args:
        plan_file: its file; ``-`` for stdin.
        repo: the repository, None for the work tree here.
        further: repositories beside it.
        token_budget: in place of the plan's own.
        settings: what may be read, and how.

    Raises:
        RepositoryNotFoundError: there is none.
        FlightPlanError: the plan is not well-formed.
    """
    place = file_source_of(require_repository(repo, further, settings, "after the plan"))
    plan = parse_plan(read_plan(Path(plan_file)))
    if token_budget is not None:
        plan = plan.model_copy(update={"budget": require_token_budget(token_budget)})
    index = build_index(
        place,
        store=Store(settings.cache_dir, settings.limits),
        unmasked=settings.unmasked,
        limits=settings.limits,
    )
    return index, *replay(index, plan)


def _object(drawn: RepoMap, drift: Drift, notes: Sequence[str]) -> dict[str, object]:
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
