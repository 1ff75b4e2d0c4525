"""What servers share of what they parsed: found by those who read the same files of the same repository."""

from __future__ import annotations

import hashlib
import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from navigator.settings import NavigationRequest, NavigatorSettings
from navigator.stores.buckets.opening import open_bucket
from navigator.stores.buckets.shared_objects import BucketObjects
from navigator.stores.postgres.shared_objects import PostgresObjects
from navigator.stores.store_address import S3, BucketAddress
from navigator.workspaces.workspace import open_sharing
from repo_map.drawing.draw import draw_map
from repo_map.index import RepoIndex, build_index
from repo_map.indexing import sharing as sharing_module
from repo_map.indexing import updating
from repo_map.indexing.sealed import seal, unseal
from repo_map.indexing.shared_objects import SharedObjects, Sharing
from repo_map.indexing.snapshot import SnapshotError
from repo_map.indexing.store import Store
from repo_map.indexing.tree_manifest import Segment, TreeManifest
from repo_map.limits import Limits
from repo_map.plan.model import FlightPlan
from tests.navigator.conftest import MakeNavigator
from tests.support.secrets import KINDS
from tests.support.team_stores import BUCKETS, own_bucket, own_schema
from tests.support.trees import commit, git, tables_digest, write

BODY = "Every line of it has some words that say little.\n" * 200
FILES: dict[str, str | bytes] = {
    "app/router.py": "class Router:\n    def dispatch(self, path):\n        return self.find(path)\n",
    "app/main.py": "from app.router import Router\n\nrouter = Router()\nrouter.dispatch('/')\n",
} | {f"docs/page{number}.md": f"# Page {number}\n\n{BODY}" for number in range(6)}


@pytest.fixture(autouse=True)
def everything_is_worth_sharing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small trees be shared, but where a test has a large one."""
    if "large" not in request.node.name:
        for module in (updating, sharing_module):
            monkeypatch.setattr(module, "WORTH_SHARING_BYTES", 0)
        monkeypatch.setattr(sharing_module, "_WORTH_ASKING_BYTES", 0)


@pytest.fixture(params=[*BUCKETS, "database"])
def objects(request: pytest.FixtureRequest) -> Iterator[SharedObjects]:
    if request.param in BUCKETS:
        yield BucketObjects(open_bucket(own_bucket(request.param, request)))
        return
    with own_schema() as database:
        yield PostgresObjects(database)


@pytest.fixture(params=BUCKETS)
def bucket(request: pytest.FixtureRequest) -> BucketAddress:
    return own_bucket(request.param, request)


@pytest.fixture
def one(request: pytest.FixtureRequest) -> SharedObjects:
    """One kind of objects, for what no kind does otherwise."""
    return BucketObjects(open_bucket(own_bucket("gs", request)))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return commit(tmp_path / "tree", FILES)


def opened(
    root: Path, objects: SharedObjects | None, name: str = "", limits: Limits | None = None
) -> RepoIndex:
    """Index a tree as a server does that has never seen it: nothing is cached."""
    sharing = None if objects is None else Sharing(objects, repository=name)
    store = Store(None, limits or Limits(), sharing)
    return build_index(root, store=store, workers=1, limits=limits or Limits())


def shared(root: Path, objects: SharedObjects, name: str = "") -> RepoIndex:
    """Index a tree, and share it."""
    index = opened(root, objects, name)
    index.share()
    return index


def names(objects: SharedObjects, kind: str = "") -> list[str]:
    return sorted(each.name for each in objects.names("derived/") if kind in each.name)


def test_a_second_server_of_a_large_tree_parses_nothing_and_draws_the_same_bytes(
    tmp_path: Path, objects: SharedObjects
) -> None:
    pages: dict[str, str | bytes] = {
        f"more/page{number}.md": f"# More {number}\n{BODY * 20}" for number in range(6)
    }
    # Of a file that holds keys by its name nothing is read, so nothing has to be shared.
    tree = commit(tmp_path / "tree", FILES | pages | {"keys/server.pem": "key\n"})
    files = len(FILES) + 7
    first = shared(tree, objects)
    second, alone = opened(tree, objects), opened(tree, None)
    assert (first.parsed_files, second.parsed_files, alone.parsed_files) == (files, 0, files)
    assert tables_digest(second) == tables_digest(first) == tables_digest(alone)
    assert draw_map(second, FlightPlan()).text == draw_map(alone, FlightPlan()).text
    before = names(objects)
    assert second.share() == (0, 0, 0)
    assert names(objects) == before


def test_clones_and_work_trees_share_and_a_branch_brings_what_is_new_alone(
    tree: Path, tmp_path: Path, objects: SharedObjects
) -> None:
    shared(tree, objects)
    whole = names(objects, "/rows/")
    git(tree, "clone", "-q", str(tree), str(tmp_path / "clone"))
    assert opened(tmp_path / "clone", objects).parsed_files == 0
    git(tree, "worktree", "add", "-q", "../linked", "-b", "other")
    commit(tmp_path / "linked", {"docs/page7.md": f"# Seven\n\n{BODY}", "app/new.py": "def new(): ...\n"})
    branch = opened(tmp_path / "linked", objects)
    assert branch.parsed_files == 2
    assert branch.share().files == 2
    assert len(names(objects, "/rows/")) == len(whole) + 1
    again = opened(tmp_path / "linked", objects)
    assert again.parsed_files == 0
    assert tables_digest(again) == tables_digest(opened(tmp_path / "linked", None))


def test_another_repository_with_the_very_same_files_gets_nothing(
    tree: Path, tmp_path: Path, objects: SharedObjects
) -> None:
    shared(tree, objects)
    other = commit(tmp_path / "other", FILES, message="Another first commit")
    assert opened(other, objects).parsed_files == len(FILES)
    # Nor does a folder of it, or one that is no repository.
    plain = write(tmp_path / "plain", FILES)
    assert opened(plain, objects).parsed_files == len(FILES)
    assert opened(plain, objects).share() == (0, 0, 0)
    # Nor does who opens the same folder as a repository of another name.
    assert opened(tree, objects, "their-own").parsed_files == len(FILES)


def test_a_repository_with_a_name_shares_with_that_name_alone(tree: Path, objects: SharedObjects) -> None:
    shared(tree, objects, "payments")
    assert opened(tree, objects, "payments").parsed_files == 0
    assert opened(tree, objects, "payment").parsed_files == len(FILES)
    assert opened(tree, objects).parsed_files == len(FILES)


def test_who_names_a_blob_without_having_it_gets_nothing_of_it(
    tree: Path, tmp_path: Path, one: SharedObjects
) -> None:
    secretive = commit(tree, {"app/payroll.py": "def raise_of_the_boss(): ...\n"})
    shared(secretive, one)
    blob = git(secretive, "rev-parse", "HEAD:app/payroll.py").strip()
    # Of the same repository, as it was before: its index names the blob, and its files name it in words.
    git(tree, "clone", "-q", str(tree), str(tmp_path / "clone"))
    clone = tmp_path / "clone"
    git(clone, "reset", "-q", "--hard", "HEAD~1")
    git(clone, "update-index", "--add", "--cacheinfo", f"100644,{blob},app/payroll.py")
    digest = hashlib.sha256((secretive / "app/payroll.py").read_bytes()).hexdigest()
    write(clone, {"app/payroll.txt": f"{blob} {digest}\n", "app/pay.py": "def other(): ...\n"})
    index = opened(clone, one)
    assert index.parsed_files == 2
    assert "raise_of_the_boss" not in index.strings
    assert index.file_id("app/payroll.py") is None
    # Other bytes under the path that was shared bring rows of their own.
    write(clone, {"app/payroll.py": "def raise_of_nobody(): ...\n"})
    assert "raise_of_the_boss" not in opened(clone, one).strings


def test_a_file_with_a_secret_is_shared_neither_by_rows_nor_by_its_digest(
    tmp_path: Path, one: SharedObjects
) -> None:
    secret = next(iter(KINDS.values()))
    source = f"TOKEN = '{secret}'\n"
    tree = commit(tmp_path / "tree", FILES | {"app/settings.py": source})
    index = shared(tree, one)
    row = index.file_id("app/settings.py")
    assert row is not None
    assert index.secrets(row)
    digest = index.files.digest[row].tobytes()
    held = [one.read(name, 10**9) for name in names(one)]
    content = b"".join(unseal(each, 10**9) for each in held if each is not None)
    assert b"app/router.py" in content
    assert b"app/settings.py" not in content
    assert digest not in content
    second = opened(tree, one)
    assert second.parsed_files == 1
    assert tables_digest(second) == tables_digest(opened(tree, None))


def test_what_took_too_long_for_one_machine_is_read_by_the_others(tmp_path: Path, one: SharedObjects) -> None:
    long = "words = '" + "much " * 12_000 + "'\n"
    tree = commit(tmp_path / "tree", FILES | {"long.py": long})
    hasty = Limits(line_bytes=50_000)
    index = build_index(tree, store=Store(None, hasty, Sharing(one)), workers=1, limits=hasty)
    assert "longer than 50,000" in str(index.problems)
    index.share()
    # That a line is too long is so everywhere.
    again = build_index(tree, store=Store(None, hasty, Sharing(one)), workers=1, limits=hasty)
    assert again.problems == index.problems
    assert again.parsed_files == 0
    # Who reads with other limits shares with those who have the same.
    assert opened(tree, one, limits=Limits(line_bytes=90_000)).parsed_files == len(FILES) + 1


HARMS: dict[str, Callable[[bytes], bytes]] = {
    "flipped": lambda stored: stored[:200] + bytes([stored[200] ^ 1]) + stored[201:],
    "cut": lambda stored: stored[: len(stored) // 2],
    "empty": lambda _: b"",
    "noise": lambda stored: random.Random(1).randbytes(len(stored)),
    "pickle": lambda _: (
        b"\x80\x04\x95\x0f\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94\x8c\x06system\x94\x93\x94."
    ),
    "sealed noise": lambda _: seal(random.Random(1).randbytes(5_000)),
    "a bomb": lambda _: seal(bytes(50_000_000)),
    "a lie about its length": lambda stored: stored[:40] + bytes(7) + b"\xff" + stored[48:],
}


@pytest.mark.parametrize("harm", sorted(HARMS))
@pytest.mark.parametrize("kind", ["/trees/", "/rows/"])
def test_a_damaged_or_hostile_object_is_parsed_around(
    kind: str, harm: str, tree: Path, one: SharedObjects, caplog: pytest.LogCaptureFixture
) -> None:
    whole = shared(tree, one)
    for name in names(one, kind):
        stored = one.read(name, 10**9)
        assert stored is not None
        one.write(name, HARMS[harm](stored))
    caplog.clear()
    again = opened(tree, one)
    assert again.parsed_files == len(FILES)
    assert tables_digest(again) == tables_digest(whole)
    assert re.search(r"fails? (its|their) checks", caplog.text)


def test_columns_of_another_make_are_refused_though_seal_and_name_are_right(
    tree: Path, one: SharedObjects, caplog: pytest.LogCaptureFixture
) -> None:
    whole = shared(tree, one)
    (rows,), (tree_object,) = names(one, "/rows/"), names(one, "/trees/")
    stored, manifest = one.read(rows, 10**9), one.read(tree_object, 10**9)
    assert stored is not None
    assert manifest is not None
    columns = unseal(stored, 10**9)
    forged = columns.replace(b"dispatch", b"dis\xffatch")
    assert forged != columns
    sealed = seal(forged)
    name = hashlib.sha256(sealed).hexdigest()
    keys = TreeManifest.decode(unseal(manifest, 10**9)).keys_of(0)
    segment = Segment(name, len(sealed), len(forged), len(keys))
    one.write(rows.rpartition("/")[0] + "/" + name, sealed)
    one.write(tree_object, seal(TreeManifest([segment], keys, bytes(len(keys))).encode()))
    again = opened(tree, one)
    assert again.parsed_files == len(FILES)
    assert tables_digest(again) == tables_digest(whole)
    assert "no table of strings: strings" in caplog.text


def test_another_versions_objects_are_neither_read_nor_in_the_way(
    tree: Path, one: SharedObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared(tree, one)
    monkeypatch.setattr(sharing_module, "extractor_version", lambda: "0123456789abcdef")
    assert opened(tree, one).parsed_files == len(FILES)
    # One that was put where this version looks says of itself what made it.
    older = [name for name in names(one) if "0123456789abcdef" not in name]
    monkeypatch.undo()
    manifest = one.read(next(name for name in older if "/trees/" in name), 10**9)
    assert manifest is not None
    foreign = unseal(manifest, 10**9).replace(sharing_module.extractor_version().encode(), b"0" * 16)
    with pytest.raises(SnapshotError, match="another version"):
        TreeManifest.decode(foreign)


class GoneAfter:
    """Objects that are out of reach after so many calls."""

    def __init__(self, real: BucketObjects, gone: BucketObjects, calls: int) -> None:
        self._real, self._gone, self._left = real, gone, calls

    def __getattr__(self, name: str) -> object:
        self._left -= 1
        return getattr(self._real if self._left >= 0 else self._gone, name)


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_a_bucket_that_goes_on_the_way_costs_time_and_is_told_in_the_log(
    calls: int, tree: Path, bucket: BucketAddress, caplog: pytest.LogCaptureFixture
) -> None:
    real = BucketObjects(open_bucket(bucket))
    gone = BucketObjects(open_bucket(replace(bucket, bucket="navigations-that-are-gone")))
    whole = shared(tree, real)
    index = opened(tree, GoneAfter(real, gone, calls))  # type: ignore[arg-type]
    assert index.parsed_files == len(FILES)
    assert tables_digest(index) == tables_digest(whole)
    assert ("NoSuchBucket" if bucket.storage == S3 else "404 NotFound") in caplog.text
    caplog.clear()
    assert opened(tree, None).share() == (0, 0, 0)
    assert opened(tree, gone).share() == (0, 0, 0)
    assert "could not be shared" in caplog.text


def test_a_small_tree_is_parsed_sooner_than_asked_for(
    tree: Path, one: SharedObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing_module, "WORTH_SHARING_BYTES", 1_000_000)
    assert opened(tree, one).share() == (0, 0, 0)
    assert names(one) == []


def test_what_was_used_least_lately_goes_and_what_is_used_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees = [
        commit(tmp_path / str(n), {f"{n}/{k}.md": f"# {n} {k}\n{BODY}" for k in range(5)}) for n in range(3)
    ]
    with own_schema() as database:
        # The times of a bucket are whole seconds, too few for a test.
        objects = PostgresObjects(database)
        shared(trees[0], objects)
        size = sum(each.size for each in objects.names("derived/"))
        shared(trees[1], objects)
        # Two days later the first is still in use, and is written again; the second is not.
        later = time.time() + 2 * 86_400
        monkeypatch.setattr(sharing_module.time, "time", lambda: later)
        opened(trees[0], objects).share()
        sharing = Sharing(objects, most_bytes=int(size * 2.5))
        index = build_index(trees[2], store=Store(None, Limits(), sharing), workers=1)
        assert index.share().objects == 2
        assert sum(each.size for each in objects.names("derived/")) <= size * 2.5
        assert [opened(root, objects).parsed_files for root in trees] == [0, 5, 0]


def test_a_bucket_stays_within_its_limit(tmp_path: Path, one: SharedObjects) -> None:
    for number in range(4):
        root = commit(tmp_path / str(number), {f"{number}.md": BODY * 10}, message=f"First {number}")
        index = build_index(root, store=Store(None, Limits(), Sharing(one, most_bytes=12_000)), workers=1)
        assert index.share().files == 1
        assert sum(each.size for each in one.names("derived/")) <= 12_000


@pytest.mark.anyio
async def test_navigators_share_beside_the_answer_and_answer_alike(
    make_navigator: MakeNavigator, tree: Path, bucket: BucketAddress, tmp_path: Path
) -> None:
    maps = []
    for server in ("one", "two"):
        navigator = make_navigator(
            bucket=bucket, cache_dir=tmp_path / server, use_cache=True, share_index=True
        )
        navigation_id = await navigator.open(NavigationRequest("dispatch a path", tree))
        maps.append((await navigator.context(navigation_id)).context_string)
        workspace, _ = await navigator._workspaces.open(tree, refresh=False)
        assert workspace.index.parsed_files == (len(FILES) if server == "one" else 0)
        await navigator.aclose()
    assert maps[0] == maps[1]


def test_a_setting_turns_it_off_and_a_folder_shares_nothing(bucket: BucketAddress) -> None:
    assert open_sharing(NavigatorSettings()) is None
    assert open_sharing(NavigatorSettings(bucket=bucket, share_index=False)) is None
    sharing = open_sharing(NavigatorSettings(bucket=bucket, shared_mb=5))
    assert sharing is not None
    assert sharing.most_bytes == 5_000_000
