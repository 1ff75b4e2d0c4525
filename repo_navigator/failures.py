"""The one ladder from an exception to an exit code and its line on stderr, for every command line."""

from __future__ import annotations

import json
import logging
import os
import sys
from typing import TYPE_CHECKING, Final

from mcp_server.errors import BAD_INPUT, ErrorDetails, details_of, exit_code, one_line
from repo_map.errors import UserError, first_cause
from repo_navigator.terminal import CANCELLED, drop_stdout, print_text

if TYPE_CHECKING:
    from repo_navigator.commands import Program

DONE: Final = 0
UNEXPECTED: Final = 1


def report_failure(program: Program, error: BaseException, *, as_json: bool = False) -> int:
    """Tell on stderr, in one line, why a command ended, and return its exit code.

    With ``as_json`` stdout gets the code, the sentence and the argument as one JSON object too.

    0 if the reader has gone, 1 failed unexpectedly, 2 bad input, 3 no such repository, 4 no model answered,
    5 cancelled; `replay --fail-on-drift` gives 6 where the plan drifted.

    Raises:
        BaseException: ``error`` itself, where it is unexpected, and `REPO_MAP_DEBUG` asks for its place.
    """
    match error:
        case UserError():
            return _end(program, details_of(error), exit_code(error), as_json=as_json)
        case KeyboardInterrupt():
            return _end(program, ErrorDetails("cancelled", "cancelled"), CANCELLED)
        case BrokenPipeError():
            # The reader has seen enough.
            drop_stdout()
            return DONE
        case OSError():
            details = details_of(error, has_data=program.reads_settings)
            return _end(program, details, BAD_INPUT, as_json=as_json)
    logging.getLogger(__name__).debug("unexpected", exc_info=error)
    if not program.reads_settings and os.environ.get(program.debugging.partition("=")[0]):
        raise error
    cause = first_cause(error)
    message = (
        f"failed unexpectedly ({type(cause).__name__}: {one_line(cause)}); {program.debugging} shows where, "
        "`repo-navigator doctor` checks the installation."
    )
    return _end(program, ErrorDetails("internal_error", message), UNEXPECTED, as_json=as_json)


def _end(program: Program, details: ErrorDetails, code: int, *, as_json: bool = False) -> int:
    print(f"{program.name}: {details.message}", file=sys.stderr)
    if as_json:
        try:
            print_text(json.dumps(details.as_json(), ensure_ascii=False) + "\n")
        except BrokenPipeError:
            drop_stdout()
    return code
