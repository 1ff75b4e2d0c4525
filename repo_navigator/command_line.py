"""The command lines: the table of their commands, and how the named one is run; errors become exit codes."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from types import ModuleType
from typing import Final, NamedTuple

from mcp_server.imports import large_imports, models_built_on_first_use
from navigator.errors import InvalidArgumentError, InvalidRequestError
from repo_map.limits import ONE_THREAD
from repo_map.working_folder import shut_out_working_folder
from repo_navigator.terminal import FlagParser, TellVersion, ending_at_once, prepare_streams


class Command(NamedTuple):
    """A command, and its module, which has ``add_arguments(parser)`` and ``run(options[, settings])``."""

    name: str
    module: str
    summary: str
    """Beside the command's name in the list of all."""
    description: str
    """A sentence of its own ``--help``."""
    example: str
    """Arguments that a newcomer can start from."""
    builds_tables: bool = False
    """Whether it ends soon and builds large tables: collecting garbage costs more than it frees."""


class Program(NamedTuple):
    """A command line: what its errors, its version and its help call it, and its commands."""

    name: str
    description: str
    commands: tuple[Command, ...]
    reads_settings: bool = False
    """Whether its commands take the settings of the environment."""
    debugging: str = "REPO_NAVIGATOR_LOG_LEVEL=debug"
    """The setting of the environment that shows where something failed unexpectedly."""
    environment: Mapping[str, str] = {}
    """Variables that are set where the user has not."""


REPO_NAVIGATOR: Final = Program(
    "repo-navigator",
    "Find the code that matters for a task, within a token budget.",
    (
        Command(
            "serve",
            "repo_navigator.serve",
            "serve MCP, over stdio or HTTP",
            "Serve MCP, over stdio to the assistant that starts it, or over HTTP to many.",
            "--http 127.0.0.1:8321 --allow ~/work",
        ),
        Command(
            "navigate",
            "repo_navigator.navigate",
            "find the code for a goal and print it",
            "Find the code for a goal and print it, with the steps that led there on stderr.",
            '. "A discount of 100 % makes the total negative" --tokens 8000',
            builds_tables=True,
        ),
        Command(
            "context",
            "repo_navigator.context",
            "print the context, or the plan, of a stored navigation",
            "Print the context, or the plan, of a stored navigation; words take it one step further.",
            '--feedback "leave the tests out"',
        ),
        Command(
            "replay",
            "repo_navigator.replay",
            "draw the context of a saved flight plan again",
            "Draw the context of a saved flight plan again, and tell how the repository changed since.",
            "plan.yaml .",
            builds_tables=True,
        ),
        Command(
            "prompt",
            "repo_navigator.prompt",
            "answer an assistant's prompt hook with the code for the prompt",
            "Answer an assistant's prompt hook with the code for the prompt: stdin holds what a host tells "
            "its UserPromptSubmit hook, an object with `prompt` and `cwd`.",
            "< hook.json",
        ),
        Command(
            "install",
            "repo_navigator.install",
            "add the server to an assistant's configuration",
            "Add the server to an assistant's configuration; nothing else in it changes.",
            "all --dry-run",
        ),
        Command(
            "doctor",
            "repo_navigator.doctor",
            "check that everything works here, offline",
            "Check that everything works here, offline, and say how to mend what does not.",
            "",
        ),
    ),
    reads_settings=True,
)
REPO_MAP: Final = Program(
    "repo-map",
    "Maps of a repository within a token budget.",
    (
        Command(
            "generate",
            "repo_navigator.generate",
            "draw a map",
            "Draw a map of a repository: its most central files in the most detail that the budget allows.",
            ". --tokens 4000 -v 'src/**:3'",
            builds_tables=True,
        ),
        Command(
            "costs",
            "repo_navigator.costs",
            "price a map",
            "Tell what each part of a map would cost, in tokens at every level, before it is drawn.",
            ". --by dir --depth 2",
            builds_tables=True,
        ),
        Command(
            "watch",
            "repo_navigator.watch",
            "keep the index up to date",
            "Index a repository again as its files change, until Ctrl-C.",
            ".",
        ),
    ),
    debugging="REPO_MAP_DEBUG=1",
    # Pydantic would look for plugins in every installed distribution.
    environment={"PYDANTIC_DISABLE_PLUGINS": "__all__"},
)


def run_program(program: Program, argv: Sequence[str] | None = None) -> int:
    """Run the command that ``argv`` names and return its exit code; no error leaves a traceback."""
    shut_out_working_folder()
    prepare_streams()
    os.environ.update({**ONE_THREAD, **program.environment, **os.environ})
    collects = gc.isenabled()
    try:
        return _run(program, list(sys.argv[1:] if argv is None else argv))
    except (Exception, KeyboardInterrupt) as error:
        from repo_navigator.failures import report_failure  # noqa: PLC0415 - a command that works waits for no error

        return report_failure(program, error)
    finally:
        if collects:
            gc.enable()


def _run(program: Program, arguments: list[str]) -> int:
    parser = FlagParser(prog=program.name, description=program.description)
    parser.add_argument("--version", action=TellVersion)
    commands = parser.add_commands()
    # Only the named command is imported: serving must not wait for what navigating needs.
    by_name = {each.name: each for each in program.commands}
    named = next((by_name[argument] for argument in arguments if argument in by_name), None)
    module: ModuleType | None = None
    parsers: dict[str, FlagParser] = {}
    for each in program.commands:
        example = f"Example: {' '.join(filter(None, (program.name, each.name, each.example)))}"
        texts = {"help": each.summary, "description": each.description, "epilog": example}
        parsers[each.name] = commands.add_parser(each.name, **texts)
        if each is named:
            module = _imported(program, each)
            module.add_arguments(parsers[each.name])
    options = parser.parse_args(arguments)
    assert named is not None
    assert module is not None
    if named.builds_tables:
        gc.disable()
    run = module.run
    if program.reads_settings:
        from mcp_server.settings import read_settings  # noqa: PLC0415 - drawing a map needs none of it

        run = partial(module.run, settings=read_settings(os.environ))
    try:
        return int(run(options) or 0)
    except InvalidArgumentError as error:
        name = parsers[named.name].name_of(error.argument)
        raise InvalidRequestError(error.naming(name)) from error


def _imported(program: Program, command: Command) -> ModuleType:
    with ExitStack() as importing:
        importing.enter_context(ending_at_once(program.name))
        if program.reads_settings:
            importing.enter_context(large_imports())
            importing.enter_context(models_built_on_first_use())
        return importlib.import_module(command.module)
