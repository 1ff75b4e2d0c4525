"""Each error is one sentence without a traceback, over MCP and on the command line."""

from __future__ import annotations

import base64
import dataclasses
import errno
import json
import os
import re
import socket
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import httpx2
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolResult,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    InputRequiredResult,
    TextContent,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from starlette.types import Receive, Scope, Send

from mcp_server.app import build_server
from mcp_server.errors import storage_sentence
from mcp_server.repository import choose_repository
from mcp_server.settings import PrincipalLimits, Settings
from mcp_server.transport.connections import NO_ROOM
from mcp_server.transport.origins import allowed_addresses
from mcp_server.transport.request_guard import RequestGuard
from mcp_server.transport.stdio import MAX_LINE_BYTES, LineReader, RefusedLine, refusal
from navigator.errors import InvalidRequestError
from navigator.stores.opening import open_stores
from navigator.stores.store_address import DatabaseAddress
from navigator.stores.usage import Usage, UsageEntry
from repo_map.errors import RepositoryNotFoundError
from repo_map.messages import unwritten
from repo_navigator.host_files.configuration import Configuration, carry_out
from repo_navigator.host_files.hosts import HOSTS
from repo_navigator.main import main
from tests.support.team_stores import BUCKETS, own_bucket, own_schema
from tests.support.trees import commit


def assert_sentence(message: str) -> None:
    assert " " in message
    assert "\n" not in message
    assert "Traceback" not in message


def told_by(result: CallToolResult) -> str:
    assert result.is_error, result.content
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


NAVIGATE: list[dict[str, Any]] = [
    {},
    {"goal": "  "},
    {"goal": "x" * 100_001},
    {"goal": "x", "token_budget": 0},
    {"goal": "x", "token_budget": "many"},
    {"goal": "x", "token_budget": 10**400},
    {"goal": "x", "budget": 5},
    {"goal": "x", "colour": "red"},
    {"goal": "x", "repo_path": "/nowhere"},
    {"goal": "x", "repo_path": "README.md"},
    {"goal": "x", "repo_path": "~nobody-of-that-name/code"},
    {"goal": "x", "repo_path": "file://server/share"},
    {"goal": "x", "repo_path": "/dev"},
    {"goal": "x", "repo_path": "a\0b"},
    {"goal": "x", "repo_path": "/a" * 3_000},
    {"goal": "x", "max_cost_usd": 0},
    {"goal": "x", "mode": "fast"},
    {"goal": "x", "model": "nonsense"},
    {"goal": "x", "model": "gemini-without-a-price"},
    {"goal": "x", "model": "host"},
    {"goal": "x", "model": "gemini-2.5-flash"},
    {"goal": "x", "max_steps": 0},
    {"goal": "x", "flight_plan": "verbosity: ["},
    {"goal": "x", "flight_plan": "just words"},
    {"goal": "x", "flight_plan": "# nothing"},
    {"goal": "x", "flight_plan": "budget: 0"},
    {"goal": "x", "flight_plan": {"budget": 10**400}},
    {"goal": "x", "flight_plan": f"budget: 0x{'f' * 5_000}"},
    {"goal": "x", "flight_plan": {"colour": 1}},
    {"goal": "x", "flight_plan": {"verbosity": [{"pattern": "a", "level": 9}]}},
    {"goal": "x", "flight_plan": {"custom_queries": [{"pattern": "**/*.py", "query": "(("}]}},
]
AFTERWARDS: list[tuple[str, dict[str, Any]]] = [
    ("step", {"navigation_id": "nav-none"}),
    ("step", {"action": "stop"}),
    ("step", {"feedback": "x" * 4_001}),
    ("step", {"updates": {"verbosity": [{"pattern": "a"}]}}),
    ("step", {"updates": {"budget": 1}}),
    ("step", {"updates": {"budget": 10**400}}),
    ("get_turn_report", {"step": 99}),
    ("get_context", {"since_step": 99}),
    ("get_context", {"cursor": "zzz"}),
    ("get_context", {"cursor": "WzAsbnVsbCw5OTk5OTld"}),
    ("get_context", {"cursor": "plan:77:0"}),
    ("step", {"updates": {"model": 4}}),
    ("step", {"updates": {"numbers": {"first": 1}}}),
    ("step", {"show": [{"path": "a.py"}]}),
    ("step", {"show": [123_456]}),
    ("step", {"drop": ["x" * 501]}),
    ("step", {"show": [*range(51)]}),
    ("step", {"ask": "who calls it?"}),
    ("step", {"ask": {"colour": "Cart"}}),
    ("map_data", {"steer": {"feedback": 3}}),
    ("navigate_all", {}),
]
FOREIGN = "--- a/no/such.py\n+++ b/no/such.py\n@@ -1 +1 @@\n-a\n+b\n"
"""A patch of another repository."""


@pytest.mark.anyio
async def test_a_navigate_call_that_cannot_be_used_is_refused(client: Client) -> None:
    async with client:
        for arguments in NAVIGATE:
            assert_sentence(told_by(await client.call_tool("navigate", arguments)))
        assert_sentence(told_by(await client.call_tool("step", {})))


@pytest.mark.anyio
@pytest.mark.parametrize("changes", ["nowhere", "two\nlines", FOREIGN])
async def test_changes_that_lead_nowhere_are_refused(client: Client, changes: str) -> None:
    async with client:
        assert_sentence(told_by(await client.call_tool("navigate", {"goal": "", "changes": changes})))


@pytest.mark.anyio
@pytest.mark.parametrize(
    "wrong", [{"model": "nonsense"}, {"model": "gemini-without-a-price"}, {"max_steps": 0}]
)
async def test_what_cannot_be_used_is_refused_before_the_repository_is_read(
    wrong: dict[str, Any], settings: Settings, shop: Path
) -> None:
    async with Client(build_server(settings, working_folder=shop)) as client:
        assert_sentence(told_by(await client.call_tool("navigate", {"goal": "x", **wrong})))
    assert settings.cache_dir is not None
    assert not list(settings.cache_dir.glob("**/*"))


@pytest.mark.anyio
async def test_a_model_of_the_settings_that_is_none_is_refused_before_the_repository_is_read(
    settings: Settings, shop: Path
) -> None:
    misnamed = dataclasses.replace(settings, fallback_models=("gpt",))
    async with Client(build_server(misnamed, working_folder=shop)) as client:
        assert_sentence(told_by(await client.call_tool("navigate", {"goal": "x"})))
    assert settings.cache_dir is not None
    assert not list(settings.cache_dir.glob("**/*"))


@pytest.mark.anyio
async def test_a_later_call_that_cannot_be_used_is_refused_and_nothing_is_lost(client: Client) -> None:
    async with client:
        first = await client.call_tool("navigate", {"goal": "the discount on an apple"})
        assert first.structured_content is not None
        for tool, arguments in AFTERWARDS:
            assert_sentence(told_by(await client.call_tool(tool, arguments)))
        after = await client.call_tool("get_context", {})
        assert after.structured_content is not None
        assert after.structured_content["context_string"] == first.structured_content["context"]
        await client.call_tool("step", {"action": "cancel"})
        assert_sentence(told_by(await client.call_tool("step", {"feedback": "more"})))


@pytest.mark.anyio
async def test_a_prompt_that_cannot_be_written_is_refused(client: Client) -> None:
    async with client:
        for name, arguments in (("find", {}), ("find_code", {}), ("explain_context", {})):
            with pytest.raises(MCPError) as caught:
                await client.get_prompt(name, arguments)
            assert_sentence(caught.value.error.message)


@pytest.mark.anyio
@pytest.mark.parametrize("version", ["latest", "-1", "9" * 30, "9" * 5_000])
async def test_a_map_that_is_asked_for_by_no_number_of_a_map_is_refused(client: Client, version: str) -> None:
    async with client:
        found = await client.call_tool("navigate", {"goal": "the discount on an apple"})
        assert found.structured_content is not None
        key = found.structured_content["navigation_id"]
        with pytest.raises(MCPError) as caught:
            await client.read_resource(f"navigator://{key}/maps/{version}")
        assert_sentence(caught.value.error.message)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "raw", [b"[" * 5_000, b"[1,null,%s]" % (b"9" * 5_000), b"\xff", b"{}", b"[1e999,null,0]"]
)
async def test_a_cursor_that_was_never_given_out_is_refused(client: Client, raw: bytes) -> None:
    async with client:
        found = await client.call_tool("navigate", {"goal": "the discount on an apple"})
        assert found.structured_content is not None
        cursor = base64.urlsafe_b64encode(raw).decode()
        told = told_by(await client.call_tool("get_context", {"cursor": cursor}))
        assert "was not issued by this server" in told
        assert_sentence(told)


@pytest.mark.anyio
async def test_a_map_that_somebody_deleted_is_told(settings: Settings, shop: Path) -> None:
    import shutil

    assert settings.data_dir is not None
    async with Client(build_server(settings, working_folder=shop)) as client:
        flown = await client.call_tool("navigate", {"goal": "the discount on an apple"})
    shutil.rmtree(settings.data_dir / "artifacts")
    assert flown.structured_content is not None
    wanted = {"navigation_id": flown.structured_content["navigation_id"]}
    async with Client(build_server(settings, working_folder=shop)) as client:
        assert_sentence(told_by(await client.call_tool("get_context", wanted)))


@pytest.mark.anyio
async def test_a_navigation_that_another_process_steps_is_told(tmp_path: Path) -> None:
    from navigator.errors import NavigationBusyError
    from navigator.stores.locks import NavigationLocks

    # Locks of their own stand for two processes: each opens the file anew.
    ours, theirs = NavigationLocks(tmp_path, patience_s=0.0), NavigationLocks(tmp_path)
    async with theirs.hold("nav-shared"):
        with pytest.raises(NavigationBusyError) as caught:
            await ours.hold("nav-shared").__aenter__()
    assert_sentence(str(caught.value))


@pytest.mark.anyio
async def test_a_step_that_cannot_be_kept_is_told(settings: Settings, shop: Path) -> None:
    import shutil
    import sqlite3

    assert settings.data_dir is not None
    async with Client(build_server(settings, working_folder=shop)) as client:
        await client.call_tool("navigate", {"goal": "the discount on an apple", "mode": "interactive"})
        with sqlite3.connect(settings.data_dir / "sessions.db") as database:
            database.execute("DROP TABLE events")
        database.close()
        call = {"updates": {"budget": 2000}}
        assert_sentence(told_by(await client.call_tool("step", call)))
        shutil.rmtree(settings.data_dir / "artifacts")
        (settings.data_dir / "artifacts").touch()
        assert_sentence(told_by(await client.call_tool("step", call)))


def test_a_step_that_another_process_took_meanwhile_is_told() -> None:
    from types import SimpleNamespace

    from navigator.stores.navigation_store import busy

    assert_sentence(str(busy(SimpleNamespace(run=SimpleNamespace(navigation_id="nav-shared")))))  # type: ignore[arg-type]


@pytest.mark.anyio
async def test_without_a_repository_the_answer_says_how_to_name_one(
    settings: Settings, tmp_path: Path
) -> None:
    async with Client(build_server(settings, working_folder=tmp_path)) as client:
        assert_sentence(told_by(await client.call_tool("navigate", {"goal": "x"})))


@pytest.mark.anyio
async def test_a_repository_outside_the_allow_list_is_refused(tmp_path: Path, shop: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", allowed=(tmp_path / "allowed",))
    async with Client(build_server(settings, working_folder=shop)) as client:
        call = {"goal": "x", "repo_path": str(shop)}
        assert_sentence(told_by(await client.call_tool("navigate", call)))


@pytest.mark.anyio
async def test_more_navigations_than_are_kept_are_refused(tmp_path: Path, shop: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", max_navigations=1)
    async with Client(build_server(settings, working_folder=shop)) as client:
        call = {"goal": "x", "mode": "interactive"}
        assert not (await client.call_tool("navigate", call)).is_error
        assert_sentence(told_by(await client.call_tool("navigate", call)))
        assert_sentence(told_by(await client.call_tool("step", {"action": "forget"})))


@pytest.mark.anyio
async def test_a_navigation_that_can_not_be_deleted_is_told(
    tmp_path: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    async with Client(build_server(Settings(data_dir=data), working_folder=shop)) as client:
        opened = await client.call_tool("navigate", {"goal": "the discount"})
        assert opened.structured_content is not None
        call = {"navigation_id": opened.structured_content["navigation_id"], "action": "forget"}

    def full(**_: Any) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("navigator.stores.opening.TemporaryFile", full)
    async with Client(build_server(Settings(data_dir=data), working_folder=shop)) as client:
        assert_sentence(told_by(await client.call_tool("step", call)))


@pytest.mark.anyio
async def test_a_user_who_closes_the_question_has_done_nothing(
    settings: Settings, shop: Path, era: str
) -> None:
    async def close(_: Any, __: ElicitRequestParams) -> ElicitResult:
        return ElicitResult(action="cancel")

    server = build_server(settings, working_folder=shop)
    async with Client(server, mode=era, elicitation_callback=close) as client:
        await client.call_tool("navigate", {"goal": "the discount", "mode": "interactive"})
        assert_sentence(told_by(await client.call_tool("step", {})))


@pytest.mark.anyio
async def test_an_answer_of_the_hosts_model_that_comes_too_late_is_refused(
    settings: Settings, shop: Path
) -> None:
    async def say_nothing(_: Any, __: Any) -> CreateMessageResult:
        raise AssertionError("the question is answered by hand")

    server = build_server(settings, working_folder=shop)
    call = {"goal": "the discount", "model": "host"}
    async with Client(server, sampling_callback=say_nothing) as client:
        asked = await client.session.call_tool("navigate", call, allow_input_required=True)
        assert isinstance(asked, InputRequiredResult)
        await server.rounds.aclose()
        late = await client.session.call_tool("navigate", call, request_state=asked.request_state)
        assert_sentence(told_by(late))


@pytest.mark.parametrize(
    ("arguments", "environ", "code"),
    [
        (["navigate", "{shop}", "--goal", " "], {}, 2),
        (["navigate", "--goal", "x"], {}, 3),
        (["navigate", "{shop}", "x", "--save-plan", "-"], {}, 2),
        (["navigate", "{shop}", "--goal-file", os.devnull], {}, 2),
        (["navigate", "{shop}", "--goal-file", "{shop}/none"], {}, 2),
        (["navigate", "{shop}", "--goal", "x", "--tokens", "0"], {}, 2),
        (["navigate", "{shop}/none", "--goal", "x"], {}, 3),
        (["navigate", "{shop}", "--goal", "x", "--since", "nowhere"], {}, 2),
        (["replay", "{shop}/none", "{shop}"], {}, 2),
        (["view", "nothing-of-this-name"], {}, 2),
        (["context"], {"DATA": "{shop}/none"}, 2),
        (["forget"], {}, 2),
        (["forget", "--older-than", "-1"], {}, 2),
        (["install", "cursor", "--dry-run", "--allow", "{shop}/none"], {}, 2),
        (["navigate", "{shop}", "--goal", "x", "--save-plan", "{shop}"], {}, 2),
        (["navigate", "{shop}", "--goal", "x", "--save-plan", "{shop}/none/plan.yaml"], {}, 2),
        (["replay", "{shop}/README.md"], {}, 3),
        (["navigate", "{shop}", "--goal", "x", "--plan", "{shop}/none.yaml"], {}, 2),
        (["serve", "--allow", "{shop}/none"], {}, 2),
        (["serve", "--http", ""], {}, 2),
        (["serve", "--http", "nowhere"], {}, 2),
        (["serve", "--http", "0.0.0.0:0"], {}, 2),
        (["serve", "--log-level", "loud"], {}, 2),
        (["serve"], {"KEEP_DAYS": "x"}, 2),
        (["serve"], {"TOKEN_BUDGET": "7.5"}, 2),
        (["serve"], {"MAX_FILES": "all"}, 2),
        (["serve"], {"MAX_PARSE_SECONDS": "0"}, 2),
        (["navigate", "{shop}", "--goal", "x"], {"MAX_MEMORY_MB": "1"}, 2),
        (["serve"], {"HTTP_HOSTS": "*"}, 2),
        (["serve"], {"HTTP_TOKEN": "hunter2-0123456789"}, 2),
        (["serve"], {"STORE": "postgresql://host/name?ssl=always"}, 2),
        (["serve"], {"STORE": "postgresql://host/name?schema=Team"}, 2),
        (["serve"], {"HTTP_ORIGINS": "navigator.example"}, 2),
        (["serve"], {"LOG_FORMAT": "xml"}, 2),
        (["serve"], {"MODEL_RETRIES": "many"}, 2),
        (["serve"], {"GEMINI_MEMORY": "all"}, 2),
        (["serve"], {"VIEWS": "yes"}, 2),
        (["serve"], {"STORE": "postgresql+asyncpg://ann:s3cr3t@[db/x"}, 2),
        (["serve"], {"STORE": "postgresql+asyncpg://ann:s3cr3t@db:port/x"}, 2),
        (["serve"], {"STORE": "mysql://ann:s3cr3t@db/x"}, 2),
        (["serve"], {"STORE": "postgresql+asyncpg://ann:s3cr3t@/x"}, 2),
        (["serve"], {"STORE": "postgresql://ann:s3cr3t@db/x?password=s3cr3t"}, 2),
        (["serve"], {"HTTP_GROUPS": "alice:core"}, 2),
        (["serve"], {"HTTP_METRICS_TOKEN": "short"}, 2),
        (["serve"], {"HTTP_METRICS_TOKEN": "0123456789abcdef", "HTTP_TOKENS": "a:0123456789abcdef"}, 2),
        (["serve"], {"AUDIT": "relative/audit.jsonl"}, 2),
        (["serve"], {"HTTP_ISSUER": "https://idp.example"}, 2),
        (["serve"], {"HTTP_ISSUER": "http://idp.example", "HTTP_RESOURCE": "https://n.example/mcp"}, 2),
        (["serve"], {"ARTIFACTS": "s3://[bucket"}, 2),
        (["serve"], {"ARTIFACTS": "ftp://bucket/s3cr3t"}, 2),
        (["serve"], {"ARTIFACTS": "s3://key:s3cr3t@bucket/x"}, 2),
        (["serve"], {"ARTIFACTS": "s3://bucket/../s3cr3t?"}, 2),
        (["serve"], {"ARTIFACTS": "s3://bucket/a b"}, 2),
        (["serve"], {"ARTIFACTS": "s3://bucket_1/a"}, 2),
        (["serve"], {"ARTIFACTS": "gs://key:s3cr3t@bucket/x"}, 2),
        (["serve"], {"ARTIFACTS": "gs://bucket_1./a"}, 2),
        (["serve"], {"ARTIFACTS": "gs://bucket_1/?key=s3cr3t"}, 2),
        (["serve"], {"EMBEDDED_FALLBACK": "maybe"}, 2),
        (["serve"], {"HTTP_TOKENS": "bob:short"}, 2),
        (["serve"], {"HTTP_TOKENS": "local:0123456789abcdef"}, 2),
        (["serve"], {"HTTP_TOKENS": "stored"}, 2),
        (["team", "token", "bob"], {}, 2),
        (["team", "token", "b:ob"], {}, 2),
        (["team", "token", "bob", "--group", "core+web"], {}, 2),
        (["team", "revoke", "bob"], {}, 2),
        (["team", "repositories"], {}, 2),
        (["team", "slow"], {}, 2),
        (["team", "slow", "--audit", "{shop}/none"], {}, 2),
        (["serve"], {"HOST_TOKENS": "git.example"}, 2),
        (["navigate", "{shop}", "--goal", "x", "--model", "gemini-2.5-flash"], {}, 2),
    ],
)
def test_a_command_that_cannot_be_used_is_refused(
    arguments: list[str],
    environ: Mapping[str, str],
    code: int,
    *,
    shop: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(f"REPO_NAVIGATOR_{name}", value.format(shop=shop))
    monkeypatch.chdir(shop.parent)
    assert main([argument.format(shop=shop) for argument in arguments]) == code
    told = capfd.readouterr().err
    assert "s3cr3t" not in told
    assert_sentence(told.strip().removeprefix("repo-navigator: "))


@pytest.mark.parametrize(
    ("setting", "address", "package"),
    [
        ("STORE", "postgresql+asyncpg://ann@db/team", "asyncpg"),
        ("ARTIFACTS", "s3://navigations", "boto3"),
        ("ARTIFACTS", "gs://navigations", "google.cloud.storage"),
    ],
)
@pytest.mark.parametrize("is_family_installed", [True, False])
def test_a_store_whose_packages_are_missing_is_told_before_anything_is_served(
    setting: str,
    address: str,
    package: str,
    *,
    is_family_installed: bool,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def find(name: str) -> str | None:
        if name != package:
            return name
        if is_family_installed:
            return None
        raise ModuleNotFoundError(name.rpartition(".")[0])

    monkeypatch.setattr("navigator.stores.store_address.find_spec", find)
    monkeypatch.setenv(f"REPO_NAVIGATOR_{setting}", address)
    assert main(["serve"]) == 2
    assert_sentence(capfd.readouterr().err.strip().removeprefix("repo-navigator: "))


@pytest.mark.anyio
async def test_stores_that_do_not_answer_are_told(
    settings: Settings, shop: Path, request: pytest.FixtureRequest
) -> None:
    pytest.importorskip("asyncpg")
    nowhere = dataclasses.replace(settings, store=DatabaseAddress("127.0.0.1", 1, "team"))
    buckets = [
        dataclasses.replace(own_bucket(scheme, request), bucket="navigations-that-are-gone")
        for scheme in BUCKETS
    ]
    for each in (nowhere, *(dataclasses.replace(settings, bucket=bucket) for bucket in buckets)):
        async with Client(build_server(each, working_folder=shop)) as client:
            assert_sentence(told_by(await client.call_tool("navigate", {"goal": "the discount"})))


@pytest.mark.anyio
async def test_a_database_that_others_use_is_told() -> None:
    pytest.importorskip("asyncpg")
    from navigator.errors import NavigationBusyError, StorageError
    from navigator.stores.postgres.database import PostgresDatabase
    from navigator.stores.postgres.layout import STEPS, bring_up_to_date
    from navigator.stores.postgres.leases import NavigationLeases

    with own_schema() as address:
        database = PostgresDatabase(address)
        ours, theirs = NavigationLeases(database, patience_s=0.0), NavigationLeases(database)
        async with theirs.hold("nav-shared"):
            with pytest.raises(NavigationBusyError) as busy:
                await ours.hold("nav-shared").__aenter__()

        async def look_again(db: Any) -> None:
            await db.execute("INSERT INTO layout (version) VALUES ($1)", len(STEPS) + 1)
            await bring_up_to_date(db, address.schema)

        with pytest.raises(StorageError) as newer:
            await database.act(look_again)
        await database.close()
    for told in (busy, newer):
        assert_sentence(str(told.value))


def test_a_clean_work_tree_is_no_goal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    commit(tmp_path, {"a.py": "a = 1\n"})
    for flags in (["--diff"], ["--since", "HEAD"]):
        assert main(["navigate", str(tmp_path), *flags]) == 2
        assert_sentence(capfd.readouterr().err.strip().removeprefix("repo-navigator: "))


def test_what_can_not_be_gone_on_with_is_told(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REPO_NAVIGATOR_DATA", str(tmp_path / "data"))
    for arguments in (["context"], ["navigate", "--continue", "show x"]):
        assert main(arguments) == 2
        assert_sentence(capfd.readouterr().err.strip().removeprefix("repo-navigator: "))
    assert main(["navigate", str(shop), "what a discount does", "--json", "-q"]) == 0
    key = json.loads(capfd.readouterr().out)["navigation_id"]
    monkeypatch.chdir(tmp_path)
    for arguments in (
        ["navigate", "--continue", "show x"],
        ["navigate", "--continue", key, str(shop)],
        ["navigate", "--continue", key, "--tokens", "90"],
        ["context", "who calls discount?"],
    ):
        assert main(arguments) == 2
        assert_sentence(capfd.readouterr().err.strip().removeprefix("repo-navigator: "))


def test_changes_can_not_be_asked_for_where_git_knows_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text("a = 1\n")
    assert main(["navigate", str(tmp_path), "--diff"]) == 2
    assert_sentence(capfd.readouterr().err.strip().removeprefix("repo-navigator: "))


@pytest.mark.parametrize(
    "line", ["navigate --gaol x", "navigate --zzzz x", "naviagte", "draw", "replay", "--", "serve two"]
)
def test_a_wrong_command_line_is_told(line: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(line.split())
    assert ended.value.code == 2
    assert_sentence(capfd.readouterr().err.strip().removeprefix("repo-navigator: "))


def test_a_taken_port_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["serve", "--http", f"127.0.0.1:{taken.getsockname()[1]}"]) == 2
    assert_sentence(capfd.readouterr().err.strip().removeprefix("repo-navigator: "))


def told_by_install(capfd: pytest.CaptureFixture[str], *arguments: str, code: int = 1) -> None:
    assert main(["install", *arguments]) == code
    title = r"repo-navigator: (?:[\w ]+: )?"
    assert_sentence(re.sub(title, "", capfd.readouterr().err.strip(), count=1))


def test_a_configuration_that_can_not_be_changed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    path, toml = tmp_path / ".claude.json", tmp_path / ".codex" / "config.toml"
    for data in (b"{ broken", b'{"mcpServers": []}', b"\xff"):
        path.write_bytes(data)
        told_by_install(capfd, "claude-code")
    path.write_text("{}")
    path.chmod(0o444)
    told_by_install(capfd, "claude-code")
    path.unlink()
    path.mkdir()
    told_by_install(capfd, "claude-code")
    path.rmdir()
    path.symlink_to(path)
    told_by_install(capfd, "claude-code")
    toml.parent.mkdir()
    with toml.open("wb") as large:
        large.truncate(4_000_000)
    told_by_install(capfd, "codex")
    toml.write_text('mcp_servers = { other = { command = "x" } }\n')
    told_by_install(capfd, "codex")
    toml.write_text('mcp_servers = { repo-navigator = { command = "x" } }\n')
    told_by_install(capfd, "codex", "--undo")


def test_hooks_that_can_not_be_installed_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text('{"hooks": 1}\n')
    told_by_install(capfd, "claude-code", "--hooks")
    told_by_install(capfd, "zed", "--hooks", code=2)
    told_by_install(capfd, "devin", code=2)
    told_by_install(capfd, "claude-code", "--hooks", "--allow", str(tmp_path), code=2)


def test_a_project_that_can_not_be_changed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / ".mcp.json").symlink_to(tmp_path / "elsewhere.json")
    monkeypatch.chdir(tmp_path / "project")
    told_by_install(capfd, "--scope", "project", "claude-code")
    for arguments in (["windsurf"], ["all"], ["cursor", "--allow", "."]):
        told_by_install(capfd, "--scope", "project", *arguments, code=2)


def test_a_configuration_that_is_changed_at_that_moment_is_told(tmp_path: Path) -> None:
    configuration = Configuration(HOSTS["cursor"], tmp_path / "mcp.json")
    change = configuration.adding({"command": "x"})
    configuration.path.write_text("{}")
    with pytest.raises(InvalidRequestError) as caught:
        carry_out(change, undo=False)
    assert_sentence(str(caught.value))
    assert configuration.path.read_text() == "{}"


def test_a_home_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    with pytest.raises(RepositoryNotFoundError) as caught:
        choose_repository("~", (), tmp_path, ())
    assert_sentence(str(caught.value))


@pytest.mark.parametrize("named", ["nowhere", "/nowhere-at-all", "~nobody-here/shop"])
def test_a_folder_that_is_not_there_is_told(tmp_path: Path, named: str) -> None:
    with pytest.raises(RepositoryNotFoundError) as caught:
        choose_repository(named, (), tmp_path, ())
    assert_sentence(str(caught.value))


def test_a_disk_that_cannot_be_written_is_told() -> None:
    assert_sentence(storage_sentence(PermissionError(13, "Permission denied", "/data")))


def test_an_output_that_is_full_is_told() -> None:
    assert_sentence(unwritten(OSError(28, "No space left on device")))


def test_a_line_that_is_no_message_is_told() -> None:
    for line in ("no JSON", "[]"):
        with pytest.raises(ValidationError) as caught:
            jsonrpc_message_adapter.validate_json(line)
        refused = refusal(caught.value)
        assert refused is not None
        assert_sentence(refused.error.message)


@pytest.mark.anyio
async def test_a_line_without_an_end_is_told() -> None:
    async def read() -> bytes:
        return b"a" * MAX_LINE_BYTES

    refused = await LineReader(read).next()
    assert isinstance(refused, RefusedLine)
    assert_sentence(refused.answer.error.message)


@pytest.mark.anyio
async def test_a_request_that_is_not_let_in_is_told() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("it was let in")

    known = allowed_addresses("127.0.0.1", [], [])
    door = RequestGuard(app, known, probed_at=["/health"], is_for_this_machine=True)
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=door), base_url="http://localhost"
    ) as client:
        for headers in (
            {"host": "elsewhere.example"},
            {"origin": "https://elsewhere.example"},
            {"x-forwarded-for": "10.1.2.3"},
            {"x": "a" * 20_000},
            {"content-length": "1", "transfer-encoding": "chunked"},
        ):
            message = await client.post("/mcp", headers=headers, content=b"a")
            assert_sentence(message.text.strip())
    assert_sentence(NO_ROOM.decode().strip())


@pytest.mark.anyio
async def test_sessionless_callers_are_given_the_choices(settings: Settings, shop: Path) -> None:
    from mcp_server.loading import load_navigator
    from mcp_server.protocol.navigations import Navigations
    from mcp_server.protocol.responses import navigate_answer
    from mcp_server.tenancy.principal import Principal
    from navigator.errors import UnknownNavigationError
    from navigator.settings import ENDLESS, NavigationRequest

    async def silent(_: object) -> None: ...

    navigations = Navigations(settings, load_navigator)
    principal = Principal()
    for _ in range(2):
        await navigations.start(
            principal,
            NavigationRequest("the discount", shop),
            lambda report, output, before: (navigate_answer(output, report, 8_000), before),
            response_token_budget=8_000,
            patience=ENDLESS,
            most_steps=None,
            on_progress=silent,
        )
    with pytest.raises(UnknownNavigationError) as caught:
        await navigations.implied(principal)
    await navigations.aclose()
    assert_sentence(str(caught.value))


@pytest.mark.anyio
async def test_a_step_that_follows_another_than_the_latest_is_refused(settings: Settings, shop: Path) -> None:
    async with Client(build_server(settings, working_folder=shop), mode="legacy") as client:
        await client.call_tool("navigate", {"goal": "the discount"})
        asked = {"feedback": "also show send_reminder", "after_step": 1}
        assert_sentence(told_by(await client.call_tool("step", asked)))


@pytest.mark.anyio
async def test_a_repository_that_takes_too_long_is_indexed_on(
    settings: Settings, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mcp_server.protocol import tools

    monkeypatch.setattr(tools, "_OPENING_SECONDS", 0.0)
    hasty = dataclasses.replace(settings, call_seconds=1e-6)
    async with Client(build_server(hasty, working_folder=shop)) as client:
        assert_sentence(told_by(await client.call_tool("navigate", {"goal": "the discount"})))


@pytest.mark.anyio
@pytest.mark.parametrize("damage", ["pages", "rows", "header"])
async def test_a_damaged_database_is_told_in_a_sentence_and_left_as_it_is(
    damage: str, settings: Settings, shop: Path
) -> None:
    async with Client(build_server(settings, working_folder=shop), mode="legacy") as client:
        opened = await client.call_tool("navigate", {"goal": "discounts"})
    assert opened.structured_content is not None
    key = opened.structured_content["navigation_id"]
    assert settings.data_dir is not None
    database = settings.data_dir / "sessions.db"
    with closing(sqlite3.connect(database)) as connection:
        if damage == "rows":
            connection.execute('UPDATE sessions SET state = \'{"navigator": 5, "navigator_run": 5}\'')
            connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if damage == "pages":
        stored = database.read_bytes()
        database.write_bytes(stored[:4096] + bytes(len(stored) - 4096))
    if damage == "header":
        database.write_bytes(b"no database any more" + database.read_bytes()[20:])
    before = database.read_bytes()
    message = []
    async with Client(build_server(settings, working_folder=shop), mode="legacy") as client:
        for tool in ("get_turn_report", "get_context", "step"):
            answer = await client.call_tool(tool, {"navigation_id": key})
            assert answer.is_error
            message += [block.text for block in answer.content if isinstance(block, TextContent)]
        for part in ("context", "plan", "report", "decisions"):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(f"navigator://{key}/{part}")
            message.append(str(refused.value))
        # What can't be read is not listed, and is in nobody's way.
        listed = await client.list_resources()
        assert [str(resource.uri) for resource in listed.resources] == ["navigator://navigations"]
    for sentence in message:
        assert sentence.startswith("The stored navigations can't be read ("), message
        assert_sentence(sentence)
    assert database.read_bytes() == before


@pytest.mark.anyio
async def test_one_row_that_is_no_navigation_hides_no_other(settings: Settings, shop: Path) -> None:
    keys = []
    async with Client(build_server(settings, working_folder=shop), mode="legacy") as client:
        for goal in ("discounts", "apples"):
            opened = await client.call_tool("navigate", {"goal": goal})
            assert opened.structured_content is not None
            keys.append(opened.structured_content["navigation_id"])
    assert settings.data_dir is not None
    with closing(sqlite3.connect(settings.data_dir / "sessions.db")) as connection:
        damaged = '{"navigator": 5, "navigator_run": 5}'
        connection.execute("UPDATE sessions SET state = ? WHERE id = ?", (damaged, keys[0]))
        connection.commit()
    async with Client(build_server(settings, working_folder=shop), mode="legacy") as client:
        refused = told_by(await client.call_tool("get_turn_report", {"navigation_id": keys[0]}))
        assert refused.startswith("The stored navigations can't be read (a row is no navigation)")
        assert not (await client.call_tool("get_turn_report", {"navigation_id": keys[1]})).is_error
        listed = await client.read_resource("navigator://navigations")
    assert [keys[1] in str(listed), keys[0] in str(listed)] == [True, False]


@pytest.mark.anyio
async def test_a_limit_that_is_reached_is_told(settings: Settings, shop: Path, tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text('as_of: "2026-11-01"\nmodels:\n  openai/dear: {input: 1, output: 1}\n')
    settings = dataclasses.replace(settings, prices=prices, model_urls={"openai": "http://127.0.0.1:9/v1"})
    stores = open_stores(settings.data_dir)
    await stores.usage.add(UsageEntry.new("local", Usage(1_000, Decimal(3), 60.0)))
    await stores.usage.close()
    goal = {"goal": "the discount", "mode": "interactive"}
    for limits, arguments in (
        ({"open_navigations": 1}, goal),
        ({"tokens_a_day": 1_000}, goal),
        ({"cost_usd_a_day": 3.0}, {**goal, "model": "openai/dear"}),
        ({"index_seconds_a_day": 60.0}, goal),
    ):
        limited = dataclasses.replace(settings, principal_limits=PrincipalLimits(**limits))  # type: ignore[arg-type]
        async with Client(build_server(limited, working_folder=shop)) as client:
            if "open_navigations" in limits:
                assert not (await client.call_tool("navigate", goal)).is_error
            assert_sentence(told_by(await client.call_tool("navigate", arguments)))
    assert settings.data_dir is not None
    (settings.data_dir / "usage.db").write_bytes(b"no database" * 1_000)
    limited = dataclasses.replace(settings, principal_limits=PrincipalLimits(tokens_a_day=1_000))
    async with Client(build_server(limited, working_folder=shop)) as client:
        message = told_by(await client.call_tool("navigate", goal))
    assert message.startswith("What callers use can't be counted (file is not a database)")
    assert_sentence(message)


def test_metrics_without_their_package_are_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("mcp_server.app.find_spec", lambda _: None)
    monkeypatch.setenv("REPO_NAVIGATOR_HTTP_METRICS_TOKEN", "0123456789abcdef")
    assert main(["serve"]) == 2
    assert_sentence(capfd.readouterr().err.strip().removeprefix("repo-navigator: "))


def test_rights_of_git_hosts_without_their_package_are_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    repositories = tmp_path / "repositories.yaml"
    repositories.write_text("repositories: {}\n", "utf-8")
    monkeypatch.setattr("mcp_server.app.find_spec", lambda _: None)
    monkeypatch.setenv("REPO_NAVIGATOR_REPOSITORIES", str(repositories))
    monkeypatch.setenv("REPO_NAVIGATOR_HOST_TOKENS", "git.example:0123456789abcdef")
    assert main(["serve"]) == 2
    assert_sentence(capfd.readouterr().err.strip().removeprefix("repo-navigator: "))
