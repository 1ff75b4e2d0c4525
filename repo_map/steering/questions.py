"""Answers to what is asked in a step: lookups of the index, and what git and imports say of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import numpy as np

from repo_map.lookup.operations import answer as look_up
from repo_map.lookup.requests import LookupRequestError, Read, References, Request
from repo_map.messages import one_line, plural
from repo_map.outline.exclusions import excluded_by, included_paths
from repo_map.relations.resolve import relations_of
from repo_map.steering.targets import Target, named_by

if TYPE_CHECKING:
    from repo_map.history.history import History
    from repo_map.index.index import Index
    from repo_map.plan.model import FlightPlan
    from repo_map.steering.targets import NamedDefinition

_MAX_FILES: Final = 3
_MAX_COMMITS: Final = 8
_MAX_NAMED: Final = 20


@dataclass(frozen=True)
class QuestionContext:
    """What questions are asked of."""

    index: Index
    plan: FlightPlan
    own: FlightPlan
    """The part of the plan that the user asked for."""
    history: History | None = None


def answer_request(context: QuestionContext, request: Request, outline: Mapping[int, NamedDefinition]) -> str:
    """Return the answer to a lookup, fenced; numbers in it mean entries of the outline.

    Raises:
        LookupRequestError: it can't be answered as it is.
    """
    match request:
        case Read():
            request = replace(request, targets=tuple(_named(each, outline) for each in request.targets))
        case References():
            request = replace(request, symbol=_named(request.symbol, outline))
    index, own = context.index, context.own
    near = included_paths(index, context.plan)
    return look_up(index, request, near, lambda path: bool(excluded_by(own, path))).text


def _named(target: str, outline: Mapping[int, NamedDefinition]) -> str:
    """Return a target with an entry's path and name in the place of its number."""
    if not target.isdecimal() or len(target) > 4:
        return target
    entry = outline.get(int(target))
    if entry is None:
        raise LookupRequestError(unknown_numbers((target,), outline))
    return f"{entry.path}:{entry.name}" if entry.name else entry.path


def unknown_numbers(unknown: Iterable[int | str], outline: Mapping[int, NamedDefinition]) -> str:
    """Return the sentence that the outline has no such numbers."""
    asked = ", ".join(map(str, unknown))
    if not outline:
        return f"There was no outline to take `{asked}` from; name what you want to see."
    return f"The outline has no {asked}: its numbers go from {min(outline)} to {max(outline)}."


def answer_about_files(context: QuestionContext, question: str, target: Target) -> str:
    """Return the commits that changed the files of a target, what these import, or what imports them."""
    paths = list(target.paths) or sorted(named_by(context.index, target.patterns))
    lines = [_ANSWERS[question](context, path) for path in paths[:_MAX_FILES]]
    if len(paths) > _MAX_FILES:
        lines.append(f"{plural(len(paths) - _MAX_FILES, 'more file')} not listed; name one.")
    return "\n".join(lines) or f"{target.quoted} is no file."


def _imports(context: QuestionContext, path: str) -> str:
    index = context.index
    file = index.file_id(path)
    if file is None or not index.imports(file):
        return f"`{one_line(path)}` imports nothing."
    ours: dict[int, str] = {}
    for each in relations_of(index).imports_of(file):
        ours.setdefault(each.line, index.paths[each.target[0]])
    texts = (
        f"{one_line(each.module)}{f' → {one_line(ours[each.line])}' if each.line in ours else ''}:{each.line}"
        for each in index.imports(file)
    )
    return f"`{one_line(path)}` imports {_listed(texts)}"


def _importers(context: QuestionContext, path: str) -> str:
    index = context.index
    file = index.file_id(path)
    found = relations_of(index).importers_of(file) if file is not None else ()
    texts = [f"{one_line(index.paths[each.source[0]])}:{each.line}" for each in found]
    if not texts:
        return f"No file is known to import `{one_line(path)}`."
    return f"`{one_line(path)}` is imported in {_listed(texts)}"


def _commits(context: QuestionContext, path: str) -> str:
    history = context.history
    if history is None or not len(history):
        return "There is no git history here."
    rows = [row for row, known in enumerate(history.paths) if known == path]
    commits = history.file_commit[np.isin(history.file, rows)].tolist() if rows else []
    if not commits:
        return f"None of the last {plural(len(history), 'commit')} changed `{one_line(path)}`."
    texts = [
        f"{datetime.fromtimestamp(int(history.time[each]), UTC).date()} “{one_line(history.subjects[each])}”"
        for each in commits
    ]
    more = f" and {len(texts) - _MAX_COMMITS} more" if len(texts) > _MAX_COMMITS else ""
    return f"`{one_line(path)}`, last commits: {'; '.join(texts[:_MAX_COMMITS])}{more}."


def _listed(texts: Iterable[str]) -> str:
    entries = list(texts)
    more = f" and {len(entries) - _MAX_NAMED} more" if len(entries) > _MAX_NAMED else ""
    return f"{', '.join(entries[:_MAX_NAMED])}{more}."


_ANSWERS: Final = {"history": _commits, "imports": _imports, "importers": _importers}
