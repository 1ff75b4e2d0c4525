"""Agents that solve tasks with retrieved context: what does the context help, and what does it cost?"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``repo-navigator bench agents``."""
    from benchmarks.agents import command  # noqa: PLC0415 - importing a part of the package loads no command

    command.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run ``repo-navigator bench agents``; return its exit status."""
    from benchmarks.agents import command  # noqa: PLC0415

    return command.run(options)
