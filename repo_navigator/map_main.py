"""The ``repo-map`` command: draw a map, or price one, without an agent."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from repo_navigator.cli import REPO_MAP, run_program


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that ``argv`` names and return its exit code; no error leaves a traceback."""
    return run_program(REPO_MAP, argv)


if __name__ == "__main__":
    sys.exit(main())
