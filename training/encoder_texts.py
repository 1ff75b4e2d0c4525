"""What an encoder reads of a goal and of a unit: words in order, identifiers cut at their joints."""

from __future__ import annotations

import re

from repo_map.relevance.goal_noise import clean, drop_boilerplate, drop_version_dumps

_JOINT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_WORD = re.compile(r"[^A-Za-z0-9.?!']+|(?<![A-Za-z0-9])[.?!']+|[.?!'](?=[A-Za-z0-9.?!'])")
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_LONGEST = 1_600
"""Characters: more words than any encoder here reads."""


def goal_text(goal: str) -> str:
    """Return the goal's words without blocks of code, templates and dumps of versions."""
    text = drop_version_dumps(drop_boilerplate(clean(goal)))
    prose = _FENCE.sub(" ", text).strip()
    return _words(prose or text)


def unit_text(path: str, name: str, source: str) -> str:
    """Return the words of a unit: the path's last two names, its own, then its source from the top."""
    stem = " ".join(path.rsplit("/", 2)[-2:]).rpartition(".")[0] or path
    return f"{_words(stem)}. {_words(name)}. {_words(source)}"


def plain_goal(goal: str) -> str:
    """Return the goal as it stands, on one line."""
    return " ".join(goal.split())[:_LONGEST]


def plain_unit(path: str, name: str, source: str) -> str:
    """Return path, name and source of a unit as they stand."""
    return f"{path} {name}\n{source}"


def _words(text: str) -> str:
    joined = _JOINT.sub(" ", text[: 2 * _LONGEST]).replace("_", " ")
    return " ".join(_NO_WORD.sub(" ", joined).split())[:_LONGEST]
