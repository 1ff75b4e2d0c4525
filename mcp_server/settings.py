"""Everything that can be set, read once: flags win over the environment, that over the defaults."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeVar
from urllib.parse import urlsplit

from navigator.loopback import is_loopback
from navigator.models.catalogue import PROVIDERS
from navigator.settings import (
    DEFAULT_MAX_COST_USD,
    DEFAULT_TOKEN_BUDGET,
    NavigatorSettings,
)
from navigator.state.labels import EMBEDDED
from navigator.storage.addresses import UnusableAddressError, read_bucket_address, read_database_address
from navigator.storage.data_folder import default_data_dir
from repo_map.cache import cache_folder
from repo_map.errors import UserError
from repo_map.limits import read_limits

_Address = TypeVar("_Address")
LogFormat = Literal["text", "json"]
LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
Views = Literal["auto", "on", "off"]

CALL_SECONDS: Final = 3.0
"""For running calls after a signal; clients kill a server that takes much longer."""
PREFIX: Final = "REPO_NAVIGATOR_"
MAX_RETRIES: Final = 10
_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:([0-9]{1,5}|\*))?", re.IGNORECASE)
_ORIGIN: Final = re.compile(
    r"(https?|[a-z][a-z0-9+.-]*)://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:([0-9]{1,5}|\*))?", re.IGNORECASE
)
_LOG_LEVELS: Final[dict[str, LogLevel]] = {
    "debug": "DEBUG",
    "info": "INFO",
    "warning": "WARNING",
    "error": "ERROR",
}


class SettingsError(UserError):
    """A setting has a value that can't be used; the message names the setting and a value that can."""

    code = "invalid_setting"


@dataclass(frozen=True)
class IdentitySettings:
    """The identity provider whose tokens admit, beside those of the token file."""

    issuer: str
    """URL of the identity provider, as its tokens name it."""
    resource: str
    """URL of this server's endpoint, as clients call it: the audience that its tokens are for."""
    keys_url: str
    """URL of the provider's public keys (JSON Web Key Set)."""
    user_claim: str = "sub"
    """The claim that names the user, with ``jwt-`` before it."""


@dataclass(frozen=True)
class HttpSettings:
    """Where and how streamable HTTP is served."""

    host: str = "127.0.0.1"
    port: int = 8321
    tokens: Path | None = None
    """File of the hashes of bearer tokens; None for none."""
    identity: IdentitySettings | None = None
    allowed_hosts: tuple[str, ...] = ()
    """Hosts, besides the loopback names, that a request may name: ``name``, ``name:8321``, ``name:*``."""
    allowed_origins: tuple[str, ...] = ()
    """Origins, besides the loopback ones, that a request may have: ``https://name``, also with a port."""
    max_body_bytes: int = 1_000_000
    max_connections: int = 512
    """Requests at once; more are answered 503."""
    drain_seconds: float = CALL_SECONDS
    """What calls under way get to be answered once the server was asked to end."""
    metrics: bool = False
    """Whether Prometheus can read the numbers of calls at ``/metrics``."""


@dataclass(frozen=True)
class Settings(NavigatorSettings):
    """How the server and the command line behave: the agent's settings, and their own beside them."""

    allowed: tuple[Path, ...] = ()
    """Folders that a repository must lie in, symlinks resolved; empty allows any."""
    repositories: Path | None = None
    """File of the repositories that are known by name; None for none."""
    token_budget: int | None = None
    """Most tokens of a whole answer, for a navigation that names no number; None for what a caller needs."""
    max_cost_usd: float = float(DEFAULT_MAX_COST_USD)
    """Most dollars that a navigation may spend when it names no limit."""
    call_seconds: float = 45.0
    """After this long `navigate` answers with what it has; hosts give up after 60 to 240 s."""
    grace_seconds: float = 60.0
    """What calls under way get to be answered once stdin has ended."""
    max_navigations: int = 1_000
    """Most navigations that one user may have."""
    keep_days: float = 30.0
    """Navigations unused for this long are removed."""
    views: Views = "auto"
    """Whether hosts are offered the map as a view: those that say that they show views, all, or none."""
    log_level: LogLevel = "WARNING"
    log_format: LogFormat = "text"
    http: HttpSettings = field(default_factory=HttpSettings)


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Return the settings that the ``REPO_NAVIGATOR_…`` variables give.

    Raises:
        SettingsError: A variable's value can't be used.
    """
    asks_for_size = bool(environ.get(f"{PREFIX}TOKEN_BUDGET"))
    budget = _count(environ, "TOKEN_BUDGET", DEFAULT_TOKEN_BUDGET) if asks_for_size else None
    log_format = environ.get(f"{PREFIX}LOG_FORMAT", "text").lower()
    if log_format not in ("text", "json"):
        raise SettingsError(
            f"{PREFIX}LOG_FORMAT is `{log_format}`; set it to `text` or `json`.",
            argument=f"{PREFIX}LOG_FORMAT",
        )
    cache_dir = cache_folder(environ, sys.platform, Path.home())
    urls = {vendor.name: environ.get(f"{PREFIX}{vendor.name.upper()}_URL") for vendor in PROVIDERS}
    return Settings(
        data_dir=default_data_dir(environ),
        store=_address(environ, "STORE", read_database_address),
        bucket=_address(environ, "ARTIFACTS", read_bucket_address),
        cache_dir=cache_dir,
        use_cache=cache_dir is not None,
        repositories=_file(environ, "REPOSITORIES"),
        allowed=allowed_folders(environ.get(f"{PREFIX}ALLOW", "").split(os.pathsep)),
        line_numbers=_switch(f"{PREFIX}LINE_NUMBERS", environ, default=Settings.line_numbers),
        unmasked=_words(environ.get(f"{PREFIX}UNMASK", "")),
        model=environ.get(f"{PREFIX}MODEL") or EMBEDDED,
        fallback_model=environ.get(f"{PREFIX}FALLBACK_MODEL", "").strip(),
        prices=_file(environ, "PRICES"),
        token_budget=budget,
        max_cost_usd=_number(environ, "MAX_COST_USD", Settings.max_cost_usd),
        call_seconds=_number(environ, "CALL_SECONDS", Settings.call_seconds),
        grace_seconds=_number(environ, "GRACE_SECONDS", Settings.grace_seconds),
        max_navigations=_count(environ, "MAX_NAVIGATIONS", Settings.max_navigations),
        limits=read_limits(environ),
        keep_days=_number(environ, "KEEP_DAYS", Settings.keep_days),
        views=_views(environ),
        log_level=log_level(environ.get(f"{PREFIX}LOG_LEVEL", "warning")),
        log_format="json" if log_format == "json" else "text",
        http=HttpSettings(
            identity=_identity(environ),
            tokens=_file(environ, "TOKENS"),
            max_body_bytes=_count(environ, "HTTP_MAX_BODY", HttpSettings.max_body_bytes),
            max_connections=_count(environ, "HTTP_MAX_CONNECTIONS", HttpSettings.max_connections),
            drain_seconds=_number(environ, "HTTP_DRAIN_SECONDS", HttpSettings.drain_seconds),
            metrics=_switch(f"{PREFIX}METRICS", environ, default=HttpSettings.metrics),
            allowed_hosts=_hosts(environ.get(f"{PREFIX}HTTP_HOSTS", "")),
            allowed_origins=_origins(environ.get(f"{PREFIX}HTTP_ORIGINS", "")),
        ),
        model_urls={name: url for name, url in urls.items() if url},
        call_timeout_s=_number(environ, "MODEL_SECONDS", Settings.call_timeout_s),
        retries=_retries(environ),
        stream=_switch(f"{PREFIX}MODEL_STREAM", environ, default=Settings.stream),
        embedded_fallback=_switch(f"{PREFIX}EMBEDDED_FALLBACK", environ, default=Settings.embedded_fallback),
    )


def _address(environ: Mapping[str, str], name: str, read: Callable[[str], _Address]) -> _Address | None:
    """Return the address that a variable gives; what is said of a bad one repeats no part of it."""
    if not (text := environ.get(PREFIX + name, "").strip()):
        return None
    try:
        return read(text)
    except UnusableAddressError as error:
        raise SettingsError(f"{PREFIX}{name} {error}", argument=PREFIX + name) from None


def _identity(environ: Mapping[str, str]) -> IdentitySettings | None:
    issuer = environ.get(f"{PREFIX}HTTP_ISSUER", "").strip()
    resource = environ.get(f"{PREFIX}HTTP_RESOURCE", "").strip()
    keys_url = environ.get(f"{PREFIX}HTTP_JWKS", "").strip()
    if not (issuer or resource or keys_url):
        return None
    if not (issuer and resource and keys_url):
        raise SettingsError(
            f"{PREFIX}HTTP_ISSUER, {PREFIX}HTTP_RESOURCE and {PREFIX}HTTP_JWKS belong together; set them to "
            "your identity provider's URL, this server's, such as https://navigator.example/mcp, and that of "
            "the provider's keys."
        )
    for name, url in (("HTTP_ISSUER", issuer), ("HTTP_RESOURCE", resource), ("HTTP_JWKS", keys_url)):
        if not is_trusted_url(url):
            raise SettingsError(
                f"{PREFIX}{name} is not a safe URL; write https://…, without "
                "name and password, or http:// of this machine."
            )
    user_claim = environ.get(f"{PREFIX}HTTP_USER_CLAIM", "").strip() or IdentitySettings.user_claim
    return IdentitySettings(issuer, resource, keys_url, user_claim)


def is_trusted_url(url: str) -> bool:
    """Return True if the server at a URL is authenticated: by a certificate, or on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    if not host or "@" in parts.netloc or parts.fragment:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))


def _retries(environ: Mapping[str, str]) -> int:
    retries = environ.get(f"{PREFIX}MODEL_RETRIES") or str(Settings.retries)
    if not retries.isdecimal() or int(retries) > MAX_RETRIES:
        raise SettingsError(
            f"{PREFIX}MODEL_RETRIES is `{retries}`; set it to a whole number from 0 to {MAX_RETRIES}.",
            argument=f"{PREFIX}MODEL_RETRIES",
        )
    return int(retries)


def _views(environ: Mapping[str, str]) -> Views:
    views = environ.get(f"{PREFIX}VIEWS", "").strip().lower() or Settings.views
    if views not in ("auto", "on", "off"):
        raise SettingsError(
            f"{PREFIX}VIEWS is `{views}`; set it to `auto`, `on` or `off`.",
            argument=f"{PREFIX}VIEWS",
        )
    return "auto" if views == "auto" else "on" if views == "on" else "off"


def allowed_folders(names: Sequence[str]) -> tuple[Path, ...]:
    """Return the named folders with symlinks resolved, sorted, blanks left out."""
    return tuple(sorted({Path(name).expanduser().resolve() for name in names if name.strip()}))


def log_level(name: str) -> LogLevel:
    """Return the logging level called ``name``."""
    level = _LOG_LEVELS.get(name.strip().lower())
    if level is None:
        raise SettingsError(f"`{name}` is not a log level; use one of {', '.join(_LOG_LEVELS)}.")
    return level


def _hosts(text: str) -> tuple[str, ...]:
    for host in _words(text):
        if not _HOST.fullmatch(host):
            raise SettingsError(
                f"{PREFIX}HTTP_HOSTS names `{host}`, which is not a host; write `name`, `name:8321`, or "
                "`name:*` for any port.",
                argument=f"{PREFIX}HTTP_HOSTS",
            )
    return _words(text)


def _origins(text: str) -> tuple[str, ...]:
    for origin in _words(text):
        if origin != "null" and not _ORIGIN.fullmatch(origin):
            raise SettingsError(
                f"{PREFIX}HTTP_ORIGINS names `{origin}`, which is not an origin; write "
                "`https://name`, with its port where it has one, or `https://name:*` for any.",
                argument=f"{PREFIX}HTTP_ORIGINS",
            )
    return _words(text)


def _file(environ: Mapping[str, str], name: str) -> Path | None:
    text = environ.get(PREFIX + name, "").strip()
    return Path(text).expanduser() if text else None


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _switch(name: str, environ: Mapping[str, str], *, default: bool) -> bool:
    value = environ.get(name, "").strip().lower()
    if value not in ("", "on", "off"):
        raise SettingsError(
            f"{name} is `{value}`; set it to `on` or `off`.",
            argument=name,
        )
    return value == "on" if value else default


def _count(environ: Mapping[str, str], name: str, default: int) -> int:
    number = _number(environ, name, default)
    if number != int(number):
        raise SettingsError(
            f"{PREFIX}{name} is {number:g}; set it to a whole number such as {default}.",
            argument=PREFIX + name,
        )
    return int(number)


def _number(environ: Mapping[str, str], name: str, default: float) -> float:
    value = environ.get(PREFIX + name)
    if not value:
        return default
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise SettingsError(
            f"{PREFIX}{name} is `{value}`; set it to a number above zero.", argument=PREFIX + name
        )
    return number
