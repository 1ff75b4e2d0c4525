"""A first index that takes long: it is told of, and it ends at once where nobody waits for it any more."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mcp_server.test_stdio import Hand
from tests.support.signals import heeding_ctrl_c

pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that takes some seconds to parse."""
    folder = tmp_path_factory.mktemp("huge")
    body = "".join(
        f"def part_{line}(cart, steps):\n    return cart.move(steps, {line})\n" for line in range(2000)
    )
    for number in range(120):
        (folder / f"part_{number}.py").write_text(f"NUMBER = {number}\n{body}")
    return folder


def is_gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def cached() -> list[Path]:
    return [path for path in Path(os.environ["REPO_NAVIGATOR_CACHE"]).rglob("*") if path.is_file()]


def test_ctrl_c_ends_a_first_index_that_a_terminal_was_told_of(huge: Path) -> None:
    screen, terminal = pty.openpty()
    with heeding_ctrl_c():
        process = subprocess.Popen(
            [sys.executable, "-m", "repo_navigator.main", "navigate", huge, "--goal", "x", "--json"],
            stdout=subprocess.PIPE,
            stderr=terminal,
            start_new_session=True,
        )
    os.close(terminal)
    message = b""
    try:
        while b" of 120 files" not in message:
            message += os.read(screen, 4096)
        process.send_signal(signal.SIGINT)
        while b"cancelled" not in message:
            message += os.read(screen, 4096)
        assert process.wait(timeout=60) == 5
    finally:
        process.kill()
        out, _ = process.communicate()
        os.close(screen)
    assert out == b""
    assert is_gone(process.pid)
    assert cached() == []


def test_a_server_whose_client_leaves_during_a_first_index_ends_with_its_workers(huge: Path) -> None:
    hand = Hand(huge, modern=False)
    assert hand.greet() == "repo-navigator"
    hand.write(
        id=9,
        method="tools/call",
        params={
            "name": "navigate",
            "arguments": {"goal": "x", "repo_path": str(huge)},
            "_meta": {"progressToken": 1},
        },
    )
    assert hand.process.stdout is not None
    assert "Reading the repository" in hand.process.stdout.readline()
    # Whoever only ends its requests still waits for the answers.
    hand.process.stdout.close()
    assert hand.process.stdin is not None
    hand.process.stdin.close()
    assert hand.process.wait(timeout=60) == 0
    assert hand.process.stderr is not None
    with hand.process.stderr as errors:
        assert errors.read() == ""
    assert cached() == []
