"""``python -m benchmarks MEASUREMENT …``: the measurements behind the published figures, from a clone."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from repo_navigator.command_line import run_program
from repo_navigator.commands import Command, Program

BENCHMARKS: Final = Program(
    "python -m benchmarks",
    "Measure what the documents claim.",
    (
        Command(
            "agents",
            "benchmarks.agents.command",
            "agents that solve tasks, with and without retrieved context",
            "Let agents solve tasks with and without retrieved context, and report what it helps and costs.",
            ("run --only python-voucher",),
        ),
        Command(
            "answer",
            "benchmarks.answer",
            "does the first answer, as a host is sent it, name what the real fix edited?",
            "Measure on tasks what the first answer, as a host is sent it, tells of what the fix edited.",
            ("tasks.jsonl --tokens 400,1000 --limit 10",),
        ),
        Command(
            "check",
            "benchmarks.check.command",
            "does the check of an edit find the use that a commit forgot, and nothing where none is?",
            "Leave one use out of real commits, and count what the check of the edit finds.",
            ("pallets/jinja --mirrors MIRRORS --out check.jsonl",),
        ),
        Command(
            "navigator",
            "benchmarks.navigator",
            "what does a model that explores find, beside the embedded answer?",
            "Let a model behind an OpenAI-compatible address navigate tasks; report finds and costs.",
            ("tasks.jsonl --model openai/any --url http://127.0.0.1:8571/v1 --limit 12",),
        ),
        Command(
            "relations",
            "benchmarks.relations.command",
            "who uses what, held against a language server",
            "Hold who uses what against the answers of a language server, and report precision and recall.",
            ("--language go gin echo",),
        ),
        Command(
            "startup",
            "benchmarks.startup",
            "how soon the server answers, cold and warm",
            "Measure how soon the server answers, from a cold process to a warm step.",
            ("--rounds 3",),
        ),
    ),
    debugging="BENCHMARKS_DEBUG=1",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the measurement that ``argv`` names and return its exit code, as the product's commands do."""
    return run_program(BENCHMARKS, argv)


if __name__ == "__main__":
    sys.exit(main())
