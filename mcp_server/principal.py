"""Who is calling: the principal whose navigations these are, and the session whose latest one is meant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from mcp_server.callers import LOCAL


class Principal(NamedTuple):
    """One request's origin."""

    user: str = LOCAL
    session: str | None = None
    """Of the protocol's era where it has one, else of the connection; None for HTTP without sessions."""
    groups: frozenset[str] = frozenset()
    """Of the principal, as the identity provider or the settings name them."""


_caller: ContextVar[Principal] = ContextVar("caller", default=Principal())  # noqa: B039 - a frozen value


def current_principal() -> Principal:
    """Return the caller of the request that is being handled."""
    return _caller.get()


def principal_of(ctx: ServerRequestContext[Any, Any]) -> Principal:
    """Return the caller that a request's transport vouches for."""
    request = ctx.request
    if request is None:
        # One process on stdio, one connection in memory: its lifespan is the session.
        return Principal(session=f"connection-{id(ctx.lifespan_context)}")
    user = request.scope.get("user")
    principal = user.display_name if user is not None and user.is_authenticated else LOCAL
    return Principal(principal, request.headers.get("mcp-session-id"))


@contextmanager
def acting_as(principal: Principal) -> Iterator[None]:
    """Make ``caller`` the current caller."""
    token = _caller.set(principal)
    try:
        yield
    finally:
        _caller.reset(token)


async def identify_principal(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Middleware: resources and completions get no context, so the caller travels beside them."""
    with acting_as(principal_of(ctx)):
        return await call_next(ctx)
