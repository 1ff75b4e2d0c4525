"""Ignore rules for folders that git doesn't manage: the patterns of nested ``.gitignore`` files."""

from __future__ import annotations

import re
from typing import NamedTuple

from repo_map.errors import FlightPlanError
from repo_map.wildcards import Token, Wild, expression


class _Rule(NamedTuple):
    matcher: re.Pattern[str]
    negated: bool
    folders_only: bool


class IgnoreRules:
    """The patterns of one ``.gitignore`` file, which apply to its folder and everything below."""

    def __init__(self, text: str) -> None:
        self._rules = tuple(rule for line in text.splitlines() if (rule := _parse(line)) is not None)

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Say whether ``path``, relative to the rules' folder, is ignored; None where no pattern speaks."""
        for rule in reversed(self._rules):
            if (is_folder or not rule.folders_only) and rule.matcher.fullmatch(path):
                return not rule.negated
        return None


def is_ignored(nested: tuple[tuple[str, IgnoreRules], ...], path: str, *, is_folder: bool) -> bool:
    """Say whether ``path`` is ignored by the rules from the root inwards; the nearest that speaks wins."""
    for folder, rules in reversed(nested):
        verdict = rules.verdict(path[len(folder) :], is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def _parse(line: str) -> _Rule | None:
    pattern = _without_trailing_blanks(line)
    if not pattern or pattern.startswith("#"):
        return None
    negated = pattern.startswith("!")
    pattern = pattern.removeprefix("!")
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    anchored = "/" in pattern
    pattern = pattern.removeprefix("/")
    if not pattern:
        return None
    try:
        matcher = re.compile(_to_regex(pattern if anchored else f"**/{pattern}"), re.DOTALL)
    except (re.error, FlightPlanError):
        return None  # As git does: a malformed pattern matches nothing.
    return _Rule(matcher, negated, folders_only)


def _without_trailing_blanks(line: str) -> str:
    stripped = line.rstrip(" \t\r")
    escaped = stripped.endswith("\\") and len(stripped) < len(line)
    return stripped + " " if escaped else stripped


_TOKEN = re.compile(
    r"^\*\*/|/\*\*/|/\*\*$|\*+|\?|\[(?:[!^])?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]|\\.|.", re.DOTALL
)


def _to_regex(pattern: str) -> str:
    tokens: list[Token] = []
    for token in _TOKEN.findall(pattern):
        tokens.extend(_translate(token))
    return expression(tokens)


def _translate(token: str) -> tuple[Token, ...]:
    match token:
        case "**/":
            return (Wild.FOLDERS,)
        case "/**/":
            return "/", Wild.FOLDERS
        case "/**":
            return "/", ".", Wild.ANYTHING
        case "?":
            return ("[^/]",)
    if token.startswith("*"):
        return (Wild.STAR,)
    return (_single(token),)


def _single(token: str) -> str:
    if token.startswith("[") and len(token) > 1:
        return _character_class(token)
    if token.startswith("\\") and len(token) > 1:
        return re.escape(token[1:])
    return re.escape(token)


_POSIX_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
}


def _character_class(token: str) -> str:
    body = token[1:-1]
    negation = "^" if body[:1] in {"!", "^"} else ""
    body = body[len(negation) :]
    body = re.sub(r"\[:(\w+):\]", lambda found: _POSIX_CLASSES.get(found[1], ""), body)
    body = re.sub(r"\\(.)|([\[\]&~|]|-(?=-))", lambda found: re.escape(found[1] or found[2]), body)
    return f"(?!/)[{negation}{body}]"
