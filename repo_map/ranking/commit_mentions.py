"""Past commits that a goal names: by id, or by the number of an issue or a pull request in their message."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from repo_map.arrays import distinct
from repo_map.history.history import History
from repo_map.ranking.commit_votes import AlignedHistory
from repo_map.ranking.corpus import Ints

_ID = re.compile(r"(?<![\w#.-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])([0-9a-f]{7,64})(?![\w-])|\b([0-9a-f]{40})\b")
"""Letters and digits both: a word or a number alone is no id."""
_NUMBER = re.compile(r"(?:(?<![\w/&#])#|\bGH-)(\d{1,7})\b")
_URL = re.compile(
    r"https?://[\w.-]+/([\w.-]+)/([\w.-]+?)(?:\.git)?/(?:-/)?(?:issues|pull|pulls|merge_requests)/(\d{1,7})"
)
_ANY_URL = re.compile(r"https?://\S+")
_COMMIT_URL = re.compile(r"/commits?/([0-9a-f]{7,64})\b")
_MOST = 6
"""Commits; a goal that names more is a list of them."""


class NamedCommit(NamedTuple):
    """A past commit that the goal names, and what it changed."""

    title: str
    """Short id and subject: ``abc1234 ‹Fix the cart›``."""
    written: str
    """How the goal names it."""
    files: Ints
    """Files of the index, ascending."""
    units: Ints
    is_sure: bool
    """Whether the goal gives its id, or it is none of the newest: whoever commits may write any number."""


def find_commits(text: str, repositories: Collection[str], past: AlignedHistory) -> tuple[NamedCommit, ...]:
    """Return the commits of the history that a text names, in its order; nothing is asked of any network.

    ``repositories`` are our own names: a link to an issue of another repository is none of ours.
    """
    history = past.history
    found: dict[int, str] = {}
    for identity in _ids(text):
        for commit in _with_id(history, identity):
            found.setdefault(commit, identity)
    for number, written in _numbers(text, repositories):
        for commit in history.commits_of_number.get(number, ())[:_MOST]:
            found.setdefault(commit, written)
    return tuple(_named(past, commit, written) for commit, written in list(found.items())[:_MOST])


def _ids(text: str) -> list[str]:
    plain = _ANY_URL.sub(" ", text)
    bare = [match[1] or match[2] for match in _ID.finditer(plain)]
    return list(dict.fromkeys([*bare, *_COMMIT_URL.findall(text)]))


def _numbers(text: str, repositories: Collection[str]) -> list[tuple[int, str]]:
    own = {name.lower() for name in repositories}
    ours = [(int(match[3]), f"#{match[3]}") for match in _URL.finditer(text) if match[2].lower() in own]
    bare = [(int(match[1]), match[0]) for match in _NUMBER.finditer(_ANY_URL.sub(" ", text))]
    return list(dict.fromkeys([*bare, *ours]))


def _with_id(history: History, identity: str) -> list[int]:
    length = min(len(identity), len(history.ids[0])) if history.ids else 0
    found = [at for at, known in enumerate(history.ids) if known[:length] == identity[:length]]
    return found if len(found) == 1 else []


def _named(past: AlignedHistory, commit: int, written: str) -> NamedCommit:
    history = past.history
    files = past.file_at[history.file_start[commit] : history.file_start[commit + 1]]
    commits, units = past.touches
    low, high = np.searchsorted(commits, (commit, commit + 1))
    title = f"{history.ids[commit][:7]} ‹{history.subjects[commit][:60]}›"
    is_sure = bool(past.is_settled[commit]) or not _NUMBER.fullmatch(written)
    return NamedCommit(title, written, distinct(files[files >= 0]), units[low:high], is_sure)
