"""The server as a process on real pipes: both eras, a hand-written client, restarts."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from mcp import Client, StdioServerParameters

from tests.mcp_server.test_http import token_file
from tests.support.results import object_of
from tests.support.signals import heeding_ctrl_c

GOAL = "The discount on an apple must never make its price negative"
COMMAND = (sys.executable, "-I", "-m", "mcp_server")


def process_in(folder: Path) -> StdioServerParameters:
    return StdioServerParameters(command=COMMAND[0], args=list(COMMAND[1:]), cwd=folder, env=dict(os.environ))


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_process_takes_no_navigation_of_another_by_default(shop: Path) -> None:
    async with Client(process_in(shop)) as one, Client(process_in(shop)) as other:
        mine = object_of(await one.call_tool("navigate", {"goal": GOAL}))["navigation_id"]
        refused = await other.call_tool("get_turn_report", {})
        assert refused.is_error
        assert mine in str(refused.content)
        assert not (await other.call_tool("get_turn_report", {"navigation_id": mine})).is_error


def request(number: int, method: str, **params: Any) -> str:
    """Return a line that asks."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


class Hand:
    """A client of no library: lines of JSON written to a process, and lines read from it."""

    META: Final = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "hand", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    """What a request of the modern era carries, as that has no handshake."""
    HELLO: Final = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "hand", "version": "0"},
    }

    def __init__(self, folder: Path, *, modern: bool) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            COMMAND, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8"
        )
        self.modern = modern
        self.last = 0

    def put_away(self) -> str:
        """End the process, whichever of its streams are closed, and return what it logged."""
        self.process.kill()
        self.process.wait()
        assert self.process.stderr is not None
        logged = self.process.stderr.read()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(BrokenPipeError):
                stream.close()  # type: ignore[union-attr]
        return logged

    def write(self, **message: Any) -> None:
        self.write_line(json.dumps({"jsonrpc": "2.0", **message}))

    def write_line(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        message: dict[str, Any] = json.loads(self.process.stdout.readline())
        return message

    def greet(self) -> str:
        """Return the server's name, as the era tells it."""
        if self.modern:
            found = self.ask("server/discover")
            assert "2026-07-28" in found["supportedVersions"]
            return str(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"])
        name = self.ask("initialize", **self.HELLO)["serverInfo"]["name"]
        self.write(method="notifications/initialized")
        return str(name)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the result; every line on the way is the protocol's."""
        self.last += 1
        meta = {"_meta": self.META} if self.modern else {}
        self.write(id=self.last, method=method, params={**params, **meta})
        while True:
            line = self.read()
            assert line["jsonrpc"] == "2.0"
            if line.get("id") == self.last:
                result: dict[str, Any] = line["result"]
                return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert not result.get("isError"), result
        content: dict[str, Any] = result["structuredContent"]
        return content


@pytest.mark.parametrize("modern", [False, True], ids=["handshake", "modern"])
def test_lines_written_by_hand_are_answered_and_stdout_carries_nothing_else(shop: Path, modern: bool) -> None:
    hand = Hand(shop, modern=modern)
    assert hand.greet() == "repo-navigator"
    assert len(hand.ask("tools/list")["tools"]) == 4
    found = hand.call("navigate", goal=GOAL)
    key = found["navigation_id"]
    raised = hand.call(
        "step", navigation_id=key, updates={"verbosity": [{"pattern": "shop/mail.py", "level": 4}]}
    )
    report = hand.call("get_turn_report", navigation_id=key)
    context = hand.call("get_context", navigation_id=key)
    (plan,) = hand.ask("resources/read", uri=f"navigator://{key}/plan")["contents"]
    prompts = hand.ask("prompts/list")["prompts"]
    written = hand.ask("prompts/get", name=prompts[0]["name"], arguments={"task": GOAL})
    rest, errors = hand.process.communicate(timeout=60)
    assert rest == ""
    assert errors == ""
    assert hand.process.returncode == 0
    assert "def discount" in found["context"]
    assert "you paid" in raised["context_delta"]
    assert report["step_number"] == raised["turn_report"]["step_number"]
    assert "you paid" in context["context_string"]
    assert "shop/mail.py" in plan["text"]
    assert GOAL in written["messages"][0]["content"]["text"]


def test_a_line_that_is_no_message_is_answered_and_ends_nothing(shop: Path) -> None:
    refused = {
        "no JSON": (-32700, None),
        "[" * 10_000: (-32700, None),
        '"a string"': (-32600, None),
        '[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]': (-32600, None),
        '{"jsonrpc": "1.0", "id": 77, "method": "ping"}': (-32600, 77),
        '{"jsonrpc": "2.0", "id": "b", "method": "ping", "params": [1]}': (-32600, "b"),
        '{"jsonrpc": "2.0", "id": 3, "result": 5}': (-32600, None),
        r'{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": {"a": "\ud800"}}': (-32600, 4),
        "\0": (-32700, None),
    }
    hand = Hand(shop, modern=False)
    try:
        for greeted in (False, True):
            for line, message in refused.items():
                hand.write_line(line)
                answer = hand.read()
                assert (answer["error"]["code"], answer["id"]) == message
            hand.write_line("")
            if not greeted:
                assert hand.greet() == "repo-navigator"
        assert hand.ask("resources/templates/list")["resourceTemplates"]
    finally:
        rest, errors = hand.process.communicate(timeout=60)
    assert (rest, errors, hand.process.returncode) == ("", "", 0)


@pytest.mark.parametrize("modern", [False, True], ids=["handshake", "modern"])
def test_requests_from_a_pipe_are_all_answered(shop: Path, tmp_path: Path, modern: bool) -> None:
    call = {"name": "navigate", "arguments": {"goal": GOAL}}
    if modern:
        # A stream of announcements is answered when its connection ends: nobody must wait for that.
        asked = request(1, "server/discover", _meta=Hand.META)
        asked += request(2, "subscriptions/listen", _meta=Hand.META, notifications={})
        asked += request(3, "tools/call", **call, _meta=Hand.META)
    else:
        asked = request(1, "initialize", **Hand.HELLO) + request(3, "tools/call", **call)
    (tmp_path / "requests").write_text(asked)
    program = Path(sys.executable).with_name("repo-navigator")
    command = ["sh", "-c", f"cat '{tmp_path}/requests' | '{program}' serve"]
    piped = subprocess.run(command, cwd=shop, capture_output=True, timeout=120, check=False)
    answers = {line.get("id"): line for line in map(json.loads, piped.stdout.splitlines())}
    assert "def discount" in answers[3]["result"]["structuredContent"]["context"]
    assert "result" in answers[1]
    assert (piped.returncode, piped.stderr) == (0, b"")


def test_what_would_be_asked_of_a_client_that_wrote_and_left_is_refused(shop: Path) -> None:
    message = request(1, "initialize", **Hand.HELLO | {"capabilities": {"roots": {}}})
    message += request(2, "tools/call", name="navigate", arguments={"goal": GOAL})
    ran = subprocess.run(
        COMMAND, cwd=shop, input=message, capture_output=True, text=True, timeout=60, check=False
    )
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert any(line.get("method") == "roots/list" for line in answers)
    assert answers[-1]["id"] == 2
    assert "error" in answers[-1]
    assert (ran.returncode, ran.stderr) == (0, "")


def test_tokens_that_stdio_does_not_check_are_reported_in_one_line(shop: Path, tmp_path: Path) -> None:
    variables = {**os.environ, "REPO_NAVIGATOR_TOKENS": token_file(tmp_path)}
    ran = subprocess.run(
        COMMAND, cwd=shop, env=variables, input="", capture_output=True, text=True, timeout=60, check=False
    )
    (line,) = ran.stderr.splitlines()
    assert "REPO_NAVIGATOR_TOKENS" in line
    assert "--http" in line
    assert (ran.returncode, ran.stdout) == (0, "")


def test_a_call_that_a_signal_cuts_off_is_told_so(shop: Path) -> None:
    hand = Hand(shop, modern=False)
    try:
        hand.ask("initialize", **hand.HELLO | {"capabilities": {"roots": {}}})
        hand.write(id=9, method="tools/call", params={"name": "navigate", "arguments": {"goal": GOAL}})
        # It waits for an answer that never comes.
        assert hand.read()["method"] == "roots/list"
        hand.process.send_signal(signal.SIGTERM)
        message = hand.read()
        assert message["id"] == 9
        assert "error" in message
        assert hand.process.wait(30) == 0
    finally:
        hand.process.kill()
        hand.process.communicate()


def test_a_server_whose_answers_nobody_can_read_ends_at_once(shop: Path) -> None:
    hand = Hand(shop, modern=False)
    assert hand.process.stdout is not None
    try:
        hand.greet()
        hand.process.stdout.close()
        hand.write(id=9, method="ping")
        # Its stdin is open still.
        assert hand.process.wait(30) == 0
    finally:
        assert hand.put_away() == ""


def test_ctrl_c_ends_a_server_that_waits_for_its_client(shop: Path) -> None:
    with heeding_ctrl_c():
        hand = Hand(shop, modern=False)
    try:
        hand.greet()
        hand.process.send_signal(signal.SIGINT)
        assert hand.process.wait(10) == 0
    finally:
        hand.process.kill()
        hand.process.communicate()


_STARTING = """
import subprocess, sys
process = subprocess.Popen(sys.argv[2:], stdin=int(sys.argv[1]), stdout=subprocess.PIPE)
process.stdout.readline()
print(process.pid, flush=True)
sys.stdin.readline()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc whether a process lives")
def test_a_server_ends_with_its_parent_though_another_process_holds_its_input(shop: Path) -> None:
    source, sink = os.pipe()
    os.write(sink, request(1, "initialize", **Hand.HELLO).encode())
    command = [sys.executable, "-c", _STARTING, str(source), *COMMAND]
    parent = subprocess.Popen(
        command, cwd=shop, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[source]
    )
    assert parent.stdout is not None
    with parent, suppress(ProcessLookupError):
        server = int(parent.stdout.readline())
        watched = os.pidfd_open(server)
        parent.kill()
        try:
            assert select.select([watched], [], [], 60)[0]
        finally:
            os.kill(server, signal.SIGKILL)
            for each in (watched, source, sink):
                os.close(each)
