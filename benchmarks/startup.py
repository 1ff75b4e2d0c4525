"""``repo-navigator bench startup``: how soon the server answers ``initialize``, beside an empty one."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Final

EMPTY: Final = "from mcp.server.mcpserver import MCPServer; MCPServer('empty').run('stdio')"
COMMANDS: Final = {
    "empty MCPServer": (sys.executable, "-c", EMPTY),
    "repo-navigator": (sys.executable, "-m", "mcp_server"),
}
LIMIT: Final = 1.15
"""Most times the empty server's median that ours may take."""
_INITIALIZE: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument("--rounds", type=int, default=9, help="starts of each server (9)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Measure and print; the exit code is 1 where ours is slower than the limit."""
    seconds = measure(options.rounds)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    ratio = medians["repo-navigator"] / medians["empty MCPServer"]
    if options.json:
        print(json.dumps({"seconds": seconds, "medians": medians, "ratio": ratio}))
    else:
        for name, times in seconds.items():
            print(f"{name:16} median {medians[name]:.3f} s, best {min(times):.3f} s, of {len(times)} starts")
        print(f"ratio {ratio:.2f}, at most {LIMIT}")
    return int(ratio > LIMIT)


def measure(rounds: int) -> dict[str, list[float]]:
    """Return the seconds from start to answer of each server; in turns, so that a busy moment hits both."""
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for command in COMMANDS.values():
        answer_seconds(command)
    for _ in range(rounds):
        for name, command in COMMANDS.items():
            seconds[name].append(answer_seconds(command))
    return seconds


def answer_seconds(command: Sequence[str]) -> float:
    """Return the seconds that a fresh process takes to answer ``initialize``."""
    started = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(_INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
        taken = time.perf_counter() - started
        process.stdin.close()
    assert json.loads(line)["result"]["serverInfo"]
    return taken


def main() -> int:
    """Measure from ``python -m benchmarks.startup``."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
