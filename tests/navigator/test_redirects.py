"""A provider's address is the only one that a key or a line of source goes to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from navigator.agent.models.clients import open_gemini
from navigator.state.reports import StopReason
from tests.navigator.conftest import MakeNavigator
from tests.navigator.flights import WIRES, fly
from tests.support.providers.server import Answer, LoopbackServer, Reply

pytestmark = pytest.mark.anyio
KEY = "a-key-that-stays-where-it-was-sent"


class Elsewhere(LoopbackServer):
    """Writes down whatever arrives."""

    def handle(self, method: str, path: str, request: dict[str, Any]) -> Answer:
        return Reply({})


class Leading(LoopbackServer):
    """Answers everything with a redirect."""

    def __init__(self, to: str, status: int) -> None:
        super().__init__()
        self.base_url = f"{self.url}/v1"
        self._to, self._status = to, status

    def handle(self, method: str, path: str, request: dict[str, Any]) -> Answer:
        self.requests.append(request)
        target = f"{self._to or self.url}/elsewhere{path}"
        return Reply({"error": {"message": "moved"}}, self._status, (("location", target),))


@contextmanager
def leading(_: Any, *, to: str, status: int) -> Iterator[Leading]:
    with Leading(to, status) as server:
        assert isinstance(server, Leading)
        yield server


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.mark.parametrize(
    ("name", "is_same_host", "status"),
    [
        *((name, False, 307) for name in WIRES),
        *((name, True, 308) for name in ("gemini", "openai")),
        *(("openai", False, status) for status in (301, 302, 303)),
    ],
)
async def test_a_redirect_is_told_and_not_followed(
    make_navigator: MakeNavigator, repository: Path, name: str, is_same_host: bool, status: int
) -> None:
    wire = WIRES[name]._replace(serve=leading)
    with Elsewhere() as elsewhere:
        # Another name of this machine is another host.
        host = elsewhere.url.removeprefix("http://").replace("127.0.0.1", "localhost")
        server = {"to": "" if is_same_host else f"http://{host}", "status": status}
        flown = await fly(make_navigator, repository, None, wire=wire, server=server, max_steps=6)  # type: ignore[arg-type]
        assert elsewhere.heard == []
    assert flown.server.heard
    assert not any("elsewhere" in each for each in flown.server.heard)
    assert flown.output.stop_reason is StopReason.FINISHED
    assert wire.model in flown.notes
    assert f"HTTP {status}" in flown.notes
    assert flown.output.total_cost == 0


@pytest.mark.parametrize("status", [302, 308])
async def test_no_endpoint_of_gemini_follows_a_redirect(status: int) -> None:
    with Elsewhere() as elsewhere, Leading(elsewhere.url, status) as server:
        llm, close = open_gemini("gemini-2.0-flash", server.url)
        client = llm.api_client
        asked = [
            client.aio.models.list,
            client.aio.caches.list,
            lambda: client.aio.caches.delete(name="cachedContents/1"),
            lambda: client.aio.files.get(name="files/1"),
        ]
        for ask in asked:
            with pytest.raises(Exception, match=str(status)):
                await ask()
        with pytest.raises(Exception, match=str(status)):
            client.models.generate_content(model="gemini-2.0-flash", contents="source")
        await close()
        assert len(server.heard) == len(asked) + 1
        assert elsewhere.heard == []
