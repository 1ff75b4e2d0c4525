"""The lines that a plan's custom queries capture."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from repo_map import globs
from repo_map.errors import FlightPlanError
from repo_map.selection.sections import Span

if TYPE_CHECKING:
    from tree_sitter import Query

    from repo_map.flight_plan import CustomQuery
    from repo_map.index import RepoIndex

_MOST_MATCHES = 4_096
"""Begun and not finished at any one place."""
_DEEPEST = 200
"""Levels of syntax on which a match may begin."""
_known: WeakKeyDictionary[RepoIndex, dict[tuple[int, str], tuple[tuple[int, int], ...]]] = WeakKeyDictionary()


def captured_spans(index: RepoIndex, queries: Sequence[CustomQuery]) -> dict[int, tuple[Span, ...]]:
    """Return, by file, the lines that the queries capture.

    Levels 2 and 3 show the definitions that begin in a captured node at that level; of a node that holds no
    definition they show the first line.

    Raises FlightPlanError for a query that no language of the files it is meant for understands.
    """
    found: dict[int, list[Span]] = {}
    for position, query in enumerate(queries):
        if query.level < 2:
            continue
        for file_id, ranges in _run(index, query, position).items():
            if query.level < 4:
                heads = sorted(definition.sig_start for definition in index.definitions(file_id))
                spans = [_outlined(a, b, query.level, heads) for a, b in ranges]
            else:
                spans = [Span(a, b, 4) for a, b in ranges]
            found.setdefault(file_id, []).extend(spans)
    return {file_id: tuple(sorted(set(spans))) for file_id, spans in sorted(found.items())}


def captures_nothing(index: RepoIndex, query: CustomQuery, position: int) -> bool:
    """Say whether a query that is run finds nothing in the files that it is meant for."""
    return query.level > 1 and not any(_run(index, query, position).values())


def _outlined(first: int, last: int, level: int, heads: Sequence[int]) -> Span:
    at = bisect_left(heads, first)
    has_definition = at < len(heads) and heads[at] <= last
    return Span(first, last, level) if has_definition else Span(first, first, 4)


def _run(index: RepoIndex, query: CustomQuery, position: int) -> dict[int, tuple[tuple[int, int], ...]]:
    by_language: dict[str, list[int]] = {}
    for file_id in globs.select(query.pattern, index.paths):
        language = index.languages[int(index.files.language[file_id])]
        by_language.setdefault(language, []).append(file_id)
    compiled, problem = _compile_each(query.query, sorted(by_language))
    if by_language and not compiled:
        raise FlightPlanError(f"`custom_queries[{position}].query` can't be run: {problem}.")
    return {
        file_id: _captured_lines(index, file_id, language, query.query, compiled[language])
        for language in compiled
        for file_id in by_language[language]
    }


def _compile_each(text: str, languages: Sequence[str]) -> tuple[dict[str, Query], str]:
    """Return the query for each language that understands it, and why the last other one does not."""
    from repo_map.parsing.languages import compile_query  # noqa: PLC0415 - tree-sitter loads only for plans with queries

    compiled, problem = {}, ""
    for language in languages:
        try:
            compiled[language] = compile_query(language, text)
        except ValueError as error:
            problem = problem if problem and not language else str(error).rstrip(".")
    return compiled, problem


def _captured_lines(
    index: RepoIndex, file_id: int, language: str, text: str, query: Query
) -> tuple[tuple[int, int], ...]:
    from tree_sitter import QueryCursor  # noqa: PLC0415

    from repo_map.parsing.deadline import Deadline, Patience, SuspiciousSourceError  # noqa: PLC0415
    from repo_map.parsing.languages import ParseError, parse  # noqa: PLC0415

    known = _known.setdefault(index, {})
    key = (file_id, text)
    if key not in known:
        try:
            tree = parse(index.source(file_id), language, Deadline(Patience(is_wary=True)))
        except (ParseError, SuspiciousSourceError):
            known[key] = ()
            return ()
        cursor = QueryCursor(query)
        # A query in progress can't be interrupted, and some take exponential time.
        cursor.match_limit = _MOST_MATCHES
        cursor.set_max_start_depth(_DEEPEST)
        nodes = [node for group in cursor.captures(tree.root_node).values() for node in group]
        lines = {(node.start_point.row + 1, _last_line(node.end_point)) for node in nodes}
        known[key] = tuple(sorted((first, max(first, last)) for first, last in lines))
    return known[key]


def _last_line(end: tuple[int, int]) -> int:
    row, column = end
    return row + 1 if column else row
