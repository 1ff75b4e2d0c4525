"""The call that is being served: what it turned out to be about, and what it took."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from mcp.shared.exceptions import MCPError

from navigator.stores.usage import NOTHING_USED, Usage
from repo_map.errors import UserError

OK: Final = "ok"


class Origin(NamedTuple):
    """Where a call comes from."""

    client: str | None = None
    """The address that is connected: a proxy's, where there is one."""
    forwarded_for: str | None = None
    """What a proxy says whose call it is; whoever reaches the server without one may write anything."""


NOWHERE: Final = Origin()
"""Of a call over stdio."""
_LONGEST: Final = 200
"""Characters of what a proxy says."""


def origin_of(scope: Mapping[str, Any]) -> Origin:
    """Return where an HTTP request comes from."""
    client = scope.get("client")
    said = next((value for name, value in scope["headers"] if name == b"x-forwarded-for"), None)
    forwarded = None if said is None else ascii(said.decode("latin-1")[:_LONGEST])[1:-1]
    return Origin(client[0] if client else None, forwarded)


@dataclass
class Call:
    """One call; it is filled in while it is served."""

    tool: str
    """Of a tool call its tool, else the protocol's method."""
    user: str
    on_late_usage: Callable[[Call, Usage], None]
    """Told of what is used for it after it was answered: a step may outlive its call."""
    navigation_id: str | None = None
    repository: str | None = None
    """Its address, of a call that was let in."""
    asked: tuple[str, ...] = ()
    """Names of repositories that were asked for and are known here, readable for the caller or not."""
    outcome: str = OK
    """Or why it was refused, in one word."""
    origin: Origin = NOWHERE
    usage: Usage = field(default=NOTHING_USED)
    is_answered: bool = False

    def use(self, used: Usage) -> None:
        """Add what some work took."""
        if self.is_answered:
            self.on_late_usage(self, used)
        else:
            self.usage = self.usage.plus(used)


_current: ContextVar[Call | None] = ContextVar("call", default=None)


@contextmanager
def serving(call: Call) -> Iterator[None]:
    """Make ``call`` the one that is being served, for this task and those that it begins."""
    token = _current.set(call)
    try:
        yield
    finally:
        _current.reset(token)


def note_navigation(navigation_id: str, repository: str) -> None:
    """Note which navigation the call is about; only one that is the caller's own."""
    call = _current.get()
    if call is not None:
        call.navigation_id, call.repository = navigation_id, repository


def note_asked(names: tuple[str, ...]) -> None:
    """Note which known repositories are asked for: a right that is refused is what an audit is read for."""
    call = _current.get()
    if call is not None:
        call.asked = names


def note_refusal(code: str) -> None:
    """Note why a call is refused: the code of the error, never its text."""
    call = _current.get()
    if call is not None:
        call.outcome = code


def note_usage(used: Usage) -> None:
    """Note what some work for the call took."""
    call = _current.get()
    if call is not None:
        call.use(used)


def outcome_of(error: BaseException) -> str:
    """Return the code of an error, such as ``unknown_navigation``."""
    if isinstance(error, UserError):
        return error.code
    return "refused" if isinstance(error, MCPError) else "internal_error"
