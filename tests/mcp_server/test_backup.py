"""The drill of a backup: a second installation, made of a dump and a copy, answers the same bytes."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import Settings
from tests.support.results import object_of
from tests.support.team_stores import bucket_at, own_schema, run_sql
from tests.support.trees import commit

pytestmark = pytest.mark.anyio


async def told(settings: Settings, navigation: str) -> dict[str, Any]:
    """Return all that an installation answers of a navigation."""
    async with Client(build_server(settings, working_folder=Path("/"))) as client:
        asked = {"navigation_id": navigation}
        return {
            "context": object_of(await client.call_tool("get_context", asked)),
            "plan": object_of(await client.call_tool("get_context", {**asked, "cursor": "plan"})),
            "report": object_of(await client.call_tool("get_turn_report", asked)),
            "decisions": (await client.read_resource(f"navigator://{navigation}/decisions")).contents[0].text,
        }


@pytest.mark.skipif(not (shutil.which("pg_dump") and shutil.which("psql")), reason="no client of PostgreSQL")
async def test_a_second_installation_made_of_the_backup_answers_the_same_bytes(
    tmp_path: Path, s3_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import boto3

    shop = tmp_path / "shop"
    shop.mkdir()
    commit(shop, {"prices.py": "def discount(item):\n    return 5 if item == 'apple' else 0\n"})
    bucket = bucket_at(s3_url, monkeypatch)
    with own_schema() as address:
        settings = Settings(
            store=address, bucket=bucket, data_dir=tmp_path / "first", cache_dir=tmp_path / "cache"
        )
        async with Client(build_server(settings, working_folder=shop)) as client:
            opened = object_of(
                await client.call_tool("navigate", {"goal": "The discount on an apple is wrong"})
            )
            object_of(await client.call_tool("step", {"feedback": "show prices.py in full"}))
        navigation = opened["navigation_id"]
        before = await told(settings, navigation)

        # The commands of docs/team.md: the database first, as a bucket that is newer does no harm.
        where = {
            "PGHOST": str(address.host),
            "PGPORT": str(address.port),
            "PGUSER": address.user or "postgres",
            "PGDATABASE": str(address.database),
        }
        environ = os.environ | {name: value for name, value in where.items() if value != "None"}
        dump = tmp_path / "navigator.sql"
        await anyio.run_process(["pg_dump", "-n", address.schema, "-f", str(dump)], env=environ)
        copy = replace(bucket, bucket=f"{bucket.bucket}-copy")
        client_of_s3 = boto3.client("s3")
        client_of_s3.create_bucket(Bucket=copy.bucket)
        for each in client_of_s3.list_objects_v2(Bucket=bucket.bucket)["Contents"]:
            source = {"Bucket": bucket.bucket, "Key": each["Key"]}
            client_of_s3.copy_object(Bucket=copy.bucket, Key=each["Key"], CopySource=source)
            client_of_s3.delete_object(Bucket=bucket.bucket, Key=each["Key"])
        client_of_s3.close()
        await run_sql(address, f'DROP SCHEMA "{address.schema}" CASCADE')
        restore = ["psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", str(dump)]
        await anyio.run_process(restore, env=environ)

        second = settings.model_copy(
            update={"bucket": copy, "data_dir": tmp_path / "second", "cache_dir": tmp_path / "other"}
        )
        assert await told(second, navigation) == before
        # And goes on.
        async with Client(build_server(second, working_folder=shop)) as client:
            stepped = await client.call_tool(
                "step", {"navigation_id": navigation, "feedback": "drop prices.py"}
            )
            assert object_of(stepped)["navigation_id"] == navigation
