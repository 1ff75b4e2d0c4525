"""Each error has a code and the argument that it is about, over MCP and on the command line."""

from __future__ import annotations

import dataclasses
import errno
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    InputRequiredResult,
)

from mcp_server.app import build_server
from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from navigator.storage.addresses import DatabaseAddress
from repo_navigator.clients.configuration import ConfigurationFile
from repo_navigator.clients.hosts import ENTRY, HOSTS
from repo_navigator.main import main
from tests.mcp_server.conftest import both_eras
from tests.support.errors import (
    Refusal,
    refusal_of,
    refusal_of_command,
    refusal_of_error,
    refusal_of_protocol,
)
from tests.support.results import object_of
from tests.support.team_stores import BUCKETS, own_bucket
from tests.support.trees import commit


def assert_sentence(message: str) -> None:
    assert " " in message
    assert "\n" not in message.rstrip("\n")
    assert "Traceback" not in message


FOREIGN = "--- a/no/such.py\n+++ b/no/such.py\n@@ -1 +1 @@\n-a\n+b\n"
"""A patch of another repository."""
PLAN = "invalid_flight_plan"
NAVIGATE: list[tuple[dict[str, Any], Refusal]] = [
    ({}, Refusal("missing_argument", "goal")),
    ({"goal": "  "}, Refusal("invalid_argument", "goal")),
    ({"goal": "x" * 100_001}, Refusal("invalid_argument", "goal")),
    ({"goal": "x", "token_budget": 0}, Refusal("invalid_argument", "token_budget")),
    ({"goal": "x", "token_budget": "many"}, Refusal("invalid_argument", "token_budget")),
    ({"goal": "x", "token_budget": 10**400}, Refusal("invalid_argument", "token_budget")),
    ({"goal": "x", "maxCostUsd": 1}, Refusal("unknown_argument", "maxCostUsd")),
    ({"query": "x"}, Refusal("missing_argument", "goal")),
    ({"goal": "x", "repo_path": "/nowhere"}, Refusal("repository_not_found")),
    ({"goal": "x", "repo_path": "~nobody-of-that-name/code"}, Refusal("repository_not_found")),
    ({"goal": "x", "repo_path": "file://server/share"}, Refusal("repository_not_found")),
    ({"goal": "x", "repo_path": "/dev"}, Refusal("repository_not_found")),
    ({"goal": "x", "repo_path": "a\0b"}, Refusal("repository_not_found")),
    ({"goal": "x", "max_cost_usd": 0}, Refusal("invalid_argument", "max_cost_usd")),
    ({"goal": "x", "mode": "fast"}, Refusal("invalid_argument", "mode")),
    ({"goal": "x", "model": "nonsense"}, Refusal("unknown_model", "model")),
    ({"goal": "x", "model": "gemini-without-a-price"}, Refusal("model_price_unknown", "model")),
    ({"goal": "x", "model": "host"}, Refusal("unknown_model", "model")),
    ({"goal": "x", "model": "gemini-2.5-flash"}, Refusal("model_key_missing", "model")),
    ({"goal": "x", "max_steps": 0}, Refusal("invalid_argument", "max_steps")),
    ({"goal": "x", "flight_plan": "verbosity: ["}, Refusal(PLAN)),
    ({"goal": "x", "flight_plan": "# nothing"}, Refusal(PLAN)),
    ({"goal": "x", "flight_plan": {"budget": 10**400}}, Refusal(PLAN)),
    ({"goal": "x", "flight_plan": {"colour": 1}}, Refusal(PLAN)),
    ({"goal": "x", "flight_plan": {"verbosity": [{"pattern": "a", "level": 9}]}}, Refusal(PLAN)),
    (
        {"goal": "x", "flight_plan": {"custom_queries": [{"pattern": "**/*.py", "query": "(("}]}},
        Refusal(PLAN),
    ),
    ({"goal": "", "changes": "nowhere"}, Refusal("invalid_changes", "changes")),
    ({"goal": "", "changes": FOREIGN}, Refusal("invalid_changes", "changes")),
]
AFTERWARDS: list[tuple[str, dict[str, Any], Refusal]] = [
    ("step", {"navigation_id": "nav-none"}, Refusal("unknown_navigation", "navigation_id")),
    ("step", {"action": "stop"}, Refusal("invalid_argument", "action")),
    ("step", {"feedback": "x" * 4_001}, Refusal("invalid_argument", "feedback")),
    ("step", {"updates": {"verbosity": [{"pattern": "a"}]}}, Refusal(PLAN)),
    ("step", {"updates": {"budget": 1}}, Refusal("budget_too_small")),
    ("step", {"updates": {"budget": 10**400}}, Refusal(PLAN)),
    ("step", {"updates": {"model": "abacus"}}, Refusal("unknown_model", "model")),
    ("step", {"updates": {"max_cost_usd": 0}}, Refusal("invalid_argument", "max_cost_usd")),
    ("step", {"updates": {"max_steps": 0}}, Refusal("invalid_argument", "max_steps")),
    ("step", {"show": [{"path": "a.py"}]}, Refusal("invalid_argument", "show")),
    ("step", {"drop": ["x" * 501]}, Refusal("invalid_argument", "drop")),
    ("step", {"show": [*range(51)]}, Refusal("invalid_argument", "show")),
    ("step", {"ask": "who calls it?"}, Refusal("invalid_argument", "ask")),
    ("step", {"ask": {"colour": "Cart"}}, Refusal("invalid_argument", "ask")),
    ("step", {"action": "forget"}, Refusal("missing_argument", "navigation_id")),
    ("get_turn_report", {"step": 99}, Refusal("unknown_step")),
    ("get_context", {"since_step": 99}, Refusal("unknown_step")),
    ("get_context", {"cursor": "zzz"}, Refusal("invalid_argument", "cursor")),
    ("get_context", {"cursor": "WzAsbnVsbCw5OTk5OTld"}, Refusal("invalid_argument", "cursor")),
    ("get_context", {"cursor": "77:plan:0"}, Refusal("unknown_step")),
    ("map_data", {"steer": {"feedback": 3}}, Refusal("invalid_argument", "steer")),
    ("navigate_all", {}, Refusal("unknown_tool")),
]


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_refusal_is_the_same_in_both_eras(settings: Settings, shop: Path, mode: str) -> None:
    async with Client(build_server(settings, working_folder=shop), mode=mode) as client:
        refused = await client.call_tool("navigate", {"goal": "x", "token_budget": 0})
    assert refusal_of(refused) == ("invalid_argument", "token_budget")


@pytest.mark.anyio
async def test_a_navigate_call_that_cannot_be_used_is_refused(client: Client) -> None:
    async with client:
        for arguments, refusal in NAVIGATE:
            assert refusal_of(await client.call_tool("navigate", arguments)) == refusal, arguments
        assert refusal_of(await client.call_tool("step", {})).code == "unknown_navigation"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("wrong", "fallback"),
    [({"model": "nonsense"}, ""), ({"max_steps": 0}, ""), ({}, "gpt")],
    ids=["model", "steps", "model of the settings"],
)
async def test_what_cannot_be_used_is_refused_before_the_repository_is_read(
    wrong: dict[str, Any], fallback: str, settings: Settings, shop: Path
) -> None:
    settings = settings.model_copy(update={"fallback_model": fallback or ""})
    async with Client(build_server(settings, working_folder=shop)) as client:
        assert (await client.call_tool("navigate", {"goal": "x", **wrong})).is_error
    assert settings.cache_dir is not None
    assert not list(settings.cache_dir.glob("**/*"))


@pytest.mark.anyio
async def test_a_later_call_that_cannot_be_used_is_refused_and_nothing_is_lost(client: Client) -> None:
    async with client:
        first = object_of(await client.call_tool("navigate", {"goal": "the discount on an apple"}))
        for tool, arguments, refusal in AFTERWARDS:
            assert refusal_of(await client.call_tool(tool, arguments)) == refusal, arguments
        after = object_of(await client.call_tool("get_context", {}))
        assert after["context_string"] == first["context"]
        await client.call_tool("step", {"action": "cancel"})
        closed = await client.call_tool("step", {"feedback": "more"})
        assert refusal_of(closed).code == "navigation_closed"


@pytest.mark.anyio
async def test_a_prompt_that_cannot_be_written_is_refused(client: Client) -> None:
    async with client:
        for name, refusal in (
            ("find", Refusal("unknown_prompt")),
            ("find_code", Refusal("missing_argument", "task")),
            ("explain_context", Refusal("unknown_navigation", "navigation_id")),
        ):
            with pytest.raises(MCPError) as caught:
                await client.get_prompt(name, {})
            assert refusal_of_protocol(caught.value) == refusal


@pytest.mark.anyio
async def test_a_resource_that_is_not_there_is_refused(client: Client) -> None:
    async with client:
        found = object_of(await client.call_tool("navigate", {"goal": "the discount on an apple"}))
        key = found["navigation_id"]
        for version in ("latest", "-1", "9" * 30, "9" * 5_000):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(f"navigator://{key}/maps/{version}")
            assert refusal_of_protocol(caught.value) == ("invalid_argument", "version")
        with pytest.raises(MCPError) as caught:
            await client.read_resource("navigator://nav-none/context")
    assert refusal_of_protocol(caught.value).code == "unknown_navigation"
    assert (caught.value.code, caught.value.data["uri"]) == (INVALID_PARAMS, "navigator://nav-none/context")


@pytest.mark.anyio
async def test_a_repository_outside_the_allow_list_is_refused(tmp_path: Path, shop: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", allowed=(tmp_path / "allowed",))
    async with Client(build_server(settings, working_folder=shop)) as client:
        call = {"goal": "x", "repo_path": str(shop)}
        assert refusal_of(await client.call_tool("navigate", call)).code == "not_allowed"


@pytest.mark.anyio
async def test_a_navigation_that_can_not_be_deleted_is_told(
    tmp_path: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    async with Client(build_server(Settings(data_dir=data), working_folder=shop)) as client:
        opened = object_of(await client.call_tool("navigate", {"goal": "the discount"}))
        call = {"navigation_id": opened["navigation_id"], "action": "forget"}

    def full(**_: Any) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("navigator.storage.opening.TemporaryFile", full)
    async with Client(build_server(Settings(data_dir=data), working_folder=shop)) as client:
        assert refusal_of(await client.call_tool("step", call)).code == "storage_failed"


@both_eras
@pytest.mark.anyio
async def test_a_user_who_closes_the_question_has_done_nothing(
    settings: Settings, shop: Path, era: str
) -> None:
    async def close(_: Any, __: ElicitRequestParams) -> ElicitResult:
        return ElicitResult(action="cancel")

    server = build_server(settings, working_folder=shop)
    async with Client(server, mode=era, elicitation_callback=close) as client:
        await client.call_tool("navigate", {"goal": "the discount", "mode": "interactive"})
        assert refusal_of(await client.call_tool("step", {})).code == "no_decision"


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
        assert refusal_of(late).code == "call_ended"


COMMANDS: list[tuple[list[str], Refusal, int]] = [
    (["navigate", "{shop}", "--goal", " "], Refusal("invalid_argument", "--goal"), 2),
    (["navigate", "--goal", "x"], Refusal("repository_not_found"), 3),
    (["navigate", "{shop}", "x", "--save-plan", "-"], Refusal("invalid_request", "--save-plan"), 2),
    (["navigate", "{shop}", "--goal-file", os.devnull], Refusal("invalid_request", "--goal-file"), 2),
    (["navigate", "{shop}/none", "--goal", "x"], Refusal("repository_not_found"), 3),
    (["navigate", "{shop}", "--since", "nowhere"], Refusal("invalid_changes", "--since"), 2),
    (["navigate", "{shop}", "--since", "HEAD"], Refusal("invalid_changes", "--since"), 2),
    (["navigate", "{shop}", "--since=--output=x"], Refusal("invalid_changes", "--since"), 2),
    (["navigate", "{shop}", "--diff"], Refusal("invalid_changes", "--diff"), 2),
    (["navigate", "{shop}/..", "--diff"], Refusal("repository_not_found", "--diff"), 3),
    (["navigate", "{shop}", "x", "--save-plan", "{shop}"], Refusal("output_failed"), 2),
    (["navigate", "{shop}", "x", "--plan", "{shop}/none.yaml"], Refusal("invalid_flight_plan"), 2),
    (["navigate", "{shop}", "x", "--model", "gemini-2.5-flash"], Refusal("model_key_missing", "--model"), 2),
    (["navigate", "{shop}", "x", "--max-cost", "nan"], Refusal("invalid_argument", "--max-cost"), 2),
    (["show", "x"], Refusal("unknown_navigation", "navigation_id"), 2),
    (["show"], Refusal("invalid_request", "WHAT"), 2),
    (["context"], Refusal("unknown_navigation", "--id"), 2),
    (["context", "who calls discount?"], Refusal("unknown_navigation", "--id"), 2),
    (["replay", "{shop}/none", "{shop}"], Refusal("invalid_flight_plan"), 2),
    (["replay", "{shop}/README.md"], Refusal("repository_not_found"), 3),
    (
        ["install", "cursor", "--dry-run", "--allow", "{shop}/none"],
        Refusal("invalid_request", "--allow"),
        2,
    ),
]


def test_a_command_that_cannot_be_used_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shop = commit(tmp_path / "shop", {"README.md": "# Shop\n"})
    monkeypatch.chdir(tmp_path)
    for arguments, refusal, exit_code in COMMANDS:
        words = [argument.format(shop=shop) for argument in arguments]
        assert refusal_of_command(words, capfd, exit_code=exit_code) == refusal, words


@pytest.mark.parametrize(
    ("line", "environ"),
    [
        ("view nothing-of-this-name", {}),
        ("forget", {}),
        ("forget --older-than -1", {}),
        ("serve --allow nowhere", {}),
        ("serve --http host:", {}),
        ("serve --http host:70000", {}),
        ("serve --http 0.0.0.0:0", {}),
        ("navigate . x", {"MAX_MEMORY_MB": "1"}),
        ("serve", {"MAX_FILE_BYTES": "0"}),
        ("serve", {"HTTP_HOSTS": "*"}),
        ("serve", {"HTTP_TOKEN": "hunter2-0123456789"}),
        ("serve", {"STORE": "postgresql://host/name?ssl=always"}),
        ("serve", {"HTTP_ORIGINS": "navigator.example"}),
        ("serve", {"STORE": "postgresql+asyncpg://ann:s3cr3t@[db/x"}),
        ("serve", {"STORE": "postgresql://ann:s3cr3t@db/x?password=s3cr3t"}),
        ("serve", {"HTTP_ISSUER": "https://idp.example"}),
        ("token b:ob", {}),
        ("serve", {"HTTP_JWKS": "http://idp.example/keys"}),
        ("serve", {"ARTIFACTS": "ftp://bucket/s3cr3t"}),
        ("serve", {"ARTIFACTS": "s3://key:s3cr3t@bucket/x"}),
        ("serve", {"ARTIFACTS": "s3://bucket/../s3cr3t?"}),
        ("serve", {"ARTIFACTS": "gs://key:s3cr3t@bucket/x"}),
        ("serve", {"ARTIFACTS": "gs://bucket_1/?key=s3cr3t"}),
    ],
)
def test_what_cannot_be_used_is_named_in_one_sentence_without_secrets(
    line: str,
    environ: Mapping[str, str],
    shop: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(f"REPO_NAVIGATOR_{name}", value)
    monkeypatch.chdir(shop)
    assert main(line.split(" ")) == 2
    told = capfd.readouterr().err
    assert "s3cr3t" not in told
    assert_sentence(told)
    assert all(f"REPO_NAVIGATOR_{name}" in told for name in environ)


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

    monkeypatch.setattr("navigator.storage.addresses.find_spec", find)
    monkeypatch.setenv(f"REPO_NAVIGATOR_{setting}", address)
    assert main(["serve"]) == 2
    assert_sentence(capfd.readouterr().err)


@pytest.mark.anyio
async def test_stores_that_do_not_answer_are_told(
    settings: Settings, shop: Path, request: pytest.FixtureRequest
) -> None:
    pytest.importorskip("asyncpg")
    nowhere = settings.model_copy(update={"store": DatabaseAddress("127.0.0.1", 1, "team")})
    buckets = [
        dataclasses.replace(own_bucket(scheme, request), bucket="navigations-that-are-gone")
        for scheme in BUCKETS
    ]
    for each in (nowhere, *(settings.model_copy(update={"bucket": bucket}) for bucket in buckets)):
        async with Client(build_server(each, working_folder=shop)) as client:
            assert (
                refusal_of(await client.call_tool("navigate", {"goal": "the discount"})).code
                == "storage_failed"
            )


def test_a_configuration_that_is_changed_at_that_moment_is_told(tmp_path: Path) -> None:
    configuration = ConfigurationFile(HOSTS["cursor"], tmp_path / "mcp.json")
    change = configuration.adding({ENTRY: {"command": "x"}})
    configuration.path.write_text("{}")
    with pytest.raises(InvalidRequestError) as caught:
        change.write()
    assert refusal_of_error(caught.value).code == "unusable_configuration"
    assert configuration.path.read_text() == "{}"


@pytest.mark.anyio
async def test_a_repository_that_takes_too_long_is_indexed_on(
    settings: Settings, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mcp_server import tools

    monkeypatch.setattr(tools, "_OPENING_SECONDS", 0.0)
    hasty = settings.model_copy(update={"call_seconds": 1e-6})
    async with Client(build_server(hasty, working_folder=shop)) as client:
        refused = await client.call_tool("navigate", {"goal": "the discount"})
    assert refusal_of(refused).code == "still_indexing"


@pytest.mark.anyio
@pytest.mark.parametrize("damage", ["pages", "rows"])
async def test_a_damaged_database_is_told_in_a_sentence_and_left_as_it_is(
    damage: str, settings: Settings, shop: Path
) -> None:
    async with Client(build_server(settings, working_folder=shop), mode="legacy") as client:
        opened = object_of(await client.call_tool("navigate", {"goal": "discounts"}))
    key = opened["navigation_id"]
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
    before = database.read_bytes()
    async with Client(build_server(settings, working_folder=shop), mode="legacy") as client:
        for tool in ("get_turn_report", "get_context", "step"):
            answer = await client.call_tool(tool, {"navigation_id": key})
            assert refusal_of(answer).code == "storage_failed"
        for part in ("context", "plan", "report", "decisions"):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(f"navigator://{key}/{part}")
            assert refusal_of_protocol(refused.value).code == "storage_failed"
    assert database.read_bytes() == before


@pytest.mark.anyio
async def test_one_row_that_is_no_navigation_hides_no_other(settings: Settings, shop: Path) -> None:
    keys = []
    async with Client(build_server(settings, working_folder=shop), mode="legacy") as client:
        for goal in ("discounts", "apples"):
            opened = object_of(await client.call_tool("navigate", {"goal": goal}))
            keys.append(opened["navigation_id"])
    assert settings.data_dir is not None
    with closing(sqlite3.connect(settings.data_dir / "sessions.db")) as connection:
        damaged = '{"navigator": 5, "navigator_run": 5}'
        connection.execute("UPDATE sessions SET state = ? WHERE id = ?", (damaged, keys[0]))
        connection.commit()
    async with Client(build_server(settings, working_folder=shop), mode="legacy") as client:
        refused = await client.call_tool("get_turn_report", {"navigation_id": keys[0]})
        assert refusal_of(refused).code == "storage_failed"
        assert not (await client.call_tool("get_turn_report", {"navigation_id": keys[1]})).is_error


def test_metrics_without_their_package_are_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("mcp_server.metrics.find_spec", lambda _: None)
    monkeypatch.setenv("REPO_NAVIGATOR_METRICS", "on")
    assert main(["serve"]) == 2
    assert_sentence(capfd.readouterr().err)
