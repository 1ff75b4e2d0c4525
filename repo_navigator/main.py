"""The ``repo-navigator`` command line: runs one command and turns errors into exit codes."""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Final

from mcp_server.errors import BAD_INPUT, TOLD, exit_code, one_line, storage_sentence
from mcp_server.imports import large_imports, models_built_on_first_use
from mcp_server.settings import read_settings
from repo_map.limits import ONE_THREAD
from repo_map.working_folder import shut_out_working_folder
from repo_navigator.terminal import (
    CANCELLED,
    FlagParser,
    TellVersion,
    drop_stdout,
    ending_at_once,
    prepare_streams,
)

UNEXPECTED: Final = 1
_COMMANDS: Final = {
    "serve": "serve MCP, over stdio or HTTP",
    "navigate": "find the code for a goal and print it",
    "context": "print the context, or the plan, of a stored navigation",
    "replay": "draw the context of a saved flight plan again",
    "prompt": "answer an assistant's prompt hook with the code for the prompt",
    "install": "add the server to an assistant's configuration",
    "doctor": "check that everything works here, offline",
    "bench": "run a published measurement",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that ``argv`` names and return its exit code; no error leaves a traceback."""
    shut_out_working_folder()
    prepare_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    os.environ.update(ONE_THREAD | os.environ)
    try:
        return _run(arguments)
    except TOLD as error:
        print(f"repo-navigator: {one_line(error)}", file=sys.stderr)
        return exit_code(error)
    except KeyboardInterrupt:
        print("repo-navigator: cancelled", file=sys.stderr)
        return CANCELLED
    except BrokenPipeError:
        # The reader has seen enough.
        drop_stdout()
        return 0
    except OSError as error:
        print(f"repo-navigator: {storage_sentence(error)}", file=sys.stderr)
        return BAD_INPUT
    except Exception as error:
        logging.getLogger(__name__).debug("unexpected", exc_info=True)
        cause = _first_cause(error)
        print(
            f"repo-navigator: failed unexpectedly ({type(cause).__name__}: {one_line(cause)}); "
            "REPO_NAVIGATOR_LOG_LEVEL=debug shows where, `repo-navigator doctor` checks the installation.",
            file=sys.stderr,
        )
        return UNEXPECTED


def _run(arguments: list[str]) -> int:
    parser = FlagParser(
        prog="repo-navigator", description="Find the code that matters for a task, within a token budget."
    )
    parser.add_argument("--version", action=TellVersion)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    # Only the named command is imported: serving must not wait for what navigating needs.
    named = next((argument for argument in arguments if argument in _COMMANDS), None)
    module: ModuleType | None = None
    for name, summary in _COMMANDS.items():
        sub = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name == named:
            with ending_at_once("repo-navigator"), large_imports(), models_built_on_first_use():
                module = importlib.import_module(f"repo_navigator.{name}")
            module.add_arguments(sub)
    options = parser.parse_args(arguments)
    assert module is not None
    settings = read_settings(os.environ)
    code: int = module.run(options, settings)
    return code


def _first_cause(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


if __name__ == "__main__":
    sys.exit(main())
