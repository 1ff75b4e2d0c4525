"""Draw a map of a repository: its most central files in the most detail that the budget allows."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from repo_map.cache import replace_text, require_writable
from repo_map.errors import FlightPlanError
from repo_map.messages import plural, printable
from repo_map.plan.levels import LEVEL_KEYS, level_label
from repo_navigator.cli import Parser, positive
from repo_navigator.map_options import add_map_arguments, given_plan, open_index
from repo_navigator.terminal import print_text

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.outline.draw import RepoMap
    from repo_map.plan.model import FlightPlan

_FOCUS_WEIGHT = 5.0
_MAX_CUTS = 5


EXAMPLES = (". --tokens 4000", ". -v 'src/**:3' -v 'tests/**:0'", ". -C plan.yaml --strict")


def add_arguments(parser: Parser) -> None:
    """Add what is drawn, and how."""
    parser.add_value("--tokens", "N", "token budget, instead of the plan's", type=positive)
    parser.add_switch("--strict", "fail if the rules do not fit, instead of cutting")
    parser.add_switch("--show-costs", "add each file's cost per level to its header")
    parser.add_switch("--line-numbers", "number every fifth line of source, as in 55│")
    parser.add_value(
        "--save-plan", "FILE", "write the plan to this file, with a fingerprint of the tree", type=Path
    )
    parser.add_values(
        "-v",
        "--verbosity",
        "GLOB:LEVEL",
        "add a rule after the plan's: 0 or exclude, 1 or path, 2 or structure, 3 or interface, "
        "4 or implementation",
    )
    parser.add_values("--focus", "GLOB[:WEIGHT]", "files to put first (weight 5)")
    add_map_arguments(parser)


def run(args: Namespace) -> None:
    """Print the map, or the JSON object, that the options ask for."""
    if args.save_plan:
        require_writable(args.save_plan)
    from repo_map.outline.draw import draw_map  # noqa: PLC0415 - loads numpy: flags and help come first

    plan = _plan_of(args)
    index = open_index(args)
    drawn = draw_map(index, plan, strict=args.strict, show_costs=args.show_costs)
    if args.save_plan:
        from repo_map.outline.replay import stamp  # noqa: PLC0415 - only for a plan that is saved
        from repo_map.plan.yaml import format_plan  # noqa: PLC0415 - YAML loads only for plans that are text

        replace_text(args.save_plan, format_plan(stamp(index, plan, drawn)))
    if not args.quiet:
        _report(drawn, index, asked=bool(plan.verbosity))
    print_text(_as_json(drawn, index) if args.json else drawn.text)


def _plan_of(args: Namespace) -> FlightPlan:
    from repo_map.plan.model import FlightPlan  # noqa: PLC0415 - loads pydantic: flags and help come first

    plan = given_plan(args) or FlightPlan()
    data = plan.model_dump(mode="json")
    rules = [{"pattern": pattern, "level": level} for pattern, level in map(_rule, args.verbosity)]
    boosts = [{"pattern": pattern, "weight": weight} for pattern, weight in map(_boost, args.focus)]
    # After the plan's own rules, so that they hold.
    changed = {**data, "verbosity": [*data["verbosity"], *rules]}
    if args.tokens is not None:
        changed["budget"] = args.tokens
    if args.line_numbers:
        changed["line_numbers"] = True
    if boosts:
        focus = data["focus"] or {"paths": []}
        changed["focus"] = {**focus, "paths": [*focus["paths"], *boosts]}
    if changed == data:
        return plan
    from repo_map.plan.yaml import parse_plan  # noqa: PLC0415 - YAML loads only for plans that are text

    return parse_plan(json.dumps(changed))


def _rule(text: str) -> tuple[str, int]:
    pattern, _, level = text.rpartition(":")
    if level in LEVEL_KEYS:
        return pattern, LEVEL_KEYS.index(level)
    if not pattern or not level.isdecimal():
        raise FlightPlanError(f"`-v {text}` is not a rule; write GLOB:LEVEL, such as `src/**:3`.")
    return pattern, int(level)


def _boost(text: str) -> tuple[str, float]:
    pattern, _, weight = text.rpartition(":")
    try:
        return (pattern, float(weight)) if pattern else (text, _FOCUS_WEIGHT)
    except ValueError:
        return text, _FOCUS_WEIGHT


def _report(drawn: RepoMap, index: Index, *, asked: bool) -> None:
    """Say on stderr what the map holds, what was cut of what was asked for, and what went wrong."""
    parts = [
        f"{drawn.tokens:,} of {plural(drawn.budget, 'token')}",
        plural(len(drawn.blocks), "file"),
    ]
    parts += [f"{drawn.left_out:,} left out"] if drawn.left_out else []
    parts += [f"{drawn.excluded:,} excluded"] if drawn.excluded else []
    parts += [f"{len(index.problems):,} with problems"] if index.problems else []
    lines = [f"repo-map: {', '.join(parts)}"]
    if asked:
        lines += [
            f"  cut {cut.path}: {level_label(cut.wanted)} → {level_label(cut.drawn)}, "
            f"about {plural(cut.tokens_to_add, 'token')} to add"
            for cut in drawn.cuts[:_MAX_CUTS]
        ]
        lines += [f"  cut {plural(more, 'more file')}"] if (more := drawn.cut_files - _MAX_CUTS) > 0 else []
    lines += [f"  {note}" for note in drawn.notes]
    sys.stderr.write("".join(f"{printable(line)}\n" for line in lines))


def _as_json(drawn: RepoMap, index: Index) -> str:
    data = {
        "map": drawn.text,
        "tokens": drawn.tokens,
        "token_budget": drawn.budget,
        "files": [
            {"path": block.path, "level": block.level, "tokens": block.tokens} for block in drawn.blocks
        ],
        "cuts": [cut._asdict() for cut in drawn.cuts],
        "cut_files": drawn.cut_files,
        "left_out": drawn.left_out,
        "excluded": drawn.excluded,
        "fingerprint": drawn.fingerprint,
        "notes": drawn.notes,
        "problems": [{"path": problem.path, "what": problem.what} for problem in index.problems],
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
