"""Who is calling: the principal whose navigations these are, and the session whose latest one is meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, NamedTuple

from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from mcp_server.eras import MODERN
from navigator.settings import LOCAL_USER

LOGIN: Final = "login"
"""Where a verified token tells what git hosts call its bearer."""
GROUPS: Final = "groups"
"""Where a verified token tells the groups of its bearer, whatever its issuer calls them."""


class Principal(NamedTuple):
    """One request's origin."""

    user: str = LOCAL_USER
    session: str | None = None
    """Of the protocol's era where it has one, else of the connection; None for HTTP without sessions."""
    groups: frozenset[str] = frozenset()
    """What the team's settings, or its identity provider, say that the caller belongs to."""
    login: str = ""
    """What git hosts call the caller; ``""`` where nobody vouches for it."""


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
    # The newest revision has no sessions: there the header is whatever a caller writes, such as another's.
    session = None if ctx.protocol_version >= MODERN else request.headers.get("mcp-session-id")
    user = request.scope.get("user")
    if user is None or not user.is_authenticated:
        return Principal(LOCAL_USER, session)
    claims = user.access_token.claims or {}
    return Principal(user.display_name, session, groups_of(user.access_token), str(claims.get(LOGIN, "")))


def admitted(token: str, name: str, groups: Iterable[str]) -> AccessToken:
    """Return what a bearer token that is set here admits: the principal of that name, in these groups."""
    return AccessToken(token=token, client_id=name, scopes=[], claims={GROUPS: sorted(groups), LOGIN: name})


def groups_of(token: AccessToken) -> frozenset[str]:
    """Return the groups that a verified token puts its bearer in."""
    return frozenset((token.claims or {}).get(GROUPS, ()))


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
