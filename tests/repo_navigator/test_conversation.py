"""Conversations on the real command line: in pipes, in a terminal, taken up again, and into files."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.maps import HEADER

pytestmark = pytest.mark.slow

GOAL = "The discount on an apple must never make its price negative"
COMMAND = (sys.executable, "-m", "repo_navigator.main")


def ran(*arguments: object, said: str = "") -> subprocess.CompletedProcess[str]:
    process = subprocess.run(
        [*COMMAND, *map(str, arguments)], input=said, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    return process


def test_a_conversation_is_written_to_a_file_and_stored(shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "context.txt"
    said = "where is discount defined?\nshow shop/mail.py\nwho calls discount?\nn\n"
    process = ran("navigate", shop, GOAL, "--interactive", "-o", file, said=said)
    assert "shop/prices.py:11-" in re.sub(r"\s+", " ", process.stderr.replace("│", ""))
    written = file.read_text("utf-8")
    assert "def send_reminder" in written
    assert ran("context").stdout == written
    assert json.loads(ran("context", "--json").stdout)["status"] == "user"


def seen_on_a_terminal(*arguments: object, said: Sequence[str] = (), **variables: str) -> str:
    """Return what a command shows on a terminal of 24 lines, with its colours, and what it is told there."""
    master, slave = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120", "LINES": "24"} | variables
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=slave,
        stdout=slave,
        stderr=slave if said else subprocess.DEVNULL,
        env=environment,
    ) as process:
        os.close(slave)
        for words in said:
            os.write(master, words.encode())
        seen = b""
        while True:
            try:
                part = os.read(master, 65_536)
            except OSError:  # The other end is closed.
                break
            seen += part
    os.close(master)
    assert process.returncode == 0, seen
    return seen.decode().replace("\r\n", "\n")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such terminal")
def test_questions_never_end_a_conversation_in_a_terminal(shop: Path) -> None:
    said = ("who calls discount?\n", "where is Cart defined?\n", "n\n")
    seen = seen_on_a_terminal("navigate", shop, GOAL, "--interactive", "--json", said=said, TERM="dumb")
    assert "shop/cart.py:6" in seen
    assert '"status": "user"' in seen


def test_a_terminal_shows_headers_in_colour_and_a_pipe_the_very_text(shop: Path) -> None:
    shown = seen_on_a_terminal("navigate", shop, GOAL)
    assert f"\x1b[1;36m{HEADER} shop/prices.py" in shown
    assert ran("navigate", shop, GOAL).stdout == re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert "36m" not in seen_on_a_terminal("navigate", shop, GOAL, NO_COLOR="1")


def test_a_terminal_shows_a_path_that_holds_blanks_in_colour_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "the shop").mkdir()
    (tmp_path / "the shop" / "all prices.py").write_text("def discount(apple):\n    return apple - 1\n")
    shown = seen_on_a_terminal("navigate", tmp_path, "`discount` of an apple")
    assert f"\x1b[1;36m{HEADER} the shop/all prices.py\x1b[0m" in shown
