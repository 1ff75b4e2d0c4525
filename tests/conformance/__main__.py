"""``python -m tests.conformance``: the official suite and the official Inspector against the server."""

from __future__ import annotations

import argparse
import sys

from tests.conformance.inspector import check_inspector
from tests.conformance.node import UnavailableError, install
from tests.conformance.suite import check_suite


def main() -> int:
    """Install, run, print; the exit code is 1 where something failed, 3 where nothing could be run."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument(
        "--if-possible", action="store_true", help="end well where the official tools can't be installed"
    )
    options = parser.parse_args()
    try:
        environ = install()
    except UnavailableError as error:
        print(f"NOT CHECKED: the official conformance suite and Inspector were not run, because {error}.")
        return 0 if options.if_possible else 3
    failures = [*check_suite(environ), *check_inspector(environ)]
    for failure in failures:
        print(f"FAILED: {failure}")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
