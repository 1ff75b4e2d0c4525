"""``python -m tests.conformance``: the official suite, the official Inspector and an older client."""

from __future__ import annotations

import argparse
import os
import sys

from tests.conformance.inspector import check_inspector
from tests.conformance.inspector_page import check_inspector_page
from tests.conformance.node import UnavailableError, install
from tests.conformance.older import check_older_client, older_python
from tests.conformance.suite import check_axe, check_bundle, check_suite


def main() -> int:
    """Install, run, print; the exit code is 1 where something failed, 3 where something could not be run."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument(
        "--if-possible", action="store_true", help="end well also where something can't be installed"
    )
    options = parser.parse_args()
    missing: list[str] = []
    failures = [*_official(missing), *_older(missing)]
    for line in missing:
        print(f"NOT CHECKED: {line}.")
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 3 if missing and not options.if_possible else 0


def _official(missing: list[str]) -> list[str]:
    try:
        environ = install()
    except UnavailableError as error:
        missing.append(f"the official conformance suite and Inspector can't be installed: {error}")
        return []
    checks = (check_suite, check_inspector, check_inspector_page, check_axe, check_bundle)
    return [failure for check in checks for failure in check(environ)]


def _older(missing: list[str]) -> list[str]:
    try:
        python = older_python()
    except UnavailableError as error:
        missing.append(f"a client of the SDK's 1.x versions can't be installed: {error}")
        return []
    return check_older_client(python, os.environ)


if __name__ == "__main__":
    sys.exit(main())
