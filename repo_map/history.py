"""The last commits that changed a file, read through git."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.secrets.names import mask_name
from repo_map.sources.commit_names import CommitNameError, locate
from repo_map.sources.git import Deadline, Git, GitError

if TYPE_CHECKING:
    from repo_map.sources.source import FileSource

_TIMEOUT_S: Final = 10.0
_MAX_TIME: Final = 1 << 37
"""Seconds since 1970 that a date can have; a commit may have any."""


class HistoryError(Exception):
    """There is no history to read; the message says why, as a sentence."""


class FileCommit(NamedTuple):
    """A commit that changed a file."""

    day: date | None
    """UTC; None if the commit's time is no date."""
    subject: str
    """First line of the message, with secrets masked."""


def file_commits(source: FileSource, path: str, limit: int) -> list[FileCommit]:
    """Return the newest commits, no merges, that changed a file under its present or a former name.

    Args:
        source: folders, or commits of them; the history ends at the commit that each shows.
        path: the file, as the index names it.
        limit: number of commits at most.

    Raises:
        HistoryError: it is in no git repository, nothing is committed, or git fails or takes more than 10 s.
    """
    part = max(
        (part for part in source.parts if path.startswith(part.prefix)), key=lambda each: len(each.prefix)
    )
    deadline = Deadline(_TIMEOUT_S)
    try:
        git = Git(part.root)
        place = locate(git, part.ref, deadline)
    except (CommitNameError, GitError) as error:
        raise HistoryError(f"There is no git history here: {str(error).rstrip('.')}.") from error
    if place is None or not place.head:
        raise HistoryError("There is no git history here.")
    output = git.history(
        *("log", "--no-merges", "--follow", "-z", "--encoding=UTF-8", "--format=%ct%x1f%s"),
        *(f"--max-count={limit}", "--no-ext-diff", "--no-textconv", place.head, "--"),
        f":(top,literal){place.prefix}{path.removeprefix(part.prefix)}",
        deadline=deadline,
    )
    if output is None or output.status is None:
        raise HistoryError(f"Git did not answer within {_TIMEOUT_S:.0f} s.")
    if output.status:
        raise HistoryError("Git can't read the history of the file.")
    lines = (line for line in output.text.decode("utf-8", "replace").split("\0") if line)
    return [_commit(*line.split("\x1f", 1)) for line in lines]


def _commit(time: str, subject: str) -> FileCommit:
    is_date = time.isdigit() and int(time) <= _MAX_TIME
    day = datetime.fromtimestamp(int(time), UTC).date() if is_date else None
    return FileCommit(day, mask_name(subject))
