"""Repositories by name: which a call is about, who may read them, and that others learn nothing of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError

from mcp_server.app import build_server
from mcp_server.repositories import RepositoryAccess, Root
from mcp_server.settings import Settings, SettingsError
from navigator.settings import LOCAL_USER
from navigator.workspaces.address import Source, read_address
from repo_map.errors import RepositoryNotFoundError
from repo_navigator.main import main
from tests.mcp_server.conftest import both_eras
from tests.mcp_server.test_http import ALICE, BOB, Served, as_principal, token_file
from tests.support.maps import HEADER
from tests.support.results import object_of
from tests.support.trees import commit, git, write

pytestmark = pytest.mark.anyio

GOAL = "The discount on an apple is wrong in the receipt"
PRICES = "def discount(item: str) -> int:\n    return 5 if item == 'apple' else 0\n"
RECEIPT = "export function receipt(discount: number): string {\n  return `minus ${discount}`\n}\n"


@pytest.fixture
def repositories(tmp_path: Path) -> Path:
    """A file of three repositories: `api` for alice and bob, `web` for everybody, `vault` for nobody."""
    file, entries = tmp_path / "repositories.yaml", []
    for name, files, readers in (
        ("api", {"prices.py": PRICES}, "\n  readers: [alice, bob]"),
        ("web", {"receipt.ts": RECEIPT}, ""),
        ("vault", {"vault.py": "def open_vault(): ...\n"}, "\n  readers: []"),
    ):
        folder = tmp_path / "origins" / name
        folder.mkdir(parents=True)
        commit(folder, files)
        git(folder, "tag", "v1")
        entries.append(f"- name: {name}\n  path: {folder}{readers}\n")
    file.write_text("".join(entries))
    return file


@pytest.fixture
def access(repositories: Path) -> Callable[..., RepositoryAccess]:
    return lambda *allowed: RepositoryAccess(repositories, allowed)


def test_a_name_means_the_repository_for_its_readers(
    access: Callable[..., RepositoryAccess], tmp_path: Path
) -> None:
    for user in (LOCAL_USER, "alice", "bob"):
        chosen = access().choose(["api@v1", "web"], (), tmp_path, user)
        assert [(each.name, each.ref) for each in read_address(chosen)] == [("api", "v1"), ("web", "")]
        access().require(chosen, user)
    assert [*access().readable(LOCAL_USER)] == ["api", "web", "vault"]
    assert [*access().readable("bob")] == ["api", "web"]
    assert [*access().readable("eve")] == ["web"]


def test_an_error_names_the_repositories_that_the_caller_may_read(
    access: Callable[..., RepositoryAccess], tmp_path: Path
) -> None:
    for user, readable in {"bob": ["api", "web"], "eve": ["web"]}.items():
        with pytest.raises(RepositoryNotFoundError) as caught:
            access().choose(None, (), tmp_path, user)
        assert re.findall("`(.+?)`", str(caught.value)) == [*readable, "repo_path"]
    assert "one of" not in str(caught.value)


@pytest.mark.parametrize("has_allow_list", [False, True])
@pytest.mark.parametrize("form", ["{}", "{}@v1", "{}@nothing", "{folder}", "{folder}@HEAD", "{folder}/.git"])
def test_what_is_not_the_callers_is_answered_like_what_is_not_there(
    access: Callable[..., RepositoryAccess], tmp_path: Path, form: str, has_allow_list: bool
) -> None:
    allowed = (tmp_path,) if has_allow_list else ()
    if has_allow_list and "folder" in form:
        # A folder that is not there is told as one, where folders may be named.
        named = form.format(folder=tmp_path / "origins" / "vault")
        with pytest.raises(RepositoryNotFoundError, match="No repository is called"):
            access(*allowed).choose(named, (), tmp_path, "eve")
        return
    answers = []
    for name in ("vault", "ghost"):
        named = form.format(name, folder=tmp_path / "origins" / name)
        for asked in (named, ["web", named]):
            with pytest.raises(RepositoryNotFoundError) as refused:
                access(*allowed).choose(asked, (), tmp_path, "eve")
            answers.append(str(refused.value).replace(name, "NAME"))
    assert len(set(answers)) == 1


def test_a_folder_that_holds_a_restricted_repository_is_refused(
    access: Callable[..., RepositoryAccess], tmp_path: Path
) -> None:
    origins = tmp_path / "origins"
    for folder in (origins, origins / "vault", origins / "api"):
        with pytest.raises(RepositoryNotFoundError):
            access(tmp_path).choose(str(folder), (), tmp_path, "eve")
        with pytest.raises(RepositoryNotFoundError):
            access(tmp_path).require(str(folder), "eve")
    assert access(tmp_path).choose(str(origins / "web"), (), tmp_path, "eve") == str(origins / "web")


def test_users_with_a_token_name_folders_only_where_an_allow_list_does(
    access: Callable[..., RepositoryAccess], tmp_path: Path
) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    for named in (str(folder), "plain", None):
        with pytest.raises(RepositoryNotFoundError):
            access().choose(named, (Root(folder),), folder, "eve")
    assert access().choose(str(folder), (), tmp_path) == str(folder)
    assert access(folder).choose(str(folder), (), tmp_path, "eve") == str(folder)
    with pytest.raises(RepositoryNotFoundError):
        access(folder).require(str(tmp_path), "eve")


def test_a_folder_a_commit_in_it_and_several_folders_are_told_apart(tmp_path: Path) -> None:
    access = RepositoryAccess(None, ())
    for name in ("shop", "shop@home", "other"):
        (tmp_path / name).mkdir()
    for named, sources in {
        "shop": [Source(f"{tmp_path}/shop")],
        "shop@home": [Source(f"{tmp_path}/shop@home")],
        "shop@v1": [Source(f"{tmp_path}/shop", ref="v1")],
        "shop@home@v1": [Source(f"{tmp_path}/shop@home", ref="v1")],
        "shop@team@v1": [Source(f"{tmp_path}/shop", ref="team@v1")],
        ".@v1": [Source(str(tmp_path), ref="v1")],
        "@v1": [Source(str(tmp_path), ref="v1")],
        f"file://{tmp_path}/shop@v1": [Source(f"{tmp_path}/shop", ref="v1")],
    }.items():
        assert list(read_address(access.choose(named, (), tmp_path))) == sources
        both = read_address(access.choose([named, "other"], (), tmp_path))
        assert list(both) == [*sources, Source(f"{tmp_path}/other")]
    with pytest.raises(RepositoryNotFoundError, match="There is no folder"):
        access.choose("missing@v1", (), tmp_path)
    with pytest.raises(RepositoryNotFoundError, match="21 repositories are named"):
        access.choose(["shop"] * 21, (), tmp_path)


def test_all_folders_that_the_host_has_open_are_one_question(tmp_path: Path) -> None:
    access = RepositoryAccess(None, ())
    for name in ("a", "a/inner", "b"):
        (tmp_path / name).mkdir()
    roots = [Root(tmp_path / name) for name in ("a", "a/inner", "b", "gone")]
    chosen = read_address(access.choose(None, roots, tmp_path))
    assert [each.folder for each in chosen] == [str(tmp_path / "a"), str(tmp_path / "b")]
    with pytest.raises(RepositoryNotFoundError, match="There is no folder"):
        access.choose(None, [Root(tmp_path / "x"), Root(tmp_path / "y")], tmp_path)


def test_a_changed_file_is_read_again_and_a_bad_one_changes_nothing(
    repositories: Path, access: Callable[..., RepositoryAccess], caplog: pytest.LogCaptureFixture
) -> None:
    served, before = access(), repositories.read_text()
    assert [*served.readable("alice")] == ["api", "web"]
    for broken in (before + "- name: secret-merger\n  path: x\n", "- [", "a: 1\n", None):
        if broken is None:
            repositories.unlink()
        else:
            repositories.write_text(broken)
        assert [*served.readable("alice")] == ["api", "web"]
        assert [*served.readable("alice")] == ["api", "web"]
        with pytest.raises(SettingsError):
            access()
    assert len([record for record in caplog.records if record.levelname == "ERROR"]) == 4
    repositories.write_text(before.replace("[alice, bob]", "[carol]"))
    assert [*served.readable("alice")] == ["web"]
    assert [*served.readable("carol")] == ["api", "web"]


@both_eras
async def test_one_call_is_about_several_repositories(repositories: Path, tmp_path: Path, era: str) -> None:
    settings = Settings(repositories=repositories, data_dir=tmp_path / "data", cache_dir=tmp_path / "cache")
    async with Client(build_server(settings, working_folder=tmp_path), mode=era) as client:
        found = object_of(await client.call_tool("navigate", {"goal": GOAL, "repo_path": ["api@v1", "web"]}))
        assert "api/prices.py" in found["context"]
        assert "web/receipt.ts" in found["context"]
        stepped = object_of(await client.call_tool("step", {"drop": ["web/"]}))
        assert stepped["navigation_id"] == found["navigation_id"]
        whole = object_of(await client.call_tool("get_context", {}))
        assert "receipt.ts" not in whole["context_string"]
        listed = json.loads((await client.read_resource("navigator://navigations")).contents[0].text)
        assert listed[0]["repo_path"] == "api@v1, web"
        one = object_of(await client.call_tool("navigate", {"goal": GOAL, "repo_path": "api"}))
        assert f"{HEADER} prices.py" in one["context"]


@both_eras
@pytest.mark.slow
async def test_over_http_nobody_learns_of_what_is_not_theirs(
    repositories: Path, tmp_path: Path, era: str
) -> None:
    served = Served(
        tmp_path,
        REPO_NAVIGATOR_TOKENS=token_file(tmp_path),
        REPO_NAVIGATOR_REPOSITORIES=str(repositories),
        REPO_NAVIGATOR_DATA=str(tmp_path / "data"),
        REPO_NAVIGATOR_CACHE=str(tmp_path / "cache"),
    )
    before = repositories.read_text()  # noqa: ASYNC240 - nobody waits
    hers_alone = before.replace("[alice, bob]", "[alice]")
    repositories.write_text(hers_alone)  # noqa: ASYNC240 - as above
    try:
        async with as_principal(served, BOB, era) as bob, as_principal(served, ALICE, era) as alice:
            hers = object_of(await alice.call_tool("navigate", {"goal": GOAL, "repo_path": ["api", "web"]}))
            assert "prices.py" in hers["context"]
            answers: dict[str, list[Any]] = {}
            for name in ("api", "vault", "ghost"):
                for named in (name, f"{name}@v1", [name, "web"], f"{tmp_path}/origins/{name}"):
                    refused = await bob.call_tool("navigate", {"goal": GOAL, "repo_path": named})
                    assert refused.is_error
                    answers.setdefault(name, []).append(str(refused.content).replace(name, "NAME"))
            assert answers["api"] == answers["vault"] == answers["ghost"]
            his = object_of(await bob.call_tool("navigate", {"goal": GOAL, "repo_path": "web"}))
            assert "receipt" in his["context"]
            head = git(tmp_path / "origins" / "api", "rev-parse", "HEAD").strip()
            assert (await bob.call_tool("navigate", {"goal": GOAL, "repo_path": f"web@{head}"})).is_error
            # Rights are looked at in every call, whatever was opened before.
            meant = {"navigation_id": hers["navigation_id"]}
            repositories.write_text(hers_alone.replace("[alice]", "[carol]"))  # noqa: ASYNC240 - as above
            ended = anyio.current_time() + 10
            while not (await alice.call_tool("get_turn_report", meant)).is_error:
                assert anyio.current_time() < ended
                await anyio.sleep(0.1)
            for tool in ("get_context", "step", "get_turn_report"):
                assert (await alice.call_tool(tool, meant)).is_error
            with pytest.raises(MCPError):
                await alice.read_resource(f"navigator://{hers['navigation_id']}/context")
            listed = str(await alice.read_resource("navigator://navigations"))
            listed += str((await alice.list_resources()).resources)
            assert hers["navigation_id"] not in listed
            assert GOAL not in listed
    finally:
        served.stop()


async def test_a_running_server_reads_what_was_added(repositories: Path, tmp_path: Path) -> None:
    settings = Settings(repositories=repositories, data_dir=tmp_path / "data", cache_dir=tmp_path / "cache")
    async with Client(build_server(settings, working_folder=tmp_path)) as client:
        asked = {"goal": "tax of a country", "repo_path": "tax"}
        assert (await client.call_tool("navigate", asked)).is_error
        folder = tmp_path / "origins" / "tax"
        folder.mkdir()
        commit(folder, {"tax.py": "def tax_of(country: str) -> int:\n    return 19\n"})
        with repositories.open("a") as file:
            file.write(f"- name: tax\n  path: {folder}\n")
        assert "return 19" in object_of(await client.call_tool("navigate", asked))["context"]


def test_the_command_line_knows_the_names(
    repositories: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, value in {
        "REPOSITORIES": repositories,
        "DATA": tmp_path / "data",
        "CACHE": tmp_path / "c",
    }.items():
        monkeypatch.setenv(f"REPO_NAVIGATOR_{name}", str(value))
    monkeypatch.chdir(tmp_path)
    web, plan = write(tmp_path / "web", {"receipt.ts": RECEIPT}), tmp_path / "plan.yaml"
    assert main(["navigate", "api@v1", GOAL, "--with", str(web), "--save-plan", str(plan)]) == 0
    context, _ = capfd.readouterr()
    assert "api/prices.py" in context
    assert main(["replay", str(plan), "api@v1", "--with", str(web)]) == 0
    again, _ = capfd.readouterr()
    assert again == context
