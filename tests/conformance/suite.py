"""The official conformance suite: every server scenario that a revision of the protocol requires."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.conformance.node import HERE, TooSlowError, run_tool
from tests.conformance.serving import served

REVISIONS: Final = ("2025-11-25", "2026-07-28")
"""The last revision of each era."""
_SCENARIO: Final = re.compile(r"^([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed$", re.M)
_UNSCORED: Final = re.compile(r"^  [✓✗] ([\w-]+) \(", re.M)


def check_suite(environ: Mapping[str, str]) -> list[str]:
    """Run the suite and return what failed, one line each; nothing where all is well."""
    failures = []
    root = HERE.parents[1]
    with (
        served("tests.conformance.server", environ=environ, cwd=root) as url,
        tempfile.TemporaryDirectory() as out,
    ):
        for revision in REVISIONS:
            asked = ("server", "--url", url, "--requirements", revision, "-o", str(Path(out, revision)))
            try:
                done = run_tool(environ, "conformance", *asked)
            except TooSlowError as error:
                failures.append(f"conformance {revision}: {error}")
                continue
            passed, failed = scored(done.stdout)
            print(f"conformance {revision}: {passed} scored scenarios pass, {len(failed)} fail", flush=True)
            failures += [f"conformance {revision}: {line}" for line in failed]
            if not failed and (done.returncode or not passed):
                message = (done.stderr or done.stdout).strip().splitlines()
                failures.append(f"conformance {revision} ended with {done.returncode}: {message[-1:]}")
    return failures


def scored(message: str) -> tuple[int, list[str]]:
    """Return how many scored scenarios passed in the suite's output, and the lines of those that did not."""
    summary = message.partition("=== SUMMARY ===")[2]
    unscored = set(_UNSCORED.findall(summary.partition("Not scored")[2]))
    counted = [match for match in _SCENARIO.finditer(summary) if match[2] not in unscored]
    failed = [match[0] for match in counted if match[1] != "✓" or match[4] != "0"]
    return len(counted) - len(failed), failed
