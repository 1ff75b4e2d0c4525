"""Rules for every test: no socket beyond loopback, and nothing of the user's own folders or keys."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support.cloud_storage import CloudStorage
from tests.support.team_stores import s3_on_loopback

# Repositories that tests read have tests of their own.
collect_ignore = ["fixtures"]

# The suite tries the same inputs every time; `python -m tests.safety.fuzz` looks for new ones.
settings.register_profile("suite", derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

# Google's client reads it when it is imported: no test asks the machine's network for credentials.
os.environ["NO_GCE_CHECK"] = "true"

_MODEL_VARIABLES = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "GOOGLE_GEMINI_BASE_URL")


def _is_loopback(address: Any) -> bool:
    if not isinstance(address, tuple):
        return True  # a Unix socket
    host = address[0]
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def _loopback_only(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("network"):
        return
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def guarded(original: Any) -> Any:
        def call(self: socket.socket, address: Any) -> Any:
            if not _is_loopback(address):
                raise AssertionError(f"a test tried to reach {address!r}; only loopback is allowed")
            return original(self, address)

        return call

    monkeypatch.setattr(socket.socket, "connect", guarded(connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(connect_ex))


@pytest.fixture(scope="session")
def _folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Paths that nothing has had before; pytest's own names take longer with each test."""
    base = tmp_path_factory.mktemp("tests")
    return (base / f"{number}" for number in count())


@pytest.fixture
def tmp_path(_folders: Iterator[Path]) -> Path:
    folder = next(_folders)
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def _own_folders(_folders: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test its own cache and data folder, and hide the keys of whoever runs it."""
    home = next(_folders)
    monkeypatch.setenv("REPO_NAVIGATOR_CACHE", str(home / "cache"))
    monkeypatch.setenv("REPO_NAVIGATOR_DATA", str(home / "data"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in _MODEL_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def s3_url() -> Iterator[str]:
    """A server of S3 on loopback, for whoever asks for one."""
    with s3_on_loopback() as url:
        yield url


@pytest.fixture
def cloud_storage() -> Iterator[CloudStorage]:
    """A server of Google Cloud Storage on loopback, of the test's own: it may break it."""
    with CloudStorage() as server:
        yield server
