"""Agents that solve tasks with retrieved context: what does the context help, and what does it cost?"""

from __future__ import annotations

import argparse
import sys

from navigator.errors import InvalidRequestError
from repo_navigator.flag_parser import FlagParser


def add_arguments(parser: FlagParser) -> None:
    """Add the arguments of ``python -m benchmarks agents``.

    Raises:
        InvalidRequestError: this system can't contain a candidate.
    """
    if sys.platform == "win32":
        raise InvalidRequestError(
            "`python -m benchmarks agents` runs code that a model wrote, and only a POSIX system can contain "
            "it; use WSL."
        )
    from benchmarks.agents import command  # noqa: PLC0415 - importing a part of the package loads no command

    command.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run ``python -m benchmarks agents``; return its exit status."""
    from benchmarks.agents import command  # noqa: PLC0415 - as above

    return command.run(options)
