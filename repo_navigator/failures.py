"""The one ladder from an exception to an exit code and its line on stderr, for every command line."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Final

from mcp_server.errors import BAD_INPUT, CALLER_ERRORS, exit_code, one_line, storage_sentence
from repo_map.errors import first_cause
from repo_navigator.terminal import CANCELLED, drop_stdout

if TYPE_CHECKING:
    from repo_navigator.commands import Program

DONE: Final = 0
UNEXPECTED: Final = 1


def report_failure(program: Program, error: BaseException) -> int:
    """Tell on stderr, in one line, why a command ended, and return its exit code.

    0 where nobody reads on, 1 failed unexpectedly, 2 bad input, 3 no such repository, 4 no model answered,
    5 cancelled; `replay --fail-on-drift` gives 6 where the plan drifted.

    Raises:
        BaseException: ``error`` itself, where it is unexpected, and `REPO_MAP_DEBUG` asks for its place.
    """
    match error:
        case _ if isinstance(error, CALLER_ERRORS):
            return _end(program, one_line(error), exit_code(error))
        case KeyboardInterrupt():
            return _end(program, "cancelled", CANCELLED)
        case BrokenPipeError():
            # The reader has seen enough.
            drop_stdout()
            return DONE
        case OSError():
            return _end(program, storage_sentence(error, has_data=program.reads_settings), BAD_INPUT)
    logging.getLogger(__name__).debug("unexpected", exc_info=error)
    if not program.reads_settings and os.environ.get(program.debugging.partition("=")[0]):
        raise error
    cause = first_cause(error)
    message = (
        f"failed unexpectedly ({type(cause).__name__}: {one_line(cause)}); {program.debugging} shows where, "
        "`repo-navigator doctor` checks the installation."
    )
    return _end(program, message, UNEXPECTED)


def _end(program: Program, sentence: str, code: int) -> int:
    print(f"{program.name}: {sentence}", file=sys.stderr)
    return code
