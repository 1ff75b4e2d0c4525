"""Where a team keeps its navigations: a database and a bucket, by the addresses that settings give."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from navigator.errors import StorageError

DATABASE_FORM: Final = "postgresql+asyncpg://USER:PASSWORD@HOST:5432/DATABASE"
_SCHEMES: Final = ("postgresql+asyncpg", "postgresql")
_SSL: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_SCHEMA: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_MAX_BUCKET_CHARS: Final = 222
"""Characters; a storage may allow fewer."""
_PREFIX: Final = re.compile(r"(?:(?!\.+(?:/|$))[\w.=-]+(?:/|$))+", re.ASCII)


class UnusableAddressError(ValueError):
    """An address can't be used; the message says so after the setting's name, and repeats no part of it."""


@dataclass(frozen=True)
class DatabaseAddress:
    """A PostgreSQL database."""

    host: str
    port: int
    database: str
    user: str | None = None
    """None lets the driver look in the environment, as ``psql`` does."""
    password: str | None = field(default=None, repr=False)
    """None lets the driver look in ``PGPASSWORD`` and in the password file."""
    ssl: str = "prefer"
    schema: str = "repo_navigator"
    """The schema that the tables lie in."""

    def __str__(self) -> str:
        """Return the address as it may be told: without user and password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}/{self.database}"


@dataclass(frozen=True)
class BucketStorage:
    """A kind of storage that buckets are of."""

    scheme: str
    """What addresses of its buckets begin with."""
    package: str
    """Its client, of the extra ``team``, to import."""
    bucket: re.Pattern[str]
    """Names of its buckets."""
    credentials: str
    """How credentials are given, in words."""

    has_prefix: bool = True
    """Whether names of objects may begin with a path that the address gives."""

    @property
    def form(self) -> str:
        """How an address is written."""
        return f"{self.scheme}://BUCKET{'/PREFIX' if self.has_prefix else ''}"


S3: Final = BucketStorage(
    "s3",
    "boto3",
    re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"),
    "give keys by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or by a profile",
)
GCS: Final = BucketStorage(
    "gs",
    "google.cloud.storage",
    re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?)*"),
    "name a file of credentials by GOOGLE_APPLICATION_CREDENTIALS",
    has_prefix=False,
)
_STORAGES: Final = {storage.scheme: storage for storage in (S3, GCS)}
BUCKET_FORM: Final = " or ".join(storage.form for storage in _STORAGES.values())


@dataclass(frozen=True)
class BucketAddress:
    """A bucket, and the beginning of all names of objects in it.

    Credentials, region and endpoint are looked up by the storage's own client, in its environment and files.
    """

    bucket: str
    prefix: str = ""
    """``""``, or a path that ends with a slash."""
    storage: BucketStorage = S3

    def __str__(self) -> str:
        """Return the address."""
        return f"{self.storage.scheme}://{self.bucket}/{self.prefix}"


def require_packages(store: DatabaseAddress | None, bucket: BucketAddress | None) -> None:
    """Refuse a store whose packages are not installed, without importing any.

    Raises:
        StorageError: one is not.
    """
    needed = [("STORE", "asyncpg")] if store is not None else []
    needed += [("ARTIFACTS", bucket.storage.package)] if bucket is not None else []
    for setting, package in needed:
        if not _is_installed(package):
            raise StorageError(
                f"REPO_NAVIGATOR_{setting} leads to a store whose packages are not installed; "
                "run `pip install 'repo-navigator[team]'`."
            )


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False  # What it lies in is not installed either.


def read_database_address(text: str) -> DatabaseAddress:
    """Return the database that ``text`` names.

    Raises:
        UnusableAddressError: it names none.
    """
    url = _split(text, DATABASE_FORM)
    if url.scheme not in _SCHEMES:
        raise UnusableAddressError(f"is not an address of PostgreSQL; write {DATABASE_FORM}.")
    database = unquote(url.path.removeprefix("/"))
    if not url.hostname or not database or "/" in database:
        raise UnusableAddressError(f"names no host or no database; write {DATABASE_FORM}.")
    options = _options(url)
    return DatabaseAddress(
        url.hostname,
        url.port or 5432,
        database,
        None if url.username is None else unquote(url.username),
        None if url.password is None else unquote(url.password),
        options.get("ssl", "prefer"),
        options.get("schema", "repo_navigator"),
    )


def read_bucket_address(text: str) -> BucketAddress:
    """Return the bucket and the prefix that ``text`` names.

    Raises:
        UnusableAddressError: it names none.
    """
    url = _split(text, BUCKET_FORM)
    storage = _STORAGES.get(url.scheme)
    if storage is None:
        raise UnusableAddressError(f"is not an address of a bucket; write {BUCKET_FORM}.")
    if "@" in url.netloc:
        raise UnusableAddressError(f"holds a key; write {storage.form}, and {storage.credentials}.")
    prefix = url.path.strip("/")
    is_bucket = 3 <= len(url.netloc) <= _MAX_BUCKET_CHARS and storage.bucket.fullmatch(url.netloc)
    if prefix and not storage.has_prefix:
        raise UnusableAddressError(f"has a prefix, which such buckets take none of; write {storage.form}.")
    if not is_bucket or (prefix and not _PREFIX.fullmatch(prefix)) or url.query:
        raise UnusableAddressError(
            "names no bucket, or a prefix of other characters than letters, digits, `.`, `_`, `=`, `-` and "
            f"`/`; write {storage.form}."
        )
    return BucketAddress(url.netloc, f"{prefix}/" if prefix else "", storage)


def _split(text: str, form: str) -> SplitResult:
    try:
        url = urlsplit(text.strip())
        # The port is read when it is asked for.
        _ = url.port
    except ValueError:
        # What it says repeats the address, and with it the password.
        raise UnusableAddressError(f"is not an address; write {form}.") from None
    return url


def _options(url: SplitResult) -> Mapping[str, str]:
    """Return the options of a database's address by their names."""
    found: dict[str, str] = {}
    for name, value in parse_qsl(url.query, keep_blank_values=True):
        match name:
            case "ssl" | "sslmode" if value in _SSL:
                found["ssl"] = value
            case "schema" if _SCHEMA.fullmatch(value):
                found["schema"] = value
            case "ssl" | "sslmode":
                listed = ", ".join(f"`{each}`" for each in _SSL)
                raise UnusableAddressError(f"has an option `{name}` of another value than {listed}.")
            case "schema":
                raise UnusableAddressError(
                    "has a `schema` that can't be used; write small letters, digits and `_`, 63 at most, and "
                    "no digit first."
                )
            case _:
                raise UnusableAddressError(
                    "has an option that is not known; use `ssl` (or `sslmode`) or `schema`."
                )
    return found
