"""``repo-navigator team``: an operator sees how servers stand, and lets people in or turns them away."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from mcp_server.app import build_server
from mcp_server.http import http_app
from mcp_server.settings import SettingsError, read_settings
from navigator.settings import NavigationRequest
from navigator.stores.postgres import layout
from navigator.stores.store_address import DatabaseAddress
from repo_navigator.main import main
from repo_navigator.use_navigator import use_navigator
from tests.mcp_server.test_http import ALICE
from tests.support.team_stores import own_schema, run_sql, url_of
from tests.support.trees import commit

AT_SERVER = {"base_url": "http://127.0.0.1"}


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DatabaseAddress]:
    """Set the variables of a team's servers, whose database is a schema of its own."""
    with own_schema() as address:
        for name, value in {
            "STORE": url_of(address),
            "DATA": str(tmp_path / "data"),
            "CACHE": str(tmp_path / "cache"),
            "HTTP_TOKENS": f"stored,alice:{ALICE}",
            "AUDIT": str(tmp_path / "audit.jsonl"),
        }.items():
            monkeypatch.setenv(f"REPO_NAVIGATOR_{name}", value)
        yield address


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["team", *words]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said(capsys, *words, "--json"))
    return found


async def admitted_by_two_servers(*tokens: str) -> list[list[bool]]:
    """Tell which tokens get past the door of each of two servers, after their next look at the database."""
    found = []
    for _ in range(2):
        settings = read_settings(os.environ)
        server = build_server(settings)
        people = server.navigations.access.people
        assert people is not None
        await people.look()
        transport = httpx2.ASGITransport(app=http_app(server, settings.http))  # type: ignore[arg-type]
        async with httpx2.AsyncClient(transport=transport, **AT_SERVER) as client:
            answers = [
                await client.get("/nothing", headers={"authorization": f"Bearer {token}"}) for token in tokens
            ]
        found.append([each.status_code == 404 for each in answers])
    return found


def admitted(*tokens: str) -> list[bool]:
    """Tell which tokens admit, at both servers alike."""
    first, second = anyio.run(partial(admitted_by_two_servers, *tokens))
    assert first == second
    return first


@pytest.mark.usefixtures("team")
def test_a_token_that_an_operator_makes_admits_at_every_server_until_it_is_revoked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    token, told_more = said(capsys, "token", "bob", "--group", "core").split("\n", 1)
    assert "is shown only now" in told_more
    other = told(capsys, "token", "bob")["token"]
    assert admitted(ALICE, token, other, "a-guess-of-somebody-else") == [True, True, True, False]
    bob = next(each for each in told(capsys, "people")["people"] if each["principal"] == "bob")
    assert (bob["tokens_stored"], bob["groups"], bob["revoked"]) == (2, ["core"], False)

    assert told(capsys, "revoke", "bob") == {"principal": "bob", "stored_tokens_ended": 2, "is_known": True}
    assert admitted(ALICE, token, other) == [True, False, False]
    # One of the settings too: who is revoked is, whoever gave the token.
    said(capsys, "revoke", "alice")
    assert admitted(ALICE) == [False]
    said(capsys, "readmit", "alice")
    said(capsys, "readmit", "bob")
    assert admitted(ALICE, token) == [True, False], "a stored token that was ended stays so"
    assert "see that it is spelt" in said(capsys, "revoke", "alcie")


@pytest.mark.usefixtures("team")
def test_a_token_that_replaces_ends_the_earlier_ones_of_its_bearer_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second = (told(capsys, "token", "bob", "--group", "core")["token"] for _ in range(2))
    carol = told(capsys, "token", "carol")["token"]
    text = said(capsys, "token", "bob", "--replace", "--group", "web", "--group", "docs")
    third = text.split("\n", 1)[0]
    assert "2 earlier stored tokens of `bob` end then; groups by the new one: docs, web." in text
    assert admitted(ALICE, carol, first, second, third) == [True, True, False, False, True]
    bob = next(each for each in told(capsys, "people")["people"] if each["principal"] == "bob")
    assert (bob["tokens_stored"], bob["groups"], bob["revoked"]) == (1, ["docs", "web"], False)
    assert told(capsys, "token", "bob", "--replace")["stored_tokens_ended"] == 1
    assert told(capsys, "token", "alice", "--replace")["stored_tokens_ended"] == 0
    assert admitted(ALICE, third) == [True, False], "a token of the settings stays"


@pytest.mark.usefixtures("team")
@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("al:ice",), "`al:ice` can't be the name of a token's bearer"),
        (("alice,x",), "`alice,x` can't be the name of a token's bearer"),
        ((" alice",), "`alice` can't be the name of a token's bearer"),
        ((f"jwt-{'0123' * 8}",), "does not begin with `jwt-`"),
        (("alice", "--group", "core", "--group", "a b,c"), "`a b,c` can't be the name of a group"),
        (("alice", "--group", "core+web"), "`core+web` can't be the name of a group"),
    ],
)
def test_a_name_that_the_settings_could_not_give_gets_no_token(
    words: tuple[str, ...], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["team", "token", *words]) == 2
    error = capsys.readouterr().err
    assert fault in error
    assert error.count("\n") == 1
    assert [each["principal"] for each in told(capsys, "people")["people"]] == ["alice"]


def test_of_a_stored_token_the_database_has_the_digest_alone(
    team: DatabaseAddress, capsys: pytest.CaptureFixture[str]
) -> None:
    token = told(capsys, "token", "bob")["token"]
    rows = anyio.run(partial(run_sql, team, "SELECT t::text AS row FROM people_tokens t"))
    assert len(rows) == 1
    assert token not in rows[0]["row"]


def test_servers_that_take_no_stored_tokens_admit_none_and_make_none(
    team: DatabaseAddress, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    token = told(capsys, "token", "bob")["token"]
    monkeypatch.setenv("REPO_NAVIGATOR_HTTP_TOKENS", f"alice:{ALICE}")
    assert admitted(ALICE, token) == [True, False]
    assert main(["team", "token", "bob"]) == 2
    assert "add `stored` to REPO_NAVIGATOR_HTTP_TOKENS" in capsys.readouterr().err
    # But who is revoked is turned away whatever the settings say of tokens.
    said(capsys, "revoke", "alice")
    assert admitted(ALICE) == [False]
    monkeypatch.delenv("REPO_NAVIGATOR_STORE")
    assert main(["team", "revoke", "bob"]) == 2
    assert "set REPO_NAVIGATOR_STORE as they have it" in capsys.readouterr().err
    with pytest.raises(SettingsError, match="no database keeps any; set REPO_NAVIGATOR_STORE"):
        read_settings({"REPO_NAVIGATOR_HTTP_TOKENS": "stored"})
    del team


@pytest.mark.usefixtures("team")
def test_an_operator_sees_who_has_navigations_and_deletes_those_of_one(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def open_some(navigator: Any) -> None:
        for user in ("alice", "alice", "carol"):
            await navigator.open(NavigationRequest("the discount on an apple", shop), user=user)

    use_navigator(read_settings(os.environ), open_some)
    status = told(capsys, "status")
    assert status["navigations"] == {"stored": 3, "open": 3}
    assert status["folder"].endswith("/artifacts")
    assert "\nfolder " in said(capsys, "status")
    assert status["tables"] == "tables of this version"
    assert status["people"] == {"known": 2, "active_today": 2, "revoked": 0}
    assert "3 stored" in said(capsys, "status")

    assert "2 navigations of `alice` would be deleted" in said(capsys, "forget", "alice", "--dry-run")
    assert told(capsys, "forget", "alice", "--older-than", "1")["navigations"] == 0
    assert "2 navigations of `alice` are deleted" in said(capsys, "forget", "alice")
    people = {each["principal"]: each["navigations"] for each in told(capsys, "people")["people"]}
    assert people == {"alice": 0, "carol": 1}
    table = said(capsys, "people").splitlines()
    assert table[0].split() == ["last", "call", "navigations", "open", "groups"], "nothing is counted"
    assert [line.split()[0] for line in table[1:]] == ["carol", "alice"], "who called last comes first"


def test_what_is_slow_is_told_by_the_audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    now = datetime.now(UTC)

    def line(tool: str, repository: object, ms: int, *, hours: float = 0.0, outcome: str = "ok") -> str:
        at = (now - timedelta(hours=hours)).isoformat(timespec="milliseconds")
        fixed = {"server": "one", "client": "10.0.0.1", "principal": "alice", "navigation": None}
        told = {"time": at, "tool": tool, "repository": repository, "outcome": outcome, "ms": ms}
        return json.dumps({**fixed, **told, "tokens": 10, "index_ms": ms // 2})

    first, second = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    calls = [line("navigate", "api", 100 * number) for number in range(1, 21)]
    first.write_text("\n".join([*calls, line("step", "api", 99_000, hours=30), "{torn"]) + "\n")
    second.write_text(line("step", ["api", "web"], 7_000, outcome="LimitReachedError") + "\n")
    files = ("--audit", str(first), "--audit", str(second))
    found = told(capsys, "slow", *files)
    assert found["by_tool"]["navigate"] == {"calls": 20, "p50_ms": 1050, "p95_ms": 1905, "longest_ms": 2000}
    assert found["outcomes"] == {"LimitReachedError": 1, "ok": 20}
    assert [each["ms"] for each in found["slowest"][:3]] == [7_000, 2_000, 1_900]
    text = said(capsys, "slow", *files)
    assert "21 calls within 24 hours; not ok: 1 LimitReachedError" in text
    assert "7.0 s" in text
    assert "api, web" in text
    assert told(capsys, "slow", *files, "--hours", "48")["slowest"][0]["ms"] == 99_000
    assert main(["team", "slow", "--audit", str(tmp_path / "none")]) != 0
    assert "can't be read (No such file or directory)" in capsys.readouterr().err
    assert main(["team", "slow"]) == 2
    assert "set REPO_NAVIGATOR_AUDIT" in capsys.readouterr().err


def shop_in(folder: Path) -> Path:
    """Return a repository of one file, below a folder."""
    shop = folder / "shop"
    shop.mkdir()
    commit(shop, {"prices.py": "def discount(item):\n    return 5\n"})
    return shop


def test_repositories_are_told_with_their_disk_and_their_readers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = shop_in(tmp_path)
    file = tmp_path / "repositories.yaml"
    file.write_text(
        f"revoked: [eve]\nrepositories:\n  shop: {{address: 'file://{shop}', readers: ['group:core']}}\n"
        "  gone: {address: 'https://git.example/team/gone.git'}\n"
    )
    monkeypatch.setenv("REPO_NAVIGATOR_REPOSITORIES", str(file))
    monkeypatch.setenv("REPO_NAVIGATOR_DATA", str(tmp_path / "data"))
    assert main(["repositories", "sync", "shop"]) == 0
    capsys.readouterr()
    here, gone = told(capsys, "repositories")["repositories"]
    assert (here["name"], here["readers"]) == ("shop", ["group:core"])
    assert here["bytes"] > 1_000
    assert (gone["head"], gone["fetched_at"], gone["bytes"]) == (None, None, 0)
    table = said(capsys, "repositories").splitlines()
    assert [line.split()[0] for line in table[1:]] == ["shop", "gone"]
    status = said(capsys, "status")
    assert "2 named, 1 fetched here" in status
    assert "! never fetched: gone" in status
    assert "1 turned away" in status


@pytest.mark.usefixtures("team")
def test_a_list_that_cannot_be_read_is_told_beside_what_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = shop_in(tmp_path)
    file = tmp_path / "repositories.yaml"
    file.write_text(f"repositories:\n  shop: {{address: 'file://{shop}'}}\n")
    monkeypatch.setenv("REPO_NAVIGATOR_REPOSITORIES", str(file))
    assert main(["repositories", "sync"]) == 0
    capsys.readouterr()
    assert told(capsys, "repositories")["list_fault"] is None
    for content, servers in (
        ("repositories: [", "Servers that run go on with their earlier list."),
        (None, "Servers serve no repository by name."),
    ):
        file.unlink() if content is None else file.write_text(content)
        status = said(capsys, "status")
        assert "0 stored, 0 open" in status
        assert "repositories 1 fetched here" in status
        table = said(capsys, "repositories")
        assert table.splitlines()[1].split()[0] == "shop"
        people = said(capsys, "people")
        assert people.splitlines()[1].split()[0] == "alice"
        for text in (status, table, people):
            assert text.splitlines()[-1].startswith("! ")
            assert text.endswith(f"{servers}\n")


async def servers_of(version: dict[str, str], address: DatabaseAddress) -> None:
    from navigator.stores.postgres.database import PostgresDatabase

    database = PostgresDatabase(address)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "ADDITIONS", version)
        await database.act(lambda db: db.fetchval("SELECT count(*) FROM sessions"), is_read=True)
    await database.close()


def test_an_earlier_version_goes_on_beside_one_that_has_added_its_tables() -> None:
    with own_schema() as address:
        state = "SELECT max(version) AS version, count(*) AS steps FROM layout"
        anyio.run(partial(servers_of, {}, address))
        before = anyio.run(partial(run_sql, address, state))
        anyio.run(partial(servers_of, dict(layout.ADDITIONS), address))
        anyio.run(partial(servers_of, {}, address))
        assert anyio.run(partial(run_sql, address, state)) == before, (
            "an earlier version sees no later layout"
        )
        assert anyio.run(partial(run_sql, address, "SELECT count(*) FROM people_tokens"))[0][0] == 0


@pytest.mark.parametrize("name", layout.ADDITIONS)
def test_an_addition_touches_no_table_that_an_earlier_version_knows(name: str) -> None:
    statements = [each.split() for each in layout.ADDITIONS[name].split(";") if each.strip()]
    assert {tuple(words[:2]) for words in statements} <= {("CREATE", "TABLE"), ("CREATE", "INDEX")}
    assert all(words[2].startswith(f"{name}_") for words in statements)
