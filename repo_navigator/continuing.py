"""What `navigate --continue` goes on with: a stored navigation, and the words that steer it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final, NamedTuple

from navigator.errors import InvalidRequestError
from repo_navigator.stored_navigations import ID_START
from repo_navigator.terminal import FlagParser

_FOR_NEW_ONES: Final = (
    ("goal", "--goal"),
    ("goal_file", "--goal-file"),
    ("further", "--with"),
    ("changes", "--since or --diff"),
    ("token_budget", "--tokens"),
    ("fill", "--fill"),
    ("model", "--model"),
    ("max_cost_usd", "--max-cost"),
    ("max_steps", "--max-steps"),
    ("plan", "--plan"),
)
"""What a navigation begins with, and keeps."""


class Continued(NamedTuple):
    """Which navigation is gone on with, and how."""

    named: str | None
    """Its id; None for the latest of the folder."""
    folder: Path
    words: str
    """What is said to it; may be ``""``."""


def add_continue(parser: FlagParser) -> None:
    """Add the flag that goes on with a stored navigation."""
    parser.add_argument(
        "--continue",
        dest="continued",
        metavar="ID",
        nargs="?",
        const="",
        help="go on with a stored navigation, by the id that it ended with (the latest of this folder); "
        "a text beside it is feedback, and what is new is printed",
    )


def continued(options: argparse.Namespace) -> Continued | None:
    """Return what ``--continue`` goes on with, None without it.

    Of the texts that stand beside it, one that begins as an id is the id, and one that is a folder's path
    names the repository.

    Raises:
        InvalidRequestError: it stands beside what only a new navigation takes, or names too much.
    """
    if options.continued is None:
        return None
    _refuse_what_begins(options)
    texts = [text for text in (options.continued, options.repo, options.words) if text]
    named = next((text for text in texts if text.startswith(ID_START)), None)
    folder = next((text for text in texts if text != named and Path(text).is_dir()), None)
    if named is not None and folder is not None:
        raise InvalidRequestError(
            f"`{named}` is a navigation of one repository already; leave `{folder}` out, "
            "or leave the id out for the latest navigation of that folder."
        )
    words = " ".join(text for text in texts if text not in (named, folder))
    return Continued(named, Path(folder).resolve() if folder else Path.cwd(), words)


def _refuse_what_begins(options: argparse.Namespace) -> None:
    flag = next((flag for name, flag in _FOR_NEW_ONES if getattr(options, name)), None)
    if flag is not None:
        named = options.continued if (options.continued or "").startswith(ID_START) else "ID"
        raise InvalidRequestError(
            f"{flag} is for a new navigation, and --continue goes on with one as it is; say in words what to "
            f'change: `repo-navigator navigate --continue {named} "show X"`.'
        )
