"""The official conformance suite, MCPB's command line on our bundle, and axe-core on the map's page."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.conformance.node import HERE, TooSlowError, run_tool
from tests.conformance.serving import served

REVISIONS: Final = ("2025-11-25", "2026-07-28")
"""The last revision of each era."""
_SCENARIO: Final = re.compile(r"^([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed$", re.M)
_AXE_TESTS: Final = ("tests/mcp_server/test_view_in_browser.py", "-k", "axe", "-rs")
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


def check_axe(environ: Mapping[str, str]) -> list[str]:
    """Run the tests that ask axe-core about the map's page; return what failed."""
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *_AXE_TESTS)
    done = subprocess.run(
        command, cwd=HERE.parents[1], env=dict(environ), capture_output=True, text=True, check=False
    )
    *before, last = done.stdout.strip().splitlines() or [done.stderr]
    skipped = [line for line in before if line.startswith("SKIPPED")]
    print(f"axe-core: {'; '.join([last, *skipped])}", flush=True)
    told = [line for line in before if line.startswith("E  ")][:4] or [last]
    return [f"axe-core: {line}" for line in told] if done.returncode else []


def check_bundle(environ: Mapping[str, str]) -> list[str]:
    """Validate the manifest of our bundle; return what is wrong with it."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "repo-navigator.mcpb")
        build = [sys.executable, HERE.parents[1] / "packaging/bundle.py", target]
        subprocess.run(build, check=True, capture_output=True)
        with zipfile.ZipFile(target) as bundle:
            bundle.extract("manifest.json", folder)
        done = run_tool(environ, "mcpb", "validate", str(Path(folder, "manifest.json")))
    if done.returncode:
        return [f"bundle: {(done.stdout + done.stderr).strip()}"]
    print("bundle: its manifest is valid", flush=True)
    return []
