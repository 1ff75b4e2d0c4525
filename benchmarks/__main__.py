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
            "abstention",
            "benchmarks.outside.abstention",
            "Agent Retrieval Bench: does the answer say so where there is nothing to find?",
            "Measure on Agent Retrieval Bench's tasks whether the answer says where nothing is to be found.",
            ("abstention.jsonl samples.jsonl --mirrors MIRRORS --out rows.jsonl",),
        ),
        Command(
            "agents",
            "benchmarks.agents",
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
            "benchmarks.check",
            "does the check of an edit find the use that a commit forgot, and nothing where none is?",
            "Leave one use out of real commits, and count what the check of the edit finds.",
            ("pallets/jinja --mirrors MIRRORS --out check.jsonl",),
        ),
        Command(
            "claims",
            "benchmarks.claims",
            "which command makes which published figure, and do they still agree?",
            "Run the commands behind the published figures on their kept rows, and compare with the pages.",
            ("",),
        ),
        Command(
            "cold",
            "benchmarks.cold",
            "what a first index costs, beside ctags and CodeGraph, in turns",
            "Time a first index of each tree, in turns with ctags and CodeGraph where they are installed.",
            ("django theia --rounds 2",),
        ),
        Command(
            "concurrency",
            "benchmarks.concurrency",
            "many navigations at once over HTTP, and a kill in the middle",
            "Navigate many times at once over HTTP, with a kill in the middle, and count what was lost.",
            ("--navigations 10",),
        ),
        Command(
            "contextbench",
            "benchmarks.outside.contextbench",
            "ContextBench: how much of what people chose does the first answer hold?",
            "Measure on ContextBench's tasks which chosen files, definitions and lines the answer holds.",
            ("ContextBench/data/test.parquet --mirrors MIRRORS --out rows.jsonl",),
        ),
        Command(
            "explain",
            "benchmarks.small_model.explain",
            "how likely is the true fix to a model that was given the context?",
            "Measure how likely a language model finds the lines of the true fix, behind each context.",
            ("tasks.jsonl --answers RESULTS --out explain.jsonl",),
        ),
        Command(
            "growth",
            "benchmarks.growth",
            "what questions and indexes cost as a tree grows, beside ctags and ripgrep",
            "Measure first looks, whole indexes and warm questions of trees of growing size.",
            ("--files 1000,10000 --out growth.jsonl --svg growth.svg",),
        ),
        Command(
            "hook-hosts",
            "benchmarks.hook_hosts",
            "does what a hook says reach the model of each assistant?",
            "Run the assistants' own command lines against a stand-in for their models, on loopback.",
            ("node_modules/.bin",),
        ),
        Command(
            "hook-speed",
            "benchmarks.hook_speed",
            "how long does a host wait for a hook after a search?",
            "Time hooks after searches, in made-up trees of several sizes.",
            ("--files 1000,10000 --rounds 40",),
        ),
        Command(
            "hooks",
            "benchmarks.hooks",
            "in replayed runs, when would hooks have spoken, and were they right?",
            "Count how often what hooks said in replayed runs names the file that the agent opens next.",
            ("--rows replay/said.jsonl",),
        ),
        Command(
            "impact",
            "benchmarks.impact",
            "from half of a commit, how much of the other half is shown?",
            "Give half of what commits edit, and count the functions of the other half that are shown.",
            ("encode/starlette pallets/jinja",),
        ),
        Command(
            "orders",
            "benchmarks.small_model.orders",
            "does a model obey an order that stands in a repository, with the markers and without?",
            "Plant orders in small repositories, and count how many of them a language model obeys.",
            ("--out orders.jsonl",),
        ),
        Command(
            "outages",
            "benchmarks.outages",
            "a team's servers while one hangs, each is upgraded, or the database restarts",
            "Call three servers without end while something fails, and count what callers see of it.",
            ("hang --principals 20",),
        ),
        Command(
            "poisoning",
            "benchmarks.poisoning.command",
            "does a stuffed file or commit come among the first three files?",
            "Stuff the trees of tasks with the words of their goals, and count what that displaces.",
            ("tasks.jsonl --out poisoning.jsonl",),
        ),
        Command(
            "localize",
            "benchmarks.localize",
            "does the context hold the code that the real fix edited?",
            "Measure on tasks whether the context holds the code that the real fix edited.",
            ("tasks.jsonl --limit 10",),
        ),
        Command(
            "relations",
            "benchmarks.relations",
            "who uses what, held against a language server",
            "Hold who uses what against the answers of a language server, and report precision and recall.",
            ("--language go gin echo",),
        ),
        Command(
            "replay",
            "benchmarks.replay",
            "what would a packet have saved in public runs of real agents?",
            "Replay public runs of real agents with a packet in their first prompt, and price what changes.",
            ("tasks.jsonl --runs runs --out replay",),
        ),
        Command(
            "repository-choice",
            "benchmarks.repository_choice",
            "which of many repositories is a goal about, and how soon is that answered?",
            "Choose among repositories by goals alone; tell how often that is right, or how long it took.",
            ("--made 200",),
        ),
        Command(
            "rights",
            "benchmarks.rights",
            "does the time of an answer tell what a caller may not know?",
            "Time what is another's against what is not there, by every door, and compare by a rank test.",
            ("--calls 400",),
        ),
        Command(
            "sharing",
            "benchmarks.sharing",
            "what do servers save that share what they parsed?",
            "Open a repository as servers of a team do, and count CPU seconds, files parsed, bytes stored.",
            ("FOLDER --rounds 3",),
        ),
        Command(
            "startup",
            "benchmarks.startup",
            "how soon the server answers, cold and warm",
            "Measure how soon the server answers, from a cold process to a warm step.",
            ("--rounds 3",),
        ),
        Command(
            "study",
            "benchmarks.study.command",
            "the registered study: agents with the tool, with hooks, with both, with neither",
            "Let agents try registered tasks with and without the tool and the hooks, and report the pairs.",
            ("--dry-run", "--model gemini-2.5-flash --max-cost 50"),
        ),
        Command(
            "team",
            "benchmarks.team",
            "a team's servers behind nginx while servers, database and git host misbehave",
            "Navigate over servers that are killed, hang or are upgraded, and count what was lost.",
            (
                "--navigations 30 --principals 6",
                "--trouble kill,hang,database,webhooks --principals 50 --pause 5 --alone 10",
            ),
        ),
    ),
    debugging="BENCHMARKS_DEBUG=1",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the measurement that ``argv`` names and return its exit code, as the product's commands do."""
    return run_program(BENCHMARKS, argv)


if __name__ == "__main__":
    sys.exit(main())
