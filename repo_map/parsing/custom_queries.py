"""The lines that a custom query captures in sources, within limits that hold for whatever was written."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from tree_sitter import Query, QueryCursor

from repo_map.deadline import CpuDeadline, seconds_for
from repo_map.languages.grammars import GrammarMissingError, ParseError, compile_query, parse
from repo_map.limits import Limits

Lines = tuple[tuple[int, int], ...]
"""First and last line of each capture, 1-based and inclusive, ascending."""

_MAX_MATCHES = 4_096
"""Begun and not finished at any one place."""
_MAX_DEPTH = 200
"""Levels of syntax on which a match may begin."""
_MAX_LINES = 20_000
"""First and last lines that one query may capture in all."""
_PARSE_SLACK_S = 1
_MIN_S = 0.001


class QueryRefusedError(Exception):
    """A query can't be run; the message says why."""


def captured_lines(
    text: str,
    languages: Sequence[str],
    sources: Sequence[tuple[str, bytes]],
    limits: Limits,
    end_after: Callable[[float], None],
) -> list[Lines]:
    """Return what a query captures in each source, given with its language.

    A query in progress can't be interrupted, and predicates may take exponential time: before each part of
    the work ``end_after`` is called with the CPU seconds after which this process is to end.

    Raises QueryRefusedError for a query that none of the languages understands, or that breaks a limit.
    """
    left = limits.query_seconds
    end_after(left)
    before = time.process_time()
    queries = _compile_each(text, languages)
    left -= time.process_time() - before
    found: list[Lines] = []
    total = 0
    for language, source in sources:
        lines: Lines = ()
        if (query := queries.get(language)) is not None:
            end_after(limits.parse_seconds + _PARSE_SLACK_S)
            try:
                tree = parse(source, language, CpuDeadline(seconds_for(len(source), limits.parse_seconds)))
            except (GrammarMissingError, ParseError):
                found.append(())
                continue
            end_after(max(left, _MIN_S))
            before = time.process_time()
            cursor = QueryCursor(query)
            cursor.match_limit = _MAX_MATCHES
            cursor.set_max_start_depth(_MAX_DEPTH)
            nodes = [node for group in cursor.captures(tree.root_node).values() for node in group]
            if cursor.did_exceed_match_limit:
                raise QueryRefusedError(
                    f"more than {_MAX_MATCHES:,} of its matches begin at one place; make its pattern simpler"
                )
            rows = {(node.start_point.row + 1, _last_line(node.end_point)) for node in nodes}
            lines = tuple(sorted((first, max(first, last)) for first, last in rows))
            left -= time.process_time() - before
        total += len(lines)
        if total > _MAX_LINES:
            raise QueryRefusedError(
                f"it captures more than {_MAX_LINES:,} parts; capture less, or show whole files by a rule"
            )
        found.append(lines)
    return found


def _compile_each(text: str, languages: Sequence[str]) -> dict[str, Query]:
    """Return the query for each language that understands it; the last problem counts where none does."""
    compiled: dict[str, Query] = {}
    problem = ""
    for language in languages:
        try:
            compiled[language] = compile_query(language, text)
        except ValueError as error:
            problem = problem if problem and not language else str(error).rstrip(".")
    if not compiled:
        raise QueryRefusedError(problem)
    return compiled


def _last_line(end: tuple[int, int]) -> int:
    row, column = end
    return row + 1 if column else row
