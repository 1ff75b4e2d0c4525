"""A client on the pipes of a server that may die at any moment: what each answer said before it did."""

from __future__ import annotations

import hashlib
import json
from typing import IO, Any, NamedTuple

STEPS = 2
_OPENING: dict[str, Any] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "crash", "version": "1"},
}


class ServerDiedError(Exception):
    """The server's answers have ended."""


class Ack(NamedTuple):
    """What an answer said before the server died."""

    navigation_id: str
    step: int
    map_tokens: int
    map_digest: str
    """Of the map as the server showed it, empty where it died before."""
    spent: str


def take_steps(requests: IO[bytes], answers: IO[bytes], acks: list[Ack], known: str) -> None:
    """Open a navigation, or go on with a known one, and note what each answer says.

    Raises:
        ServerDiedError: the server has ended.
    """
    _ask(requests, answers, "initialize", _OPENING)
    _send(requests, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    for number in range(STEPS):
        arguments: dict[str, Any] = {"goal": "add up the total", "mode": "interactive", "max_cost_usd": 50}
        if known:
            updates = {"verbosity": [{"pattern": "src/part_1.py", "level": 1 + number % 4}]}
            arguments = {"navigation_id": known, **({"updates": updates} if number % 2 else {})}
        tool = {"name": "step" if known else "navigate", "arguments": arguments}
        answer = _ask(requests, answers, "tools/call", tool)
        assert not answer.get("isError"), answer
        message = answer["structuredContent"]
        known, report = message["navigation_id"], message["turn_report"]
        at = len(acks)
        acks.append(
            Ack(known, report["step_number"], report["map_size_tokens"], "", str(report["total_cost"]))
        )
        acks[at] = acks[at]._replace(map_digest=_map_digest(requests, answers, known))


def _map_digest(requests: IO[bytes], answers: IO[bytes], navigation_id: str) -> str:
    """Return the digest of the latest map, as the server shows it."""
    shown = _ask(requests, answers, "resources/read", {"uri": f"navigator://{navigation_id}/context"})
    return hashlib.sha256(shown["contents"][0]["text"].encode()).hexdigest()


def _ask(requests: IO[bytes], answers: IO[bytes], method: str, params: dict[str, Any]) -> dict[str, Any]:
    _send(requests, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    while line := answers.readline():
        message: dict[str, Any] = json.loads(line)
        if message.get("id") == 1 and "method" not in message:
            assert "result" in message, message
            result: dict[str, Any] = message["result"]
            return result
    raise ServerDiedError


def _send(requests: IO[bytes], message: dict[str, Any]) -> None:
    requests.write(json.dumps(message).encode() + b"\n")
    requests.flush()
