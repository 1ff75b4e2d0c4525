"""``repo-navigator ask``: search, read and follow references, without a navigation."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from navigator.planner.arguments import turn_request
from navigator.workspaces.address import file_source_of
from repo_map.history.reader import source_history
from repo_map.index.build import build_index
from repo_map.index.store import Store
from repo_map.plan.model import FlightPlan
from repo_map.steering.apply import steer
from repo_navigator.options import OutputOptions, argument, flag, nonempty, switch
from repo_navigator.repository_arguments import require_repository

_LISTS = ("read",)
"""Questions that take several values."""


@dataclass(frozen=True, kw_only=True)
class AskOptions(OutputOptions):
    """What is asked, and of which repository."""

    question: str | None = argument(
        "QUESTION", "search, read, outline, callers, uses, tests, history, …", read=nonempty, nargs=None
    )
    values: tuple[str, ...] = argument(
        "VALUE", "a pattern, name, path, path:3-90, or a JSON object", nargs="+"
    )
    repo: str | None = flag("--repo", "REPO", "the repository (default: this git work tree)", read=nonempty)
    paths: str | None = flag("--paths", "GLOB", "search only these files")
    tests: bool = switch("--tests", "list what stands in tests too")
    cursor: str | None = flag("--cursor", "N", "continue a list that was cut")


OPTIONS = AskOptions


def run(options: AskOptions, settings: Settings) -> int:
    """Print the answer; one that can't be given is refused with the reason."""
    assert options.question is not None, "argparse requires it"
    request = turn_request(ask={options.question: _value(options)})
    place = file_source_of(require_repository(options.repo, (), settings, "with --repo"))
    store = Store(settings.cache_dir, settings.limits)
    index = build_index(place, store=store, unmasked=settings.unmasked, limits=settings.limits)
    history = source_history(place, store=store) if options.question == "history" else None
    found = steer(index, FlightPlan(), "", typed=request.wishes, history=history)
    if found.not_understood:
        raise InvalidRequestError(" ".join(found.lines))
    if options.json:
        options.write_json({"question": options.question, "answer": found.answer})
    else:
        options.write(f"{found.answer}\n")
    return 0


def _value(options: AskOptions) -> Any:
    """Return what is asked as it goes over the wire: a text, a list, or an object with the flags in it."""
    first, *others = options.values
    flags: dict[str, Any] = {"paths": options.paths, "cursor": options.cursor}
    given = {name: value for name, value in flags.items() if value is not None}
    if options.tests:
        given["include_tests"] = True
    if first.lstrip().startswith("{") and not others:
        try:
            value = json.loads(first)
        except ValueError:
            # A pattern may begin so, too.
            value = None
        if isinstance(value, dict):
            return {**value, **given}
    if options.question in _LISTS:
        return [*options.values]
    if others:
        raise InvalidRequestError(
            f"`{options.question}` takes one value; quote it if it has blanks.", argument="VALUE"
        )
    field = {"search": "pattern", "outline": "path"}.get(options.question or "", "symbol")
    return {field: first, **given} if given else first
