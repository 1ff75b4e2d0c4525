"""Errors as users get them: a code, one sentence, and the argument that it is about; never a traceback."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from navigator.errors import ModelFailedError, StorageError
from repo_map import messages
from repo_map.errors import RepositoryNotFoundError, UserError
from repo_map.secrets.names import mask_name

BAD_INPUT: Final = 2
NO_REPOSITORY: Final = 3
MODEL_FAILED: Final = 4

_ELSEWHERE: Final = ", or set REPO_NAVIGATOR_DATA to another folder."


class ErrorDetails(NamedTuple):
    """An error as it is reported: over MCP in structured content, on a command line with ``--json``."""

    code: str
    message: str
    argument: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the fields that are set, under ``error``."""
        return {"error": {name: value for name, value in self._asdict().items() if value}}


def details_of(error: UserError | OSError, *, has_data: bool = True) -> ErrorDetails:
    """Return the details of an error; with ``has_data`` a fault of the disk says how to move the data."""
    if not isinstance(error, OSError):
        return ErrorDetails(error.code, one_line(error), mask_name(messages.one_line(error.argument)))
    place = f" `{messages.one_line(str(error.filename))}`" if error.filename else ""
    message = (
        f"Could not read or write{place}: {error.strerror or error}; "
        f"check its permissions and free space{_ELSEWHERE if has_data else '.'}"
    )
    return ErrorDetails(StorageError.code, mask_name(message))


def one_line(error: BaseException) -> str:
    """Return the error's message on one line, without secrets and escapes that it may repeat."""
    return mask_name(messages.one_line(str(error)))


def exit_code(error: BaseException) -> int:
    if isinstance(error, UserError) and error.code == RepositoryNotFoundError.code:
        return NO_REPOSITORY
    return MODEL_FAILED if isinstance(error, ModelFailedError) else BAD_INPUT
