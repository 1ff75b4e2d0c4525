"""Where a team keeps its navigations: a database and a bucket, by the addresses that settings give."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Final, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from navigator.errors import StorageError
from repo_map.messages import install_command

_DATABASE_FORM: Final = "postgresql+asyncpg://USER:PASSWORD@HOST:5432/DATABASE"
_SCHEMES: Final = ("postgresql+asyncpg", "postgresql")
_SSL: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_SCHEMA: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_BUCKET_FORM: Final = "s3://BUCKET/PREFIX or gs://BUCKET"
_BUCKET: Final = re.compile(
    r"(s3|gs)://([a-z0-9][a-z0-9._-]{1,220}[a-z0-9])/?((?:(?!\.+(?:/|$))[\w.=-]+(?:/|$))*)", re.ASCII
)
"""A prefix has no parts of dots alone."""
_PACKAGES: Final = {"s3": "boto3", "gs": "google.cloud.storage"}
"""The client of each kind of bucket, of the extra ``team``."""


@dataclass(frozen=True)
class DatabaseAddress:
    """A PostgreSQL database; the driver looks a missing user or password up, as ``psql`` does."""

    host: str
    port: int
    database: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    ssl: str = "prefer"
    schema: str = "repo_navigator"

    def __str__(self) -> str:
        """Return the address as it may be reported: without user and password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}/{self.database}"


@dataclass(frozen=True)
class BucketAddress:
    """A bucket, and the beginning of all names of objects in it.

    Credentials, region and endpoint are looked up by the storage's own client, in its environment and files.
    """

    bucket: str
    prefix: str = ""
    """``""``, or a path that ends with a slash; only S3 takes one."""
    scheme: Literal["s3", "gs"] = "s3"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.bucket}/{self.prefix}"


def require_packages(store: DatabaseAddress | None, bucket: BucketAddress | None) -> None:
    """Raise ``StorageError`` for a store whose packages are not installed; none is imported."""
    needed = [("STORE", "asyncpg")] if store is not None else []
    needed += [("ARTIFACTS", _PACKAGES[bucket.scheme])] if bucket is not None else []
    for setting, package in needed:
        try:
            is_installed = find_spec(package) is not None
        except ModuleNotFoundError:
            is_installed = False  # Nor is the package above it.
        if not is_installed:
            raise StorageError(
                f"REPO_NAVIGATOR_{setting} leads to a store whose packages are not installed; "
                f"run `{install_command('team')}`."
            )


def read_database_address(text: str) -> DatabaseAddress:
    """Return the database that ``text`` names.

    Raises:
        ValueError: it names none; the message says why, and repeats no part of it.
    """
    try:
        url = urlsplit(text.strip())
        port = url.port or 5432
    except ValueError:
        # What it says repeats the address, and with it the password.
        raise ValueError(f"it is not an address; write {_DATABASE_FORM}") from None
    database = unquote(url.path.removeprefix("/"))
    if url.scheme not in _SCHEMES or not url.hostname or not database or "/" in database:
        raise ValueError(f"it is not the address of a PostgreSQL database; write {_DATABASE_FORM}")
    options = dict(parse_qsl(url.query, keep_blank_values=True))
    ssl = options.pop("ssl", options.pop("sslmode", "prefer"))
    schema = options.pop("schema", "repo_navigator")
    if options or ssl not in _SSL or not _SCHEMA.fullmatch(schema):
        raise ValueError(
            f"it has an option that can't be used; write `ssl` or `sslmode` ({', '.join(_SSL)}), or `schema` "
            "(small letters, digits and `_`, 63 at most, no digit first)"
        )
    user, password = (None if part is None else unquote(part) for part in (url.username, url.password))
    return DatabaseAddress(url.hostname, port, database, user, password, ssl, schema)


def read_bucket_address(text: str) -> BucketAddress:
    """Return the bucket and the prefix that ``text`` names.

    Raises:
        ValueError: it names none; the message says why, and repeats no part of it.
    """
    if "@" in text:
        raise ValueError(
            f"it holds a key; write {_BUCKET_FORM}, and give keys by AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, by a profile, or by GOOGLE_APPLICATION_CREDENTIALS"
        )
    found = _BUCKET.fullmatch(text.strip())
    if found is None or (found[1] == "gs" and found[3]):
        raise ValueError(
            f"it is not the address of a bucket; write {_BUCKET_FORM}, a prefix of letters, digits, `.`, "
            "`_`, `=`, `-` and `/`"
        )
    prefix = found[3].rstrip("/")
    return BucketAddress(found[2], f"{prefix}/" if prefix else "", "gs" if found[1] == "gs" else "s3")
