"""All settings, read once from ``REPO_NAVIGATOR_…`` variables, and files that are read when they change."""

from __future__ import annotations

import difflib
import logging
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Generic, Literal, TypeVar, get_origin
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from navigator.errors import InvalidRequestError
from navigator.loopback import is_loopback
from navigator.models.catalogue import PROVIDERS, require_models
from navigator.models.sampling import HOST
from navigator.settings import DEFAULT_MAX_COST_USD, MAX_TOKEN_BUDGET, MIN_TOKEN_BUDGET, NavigatorSettings
from navigator.state.labels import EMBEDDED
from navigator.storage.addresses import (
    BucketAddress,
    DatabaseAddress,
    read_bucket_address,
    read_database_address,
)
from navigator.storage.data_folder import default_data_dir
from repo_map import globs
from repo_map.cache import cache_folder
from repo_map.errors import FlightPlanError, UserError
from repo_map.limits import DEFAULT, VARIABLES, read_limits
from repo_map.messages import one_line

LogFormat = Literal["text", "json"]
LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
Switch = Literal["on", "off"]
Views = Literal["auto", "on", "off"]

CALL_SECONDS: Final = 3.0
"""For running calls after a signal; clients kill a server that takes much longer."""
PREFIX: Final = "REPO_NAVIGATOR_"
_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:([0-9]{1,5}|\*))?", re.IGNORECASE)
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*", re.IGNORECASE)
_WITH_PASSWORDS: Final = {f"{PREFIX}STORE", f"{PREFIX}ARTIFACTS"}
"""Variables whose URLs may hold a password or key anywhere, so that errors do not repeat them."""


class SettingsError(UserError):
    """A setting has a value that can't be used; the message names the setting and what is wrong."""

    code = "invalid_setting"


def allowed_folders(names: Sequence[str]) -> tuple[Path, ...]:
    return tuple(sorted({Path(name).expanduser().resolve() for name in names if name.strip()}))


def _named_folders(text: str) -> tuple[Path, ...]:
    folders = allowed_folders(text.split(os.pathsep))
    if missing := [f"`{each}`" for each in folders if not each.is_dir()]:
        raise ValueError(f"there is no folder {', '.join(missing)}")
    if not folders:
        raise ValueError("it names no folder")
    return folders


def _globs(patterns: tuple[str, ...]) -> tuple[str, ...]:
    for pattern in patterns:
        try:
            globs.compile(pattern)
        except FlightPlanError as error:
            raise ValueError(str(error)) from None
    return patterns


def _if_text(read: Callable[[str], object]) -> BeforeValidator:
    return BeforeValidator(lambda value: read(value) if isinstance(value, str) else value)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _hosts(hosts: tuple[str, ...]) -> tuple[str, ...]:
    if not all(map(_HOST.fullmatch, hosts)):
        raise ValueError("write `name`, `name:8321`, or `name:*` for any port")
    return hosts


def _origins(origins: tuple[str, ...]) -> tuple[str, ...]:
    for origin in origins:
        scheme, _, host = origin.partition("://")
        if origin != "null" and not (_SCHEME.fullmatch(scheme) and _HOST.fullmatch(host)):
            raise ValueError("write `https://name`, with its port where it has one, or `https://name:*`")
    return origins


_Lower = _if_text(str.lower)
_Words = Annotated[tuple[str, ...], _if_text(_words)]
_File = Annotated[Path, AfterValidator(Path.expanduser)]
_Count = Annotated[int, Field(gt=0)]
_Amount = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


class Settings(NavigatorSettings, BaseSettings):
    """Settings of the server and the command line, in addition to those of the agent.

    Each field is set by the variable of its name, or of its alias, in capitals after ``PREFIX``.
    """

    model_config = SettingsConfigDict(
        frozen=True,
        env_prefix=PREFIX,
        env_prefix_target="all",
        env_ignore_empty=True,
        enable_decoding=False,
        populate_by_name=True,
        str_strip_whitespace=True,
        hide_input_in_errors=True,
    )

    store: Annotated[DatabaseAddress | None, _if_text(read_database_address)] = Field(
        default=None, description="[database](team.md#the-database): `postgresql+asyncpg://…` (SQLite)"
    )
    bucket: Annotated[BucketAddress | None, _if_text(read_bucket_address)] = Field(
        default=None,
        validation_alias="artifacts",
        description="[bucket](team.md#the-bucket): `s3://…`, `gs://…` (files)",
    )
    model: str = Field(default=EMBEDDED, description="model that decides")
    fallback_model: str = Field(default="", description="model to try next")
    embedded_fallback: bool = Field(default=True, description="the embedded planner is tried last")
    line_numbers: bool = Field(default=False, description="[number lines](flight-plan.md#line-numbers)")
    prices: _File | None = Field(default=None, description="your own price file (shipped)")
    unmasked: Annotated[_Words, AfterValidator(_globs)] = Field(
        default=(),
        validation_alias="unmask",
        description="globs of files to show [with their secrets](safety.md#secrets), comma-separated",
    )
    call_timeout_s: _Amount = Field(
        default=60.0, validation_alias="model_seconds", description="timeout of a model call, in seconds"
    )
    retries: Annotated[int, Field(ge=0, le=10)] = Field(
        default=2, validation_alias="model_retries", description="retries after a temporary failure"
    )
    stream: bool = Field(
        default=False,
        validation_alias="model_stream",
        description="stream answers; the timeout applies to each piece",
    )
    max_tokens_read: _Count = Field(
        default=30_000,
        validation_alias="model_tokens",
        description="maximum tokens that a model reads in a step",
    )

    allowed: Annotated[tuple[Path, ...], _if_text(_named_folders)] = Field(
        default=(),
        validation_alias="allow",
        description="folders that may be read, separated as in `PATH` (any)",
    )
    # These two are applied where git is run and files are listed; here their values are checked.
    lenders: Annotated[tuple[Path, ...], _if_text(_named_folders)] = Field(
        default=(), description="repositories that [others borrow objects from](#git)"
    )
    submodules: Annotated[Switch, _Lower] = Field(default="on", description="read checked-out submodules")
    repositories: _File | None = Field(
        default=None, description="list of [named repositories](team.md#repositories-by-name)"
    )
    token_budget: Annotated[int, Field(ge=MIN_TOKEN_BUDGET, le=MAX_TOKEN_BUDGET)] | None = Field(
        default=None, description="default token budget ([by caller](#how-large-an-answer-is))"
    )
    max_cost_usd: _Amount = Field(
        default=float(DEFAULT_MAX_COST_USD), description="default cost limit in dollars"
    )
    call_seconds: _Amount = Field(
        default=45.0, description="seconds until `navigate` answers with what it has"
    )  # Clients give up after 60 to 240 s.
    grace_seconds: _Amount = Field(default=60.0, description="seconds for running calls after stdin ended")
    keep_days: _Amount = Field(default=30.0, description="days until an unused navigation is deleted")
    views: Annotated[Views, _Lower] = Field(default="auto", description="[map views](picture.md)")
    log_level: Annotated[LogLevel, _if_text(str.upper)] = Field(
        default="WARNING", description="lowest level that is logged"
    )
    log_format: Annotated[LogFormat, _Lower] = Field(default="text", description="log format, on stderr")
    tokens: _File | None = Field(default=None, description="file of [tokens](team.md#users)")
    metrics: bool = Field(default=False, description="[`/metrics`](team.md#watch-it) for Prometheus")
    http_hosts: Annotated[_Words, AfterValidator(_hosts)] = Field(
        default=(), description="accepted hosts: `name`, `name:8321`, `name:*` (loopback)"
    )
    http_origins: Annotated[_Words, AfterValidator(_origins)] = Field(
        default=(), description="accepted origins: `https://name`, with a port or `:*` (loopback)"
    )
    http_max_body: _Count = Field(default=1_000_000, description="bytes of a request")
    http_max_connections: _Count = Field(default=512, description="connections")
    http_drain_seconds: _Amount = Field(
        default=CALL_SECONDS, description="seconds for running calls after SIGTERM"
    )
    http_issuer: str = Field(default="", description="identity provider")
    http_resource: str = Field(default="", description="this server's URL, the tokens' audience")
    http_jwks: str = Field(default="", description="URL of the provider's keys")
    http_user_claim: str = Field(default="sub", description="claim that names the user")

    @property
    def asks_for_token(self) -> bool:
        return self.tokens is not None or bool(self.http_issuer)

    @model_validator(mode="after")
    def _provider_is_whole(self) -> Settings:
        urls = (self.http_issuer, self.http_resource, self.http_jwks)
        if any(urls) and not all(map(is_trusted_url, urls)):
            raise ValueError(
                f"{PREFIX}HTTP_ISSUER, {PREFIX}HTTP_RESOURCE and {PREFIX}HTTP_JWKS belong together; set each "
                "to a URL that begins with https://, or http:// of this machine, without name and password"
            )
        return self


def read_settings() -> Settings:
    """Return the settings that the environment gives; raise ``SettingsError`` or ``LimitError``."""
    cache_dir = cache_folder(os.environ, sys.platform, Path.home())
    urls = {vendor.name: os.environ.get(f"{PREFIX}{vendor.name.upper()}_URL") for vendor in PROVIDERS}
    try:
        settings = Settings(
            data_dir=default_data_dir(os.environ),
            cache_dir=cache_dir,
            use_cache=cache_dir is not None,
            limits=read_limits(os.environ),
            model_urls={name: url for name, url in urls.items() if url},
        )
    except ValidationError as error:
        raise _settings_error(error) from None
    _require_models(settings)
    return settings


def _require_models(settings: Settings) -> None:
    """Raise ``SettingsError`` for models and prices that no call could use."""
    for field in ("model", "fallback_model"):
        alone = settings.model_copy(update={"fallback_model": ""})
        try:
            require_models(getattr(settings, field), alone, {HOST})
        except InvalidRequestError as error:
            is_prices = error.code == SettingsError.code
            name = error.argument if is_prices else PREFIX + field.upper()
            raise SettingsError(str(error) if is_prices else f"{name}: {error}", argument=name) from None


def _settings_error(error: ValidationError) -> SettingsError:
    """Return the sentence about the first bad value, which is repeated unless it may hold a password."""
    first = error.errors(include_url=False)[0]
    own = first.get("ctx", {}).get("error")
    if not first["loc"]:
        return SettingsError(f"{str(own or first['msg']).rstrip('.')}.")
    variable = PREFIX + str(first["loc"][0]).removeprefix(PREFIX.lower()).upper()
    value = os.environ.get(variable, "")
    reason = str(own) if own else f"set it to {accepted_values(_FIELDS[variable])}"
    is_shown = "@" not in value and ("://" not in value or variable not in _WITH_PASSWORDS)
    problem = f" is `{value}`; {reason[:1].lower()}{reason[1:]}" if is_shown else f": {reason}"
    return SettingsError(f"{variable}{problem.rstrip('.')}.", argument=variable)


def accepted_values(field: FieldInfo) -> str:
    """Return the values that a field takes: ``a whole number above 0``, or the words of a choice."""
    kind: Any = Annotated[field.annotation, None, *field.metadata]
    schema = TypeAdapter(kind).json_schema()
    schema = schema.get("anyOf", [schema])[0]
    if schema.get("type") == "boolean" or "enum" in schema:
        *others, last = (f"`{each.lower()}`" for each in schema.get("enum", ("on", "off")))
        return f"{', '.join(others)} or {last}"
    number = "a whole number" if schema.get("type") == "integer" else "a number"
    words = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "up to"}
    return " ".join((number, *(f"{words[each]} {schema[each]:,}" for each in words if each in schema)))


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


_OF_CODE: Final = {"data_dir", "cache_dir", "use_cache", "workers", "limits", "model_urls", "retry_delay_s"}
_FIELDS: Final = {
    PREFIX + str(field.validation_alias or name).upper(): field
    for name, field in Settings.model_fields.items()
    if name not in _OF_CODE
}
_ELSEWHERE: Final = {
    "DATA": "folder of navigations (the user's data folder)",
    "CACHE": "folder of parsed repositories, or `off` (the user's cache folder)",
    "GEMINI_URL": "base URL of Gemini's API (Google's)",
    "OLLAMA_URL": "base URL of Ollama (`http://localhost:11434/v1`)",
    "OPENAI_URL": "base URL of an OpenAI-compatible server; a local one needs no key (OpenAI's)",
    "MAX_FILE_BYTES": "size of a file",
    "MAX_FILES": "files of a tree",
    "MAX_MEMORY_MB": "memory of indexes; on Linux also of a parsing process",
    "MAX_CACHE_MB": "disk of the cache",
}
"""Descriptions of the variables that are read where they are used."""
KNOWN: Final = {*_FIELDS, *(PREFIX + name for name in _ELSEWHERE)}


def describe_setting(variable: str) -> str:
    """Return what a variable of ``KNOWN`` sets, with its choices and its default, in Markdown."""
    if (field := _FIELDS.get(variable)) is None:
        limit = VARIABLES.get(variable)
        default = f" ({getattr(DEFAULT, limit):,.0f})" if limit else ""
        return _ELSEWHERE[variable.removeprefix(PREFIX)] + default
    described, default = str(field.description), field.default
    if isinstance(default, bool):
        return f"`on`: {described} (`{'on' if default else 'off'}`)"
    if isinstance(default, int | float):
        return f"{described} ({default:,.{'0' if default == int(default) else '2'}f})"
    if get_origin(field.annotation) is Literal:
        described += f": {accepted_values(field)}"
    return f"{described} (`{default.lower()}`)" if isinstance(default, str) and default else described


def unknown_settings(names: Iterable[str]) -> list[str]:
    """Return a sentence for each variable that has the prefix of a setting and is not one."""
    return [
        f"{name} is not a setting; {_instead(name)}."
        for name in sorted(names)
        if name.startswith(PREFIX) and not name.startswith(f"{PREFIX}TEST_") and name not in KNOWN
    ]


def _instead(name: str) -> str:
    if nearest := difflib.get_close_matches(name, sorted(KNOWN), n=1, cutoff=0.8):
        return f"write {nearest[0]} if you mean that, or remove it"
    return "remove it, or look for its name in docs/server.md"


Entry = TypeVar("Entry", bound=BaseModel)
logger = logging.getLogger(__name__)


class ReloadedFile(Generic[Entry]):
    """The entries of one file, as of its latest usable content.

    A file that can't be used when the server starts is an error. One that becomes unusable later leaves the
    entries as they were, and the log says so once.
    """

    def __init__(self, path: Path, entry: type[Entry], key: Callable[[Entry], str]) -> None:
        """Read ``path``, a list of ``entry`` whose ``key`` is unique, or raise ``SettingsError``."""
        self._path = path
        self._key = key
        self._list: TypeAdapter[list[Entry]] = TypeAdapter(list[entry])  # type: ignore[valid-type]
        self._stamp = self._stat()
        self._entries = self._read()

    @property
    def entries(self) -> tuple[Entry, ...]:
        if (stamp := self._stat()) != self._stamp:
            self._stamp = stamp
            try:
                self._entries = self._read()
                logger.info("Reloaded `%s`: %d entries", self._path, len(self._entries))
            except SettingsError as error:
                logger.error("%s The last valid entries stay in force.", one_line(str(error)))
        return self._entries

    def _stat(self) -> tuple[int, ...]:
        try:
            found = self._path.stat()
        except OSError:
            return ()
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _read(self) -> tuple[Entry, ...]:
        import yaml  # noqa: PLC0415 - most servers have no such file

        try:
            if not self._path.is_file():
                raise OSError(0, "it is no file")
            entries = self._list.validate_python(yaml.safe_load(self._path.read_bytes()) or [])
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = "".join(f", {part + 1 if isinstance(part, int) else part}" for part in first["loc"])
            reason = f"entry{place[1:]}: {first['msg']}" if place else "it holds no list"
            raise SettingsError(f"`{self._path}` can't be used: {reason}; correct it.") from None
        except OSError as error:
            raise SettingsError(f"`{self._path}` can't be read: {error.strerror}.") from error
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            mark = getattr(error, "problem_mark", None)
            where = "" if mark is None else f", line {mark.line + 1}"
            raise SettingsError(f"`{self._path}`{where} is no valid YAML; correct it.") from error
        keys = [self._key(entry) for entry in entries]
        if twice := next((key for key in keys if keys.count(key) > 1), None):
            raise SettingsError(f"`{self._path}` lists `{twice}` twice; remove one entry.")
        return tuple(entries)
