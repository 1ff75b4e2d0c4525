"""Bearer tokens of a small team: a file of their hashes.

```yaml
- name: alice
  sha256: 5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8
  expires: 2027-01-31      # may be left out
```
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from mcp_server.settings import ReloadedFile, SettingsError
from navigator.settings import LOCAL_USER

JWT_PREFIX: Final = "jwt-"
"""Prefix of the names of users that an identity provider authenticates."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")


def _user_name(name: str) -> str:
    try:
        require_user_name(name)
    except SettingsError as error:
        raise ValueError(str(error)) from None
    return name


class TokenEntry(BaseModel):
    """One token: its user, its hash and its last day."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, AfterValidator(_user_name)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    expires: date | None = None
    """Last day, by UTC, on which it is valid."""


def listed_tokens(path: Path) -> ReloadedFile[TokenEntry]:
    """Return the list of tokens in a file; raise ``SettingsError`` if it can't be used."""
    return ReloadedFile(path, TokenEntry, lambda entry: entry.sha256)


def user_of(token: str, entries: Iterable[TokenEntry], today: date | None = None) -> str | None:
    """Return the name of the user of ``token``, None if it is not valid.

    All hashes are compared, each in constant time, so that the time tells nothing about them.
    """
    presented, today, found = hash_of(token), today or datetime.now(UTC).date(), None
    for entry in entries:
        if hmac.compare_digest(presented, entry.sha256):
            found = entry.name if entry.expires is None or today <= entry.expires else None
    return found


def hash_of(token: str) -> str:
    """Return the SHA-256 of a token, in hexadecimal; a token has 256 random bits, so it needs no salt."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def require_user_name(name: str) -> None:
    """Raise ``SettingsError`` for a name that a token's user can't have."""
    if name == LOCAL_USER or not _NAME.fullmatch(name) or name.startswith(JWT_PREFIX):
        raise SettingsError(
            "A user can't have this name; use letters, digits and . _ @ + -, beginning with a letter or "
            f"digit, not with `{JWT_PREFIX}`, and another name than `{LOCAL_USER}`."
        )
