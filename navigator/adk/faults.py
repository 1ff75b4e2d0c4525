"""What can go wrong with a model call, told in words and sorted into what passes and what stays."""

from __future__ import annotations

from typing import NamedTuple

from repo_map.secrecy.masking import mask_text

PASSING_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_WORDS = {
    401: "refused the key",
    403: "refused the key",
    404: "does not know the model",
    429: "is over its quota",
}
MAX_DETAIL = 160


class Fault(NamedTuple):
    """Why an attempt gave no usable answer."""

    words: str
    passing: bool
    """Whether the same call may succeed a little later."""
    lapsed: bool = False
    """Whether the provider may only have forgotten what it was to remember."""


class UnusableError(Exception):
    """A model was never set up; the message says why, as the end of a sentence about it."""


def explain(error: BaseException) -> Fault:
    """Return what ``error`` means for the call that raised it."""
    if isinstance(error, UnusableError):
        return Fault(str(error), passing=False)
    if isinstance(error, TimeoutError):
        return Fault("did not answer in time", passing=True)
    status = status_of(error)
    if status is not None:
        words = _WORDS.get(status, "had a fault of its own" if status >= 500 else "refused the request")
        return Fault(f"{words} (HTTP {status})", passing=status in PASSING_STATUS)
    if _is_connection_error(error):
        return Fault(f"can't be reached ({_detail(error)})", passing=True)
    return Fault(f"can't be used ({_detail(error)})", passing=False)


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status that an error stands for, None where it stands for none."""
    # google-genai says `code`; openai, litellm and anthropic say `status_code`.
    for name in ("status_code", "code"):
        status = getattr(error, name, None)
        if isinstance(status, int):
            return status
    return None


def _is_connection_error(error: BaseException) -> bool:
    names = {kind.__name__ for kind in type(error).__mro__}
    return isinstance(error, ConnectionError) or bool(
        names & {"TransportError", "ClientConnectionError", "APIConnectionError", "ClientPayloadError"}
    )


def _detail(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return mask_text(lines[0] if lines else type(error).__name__)[:MAX_DETAIL]
