"""The ``repo-map`` command line: draw a map, or price one, without an agent."""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repo_map.errors import FlightPlanError, RepoMapError, RepositoryNotFoundError

if TYPE_CHECKING:
    from repo_map.drawing import RepoMap
    from repo_map.flight_plan import FlightPlan
    from repo_map.index import RepoIndex
    from repo_map.manifest import CostManifest, CostRow

DONE, FAILED, BAD_INPUT, NO_REPOSITORY, INTERRUPTED = 0, 1, 2, 3, 130
_LEVEL_NAMES = ("exclude", "path", "structure", "interface", "implementation")
_FOCUS_WEIGHT = 5.0
_QUIET_SECONDS = 1.0
_MOST_TOLD = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 2 bad input, 3 no such repository."""
    # Pydantic would look for plugins in every installed distribution.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    options = _parser().parse_args(arguments)
    collected = gc.isenabled()
    # A short-lived process that builds large tables: collecting garbage costs more than it frees.
    gc.disable()
    try:
        return _run(options.command, options)
    except RepositoryNotFoundError as error:
        return _fail(str(error), NO_REPOSITORY)
    except RepoMapError as error:
        return _fail(str(error), BAD_INPUT)
    except BrokenPipeError:
        # The reader has seen enough; without this the interpreter complains again while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return _fail("Interrupted.", INTERRUPTED)
    except OSError as error:
        return _fail(f"{error.strerror or error}: {error.filename or options.path}.", BAD_INPUT)
    except Exception as error:
        if os.environ.get("REPO_MAP_DEBUG"):
            raise
        return _fail(
            f"Unexpected {type(error).__name__}: {error}. REPO_MAP_DEBUG=1 shows where; please report it.",
            FAILED,
        )
    finally:
        if collected:
            gc.enable()


def _run(command: Callable[[argparse.Namespace], str], options: argparse.Namespace) -> int:
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace", newline="\n")
    sys.stdout.write(command(options))
    sys.stdout.flush()
    return DONE


def _fail(sentence: str, code: int) -> int:
    print(f"repo-map: {sentence}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="repo-map", description="Maps of a repository within a token budget."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    generate = commands.add_parser("generate", help="draw a map", description="Draw a map of a repository.")
    costs = commands.add_parser("costs", help="price a map", description="Tell what each part would cost.")
    for command in (generate, costs):
        command.add_argument("path", metavar="PATH", type=Path, help="the repository's folder")
        command.add_argument(
            "-C", "--plan", metavar="FILE", type=Path, help="a flight plan in YAML, - for stdin"
        )
        command.add_argument(
            "--tokenizer", choices=("both", "cl100k", "o200k"), default="both", help="which counts"
        )
        command.add_argument("--json", action="store_true", help="print one JSON object")
        command.add_argument("--workers", type=int, metavar="N", help="most processes to parse in")
        command.add_argument("--no-cache", action="store_true", help="parse everything, keep nothing")
        command.add_argument("-q", "--quiet", action="store_true", help="nothing on stderr but errors")
    generate.add_argument("--tokens", type=int, metavar="N", help="token budget, in place of the plan's")
    generate.add_argument(
        "--strict", action="store_true", help="refuse rules that do not fit rather than cut"
    )
    generate.add_argument(
        "--show-costs", action="store_true", help="add each file's cost per level to its header"
    )
    generate.add_argument("--line-numbers", action="store_true", help="number the lines")
    generate.add_argument(
        "--save-plan", metavar="FILE", type=Path, help="write the plan, stamped with the tree"
    )
    generate.add_argument(
        "-v",
        "--verbosity",
        metavar="GLOB:LEVEL",
        action="append",
        default=[],
        help="a rule after the plan's own",
    )
    generate.add_argument(
        "--focus", metavar="GLOB[:WEIGHT]", action="append", default=[], help="files to put first"
    )
    generate.set_defaults(command=_generate)
    costs.add_argument(
        "--by", choices=("dir", "glob", "file", "section"), default="dir", help="what a row is"
    )
    costs.add_argument("--depth", type=int, default=1, metavar="N", help="levels of folders for --by dir")
    costs.add_argument(
        "--glob",
        metavar="GLOB",
        action="append",
        default=[],
        help="a row (--by glob), or which files to list",
    )
    costs.add_argument(
        "--exact", action="store_true", default=None, help="count every file, however large the tree"
    )
    costs.set_defaults(command=_costs)
    return parser


def _index(options: argparse.Namespace) -> RepoIndex:
    from repo_map.index import build_index  # noqa: PLC0415 - each command loads only what it uses
    from repo_map.store import Store  # noqa: PLC0415

    store = Store(None) if options.no_cache else None
    progress = _Progress(shown=not options.quiet and sys.stderr.isatty())
    try:
        return build_index(options.path, store=store, workers=options.workers, on_progress=progress.report)
    finally:
        progress.clear()


def _generate(options: argparse.Namespace) -> str:
    plan = _plan(options)
    index = _index(options)
    from repo_map.drawing import draw_map  # noqa: PLC0415

    drawn = draw_map(
        index,
        plan,
        strict=options.strict,
        show_costs=options.show_costs,
        line_numbers=options.line_numbers,
        encoding=options.tokenizer,
    )
    if options.save_plan:
        from repo_map.replay import stamp  # noqa: PLC0415

        options.save_plan.write_text(stamp(index, plan, drawn).to_yaml(), encoding="utf-8")
    if not options.quiet:
        _tell(drawn, index, asked=bool(plan.verbosity))
    return _as_json(drawn, index) if options.json else drawn.text


def _plan(options: argparse.Namespace) -> FlightPlan:
    from repo_map.flight_plan import FlightPlan  # noqa: PLC0415

    plan = FlightPlan()
    if options.plan:
        plan = FlightPlan.from_yaml(_read_plan(options.plan))
    updates: dict[str, Any] = {}
    if options.tokens is not None:
        updates["budget"] = options.tokens
    rules = [{"pattern": pattern, "level": level} for pattern, level in map(_rule, options.verbosity)]
    boosts = [{"pattern": pattern, "weight": weight} for pattern, weight in map(_boost, options.focus)]
    if rules:
        # After the plan's own rules, so that they hold.
        updates["verbosity"] = [*(rule.model_dump() for rule in plan.verbosity), *rules]
    if boosts:
        old = plan.focus.model_dump() if plan.focus else {}
        updates["focus"] = {**old, "paths": [*old.get("paths", ()), *boosts]}
    return _checked(FlightPlan, {**plan.model_dump(), **updates}) if updates else plan


def _checked(model: type[FlightPlan], data: dict[str, Any]) -> FlightPlan:
    from pydantic import ValidationError  # noqa: PLC0415

    from repo_map.plan_errors import plan_error  # noqa: PLC0415

    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise plan_error(error, model) from None


def _read_plan(path: Path) -> str:
    try:
        return sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except OSError as error:
        raise FlightPlanError(f"The plan `{path}` can't be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise FlightPlanError(f"The plan `{path}` is not UTF-8 text.") from None


def _rule(text: str) -> tuple[str, int]:
    pattern, _, level = text.rpartition(":")
    if level in _LEVEL_NAMES:
        return pattern, _LEVEL_NAMES.index(level)
    if not pattern or not level.isdecimal():
        raise FlightPlanError(f"`-v {text}` is no rule; write GLOB:LEVEL, such as `src/**:3`.")
    return pattern, int(level)


def _boost(text: str) -> tuple[str, float]:
    pattern, _, weight = text.rpartition(":")
    try:
        return (pattern, float(weight)) if pattern else (text, _FOCUS_WEIGHT)
    except ValueError:
        return text, _FOCUS_WEIGHT


def _tell(drawn: RepoMap, index: RepoIndex, *, asked: bool) -> None:
    """Say on stderr what the map holds, what was cut of what was asked for, and what went wrong."""
    parts = [f"{drawn.tokens:,} of {drawn.budget:,} tokens", f"{len(drawn.files):,} files"]
    parts += [f"{drawn.left_out:,} left out"] if drawn.left_out else []
    parts += [f"{drawn.excluded:,} excluded"] if drawn.excluded else []
    parts += [f"{len(index.problems):,} with problems"] if index.problems else []
    print("repo-map: " + ", ".join(parts), file=sys.stderr)
    for cut in drawn.cuts[:_MOST_TOLD] if asked else ():
        print(
            f"  cut {cut.path}: {cut.wanted} → {cut.drawn}, {cut.tokens_to_add:,} tokens to add",
            file=sys.stderr,
        )
    if asked and drawn.cut_files > _MOST_TOLD:
        print(f"  cut {drawn.cut_files - _MOST_TOLD:,} more files", file=sys.stderr)
    for note in drawn.notes:
        print(f"  {note}", file=sys.stderr)


def _as_json(drawn: RepoMap, index: RepoIndex) -> str:
    data = {
        "map": drawn.text,
        "tokens": drawn.tokens,
        "token_budget": drawn.budget,
        "files": [file._asdict() for file in drawn.files],
        "cuts": [cut._asdict() for cut in drawn.cuts],
        "cut_files": drawn.cut_files,
        "left_out": drawn.left_out,
        "excluded": drawn.excluded,
        "fingerprint": drawn.fingerprint,
        "notes": drawn.notes,
        "problems": [{"path": problem.path, "what": problem.what} for problem in index.problems],
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def _costs(options: argparse.Namespace) -> str:
    plan = _plan_to_price(options)
    index = _index(options)
    from repo_map.manifest import price_index, price_plan  # noqa: PLC0415

    manifest = price_index(index, exact=options.exact, encoding=options.tokenizer)
    rows = _rows(manifest, options)
    total = manifest.total()
    planned = price_plan(manifest, plan) if plan else None
    if options.json:
        data = {"exact": manifest.exact, "total": total._asdict(), "rows": [row._asdict() for row in rows]}
        return json.dumps(data | ({"plan": planned} if plan else {}), ensure_ascii=False, indent=2) + "\n"
    text = _table([*rows, total], exact=manifest.exact)
    return text if planned is None else f"{text}the plan, drawn whole: {planned:,}\n"


def _rows(manifest: CostManifest, options: argparse.Namespace) -> list[CostRow]:
    if options.by == "dir":
        return manifest.by_folder(options.depth)
    if options.by == "glob":
        return manifest.by_glob(options.glob or ["**"])
    if options.by == "file":
        return [row for row in manifest.by_file() if _listed(row.name, options.glob)]
    paths = [path for path in manifest.index.paths if _listed(path, options.glob)]
    return [row._replace(name=f"{path} {row.name}") for path in paths for row in manifest.sections(path)]


def _plan_to_price(options: argparse.Namespace) -> FlightPlan | None:
    from repo_map.flight_plan import FlightPlan  # noqa: PLC0415

    return FlightPlan.from_yaml(_read_plan(options.plan)) if options.plan else None


def _listed(path: str, patterns: Sequence[str]) -> bool:
    from repo_map import globs  # noqa: PLC0415

    return not patterns or any(globs.matches(pattern, path) for pattern in patterns)


def _table(rows: Sequence[CostRow], *, exact: bool) -> str:
    cells: list[tuple[str, ...]] = [("", "files", "1 path", "2 structure", "3 interface", "4 source")]
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
    how = "counted" if exact else "estimated, sums within about 2 %"
    return "\n".join([*(line.rstrip() for line in lines), f"tokens per level, {how}", ""])


class _Progress:
    """One line on stderr that follows slow work, and nothing for fast work."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._started = time.monotonic()
        self._drawn = ""

    def report(self, phase: str, done: int, total: int) -> None:
        """Show how far a phase is, once the work has lasted a second."""
        if not self._shown or time.monotonic() - self._started < _QUIET_SECONDS:
            return
        line = f"{phase} {done:,} of {total:,}"
        sys.stderr.write("\r" + line.ljust(len(self._drawn)))
        sys.stderr.flush()
        self._drawn = line

    def clear(self) -> None:
        """Leave no trace of the line."""
        if self._drawn:
            sys.stderr.write("\r" + " " * len(self._drawn) + "\r")
            sys.stderr.flush()


if __name__ == "__main__":
    raise SystemExit(main())
