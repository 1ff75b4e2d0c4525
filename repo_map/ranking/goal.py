"""A goal's text parsed: words, code, traces, mentions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple

from repo_map.ranking.goal_noise import (
    FENCE,
    FILLER,
    TRACE_LINE,
    clean,
    drop_boilerplate,
    drop_foreign_words,
    drop_template_lines,
    drop_version_dumps,
    first_line,
    split_title,
)
from repo_map.ranking.goal_places import (
    URL,
    TraceFrame,
    find_crash,
    find_dotted_names,
    find_frames,
    find_paths,
)
from repo_map.ranking.priors import FileKindIntent, file_kind_intents
from repo_map.text.terms import terms_of, tokenize

_MOST_COMPOUNDS = 400


def compounds(text: str) -> dict[str, str]:
    """Return neighbouring words run together, two and three at a time, and how they are written."""
    found: dict[str, str] = {}
    for clause in re.split(r"[.,;:!?()\n]", text):
        run = re.findall(r"[A-Za-z]\w*", clause)
        plain = [word.lower().replace("_", "") for word in run]
        pairs = [at for at, (a, b) in enumerate(pairwise(plain)) if len(a) > 1 and len(b) > 1]
        for size, starts in ((2, pairs), (3, range(len(run) - 2))):
            for at in starts:
                found.setdefault("".join(plain[at : at + size]), " ".join(run[at : at + size]))
    return dict(list(found.items())[:_MOST_COMPOUNDS])


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

    text: str
    """All of it, without markup that says nothing."""
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
    """Term → the word or words of the goal that it stands for, for reasons."""
    guesses: frozenset[str] = frozenset()
    """Of the identifiers those that the caller only guessed."""
    guessed_terms: frozenset[str] = frozenset()
    """Terms that stand in guesses alone."""
    names: tuple[str, ...] = ()
    """The guesses as the caller gave them."""

    @property
    def kind(self) -> str:
        """Which weights score it: ``question`` for one without names, else ``default``."""
        if self.names or len(self.text) > _MAX_QUESTION_CHARS:
            return "default"
        is_question = self.text.rstrip().endswith("?") or _QUESTION.match(self.text)
        return "question" if is_question else "default"


_MAX_QUESTION_CHARS = 600
_QUESTION = re.compile(r"\s*(?:how|where|which|what|who|explain|show me|find)\b", re.IGNORECASE)
_INDENTED = re.compile(r"(?:^(?: {4}|\t)[^\n]*\n?)+", re.MULTILINE)
_INLINE = re.compile(r"`([^`\n]{1,200})`")
_ERROR_NAME = re.compile(r"\b[A-Za-z_][\w.]*(?:Error|Exception|Warning)\b(?::\s*([^\n`]{4,300}))?")
_ERROR_MESSAGE = re.compile(r"(?:Exception|rror|panic\w*)\b.*?:\s*(.{6,300})")
_QUOTED = re.compile(r"\"([^\"\n]{6,200})\"|(?<!\w)'([^'\n]{6,200})'(?!\w)|[“«]([^”»\n]{6,200})[”»]")
_IDENTIFIER = re.compile(r"\b[A-Za-z_]\w{2,}\b")
_USED_NAME = re.compile(r"\b([A-Za-z_]\w{2,})\s*\(|\.([A-Za-z_]\w{2,})|\b([A-Z]\w{2,})")
_CALL = re.compile(r"\b([A-Za-z_]\w{2,})\(")
_CODE_LIKE = re.compile(r"\w_\w|[a-z0-9][A-Z]|[A-Z]{2,}[a-z]|^_+\w|[A-Za-z]\d")
_CONTRACTION = re.compile(r"\b\w+n['’]t\b|['’](?:s|re|ve|ll|d|m)\b", re.IGNORECASE)
"""``don't``, ``we've``: neither ``don`` nor ``ve`` is a word."""
_HYPHENATED = re.compile(r"[A-Za-z]\w*(?:-\w+)+")
_SHORT_PART = 3
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


def parse_goal(
    goal: str,
    is_known: Callable[[str], bool] = lambda _path: True,
    template: Container[str] = frozenset(),
    names: Sequence[str] = (),
) -> ParsedGoal:
    """Take a goal apart; any text will do, an empty one gives an empty goal.

    Args:
        goal: what the user wrote.
        is_known: whether the repository has a file that a stack trace calls by a path: what a trace says of
            other projects counts nothing.
        template: lines that count nothing, by ``line_said``.
        names: identifiers that the caller guesses to be in the code. They count as if the goal listed them,
            but nothing is concluded from a guess that the repository lacks.
    """
    own = _parse(goal, is_known, template)
    if not names:
        return own
    guessed = _parse(f"{goal}\n\n{_GUESSED}{', '.join(names)}", is_known, template)
    own_terms = {term for counts in own.terms.values() for term in counts}
    terms = {term for counts in guessed.terms.values() for term in counts}
    return own._replace(
        terms=guessed.terms,
        identifiers={**guessed.identifiers, **own.identifiers},
        surface={**guessed.surface, **own.surface},
        guesses=frozenset(guessed.identifiers) - frozenset(own.identifiers),
        guessed_terms=frozenset(terms - own_terms),
        names=tuple(names),
    )


_GUESSED: Final = "Likely names in the code: "
"""Before guesses: measured as plain text behind the goal, see ``docs/results.md``."""


def _parse(goal: str, is_known: Callable[[str], bool], template: Container[str]) -> ParsedGoal:
    text = drop_template_lines(clean(goal), template)
    without_links = drop_version_dumps(URL.sub(" ", text))
    title, body = split_title(without_links)
    title = drop_foreign_words(title)
    reader = _Reader(is_known)
    prose = drop_foreign_words(reader.take_code(drop_boilerplate(body)))
    reader.take_prose(title, GoalPart.TITLE)
    reader.take_prose(prose, GoalPart.PROSE)
    joined = compounds(title)
    joined |= {name: written for name, written in compounds(prose).items() if name not in joined}
    return ParsedGoal(
        text=text,
        title=title,
        terms={source: dict(counts) for source, counts in reader.terms.items()},
        paths=find_paths(text),
        frames=find_frames(text),
        crash=find_crash(text),
        dotted=find_dotted_names(without_links),
        identifiers=reader.identifiers,
        messages=tuple(dict.fromkeys(reader.messages)),
        compounds=tuple(joined),
        flags=tuple(dict.fromkeys(_FLAG.findall(text))),
        aims=file_kind_intents(first_line(without_links)),
        surface={**joined, **reader.surface},
    )


class _Reader:
    """Gathers what the parts of a goal say."""

    def __init__(self, is_known: Callable[[str], bool]) -> None:
        self._is_known = is_known
        self.terms: dict[GoalPart, Counter[str]] = {source: Counter() for source in GoalPart}
        self.identifiers: dict[str, GoalPart] = {}
        self.messages: list[str] = []
        self.surface: dict[str, str] = {}

    def take_code(self, text: str) -> str:
        """Read fenced and indented blocks and traces; return the prose that is left."""
        for fence in FENCE.finditer(text):
            self._take_block(fence[2])
        lines = self._take_traces(FENCE.sub("", text))
        return _INDENTED.sub(self._take_indented, "\n".join(lines))

    def _take_traces(self, text: str) -> Iterator[str]:
        """Read the lines of traces and yield the others.

        A trace's frames in files that the repository lacks, and their source, are left out.
        """
        in_other, indent = False, 0
        for line in text.split("\n"):
            own_indent = len(line) - len(line.lstrip())
            is_trace = TRACE_LINE.match(line) is not None
            if in_other and line.strip() and own_indent > indent and not is_trace:
                continue
            frames = find_frames(line) if is_trace else ()
            in_other = bool(frames) and not any(self._is_known(each.path) for each in frames)
            indent = own_indent
            if is_trace and not in_other:
                self._take_error(line)
            elif not in_other:
                yield line

    def take_prose(self, text: str, source: GoalPart) -> None:
        """Read running text: its words, inline code, identifiers, quoted messages."""
        for inline in _INLINE.findall(text):
            code = inline.strip()
            self._add(_OPERATORS.get(code, code), GoalPart.INLINE)
            self._name(_IDENTIFIER.findall(code), GoalPart.INLINE)
        self.messages += [quoted for quotes in _QUOTED.findall(text) for quoted in quotes if quoted]
        self.messages += [message.strip() for message in _ERROR_NAME.findall(text) if message]
        self._add(_CONTRACTION.sub(" ", FILLER.sub(" ", text)), source)
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
        for line in self._take_traces(block):
            self._add(line, GoalPart.CODE)
        self._name((name for names in _USED_NAME.findall(block) for name in names if name), GoalPart.CODE)

    def _take_error(self, line: str) -> None:
        self._add(line, GoalPart.ERROR)
        self._name((name for name in _IDENTIFIER.findall(line) if _CODE_LIKE.search(name)), GoalPart.ERROR)
        self.messages += _ERROR_MESSAGE.findall(line)

    def _add(self, text: str, source: GoalPart) -> None:
        joined = {part for whole in _HYPHENATED.finditer(text) for part in whole[0].split("-")}
        for word in tokenize(text):
            for place, term in enumerate(terms_of(word)):
                self.terms[source][term] += 1
                # A part of an identifier or of a hyphenated word is no word of the goal's own.
                if not place and (word not in joined or len(word) > _SHORT_PART):
                    self.surface.setdefault(term, word)

    def _name(self, names: Iterable[str], source: GoalPart) -> None:
        for name in names:
            if terms_of(name):
                known = self.identifiers.get(name, source)
                self.identifiers[name] = min(source, known, key=_BEST_FIRST.index)


_BEST_FIRST = (GoalPart.INLINE, GoalPart.TITLE, GoalPart.PROSE, GoalPart.ERROR, GoalPart.CODE)
