"""Rights that follow a git host, and its webhooks: on doubles of GitHub's and GitLab's REST interfaces."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from mcp_server.app import build_server
from mcp_server.http import http_app
from mcp_server.settings import HttpSettings, Settings, SettingsError, read_settings
from mcp_server.tenancy.git_hosts import HostClient
from mcp_server.tenancy.host_rights import HostRights
from mcp_server.tenancy.principal import Principal
from mcp_server.tenancy.repository_access import RepositoryAccess
from navigator.stores.host_projects import HostProjectStore, OwnHostProjects
from navigator.workspaces.catalogue import Catalogue, CatalogueError
from navigator.workspaces.clones import sync, wanted_of
from navigator.workspaces.git_host import project_of
from tests.mcp_server.test_http import Served
from tests.support.providers.server import Answer, Die, LoopbackServer, Reply, Stall
from tests.support.team_stores import own_schema, url_of
from tests.support.trees import commit

pytestmark = pytest.mark.anyio
SECRET, TOKEN = "webhook-secret-0123", "host-token"


class GitDouble(LoopbackServer):
    """The member lists of GitHub and GitLab, in pages, for whoever shows the token."""

    def __init__(self) -> None:
        super().__init__()
        self.members: dict[str, list[dict[str, Any]]] = {}
        """By a project's path."""
        self.fault: Answer | None = None

    def handle(self, method: str, path: str, request: dict[str, Any]) -> Answer:
        del method, request
        self.paths.append(path)
        parts = urlsplit(path)
        asked = {
            name: int(values[0]) for name, values in parse_qs(parts.query).items() if values[0].isdecimal()
        }
        is_github = parts.path.startswith("/repos/")
        if self.fault is not None:
            return self.fault
        if (f"Bearer {TOKEN}" if is_github else f"private-token: {TOKEN}") not in self.heard[-1]:
            return Reply({"message": "Bad credentials"}, 401)
        named = parts.path.removeprefix("/repos/").removesuffix("/collaborators")
        named = named if is_github else parts.path.split("/")[2].replace("%2F", "/")
        if named not in self.members:
            return Reply({"message": "Not Found"}, 404)
        start = (asked["page"] - 1) * asked["per_page"]
        page = self.members[named][start : start + asked["per_page"]]
        has_more = start + len(page) < len(self.members[named])
        # An address that nobody must follow.
        link = (("link", '<http://192.0.2.1/steal?page=2>; rel="next"'),) if has_more else ()
        return Reply(json.dumps(page), headers=(("content-type", "application/json"), *link))


def member(kind: str, name: str, *, may_read: bool = True) -> dict[str, Any]:
    """Return a member as the host's published schema has one."""
    if kind == "github":
        rights = {"pull": may_read, "triage": False, "push": False, "maintain": False, "admin": False}
        return {"login": name, "id": 1, "type": "User", "permissions": rights, "role_name": "read"}
    level = 20 if may_read else 10
    return {"id": 1, "username": name, "state": "active", "membership_state": "active", "access_level": level}


@pytest.fixture
def double() -> Iterator[GitDouble]:
    with GitDouble() as made:
        assert isinstance(made, GitDouble)
        yield made


class Team:
    """A catalogue of `api`, whose readers are its host's, and the servers that share a store."""

    def __init__(self, folder: Path, double: GitDouble, kind: str) -> None:
        self.time = 1_000.0
        self.catalogue = Catalogue(folder / "repositories.yaml", folder / "data")
        self.catalogue.file.write_text(
            f"hosts:\n  git.example: {{kind: {kind}, api: {double.url}/}}\n"
            "repositories:\n  api: {address: https://git.example/Team/api.git, readers: [host]}\n"
            "  other: {address: https://git.example/team/other.git, readers: ['user:bob']}\n"
        )
        self.settings = Settings(
            repositories=self.catalogue.file,
            data_dir=folder / "data",
            http=HttpSettings(
                tokens={"alice-0123456789abcdef": "alice"},
                host_tokens={"git.example": TOKEN},
                webhook_secrets={"git.example": SECRET},
            ),
        )

    def server(self, store: HostProjectStore) -> tuple[HostRights, RepositoryAccess]:
        client = HostClient(self.settings.http.host_tokens)
        rights = HostRights(self.catalogue, client, store, hold_s=60.0, now=lambda: self.time)
        access = RepositoryAccess(self.settings, ())
        access.at_hosts = rights
        return rights, access


def names(access: RepositoryAccess, login: str) -> list[str]:
    return access.names(Principal("jwt-1", login=login))


@pytest.mark.parametrize("kind", ["github", "gitlab"])
async def test_readers_are_the_hosts_and_who_loses_the_right_loses_it(
    tmp_path: Path, double: GitDouble, kind: str
) -> None:
    team = Team(tmp_path, double, kind)
    everyone = [member(kind, f"someone{number}") for number in range(150)]
    double.members["team/api"] = [*everyone, member(kind, "Ann"), member(kind, "guest", may_read=False)]
    rights, access = team.server(OwnHostProjects(lambda: team.time))
    assert names(access, "ann") == []
    await rights.look()
    # Two pages, asked for by their numbers at the one address that the operator's file gives.
    assert len(double.paths) == 2
    assert [names(access, who) for who in ("ann", "ANN", "someone149", "guest", "eve", "")] == [
        *([["api"]] * 3),
        *([[]] * 3),
    ]
    # Not the name of a token: nobody vouches for it as a login.
    assert access.names(Principal("ann")) == []
    double.members["team/api"] = everyone
    rights.urge(["git.example/team/api"])
    await rights.look()
    assert names(access, "ann") == ["api"], "one project is asked about once in two seconds"
    team.time += 2
    await rights.look()
    assert names(access, "ann") == []


FAULTS: Sequence[tuple[Answer, bool]] = (
    (Reply({"message": "Not Found"}, 404), False),
    (Reply({"message": "Moved"}, 301, (("location", "http://192.0.2.1/"),)), False),
    (Reply('{"not": "a list"}'), False),
    (Reply('[{"login": 7}]'), False),
    (Reply("<html>"), False),
    (Reply({}, 503), True),
    (Reply({}, 403, (("x-ratelimit-remaining", "0"),)), True),
    (Die(), True),
)


@pytest.mark.parametrize(("fault", "holds"), FAULTS)
async def test_what_the_host_cannot_answer_denies_at_once_or_after_its_time(
    tmp_path: Path, double: GitDouble, fault: Answer, holds: bool
) -> None:
    team = Team(tmp_path, double, "github")
    double.members["team/api"] = [member("github", "ann")]
    rights, access = team.server(OwnHostProjects(lambda: team.time))
    await rights.look()
    assert names(access, "ann") == ["api"]
    double.fault = fault
    team.time += 20
    await rights.look()
    assert len(double.paths) == 2
    assert names(access, "ann") == (["api"] if holds else [])
    # Within a minute, whatever it is that does not answer: this task stands still besides.
    team.time += 41
    assert names(access, "ann") == []
    double.fault = None
    await rights.look()
    assert names(access, "ann") == ["api"]


async def test_servers_that_share_a_database_ask_once_and_all_hear_of_it(
    tmp_path: Path, double: GitDouble
) -> None:
    pytest.importorskip("asyncpg")
    from navigator.stores.postgres.database import PostgresDatabase
    from navigator.stores.postgres.host_projects import SharedHostProjects

    team = Team(tmp_path, double, "gitlab")
    double.members["team/api"] = [member("gitlab", "ann")]
    with own_schema() as address:
        stores = [SharedHostProjects(PostgresDatabase(address)) for _ in range(2)]
        (one, at_one), (two, at_two) = (team.server(store) for store in stores)
        try:
            await one.look()
            await two.look()
            assert len(double.paths) == 1
            assert names(at_one, "ann") == names(at_two, "ann") == ["api"]
            # The right goes: whichever server the webhook reaches, the other denies from its next look on.
            double.members["team/api"] = []
            await stores[1].tell("git.example/team/api", [])
            await one.look()
            assert names(at_one, "ann") == []
            await two.note_push(["git.example/team/api"])
            await one.look()
            assert wanted_of(team.catalogue) == {"api"}
        finally:
            for store in stores:
                await store.close()


async def hooked(
    team: Team, body: bytes, headers: dict[str, str], host: str = "git.example"
) -> httpx2.Response:
    server = build_server(team.settings)
    assert server.navigations.access.at_hosts is not None
    app = http_app(server, team.settings.http)
    transport = httpx2.ASGITransport(app=app)  # type: ignore[arg-type]
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        return await client.post(f"/webhooks/{host}", content=body, headers=headers)


def signed(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


async def test_a_server_that_starts_serves_whom_others_were_told_of_though_its_host_is_silent(
    tmp_path: Path, double: GitDouble
) -> None:
    pytest.importorskip("asyncpg")
    from navigator.stores.postgres.database import PostgresDatabase
    from navigator.stores.postgres.host_projects import SharedHostProjects

    team = Team(tmp_path, double, "github")
    double.fault = Stall()
    with own_schema() as address:
        store = SharedHostProjects(PostgresDatabase(address))
        await store.tell("git.example/team/api", ["alice"])
        await store.close()
        served = Served(
            tmp_path,
            REPO_NAVIGATOR_STORE=url_of(address),
            REPO_NAVIGATOR_DATA=str(tmp_path / "data"),
            REPO_NAVIGATOR_REPOSITORIES=str(team.catalogue.file),
            REPO_NAVIGATOR_HTTP_TOKENS="alice:alice-0123456789abcdef",
            REPO_NAVIGATOR_HOST_TOKENS=f"git.example:{TOKEN}",
        )
        try:
            headers = {"authorization": "Bearer alice-0123456789abcdef"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60) as http,
                Client(streamable_http_client(served.url, http_client=http)) as client,
            ):
                asked = {"goal": "the part that counts", "repo_path": "api"}
                refused = await client.call_tool("navigate", asked)
        finally:
            served.stop()
    # It may be read, and is only not here yet.
    assert "`api` was not fetched yet" in getattr(refused.content[0], "text", "")


async def test_a_webhook_is_let_in_by_its_secret_alone(tmp_path: Path, double: GitDouble) -> None:
    team = Team(tmp_path, double, "github")
    body = json.dumps({"repository": {"full_name": "Team/api"}}).encode()
    refused = [
        await hooked(team, body, headers, host)
        for headers, host in (
            ({}, "git.example"),
            ({"x-hub-signature-256": signed(body, "another-secret-01")}, "git.example"),
            ({"x-hub-signature-256": signed(body + b" ")}, "git.example"),
            ({"x-gitlab-token": ""}, "git.example"),
            ({"x-gitlab-token": "none"}, "elsewhere.example"),
            ({"x-hub-signature-256": signed(body)}, "elsewhere.example"),
        )
    ]
    assert {(each.status_code, each.text) for each in refused} == {
        (401, "The webhook is not signed with this server's secret.\n")
    }
    for headers in ({"x-hub-signature-256": signed(body)}, {"x-gitlab-token": SECRET}):
        assert (await hooked(team, body, {**headers, "x-github-event": "member"})).status_code == 202
    large = b"{" + b" " * team.settings.http.max_body_bytes
    assert (await hooked(team, large, {"x-hub-signature-256": signed(large)})).status_code == 413
    assert (await hooked(team, b"[]", {"x-hub-signature-256": signed(b"[]")})).status_code == 400


PUSHES = (
    ({"x-github-event": "push"}, {"repository": {"full_name": "Team/Api"}}),
    ({"x-gitlab-event": "Push Hook"}, {"project": {"path_with_namespace": "team/api"}}),
    (
        {"x-gitlab-event": "System Hook"},
        {"event_name": "push", "project": {"path_with_namespace": "team/api"}},
    ),
)


@pytest.mark.parametrize(("event", "payload"), PUSHES)
async def test_a_push_has_its_repository_fetched_and_no_other_however_often_it_is_sent(
    tmp_path: Path, double: GitDouble, event: dict[str, str], payload: dict[str, Any]
) -> None:
    team = Team(tmp_path, double, "gitlab")
    server = build_server(team.settings)
    rights = server.navigations.access.at_hosts
    assert rights is not None
    await rights.look()
    app, body = http_app(server, team.settings.http), json.dumps(payload).encode()
    transport = httpx2.ASGITransport(app=app)  # type: ignore[arg-type]
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        for _ in range(20):
            answer = await client.post(
                "/webhooks/git.example", content=body, headers={**event, "x-gitlab-token": SECRET}
            )
            assert answer.status_code == 202
    await rights.look()
    assert wanted_of(team.catalogue) == {"api"}


def test_a_sync_of_what_is_old_fetches_what_was_pushed_to_and_never_fetched(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path / "repositories.yaml", tmp_path / "data")
    lines = ["repositories:"]
    for name in ("a", "b"):
        origin = tmp_path / name
        origin.mkdir()
        commit(origin, {"main.py": "x = 1\n"})
        lines.append(f"  {name}: {{address: '{origin.as_uri()}'}}")
    catalogue.file.write_text("\n".join(lines))

    def fetched() -> list[str]:
        done: list[str] = []
        assert sync(catalogue, (), lambda each: done.append(each.name), older_s=3_600)
        return done

    assert fetched() == ["a", "b"]
    assert fetched() == []
    catalogue.want("b")
    catalogue.want("gone")
    assert fetched() == ["b"]
    assert wanted_of(catalogue) == set()


def test_settings_and_the_file_of_repositories_are_refused_without_repeating_a_secret(tmp_path: Path) -> None:
    for value in ("github.com", "github.com:short", f"a:{SECRET},a:{SECRET}"):
        with pytest.raises(SettingsError) as refused:
            read_settings({"REPO_NAVIGATOR_WEBHOOK_SECRETS": value})
        assert "short" not in str(refused.value)
        assert SECRET not in str(refused.value)
    file = tmp_path / "repositories.yaml"
    entry = "\nrepositories:\n  api: {address: https://git.example/team/api.git, readers: [host]}\n"
    for hosts, told in (
        ("", "`hosts` does not describe"),
        ("hosts: {git.example: {kind: gitlab}}", "`api` is missing"),
        ("hosts: {git.example: {kind: gitlab, api: 'http://git.example/api'}}", "is no URL"),
        ("hosts: {git.example: {kind: svn, api: 'https://git.example'}}", "can't be used"),
    ):
        file.write_text(hosts + entry)
        with pytest.raises(CatalogueError, match=told):
            Catalogue(file, tmp_path).entries()


def test_an_address_tells_its_project() -> None:
    for address in (
        "https://git.example/Team/api.git",
        "ssh://git@git.example:2222/team/api",
        "git@git.example:team/api.git",
    ):
        assert str(project_of(address)) == "git.example/team/api"
    assert str(project_of("https://git.example/a/b/c")) == "git.example/a/b/c"
    for address in ("file:///srv/api", "https://git.example/api", "https://git.example/team/../api"):
        assert project_of(address) is None
