"""A goal's text parsed: words, code, traces, mentions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from repo_map.relevance.goal_noise import (
    FILLER,
    TRACE_LINE,
    clean,
    drop_boilerplate,
    drop_version_dumps,
    first_line,
    split_title,
)
from repo_map.relevance.goal_places import (
    URL,
    TraceFrame,
    find_crash,
    find_dotted_names,
    find_frames,
    find_paths,
)
from repo_map.relevance.priors import FileKindIntent, file_kind_intents
from repo_map.text.terms import terms_of, words

FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_MOST_COMPOUNDS = 400


def compounds(text: str) -> list[str]:
    """Return neighbouring words run together, two and three at a time."""
    found: list[str] = []
    for clause in re.split(r"[.,;:!?()\n]", text):
        run = [word.lower().replace("_", "") for word in re.findall(r"[A-Za-z]\w*", clause)]
        found.extend(a + b for a, b in pairwise(run) if len(a) > 1 and len(b) > 1)
        found.extend(a + b + c for a, b, c in zip(run, run[1:], run[2:], strict=False))
    return found[:_MOST_COMPOUNDS]


class GoalPart(StrEnum):
    """Where in the goal a term stands."""

    TITLE = "title"
    PROSE = "prose"
    INLINE = "inline"
    """Inline code, and identifiers in prose."""
    CODE = "code"
    ERROR = "error"


class ParsedGoal(NamedTuple):
    """Everything that scoring wants to know of a goal."""

    title: str
    terms: Mapping[GoalPart, Mapping[str, int]]
    """How often each term stands in each source."""
    paths: tuple[str, ...]
    """Paths and file names, as written."""
    frames: tuple[TraceFrame, ...]
    """Places in stack traces, diagnostics and links into the source, in order."""
    crash: tuple[TraceFrame, ...]
    """Of these, the trace that tells where it broke, innermost first."""
    dotted: tuple[str, ...]
    """Qualified names, written with dots: ``Router.dispatch``."""
    identifiers: Mapping[str, GoalPart]
    """Names that look like code, case kept, each with the best source that it stands in."""
    messages: tuple[str, ...]
    """Quoted texts and error messages, to be found in string literals."""
    compounds: tuple[str, ...]
    """Neighbouring words run together, as they would be in an identifier: ``cachekey``."""
    flags: tuple[str, ...]
    """Command line flags without dashes."""
    aims: FileKindIntent
    """What it is about beside the code."""
    surface: Mapping[str, str]
    """Term → the word that it came from, for reasons."""


_INDENTED = re.compile(r"(?:^(?: {4}|\t)[^\n]*\n?)+", re.MULTILINE)
_INLINE = re.compile(r"`([^`\n]{1,200})`")
_ERROR_NAME = re.compile(r"\b[A-Za-z_][\w.]*(?:Error|Exception|Warning)\b(?::\s*([^\n`]{4,300}))?")
_ERROR_MESSAGE = re.compile(r"(?:Exception|rror|panic\w*)\b.*?:\s*(.{6,300})")
_QUOTED = re.compile(r"\"([^\"\n]{6,200})\"|(?<!\w)'([^'\n]{6,200})'(?!\w)|[“«]([^”»\n]{6,200})[”»]")
_IDENTIFIER = re.compile(r"\b[A-Za-z_]\w{2,}\b")
_USED_NAME = re.compile(r"\b([A-Za-z_]\w{2,})\s*\(|\.([A-Za-z_]\w{2,})|\b([A-Z]\w{2,})")
_CALL = re.compile(r"\b([A-Za-z_]\w{2,})\(")
_CODE_LIKE = re.compile(r"\w_\w|[a-z0-9][A-Z]|[A-Z]{2,}[a-z]|^_+\w|[A-Za-z]\d")
_CODE_MARK = re.compile(r"[=({;]|->|::")
_FLAG = re.compile(r"(?<![\w-])--([A-Za-z][\w-]{2,40})")
_OPERATORS = {
    "+": "__add__",
    "-": "__sub__",
    "*": "__mul__",
    "@": "__matmul__",
    "/": "__truediv__",
    "//": "__floordiv__",
    "%": "__mod__",
    "**": "__pow__",
    "==": "__eq__",
    "!=": "__ne__",
    "<": "__lt__",
    "<=": "__le__",
    ">": "__gt__",
    ">=": "__ge__",
    "&": "__and__",
    "|": "__or__",
    "^": "__xor__",
    "~": "__invert__",
    "<<": "__lshift__",
    ">>": "__rshift__",
    "[]": "__getitem__",
    "()": "__call__",
    "in": "__contains__",
    "+=": "__iadd__",
    "|=": "__ior__",
    "&=": "__iand__",
}


def parse_goal(goal: str) -> ParsedGoal:
    """Take a goal apart; any text will do, an empty one gives an empty goal."""
    text = clean(goal)
    without_links = drop_version_dumps(URL.sub(" ", text))
    title, body = split_title(without_links)
    reader = _Reader()
    prose = drop_boilerplate(reader.take_code(body))
    reader.take_prose(title, GoalPart.TITLE)
    reader.take_prose(prose, GoalPart.PROSE)
    return ParsedGoal(
        title=title,
        terms={source: dict(counts) for source, counts in reader.terms.items()},
        paths=find_paths(text),
        frames=find_frames(text),
        crash=find_crash(text),
        dotted=find_dotted_names(without_links),
        identifiers=reader.identifiers,
        messages=tuple(dict.fromkeys(reader.messages)),
        compounds=tuple(dict.fromkeys([*compounds(title), *compounds(prose)])),
        flags=tuple(dict.fromkeys(_FLAG.findall(text))),
        aims=file_kind_intents(first_line(without_links)),
        surface=reader.surface,
    )


class _Reader:
    """Gathers what the parts of a goal say."""

    def __init__(self) -> None:
        self.terms: dict[GoalPart, Counter[str]] = {source: Counter() for source in GoalPart}
        self.identifiers: dict[str, GoalPart] = {}
        self.messages: list[str] = []
        self.surface: dict[str, str] = {}

    def take_code(self, text: str) -> str:
        """Read fenced and indented blocks and traces; return the prose that is left."""
        for fence in FENCE.finditer(text):
            self._take_block(fence[2])
        lines: list[str] = []
        for line in FENCE.sub("", text).split("\n"):
            if TRACE_LINE.match(line):
                self._take_error(line)
            else:
                lines.append(line)
        return _INDENTED.sub(self._take_indented, "\n".join(lines))

    def take_prose(self, text: str, source: GoalPart) -> None:
        """Read running text: its words, inline code, identifiers, quoted messages."""
        for inline in _INLINE.findall(text):
            code = inline.strip()
            self._add(_OPERATORS.get(code, code), GoalPart.INLINE)
            self._name(_IDENTIFIER.findall(code), GoalPart.INLINE)
        self.messages.extend(quoted for quotes in _QUOTED.findall(text) for quoted in quotes if quoted)
        self.messages.extend(message.strip() for message in _ERROR_NAME.findall(text) if message)
        self._add(FILLER.sub(" ", text), source)
        self._add(" ".join(_FLAG.findall(text)).replace("-", "_"), GoalPart.INLINE)
        bare = _INLINE.sub(" ", text)
        names = [name for name in _IDENTIFIER.findall(bare) if _CODE_LIKE.search(name)] + _CALL.findall(bare)
        self._add(" ".join(dict.fromkeys(names)), GoalPart.INLINE)
        self._name(names, GoalPart.INLINE)

    def _take_indented(self, block: re.Match[str]) -> str:
        if not _CODE_MARK.search(block[0]):
            return block[0]
        self._take_block(block[0])
        return "\n"

    def _take_block(self, block: str) -> None:
        for line in block.split("\n"):
            if TRACE_LINE.match(line):
                self._take_error(line)
            else:
                self._add(line, GoalPart.CODE)
        self._name((name for names in _USED_NAME.findall(block) for name in names if name), GoalPart.CODE)

    def _take_error(self, line: str) -> None:
        self._add(line, GoalPart.ERROR)
        self._name((name for name in _IDENTIFIER.findall(line) if _CODE_LIKE.search(name)), GoalPart.ERROR)
        self.messages.extend(_ERROR_MESSAGE.findall(line))

    def _add(self, text: str, source: GoalPart) -> None:
        for word in words(text):
            for term in terms_of(word):
                self.terms[source][term] += 1
                self.surface.setdefault(term, word)

    def _name(self, names: Iterable[str], source: GoalPart) -> None:
        for name in names:
            if terms_of(name) and _better(source, self.identifiers.get(name)):
                self.identifiers[name] = source


_BEST_FIRST = (GoalPart.INLINE, GoalPart.TITLE, GoalPart.PROSE, GoalPart.ERROR, GoalPart.CODE)


def _better(source: GoalPart, known: GoalPart | None) -> bool:
    return known is None or _BEST_FIRST.index(source) < _BEST_FIRST.index(known)
