"""Shell commands taken apart as far as it takes to tell what they read and write."""

from __future__ import annotations

import re
from typing import NamedTuple

_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")
_OPERATORS = ("&&", "||", "|&", ";", "|", "&", "\n", "(", ")")
_REDIRECTION = re.compile(r"(?:\d|&)?(?:>>|>\||>|<)(?:&\d|&-)?")
_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r]+)
    | (?P<comment>(?<![^\s;|&(])\#[^\n]*)
    | (?P<redirection>(?:(?<!\S)\d|&)?(?:>>|>\||>|<)(?:&\d|&-)?)
    | (?P<operator>&&|\|\||\|&|[;|&\n()])
    | (?P<single>'[^']*')
    | (?P<double>"(?:[^"\\]|\\.)*")
    | (?P<escaped>\\.)
    | (?P<char>[^'"\\])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\([\\\"$`])")


class Simple(NamedTuple):
    """One simple command: ``grep -n x file``."""

    words: tuple[str, ...]
    writes: tuple[str, ...]
    """Files that its output goes to."""
    text: str
    """Its here-document."""
    is_fed: bool = False
    """Whether it reads what the command before it prints."""


def simple_commands(command: str) -> list[Simple] | None:
    """Return the simple commands of a shell command in order; None where a quote or a document has no end."""
    cut = _cut_documents(command)
    if cut is None:
        return None
    plain, documents = cut
    tokens = _tokens(plain)
    if tokens is None:
        return None
    found: list[Simple] = []
    words: list[str] = []
    writes: list[str] = []
    texts: list[str] = []
    expects, is_fed = "", False
    for token, quoted in [*tokens, (";", False)]:
        if not quoted and token in _OPERATORS:
            if words or writes:
                found.append(Simple(tuple(words), tuple(writes), "\n".join(texts), is_fed))
            is_fed = token in ("|", "|&") or (token == "\n" and is_fed and not words)
            words, writes, texts, expects = [], [], [], ""
        elif expects:
            writes += [token] if ">" in expects else []
            expects = ""
        elif not quoted and (number := re.fullmatch(r"\0(\d+)", token)):
            texts.append(documents[int(number[1])])
        elif not quoted and _REDIRECTION.fullmatch(token):
            expects = "" if "&" in token[1:] else token
        else:
            words.append(token)
    return found


def _cut_documents(command: str) -> tuple[str, list[str]] | None:
    """Take here-documents out; each leaves a mark that a shell command can't hold."""
    lines, kept, documents = command.split("\n"), [], []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        for match in _HEREDOC.finditer(line):
            if match.start() and line[match.start() - 1] == "<":
                continue
            ends = next((end for end in range(at, len(lines)) if lines[end].strip() == match[2]), None)
            if ends is None:
                return None
            documents.append("\n".join(lines[at:ends]))
            line = line.replace(match[0], f" \0{len(documents) - 1} ", 1)
            at = ends + 1
        kept.append(line)
    return "\n".join(kept), documents


def _tokens(text: str) -> list[tuple[str, bool]] | None:
    """Return words and operators, each with whether some of it was quoted; None where a quote has no end."""
    found: list[tuple[str, bool]] = []
    word, quoted, at = "", False, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        at, what, piece = match.end(), match.lastgroup, match[0]
        if what in ("space", "operator", "redirection"):
            found += [(word, quoted)] if word or quoted else []
            found += [(piece, False)] if what != "space" else []
            word, quoted = "", False
        elif what == "double":
            word, quoted = word + _ESCAPED.sub(r"\1", piece[1:-1]), True
        elif what == "single":
            word, quoted = word + piece[1:-1], True
        elif what != "comment":
            word += piece.removeprefix("\\").removeprefix("\n") if what == "escaped" else piece
    return [*found, *([(word, quoted)] if word or quoted else [])]
