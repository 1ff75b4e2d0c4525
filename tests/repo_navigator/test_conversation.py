"""Conversations on the real command line: in pipes, in a terminal, taken up again, and into files."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
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


def test_questions_never_end_a_conversation_in_a_pipe(shop: Path, tmp_path: Path) -> None:
    said = (
        "who calls discount?\nwhere is Cart defined?\nNimm die Tests raus\nshow shop/mail.py\n"
        "which tests cover discount?\nundo\nwho imports shop/prices.py?\nn\n"
    )
    file = tmp_path / "context.txt"
    process = ran("navigate", shop, GOAL, "--interactive", "-o", file, said=said)
    assert process.stderr.count("[y] next step") >= said.count("\n")
    for answer in ("shop/cart.py:6-18 Cart", "Nimm die Tests raus", "`shop/mail.py`"):
        assert answer in re.sub(r"\s+", " ", process.stderr.replace("│", "")), process.stderr
    assert process.stdout == ""
    assert "def discount" in file.read_text("utf-8")


def test_a_stored_navigation_is_taken_up_asked_and_written_to_a_file(shop: Path, tmp_path: Path) -> None:
    made = json.loads(ran("navigate", shop, GOAL, "--json").stdout)
    key, file = made["navigation_id"], tmp_path / "context.txt"
    said = "where is discount defined?\nshow shop/mail.py\nwho calls discount?\nn\n"
    process = ran("navigate", "--continue", key, "--interactive", "-o", file, said=said)
    assert "shop/prices.py:11-" in re.sub(r"\s+", " ", process.stderr.replace("│", ""))
    written = file.read_text("utf-8")
    assert "def send_reminder" in written
    assert ran("context", key).stdout == written
    assert json.loads(ran("context", key, "--json").stdout)["status"] == "user"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such terminal")
def test_questions_never_end_a_conversation_in_a_terminal(shop: Path) -> None:
    master, slave = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "navigate", shop, GOAL, "--interactive", "--json"],
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=slave,
        env=os.environ | {"TERM": "dumb"},
    ) as process:
        os.close(slave)
        for words in (b"who calls discount?\n", b"where is Cart defined?\n", b"n\n"):
            os.write(master, words)
        seen = b""
        while True:
            try:
                part = os.read(master, 65_536)
            except OSError:  # The other end is closed.
                break
            if not part:
                break
            seen += part
        out = process.stdout.read() if process.stdout else b""
    os.close(master)
    assert process.returncode == 0, seen
    assert b"shop/cart.py:6" in seen
    assert json.loads(out)["status"] == "user"


def seen_on_a_terminal(*arguments: object, **variables: str) -> str:
    """Return what a command shows on a terminal of 24 lines, with its colours."""
    master, slave = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120", "LINES": "24"} | variables
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=slave,
        stdout=slave,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as process:
        os.close(slave)
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


def test_a_terminal_shows_headers_in_colour_and_a_pipe_the_very_text(shop: Path) -> None:
    shown = seen_on_a_terminal("navigate", shop, GOAL, "--no-pager", PAGER="cat")
    assert f"\x1b[1;36m{HEADER} shop/prices.py" in shown
    assert ran("navigate", shop, GOAL).stdout == re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert "36m" not in seen_on_a_terminal("navigate", shop, GOAL, NO_COLOR="1", PAGER="cat")


def test_a_terminal_shows_a_path_that_holds_blanks_in_colour_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "the shop").mkdir()
    (tmp_path / "the shop" / "all prices.py").write_text("def discount(apple):\n    return apple - 1\n")
    shown = seen_on_a_terminal("navigate", tmp_path, "`discount` of an apple", "--no-pager", PAGER="cat")
    assert f"\x1b[1;36m{HEADER} the shop/all prices.py\x1b[0m" in shown


def test_a_context_longer_than_the_screen_is_read_in_the_users_pager(shop: Path) -> None:
    (shop / "shop" / "prices.py").write_text(
        "def discount(apple):\n"
        + "".join(f"    apple += {number}\n" for number in range(40))
        + "    return apple\n"
    )
    paged = seen_on_a_terminal("navigate", shop, "the discount", PAGER="sed s/^/paged:/")
    assert "--no-pager" in paged.split("\n", 1)[0]
    assert "paged:" not in seen_on_a_terminal(
        "navigate", shop, "the discount", "-o", shop / "out", PAGER="sed s/^/paged:/"
    )
