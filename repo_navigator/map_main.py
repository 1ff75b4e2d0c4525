"""The ``repo-map`` command line: draw a map, or price one, without an agent."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from repo_map.errors import RepoMapError, RepositoryNotFoundError
from repo_map.limits import ONE_THREAD
from repo_map.messages import unwritten
from repo_map.working_folder import shut_out_working_folder
from repo_navigator.costs import costs
from repo_navigator.generate import generate
from repo_navigator.terminal import (
    CANCELLED,
    FlagParser,
    TellVersion,
    count,
    drop_stdout,
    ending_at_once,
    folder,
    prepare_streams,
)
from repo_navigator.watch import watch

DONE, FAILED, BAD_INPUT, NO_REPOSITORY = 0, 1, 2, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 2 bad input, 3 no such repository, 5 cancelled."""
    shut_out_working_folder()
    # Pydantic would look for plugins in every installed distribution.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    prepare_streams()
    os.environ.update(ONE_THREAD | os.environ)
    with ending_at_once("repo-map"):
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
        drop_stdout()  # The reader has seen enough.
        return DONE
    except KeyboardInterrupt:
        return _fail("cancelled", CANCELLED)
    except OSError as error:
        if error.filename is None:
            drop_stdout()
            return _fail(unwritten(error), BAD_INPUT)
        message = f"`{error.filename}` can't be read or written: {error.strerror}; check its permissions."
        return _fail(message, BAD_INPUT)
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


Command = Callable[[argparse.Namespace], str]
"""Returns what is left to print."""


def _run(command: Command, options: argparse.Namespace) -> int:
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace", newline="\n")
    sys.stdout.write(command(options))
    sys.stdout.flush()
    return DONE


def _fail(sentence: str, code: int) -> int:
    # Imported here: a command that works should not wait for it.
    from repo_map.messages import one_line  # noqa: PLC0415
    from repo_map.secrets.masking import mask_text  # noqa: PLC0415

    print(f"repo-map: {mask_text(one_line(sentence))}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = FlagParser(prog="repo-map", description="Maps of a repository within a token budget.")
    parser.add_argument("--version", action=TellVersion)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    draw = commands.add_parser("generate", help="draw a map", description="Draw a map of a repository.")
    price = commands.add_parser("costs", help="price a map", description="Tell what each part would cost.")
    follow = commands.add_parser(
        "watch", help="keep the index up to date", description="Index a repository again as its files change."
    )
    for command in (draw, price, follow):
        _add_index_arguments(command)
    for command in (draw, price):
        command.add_argument(
            "-C", "--plan", "--config", metavar="FILE", type=Path, help="a flight plan in YAML, - for stdin"
        )
        command.add_argument(
            "--tokenizer", choices=("both", "cl100k", "o200k"), default="both", help="which counts"
        )
    _add_drawing_arguments(draw)
    _add_pricing_arguments(price)
    draw.set_defaults(command=generate)
    price.set_defaults(command=costs)
    follow.set_defaults(command=watch)
    return parser


def _add_index_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=folder, help="the repository's folder")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--workers", type=count, metavar="N", help="most processes to parse in")
    parser.add_argument(
        "--unmask", metavar="GLOB", action="append", default=[], help="files to show with their secrets"
    )
    parser.add_argument("--no-cache", action="store_true", help="parse everything, keep nothing")
    parser.add_argument("-q", "--quiet", action="store_true", help="nothing on stderr but errors")


def _add_drawing_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--tokens", type=count, metavar="N", help="token budget, in place of the plan's")
    add("--strict", action="store_true", help="refuse rules that do not fit rather than cut")
    add("--show-costs", action="store_true", help="add each file's cost per level to its header")
    add("--line-numbers", action="store_true", help="number the lines")
    add("--save-plan", metavar="FILE", type=Path, help="write the plan, stamped with the tree")
    add(
        "-v",
        "--verbosity",
        metavar="GLOB:LEVEL",
        action="append",
        default=[],
        help="a rule after the plan's own",
    )
    add("--focus", metavar="GLOB[:WEIGHT]", action="append", default=[], help="files to put first")


def _add_pricing_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--by", choices=("dir", "glob", "file", "section"), default="dir", help="what a row is")
    add("--depth", type=count, default=1, metavar="N", help="levels of folders for --by dir")
    add(
        "--glob",
        metavar="GLOB",
        action="append",
        default=[],
        help="a row (--by glob), or which files to list",
    )
    add("--exact", action="store_true", default=None, help="count every file, however large the tree")


if __name__ == "__main__":
    raise SystemExit(main())
