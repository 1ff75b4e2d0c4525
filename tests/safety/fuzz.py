"""The long runs of fuzzing: ``python -m tests.safety.fuzz TARGET --inputs 100000``.

Targets in this process get mutated seeds; ``lines`` and ``bodies`` go to a real server, over stdio and over
HTTP.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from typing import Any

from tests.safety.mutations import mutated

_CALLERS = 8
_ASK: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
_INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "fuzz", "version": "1"},
    },
}
MESSAGES = [
    json.dumps(message).encode()
    for message in (
        _INITIALIZE,
        _ASK,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"cursor": "x"}},
        {"jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": {"uri": "navigator://navigations"}},
        {
            "jsonrpc": "2.0",
            "id": "a",
            "method": "tools/call",
            "params": {"name": "step", "arguments": {"action": "finish"}},
        },
        {
            "jsonrpc": "2.0",
            "id": 4,
            "method": "tools/call",
            "params": {"name": "get_context", "arguments": {"cursor": "W10"}},
        },
    )
]


def fuzz_by_mutation(target: str, inputs: int, seed: int) -> None:
    """Try inputs made from the seeds; show the one that fails."""
    from tests.safety.fuzz_targets import SEEDS, TARGETS

    for data in mutated(SEEDS[target], inputs, seed):
        try:
            TARGETS[target](data)
        except BaseException:
            print("input:", repr(data[:2_000]), file=sys.stderr)
            raise


def fuzz_lines(inputs: int, seed: int) -> int:
    """Send lines to a server over stdio; return how many of ours it answered while it was being fuzzed."""
    asked = answered = 0
    with tempfile.TemporaryDirectory() as folder, _server(folder, "serve") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(MESSAGES[0] + b"\n")
        # A second handshake would change the session that our own questions are asked in.
        lines = (line for line in mutated(MESSAGES, inputs * 2, seed) if b'"initialize"' not in line)
        for number, line in enumerate(islice(lines, inputs)):
            process.stdin.write(line.replace(b"\n", b" ").replace(b"\r", b" ") + b"\n")
            if number % 200 == 199:
                asked += 1
                process.stdin.write(json.dumps({**_ASK, "id": f"ours-{number}"}).encode() + b"\n")
                process.stdin.flush()
                mark = f'"ours-{number}"'.encode()
                while mark not in (said := process.stdout.readline()):
                    assert said, "the server has ended"
                answered += 1
        process.stdin.close()
        process.stdout.read()
    assert asked == answered
    return answered


def fuzz_bodies(inputs: int, seed: int) -> dict[int, int]:
    """Post bodies to a server over HTTP; return how often each status came, never a fault of ours."""
    counts: dict[int, int] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        _server(folder, "serve", "--http", "127.0.0.1:0") as process,
    ):
        assert process.stderr is not None
        port = 0
        for message in process.stderr:
            if b"Serving MCP at" in message:
                port = int(message.rpartition(b":")[2].split(b"/")[0])
                break
        process.stderr.close()
        bodies = list(mutated(MESSAGES, inputs, seed))
        with ThreadPoolExecutor(_CALLERS) as callers:
            shares = callers.map(_post, [port] * _CALLERS, (bodies[at::_CALLERS] for at in range(_CALLERS)))
            for status in chain.from_iterable(shares):
                counts[status] = counts.get(status, 0) + 1
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/health")
        assert connection.getresponse().status == 200
        connection.close()
        process.terminate()
    return counts


def _post(port: int, bodies: list[bytes]) -> list[int]:
    """Post bodies over one connection, most of them into a session; return the statuses."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    connection.request("POST", "/mcp", MESSAGES[0], headers)
    opened = connection.getresponse()
    opened.read()
    session = opened.headers.get("mcp-session-id", "")
    statuses = []
    for number, body in enumerate(bodies):
        version = ("2025-06-18", "2025-06-18", "2026-07-28", "nonsense")[number % 4]
        beside = {"mcp-protocol-version": version, **({"mcp-session-id": session} if number % 4 < 2 else {})}
        connection.request("POST", "/mcp", body, headers | beside)
        response = connection.getresponse()
        response.read()
        assert response.status < 500, (response.status, body)
        statuses.append(response.status)
    connection.close()
    return statuses


def _server(folder: str, *command: str) -> subprocess.Popen[bytes]:
    places = {"REPO_NAVIGATOR_DATA": f"{folder}/data", "REPO_NAVIGATOR_CACHE": f"{folder}/cache"}
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from repo_navigator.main import main; sys.exit(main(sys.argv[1:]))",
            *command,
        ],
        stdin=subprocess.PIPE if len(command) == 1 else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if len(command) == 1 else subprocess.PIPE,
        cwd=folder,
        env=os.environ | places | {"REPO_NAVIGATOR_LOG_LEVEL": "error" if len(command) == 1 else "warning"},
    )


def main() -> None:
    """Run as ``python -m tests.safety.fuzz``."""
    parser = argparse.ArgumentParser(prog="tests.safety.fuzz")
    parser.add_argument("target", choices=["plans", "patterns", "sources", "replies", "lines", "bodies"])
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("error")
    started = time.monotonic()
    if options.target == "lines":
        print("answered", fuzz_lines(options.inputs, options.seed))
    elif options.target == "bodies":
        print("statuses", fuzz_bodies(options.inputs, options.seed))
    else:
        fuzz_by_mutation(options.target, options.inputs, options.seed)
    print(f"{options.target}: {options.inputs:,} inputs, no fault, {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
