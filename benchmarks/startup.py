"""``python -m benchmarks startup``: how soon the server answers, from a cold process to a warm step.

An empty ``MCPServer`` in the same environment is started in turns with ours, so that a busy moment hits both.
The navigation runs on a repository whose index is kept from an earlier run, as when a host starts again.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.synthetic import write_synthetic_tree

EXAMPLES = ("--rounds 3",)

EMPTY: Final = "from mcp.server.mcpserver import MCPServer; MCPServer('empty').run('stdio')"
EMPTY_COMMAND: Final = (sys.executable, "-c", EMPTY)
COMMAND: Final = (sys.executable, "-I", "-m", "mcp_server")
LIMIT: Final = 1.15
"""Most times the empty server's median that ours may take to answer ``initialize``."""
NAVIGATE_LIMIT: Final = 2.5
"""Most seconds from the start of the process to the answer of the first ``navigate``."""
STEP_LIMIT: Final = 0.15
"""Most seconds of a warm ``step``."""
HELLO: Final = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
_GOAL: Final = "Where is the retry of a failed request limited, and how is the limit configured?"
_STEPS: Final = 9
_FEEDBACK: Final = ("also look at how limits are read", "show more of the configuration of the retry")


class Figures(NamedTuple):
    """Seconds, one entry a round; of the steps, one each."""

    empty: list[float]
    initialize: list[float]
    navigate: list[float]
    step: list[float]
    feedback: list[float]

    @property
    def ratio(self) -> float:
        """Median of our ``initialize`` over the empty server's."""
        return statistics.median(self.initialize) / statistics.median(self.empty)

    @property
    def kept(self) -> bool:
        """Whether every limit holds."""
        first, step = statistics.median(self.navigate), statistics.median(self.step)
        return self.ratio <= LIMIT and first <= NAVIGATE_LIMIT and step <= STEP_LIMIT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument("--rounds", type=int, default=9, help="starts of each server (9)")
    parser.add_argument("--tree", type=Path, help="repository to navigate (a made-up one of --files)")
    parser.add_argument("--files", type=int, default=4_000, help="files of the made-up repository (4000)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Measure and print; the exit code is 1 where a limit is broken."""
    with tempfile.TemporaryDirectory(prefix="startup-") as scratch:
        tree = options.tree or write_synthetic_tree(Path(scratch, "tree"), options.files)
        figures = measure(tree.resolve(), Path(scratch), options.rounds)
    if options.json:
        print(json.dumps({**figures._asdict(), "ratio": figures.ratio}))
    else:
        _print(figures)
    return int(not figures.kept)


def measure(tree: Path, scratch: Path, rounds: int) -> Figures:
    """Start each server ``rounds`` times in turns; a first start of each, to warm up, does not count."""
    environ = {
        **os.environ,
        "REPO_NAVIGATOR_DATA": str(scratch / "data"),
        "REPO_NAVIGATOR_CACHE": str(scratch / "cache"),
        # The first start of all reads the whole repository.
        "REPO_NAVIGATOR_CALL_SECONDS": "600",
    }
    figures = Figures([], [], [], [], [])
    _first_navigation(tree, environ, [], [])
    _seconds_to_hello(EMPTY_COMMAND, environ)
    for _ in range(rounds):
        figures.empty.append(_seconds_to_hello(EMPTY_COMMAND, environ))
        figures.initialize.append(_seconds_to_hello(COMMAND, environ))
        figures.navigate.append(_first_navigation(tree, environ, figures.step, figures.feedback))
    return figures


class Pipe:
    """A server process on pipes, asked one request after the other."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._last = 0

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the result of a request."""
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._last:
                result: dict[str, Any] = answer["result"]
                return result
        raise SystemExit(f"The server ended before it answered {method}.")

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return a tool's answer."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            raise SystemExit(result["content"][0]["text"])
        return result

    def greet(self) -> None:
        """Say that the host is ready."""
        self._send({"method": "notifications/initialized"})

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()


@contextmanager
def started(command: Sequence[str], environ: Mapping[str, str], folder: Path | None = None) -> Iterator[Pipe]:
    """Start a server, in ``folder`` if one is given, and end it with the block."""
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=folder, stdin=pipe, stdout=pipe, stderr=nothing, env=dict(environ)
    ) as process:
        yield Pipe(process)
        assert process.stdin is not None
        process.stdin.close()


def _seconds_to_hello(command: Sequence[str], environ: Mapping[str, str]) -> float:
    clock = time.perf_counter()
    with started(command, environ) as pipe:
        assert pipe.ask("initialize", **HELLO)["serverInfo"]
        return time.perf_counter() - clock


def _first_navigation(
    tree: Path, environ: Mapping[str, str], steps: list[float], feedback: list[float]
) -> float:
    clock = time.perf_counter()
    with started(COMMAND, environ) as pipe:
        pipe.ask("initialize", **HELLO)
        pipe.greet()
        pipe.ask("tools/list")
        found = pipe.call("navigate", goal=_GOAL, repo_path=str(tree))["structuredContent"]
        taken = time.perf_counter() - clock
        for number in range(_STEPS):
            updates = {"verbosity": [{"pattern": f"**/*{number}*", "level": 3}]}
            steps.append(_step_seconds(pipe, found["navigation_id"], updates=updates))
        for number in range(_STEPS):
            words = f"{_FEEDBACK[number % 2]} {number}"
            feedback.append(_step_seconds(pipe, found["navigation_id"], feedback=words))
    return taken


def _step_seconds(pipe: Pipe, navigation_id: str, **asked: Any) -> float:
    clock = time.perf_counter()
    pipe.call("step", navigation_id=navigation_id, **asked)
    return time.perf_counter() - clock


def _print(figures: Figures) -> None:
    print("| from | median s | best s | at most |\n|---|---|---|---|")
    for name, seconds, limit in (
        ("start to `initialize`, empty MCPServer", figures.empty, ""),
        ("start to `initialize`, repo-navigator", figures.initialize, f"{LIMIT} × the empty one's"),
        ("start to the first `navigate`", figures.navigate, f"{NAVIGATE_LIMIT}"),
        ("a warm `step`", figures.step, f"{STEP_LIMIT}"),
        ("a warm `step` with feedback", figures.feedback, ""),
    ):
        print(f"| {name} | {statistics.median(seconds):.3f} | {min(seconds):.3f} | {limit} |")
    print(f"initialize takes {figures.ratio:.2f} times the empty server's")


def main() -> int:
    """Measure from ``python -m benchmarks.startup``."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
