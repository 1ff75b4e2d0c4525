"""``repo-navigator replay``: draw the context of a saved flight plan again, without an agent."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.repository import work_tree
from mcp_server.settings import Settings
from navigator.arguments import require_token_budget
from navigator.places import Places
from repo_map.errors import RepositoryNotFoundError
from repo_map.messages import counted, one_line
from repo_navigator.repository_arguments import add_further, named_here
from repo_navigator.terminal import FlagParser, ending_at_once, print_text, read_plan, whole_number

if TYPE_CHECKING:
    from repo_map.drawing.draw import RepoMap
    from repo_map.drawing.replay import Drift
    from repo_map.index import RepoIndex


def add_arguments(parser: FlagParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("plan", metavar="PLAN", help="flight plan, as --save-plan wrote it; - reads stdin")
    parser.add_argument("repo", metavar="REPO", nargs="?", help="the repository (the work tree here)")
    add_further(parser)
    parser.add_argument(
        "--tokens",
        dest="token_budget",
        type=whole_number,
        metavar="N",
        help="most tokens, instead of the plan's budget",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object, with all that is known, in place of text"
    )


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Draw the plan on the tree as it is now, and tell on stderr how the tree drifted."""
    _, drawn, drift = replayed(options.plan, options.repo, options.further, options.token_budget, settings)
    if options.json:
        print_text(json.dumps(_object(drawn, drift), ensure_ascii=False) + "\n")
    else:
        print_text(drawn.text if drawn.text.endswith("\n") else f"{drawn.text}\n")
        for file in drift.files:
            print(one_line(f"{file.change}: {file.path}"), file=sys.stderr)
        size = f"{drawn.tokens:,} of {counted(drawn.budget, 'token')}"
        print(f"{drift.describe()} {size}, {counted(len(drawn.blocks), 'file')}.", file=sys.stderr)
        for note in drawn.notes:
            print(one_line(f"note: {note}"), file=sys.stderr)
    return 0


def replayed(
    plan_file: str, repo: str | None, further: Sequence[str], token_budget: int | None, settings: Settings
) -> tuple[RepoIndex, RepoMap, Drift]:
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
    with ending_at_once("repo-navigator"):
        from repo_map.drawing.replay import replay  # noqa: PLC0415 - where Ctrl-C ends at once
        from repo_map.index import build_index  # noqa: PLC0415 - where Ctrl-C ends at once
        from repo_map.indexing.store import Store  # noqa: PLC0415 - where Ctrl-C ends at once
        from repo_map.plan.yaml import parse_plan  # noqa: PLC0415 - where Ctrl-C ends at once

    if repo is None and not further and not settings.allowed and work_tree(Path.cwd()) is None:
        raise RepositoryNotFoundError(
            "No repository is named, and this folder is in no git work tree; name one after the plan."
        )
    place = Places(settings).of(named_here([*([repo] if repo else []), *further], settings))
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


def _object(drawn: RepoMap, drift: Drift) -> dict[str, object]:
    return {
        "context": drawn.text,
        "tokens": drawn.tokens,
        "token_budget": drawn.budget,
        "files": [
            {"path": block.path, "level": block.level, "tokens": block.tokens} for block in drawn.blocks
        ],
        "drift": {
            "told": drift.describe(),
            "same_tree": drift.same_tree,
            "files": [file._asdict() for file in drift.files],
        },
        "notes": list(drawn.notes),
    }
