"""A database and a bucket for tests: PostgreSQL where there is one on this machine, buckets on loopback."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from navigator.storage.addresses import BucketAddress, DatabaseAddress, read_database_address
from tests.support.cloud_storage import CloudStorage

SERVER = os.environ.get("REPO_NAVIGATOR_TEST_STORE", "postgresql+asyncpg://postgres@127.0.0.1:5432/test")
"""Where tests find PostgreSQL; they make schemas of their own there, and remove them."""


def url_of(address: DatabaseAddress, port: int | None = None, password: str | None = None) -> str:
    """Return an address as a setting gives it."""
    user = address.user or "postgres"
    who = user if password is None else f"{user}:{password}"
    return (
        f"postgresql+asyncpg://{who}@{address.host}:{port or address.port}/{address.database}"
        f"?schema={address.schema}"
    )


async def run_sql(address: DatabaseAddress, *statements: str) -> list[Any]:
    """Run statements on a database, and return the rows of the last one."""
    import asyncpg

    connection = await asyncpg.connect(
        host=address.host,
        port=address.port,
        user=address.user,
        database=address.database,
        timeout=5,
        server_settings={"search_path": address.schema},
    )
    try:
        rows: list[Any] = []
        for statement in statements:
            rows = await connection.fetch(statement)
        return rows
    finally:
        await connection.close()


@contextmanager
def own_schema() -> Iterator[DatabaseAddress]:
    """Give a schema of its own, removed afterwards; skip the test where there is no PostgreSQL."""
    pytest.importorskip("asyncpg", reason="asyncpg is not installed: pip install '.[team]'")

    address = replace(read_database_address(SERVER), schema=f"navigator_test_{secrets.token_hex(6)}")
    if not has_postgres():
        # Who names one means it to be used.
        tell = pytest.fail if "REPO_NAVIGATOR_TEST_STORE" in os.environ else pytest.skip
        tell(f"no PostgreSQL at {address}; REPO_NAVIGATOR_TEST_STORE names another")
    try:
        yield address
    finally:
        _apart(run_sql(address, f'DROP SCHEMA IF EXISTS "{address.schema}" CASCADE'))


@cache
def has_postgres() -> bool:
    """Tell whether there is a database for tests."""
    try:
        import asyncpg
    except ModuleNotFoundError:
        return False
    try:
        _apart(run_sql(read_database_address(SERVER), "SELECT 1"))
    except (OSError, asyncpg.PostgresError):
        return False
    return True


def _apart(work: Coroutine[Any, Any, Any]) -> None:
    """Run a coroutine in a thread, as a loop may be running in this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()


@contextmanager
def s3_on_loopback() -> Iterator[str]:
    """Serve S3 on loopback, and give its URL."""
    pytest.importorskip("boto3", reason="boto3 is not installed: pip install '.[team]'")
    moto = pytest.importorskip("moto.server", reason="moto is not installed")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def bucket_at(url: str, patch: pytest.MonkeyPatch) -> BucketAddress:
    """Give a bucket of its own on a server of S3, whose keys and endpoint go into the environment."""
    import boto3

    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test-only",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL_S3": url,
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        patch.setenv(name, value)
    name = f"navigations-{secrets.token_hex(6)}"
    client = boto3.client("s3")
    client.create_bucket(Bucket=name)
    client.close()
    return BucketAddress(name, "team/")


BUCKETS = ("s3", "gs")
"""The storages that a bucket may be of, by what its address begins with."""


def own_bucket(scheme: str, request: pytest.FixtureRequest) -> BucketAddress:
    """Give a bucket of its own, of one of the ``BUCKETS``; the environment leads to it."""
    patch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    if scheme == "s3":
        return bucket_at(request.getfixturevalue("s3_url"), patch)
    server: CloudStorage = request.getfixturevalue("cloud_storage")
    patch.setenv("STORAGE_EMULATOR_HOST", server.url)
    return BucketAddress(server.make_bucket(), "", "gs")


STORES = ("folder", pytest.param("team-s3", marks=pytest.mark.slow))
"""Where a suite keeps navigations: in a data folder, or in a database and a bucket."""
EVERY_STORE = (*STORES, pytest.param("team-gs", marks=pytest.mark.slow))
"""Likewise, with each storage that the bucket may be of."""


@contextmanager
def kept_in_stores(where: str, request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """Give the settings of one of ``EVERY_STORE``; skip the test where it is not to be had."""
    if where == "folder":
        yield {}
        return
    with own_schema() as address:
        yield {"store": address, "bucket": own_bucket(where.removeprefix("team-"), request)}
