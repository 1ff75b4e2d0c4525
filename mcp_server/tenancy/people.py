"""Whom the shared database lets in and turns away: what one operator says there, every server follows."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from typing import TYPE_CHECKING, Final

from mcp.server.auth.provider import AccessToken

from mcp_server.tenancy.principal import admitted
from navigator.errors import StorageError
from navigator.stores.people import People

if TYPE_CHECKING:
    from navigator.stores.postgres.people import PeopleStore

LOOK_S: Final = 3.0
"""Between two looks at what operators have changed."""
logger = logging.getLogger(__name__)


def digest_of(token: str) -> str:
    """Return what is kept of a token: it is drawn by chance, so nobody finds it by trying."""
    return hashlib.sha256(token.encode()).hexdigest()


class KnownPeople:
    """What the database said last; where it does not answer, that holds."""

    def __init__(self, store: PeopleStore, *, takes_tokens: bool) -> None:
        """``takes_tokens`` is whether its tokens admit, beside those of the settings."""
        self._store = store
        self._takes_tokens = takes_tokens
        self._people = People({}, {})

    def admits(self, token: str) -> AccessToken | None:
        """Return whom a token admits, None for one that no operator made."""
        found = self._people.tokens.get(digest_of(token)) if self._takes_tokens else None
        return None if found is None else admitted(token, found.principal, found.groups)

    def revokes(self, principal: str) -> bool:
        """Tell whether a principal's tokens admit nobody any more."""
        return principal in self._people.revoked

    async def look(self) -> None:
        """Take in what operators have changed; raises ``StorageError``."""
        self._people = await self._store.read()

    async def follow(self) -> None:
        """Look again and again, until cancelled."""
        was_answered = True
        try:
            while True:
                try:
                    await self.look()
                    was_answered = True
                except StorageError as error:
                    if was_answered:
                        logger.warning("Whom operators let in or turn away is not known anew: %s", error)
                    was_answered = False
                await asyncio.sleep(LOOK_S)
        finally:
            await self._store.close()
