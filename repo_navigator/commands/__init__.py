"""The table of the commands of both command lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Command(NamedTuple):
    """A command, and its module, which has ``add_arguments(parser)`` and ``run(options[, settings])``."""

    name: str
    module: str
    summary: str
    """Beside the command's name in the list of all."""
    description: str
    """A sentence of its own ``--help``."""
    examples: tuple[str, ...]
    """Arguments that a newcomer can start from, each with what follows the command's name."""
    builds_tables: bool = False
    """Whether it ends soon and builds large tables: collecting garbage costs more than it frees."""
    warns_of_settings: bool = True
    """Whether a line on stderr tells of variables that begin like settings and are none. A server refuses
    them, as it would run without a limit or a token for months; the doctor reports them; a hook says nothing
    beside its answer."""


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
            "repo_navigator.commands.serve",
            "serve MCP, over stdio or HTTP",
            "Serve MCP over stdio to the assistant that starts it, or over HTTP to many clients.",
            ("", "--http 127.0.0.1:8321 --allow ~/work"),
            warns_of_settings=False,
        ),
        Command(
            "navigate",
            "repo_navigator.commands.navigate",
            "find the code for a goal and print it",
            "Find the code for a goal and print it, with the steps that led there on stderr.",
            (
                '. "A discount of 100 % makes the total negative"',
                ". --goal-file issue.md --tokens 4000 --save-plan plan.yaml",
                ". --since main",
                ". --goal-file issue.md --json > packet.json",
            ),
            builds_tables=True,
        ),
        Command(
            "ask",
            "repo_navigator.commands.ask",
            "search the code, read it, and follow its references",
            "Search the code of a repository, read it, and follow its references, without a navigation.",
            (
                "search 'def \\w+_total|LIFETIME'",
                "read Router.dispatch src/tokens.py:3-40",
                "callers Session.send --tests",
                "outline src/",
            ),
            builds_tables=True,
        ),
        Command(
            "context",
            "repo_navigator.commands.context",
            "print the context, or the plan, of a stored navigation",
            "Print the context, or the plan, of a stored navigation. With --feedback, take one more step.",
            ("", '--feedback "3, 7 and 12"', '--feedback "who calls Session.send?"', "--plan -o plan.yaml"),
        ),
        Command(
            "replay",
            "repo_navigator.commands.replay",
            "draw the context of a saved flight plan again",
            "Draw the context of a saved flight plan again, and report what changed since.",
            ("plan.yaml .", "plan.yaml . --json"),
            builds_tables=True,
        ),
        Command(
            "view",
            "repo_navigator.commands.view",
            "draw a picture of a navigation or of a saved flight plan",
            "Draw a picture of a stored navigation, or of a saved flight plan, as a page for a browser.",
            ("--html map.html", "plan.yaml . --html map.html"),
            builds_tables=True,
        ),
        Command(
            "check",
            "repo_navigator.commands.check",
            "report what an edit breaks, what it forgot, and which tests to run",
            "Report what an edit breaks, what it forgot, and which tests to run. The exit code is 1 "
            "if it finds something.",
            ("", "--since main --json", ". --since main..HEAD --format sarif > check.sarif"),
            builds_tables=True,
        ),
        Command(
            "forget",
            "repo_navigator.commands.forget",
            "delete stored navigations",
            "Delete stored navigations with their maps and reports: those you name, or all that are "
            "old. This can't be undone.",
            ("nav-6f2c1e0d8a4b5c7f9e3d1a2b", "--older-than 30"),
        ),
        Command(
            "token",
            "repo_navigator.commands.token",
            "make a bearer token for a user of an HTTP server",
            "Print a new bearer token once, and the entry to add to the file that REPO_NAVIGATOR_TOKENS "
            "names. Removing the entry withdraws the token.",
            ("alice", "alice --expires 2027-01-31"),
        ),
        Command(
            "hook",
            "repo_navigator.commands.hook",
            "check what an assistant edits, as a hook of its client",
            "Handle one event of a client's hooks: after an edit start a check, and report what it found at "
            "the next event. The client writes the event to stdin. `install --hooks` sets this up. The exit "
            "code is always 0.",
            ("prompt < event.json", "tool < event.json"),
            warns_of_settings=False,
        ),
        Command(
            "install",
            "repo_navigator.commands.install",
            "add the server to an assistant's configuration",
            "Add the server to an assistant's configuration; nothing else in it changes.",
            (
                "claude-code",
                "all --dry-run",
                "cursor --scope project",
                "claude-code --undo",
                "claude-code --hooks",
            ),
        ),
        Command(
            "doctor",
            "repo_navigator.commands.doctor",
            "check that everything works here, offline",
            "Check offline that everything works here, and say how to fix what does not. If a "
            "database or a bucket is set, connect to it, and to nothing else.",
            ("", "--json"),
            warns_of_settings=False,
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
            "repo_navigator.commands.generate",
            "draw a map",
            "Draw a map of a repository: its most central files in the most detail that the budget allows.",
            (". --tokens 4000", ". -v 'src/**:3' -v 'tests/**:0'", ". -C plan.yaml --strict"),
            builds_tables=True,
        ),
        Command(
            "costs",
            "repo_navigator.commands.costs",
            "price a map",
            "List what each part of a map would cost in tokens at each level, without drawing it.",
            (".", ". --by glob --glob 'src/**'"),
            builds_tables=True,
        ),
    ),
    debugging="REPO_MAP_DEBUG=1",
    # Pydantic would look for plugins in every installed distribution.
    environment={"PYDANTIC_DISABLE_PLUGINS": "__all__"},
)
