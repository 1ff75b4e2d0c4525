"""How a command line runs the command that is named; errors become exit codes."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from functools import partial
from itertools import pairwise, takewhile
from textwrap import fill
from typing import Final

from navigator.errors import InvalidArgumentError, InvalidRequestError
from repo_map.errors import UserError
from repo_map.limits import ONE_THREAD
from repo_map.working_folder import harden_sys_path
from repo_navigator.commands import Command, Program
from repo_navigator.flag_parser import FlagParser, ShowVersion
from repo_navigator.terminal import ending_at_once, prepare_streams

_HELP_WIDTH: Final = 78
"""Columns of a description; options are wrapped to the terminal by argparse."""


def run_program(program: Program, argv: Sequence[str] | None = None) -> int:
    """Run the command that ``argv`` names and return its exit code; no error leaves a traceback."""
    harden_sys_path()
    prepare_streams()
    os.environ.update({**ONE_THREAD, **program.environment, **os.environ})
    arguments = list(sys.argv[1:] if argv is None else argv)
    collects = gc.isenabled()
    # Imported modules are no garbage, and to look for some takes a fifth of the CPU time.
    gc.disable()
    try:
        return _run(program, arguments, collects=collects)
    except (Exception, KeyboardInterrupt) as error:
        from repo_navigator.failures import report_failure  # noqa: PLC0415 - a command that works waits for no error

        return report_failure(program, error, as_json=_wants_json(arguments))
    finally:
        if collects:
            gc.enable()


def _run(program: Program, arguments: Sequence[str], *, collects: bool) -> int:
    named = next((each for each in program.commands if [each.name] == arguments[:1]), None)
    if named is None:
        # It ends the process: with the help, the version, or what is wrong.
        _overview(program).parse_args(arguments)
    assert named is not None
    # Only the named command is imported: serving must not wait for what navigating needs.
    with ending_at_once(program.name):
        module = importlib.import_module(named.module)
    from repo_navigator.options import add_options, options_of  # noqa: PLC0415 - a version waits for none

    parser = FlagParser(
        prog=f"{program.name} {named.name}",
        description=fill(named.description, width=_HELP_WIDTH),
        epilog=_examples(program, named),
        formatter_class=argparse.RawDescriptionHelpFormatter,  # Examples stand a line each.
    )
    add_options(parser, module)
    options, run = options_of(module, parser.parse_args(arguments[1:])), module.run
    gc.freeze()
    if collects and not named.builds_tables:
        gc.enable()
    if program.reads_settings:
        from mcp_server.settings import read_settings, removed_settings, unknown_settings  # noqa: PLC0415 - drawing a map needs none of it

        if named.warns_of_settings:
            for sentence in (*removed_settings(os.environ), *unknown_settings(os.environ)):
                print(f"{program.name}: {sentence}", file=sys.stderr)
        run = partial(module.run, settings=read_settings())
    try:
        return int(run(options) or 0)
    except UserError as error:
        if not error.argument:
            raise
        name = parser.name_of(error.argument, getattr(options, error.argument, None))
        error.argument = name.strip("`")
        if isinstance(error, InvalidArgumentError):
            # Its sentence names the flag as well.
            raise InvalidRequestError(error.naming(name), code=error.code, argument=error.argument) from error
        raise


def _wants_json(arguments: Sequence[str]) -> bool:
    """Return whether a command line asks for JSON, even one that can't be parsed."""
    flags = list(takewhile(lambda each: each != "--", arguments))
    return bool({"--json", "--format=json"}.intersection(flags)) or ("--format", "json") in pairwise(flags)


def _overview(program: Program) -> FlagParser:
    """Return the parser of a line that names no command, as its help lists them all."""
    parser = FlagParser(prog=program.name, description=program.description)
    parser.add_argument("--version", action=ShowVersion)
    commands = parser.add_commands()
    for each in program.commands:
        commands.add_parser(each.name, help=each.summary)
    return parser


def _examples(program: Program, command: Command) -> str:
    lines = [" ".join(filter(None, (program.name, command.name, each))) for each in command.examples]
    return "\n  ".join(("Examples:" if len(lines) > 1 else "Example:", *lines))
