"""The command lines: their commands, how arguments are parsed, and how errors become exit codes.

A command's module has ``add_arguments(parser)`` and ``run(args[, settings])``, and is imported only when the
command is named. The first paragraph of its docstring is the description in ``--help``; ``EXAMPLES`` are what
may follow the command's name.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import inspect
import json
import logging
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise, takewhile
from textwrap import fill
from types import ModuleType
from typing import Any, Final, NamedTuple, NoReturn

from mcp_server import package_version
from navigator.errors import InvalidArgumentError, InvalidRequestError
from repo_map.errors import UserError, first_cause
from repo_map.limits import ONE_THREAD
from repo_map.messages import printable
from repo_map.working_folder import harden_sys_path
from repo_navigator.terminal import CANCELLED, drop_stdout, ending_at_once, prepare_streams, print_text

_HELP_WIDTH: Final = 78
"""Columns of a description; options are wrapped to the terminal by argparse."""
_UNEXPECTED: Final = 1


class Command(NamedTuple):
    """A command, what the list of all commands says of it, and its module if it is not ours."""

    name: str
    summary: str
    module: str = ""
    warns_of_settings: bool = True
    """Whether a line on stderr tells of variables that begin like settings and are none. A server refuses
    them, and the doctor reports them."""

    def load(self) -> ModuleType:
        """Import the command's module."""
        return importlib.import_module(self.module or f"repo_navigator.commands.{self.name}")


class Program(NamedTuple):
    """A command line."""

    name: str
    description: str
    commands: tuple[Command, ...]
    reads_settings: bool = False
    """Whether its commands take the settings of the environment."""
    debugging: str = "REPO_NAVIGATOR_LOG_LEVEL=debug"
    """The setting of the environment that shows where something failed unexpectedly."""
    environment: Mapping[str, str] = {}
    """Variables that are set where the user has not."""
    collects_garbage: bool = False
    """Whether commands run long. The others build tables, and end sooner than collecting garbage pays."""


REPO_NAVIGATOR: Final = Program(
    "repo-navigator",
    "Find the code that matters for a task, within a token budget.",
    (
        Command("serve", "serve MCP, over stdio or HTTP", warns_of_settings=False),
        Command("navigate", "find the code for a goal and print it"),
        Command("ask", "search the code, read it, and follow its references"),
        Command("show", "print the source of what the outline lists, or of what you name"),
        Command("context", "print the context, or the plan, of a stored navigation"),
        Command("replay", "draw the context of a saved flight plan again"),
        Command("view", "draw a picture of a navigation or of a saved flight plan"),
        Command("check", "report what an edit breaks, what it forgot, and which tests to run"),
        Command("forget", "delete stored navigations"),
        Command("token", "make a bearer token for a user of an HTTP server"),
        Command("hook", "check what an assistant edits, as a hook of its client"),
        Command("install", "add the server to an assistant's configuration"),
        Command("doctor", "check that everything works here, offline", warns_of_settings=False),
    ),
    reads_settings=True,
)
REPO_MAP: Final = Program(
    "repo-map",
    "Maps of a repository within a token budget.",
    (Command("generate", "draw a map"), Command("costs", "price a map")),
    debugging="REPO_MAP_DEBUG=1",
    # Pydantic would look for plugins in every installed distribution.
    environment={"PYDANTIC_DISABLE_PLUGINS": "__all__"},
)


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
        return _report_failure(program, error, as_json=_wants_json(arguments))
    finally:
        if collects:
            gc.enable()


def _run(program: Program, arguments: Sequence[str], *, collects: bool) -> int:
    command = next((each for each in program.commands if [each.name] == arguments[:1]), None)
    if command is None:
        _help_or_refuse(program, next(iter(arguments), ""))
    with ending_at_once(program.name):
        module = command.load()
    parser = command_parser(program, command, module)
    args = parser.parse_args(arguments[1:])
    run = module.run
    gc.freeze()
    if collects and program.collects_garbage:
        gc.enable()
    if program.reads_settings:
        from mcp_server.settings import read_settings, unknown_settings  # noqa: PLC0415 - drawing a map needs none of it

        if command.warns_of_settings:
            for sentence in unknown_settings(os.environ):
                print(f"{program.name}: {sentence}", file=sys.stderr)
        run = partial(run, settings=read_settings())
    try:
        return int(run(args) or 0)
    except UserError as error:
        if not error.argument:
            raise
        name = parser.name_of(error.argument, getattr(args, error.argument, None))
        error.argument = name.strip("`")
        if isinstance(error, InvalidArgumentError):
            # Its sentence names the flag as well.
            raise InvalidRequestError(error.naming(name), code=error.code, argument=error.argument) from error
        raise


def command_parser(program: Program, command: Command, module: ModuleType) -> Parser:
    """Return the parser of a command whose module is imported."""
    about, _, _ = inspect.cleandoc(module.__doc__ or "").partition("\n\n")
    examples = [f"{program.name} {command.name} {each}".rstrip() for each in getattr(module, "EXAMPLES", ())]
    parser = Parser(
        prog=f"{program.name} {command.name}",
        description=fill(about, width=_HELP_WIDTH),
        epilog="\n  ".join(("Examples:" if len(examples) > 1 else "Example:", *examples)),
        formatter_class=argparse.RawDescriptionHelpFormatter,  # Examples stand a line each.
    )
    module.add_arguments(parser)
    return parser


class CommandLineError(UserError):
    """A command line can't be parsed."""

    code = "invalid_command_line"


class Parser(argparse.ArgumentParser):
    """A parser that takes arguments in any order, and raises one sentence for a mistake."""

    def __init__(self, **options: Any) -> None:
        # An incomplete flag is reported as a mistake.
        super().__init__(**{"allow_abbrev": False, **options})

    def add_switch(self, *names: str) -> None:
        """Add a flag without a value; its names, and last its help."""
        self.add_argument(*names[:-1], action="store_true", help=names[-1])

    def add_value(self, *names: str, **options: Any) -> None:
        """Add an argument with a value; its names, what the value is called, and last its help."""
        *flags, metavar, about = names
        self.add_argument(*flags, metavar=metavar, help=about, **options)

    def add_values(self, *names: str, **options: Any) -> None:
        """Add a flag that may be repeated, as ``add_value``."""
        self.add_value(*names, action="append", default=[], **options)

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse, or raise what is wrong; what is left over is wrong as well.

        Raises:
            CommandLineError: An argument can't be used.
        """
        arguments = sys.argv[1:] if args is None else list(args)
        if self._subparsers is None:
            self._require_known(arguments)
        parse = self.parse_known_intermixed_args if self._subparsers is None else self.parse_known_args
        found, left = parse(arguments, namespace)
        if left:
            self.error(f"unrecognized arguments: {' '.join(left)}")
        return found

    def _require_known(self, arguments: Iterable[str]) -> None:
        """Refuse the first unknown flag, whatever else is wrong."""
        for argument in takewhile(lambda each: each != "--", arguments):
            name = argument.partition("=")[0]
            # Argparse takes what has a space, and nothing else that begins so, for a value.
            if name.startswith("--") and " " not in name and name not in self._option_string_actions:
                near = nearest(name, self._option_string_actions)
                hint = f"did you mean {near}?" if near else f"see `{self.prog} --help`."
                _refuse(f"unknown flag {name}; {hint}", name)

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong.

        Raises:
            CommandLineError: Always.
        """
        about = re.match(r"argument (-[\w-]+|\w+)", message)
        _refuse(f"{message}; see `{self.prog} --help`.", about[1] if about else "")

    def name_of(self, argument: str, value: object = None) -> str:
        """Return what this command line calls an argument of the agent: a flag, or a place in the line.

        Of several flags that give it, the one that stands for ``value`` comes first.
        """
        actions = [each for each in self._actions if each.dest == argument]
        actions.sort(key=lambda each: each.const is None or each.const != value)
        names = [each.option_strings[-1] if each.option_strings else str(each.metavar) for each in actions]
        return next(iter(names), f"`{argument}`")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that ``name`` misspells, or is a longer form of; ``""`` for none."""
    from difflib import get_close_matches  # noqa: PLC0415 - most commands are valid

    names = {each.lstrip("-"): each for each in known}
    bare = name.lstrip("-").lower()
    longer = [each for each in names if len(each) > 3 and bare.startswith(each.removesuffix("s"))]
    return next((names[each] for each in (*get_close_matches(bare, names, 1, 0.7), *longer)), "")


def nonempty(text: str) -> str:
    """Return what an argument holds; an empty path would mean the working folder.

    Raises:
        ArgumentTypeError: It is empty.
    """
    if not text.strip():
        raise argparse.ArgumentTypeError("nothing is given")
    return text


def positive(text: str) -> int:
    """Return the number above zero that an argument holds.

    Raises:
        ArgumentTypeError: It holds none.
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a whole number above zero")
    return int(text)


def _refuse(sentence: str, argument: str) -> NoReturn:
    from repo_map.secrets.masking import mask_text  # noqa: PLC0415 - loads patterns; most lines are right

    raise CommandLineError(mask_text(printable(sentence)), argument=argument)


def _help_or_refuse(program: Program, first: str) -> NoReturn:
    """End with the version or the help, or refuse what names no command."""
    if first == "--version":
        print(program.name, package_version())
        raise SystemExit(0)
    if first in ("", "-h", "--help"):
        parser = Parser(prog=program.name, description=program.description)
        parser.add_switch("--version", "print the version and exit")
        commands = parser.add_subparsers(metavar="COMMAND")
        for each in program.commands:
            commands.add_parser(each.name, help=each.summary)
        parser.print_help()
        raise SystemExit(0)
    names = [each.name for each in program.commands]
    is_flag = first.startswith("-")
    near = nearest(first, ("--version", "--help") if is_flag else names)
    hint = f"did you mean {near}?" if near else f"choose one of {', '.join(names)}."
    what = f"unknown flag {first}" if is_flag else f"there is no command {first}"
    _refuse(f"{what}; {hint}", first if is_flag else "")


def _wants_json(arguments: Sequence[str]) -> bool:
    """Return whether a command line asks for JSON, even one that can't be parsed."""
    flags = list(takewhile(lambda each: each != "--", arguments))
    return bool({"--json", "--format=json"}.intersection(flags)) or ("--format", "json") in pairwise(flags)


def _report_failure(program: Program, error: BaseException, *, as_json: bool) -> int:
    """Report in one line on stderr why a command ended, and return its exit code.

    With ``as_json`` stdout gets the code, the sentence and the argument as one JSON object too. Exit codes: 0
    if the reader has gone, 1 failed unexpectedly, 2 bad input, 3 no such repository, 4 no model answered,
    5 cancelled.

    Raises:
        BaseException: ``error`` itself, where it is unexpected, and `REPO_MAP_DEBUG` asks for its place.
    """
    from mcp_server.errors import BAD_INPUT, ErrorDetails, details_of, exit_code, one_line  # noqa: PLC0415 - a command that works waits for no error

    match error:
        case UserError():
            details, code = details_of(error), exit_code(error)
        case KeyboardInterrupt():
            details, code, as_json = ErrorDetails("cancelled", "cancelled"), CANCELLED, False
        case BrokenPipeError():
            drop_stdout()
            return 0
        case OSError():
            details, code = details_of(error, has_data=program.reads_settings), BAD_INPUT
        case _:
            logging.getLogger(__name__).debug("unexpected", exc_info=error)
            if not program.reads_settings and os.environ.get(program.debugging.partition("=")[0]):
                raise error
            cause = first_cause(error)
            message = (
                f"failed unexpectedly ({type(cause).__name__}: {one_line(cause)}); {program.debugging} shows "
                "where, `repo-navigator doctor` checks the installation."
            )
            details, code = ErrorDetails("internal_error", message), _UNEXPECTED
    print(f"{program.name}: {details.message}", file=sys.stderr)
    if as_json:
        try:
            print_text(json.dumps(details.as_json(), ensure_ascii=False) + "\n")
        except BrokenPipeError:
            drop_stdout()
    return code
