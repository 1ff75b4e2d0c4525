"""Everything that can be set, read once: flags win over the environment, that over the defaults."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeVar
from urllib.parse import urlsplit

from mcp_server.transport.ending import CALL_SECONDS
from mcp_server.transport.origins import host_rule, origin_rule
from navigator.loopback import is_loopback
from navigator.models.vendors import VENDORS
from navigator.records.decisions import EMBEDDED
from navigator.settings import (
    DEFAULT_MAX_COST_USD,
    DEFAULT_TOKEN_BUDGET,
    LOCAL_USER,
    GeminiMemory,
    NavigatorSettings,
)
from navigator.stores.data_folder import default_data_dir
from navigator.stores.store_address import UnusableAddressError, read_bucket_address, read_database_address
from repo_map.errors import UserError
from repo_map.indexing.cache_folder import cache_folder
from repo_map.limits import read_limits
from repo_map.messages import counted, one_line

_Address = TypeVar("_Address")
_Number = TypeVar("_Number", int, float)
LogFormat = Literal["text", "json"]
LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
Views = Literal["auto", "on", "off"]

PREFIX: Final = "REPO_NAVIGATOR_"
MAX_RETRIES: Final = 10
_SHORTEST_TOKEN: Final = 16
"""Characters of a bearer token."""
STORED_TOKENS: Final = "stored"
"""Stands among tokens for those that operators keep in the shared database."""
_OF_PROVIDER: Final = "jwt-"
"""How the names of those begin whom an identity provider vouches for."""
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
    """Whose tokens admit, beside those that are set here."""

    issuer: str
    """URL of the identity provider, as its tokens name it."""
    resource: str
    """URL of this server's endpoint, as clients call it: the audience that its tokens are for."""
    keys_url: str = ""
    """URL of the provider's public keys; empty to look it up in the provider's own document."""
    groups_claim: str = "groups"
    """The claim that lists the groups of a token's bearer."""
    login_claim: str = ""
    """The claim that is what git hosts call the bearer; empty where none is to be trusted with that."""


@dataclass(frozen=True)
class PrincipalLimits:
    """What one principal may use; None is no limit."""

    open_navigations: int | None = None
    tokens_a_day: int | None = None
    """Sent to its assistants, and to models in its name."""
    cost_usd_a_day: float | None = None
    index_seconds_a_day: float | None = None
    """Spent waiting for indexes of repositories."""

    @property
    def by_day(self) -> bool:
        """Whether anything is counted by the day."""
        return (self.tokens_a_day, self.cost_usd_a_day, self.index_seconds_a_day) != (None, None, None)


@dataclass(frozen=True)
class HttpSettings:
    """Where and how streamable HTTP is served."""

    host: str = "127.0.0.1"
    port: int = 8321
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Bearer token → the principal whom it admits."""
    takes_stored_tokens: bool = False
    """Whether tokens that operators keep in the shared database admit too."""
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Principal of such a token → its groups."""
    identity: IdentitySettings | None = None
    allowed_hosts: tuple[str, ...] = ()
    """Hosts, besides the loopback names, that a request may name: ``name``, ``name:8321``, ``name:*``."""
    allowed_origins: tuple[str, ...] = ()
    """Origins, besides the loopback ones, that a request may have: ``https://name``, also with a port."""
    max_body_bytes: int = 1_000_000
    max_connections: int = 512
    drain_seconds: float = CALL_SECONDS
    """What calls under way get to be answered once the server was asked to end."""
    webhook_secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Git host → the secret that its webhooks are signed with."""
    host_tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Git host → the token by which it is asked who may read."""
    rights_seconds: float = 60.0
    """How long a right holds that a git host has told."""
    metrics_token: str = field(default="", repr=False)
    """Bearer token of whoever reads the metrics; without one there are none."""


@dataclass(frozen=True)
class Settings(NavigatorSettings):
    """How the server and the command line behave: the agent's settings, and their own beside them."""

    allowed: tuple[Path, ...] = ()
    """Folders that a repository must lie in, symlinks resolved; empty allows any."""
    token_budget: int | None = None
    """Most tokens of a whole answer, for a navigation that names no number; None for what a caller needs."""
    max_cost_usd: float = float(DEFAULT_MAX_COST_USD)
    """Most dollars that a navigation may spend when it names no limit."""
    call_seconds: float = 45.0
    """After this long `navigate` answers with what it has; hosts give up after 60 to 240 s."""
    grace_seconds: float = 60.0
    """What calls under way get to be answered once stdin has ended."""
    max_navigations: int = 1_000
    """Most navigations that one principal may have."""
    keep_days: float = 30.0
    """Navigations that nobody used for this long are removed."""
    views: Views = "auto"
    """Whether hosts are offered the map as a view: those that say that they show views, all, or none."""
    principal_limits: PrincipalLimits = field(default_factory=PrincipalLimits)
    audit: Path | Literal["stderr"] | None = None
    """Where a line is written of each call; None writes none."""
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
    urls = {vendor.name: environ.get(f"{PREFIX}{vendor.name.upper()}_URL") for vendor in VENDORS}
    entries = _words(environ.get(f"{PREFIX}HTTP_TOKENS", ""))
    tokens = bearer_tokens(entries)
    store = _address(environ, "STORE", read_database_address)
    if STORED_TOKENS in entries and store is None:
        raise SettingsError(
            f"{PREFIX}HTTP_TOKENS takes those that are `{STORED_TOKENS}`, and no database keeps any; set "
            f"{PREFIX}STORE, or write `name:token`."
        )
    return Settings(
        data_dir=default_data_dir(environ),
        lease_s=_number(environ, "LEASE_SECONDS", Settings.lease_s),
        store=store,
        bucket=_address(environ, "ARTIFACTS", read_bucket_address),
        cache_dir=cache_dir,
        use_cache=cache_dir is not None,
        share_index=_switch(f"{PREFIX}SHARE_INDEX", environ, default=Settings.share_index),
        shared_mb=_number(environ, "SHARED_MB", Settings.shared_mb),
        repositories=Path(names).expanduser() if (names := environ.get(f"{PREFIX}REPOSITORIES")) else None,
        allowed=allowed_folders(environ.get(f"{PREFIX}ALLOW", "").split(os.pathsep)),
        line_numbers=_switch(f"{PREFIX}LINE_NUMBERS", environ, default=Settings.line_numbers),
        unmasked=_words(environ.get(f"{PREFIX}UNMASK", "")),
        model=environ.get(f"{PREFIX}MODEL") or EMBEDDED,
        fallback_models=_words(environ.get(f"{PREFIX}FALLBACK_MODELS", "")),
        prices=Path(prices).expanduser() if (prices := environ.get(f"{PREFIX}PRICES")) else None,
        token_budget=budget,
        max_cost_usd=_number(environ, "MAX_COST_USD", Settings.max_cost_usd),
        call_seconds=_number(environ, "CALL_SECONDS", Settings.call_seconds),
        grace_seconds=_number(environ, "GRACE_SECONDS", Settings.grace_seconds),
        max_navigations=_count(environ, "MAX_NAVIGATIONS", Settings.max_navigations),
        limits=read_limits(environ),
        keep_days=_number(environ, "KEEP_DAYS", Settings.keep_days),
        views=_views(environ),
        principal_limits=PrincipalLimits(
            open_navigations=_limit(environ, "LIMIT_OPEN_NAVIGATIONS", _count),
            tokens_a_day=_limit(environ, "LIMIT_TOKENS_A_DAY", _count),
            cost_usd_a_day=_limit(environ, "LIMIT_COST_USD_A_DAY", _number),
            index_seconds_a_day=_limit(environ, "LIMIT_INDEX_SECONDS_A_DAY", _number),
        ),
        audit=_audit(environ.get(f"{PREFIX}AUDIT", "").strip()),
        log_level=log_level(environ.get(f"{PREFIX}LOG_LEVEL", "warning")),
        log_format="json" if log_format == "json" else "text",
        http=HttpSettings(
            identity=_identity(environ),
            tokens=tokens,
            takes_stored_tokens=STORED_TOKENS in entries,
            groups=_groups(environ.get(f"{PREFIX}HTTP_GROUPS", ""), set(tokens.values())),
            max_body_bytes=_count(environ, "HTTP_MAX_BODY", HttpSettings.max_body_bytes),
            max_connections=_count(environ, "HTTP_MAX_CONNECTIONS", HttpSettings.max_connections),
            drain_seconds=_number(environ, "HTTP_DRAIN_SECONDS", HttpSettings.drain_seconds),
            webhook_secrets=_by_host(environ, "WEBHOOK_SECRETS", _SHORTEST_TOKEN),
            host_tokens=_by_host(environ, "HOST_TOKENS", 1),
            rights_seconds=_number(environ, "RIGHTS_SECONDS", HttpSettings.rights_seconds),
            metrics_token=_metrics_token(environ.get(f"{PREFIX}HTTP_METRICS_TOKEN", "").strip(), tokens),
            allowed_hosts=_hosts(environ.get(f"{PREFIX}HTTP_HOSTS", "")),
            allowed_origins=_origins(environ.get(f"{PREFIX}HTTP_ORIGINS", "")),
        ),
        model_urls={name: url for name, url in urls.items() if url},
        call_timeout_s=_number(environ, "MODEL_SECONDS", Settings.call_timeout_s),
        retries=_retries(environ),
        stream=_switch(f"{PREFIX}MODEL_STREAM", environ, default=Settings.stream),
        embedded_fallback=_switch(f"{PREFIX}EMBEDDED_FALLBACK", environ, default=Settings.embedded_fallback),
        gemini_memory=_gemini_memory(environ),
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
    login_claim = environ.get(f"{PREFIX}HTTP_LOGIN_CLAIM", "").strip()
    if not (issuer or resource or keys_url):
        return None
    if not (issuer and resource):
        raise SettingsError(
            f"{PREFIX}HTTP_ISSUER and {PREFIX}HTTP_RESOURCE belong together; set the first to your identity "
            "provider's URL and the second to this server's, such as https://navigator.example/mcp."
        )
    for name, url in (("HTTP_ISSUER", issuer), ("HTTP_RESOURCE", resource), ("HTTP_JWKS", keys_url)):
        if url and not is_trusted_url(url):
            raise SettingsError(
                f"{PREFIX}{name} is not a safe URL; write https://…, without "
                "name and password, or http:// of this machine."
            )
    groups_claim = environ.get(f"{PREFIX}HTTP_GROUPS_CLAIM", "").strip()
    return IdentitySettings(
        issuer, resource, keys_url, groups_claim or IdentitySettings.groups_claim, login_claim
    )


def is_trusted_url(url: str) -> bool:
    """Tell whether whoever answers at a URL is who it names: by a certificate, or on this machine."""
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


def _gemini_memory(environ: Mapping[str, str]) -> GeminiMemory:
    memory = environ.get(f"{PREFIX}GEMINI_MEMORY", Settings.gemini_memory).lower()
    if memory not in ("cache", "interactions", "off"):
        raise SettingsError(
            f"{PREFIX}GEMINI_MEMORY is `{memory}`; set it to `cache`, `interactions` or `off`.",
            argument=f"{PREFIX}GEMINI_MEMORY",
        )
    return "cache" if memory == "cache" else "interactions" if memory == "interactions" else "off"


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


def require_principal(name: str) -> None:
    """Raise ``SettingsError`` where no token can be given to a principal of that name."""
    if name == LOCAL_USER:
        raise SettingsError(
            f"`{LOCAL_USER}` can't be the name of a token's bearer: it is whoever starts the server on their "
            "own machine, who may read any folder; write another name."
        )
    if not _is_word(name, ":,") or name.startswith(_OF_PROVIDER):
        raise SettingsError(
            f"`{one_line(name)}` can't be the name of a token's bearer; write one without a colon, a comma "
            f"or blanks around it that does not begin with `{_OF_PROVIDER}`, as an identity provider's do."
        )


def require_group(name: str) -> None:
    """Raise ``SettingsError`` where no bearer of a token can be in a group of that name."""
    if not _is_word(name, "+,"):
        raise SettingsError(
            f"`{one_line(name)}` can't be the name of a group; write one without a plus sign, a comma or "
            "blanks around it, and repeat --group for several."
        )


def _is_word(name: str, separators: str) -> bool:
    return bool(name) and name.isprintable() and name == name.strip() and not set(name) & set(separators)


def bearer_tokens(entries: Sequence[str]) -> dict[str, str]:
    """Return token → principal from ``alice:token``, …; a nameless token admits ``token-<n>``."""
    principals: dict[str, str] = {}
    for position, entry in enumerate(entries, start=1):
        if entry == STORED_TOKENS:
            continue
        name, named, token = entry.partition(":")
        token, name = (token, name) if named else (name, f"token-{position}")
        if len(token) < _SHORTEST_TOKEN:
            raise SettingsError(
                f"The bearer token of `{name}` has {counted(len(token), 'character')}; use 16 or more, for "
                "example the output of `python -c 'import secrets; print(secrets.token_urlsafe())'`."
            )
        require_principal(name)
        principals[token] = name
    return principals


def _by_host(environ: Mapping[str, str], name: str, shortest: int) -> dict[str, str]:
    """Return git host → secret from ``git.example:SECRET,github.com:SECRET``; no secret is repeated."""
    found: dict[str, str] = {}
    for position, entry in enumerate(_words(environ.get(PREFIX + name, "")), start=1):
        host, _, secret = entry.partition(":")
        if not host or len(secret) < shortest or host.lower() in found:
            raise SettingsError(
                f"{PREFIX}{name} can't be used at its entry {position}; write `git.example:SECRET`, each "
                f"host once, with {counted(shortest, 'character')} or more."
            )
        found[host.lower()] = secret
    return found


def _groups(text: str, principals: Set[str]) -> dict[str, tuple[str, ...]]:
    """Return principal → groups from ``alice:core+web,bob:web``."""
    groups: dict[str, tuple[str, ...]] = {}
    for entry in _words(text):
        name, _, listed = entry.partition(":")
        names = tuple(sorted({group.strip() for group in listed.split("+")} - {""}))
        if name not in principals or not names or name in groups:
            raise SettingsError(
                f"{PREFIX}HTTP_GROUPS has `{entry}`; write `name:group+group`, once for each name that "
                f"{PREFIX}HTTP_TOKENS gives a token."
            )
        groups[name] = names
    return groups


def _metrics_token(token: str, tokens: Container[str]) -> str:
    if token and len(token) < _SHORTEST_TOKEN:
        raise SettingsError(
            f"{PREFIX}HTTP_METRICS_TOKEN has {counted(len(token), 'character')}; use {_SHORTEST_TOKEN} or "
            "more, for example the output of `python -c 'import secrets; print(secrets.token_urlsafe())'`."
        )
    if token in tokens:
        raise SettingsError(
            f"{PREFIX}HTTP_METRICS_TOKEN admits a principal too; give whoever reads the metrics a token "
            "that does nothing else."
        )
    return token


def _audit(text: str) -> Path | Literal["stderr"] | None:
    if text == "stderr":
        return "stderr"
    path = Path(text).expanduser()
    if text and not (path.is_absolute() and path.parent.is_dir()):
        raise SettingsError(
            f"{PREFIX}AUDIT is `{text}`; set it to `stderr`, or to the absolute path of a file in a folder "
            "that is there."
        )
    return path if text else None


def _hosts(text: str) -> tuple[str, ...]:
    for host in _words(text):
        if host_rule(host) is None:
            raise SettingsError(
                f"{PREFIX}HTTP_HOSTS names `{host}`, which is not a host; write `name`, `name:8321`, or "
                "`name:*` for any port.",
                argument=f"{PREFIX}HTTP_HOSTS",
            )
    return _words(text)


def _origins(text: str) -> tuple[str, ...]:
    for origin in _words(text):
        if origin_rule(origin) is None:
            raise SettingsError(
                f"{PREFIX}HTTP_ORIGINS names `{origin}`, which is not an origin; write "
                "`https://name`, with its "
                "port where it has one, or `https://name:*` for any.",
                argument=f"{PREFIX}HTTP_ORIGINS",
            )
    return _words(text)


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


def _limit(environ: Mapping[str, str], name: str, read: Callable[..., _Number]) -> _Number | None:
    return read(environ, name, 1) if environ.get(PREFIX + name) else None


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
