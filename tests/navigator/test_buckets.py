"""What a bucket must do, by every storage that one may be of, and what is told where it does not."""

from __future__ import annotations

import json
import logging
import os
import secrets
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from navigator.stores.buckets import gcs, s3
from navigator.stores.buckets.artifacts import BucketArtifacts
from navigator.stores.buckets.bucket import Bucket, BucketError
from navigator.stores.buckets.opening import open_bucket
from navigator.stores.session_values import SessionId
from navigator.stores.store_address import GCS, BucketAddress
from tests.support.cloud_storage import Account, CloudStorage
from tests.support.proxy import Proxy
from tests.support.team_stores import BUCKETS, own_bucket

TEXT = "text/plain; charset=utf-8"
BYTES = "application/octet-stream"
ENDPOINTS = {"s3": "AWS_ENDPOINT_URL_S3", "gs": "STORAGE_EMULATOR_HOST"}
CALLS: dict[str, Callable[[Bucket], object]] = {
    "names": lambda bucket: bucket.names(""),
    "read": lambda bucket: bucket.read("a"),
    "facts": lambda bucket: bucket.facts("a"),
    "write": lambda bucket: bucket.write("a", b"a", BYTES),
    "create": lambda bucket: bucket.create("a", b"a", BYTES),
    "remove": lambda bucket: bucket.remove(["a"]),
}


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once."""
    monkeypatch.setattr(gcs, "BACKING_OFF_S", 0.0)


@pytest.fixture(params=BUCKETS)
def address(request: pytest.FixtureRequest) -> BucketAddress:
    return own_bucket(request.param, request)


@pytest.fixture
def google(request: pytest.FixtureRequest) -> BucketAddress:
    return own_bucket("gs", request)


def test_objects_are_kept_listed_read_and_removed_by_name(address: BucketAddress) -> None:
    bucket = open_bucket(address)
    names = ["a/0", "a/1", "a/10", "a/%2F/..%20é/0", "a/ #?&+=/0", "b/0"]
    for number, name in enumerate(names):
        bucket.write(name, bytes(number), BYTES)
    found = bucket.names("a/")
    assert sorted((each.name, each.size) for each in found) == sorted(
        (name, number) for number, name in enumerate(names[:5])
    )
    assert sorted(each.name for each in bucket.names("a/1")) == ["a/1", "a/10"]
    assert [bucket.read(name) for name in names] == [(bytes(number), BYTES) for number in range(6)]
    bucket.write("a/0", b"anew", TEXT)
    assert bucket.read("a/0") == (b"anew", TEXT)
    facts = bucket.facts("a/0")
    assert facts is not None
    assert (facts.kind, facts.written) == (TEXT, bucket.names("a/0")[0].written)
    bucket.remove([*names[:2], "never/there"])
    assert sorted(each.name for each in bucket.names("")) == sorted(names[2:])
    assert (bucket.read("a/0"), bucket.facts("a/0")) == (None, None)


def test_who_has_one_prefix_sees_nothing_of_another(address: BucketAddress) -> None:
    ours, theirs = open_bucket(address), open_bucket(replace(address, prefix="teams/other/"))
    ours.write("a", b"ours", BYTES)
    assert (theirs.names(""), theirs.read("a"), theirs.create("a", b"theirs", BYTES)) == ([], None, True)
    theirs.remove(["a"])
    assert ours.read("a") == (b"ours", BYTES)


def test_what_is_larger_than_asked_for_is_not_read(address: BucketAddress) -> None:
    bucket = open_bucket(address)
    bucket.write("a", bytes(100_000), BYTES)
    assert bucket.read("a", 99_999) is None
    assert bucket.read("a", 100_000) == (bytes(100_000), BYTES)


def test_of_many_who_create_an_object_at_once_one_is_told_that_it_did(address: BucketAddress) -> None:
    servers = [open_bucket(address), open_bucket(address)]
    with ThreadPoolExecutor(8) as threads:
        for name in ("a", "b", "c"):
            told = list(
                threads.map(
                    lambda number, name=name: servers[number % 2].create(name, str(number).encode(), BYTES),
                    range(8),
                )
            )
            assert sum(told) == 1
            assert servers[0].read(name) == (str(told.index(True)).encode(), BYTES)


def test_a_large_object_is_whole_and_is_not_overwritten(address: BucketAddress) -> None:
    bucket = open_bucket(address)
    large = os.urandom(9_000_000)
    assert bucket.create("large", large, BYTES)
    assert not bucket.create("large", large[::-1], BYTES)
    assert bucket.read("large") == (large, BYTES)
    bucket.write("large", large[::-1], BYTES)
    assert bucket.read("large") == (large[::-1], BYTES)


@pytest.mark.parametrize("call", CALLS)
def test_a_bucket_that_is_gone_is_no_empty_bucket(call: str, address: BucketAddress) -> None:
    gone = open_bucket(replace(address, bucket="navigations-that-are-gone"))
    with pytest.raises(BucketError, match=r"^(NoSuchBucket|404|404 NotFound)$"):
        CALLS[call](gone)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("call", CALLS)
def test_a_bucket_that_does_not_answer_is_waited_for_and_then_told(
    call: str, address: BucketAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    for storage in (gcs, s3):
        monkeypatch.setattr(storage, "ANSWERING_S", 0.3)
    open_bucket(address).write("a", b"a", BYTES)
    variable = ENDPOINTS[address.storage.scheme]
    server = urlsplit(os.environ[variable])
    with Proxy(str(server.hostname), int(server.port or 0)) as proxy:
        monkeypatch.setenv(variable, f"http://127.0.0.1:{proxy.port}")
        bucket = open_bucket(address, attempts=1)
        proxy.hold_up()
        with pytest.raises(BucketError, match=r"^(ReadTimeoutError|ConnectionError|ReadTimeout)$"):
            CALLS[call](bucket)
        proxy.go_on()
        bucket.names("")
        proxy.cut()
        with pytest.raises(BucketError, match=r"^\w*(Connection|Endpoint)\w*Error$"):
            CALLS[call](bucket)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_what_passes_is_tried_again_as_often_as_was_said(
    status: int, call: str, google: BucketAddress, cloud_storage: CloudStorage
) -> None:
    open_bucket(google).write("a", b"a", BYTES)
    before = len(cloud_storage.asked)
    cloud_storage.refuse(status, status)
    CALLS[call](open_bucket(google, attempts=3))
    assert len(cloud_storage.asked) - before == 3
    cloud_storage.refuse(status, status)
    with pytest.raises(BucketError, match=rf"^{status} \w+$"):
        CALLS[call](open_bucket(google, attempts=2))
    assert len(cloud_storage.asked) - before == 5


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("status", [400, 403, 501])
def test_what_does_not_pass_is_not_tried_again(
    status: int, call: str, google: BucketAddress, cloud_storage: CloudStorage
) -> None:
    cloud_storage.refuse(status)
    with pytest.raises(BucketError, match=rf"^{status} \w+$"):
        CALLS[call](open_bucket(google))
    assert len(cloud_storage.asked) == 1


@pytest.mark.anyio
async def test_an_artifact_whose_first_answer_was_lost_is_kept_under_the_next_number(
    google: BucketAddress, cloud_storage: CloudStorage
) -> None:
    artifacts = BucketArtifacts(open_bucket(google))
    session = SessionId("a", "u", "nav-1")
    cloud_storage.lose_answers(1)
    assert await artifacts.save(session, "map.txt", "the map") == 1
    assert await artifacts.load(session, "map.txt", 1) == "the map"


def test_a_download_that_is_cut_is_gone_on_with(google: BucketAddress, cloud_storage: CloudStorage) -> None:
    bucket = open_bucket(google)
    content = os.urandom(300_000)
    bucket.write("a", content, BYTES)
    cloud_storage.cut_answers(2)
    assert bucket.read("a") == (content, BYTES)
    cloud_storage.cut_answers(3)
    with pytest.raises(BucketError):
        bucket.read("a")


def test_a_large_upload_that_is_cut_is_gone_on_with(
    google: BucketAddress, cloud_storage: CloudStorage
) -> None:
    bucket = open_bucket(google)
    content = os.urandom(9_000_000)
    cloud_storage.refuse(503)
    assert bucket.create("a", content, BYTES)
    assert bucket.read("a") == (content, BYTES)


def test_what_does_not_match_its_checksum_is_not_read(
    google: BucketAddress, cloud_storage: CloudStorage
) -> None:
    bucket = open_bucket(google)
    bucket.write("a", b"what was written", BYTES)
    cloud_storage.garble_answers(1)
    with pytest.raises(BucketError, match=r"^DataCorruption$"):
        bucket.read("a")


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        "[]",
        "{}",
        '{"type": "s3cr3t"}',
        '{"type": "service_account", "private_key": "s3cr3t"}',
        "s3cr3t",
    ],
)
def test_credentials_that_are_not_there_or_no_credentials_are_told_without_what_they_are(
    content: str | None,
    tmp_path: Path,
    cloud_storage: CloudStorage,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "none"))
    monkeypatch.setenv("API_ENDPOINT_OVERRIDE", cloud_storage.url)
    if content is not None:
        (tmp_path / "key.json").write_text(content)
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "key.json"))
    bucket = open_bucket(BucketAddress(cloud_storage.make_bucket(), "team/", GCS))
    for act in CALLS.values():
        with pytest.raises(BucketError) as caught:
            act(bucket)
        assert str(caught.value) == "no usable credentials"
    assert "s3cr3t" not in caplog.text + repr(bucket) + repr(vars(bucket))
    assert cloud_storage.asked == []


@pytest.fixture
def account(tmp_path: Path, cloud_storage: CloudStorage, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of a service account that the server on loopback lets in."""
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    cloud_storage.account = Account("navigator@team.example", key.public_key(), secrets.token_urlsafe())
    about = {
        "type": "service_account",
        "client_email": cloud_storage.account.name,
        "private_key": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
        "token_uri": f"{cloud_storage.url}/token",
    }
    path = tmp_path / "key.json"
    path.write_text(json.dumps(about))
    return path


PROGRAM = """
import sys
from mcp_server.logs import log_to_stderr
from navigator.stores.buckets.bucket import BucketError
from navigator.stores.buckets.opening import open_bucket
from navigator.stores.store_address import read_bucket_address
log_to_stderr("DEBUG", "text")
bucket = open_bucket(read_bucket_address(sys.argv[1]), attempts=1)
bucket.write("a", bytes(9_000_000), "application/octet-stream")
print(bucket.create("a", b"a", "text/plain"), len(bucket.read("a").content), bucket.names("")[0].size)
for each in (bucket, open_bucket(read_bucket_address(sys.argv[1] + "-gone"))):
    print(repr(each), vars(each))
try:
    each.names("")
except BucketError as error:
    print(repr(error))
    raise
"""


@pytest.mark.parametrize("scheme", BUCKETS)
def test_credentials_are_in_no_log_and_no_error_whatever_is_logged(
    scheme: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = own_bucket(scheme, request)
    if scheme == "gs":
        server: CloudStorage = request.getfixturevalue("cloud_storage")
        path: Path = request.getfixturevalue("account")
        assert server.account is not None
        words = {
            server.account.token,
            *json.loads(path.read_text())["private_key"].split("\n")[1:-2],
            "upload_id=",
        }
        monkeypatch.delenv("STORAGE_EMULATOR_HOST")
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
        monkeypatch.setenv("API_ENDPOINT_OVERRIDE", server.url)
    else:
        words = {"s3cr3t-key", "s3cr3t-token", "Signature="}
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t-key")
        monkeypatch.setenv("AWS_SESSION_TOKEN", "s3cr3t-token")
    # Whatever else a client may ask for goes nowhere.
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, f"{address.storage.scheme}://{address.bucket}"],
        capture_output=True,
        text=True,
        check=False,
    )
    told = done.stdout + done.stderr
    assert "False 9000000 9000000" in told, told
    assert "Traceback" in done.stderr
    assert [word for word in words if word in told] == []
