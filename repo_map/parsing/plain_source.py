"""Definitions of source that no grammar reads, by the words that begin a line and by indentation."""

from __future__ import annotations

import re
from typing import Final

from repo_map.languages.language import Found, words

_KINDS: Final = {
    "class": words(
        "class struct enum record type interface trait protocol object contract entity union service message"
    ),
    "module": words("module package namespace program"),
    "function": words(
        "function func fun fn def defn defun defmacro define defp sub subroutine proc procedure method macro"
        " template iterator predicate task let val"
    ),
}
_KIND_OF: Final = {word: kind for kind, each in _KINDS.items() for word in sorted(each)}
_MODIFIERS: Final = (
    "abstract|async|export|extern|final|global|inline|internal|local|override|private|protected|pub|public"
    "|pure|recursive|sealed|shared|static|virtual"
)
_NAME: Final = r"[A-Za-z_][\w.:!?'*/-]{0,100}"
_LINE: Final = re.compile(
    r"(?P<indent>[ \t]{0,12})(?:"
    rf"\(?(?:(?:{_MODIFIERS})\s+){{0,4}}(?P<keyword>{'|'.join(_KIND_OF)})\s+"
    rf"(?:rec\s+|body\s+)?\(?(?P<named>{_NAME})"
    rf"|(?P<assigned>{_NAME})\s{{0,40}}(?:<-|=)\s*(?:function|fn|lambda)\b"
    rf"|(?P<typed>{_NAME})\s+::?\s+\S"
    rf"|(?P<clause>[a-z]\w{{0,100}})\([^\n]{{0,200}}\)\s*(?:when\b[^\n]{{0,200}})?->"
    r"|[A-Za-z_][\w<>\[\],.*& ]{0,100}[\s*&](?P<declared>[A-Za-z_]\w{0,100})\s*"
    r"\([^;={}]{0,300}(?:\)[\w ]{0,40}\{?|,)\s{0,40}$"
    r")",
    re.IGNORECASE,
)
_STATEMENT: Final = re.compile(
    r"\s*(?:if|for|foreach|while|switch|match|case|return|else|elif|elsif|elseif|new|throw|catch|try|import|use|using"
    r"|open|include|require|do|await|yield|with|end)\b",
    re.IGNORECASE,
)
_CLOSING: Final = re.compile(r"\s*(?:[)\]}]|end\b|done\b|esac\b)", re.IGNORECASE)
_OPENING: Final = re.compile(r"\s*(?:\{|begin\b|is\b|where\b|=)", re.IGNORECASE)


def read_plain_source(source: bytes, max_definitions: int) -> list[Found]:
    """Return the definitions that lines seem to begin; each ends before the next line as far to the left."""
    lines = source.decode("utf-8", "replace").split("\n")
    starts = [0]
    for piece in source.split(b"\n"):
        starts.append(starts[-1] + len(piece) + 1)
    found: list[Found] = []
    for row, line in enumerate(lines):
        if len(found) > max_definitions:
            break
        begun = _LINE.match(line)
        if begun is None or _STATEMENT.match(line):
            continue
        name: str = next(filter(None, begun.group("named", "assigned", "typed", "clause", "declared")))
        kind = _KIND_OF.get((begun["keyword"] or "").lower(), "function")
        name = name.rstrip(":.-*/'")
        last = _last_row(lines, row, len(begun["indent"]))
        if name and not (begun["typed"] and begun["indent"]):
            end = starts[last + 1] - 1
            found.append(Found(starts[row], -end, name, kind, row, last, row, row, -1))
    return found


def _last_row(lines: list[str], row: int, indent: int) -> int:
    last = row
    for at in range(row + 1, len(lines)):
        line = lines[at]
        if not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        if depth > indent:
            last = at
        elif depth < indent:
            break
        elif _CLOSING.match(line):
            return at
        elif _OPENING.match(line):
            last = at
        else:
            break
    return last
