"""``repo-navigator doctor``: check that everything works here, offline."""

from __future__ import annotations

import argparse
import json
import os

from mcp_server.checks import Finding, State, all_findings
from mcp_server.settings import Settings

_MARKS = {State.OK: "✓", State.NOTE: "·", State.FAILED: "✗"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Print every finding as it comes; the exit code is 1 where one failed."""
    findings: list[Finding] = []
    for finding in all_findings(settings, os.environ):
        findings.append(finding)
        if not options.json:
            print(_line(finding), flush=True)
    if options.json:
        print(json.dumps({"findings": [finding._asdict() for finding in findings]}, ensure_ascii=False))
    return int(any(finding.state is State.FAILED for finding in findings))


def _line(finding: Finding) -> str:
    advice = f"\n    → {finding.advice}" if finding.advice else ""
    return f"{_MARKS[finding.state]} {finding.name}: {finding.detail}{advice}"
