"""Search the text of an index by a regular expression; the hits are grouped by definition."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import re2

from repo_map.languages.kinds import CODE
from repo_map.lookup.locations import (
    Answer,
    FileLocations,
    Location,
    describe,
    find_files,
    has_text,
    is_left_out,
    listed_files,
    make_page,
    nothing_excluded,
    numbered,
    trust,
)
from repo_map.lookup.requests import LookupRequestError, Search
from repo_map.messages import one_line, plural

if TYPE_CHECKING:
    from repo_map.index.index import Index

MAX_DEFINITIONS: Final = 30
"""Definitions in one answer (NAVIGATOR.md 2 of the design; asked for by models that tried it)."""
MAX_TOKENS: Final = 1_500
MAX_PATTERN_CHARS: Final = 1_000
_MAX_MEMORY: Final = 8_000_000
"""Bytes that one expression may take when it is compiled and run."""
_MAX_HITS_IN_FILE: Final = 2_000
_WHOLE: Final = 3
"""Definitions that are shown whole."""
_WHOLE_LINES: Final = 25
_MAX_LINES_OF_ONE: Final = (12, 4)
"""Lines listed of one definition among few and among many, so that up to 30 fit."""
_FEW: Final = 10
"""Definitions that are few."""
_MANY_LINES: Final = 8
"""Matching lines from which more say nothing about a definition."""
_TOKEN: Final = re.compile(r"\\.|\[\]?(?:\\.|[^\]\\])*\]?|.", re.DOTALL)
"""An escape, a set or another character of a pattern."""
_EXAMPLE: Final = r"for example `def \w+_id\b` or `retry|backoff`, or send `literal: true`"


class _Line(NamedTuple):
    number: int
    at: int
    """Character at which the first hit begins."""


@dataclass
class _Group:
    """The hits within one definition or statement."""

    location: Location
    lines: list[_Line] = field(default_factory=list)
    alternatives: set[int] = field(default_factory=set)


def search(index: Index, request: Search, is_excluded: Callable[[str], bool] = nothing_excluded) -> Answer:
    """Return the definitions that hold hits, best first, with their matching lines.

    Args:
        index: where to search.
        request: what to search for.
        is_excluded: tells of a path that the user left it out.

    Raises:
        LookupRequestError: the pattern is none, or ``paths`` names no file.
    """
    expression = _compiled(request.pattern, request.literal, request.ignore_case)
    alternatives = _alternatives(request)
    files = find_files(index, request.paths) if request.paths.strip() else range(len(index))
    only_tests = bool(request.paths) and all(index.files.is_test(file) for file in files)
    only_copies = bool(request.paths) and all(is_left_out(index, file) for file in files)
    groups: list[_Group] = []
    tests = copies = 0
    for file in files:
        if not has_text(index, file) or is_excluded(index.paths[file]):
            continue
        hits = _hits(index.sources.content(file), expression)
        if not hits:
            continue
        if is_left_out(index, file) and not only_copies:
            copies += len(hits)
        elif index.files.is_test(file) and not (request.include_tests or only_tests):
            tests += len(hits)
        else:
            groups += _grouped(index, file, hits, alternatives)
    spread = Counter(position for group in groups for position in group.alternatives)
    groups.sort(key=lambda group: _order(index, group, request, spread))
    return _rendered(index, request, groups, tests, copies)


def hits_of(index: Index, pattern: str) -> Iterator[tuple[int, list[int]]]:
    """Yield each file that is no copy with the lines that a pattern matches, in path order."""
    expression = _compiled(pattern, literal=False, ignore_case=False)
    for file in range(len(index)):
        if has_text(index, file) and not is_left_out(index, file):
            hits = _hits(index.sources.content(file), expression)
            if hits:
                yield file, [line for line, _, _ in hits]


@lru_cache(maxsize=64)
def _compiled(pattern: str, literal: bool, ignore_case: bool) -> Any:
    if not pattern.strip():
        raise LookupRequestError(f"`pattern` is empty; give a regular expression, {_EXAMPLE}.")
    if len(pattern) > MAX_PATTERN_CHARS:
        raise LookupRequestError(
            f"`pattern` has {len(pattern):,} characters; the maximum is {MAX_PATTERN_CHARS:,}. Shorten it."
        )
    written = re2.escape(pattern) if literal else pattern
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    options.max_mem = _MAX_MEMORY
    try:
        compiled = re2.compile(f"(?m){written}".encode(), options)
    except re2.error as error:
        why = error.args[0].decode("utf-8", "replace") if error.args else "not a regular expression"
        why = one_line(why).replace("(?m)", "", 1)
        raise LookupRequestError(
            f"`{one_line(pattern)}` can't be searched for: {why}. Lookaround and backreferences are not"
            f" supported; write {_EXAMPLE}."
        ) from None
    if compiled.search(b"") is not None:
        raise LookupRequestError(
            f"`{one_line(pattern)}` matches an empty text, so every line; write {_EXAMPLE}."
        )
    return compiled


def _alternatives(request: Search) -> list[Any]:
    """Return the alternatives at the top of a pattern, each compiled; none for one that has only one."""
    if request.literal or "|" not in request.pattern:
        return []
    parts, depth = [""], 0
    for token in _TOKEN.findall(request.pattern):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += token
    if len(parts) < 2:
        return []
    try:
        return [_compiled(part, False, request.ignore_case) for part in parts if part]
    except LookupRequestError:
        return []


def _hits(source: bytes, expression: Any) -> list[tuple[int, int, bytes]]:
    """Return the line number, the column and the bytes of each line with a hit."""
    found: dict[int, tuple[int, int, bytes]] = {}
    counted_to, line = 0, 1
    for match in expression.finditer(source):
        start = match.start()
        line += source.count(b"\n", counted_to, start)
        counted_to = start
        if line not in found:
            begin = source.rfind(b"\n", 0, start) + 1
            end = source.find(b"\n", start)
            text = source[begin : end if end >= 0 else len(source)]
            found[line] = (line, len(source[begin:start].decode("utf-8", "replace")), text)
            if len(found) == _MAX_HITS_IN_FILE:
                break
    return list(found.values())


def _grouped(
    index: Index, file: int, hits: Sequence[tuple[int, int, bytes]], alternatives: Sequence[Any]
) -> list[_Group]:
    locations = FileLocations(index, file)
    groups: dict[tuple[int, int, str], _Group] = {}
    statement: Location | None = None
    for number, at, text in hits:
        if statement and not statement.kind and statement.first <= number <= statement.last:
            location = statement
        else:
            location = statement = locations.at(number)
        group = groups.setdefault(location[1:4], _Group(location))
        group.lines.append(_Line(number, at))
        group.alternatives.update(
            position for position, each in enumerate(alternatives) if each.search(text) is not None
        )
    return list(groups.values())


def _order(index: Index, group: _Group, request: Search, spread: Mapping[int, int]) -> tuple[object, ...]:
    """Return what sorts a group: source before text, most alternatives, rare ones, its name, many lines.

    ``spread`` is the number of groups that each alternative matches.
    """
    location = group.location
    expression = _compiled(request.pattern, request.literal, request.ignore_case)
    leaf = location.name.rpartition(".")[2].encode()
    name_rank = 2
    if leaf and expression.search(leaf) is not None:
        name_rank = 0 if expression.fullmatch(leaf) is not None else 1
    return (
        trust(index, location.file),
        -len(group.alternatives),
        name_rank > 0 and min((spread[each] for each in group.alternatives), default=0),
        name_rank,
        location.kind not in CODE,
        -min(len(group.lines), _MANY_LINES),
        location.file,
        location.first,
    )


def _rendered(index: Index, request: Search, groups: list[_Group], tests: int, copies: int) -> Answer:
    max_lines = _MAX_LINES_OF_ONE[len(groups) > _FEW]

    def forms(at: int, group: _Group) -> list[str]:
        return _described(index, group, max_lines, is_best=at < _WHOLE)

    page = make_page(groups, forms, MAX_TOKENS, cursor=request.cursor, limit=MAX_DEFINITIONS)
    notes = []
    if page.rest:
        files = listed_files(index, (group.location.file for group in page.rest))
        notes.append(f"{plural(len(page.rest), 'more definition')} in {files}; {page.continued}.")
    left_out = [
        text
        for number, text in (
            (tests, f"{plural(tests, 'line')} in tests (include_tests: true)"),
            (copies, f"{plural(copies, 'line')} in generated or vendored files"),
        )
        if number
    ]
    if left_out:
        notes.append(f"Left out: {', '.join(left_out)}.")
    if not groups:
        within = f" in `{one_line(request.paths)}`" if request.paths.strip() else ""
        notes.insert(0, f"No match for `{one_line(request.pattern)}`{within}.")
    locations = tuple(group.location for group in page.shown)
    return Answer("\n".join((*page.texts, *notes)), locations, page.cursor)


def _described(index: Index, group: _Group, max_lines: int, *, is_best: bool) -> list[str]:
    """Return the forms of a group from the fullest to the shortest."""
    location = group.location
    head = describe(index, location)
    lines = index.sources.text(location.file).split("\n")
    listed = [numbered(each.number, lines[each.number - 1], each.at) for each in group.lines]
    forms = []
    if is_best and location.last - location.first < _WHOLE_LINES and (location.kind or location.name):
        columns = {each.number: each.at for each in group.lines}
        whole = range(location.first, min(location.last, len(lines)) + 1)
        forms.append([numbered(number, lines[number - 1], columns.get(number, 0)) for number in whole])
    forms.append(listed)
    if len(listed) > max_lines:
        forms[-1] = [*listed[:max_lines], f"      … {plural(len(listed) - max_lines, 'more line')}"]
    forms.append(listed[:1])
    return ["\n".join((head, *form)) for form in forms]
