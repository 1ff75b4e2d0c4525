"""Edited files that are no source any more: marks of a merge, and what the grammar can't read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from repo_map.impact.findings import Finding, FindingKind
from repo_map.impact.sides import Sides
from repo_map.sources.file_kinds import is_made

_STRICT: Final = frozenset(
    {"python", "go", "java", "rust", "json", "javascript", "typescript", "tsx", "php", "ruby"}
)
"""Languages whose grammars read what is right; of new files of others nothing is said."""
_ASIDE: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.S)
_LAST_COMMA: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|,\s*([}\]])')
_MERGE: Final = re.compile(r"<{7} \S|>{7} \S")


def unread_files(sides: Sides) -> Iterator[Finding]:
    """Yield the first place of each edited file that can't be read, where all could be before."""
    for each in sides.files:
        file = sides.after.index.file_id(each.new) if each.new else None
        if file is None:
            continue
        lines = sides.after.index.text(file).split("\n")
        marks = [at for at, line in enumerate(lines, 1) if _MERGE.match(line) and not each.lines.before(at)]
        if marks:
            yield _finding(each.new, marks[0], "it holds the marks of a merge", "resolve the merge")
            continue
        errors = sides.after.forms(file).errors
        before = sides.before.index.file_id(each.old) if each.old else None
        is_strict = sides.after.language(file) in _STRICT and not is_made(each.new)
        if not errors or (before is None and not is_strict) or _is_loose_json(each.new, "\n".join(lines)):
            continue
        if before is not None:
            was = sides.before.forms(before)
            texts = sides.before.index.text(before), sides.after.index.text(file)
            is_loose = sides.after.language(file) not in _STRICT and len(set(map(_open_brackets, texts))) == 1
            if was.errors or not was.is_read or is_loose:
                continue
        yield _finding(each.new, errors[0], "it does not parse from here on", "fix the syntax")


def _is_loose_json(path: str, text: str) -> bool:
    """Tell whether a file is JSON but for comments and commas at an end, as many tools read it."""
    if not path.endswith((".json", ".jsonc", ".json5")):
        return False
    bare = _ASIDE.sub(lambda found: found[0] if found[0][0] == '"' else "", text)
    try:
        msgspec.json.decode(_LAST_COMMA.sub(lambda found: found[1] or found[0], bare).encode())
    except msgspec.DecodeError:
        return False
    return True


def _open_brackets(text: str) -> tuple[int, ...]:
    """Return how many brackets of each kind stay open: of macros a grammar says too little."""
    return tuple(text.count(one) - text.count(other) for one, other in ("()", "{}", "[]"))


def _finding(path: str, line: int, message: str, action: str) -> Finding:
    return Finding(FindingKind.UNPARSED, path, line, "", "", message, action, is_sure=True)
