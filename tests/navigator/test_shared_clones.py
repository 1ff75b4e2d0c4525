"""Clones that servers share through a bucket: one fetches, others take, and the bucket is not believed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from navigator.stores.buckets.bucket import Bucket
from navigator.stores.buckets.opening import open_bucket
from navigator.stores.store_address import BucketAddress
from navigator.workspaces import shared_clones
from navigator.workspaces.catalogue import Catalogue
from navigator.workspaces.clones import kept, sync
from tests.support.team_stores import BUCKETS, own_bucket
from tests.support.trees import commit, git


@pytest.fixture(params=BUCKETS)
def bucket(request: pytest.FixtureRequest) -> Bucket:
    return open_bucket(own_bucket(request.param, request))


class Servers:
    """Two servers with a list of one repository, and from where each fetched."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.origin = folder / "origin"
        self.origin.mkdir()
        commit(self.origin, {"main.py": "def one(): ...\n"})
        git(self.origin, "tag", "-a", "v1", "-m", "One")
        self.fetched: list[str] = []
        fetch = shared_clones.fetch

        def noted(clone: Path, address: str, *rest: object, **more: object) -> None:
            self.fetched.append("host" if address == self.origin.as_uri() else "bundle")
            fetch(clone, address, *rest, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(shared_clones, "fetch", noted)
        self.catalogues = [Catalogue(folder / "repositories.yaml", folder / name) for name in ("one", "two")]
        self.name_branches("")

    def name_branches(self, branches: str) -> None:
        text = f"repositories:\n  api: {{address: '{self.origin.as_uri()}'{branches}}}\n"
        self.catalogues[0].file.write_text(text)

    def sync(self, server: int, bucket: Bucket) -> str:
        """Return from where a server fetched, and that its clone has what its host has."""
        self.fetched.clear()
        failed: list[str] = []
        catalogue = self.catalogues[server]
        assert sync(catalogue, (), lambda done: failed.append(done.failed), bucket=bucket), failed
        (found,) = kept(catalogue)
        assert found.head.split()[1] in git(self.origin, "rev-parse", "HEAD")
        return " ".join(self.fetched)


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Servers:
    return Servers(tmp_path, monkeypatch)


@pytest.mark.parametrize("branches", ["", ", branches: [main]"])
def test_one_server_fetches_and_the_others_take_it(servers: Servers, bucket: Bucket, branches: str) -> None:
    servers.name_branches(branches)
    assert [servers.sync(0, bucket), servers.sync(1, bucket)] == ["host", "bundle"]
    # Where the host has nothing new nobody fetches.
    assert [servers.sync(0, bucket), servers.sync(1, bucket)] == ["", ""]
    commit(servers.origin, {"main.py": "def two(): ...\n"})
    assert [servers.sync(1, bucket), servers.sync(0, bucket)] == ["host", "bundle"]
    git(servers.origin, "reset", "-q", "--hard", "HEAD~1")
    commit(servers.origin, {"main.py": "def three(): ...\n"})
    assert [servers.sync(0, bucket), servers.sync(1, bucket)] == ["host", "bundle"]


def test_a_bundle_that_is_not_what_the_host_has_changes_nothing(
    servers: Servers, bucket: Bucket, tmp_path: Path
) -> None:
    assert servers.sync(0, bucket) == "host"
    other = tmp_path / "other"
    other.mkdir()
    commit(other, {"main.py": "def planted(): ...\n"})
    git(other, "bundle", "create", "-q", str(tmp_path / "planted"), "--branches")
    (stored,) = (each.name for each in bucket.names("clones/") if each.name.endswith(".bundle"))
    for content in ((tmp_path / "planted").read_bytes(), b"no bundle"):
        bucket.write(stored, content, "application/x-git-bundle")
        assert servers.sync(1, bucket) == "host"
        subprocess.run(["rm", "-r", str(servers.catalogues[1].clones / "api")], check=True)


def test_a_bucket_that_is_gone_leaves_each_to_fetch(servers: Servers, bucket: Bucket) -> None:
    bucket.address = BucketAddress("no-such-bucket", "team/", bucket.address.storage)
    assert [servers.sync(0, bucket), servers.sync(1, bucket)] == ["host", "host"]


def test_another_server_that_fetches_is_waited_for_no_longer_than_is_sensible(
    servers: Servers, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_clones, "_PATIENCE_S", 0.05)
    monkeypatch.setattr(shared_clones, "_AGAIN_S", 0.01)
    shared = shared_clones.SharedClones(bucket)
    place = "clones/api/state"
    # The first is to fetch; another waits for it, and then fetches itself: the first may have died.
    assert shared._bundle(place) is None
    assert bucket.names(place)
    assert shared._bundle(place) is None
    bucket.write(f"{place}.bundle", b"content", "application/x-git-bundle")
    assert shared._bundle(place) == b"content"
