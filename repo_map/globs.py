"""Path patterns, matched in linear time.

A pattern becomes a regular expression in which every run but the last is matched lazily in an atomic group:
the first place where it fits is as good as any later one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from repo_map.errors import FlightPlanError

_FOLDERS = "**/"
"""Token: any number of folders."""
_STAR = "*"
"""Token: any run within a name."""
_STARS = re.compile(r"\*+/?")
_SPECIAL = re.compile(r"[*?\[\]{}]")
_OPENING = re.compile(r"[*?\[{]")
_ESCAPED = re.compile(r"\[(.)\]")
_AFTER_ALL = "\U0010ffff"
_TEST_NAMES = (
    "**/test_*",
    "**/*_test.*",
    "**/*.test.*",
    "**/*.spec.*",
    "**/*Test.*",
    "**/*Tests.*",
    "**/conftest.py",
)
_MAX_BRACES = 50
_MAX_ALTERNATIVES = 1_000
_MAX_EXPANDED_CHARS = 20_000
"""Characters of all patterns that one with alternatives stands for."""


@lru_cache(maxsize=4096)
def compile(pattern: str) -> re.Pattern[str]:  # noqa: A001 - reads as `globs.compile`, like `re.compile`
    """Return the expression that a whole path must match; raises ``FlightPlanError`` for a malformed glob."""
    return re.compile(_translate(_normal(pattern), within="[^/]"), re.DOTALL)


def matches(pattern: str, path: str) -> bool:
    """Return True if a glob matches a path, relative and with forward slashes.

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

    A malformed glob, such as ``operator[]``, stands for itself.
    """
    try:
        return re.compile(_translate(pattern, within="."), re.DOTALL)
    except FlightPlanError:
        return re.compile(re.escape(pattern))


def escape(path: str) -> str:
    """Return a pattern that matches this path and nothing else."""
    return _OPENING.sub(lambda special: f"[{special.group()}]", path)


def literal(pattern: str) -> str | None:
    """Return the only path that a pattern matches, None if it may match several."""
    return None if _OPENING.search(_ESCAPED.sub("", pattern)) else plain(pattern)


def plain(pattern: str) -> str:
    """Return the path of an escaped pattern; one with special characters is no path."""
    return _ESCAPED.sub(r"\1", pattern)


def globs_covering(paths: Iterable[str], others: Collection[str]) -> list[str]:
    """Return globs that match ``paths`` and none of ``others``: folders, test names, then single files."""
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


def _translate(pattern: str, *, within: str) -> str:
    """Return the regular expression of a pattern; ``within`` is what a star may match."""
    if not pattern:
        raise FlightPlanError("A glob is empty; use `**` for every file.")
    found = [_expression(_tokens(plain, within), within) for plain in expand_braces(pattern)]
    return "|".join(f"(?:{each})" for each in found) if len(found) > 1 else found[0]


def _expression(tokens: Sequence[str], within: str) -> str:
    groups = _split(tokens, _FOLDERS)
    expression = ""
    for number, group in enumerate(groups):
        is_last = number == len(groups) - 1
        first, *chunks = map("".join, _split(group, _STAR))
        text = first
        for position, chunk in enumerate(chunks, 1):
            is_settled = chunk and (position < len(chunks) or not is_last)
            text += f"(?>{within}*?{chunk})" if is_settled else f"{within}*{chunk}"
        if number:
            text = f"(?:[^/]+/)*{text}" if is_last else f"(?>(?:[^/]+/)*?{text})"
        expression += text
    return expression


def _split(tokens: Sequence[str], at: str) -> list[list[str]]:
    pieces: list[list[str]] = [[]]
    for token in tokens:
        if token == at:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces


def _tokens(pattern: str, within: str) -> list[str]:
    """Return wildcards, and expressions for one character each."""
    tokens: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern[at] == "[":
            token, at = _set(pattern, at)
        elif stars := _STARS.match(pattern, at):
            is_folders = stars[0].count("*") > 1 and within != "." and (not at or pattern[at - 1] == "/")
            at = stars.end() if is_folders else stars.start() + stars[0].count("*")
            token = _FOLDERS if is_folders else _STAR
            if is_folders and at == len(pattern) and stars[0].endswith("*"):
                token = ".*"
            elif is_folders and stars[0].endswith("*"):
                tokens.append(_FOLDERS)  # `**x` is `**/*x`.
                token = _STAR
        else:
            token, at = (within if pattern[at] == "?" else re.escape(pattern[at])), at + 1
        if token not in (_STAR, _FOLDERS) or tokens[-1:] != [token]:
            tokens.append(token)
    return tokens


def expand_braces(pattern: str) -> list[str]:
    """Return the patterns that alternatives stand for, each once; raises ``FlightPlanError``."""
    if pattern.count("{") > _MAX_BRACES:
        raise FlightPlanError(
            f"The glob `{pattern[:80]}…` has more than {_MAX_BRACES} braces; write several rules."
        )
    found = _first_braces(pattern)
    if found is None:
        return [pattern]
    before, choices, after = found
    expanded: dict[str, None] = {}
    for choice in choices:
        expanded |= dict.fromkeys(expand_braces(before + choice + after))
        if len(expanded) > _MAX_ALTERNATIVES or sum(map(len, expanded)) > _MAX_EXPANDED_CHARS:
            raise FlightPlanError(
                f"The glob `{pattern[:80]}` expands to more than {_MAX_ALTERNATIVES} patterns or "
                f"{_MAX_EXPANDED_CHARS:,} characters; write fewer alternatives, or several rules."
            )
    return list(expanded)


def _first_braces(pattern: str) -> tuple[str, list[str], str] | None:
    """Return the text before the first braces, each alternative within, and the text behind them."""
    opened = comma = -1
    depth, at, choices = 0, 0, list[str]()
    while at < len(pattern):
        character = pattern[at]
        if character == "[":
            at = _end_of_set(pattern, at)
        elif character == "{":
            depth += 1
            if depth == 1:
                opened = comma = at
        elif depth == 1 and character in ",}":
            choices.append(pattern[comma + 1 : at])
            comma = at
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


def _end_of_set(pattern: str, at: int) -> int:
    end = pattern.find("]", at + 2 + (pattern[at + 1 : at + 2] in ("!", "^")))
    if end < 0:
        raise FlightPlanError(
            f"The glob `{pattern}` opens a `[` that it never closes; add `]`, or write `[[]`."
        )
    return end


def _set(pattern: str, at: int) -> tuple[str, int]:
    end = _end_of_set(pattern, at)
    body = pattern[at + 1 : end]
    is_negated = body[0] in "!^" and len(body) > 1
    body = re.sub(r"([\\\[\]^&~|]|-(?=-))", r"\\\1", body[1:] if is_negated else body)
    expression = f"[^/{body}]" if is_negated else f"[{body}]"
    try:
        re.compile(expression)
    except re.error as error:
        raise FlightPlanError(f"The glob `{pattern}` has a bad set `[{body}]`: {error.msg}.") from None
    return expression, end + 1


def _folders(path: str) -> list[str]:
    """Return the folders that hold a path, the outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
