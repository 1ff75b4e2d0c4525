"""Report what an edit breaks, what it forgot, and which tests to run. The exit code is 1 if it finds
something. Documentation and the code samples in it are not searched.
"""

from __future__ import annotations

import json
from argparse import Namespace
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from mcp_server.settings import Settings
from navigator.workspaces.address import file_source_of
from repo_map.check.check import check_changes
from repo_map.check.git_diff import read_changes, require_git
from repo_map.check.report import format_annotations, format_json, format_sarif, format_text
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_navigator.arguments import open_index, require_repository
from repo_navigator.cli import Parser
from repo_navigator.terminal import print_text

if TYPE_CHECKING:
    from repo_map.check.model import CheckReport

EXAMPLES = ("", "--since main --json", ". --since main..HEAD --format sarif > check.sarif")
_FOUND: Final = 1
"""Exit code if there are findings, or if a strict check is not complete."""


def add_arguments(parser: Parser) -> None:
    """Add what is checked, and in which form findings are reported."""
    parser.add_value("repo", "REPO", "the repository (default: this git work tree)", nargs="?")
    parser.add_value(
        "--since",
        "REF",
        "check the changes since the merge base with a commit or branch, or a range A..B "
        "(default: uncommitted changes)",
        default="worktree",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json", "sarif", "github"),
        default="text",
        help="text, one JSON object, SARIF, or lines for GitHub",
    )
    parser.add_argument(
        "--json", dest="format", action="store_const", const="json", help="the same as --format json"
    )
    parser.add_switch("--strict", "exit with 1 also if the check is not complete")


def run(args: Namespace, settings: Settings) -> int:
    """Print the findings; return 1 if there are any, or if the check is strict and not complete."""
    address = require_repository(args.repo, (), settings, "as the first argument")
    require_git(file_source_of(address))
    index, store = open_index(address, settings)
    report = _check(index, store, args.since)
    print_text(_format(report, args.format))
    return _FOUND if report.findings or (args.strict and not report.complete) else 0


def _check(index: Index, store: Store, since: str) -> CheckReport:
    return check_changes(index, read_changes(index, since)[1])


def _format(report: CheckReport, form: str) -> str:
    if form == "json":
        return json.dumps(format_json(report), ensure_ascii=False) + "\n"
    if form == "sarif":
        return json.dumps(format_sarif(report, version("repo-navigator")), ensure_ascii=False) + "\n"
    return format_annotations(report) if form == "github" else format_text(report)
