"""``python -m benchmarks MEASUREMENT …``: the measurements behind the published figures, from a clone."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from repo_navigator.cli import Command, Program, run_program

BENCHMARKS: Final = Program(
    "python -m benchmarks",
    "Measure what the documents claim.",
    (
        Command(
            "agents",
            "agents that solve tasks, with and without retrieved context",
            "benchmarks.agents.command",
        ),
        Command(
            "answer",
            "does the first answer, as a host is sent it, name what the real fix edited?",
            "benchmarks.answer",
        ),
        Command(
            "check",
            "does the check of an edit find the use that a commit forgot, and nothing where none is?",
            "benchmarks.check.command",
        ),
        Command(
            "navigator",
            "what does a model that explores find, beside the embedded answer?",
            "benchmarks.navigator",
        ),
        Command("relations", "who uses what, held against a language server", "benchmarks.relations.command"),
        Command("startup", "how soon the server answers, cold and warm", "benchmarks.startup"),
    ),
    debugging="BENCHMARKS_DEBUG=1",
    collects_garbage=True,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the measurement that ``argv`` names and return its exit code, as the product's commands do."""
    return run_program(BENCHMARKS, argv)


if __name__ == "__main__":
    sys.exit(main())
