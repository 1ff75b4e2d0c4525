"""A commit without a work tree, and several repositories as one: navigated as a folder is."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from navigator.errors import InvalidArgumentError
from navigator.navigator import Navigator
from navigator.settings import NavigationRequest
from navigator.state.reports import NavigatorOutput
from navigator.workspaces.address import Source, address_title, read_address, write_address
from repo_map.errors import RepositoryNotFoundError
from repo_map.index.build import build_index, refresh_index
from repo_map.index.store import Store
from repo_map.outline.replay import replay
from repo_map.plan.yaml import parse_plan
from repo_map.sources.commits import CommitSource
from repo_map.sources.source import FolderSource, combine, folder_source
from tests.navigator.conftest import FILES, MakeNavigator
from tests.support.trees import commit, git, tables_digest

pytestmark = pytest.mark.anyio

GOAL = "Login must fail once the session token has expired"
SECRET = "hq7Zt2vL" + "x93Wmpd5"
CLIENT = {
    "src/session.ts": (
        "/** Keeps the session token that the login returned. */\n"
        "export class SessionStore {\n"
        "  token = ''\n"
        "\n"
        "  /** Log in again once the session token has expired. */\n"
        "  renewExpiredToken(login: (user: string) => string, user: string): string {\n"
        "    this.token = login(user)\n"
        "    return this.token\n"
        "  }\n"
        "}\n"
    ),
    "src/prices.ts": "export function price(amount: number): string {\n  return amount.toFixed(2)\n}\n",
}


@pytest.fixture
def api(tmp_path: Path) -> Path:
    """A repository of three commits; `v1` is the second of them, and the work tree is far from it."""
    root = tmp_path / "api"
    root.mkdir()
    commit(root, {path: text.lstrip("\n") for path, text in FILES.items()}, message="Begin the shop")
    tokens = (root / "src/auth/tokens.py").read_text("utf-8")
    commit(
        root,
        {"src/auth/tokens.py": tokens.replace("3600", "1800")},
        message="Let session tokens expire sooner",
    )
    git(root, "tag", "v1")
    git(root, "rm", "-q", "src/auth/tokens.py")
    commit(root, {"src/auth/sessions.py": "def session_expired(): ...\n"}, message="Throw tokens away")
    return root


@pytest.fixture
def web(tmp_path: Path) -> Path:
    root = tmp_path / "web"
    root.mkdir()
    return commit(root, CLIENT, message="Renew the session token once it has expired")


async def run(
    navigator: Navigator, place: Path | str | Sequence[Source], goal: str = GOAL, **asked: object
) -> tuple[str, NavigatorOutput]:
    address = place if isinstance(place, Path | str) else write_address(place)
    request = NavigationRequest(goal=goal, repo_path=address, **asked)  # type: ignore[arg-type]
    navigation_id = await navigator.open(request)
    return navigation_id, await navigator.run(navigation_id)


def at(root: Path, ref: str) -> list[Source]:
    return [Source(folder=str(root), ref=ref)]


async def test_a_commit_gives_byte_for_byte_what_a_checkout_of_it_gives(
    api: Path, tmp_path: Path, make_navigator: MakeNavigator
) -> None:
    git(tmp_path, "clone", "-q", str(api), "checkout")
    git(tmp_path / "checkout", "checkout", "-q", "v1")
    navigator = make_navigator(use_cache=False)
    _, there = await run(navigator, tmp_path / "checkout")
    _, here = await run(navigator, at(api, "v1"))
    assert "expired" in here.context_string
    assert here.context_string == there.context_string
    assert here.flight_plan_yaml == there.flight_plan_yaml
    assert here.outline == there.outline
    # What past commits say is among the reasons, and no later commit is.
    assert [file.reasons for file in here.files] == [file.reasons for file in there.files]


def odd_files(root: Path) -> Path:
    """Write what a tree may hold beside source: links, binaries, secrets, a submodule, odd names."""
    files: dict[str, str | bytes] = {
        "src/app.py": "def app():\n    return 'app'\n",
        "logo.png": b"\x89PNG\0\0\0",
        "large.txt": "x" * 2_000_000,
        "large.bin": b"\0" * 2_000_000,
        ".env": "PASSWORD=hunter2\n",
        "settings.py": f"password = '{SECRET}'\n",
        "windows.py": b"def one():\r\n    return 1\r\n",
        "latin.py": b"name = '\xe9'\n",
        "line\nbreak.py": "x = 1\n",
        b"caf\xe9.py".decode("utf-8", "surrogateescape"): "x = 1\n",
        "übung.py": "def üben(): ...\n",
        "AKIA" + "IOSFODNN7EXAMPLQ.py": "x = 1\n",
        "empty.py": "",
        ".gitignore": "*.log\n",
    }
    commit(root, files)
    for name, target in {
        "inside.py": "src/app.py",
        "folder": "src",
        "outside": "../elsewhere",
        "absolute": "/etc/passwd",
        "src/up.py": "../settings.py",
        "src/far.py": "../../elsewhere.py",
        "twice": "folder/../../elsewhere",
        "dangling": "nothing",
        "loop": "loop",
        "chain": "outside",
    }.items():
        (root / name).symlink_to(target)
    (root / "kept.log").write_text("kept\n")
    git(root, "add", "-f", "kept.log")
    return commit(root, {})


def test_whatever_a_tree_holds_a_commit_lists_and_reads_it_as_a_folder_does(tmp_path: Path) -> None:
    root = odd_files(tmp_path / "odd")
    folder = build_index(root, store=Store(None), workers=1)
    read = build_index(CommitSource(root, "HEAD"), store=Store(None), workers=1)
    assert read.paths == folder.paths
    assert read.problems == folder.problems
    assert read.fingerprint == folder.fingerprint
    assert tables_digest(read) == tables_digest(folder)
    everything = range(len(folder))
    for file in everything:
        assert read.sources.content(file) == folder.sources.content(file)
    text = b"".join(map(read.sources.content, everything))
    assert b"hunter2" not in text
    assert SECRET.encode() not in text


def test_a_folder_within_a_repository_is_read_at_a_commit_too(api: Path) -> None:
    whole = build_index(CommitSource(api, "v1"), store=Store(None), workers=1)
    part = build_index(CommitSource(api / "src", "v1"), store=Store(None), workers=1)
    assert [f"src/{path}" for path in part.paths] == [path for path in whole.paths if path.startswith("src/")]


def test_the_files_that_a_user_lets_be_shown_are_shown_wherever_they_are(api: Path, web: Path) -> None:
    commit(api, {"fixtures/key.py": f"password = '{SECRET}'\n"})
    place = combine([CommitSource(api, "HEAD"), FolderSource(web)], ["api", "web"])
    for unmasked, is_shown in (((), False), (("fixtures/**",), True), (("api/fixtures/**",), False)):
        index = build_index(place, store=Store(None), workers=1, unmasked=unmasked)
        file = index.file_id("api/fixtures/key.py")
        assert file is not None
        assert (SECRET.encode() in index.sources.content(file)) == is_shown


async def test_one_question_over_two_repositories_finds_the_code_in_each_within_one_budget(
    api: Path, web: Path, make_navigator: MakeNavigator
) -> None:
    git(api, "checkout", "-q", "v1")
    sources = [Source(folder=str(api)), Source(folder=str(web))]
    _, found = await run(make_navigator(), sources, token_budget=1_500)
    paths = {file.path for file in found.files}
    assert {"api/src/auth/tokens.py", "web/src/session.ts"} <= paths
    assert "def token_expired" in found.context_string
    assert "renewExpiredToken" in found.context_string
    assert found.token_count <= 1_500
    # In another order, by another process's cache, the same.
    _, again = await run(make_navigator(use_cache=False), sources[::-1], token_budget=1_500)
    assert again.context_string == found.context_string
    assert again.flight_plan_yaml == found.flight_plan_yaml


async def test_a_plan_over_two_repositories_is_replayed_byte_for_byte(
    api: Path, web: Path, make_navigator: MakeNavigator
) -> None:
    sources = [*at(api, "v1"), Source(folder=str(web))]
    _, found = await run(make_navigator(), sources)
    place = combine([CommitSource(api, "v1"), folder_source(web)], ["api", "web"])
    index = build_index(place, store=Store(None), workers=1)
    drawn, drift = replay(index, parse_plan(found.flight_plan_yaml))
    assert drawn.text == found.context_string
    assert drift.same_tree
    (web / "src/session.ts").unlink()
    _, drift = replay(refresh_index(index), parse_plan(found.flight_plan_yaml))
    assert [(file.change, file.path) for file in drift.files] == [("removed", "web/src/session.ts")]


async def test_feedback_means_a_repository_by_its_name(
    api: Path, web: Path, make_navigator: MakeNavigator
) -> None:
    navigator = make_navigator()
    navigation_id, before = await run(navigator, [*at(api, "v1"), Source(folder=str(web))])
    assert any(file.path.startswith("web/") for file in before.files)
    report = await navigator.step(navigation_id, feedback="drop web/")
    assert "web/" in report.answer
    after = await navigator.context(navigation_id)
    assert after.files
    assert not any(file.path.startswith("web/") for file in after.files)


@pytest.mark.parametrize("is_united", [False, True])
async def test_a_navigation_goes_on_after_a_restart(
    api: Path, web: Path, tmp_path: Path, make_navigator: MakeNavigator, is_united: bool
) -> None:
    sources = [*at(api, "v1"), *([Source(folder=str(web))] if is_united else [])]
    first = make_navigator(data_dir=tmp_path / "data")
    navigation_id, found = await run(first, sources)
    await first.aclose()
    second = make_navigator(data_dir=tmp_path / "data")
    assert (await second.context(navigation_id)).context_string == found.context_string
    report = await second.step(navigation_id, feedback="show src/router.py")
    assert report.answer
    shown = await second.context(navigation_id)
    prefix = "api/" if is_united else ""
    assert f"{prefix}src/router.py" in {file.path for file in shown.files}
    assert "def dispatch" in shown.context_string


async def test_a_branch_that_moves_on_is_read_anew_and_a_commit_stays(
    api: Path, make_navigator: MakeNavigator
) -> None:
    navigator = make_navigator()
    head = git(api, "rev-parse", "main").strip()
    moving, _ = await run(navigator, at(api, "main"))
    staying, _ = await run(navigator, at(api, head))
    commit(api, {"src/auth/expiry.py": "def expired_login():\n    return 'late'\n"})
    for navigation_id, has_it in ((moving, True), (staying, False)):
        await navigator.step(navigation_id, feedback="show src/auth/expiry.py")
        context = await navigator.context(navigation_id)
        assert ("expired_login" in context.context_string) == has_it


async def test_what_a_change_breaks_is_told_of_commits_and_of_several_repositories(
    api: Path, web: Path, make_navigator: MakeNavigator
) -> None:
    navigator = make_navigator()
    _, of_commit = await run(navigator, at(api, "v1"), "", changes="v1~1")
    assert "src/auth/tokens.py" in {file.path for file in of_commit.files}
    with pytest.raises(InvalidArgumentError):
        await run(navigator, at(api, "v1"), "", changes="worktree")
    (web / "src/session.ts").write_text(CLIENT["src/session.ts"].replace("login(user)", "login(user + '!')"))
    both = [Source(folder=str(api)), Source(folder=str(web))]
    _, of_both = await run(navigator, both, "", changes="worktree")
    assert "web/src/session.ts" in {file.path for file in of_both.files}
    _, since = await run(navigator, both, "", changes="v1")
    assert "api/src/auth/sessions.py" in {file.path for file in since.files}


def test_repositories_of_one_name_are_told_apart(api: Path, web: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "api"
    shutil.copytree(api, other)
    two = combine([FolderSource(api), FolderSource(other)], ["api", "api"])
    assert [part.prefix for part in two.parts] == ["api/", "api-2/"]
    versions = combine([FolderSource(api), CommitSource(api, "v1"), CommitSource(api, "team/x")], ["api"] * 3)
    assert [part.prefix for part in versions.parts] == ["api/", "api@team-x/", "api@v1/"]
    assert combine([FolderSource(web), FolderSource(web)], ["web", "web"]) == FolderSource(web)
    with pytest.raises(RepositoryNotFoundError):
        combine([FolderSource(api / "src"), FolderSource(api)], ["src", "api"])


@pytest.mark.parametrize("ref", ["v9", "--output=x", ":/token", "README.md", "HEAD:src"])
def test_what_names_no_commit_is_refused(api: Path, ref: str) -> None:
    with pytest.raises(RepositoryNotFoundError):
        build_index(CommitSource(api, ref), store=Store(None))


def test_a_folder_that_a_commit_has_not_and_one_without_git_are_told(api: Path, tmp_path: Path) -> None:
    new = api / "new"
    new.mkdir()
    with pytest.raises(RepositoryNotFoundError, match="new/"):
        build_index(CommitSource(new, "v1"), store=Store(None))
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(RepositoryNotFoundError):
        build_index(CommitSource(plain, "v1"), store=Store(None))


@pytest.mark.parametrize(
    "sources",
    [
        [Source(folder="/a b/ü@x")],
        [Source(folder="/a", ref="feature/x")],
        [Source("/api", "api"), Source("/api", "api", "v1"), Source(folder="/a\n'\"[")],
    ],
)
def test_an_address_is_read_as_it_was_written(sources: list[Source]) -> None:
    text = write_address(sources)
    assert list(read_address(text)) == sources
    assert address_title(text) == ", ".join(each.title for each in sources)


@pytest.mark.parametrize("text", ["repositories:", "repositories:[]", "repositories:[[1]]", "repositories:{"])
def test_what_only_looks_like_an_address_is_a_folder(text: str) -> None:
    assert read_address(text) == (Source(folder=text),)
