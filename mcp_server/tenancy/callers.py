"""What decides a right: a user and groups; apart, so that a command line loads no protocol for it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from navigator.settings import LOCAL_USER


class Caller(Protocol):
    """Whoever asks for a repository."""

    @property
    def user(self) -> str:
        """The principal."""

    @property
    def groups(self) -> frozenset[str]:
        """Of the principal."""

    @property
    def login(self) -> str:
        """What git hosts call the principal; ``""`` where nobody vouches for it."""


class Here(NamedTuple):
    """Somebody at a command line of this machine."""

    user: str = LOCAL_USER
    groups: frozenset[str] = frozenset()
    login: str = ""
