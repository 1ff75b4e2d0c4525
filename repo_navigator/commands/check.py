"""``repo-navigator check``: report what an edit breaks, what it forgot, and which tests to run."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Final, Literal

from mcp_server.settings import Settings
from navigator.workspaces.address import file_source_of
from repo_map.check.check import check_changes
from repo_map.check.git_diff import read_changes
from repo_map.check.report import format_annotations, format_json, format_sarif, format_text
from repo_map.index.build import build_index, refresh_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_navigator.options import any_of, argument, flag, switch
from repo_navigator.repository_arguments import require_repository
from repo_navigator.terminal import print_text

if TYPE_CHECKING:
    from repo_map.check.model import CheckReport
    from repo_map.history.cochange import CoChangeIndex

FOUND: Final = 1
"""The exit code where something was found, or a strict check is not complete."""


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """What is checked, and in which form findings are reported."""

    repo: str | None = argument("REPO", "the repository (default: this git work tree)")
    since: str = flag(
        "--since",
        "REF",
        "check everything since HEAD left a commit or branch, or a range A..B (default: uncommitted changes)",
        default="worktree",
    )
    format: Literal["text", "json", "sarif", "github"] = any_of(
        flag(
            "--format",
            "",
            "text, one JSON object, SARIF, or lines for GitHub",
            choices=("text", "json", "sarif", "github"),
            default="text",
        ),
        switch("--json", "the same as --format json", value="json"),
    )
    strict: bool = switch("--strict", "end with exit code 1 also if the check could not decide everything")
    watch: bool = switch("--watch", "check again after each change, until Ctrl-C")


OPTIONS = CheckOptions
_POLL_SECONDS: Final = 0.5
_POLL_SHARE: Final = 9
"""Times as long as the last look at the tree: watching takes at most a tenth of one core."""


def run(options: CheckOptions, settings: Settings) -> int:
    """Print what is found, and return 1 where something is, or may be and the check is strict."""
    place = file_source_of(require_repository(options.repo, (), settings, "as the first argument"))
    store = Store(settings.cache_dir, settings.limits)
    index = build_index(place, store=store, unmasked=settings.unmasked, limits=settings.limits)
    if options.watch:
        return _watched(index, store, options)
    checked = _checked(index, store, options.since)
    print_text(_written(checked, options.format))
    return FOUND if checked.findings or (options.strict and not checked.complete) else 0


def _checked(index: Index, store: Store, since: str) -> CheckReport:
    def together() -> CoChangeIndex | None:
        from repo_map.history.cochange import CoChangeIndex  # noqa: PLC0415 - as above
        from repo_map.history.reader import source_history  # noqa: PLC0415 - few checks need it

        history = source_history(index.build.source, store=store)
        return None if history is None else CoChangeIndex(history)

    return check_changes(index, read_changes(index, since)[1], together)


def _written(checked: CheckReport, form: str) -> str:
    if form == "json":
        return json.dumps(format_json(checked), ensure_ascii=False) + "\n"
    if form == "sarif":
        return json.dumps(format_sarif(checked, version("repo-navigator")), ensure_ascii=False) + "\n"
    return format_annotations(checked) if form == "github" else format_text(checked)


def _watched(index: Index, store: Store, options: CheckOptions) -> int:
    """Print the result, and print it again whenever a change of the tree alters it, until Ctrl-C."""
    printed = ""
    checked_index = None
    try:
        while True:
            started = time.monotonic()
            index = refresh_index(index)
            if index is not checked_index:
                text = _written(_checked(index, store, options.since), options.format)
                if text != printed:
                    print_text(f"\n{text}" if printed and options.format == "text" else text)
                    sys.stdout.flush()
                checked_index, printed = index, text
            time.sleep(max(_POLL_SECONDS, _POLL_SHARE * (time.monotonic() - started)))
    except KeyboardInterrupt:
        return 0
