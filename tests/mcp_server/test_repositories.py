"""Repositories by name: which a call is about, who may read them, and that nobody else learns of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import PromptReference

from mcp_server.app import build_server
from mcp_server.settings import Settings
from mcp_server.tenancy.principal import Principal
from mcp_server.tenancy.repository_access import RepositoryAccess
from navigator.workspaces.catalogue import Catalogue, CatalogueError, RepositoryEntry
from navigator.workspaces.clones import sync
from navigator.workspaces.repository_address import Source, read_address
from repo_map.errors import RepositoryNotFoundError
from repo_navigator.main import main
from tests.mcp_server.test_http import ALICE, BOB, Served, answer, as_principal
from tests.support.maps import HEADER
from tests.support.trees import commit, git, write

pytestmark = pytest.mark.anyio

GOAL = "The discount on an apple is wrong in the receipt"
PRICES = "def discount(item: str) -> int:\n    return 5 if item == 'apple' else 0\n"
RECEIPT = "export function receipt(discount: number): string {\n  return `minus ${discount}`\n}\n"


@pytest.fixture
def repositories(tmp_path: Path) -> Path:
    """A file of three repositories, fetched: `api` for alice, `web` for everybody, `vault` for nobody."""
    file = tmp_path / "repositories.yaml"
    catalogue = Catalogue(file, tmp_path / "data")
    for name, files, readers in (
        ("api", {"prices.py": PRICES}, ("user:alice", "group:backend")),
        ("web", {"receipt.ts": RECEIPT}, ("*",)),
        ("vault", {"vault.py": "def open_vault(): ...\n"}, ()),
    ):
        origin = tmp_path / "origins" / name
        origin.mkdir(parents=True)
        commit(origin, files)
        git(origin, "tag", "v1")
        catalogue.add(name, RepositoryEntry(address=origin.as_uri(), readers=readers))
    assert sync(catalogue, (), lambda _done: None)
    return file


@pytest.fixture
def access(repositories: Path, tmp_path: Path) -> Callable[..., RepositoryAccess]:
    def made(*allowed: Path) -> RepositoryAccess:
        return RepositoryAccess(Settings(repositories=repositories, data_dir=tmp_path / "data"), allowed)

    return made


LOCAL = Principal()
FORMS = ("{}", "{}@v1", "{}@nothing", "{clones}/{}", "{clones}/{}@HEAD", "{clones}/{}/.git")
WHO = {
    "alice": Principal("alice"),
    "bob": Principal("bob", groups=frozenset({"backend"})),
    "eve": Principal("eve"),
}


def test_a_name_means_the_repository_for_who_may_read_it(
    access: Callable[..., RepositoryAccess], tmp_path: Path
) -> None:
    for principal in (LOCAL, WHO["alice"], WHO["bob"]):
        chosen = access().choose(["api@v1", "web"], (), tmp_path, principal)
        assert read_address(chosen) == (Source(name="api", ref="v1"), Source(name="web"))
    assert access().names(LOCAL) == ["api", "web", "vault"]
    assert access().names(WHO["bob"]) == ["api", "web"]
    assert access().names(WHO["eve"]) == ["web"]


@pytest.mark.parametrize("has_allow_list", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_what_is_not_the_callers_is_answered_like_what_is_not_there(
    access: Callable[..., RepositoryAccess], tmp_path: Path, form: str, has_allow_list: bool
) -> None:
    allowed = (tmp_path,) if has_allow_list else ()
    answers = []
    for name in ("vault", "ghost"):
        named = form.format(name, clones=tmp_path / "data/repositories")
        for asked in (named, ["web", named]):
            with pytest.raises(RepositoryNotFoundError) as refused:
                access(*allowed).choose(asked, (), tmp_path, WHO["eve"])
            answers.append(str(refused.value).replace(name, "NAME"))
    assert len(set(answers)) == 1


def test_who_comes_with_a_token_names_folders_only_where_an_allow_list_does(
    access: Callable[..., RepositoryAccess], tmp_path: Path
) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    for named in (str(folder), "plain", None):
        with pytest.raises(RepositoryNotFoundError, match="name one of `web` as `repo_path`"):
            access().choose(named, (folder,), folder, WHO["eve"])
    assert access().choose(str(folder), (), tmp_path, LOCAL) == str(folder)
    assert access(folder).choose(str(folder), (), tmp_path, WHO["eve"]) == str(folder)
    with pytest.raises(RepositoryNotFoundError):
        access(folder).require(str(tmp_path), WHO["eve"])


def test_a_folder_a_commit_in_it_and_several_folders_are_told_apart(tmp_path: Path) -> None:
    access = RepositoryAccess(Settings(data_dir=tmp_path / "data"), ())
    for name in ("shop", "shop@home", "other"):
        (tmp_path / name).mkdir()
    for named, sources in {
        "shop": [Source(folder=f"{tmp_path}/shop")],
        "shop@home": [Source(folder=f"{tmp_path}/shop@home")],
        "shop@v1": [Source(folder=f"{tmp_path}/shop", ref="v1")],
        "shop@home@v1": [Source(folder=f"{tmp_path}/shop@home", ref="v1")],
        "shop@team@v1": [Source(folder=f"{tmp_path}/shop", ref="team@v1")],
        ".@v1": [Source(folder=str(tmp_path), ref="v1")],
        "@v1": [Source(folder=str(tmp_path), ref="v1")],
        f"file://{tmp_path}/shop@v1": [Source(folder=f"{tmp_path}/shop", ref="v1")],
    }.items():
        assert list(read_address(access.choose(named, (), tmp_path, LOCAL))) == sources
        both = read_address(access.choose([named, "other"], (), tmp_path, LOCAL))
        assert list(both) == [*sources, Source(folder=f"{tmp_path}/other")]
    with pytest.raises(RepositoryNotFoundError, match="There is no folder at"):
        access.choose("missing@v1", (), tmp_path, LOCAL)
    with pytest.raises(RepositoryNotFoundError, match="21 repositories are named"):
        access.choose(["shop"] * 21, (), tmp_path, LOCAL)


def test_all_folders_that_the_host_has_open_are_one_question(tmp_path: Path) -> None:
    access = RepositoryAccess(Settings(data_dir=tmp_path / "data"), ())
    for name in ("a", "a/inner", "b"):
        (tmp_path / name).mkdir()
    roots = [tmp_path / "a", tmp_path / "a/inner", tmp_path / "b", tmp_path / "gone"]
    chosen = read_address(access.choose(None, roots, tmp_path, LOCAL))
    assert [each.folder for each in chosen] == [str(tmp_path / "a"), str(tmp_path / "b")]
    with pytest.raises(RepositoryNotFoundError, match="There is no folder"):
        access.choose(None, [tmp_path / "x", tmp_path / "y"], tmp_path, LOCAL)


BROKEN = "repositories:\n  secret-merger:\n    address: https://git.example/x.git\n    reader: [board]\n"


def test_a_slip_in_the_file_takes_nothing_away_and_tells_callers_nothing(
    repositories: Path,
    access: Callable[..., RepositoryAccess],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    served = access()
    assert served.names(WHO["alice"]) == ["api", "web"]
    assert served.fault() == ""
    before = repositories.read_text()
    repositories.write_text(before + BROKEN.partition("\n")[2])
    assert served.names(WHO["alice"]) == ["api", "web"]
    assert read_address(served.choose("api", (), tmp_path, WHO["alice"])) == (Source(name="api"),)
    assert "at `repositories.secret-merger.reader`" in served.fault()
    assert "AN EARLIER LIST IS USED, and rights" in caplog.text
    repositories.write_text(before.replace("- user:alice", "- user:carol"))
    assert served.names(WHO["alice"]) == ["web"]
    assert served.fault() == ""
    # What can't be read is no slip: nobody is served by what it once said.
    repositories.unlink()
    _refuses_everybody_by_name(served, tmp_path)
    # A server that starts with such a file knows of no earlier one.
    repositories.write_text(BROKEN)
    _refuses_everybody_by_name(access(), tmp_path)
    assert "No repository is served by name: " in caplog.text


def _refuses_everybody_by_name(served: RepositoryAccess, folder: Path) -> None:
    for named in ("api", "ghost", None, str(folder)):
        with pytest.raises(RepositoryNotFoundError) as refused:
            served.choose(named, (), folder, WHO["alice"])
        assert str(refused.value) == (
            "This server can't read its list of repositories at the moment; tell its operator, whose log "
            "says why."
        )
    with pytest.raises(CatalogueError, match=r"repositories\.yaml"):
        served.names(LOCAL)


def test_an_unknown_name_is_answered_as_a_name_where_folders_may_be_named_too(
    access: Callable[..., RepositoryAccess], tmp_path: Path
) -> None:
    allowed, stands_in = tmp_path / "origins", tmp_path / "stands" / "here"
    stands_in.mkdir(parents=True)
    for named in ("apo", "apo@v1", "vault"):
        with pytest.raises(RepositoryNotFoundError) as refused:
            access(allowed).choose(named, (), stands_in, WHO["alice"])
        assert str(refused.value) == (
            f"No repository is called `{named}`; name one of `api`, `web` as `repo_path`."
        )
    for named in ("../elsewhere", "./apo", "a/b", "/etc", "~/apo"):
        with pytest.raises(RepositoryNotFoundError) as refused:
            access(allowed).choose(named, (), stands_in, WHO["alice"])
        assert str(refused.value).startswith(f"`{named}` lies outside the folders that you may name here")
        assert "stands" not in str(refused.value)
        assert "--allow" not in str(refused.value)
    # The allowed folder holds several repositories, and is none.
    with pytest.raises(RepositoryNotFoundError, match="No repository is named; name one of `api`, `web`"):
        access(allowed).choose(None, (), stands_in, WHO["alice"])
    assert access(allowed).choose(str(allowed / "web"), (), stands_in, WHO["eve"]) == str(allowed / "web")


async def test_the_audit_names_repositories_as_callers_do(repositories: Path, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    settings = Settings(
        repositories=repositories, data_dir=tmp_path / "data", cache_dir=tmp_path / "cache", audit=log
    )
    async with Client(build_server(settings, working_folder=tmp_path)) as client:
        for named in (
            "api",
            "api@v1",
            ["api", "web@v1"],
            "api@nothing",
            "ghost",
            str(tmp_path / "origins" / "web"),
        ):
            await client.call_tool("navigate", {"goal": GOAL, "repo_path": named})
        await client.call_tool("get_turn_report", {})
    told = [(line["repository"], line["outcome"]) for line in map(json.loads, log.read_text().splitlines())]
    assert told == [
        ("api", "ok"),
        ("api@v1", "ok"),
        (["api", "web@v1"], "ok"),
        ("api", "repository_not_found"),
        (None, "repository_not_found"),
        (str(tmp_path / "origins" / "web"), "ok"),
        (str(tmp_path / "origins" / "web"), "ok"),
    ]


async def test_one_call_is_about_several_repositories(repositories: Path, tmp_path: Path, era: str) -> None:
    settings = Settings(repositories=repositories, data_dir=tmp_path / "data", cache_dir=tmp_path / "cache")
    async with Client(build_server(settings, working_folder=tmp_path), mode=era) as client:
        found = answer(await client.call_tool("navigate", {"goal": GOAL, "repo_path": ["api@v1", "web"]}))
        assert "api/prices.py" in found["context"]
        assert "web/receipt.ts" in found["context"]
        stepped = answer(await client.call_tool("step", {"feedback": "drop web/"}))
        assert stepped["navigation_id"] == found["navigation_id"]
        whole = answer(await client.call_tool("get_context", {}))
        assert "receipt.ts" not in whole["context_string"]
        listed = json.loads((await client.read_resource("navigator://navigations")).contents[0].text)
        assert listed[0]["repo_path"] == "api@v1, web"
        # A string is one repository.
        one = answer(await client.call_tool("navigate", {"goal": GOAL, "repo_path": "api"}))
        assert f"{HEADER} prices.py" in one["context"]
        prompt = PromptReference(name="find_code")
        completed = await client.complete(prompt, {"name": "repo_path", "value": "v"})
        assert completed.completion.values == ["vault"]


@pytest.mark.slow
async def test_over_http_nobody_learns_of_what_is_not_theirs(
    repositories: Path, tmp_path: Path, era: str
) -> None:
    tokens = f"alice:{ALICE},bob:{BOB}"
    names = {"REPO_NAVIGATOR_HTTP_TOKENS": tokens, "REPO_NAVIGATOR_REPOSITORIES": str(repositories)}
    places = {"REPO_NAVIGATOR_DATA": str(tmp_path / "data"), "REPO_NAVIGATOR_CACHE": str(tmp_path / "cache")}
    served = Served(tmp_path, **names, **places)
    told: list[object] = []

    async def hear(*progress: object) -> None:
        told.append(progress)

    try:
        async with as_principal(served, BOB, era) as bob, as_principal(served, ALICE, era) as alice:
            answers: dict[str, list[Any]] = {}
            for name in ("api", "vault", "ghost"):
                for named in (name, f"{name}@v1", [name, "web"], f"{tmp_path}/data/repositories/{name}"):
                    asked = {"goal": GOAL, "repo_path": named}
                    refused = await bob.call_tool("navigate", asked, progress_callback=hear)
                    assert refused.is_error
                    answers.setdefault(name, []).append(str(refused.content).replace(name, "NAME"))
                prompt = PromptReference(name="find_code")
                completed = await bob.complete(prompt, {"name": "repo_path", "value": name})
                answers[name].append(completed.completion.values)
            assert answers["api"] == answers["vault"] == answers["ghost"]
            assert told == []
            hers = answer(await alice.call_tool("navigate", {"goal": GOAL, "repo_path": ["api", "web"]}))
            his = answer(await bob.call_tool("navigate", {"goal": GOAL, "repo_path": "web"}))
            assert "prices.py" in hers["context"]
            assert "receipt" in his["context"]
            # A commit of hers is none of his, by its id neither.
            head = git(tmp_path / "origins" / "api", "rev-parse", "HEAD").strip()
            stolen = await bob.call_tool("navigate", {"goal": GOAL, "repo_path": f"web@{head}"})
            assert "No commit is called" in str(stolen.content)
            # Rights are looked at in every call, whatever was opened before.
            before = repositories.read_text()  # noqa: ASYNC240 - nobody waits
            gone, gone_resources = [], []
            for text in (
                before.replace("- user:alice", "- user:carol"),
                "repositories:\n  web:" + before.partition("  web:")[2],
            ):
                repositories.write_text(text)  # noqa: ASYNC240 - as above
                meant = {"navigation_id": hers["navigation_id"]}
                for tool in ("get_context", "step", "get_turn_report"):
                    asked = meant | ({"feedback": "show prices.py"} if tool == "step" else {})
                    gone.append(str((await alice.call_tool(tool, asked)).content))
                with pytest.raises(MCPError) as refused_resource:
                    await alice.read_resource(f"navigator://{hers['navigation_id']}/context")
                gone_resources.append(str(refused_resource.value))
                # As for a navigation that is not there, and no list names it or what was asked.
                with pytest.raises(MCPError) as not_there:
                    await alice.read_resource("navigator://nav-none/context")
                assert refused_resource.value.code == not_there.value.code
                listed = str(await alice.read_resource("navigator://navigations"))
                listed += str((await alice.list_resources()).resources)
                assert hers["navigation_id"] not in listed
                assert GOAL not in listed
            assert len(set(gone)) == len(set(gone_resources)) == 1
            assert "No repository is called `api`" in gone[0]
            repositories.write_text(before)  # noqa: ASYNC240 - as above
            answer(await alice.call_tool("get_context", {"navigation_id": hers["navigation_id"]}))
    finally:
        served.stop()


@pytest.mark.slow
async def test_over_http_the_hash_of_what_is_anothers_opens_it_by_no_door(
    repositories: Path, tmp_path: Path, era: str
) -> None:
    tokens = f"alice:{ALICE},bob:{BOB}"
    names = {"REPO_NAVIGATOR_HTTP_TOKENS": tokens, "REPO_NAVIGATOR_REPOSITORIES": str(repositories)}
    places = {"REPO_NAVIGATOR_DATA": str(tmp_path / "data"), "REPO_NAVIGATOR_CACHE": str(tmp_path / "cache")}
    served = Served(tmp_path, **names, **places)
    origin = tmp_path / "origins" / "api"
    hers = [git(origin, "rev-parse", name).strip() for name in ("HEAD", "HEAD^{tree}", "HEAD:prices.py")]
    sha256 = hashlib.sha256(PRICES.encode()).hexdigest()
    try:
        async with as_principal(served, ALICE, era) as alice, as_principal(served, BOB, era) as bob:
            opened = answer(await alice.call_tool("navigate", {"goal": GOAL, "repo_path": "api"}))
            mine = answer(await bob.call_tool("navigate", {"goal": GOAL, "repo_path": "web"}))
            told = [await by_every_door(bob, mine["navigation_id"], digest) for digest in (*hers, sha256)]
            told += [await by_every_door(bob, mine["navigation_id"], "feedc0de" * 5)]
            told += [await by_every_door(bob, mine["navigation_id"], "fedcba98" * 8)]
    finally:
        served.stop()
    assert "def discount" in opened["context"]
    assert all("def discount" not in answers and "prices.py" not in answers for answers in told)
    # A commit, a tree, a file or none: the words are the same.
    assert len(set(told[:3] + told[4:5])) == 1
    assert told[3] == told[5]


async def by_every_door(client: Client, navigation: str, digest: str) -> str:
    """Ask for an object by its hash, and return all answers without the hash."""
    answers: list[object] = []
    for named in (digest, f"web@{digest}", f"@{digest}", ["web", f"web@{digest}"]):
        refused = await client.call_tool("navigate", {"goal": GOAL, "repo_path": named})
        assert refused.is_error
        answers.append(refused.content)
    for tool, arguments in (
        ("get_context", {"navigation_id": digest}),
        ("get_turn_report", {"navigation_id": digest}),
        ("step", {"navigation_id": digest, "feedback": "show prices.py"}),
        ("get_context", {"navigation_id": navigation, "cursor": digest}),
    ):
        refused = await client.call_tool(tool, arguments)
        assert refused.is_error
        answers.append(refused.content)
    for uri in (f"navigator://{digest}/context", f"navigator://{navigation}/maps/{digest}"):
        with pytest.raises(MCPError) as unread:
            await client.read_resource(uri)
        answers.append(str(unread.value))
    for name in ("repo_path", "navigation_id"):
        completed = await client.complete(PromptReference(name="find_code"), {"name": name, "value": digest})
        answers.append(completed.completion.values)
    shown = {"verbosity": [{"pattern": digest, "level": 4}], "focus": {"paths": [{"pattern": digest}]}}
    for asked in ({"feedback": f"show {digest}"}, {"updates": shown}):
        stepped = await client.call_tool("step", {"navigation_id": navigation, **asked})
        assert "def discount" not in str(stepped)
    return str(answers).replace(digest, "HASH")


async def test_a_running_server_takes_up_what_was_added_and_fetched(
    repositories: Path, tmp_path: Path
) -> None:
    settings = Settings(repositories=repositories, data_dir=tmp_path / "data", cache_dir=tmp_path / "cache")
    async with Client(build_server(settings, working_folder=tmp_path)) as client:
        asked = {"goal": "tax of a country", "repo_path": "tax"}
        assert (await client.call_tool("navigate", asked)).is_error
        origin = tmp_path / "origins" / "tax"
        origin.mkdir()
        commit(origin, {"tax.py": "def tax_of(country: str) -> int:\n    return 19\n"})
        catalogue = Catalogue(repositories, tmp_path / "data")
        catalogue.add("tax", RepositoryEntry(address=origin.as_uri()))
        unfetched = await client.call_tool("navigate", asked)
        assert "`tax` was not fetched yet" in str(unfetched.content)
        sync(catalogue, ["tax"], lambda _done: None)
        assert "return 19" in answer(await client.call_tool("navigate", asked))["context"]
        commit(origin, {"tax.py": "def tax_of(country: str) -> int:\n    return 20\n"})
        sync(catalogue, ["tax"], lambda _done: None)
        assert "return 20" in str(answer(await client.call_tool("step", {"feedback": "show tax.py"})))


def test_the_command_line_keeps_the_catalogue_and_asks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "repositories.yaml"
    for name, value in {
        "REPOSITORIES": str(file),
        "DATA": str(tmp_path / "data"),
        "CACHE": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(f"REPO_NAVIGATOR_{name}", value)
    monkeypatch.chdir(tmp_path)
    origin = tmp_path / "origin"
    origin.mkdir()
    commit(origin, {"prices.py": PRICES})
    web = write(tmp_path / "web", {"receipt.ts": RECEIPT})
    for command in ("list", "sync"):
        assert main(["repositories", command]) == 2
        assert f"There is no file of repositories at `{file}`" in capfd.readouterr().err
    added = ["repositories", "add", "api", origin.as_uri(), "--branch", "main", "--reader", "group:backend"]
    assert main(added) == 0
    assert main(["repositories", "add", "gone", "http://127.0.0.1:1/none"]) == 0
    assert main(["repositories", "add", "bad", "https://u:hunter2@host/x"]) == 2
    assert main(["repositories", "sync"]) == 1
    out, err = capfd.readouterr()
    assert "api: main " in out
    assert "gone: not fetched: " in err
    assert "hunter2" not in out + err
    assert main(["repositories", "sync", "api"]) == 0
    assert main(["repositories", "list"]) == 0
    out, _ = capfd.readouterr()
    assert "gone  never fetched" in out
    assert "readers group:backend" in out
    plan = tmp_path / "plan.yaml"
    flown = ["navigate", "api@main", GOAL, "--with", str(web), "--save-plan", str(plan)]
    assert main(flown) == 0
    context, _ = capfd.readouterr()
    assert "api/prices.py" in context
    assert "web/receipt.ts" in context
    assert main(["replay", str(plan), "api@main", "--with", str(web)]) == 0
    again, told = capfd.readouterr()
    assert again == context
    assert "Nothing changed since the plan was made." in told
    monkeypatch.delenv("REPO_NAVIGATOR_REPOSITORIES")
    assert main(["repositories", "list"]) == 2
    assert "set REPO_NAVIGATOR_REPOSITORIES" in capfd.readouterr().err
