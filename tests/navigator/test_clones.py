"""Clones of named repositories: what is fetched, what is refused, and that readers see no half of it."""

from __future__ import annotations

import functools
import http.server
import os
import random
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from navigator.settings import NavigatorSettings
from navigator.workspaces.catalogue import Catalogue, CatalogueError, RepositoryEntry, new_entry
from navigator.workspaces.clones import Synced, kept, sync
from navigator.workspaces.places import Places
from navigator.workspaces.repository_address import Source, write_address
from repo_map.errors import RepositoryNotFoundError
from repo_map.index import RepoIndex, build_index
from repo_map.indexing.store import Store
from repo_map.worktree import fetching
from tests.support.trees import commit, git


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A repository with two branches, a tag on each, and `main` as its HEAD."""
    root = tmp_path / "origin"
    root.mkdir()
    commit(root, {"main.py": "def on_main(): ...\n"})
    git(root, "tag", "v1")
    git(root, "checkout", "-q", "-b", "secret")
    commit(root, {"secret.py": "def on_secret(): ...\n"})
    git(root, "tag", "hidden")
    git(root, "checkout", "-q", "main")
    return root


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    return Catalogue(tmp_path / "etc" / "repositories.yaml", tmp_path / "data")


def synced(catalogue: Catalogue, names: Sequence[str] = ()) -> dict[str, Synced]:
    found: list[Synced] = []
    is_whole = sync(catalogue, names, found.append)
    assert is_whole == all(not each.failed for each in found)
    return {each.name: each for each in found}


def opened(catalogue: Catalogue, name: str, ref: str = "") -> RepoIndex:
    settings = NavigatorSettings(repositories=catalogue.file, data_dir=catalogue.clones.parent)
    place = Places(settings).of(write_address([Source(name=name, ref=ref)]))
    return build_index(place, store=Store(None), workers=1)


def test_a_repository_is_fetched_and_read_at_any_commit_without_a_work_tree(
    catalogue: Catalogue, origin: Path
) -> None:
    catalogue.add("api", RepositoryEntry(address=origin.as_uri()))
    assert [each.head for each in kept(catalogue)] == [""]
    assert synced(catalogue)["api"].head.startswith("main ")
    assert opened(catalogue, "api").paths == ("main.py",)
    assert opened(catalogue, "api", "secret").paths == ("main.py", "secret.py")
    assert opened(catalogue, "api", "v1").paths == ("main.py",)
    clone, _ = catalogue.clone_of("api")
    assert sorted(each.name for each in clone.iterdir()) == [".git", "summary"]
    assert not (clone / ".git" / "hooks").exists()
    assert [each.head for each in kept(catalogue)] == [synced(catalogue)["api"].head]


def test_a_fetch_brings_what_is_new_and_drops_what_is_gone(catalogue: Catalogue, origin: Path) -> None:
    catalogue.add("api", RepositoryEntry(address=origin.as_uri()))
    synced(catalogue)
    before = opened(catalogue, "api")
    commit(origin, {"new.py": "def new(): ...\n"})
    git(origin, "branch", "-q", "-D", "secret")
    git(origin, "tag", "-d", "hidden")
    git(origin, "branch", "-q", "-m", "main", "trunk")
    assert synced(catalogue)["api"].head.startswith("trunk ")
    assert before.refresh().paths == ("main.py", "new.py")
    for gone in ("secret", "hidden", "main"):
        with pytest.raises(RepositoryNotFoundError, match=f"No commit is called `{gone}` in `api`"):
            opened(catalogue, "api", gone)


def test_a_commit_that_no_branch_and_no_tag_has_any_more_is_gone(catalogue: Catalogue, origin: Path) -> None:
    catalogue.add("api", RepositoryEntry(address=origin.as_uri()))
    synced(catalogue)
    hidden = git(origin, "rev-parse", "hidden").strip()
    assert "secret.py" in opened(catalogue, "api", hidden).paths
    git(origin, "branch", "-q", "-D", "secret")
    git(origin, "tag", "-d", "hidden")
    synced(catalogue)
    for ref in (hidden, hidden[:10], f"{hidden}~0"):
        with pytest.raises(RepositoryNotFoundError, match="No commit is called"):
            opened(catalogue, "api", ref)


def test_only_the_branches_that_are_named_are_fetched_and_kept(catalogue: Catalogue, origin: Path) -> None:
    for name in ("release/1", "release/2/x"):
        git(origin, "branch", name, "v1")
    catalogue.add("all", RepositoryEntry(address=origin.as_uri()))
    catalogue.add("some", RepositoryEntry(address=origin.as_uri(), branches=("main", "release/*")))
    synced(catalogue)
    for name in ("release/1", "release/2/x"):
        assert opened(catalogue, "some", name).paths == ("main.py",)
    for ref in ("secret", "hidden"):
        with pytest.raises(RepositoryNotFoundError, match="No commit is called"):
            opened(catalogue, "some", ref)
    text = catalogue.file.read_text("utf-8")
    assert "secret.py" in opened(catalogue, "all", "hidden").paths
    catalogue.file.write_text(text.replace("  all:\n", "  all:\n    branches: [main]\n"))
    # What the list does not mean any more is gone at once, and from the disk with the next fetch.
    for _ in range(2):
        for ref in ("secret", "hidden"):
            with pytest.raises(RepositoryNotFoundError, match="No commit is called"):
                opened(catalogue, "all", ref)
        assert opened(catalogue, "all", "v1").paths == ("main.py",)
        synced(catalogue)


def test_one_that_fails_keeps_what_it_had_and_the_others_are_fetched(
    catalogue: Catalogue, origin: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    commit(other, {"other.py": "x = 1\n"})
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    catalogue.add("api", RepositoryEntry(address=origin.as_uri()))
    synced(catalogue)
    catalogue.add("other", RepositoryEntry(address=other.as_uri()))
    catalogue.add("empty", RepositoryEntry(address=empty.as_uri()))
    catalogue.add("none", RepositoryEntry(address=(tmp_path / "none").as_uri()))
    catalogue.add("branch", RepositoryEntry(address=other.as_uri(), branches=("nope",)))
    origin.rename(tmp_path / "moved")
    done = synced(catalogue)
    assert list(done) == ["api", "other", "empty", "none", "branch"]
    assert [name for name, each in done.items() if not each.failed] == ["other"]
    assert "does not appear to be a git repository" in done["api"].failed
    assert "names no branch as its HEAD" in done["empty"].failed
    assert "nope" in done["branch"].failed
    assert opened(catalogue, "api").paths == ("main.py",)
    assert sorted(each.name for each in catalogue.clones.iterdir()) == ["api", "other"]
    with pytest.raises(RepositoryNotFoundError, match="`none` was not fetched yet"):
        opened(catalogue, "none")
    with pytest.raises(RepositoryNotFoundError, match="No repository is called `nobody`"):
        synced(catalogue, ["nobody"])


def test_a_fetch_that_does_not_end_in_time_is_ended(catalogue: Catalogue, origin: Path) -> None:
    catalogue.add("api", RepositoryEntry(address=origin.as_uri()))
    done: list[Synced] = []
    assert not sync(catalogue, (), done.append, seconds=0.0)
    assert [each.failed for each in done] == ["it did not end in time"]
    assert list(catalogue.clones.iterdir()) == []


def test_neither_hooks_nor_programs_of_any_side_run(
    catalogue: Catalogue, origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    template = tmp_path / "template" / "hooks"
    for hooks in (template, origin / ".git" / "hooks"):
        hooks.mkdir(parents=True, exist_ok=True)
        for name in ("post-checkout", "reference-transaction", "post-merge", "pre-auto-gc", "post-update"):
            (hooks / name).write_text(f"#!/bin/sh\ntouch {ran}\n")
            (hooks / name).chmod(0o755)
    settings = tmp_path / "gitconfig"
    settings.write_text(f"[init]\n\ttemplateDir = {template.parent}\n[core]\n\thooksPath = {template}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    catalogue.add("api", RepositoryEntry(address=origin.as_uri()))
    synced(catalogue)
    assert opened(catalogue, "api").paths == ("main.py",)
    assert not ran.exists()


@pytest.fixture
def web_address(origin: Path, tmp_path: Path) -> Iterator[str]:
    """The repository over HTTP on loopback, as a plain web server gives it."""
    served = tmp_path / "served"
    git(tmp_path, "clone", "-q", "--mirror", str(origin), str(served / "api.git"))
    git(served / "api.git", "update-server-info")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that it has
            """Say nothing."""

    handler = functools.partial(Quiet, directory=str(served))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/api.git"
        server.shutdown()
        thread.join()


class Elsewhere(NamedTuple):
    """Two web servers: one that leads to the other, and what was asked of the other."""

    address: str
    leads: list[tuple[str, int, str]]
    """Where it leads: the end of a path, a status and a ``Location``."""
    asked: list[str]


@pytest.fixture
def elsewhere(origin: Path, tmp_path: Path) -> Iterator[Elsewhere]:
    served = tmp_path / "served"
    git(tmp_path, "clone", "-q", "--mirror", str(origin), str(served / "api.git"))
    git(served / "api.git", "update-server-info")
    leads: list[tuple[str, int, str]] = []
    asked: list[str] = []

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that it has
            """Say nothing."""

    class Leading(Quiet):
        def do_GET(self) -> None:
            for end, status, where in leads:
                if self.path.partition("?")[0].endswith(end):
                    self.send_response(status)
                    self.send_header("Location", where.format(path=self.path))
                    self.end_headers()
                    return
            super().do_GET()

    class Noting(Quiet):
        def do_GET(self) -> None:
            asked.append(self.path)
            super().do_GET()

        do_POST = do_GET  # noqa: N815 - the name that it has

    handlers = (functools.partial(each, directory=str(served)) for each in (Leading, Noting))
    first, second = (http.server.ThreadingHTTPServer(("127.0.0.1", 0), each) for each in handlers)
    with first, second:
        threads = [threading.Thread(target=each.serve_forever) for each in (first, second)]
        for thread in threads:
            thread.start()
        other = f"127.0.0.1:{second.server_port}"
        alternates = served / "api.git" / "objects" / "info"
        (alternates / "http-alternates").write_text(f"http://{other}/api.git/objects/\n")
        leads.append(("", 0, other))
        yield Elsewhere(f"http://127.0.0.1:{first.server_port}/api.git", leads, asked)
        for each in (first, second):
            each.shutdown()
        for thread in threads:
            thread.join()


LED = ("/info/refs", "/HEAD", "/objects/info/packs", ".pack", ".idx", "/git-upload-pack")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("where", ["http://{other}{{path}}", "//{other}{{path}}"])
def test_no_redirect_of_a_far_side_is_followed(
    catalogue: Catalogue, elsewhere: Elsewhere, origin: Path, status: int, where: str
) -> None:
    _, _, other = elsewhere.leads.pop()
    catalogue.add("api", RepositoryEntry(address=elsewhere.address))
    for end in LED:
        elsewhere.leads[:] = [(end, status, where.format(other=other))]
        synced(catalogue)
        assert elsewhere.asked == [], end
    elsewhere.leads[:] = [("/info/refs", status, where.format(other=other))]
    told = synced(catalogue)["api"].failed
    assert told == "it leads to another address, which is not followed; give that one in its place"


def test_a_repository_of_more_than_its_room_is_not_fetched_and_leaves_nothing(
    catalogue: Catalogue, origin: Path
) -> None:
    catalogue.add("api", RepositoryEntry(address=origin.as_uri()))
    assert synced(catalogue)["api"].failed == ""
    commit(origin, {"large.bin": random.Random(1).randbytes(3_000_000).hex()})
    catalogue.add("web", RepositoryEntry(address=origin.as_uri()))
    found: list[Synced] = []
    assert not sync(catalogue, (), found.append, most_bytes=1_000_000)
    for each in found:
        assert each.failed.startswith("it sends more than this server keeps of one repository (0.001 GB")
    # Not even what had come when it was ended.
    assert [path.name for path in catalogue.clones.iterdir()] == ["api"]
    assert not list(catalogue.clones.rglob("tmp_*"))
    assert "main.py" in opened(catalogue, "api").paths
    assert synced(catalogue)["web"].failed == ""


def test_a_fetch_that_was_ended_with_its_machine_keeps_no_later_one_from_its_work(
    catalogue: Catalogue, origin: Path
) -> None:
    catalogue.add("api", RepositoryEntry(address=origin.as_uri()))
    assert not synced(catalogue)["api"].failed
    clone, _ = catalogue.clone_of("api")
    long_ago = time.time() - 100_000
    for name in ("packed-refs", "HEAD", "refs/heads/main", "refs/heads/of/a/team"):
        lock = clone / ".git" / f"{name}.lock"
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
        os.utime(lock, (long_ago, long_ago))
    new = git(commit(origin, {"new.py": "def new(): ...\n"}), "rev-parse", "HEAD").strip()
    assert synced(catalogue)["api"] == Synced("api", f"main {new[:7]}")
    assert [str(lock) for lock in clone.rglob("*.lock")] == []


@pytest.mark.slow
def test_more_branches_than_are_kept_are_not_fetched_and_leave_nothing(
    catalogue: Catalogue, origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "MOST_FILES", 1_000)
    catalogue.add("api", RepositoryEntry(address=origin.as_uri()))
    before = synced(catalogue)["api"]
    clone, _ = catalogue.clone_of("api")
    files = sorted(clone.rglob("*"))
    head = git(origin, "rev-parse", "HEAD").strip()
    packed = "".join(f"{head} refs/heads/many/{number}\n" for number in range(60_000))
    (origin / ".git/packed-refs").write_text(packed)
    assert "sends more than this server keeps" in synced(catalogue)["api"].failed
    assert sorted(clone.rglob("*")) == files
    (origin / ".git/packed-refs").unlink()
    assert synced(catalogue)["api"].head == before.head


@pytest.mark.parametrize("address", ["file:///etc/passwd", "file:///etc", "file:///none/of/it", "file:///"])
def test_what_is_no_repository_of_this_machine_is_not_added(address: str) -> None:
    with pytest.raises(CatalogueError, match="there is no git repository in that folder"):
        new_entry(address, (), ())


def test_a_repository_is_fetched_over_http_too(catalogue: Catalogue, web_address: str) -> None:
    catalogue.add("api", RepositoryEntry(address=web_address))
    catalogue.add("missing", RepositoryEntry(address=web_address.replace("api", "nothing")))
    done = synced(catalogue)
    assert not done["api"].failed
    assert "not found" in done["missing"].failed
    assert "secret.py" in opened(catalogue, "api", "secret").paths


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("ext::sh -c id", "only https, ssh and file"),
        ("--upload-pack=id", "only https, ssh and file"),
        ("/srv/api.git", "only https, ssh and file"),
        ("git://host/api.git", "only https, ssh and file"),
        ("http://host/api.git", "only https, ssh and file"),
        ("fd::3", "only https, ssh and file"),
        ("https://alice:hunter2-hunter2@host/api.git", "it holds credentials"),
        ("https://ghp_1234567890@host/api.git", "it holds credentials"),
        ("ssh://-oProxyCommand=id/x", "it is no URL"),
        ("https://host/a b", "it is no URL"),
        ("https://[/", "it is no URL"),
        ("https://host", "it names no repository"),
        ("file://host/api.git", "it names no repository"),
    ],
)
def test_an_address_that_is_not_fetched_from_is_refused_and_not_repeated(address: str, why: str) -> None:
    with pytest.raises(CatalogueError) as refused:
        new_entry(address, (), ())
    assert why in str(refused.value)
    assert "hunter2" not in str(refused.value)
    assert "ghp_" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    ["https://host/api.git", "ssh://git@host:22/api.git", "git@host:team/api.git", "file:///{origin}"],
)
def test_an_address_that_is_fetched_from_is_taken(address: str, origin: Path) -> None:
    address = address.format(origin=origin.as_posix().lstrip("/"))
    assert new_entry(address, ("main", "v*"), ("*",)).address == address


@pytest.mark.parametrize("branches", [("*",), ("--x",), ("a..b",), ("main", "a*b*"), ("main", ""), ("a:b",)])
def test_a_branch_that_git_could_misread_is_refused(branches: tuple[str, ...]) -> None:
    with pytest.raises(CatalogueError, match="can't be used"):
        new_entry("https://host/api.git", branches, ())


@pytest.mark.parametrize("name", ["", "a/b", "..", ".git", "-x", "a.git", "a@b", "a b", "x" * 200])
def test_a_name_that_is_no_plain_name_is_refused(catalogue: Catalogue, name: str) -> None:
    with pytest.raises(CatalogueError, match="is not a valid name of a repository"):
        catalogue.add(name, RepositoryEntry(address="https://host/api.git"))
    assert not catalogue.file.exists()


def test_what_is_added_leaves_what_stands_there_as_it_is(catalogue: Catalogue) -> None:
    catalogue.file.parent.mkdir()
    text = (
        "# Ours.\nrepositories:\n  api: # the first\n    address: https://host/api.git\n    readers: ['*']\n"
    )
    catalogue.file.write_text(text)
    catalogue.add("web", RepositoryEntry(address="https://host/web.git", readers=("*",)))
    assert catalogue.file.read_text().startswith(text)
    assert list(catalogue.entries()) == ["api", "web"]
    with pytest.raises(CatalogueError, match="`web` is in"):
        catalogue.add("web", RepositoryEntry(address="https://host/other.git"))
    catalogue.file.write_text("repositories: {}\nother: 1\n")
    with pytest.raises(CatalogueError, match="can't be used, at `other`"):
        catalogue.entries()
    catalogue.file.write_text("repositories: {a: {address: 'https://host/a.git'}}\n")
    with pytest.raises(CatalogueError, match="add it by hand: "):
        catalogue.add("b", RepositoryEntry(address="https://host/b.git"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("repositories: [", "at `its top`: it is not well-formed YAML"),
        (
            "repositories:\n  api:\n    address: https://u:hunter2@host/x\n",
            "at `repositories.api.address`: it holds",
        ),
        ("repositories:\n  a/b:\n    address: https://host/x\n", "is not a valid name of a repository"),
        ("repositories:\n  api:\n    adress: https://host/x\n", "at `repositories.api.address`"),
        ("- a\n", "at `its top`"),
    ],
)
def test_a_file_that_is_not_well_formed_is_told_by_place(catalogue: Catalogue, text: str, told: str) -> None:
    catalogue.file.parent.mkdir()
    catalogue.file.write_text(text)
    with pytest.raises(CatalogueError) as refused:
        catalogue.entries()
    assert told in str(refused.value)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("reader", ["alice", "User:alice", "users:alice", "user:", "group: ", ":x", "*x"])
def test_a_reader_who_may_be_a_user_or_a_group_is_refused_with_how_to_write_it(reader: str) -> None:
    with pytest.raises(CatalogueError, match="says neither user nor group; write `user:"):
        new_entry("https://host/api.git", (), (reader,))


@pytest.mark.parametrize(
    ("readers", "admitted"),
    [
        ((), {}),
        (("*",), {"alice": True, "bob": True}),
        (("user:alice",), {"alice": True}),
        (("group:backend",), {"bob": True}),
        (("user:Alice", "user:ali", "group:back"), {}),
        # Who may name a group at the provider names nobody's.
        (("user:backend", "group:alice"), {}),
        (("user:bob", "group:frontend"), {"bob": True}),
        (("user:group:backend", "group:user:alice"), {}),
    ],
)
def test_readers_are_principals_groups_or_everybody(
    readers: tuple[str, ...], admitted: Mapping[str, bool]
) -> None:
    entry = RepositoryEntry(address="https://host/api.git", readers=readers)
    groups = {"alice": frozenset[str](), "bob": frozenset({"backend"})}
    assert {who: True for who, of in groups.items() if entry.admits(who, of)} == admitted


def test_git_itself_finds_nothing_wrong_with_a_clone(catalogue: Catalogue, origin: Path) -> None:
    catalogue.add("api", RepositoryEntry(address=origin.as_uri()))
    synced(catalogue)
    checked = subprocess.run(
        ["git", "-C", str(catalogue.clone_of("api")[0]), "fsck", "--strict"], capture_output=True, check=True
    )
    assert b"error" not in checked.stderr
