"""``python -m tests.conformance``: the official suite and the official Inspector."""

from __future__ import annotations

import argparse
import sys

from tests.conformance.inspector import check_inspector
from tests.conformance.node import UnavailableError, install
from tests.conformance.suite import check_axe, check_bundle, check_suite


def main() -> int:
    """Install, run, print; the exit code is 1 where something failed, 3 where something could not be run."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument(
        "--if-possible", action="store_true", help="end well also where something can't be installed"
    )
    options = parser.parse_args()
    missing: list[str] = []
    failures = _official(missing)
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
    checks = (check_suite, check_inspector, check_axe, check_bundle)
    return [failure for check in checks for failure in check(environ)]


if __name__ == "__main__":
    sys.exit(main())
