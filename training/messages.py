"""Commit messages as goals: what a person wrote about a change, without what gives the place away."""

from __future__ import annotations

import re

from repo_map.history.git_log import clean_message

_NOT_A_GOAL = re.compile(
    r"^(?:merge\b|revert\b|bump\b|release\b|prepare\b|version\b|v?\d+\.\d+"
    r"|update (?:changelog|dependenc|deps|translations)"
    r"|(?:chore|build|ci|style|docs?|test)\b[(:!]|deps\b|\[?(?:docs?|ci|test)\]?:|renovate|\[pre-commit\.ci\]|\[maven-release"
    r"|typos?\b|fix(?:ed)? typos?\b|reformat\b|format(?:ting)?\b"
    r"|run (?:black|prettier|gofmt|rustfmt)|lint\b|wip\b\W*$)",
    re.IGNORECASE,
)
_BOT = re.compile(r"\[bot\]|dependabot|renovate\[|pre-commit-ci", re.IGNORECASE)
_URL = re.compile(r"\bhttps?://\S+")
_ISSUE = re.compile(
    r"\(?(?<!\w)(?:(?:close|fixe?|resolve|implement|see|ref)[sd]?:? +)?"
    r"(?:[\w.-]+/[\w.-]+)?(?:#|gh-|bpo-|issue +#?|pr +#?)\d+\)?",
    re.IGNORECASE,
)
_PATH = re.compile(
    r"(?<![\w/])(?:[\w.@+-]+/)*[\w@+-]+\.(?:py|pyi|js|jsx|mjs|cjs|ts|tsx|mts|go|rs|java|kt|c|h|cc|cpp|cxx|hpp|rb|php|md|rst"
    r"|json|ya?ml|toml|txt|cfg|ini)\b|(?<![\w/])(?:[\w.@+-]+/){2,}[\w@+-]*"
)
_CREDIT = re.compile(
    r"^(?:co-authored-by|signed-off-by|closes?|fixes|fixed|refs?|ticket|reported by|issue|see)\b.{0,80}$",
    re.I | re.M,
)
_RULE = re.compile(r"^-{3,}$", re.MULTILINE)
_LEAST_WORDS = 3
_LONGEST = 1_600


def goal_of(message: str) -> str:
    """Return the message as a goal, ``""`` where it tells nothing of what the change is for."""
    text = clean_message(message)
    if _NOT_A_GOAL.match(text) or _BOT.search(message):
        return ""
    text = _CREDIT.sub("", _RULE.sub("", text))
    text = _PATH.sub(" ", _ISSUE.sub(" ", _URL.sub(" ", text))).strip()[:_LONGEST]
    return text if len(re.findall(r"[A-Za-z]{2,}", text)) >= _LEAST_WORDS else ""
