"""Path patterns in linear time: match, escape, brace, merge."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from functools import lru_cache

from repo_map.errors import FlightPlanError

MOST_LOOSE = 2


class Wildcard(Enum):
    """What stands for more than one character."""

    STAR = "*"
    """Any run within a name."""
    FOLDERS = "**/"
    """Any number of folders, none included; it stands at the start of a name."""
    ANYTHING = "**"
    """Any run, across folders."""


Token = str | Wildcard
"""An expression for exactly one character, or a wildcard."""


def expression(tokens: Sequence[Token], *, within: str = "[^/]") -> str:
    """Return the expression for a pattern without alternatives; ``within`` is what a star may cover.

    Raises FlightPlanError where runs across folders stand in more places than can be matched quickly.
    """
    if sum(token is Wildcard.ANYTHING for token in tokens[:-1]) > MOST_LOOSE:
        raise FlightPlanError(
            f"A glob has `**` within names in more than {MOST_LOOSE} places; use `**/` between folders."
        )
    pieces = _cut(tokens, Wildcard.FOLDERS)
    written = [_names(pieces[0], within, more=len(pieces) > 1)]
    for number, piece in enumerate(pieces[1:], 2):
        is_last = number == len(pieces)
        loose = Wildcard.ANYTHING in piece[:-1] or Wildcard.ANYTHING in pieces[-1][:-1]
        inner = _names(piece, within, more=not is_last)
        written.append(f"(?:[^/]+/)*{inner}" if is_last or loose else f"(?>(?:[^/]+/)*?{inner})")
    return "".join(written)


def _names(tokens: Sequence[Token], within: str, *, more: bool) -> str:
    """Return the expression for what stands between two runs of folders."""
    chunks = _cut(tokens, Wildcard.STAR)
    written = [_plain(chunks[0])]
    for number, chunk in enumerate(chunks[1:], 2):
        text = _plain(chunk)
        is_settled = number < len(chunks) or more
        closed = text and is_settled and Wildcard.ANYTHING not in tokens
        written.append(f"(?>{within}*?{text})" if closed else f"{within}*{text}")
    return "".join(written)


def _plain(tokens: Sequence[Token]) -> str:
    return "".join(".*" if isinstance(token, Wildcard) else token for token in tokens)


def _cut(tokens: Sequence[Token], at: Wildcard) -> list[list[Token]]:
    pieces: list[list[Token]] = [[]]
    for token in tokens:
        if token is at:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces


_SPECIAL = re.compile(r"[*?\[\]{}]")
_OPENING = re.compile(r"[*?\[{]")
_ESCAPED = re.compile(r"\[(.)\]")
_AFTER_ALL = "\U0010ffff"
_MOST_ALTERNATIVES = 1_000
_TEST_NAMES = (
    "**/test_*",
    "**/*_test.*",
    "**/*.test.*",
    "**/*.spec.*",
    "**/*Test.*",
    "**/*Tests.*",
    "**/conftest.py",
)
_MOST_BRACES = 50
_LONGEST_WRITTEN_OUT = 20_000
"""Characters of all patterns that one with alternatives stands for."""


@lru_cache(maxsize=4096)
def compile(pattern: str) -> re.Pattern[str]:  # noqa: A001 - reads as `globs.compile`, like `re.compile`
    """Return the expression that a whole path must match; raise FlightPlanError for a malformed glob."""
    return re.compile(_translate(_normal(pattern), crosses_folders=False), re.DOTALL)


def matches(pattern: str, path: str) -> bool:
    """Tell whether a path, relative and with forward slashes, is named by a glob.

    A pattern equal to the path always matches, whatever characters it holds. A pattern that ends with a slash
    or that names a folder without any special character matches everything below that folder.
    """
    if pattern == path:
        return True
    expression = compile(pattern)
    return expression.fullmatch(path) is not None or (
        not _SPECIAL.search(pattern) and path.startswith(_normal(pattern).removesuffix("/**") + "/")
    )


def select(pattern: str, paths: Sequence[str]) -> list[int]:
    """Return the positions of the matching paths among sorted paths, ascending."""
    expression = compile(pattern)
    plain = _normal(pattern)
    special = _SPECIAL.search(plain)
    prefix = plain[: special.start()] if special else plain
    first = bisect_left(paths, prefix)
    last = bisect_left(paths, prefix + _AFTER_ALL, first)
    if special and plain == f"{prefix}**" and (not prefix or prefix.endswith("/")):
        found = list(range(first, last))
    elif special:
        match = expression.fullmatch
        found = [i for i in range(first, last) if match(paths[i])]
    else:
        found = [
            i for i in range(first, last) if len(paths[i]) == len(prefix) or paths[i][len(prefix)] == "/"
        ]
    exact = bisect_left(paths, pattern)
    if exact < len(paths) and paths[exact] == pattern:
        found = sorted({*found, exact})
    return found


@lru_cache(maxsize=16384)
def compile_name(pattern: str) -> re.Pattern[str]:
    """Return the expression for a symbol's qualified name or a heading; ``*`` crosses dots.

    What is no glob, such as ``operator[]``, stands for itself.
    """
    try:
        return re.compile(_translate(pattern, crosses_folders=True), re.DOTALL)
    except FlightPlanError:
        return re.compile(re.escape(pattern))


def escape(path: str) -> str:
    """Return a pattern that matches this path and nothing else."""
    return _OPENING.sub(lambda special: f"[{special.group()}]", path)


def literal(pattern: str) -> str | None:
    """Return the only name that a pattern stands for, None for one that stands for several."""
    return None if _OPENING.search(_ESCAPED.sub("", pattern)) else plain(pattern)


def plain(pattern: str) -> str:
    """Return the path that an escaped pattern stands for; one with special characters is no path."""
    return _ESCAPED.sub(r"\1", pattern)


def globs_covering(paths: Iterable[str], others: Collection[str]) -> list[str]:
    """Return globs that name ``paths`` and none of ``others``: whole folders, names, then single files."""
    shared = {parent for path in others for parent in _folders(path)}
    found: dict[str, None] = {}
    single: list[str] = []
    for path in paths:
        own = next((folder for folder in _folders(path) if folder not in shared), None)
        if own is None:
            single.append(path)
        else:
            found[f"{escape(own)}/**"] = None
    for pattern in _TEST_NAMES:
        matcher = compile(pattern)
        hits = [path for path in single if matcher.fullmatch(path)]
        if hits and not any(matcher.fullmatch(path) for path in others):
            found[pattern] = None
            single = [path for path in single if not matcher.fullmatch(path)]
    return [*found, *map(escape, single)]


def _normal(pattern: str) -> str:
    pattern = pattern.removeprefix("./").lstrip("/")
    return f"{pattern}**" if pattern.endswith("/") else pattern


def _translate(pattern: str, *, crosses_folders: bool) -> str:
    if not pattern:
        raise FlightPlanError("A glob is empty; use `**` for every file.")
    within = "." if crosses_folders else "[^/]"
    written = [
        expression(_tokens(plain, crosses_folders), within=within) for plain in _without_braces(pattern)
    ]
    return "|".join(f"(?:{each})" for each in written) if len(written) > 1 else written[0]


def _without_braces(pattern: str) -> list[str]:
    """Return the patterns that alternatives stand for, each once."""
    if pattern.count("{") > _MOST_BRACES:
        raise FlightPlanError(
            f"The glob `{pattern[:80]}…` has more than {_MOST_BRACES} braces; write several rules."
        )
    found = _first_braces(pattern)
    if found is None:
        return [pattern]
    before, choices, after = found
    plain: dict[str, None] = {}
    for choice in choices:
        plain |= dict.fromkeys(_without_braces(before + choice + after))
        if len(plain) > _MOST_ALTERNATIVES or sum(map(len, plain)) > _LONGEST_WRITTEN_OUT:
            raise FlightPlanError(
                f"The glob `{pattern[:80]}` stands for more than {_MOST_ALTERNATIVES} patterns or "
                f"{_LONGEST_WRITTEN_OUT:,} characters; "
                "write fewer alternatives, or several rules."
            )
    return list(plain)


def _first_braces(pattern: str) -> tuple[str, list[str], str] | None:
    """Return what stands before the first braces, each alternative within, and what follows."""
    opened = commas = -1
    depth, at, choices = 0, 0, list[str]()
    while at < len(pattern):
        character = pattern[at]
        if character == "[":
            at = _close_of_bracket(pattern, at)
        elif character == "{":
            depth += 1
            if depth == 1:
                opened = commas = at
        elif depth == 1 and character in ",}":
            choices.append(pattern[commas + 1 : at])
            commas = at
        if character == "}" and depth:
            depth -= 1
            if not depth:
                return pattern[:opened], choices, pattern[at + 1 :]
        at += 1
    if depth:
        raise FlightPlanError(
            f"The glob `{pattern}` opens a `{{` that it never closes; add `}}`, or write `[{{]`."
        )
    return None


def _tokens(pattern: str, crosses_folders: bool) -> list[Token]:
    tokens: list[Token] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "*":
            token, at = _stars(pattern, at, crosses_folders)
            if token is not Wildcard.STAR or tokens[-1:] != [Wildcard.STAR]:
                tokens.append(token)
        elif character == "[":
            piece, at = _bracket(pattern, at)
            tokens.append(piece)
        else:
            single = ("." if crosses_folders else "[^/]") if character == "?" else re.escape(character)
            tokens.append(single)
            at += 1
    return tokens


def _stars(pattern: str, at: int, crosses_folders: bool) -> tuple[Wildcard, int]:
    end = at
    while end < len(pattern) and pattern[end] == "*":
        end += 1
    if crosses_folders or end - at == 1 or (at and pattern[at - 1] != "/"):
        return Wildcard.STAR, end
    if end < len(pattern) and pattern[end] == "/":
        return Wildcard.FOLDERS, end + 1
    return Wildcard.ANYTHING, end


def _close_of_bracket(pattern: str, at: int) -> int:
    close = pattern.find("]", at + 2 + (pattern[at + 1 : at + 2] in ("!", "^")))
    if close < 0:
        raise FlightPlanError(
            f"The glob `{pattern}` opens a `[` that it never closes; add `]`, or write `[[]`."
        )
    return close


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    close = _close_of_bracket(pattern, at)
    body = pattern[at + 1 : close]
    negated = body[0] in "!^" and len(body) > 1
    body = re.sub(r"([\\\[\]^&~|]|-(?=-))", r"\\\1", body[1:] if negated else body)
    expression = f"[^/{body}]" if negated else f"[{body}]"
    try:
        re.compile(expression)
    except re.error as error:
        raise FlightPlanError(f"The glob `{pattern}` has a bad set `[{body}]`: {error.msg}.") from None
    return expression, close + 1


def _folders(path: str) -> list[str]:
    """Return the folders that hold a path, the outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
