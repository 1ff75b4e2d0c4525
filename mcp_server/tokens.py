"""Bearer tokens of a small team: a file of their hashes, and new ones.

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
import secrets
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, field_validator

from mcp_server.reloaded_file import ReloadedFile
from mcp_server.settings import SettingsError
from navigator.settings import LOCAL_USER
from repo_map.messages import one_line

JWT_PREFIX: Final = "jwt-"
"""How the names of users begin whom an identity provider vouches for."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")
_TOKEN_BYTES: Final = 32


class TokenEntry(BaseModel):
    """One token: whom it admits, the hash of it, and until when."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    expires: date | None = None
    """Last day, by UTC, on which it admits."""

    @field_validator("name")
    @classmethod
    def _usable(cls, name: str) -> str:
        if (why := unusable_name(name)) is not None:
            raise ValueError(why)
        return name

    def ends_at(self) -> datetime | None:
        """Return when the token ends to admit; None for never."""
        if self.expires is None:
            return None
        return datetime.combine(self.expires + timedelta(days=1), time(), UTC)


class TokenFile:
    """Verifies tokens against a file, which is read again when it changes."""

    def __init__(self, path: Path, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Read the file.

        Raises:
            SettingsError: It can't be used.
        """
        self._file = ReloadedFile(path, TokenEntry, lambda entry: entry.sha256)
        self._clock = clock

    def user_of(self, token: str) -> str | None:
        """Return the name of whom ``token`` admits, None if it admits no user.

        All hashes are compared, each in constant time, so that the time tells nothing about them.
        """
        presented, found = hash_of(token), None
        for entry in self._file.entries:
            if hmac.compare_digest(presented, entry.sha256):
                ends = entry.ends_at()
                found = entry.name if ends is None or self._clock() < ends else None
        return found


def read_tokens(path: Path) -> tuple[TokenEntry, ...]:
    """Return the entries of a file of tokens.

    Raises:
        SettingsError: It can't be used; the message names the line.
    """
    return ReloadedFile(path, TokenEntry, lambda entry: entry.sha256).entries


def hash_of(token: str) -> str:
    """Return the SHA-256 of a token, in hexadecimal; a token has 256 random bits, so it needs no salt."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def new_token() -> str:
    """Return a new random token of 43 characters."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def unusable_name(name: str) -> str | None:
    """Return why a token's user can't have this name, None where it can."""
    if name == LOCAL_USER:
        return f"`{LOCAL_USER}` is the user of a server without tokens; choose another name"
    if not _NAME.fullmatch(name) or name.startswith(JWT_PREFIX):
        return (
            f"`{one_line(name)}` is no name of a user; use letters, digits and . _ @ + -, beginning with a "
            f"letter or digit, and not with `{JWT_PREFIX}`"
        )
    return None


def require_user_name(name: str) -> None:
    """Raise ``SettingsError`` for a name that a token's user can't have."""
    if (why := unusable_name(name)) is not None:
        raise SettingsError(f"{why[0].upper()}{why[1:]}.")
