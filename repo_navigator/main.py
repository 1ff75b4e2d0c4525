"""The ``repo-navigator`` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that ``argv`` names and return its exit code; no error leaves a traceback."""
    arguments = sys.argv[1:] if argv is None else argv
    if list(arguments[:1]) == ["hook"] and not {"-h", "--help"}.intersection(arguments):
        # A client waits for each hook: it imports none of what the other commands need.
        from repo_navigator.hook import run_hook  # noqa: PLC0415 - a hook waits for no other command

        return run_hook(arguments[1] if len(arguments) == 2 else "", exits=argv is None)
    from repo_navigator.cli import REPO_NAVIGATOR, run_program  # noqa: PLC0415 - a hook waits for no other command

    return run_program(REPO_NAVIGATOR, argv)


if __name__ == "__main__":
    sys.exit(main())
