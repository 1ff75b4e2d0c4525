"""Which hosts and origins a request may name: names and ports are compared whole, not by their start."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, Self

from navigator.loopback import is_loopback

Port = int | None | Literal["*"]
"""A port, none, or in a rule any."""

_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}|\*))?")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
OPAQUE: Final = "null"
"""The origin of a page that has none: a file, a sandboxed frame."""


@dataclass(frozen=True)
class Authority:
    """A host's name or address, in lower case, and its port."""

    name: str
    port: Port

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Return the authority that ``text`` is as a whole, or None; nothing is trimmed or guessed."""
        found = _HOST.fullmatch(text)
        if found is None:
            return None
        name, port = found[1].lower(), found[2]
        if name.startswith("["):
            try:
                name = f"[{ipaddress.IPv6Address(name[1:-1]).compressed}]"
            except ValueError:
                return None
        if port is None or port == "*":
            return cls(name, "*" if port else None)
        return cls(name, int(port)) if 0 < int(port) < 65_536 else None

    def with_any_port(self) -> Authority:
        """Return the rule that admits every port of this host."""
        return Authority(self.name, "*")

    def is_address(self) -> bool:
        """Return whether it is an IP address, which no name server can point elsewhere."""
        try:
            ipaddress.ip_address(self.name.strip("[]"))
        except ValueError:
            return False
        return True


@dataclass(frozen=True)
class WebOrigin:
    """Where a page comes from; ``null`` has a scheme of its own and no authority."""

    scheme: str
    authority: Authority | None

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Return the origin that ``text`` is as a whole, or None; a path, a user or a blank make it none."""
        if text == OPAQUE:
            return cls(OPAQUE, None)
        found = _SCHEME.fullmatch(text)
        authority = Authority.read(found[2]) if found is not None else None
        return cls(found[1].lower(), authority) if found is not None and authority is not None else None


@dataclass(frozen=True)
class AllowedAddresses:
    """The hosts by which a server may be called, and the origins whose pages may call it."""

    hosts: frozenset[Authority]
    origins: frozenset[WebOrigin]

    def admits_host(self, text: str) -> bool:
        """Return whether a ``Host`` header's value is one of the hosts."""
        host = Authority.read(text)
        if host is None or host.port == "*":
            return False
        return host in self.hosts or host.with_any_port() in self.hosts

    def admits_origin(self, text: str) -> bool:
        """Return whether an ``Origin`` header's value is one of the origins."""
        origin = WebOrigin.read(text)
        if origin is None or (host := origin.authority) is None:
            return origin in self.origins
        if host.port == "*":
            return False
        return origin in self.origins or WebOrigin(origin.scheme, host.with_any_port()) in self.origins


def allowed_addresses(bound_to: str, hosts: Iterable[str], origins: Iterable[str]) -> AllowedAddresses:
    """Return who may call a server that listens on ``bound_to``: loopback names, itself, and what was set.

    ``hosts`` and ``origins`` are rules that ``host_rule`` and ``origin_rule`` took.
    """
    itself = f"[{bound_to}]" if ":" in bound_to else bound_to
    own = [f"{name}:*" for name in (*_LOOPBACK, itself)]
    pages = [f"{scheme}://{name}:*" for scheme in ("http", "https") for name in _LOOPBACK]
    return AllowedAddresses(
        frozenset(host for text in (*own, *hosts) if (host := host_rule(text)) is not None),
        frozenset(page for text in (*pages, *origins) if (page := origin_rule(text)) is not None),
    )


def host_rule(text: str) -> Authority | None:
    """Return what a setting such as ``name``, ``name:8321`` or ``name:*`` admits; None if it is no host."""
    return Authority.read(_in_ascii(text))


def origin_rule(text: str) -> WebOrigin | None:
    """Return the origins that a setting admits, such as ``https://name``; None if it is none."""
    return WebOrigin.read(_in_ascii(text))


def is_own_host(text: str) -> bool:
    """Tell whether a setting names this machine alone."""
    host = host_rule(text)
    return host is not None and is_loopback(host.name.strip("[]"))


def is_own_origin(text: str) -> bool:
    """Tell whether a setting names pages of this machine alone; a page without an origin may be anybody's."""
    page = origin_rule(text)
    return page is not None and page.authority is not None and is_loopback(page.authority.name.strip("[]"))


def _in_ascii(text: str) -> str:
    """Return a rule as browsers write it: a name in another script in its ASCII form."""
    if text.isascii():
        return text
    start, mark, rest = text.rpartition("://")
    name, colon, port = rest.partition(":")
    try:
        return f"{start}{mark}{name.encode('idna').decode('ascii')}{colon}{port}"
    except UnicodeError:
        return text
