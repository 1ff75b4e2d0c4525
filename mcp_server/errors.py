"""What went wrong, told to whoever asked: what, why and what next in one sentence, never a traceback."""

from __future__ import annotations

from typing import Final

from mcp_server.settings import SettingsError
from navigator.errors import ModelFailedError, NavigatorError
from repo_map import messages
from repo_map.errors import RepoMapError, RepositoryNotFoundError
from repo_map.secrets.names import mask_name

BAD_INPUT: Final = 2
NO_REPOSITORY: Final = 3
MODEL_FAILED: Final = 4

_ELSEWHERE: Final = ", or set REPO_NAVIGATOR_DATA to another folder."
CALLER_ERRORS: Final = (NavigatorError, RepoMapError, SettingsError)
"""Errors whose message is written for the caller."""


def one_line(error: BaseException) -> str:
    """Return the error's message on one line, without secrets and escapes that it may repeat."""
    return mask_name(messages.one_line(str(error)))


def storage_sentence(error: OSError, *, has_data: bool = True) -> str:
    """Return what to tell of a disk that can't be read or written; with ``has_data`` the data may move."""
    place = f" `{messages.one_line(str(error.filename))}`" if error.filename else ""
    return mask_name(
        f"Could not read or write{place}: {error.strerror or error}; "
        f"check its permissions and free space{_ELSEWHERE if has_data else '.'}"
    )


def exit_code(error: BaseException) -> int:
    """Return the command line's exit code for ``error``."""
    if isinstance(error, RepositoryNotFoundError):
        return NO_REPOSITORY
    return MODEL_FAILED if isinstance(error, ModelFailedError) else BAD_INPUT
