"""Where a function that takes other values now is used as a value, and is called by what it is given to."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from repo_map.check.bare_names import SCRIPTS
from repo_map.check.occurrences import find_name
from repo_map.check.open_calls import files_naming
from repo_map.impact.sides import Sides
from repo_map.parsing.facts_model import VALUE, Site
from repo_map.parsing.forms import ParameterForm
from repo_map.relations.model import Confidence, Place, RelationKind
from repo_map.relations.text_search import row_at

_NO_SITES: Final = frozenset({"rust"})
"""Languages whose facts hold calls alone: values are looked for in their text."""
_PATH: Final = re.compile(r"(?:[(\[,=:&]|\breturn)\s*((?:\w+::)*)\Z")
_LONGEST_PATH: Final = 120
_IS_OVER: Final = re.compile(r"[ \t]*(?:[,;)\]}\n]|\Z)")
_BOUND: Final = (
    r"\b(?:let|for|mut|ref)\s+{0}\b|\b{0}\s*:(?!:)|\|[^|\n]*\b{0}\b[^|\n]*\||"
    r"[(,{{]\s*{0}\s*(?:,[^()]*)?[)}}]\s*(?:=>|=(?!=)|if\b)"
)
"""What makes a bare name one of the function's own."""
_EXPORTS: Final = re.compile(
    r"\bexports(?:\.\w+)?[ \t]*=[ \t]*(?:\{[^{}]*\}|(?:[\w.]+[ \t]*=[ \t]*)*[\w.]+(?=[ \t]*(?:[;\n]|\Z)))"
)


def is_wider(old: Sequence[ParameterForm], new: Sequence[ParameterForm], language: str) -> bool:
    """Tell whether whoever called a function with what it took can do so now."""
    # What calls a function of a script may give it more than it took.
    return (
        language not in SCRIPTS
        and new[: len(old)] == old
        and all(each.is_optional for each in new[len(old) :])
    )


def value_uses(sides: Sides, before: Place, after: Place) -> Iterator[tuple[int, int]]:
    """Yield the files and lines after the change that stayed as they were and use a function as a value."""
    exported: dict[int, set[int]] = {}
    for use in sides.before.relations.uses_of(before, Confidence.LIKELY):
        file = sides.file_after(use.source[0])
        line = sides.line_after(use.source[0], use.line)
        if file is None or not line:
            continue
        if file not in exported:
            exported[file] = _exporting(sides, file)
        is_value = use.kind is RelationKind.VALUE and line not in exported[file]
        if is_value or (use.kind is RelationKind.CALL and _is_closure(sides, after, file, line)):
            yield file, line
    if sides.after.language(after[0]) in _NO_SITES:
        yield from _written(sides, after)


def _exporting(sides: Sides, file: int) -> set[int]:
    """Return the lines of a script that only give names to others."""
    if sides.after.language(file) not in SCRIPTS:
        return set()
    text = sides.after.index.text(file)
    return {
        line
        for each in _EXPORTS.finditer(text)
        for line in range(text.count("\n", 0, each.start()) + 1, text.count("\n", 0, each.end()) + 2)
    }


def _is_closure(sides: Sides, after: Place, file: int, line: int) -> bool:
    """Tell whether what looks like a call makes a value of a function, as PHP's ``f(...)`` does."""
    name = re.escape(sides.after.name(after))
    is_php = sides.after.language(file) == "php"
    return is_php and re.search(rf"\b{name}\s*\(\s*\.\.\.\s*\)", sides.after.line(file, line)) is not None


def _written(sides: Sides, after: Place) -> Iterator[tuple[int, int]]:
    """Yield where the name stands as a value by its text and means the function."""
    index, relations, name = sides.after.index, sides.after.relations, sides.after.name(after)
    for file in sorted(files_naming(index, name)):
        language = sides.after.language(file)
        if language not in _NO_SITES:
            continue
        text = index.text(file)
        starts = [at for at, letter in enumerate(text) if letter == "\n"]
        for at in find_name(text, name, language):
            path = _PATH.search(text, max(0, at - _LONGEST_PATH), at)
            line = bisect_right(starts, at - 1) + 1
            if path is None or not _IS_OVER.match(text, at + len(name)) or not sides.line_before(file, line):
                continue
            row, receiver = row_at(index, file, line), path[1].removesuffix("::").replace("::", ".")
            site = Site(name, receiver, row, line, VALUE, 0)
            is_local = not receiver and (row < 0 or _is_bound(sides, (file, row), name))
            if not is_local and after in relations.meaning(file, site).targets:
                yield file, line


def _is_bound(sides: Sides, around: Place, name: str) -> bool:
    text = "\n".join(sides.after.lines_of(around, whole=True))
    return re.search(_BOUND.format(re.escape(name)), text) is not None
