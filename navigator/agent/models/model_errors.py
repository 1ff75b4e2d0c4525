"""What can go wrong with a model call, told in words and sorted into what passes and what stays."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from navigator.models.model_text import cleaned

PASSING_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_WORDS = {
    401: "refused the key",
    403: "refused the key",
    404: "does not know the model",
    429: "is over its quota",
}
MAX_DETAIL = 160
_GENAI = "google.genai._gaos"
"""Where google-genai keeps the errors of its interactions; it gives them no public name."""
_NEVER_SENT = (
    *("httpx.ConnectError", "httpx.ConnectTimeout", "httpx.PoolTimeout", "httpx.ProxyError"),
    *("httpx.UnsupportedProtocol", "httpx.InvalidURL", "httpx.LocalProtocolError"),
    *("httpcore.ConnectError", "httpcore.ConnectTimeout", "httpcore.PoolTimeout", "httpcore.ProxyError"),
    *("httpcore.UnsupportedProtocol", "httpcore.LocalProtocolError", "builtins.ConnectionRefusedError"),
    *("aiohttp.ClientConnectorError", "aiohttp.InvalidURL"),
)
"""Errors before a request has left."""
_UNREADABLE = (
    *("pydantic.ValidationError", "json.JSONDecodeError", "msgspec.ValidationError"),
    *("google.genai.errors.UnknownApiResponseError", "openai.APIResponseValidationError"),
    *("anthropic.APIResponseValidationError", "builtins.UnicodeDecodeError", "builtins.RecursionError"),
    *(f"{_GENAI}.lib.compat_errors.APIResponseValidationError", f"{_GENAI}.errors.ResponseValidationError"),
)
"""Errors over an answer of another shape."""
_UNREACHABLE = (
    *("builtins.ConnectionError", "httpx.TransportError", "openai.APIConnectionError"),
    *("anthropic.APIConnectionError", "aiohttp.ClientConnectionError", "aiohttp.ClientPayloadError"),
    f"{_GENAI}.lib.compat_errors.APIConnectionError",
)
"""Errors of a connection, before an answer or within one."""


_GONE = re.compile(r"not found|not exist|expired|no longer")


class ModelError(NamedTuple):
    """Why an attempt gave no usable answer."""

    words: str
    passing: bool
    """Whether the same call may succeed a little later."""
    lapsed: bool = False
    """Whether the provider may only have forgotten what it was to remember."""


class UnusableError(Exception):
    """A model was never set up; the message says why, as the end of a sentence about it."""


class RefusedAnswerError(Exception):
    """An answer that is not read; the message says why, as the end of a sentence about the model."""


class RedirectError(RefusedAnswerError):
    """An address that leads to another one."""


def explain(error: BaseException) -> ModelError:
    """Return what ``error`` means for the call that raised it."""
    if message := _own_error_in(error):
        return ModelError(str(message), passing=False)
    if isinstance(error, TimeoutError):
        return ModelError("did not answer in time", passing=True)
    status = status_of(error)
    if status is not None:
        words = _WORDS.get(status, "had a fault of its own" if status >= 500 else "refused the request")
        return ModelError(f"{words} (HTTP {status})", passing=status in PASSING_STATUS)
    if isinstance(error, _loaded(_UNREACHABLE)):
        return ModelError(f"can't be reached ({_detail(error)})", passing=True)
    if isinstance(error, _loaded(_UNREADABLE)):
        return ModelError("gave an answer that can't be read", passing=False)
    return ModelError(f"can't be used ({_detail(error)})", passing=False)


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status that an error stands for, None where it stands for none."""
    # google-genai says `code`; openai, litellm and anthropic say `status_code`.
    for name in ("status_code", "code"):
        status = getattr(error, name, None)
        if isinstance(status, int):
            return status
    return None


def may_be_billed(error: BaseException) -> bool:
    """Tell whether the call may have been answered, and so be billed, although no answer came of it."""
    if status_of(error) is not None:
        return False
    if message := _own_error_in(error):
        return not isinstance(message, RedirectError | UnusableError)
    return not any(isinstance(each, _loaded(_NEVER_SENT)) for each in _chain(error))


def says_gone(error: BaseException, what: str) -> bool:
    """Tell whether a provider says that it no longer has a ``cache``, or whatever else it was to remember.

    A status alone does not tell: a refused key, a wrong request and a forgotten cache share theirs.
    """
    status, words = status_of(error), str(error).lower()
    if status == 404 and "requested entity was not found" in words:
        return True
    return status in (400, 403, 404) and what in words and _GONE.search(words) is not None


def refuses_forced_calls(error: BaseException) -> bool:
    """Tell whether a provider says that it can't be made to answer with a tool call."""
    words = str(error).lower()
    named = any(name in words for name in ("tool_choice", "tool_config", "toolconfig", "function_calling"))
    return status_of(error) in (400, 404, 422, 501) and named


def _own_error_in(error: BaseException) -> UnusableError | RefusedAnswerError | None:
    """Return our own words within an error: a provider's package may have wrapped them."""
    return next(
        (each for each in _chain(error) if isinstance(each, UnusableError | RefusedAnswerError)), None
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and what led to it."""
    seen: set[int] = set()
    inner: BaseException | None = error
    while inner is not None and id(inner) not in seen:
        yield inner
        seen.add(id(inner))
        inner = inner.__cause__ or inner.__context__


def _loaded(names: tuple[str, ...]) -> tuple[type[BaseException], ...]:
    """Return the classes of the packages that are loaded: of another one, no error can have been raised."""
    found = (
        getattr(sys.modules.get(module), kind, None)
        for module, _, kind in (name.rpartition(".") for name in names)
    )
    return tuple(each for each in found if isinstance(each, type) and issubclass(each, BaseException))


def _detail(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return cleaned(lines[0] if lines else type(error).__name__, MAX_DETAIL)
