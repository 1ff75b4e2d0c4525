"""The recording of the first minute: real commands in a terminal, as asciinema's cast and as a picture.

``python -m tests.docs.recording`` writes `docs/first-minute.cast` and `docs/first-minute.svg`. The screen is
cleared before each command, lines of progress are left out, pauses are fixed, and what differs from machine
to machine (folders, ids, seconds) is replaced by something fixed.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

from rich.console import Console
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

from tests.docs.steering_page import make

CAST: Final = Path(__file__).parents[2] / "docs/first-minute.cast"
PICTURE: Final = CAST.with_suffix(".svg")
COLUMNS: Final = 100
ROWS: Final = 50
CLEAR: Final = "\x1b[2J\x1b[H"
TYPING_S: Final = 1.5


class Typed(NamedTuple):
    """A command, and for how long its output is left on the screen."""

    command: str
    seconds: float


SESSION: Final = (
    Typed("repo-navigator install claude-code --dry-run", 5.0),
    Typed("repo-navigator doctor", 6.0),
    Typed(
        'repo-navigator navigate . "An expired voucher still takes its share off an order" --tokens 280', 14.0
    ),
    Typed('repo-navigator context --feedback "1"', 11.0),
    Typed('repo-navigator context --feedback "who calls percent?"', 9.0),
)
_SHOWN_AT_REST: Final = 2
"""The screen that stands where nothing may move, by its place in the session."""
_CONTROL: Final = re.compile(r"(\x1b\[\d*A|\x1b\[2K|\x1b\[\?25[lh]|[\r\n])")
_WORDS: Final = re.compile(r"\S+(?: \S+)*")
"""Browsers draw a run of spaces as one."""
_LEFT_PX, _TOP_PX, _COLUMN_PX, _ROW_PX = 14, 22, 8, 17
_THEME: Final = MONOKAI


def cast() -> str:
    """Run the session in a terminal; return it as a cast, JSON lines of asciinema's version 2."""
    lines = [json.dumps({"version": 2, "width": COLUMNS, "height": ROWS, "title": "The first minute"})]
    now = 0.0
    with tempfile.TemporaryDirectory() as name:
        home = Path(name).resolve()
        folder = make(home / "orderdesk")
        for typed in SESSION:
            lines.append(_event(now, f"{CLEAR}$ "))
            each_s = TYPING_S / len(typed.command)
            lines += [_event(now + each_s * at, char) for at, char in enumerate(typed.command, 1)]
            now += TYPING_S
            settled_text = settled(_output(typed.command, folder, home))
            lines.append(_event(now, "\r\n" + _fixed(settled_text, home).replace("\n", "\r\n")))
            now += typed.seconds
    lines.append(_event(now, "$ "))
    return "\n".join(lines) + "\n"


def settled(output: str) -> str:
    """Return what stays on the screen of what a program wrote, with its colours.

    Understood are the controls of a display of progress: return, cursor up, erase the line, hide the cursor.
    """
    lines, row = [""], 0
    for part in _CONTROL.split(output):
        if part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part.endswith("A") and part.startswith("\x1b["):
            row -= int(part[2:-1] or 1)
        elif part == "\x1b[2K":
            lines[row] = ""
        elif part != "\r" and not part.startswith("\x1b[?25"):
            lines[row] += part
    return "\n".join(lines)


def masked(recorded: str) -> str:
    """Return a cast without what a newer package or git changes: versions and other decimal numbers."""
    return re.sub(r"\d+(?:\.\d+)+", "N", "\n".join(_shown(recorded)))


def picture(recorded: str) -> str:
    """Return a cast as an SVG that moves by itself, and stands still where the reader asked for that."""
    screens = list(_shown(recorded))
    whole_s = sum(TYPING_S + typed.seconds for typed in SESSION)
    width, height = COLUMNS * _COLUMN_PX + 2 * _LEFT_PX, ROWS * _ROW_PX + _TOP_PX
    rules, groups = [], []
    begin_s = 0.0
    for at, (screen, typed) in enumerate(zip(screens, SESSION, strict=True)):
        end_s = begin_s + TYPING_S + typed.seconds
        command, _, output = screen.partition("\n")
        for kind, text, row, from_s in (("c", command, 0, begin_s), ("o", output, 1, begin_s + TYPING_S)):
            start, stop = (f"{100 * moment / whole_s:.2f}%" for moment in (from_s, end_s))
            hidden = "0%{opacity:0}" if from_s else ""
            rules.append(f"@keyframes {kind}{at}{{{hidden}{start}{{opacity:1}}{stop},100%{{opacity:0}}}}")
            at_rest = ";opacity:1" if at == _SHOWN_AT_REST else ""
            rules.append(f".{kind}{at}{{animation-name:{kind}{at}{at_rest}}}")
            groups.append(f'<g class="{kind}{at}">{"".join(_drawn(text, row))}</g>')
        begin_s = end_s
    background, foreground = _THEME.background_color.hex, _THEME.foreground_color.hex
    style = (
        f"text{{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:{foreground}}}"
        ".b{font-weight:bold}.d{opacity:.6}"
        f"g{{opacity:0;animation:{whole_s:g}s step-end infinite}}"
        "@media (prefers-reduced-motion:reduce){g{animation:none!important}}"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" aria-label="The first minute in a terminal">',
            f"<style>{style}{''.join(rules)}</style>",
            f'<rect width="100%" height="100%" rx="8" fill="{background}"/>',
            *groups,
            "</svg>\n",
        ]
    )


def _output(command: str, folder: Path, home: Path) -> str:
    """Run a command in a terminal of its own, as a user whose home is empty, and return all that it wrote."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environ = {
        "HOME": str(home),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
    }
    process = subprocess.Popen(
        ["bash", "-c", command],
        cwd=folder,
        env=environ,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    written = b""
    while part := _read(leader):
        written += part
    os.close(leader)
    if code := process.wait():
        raise subprocess.CalledProcessError(code, command, written)
    return written.decode()


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 1 << 16)
    except OSError:
        # So Linux tells that the last program has left the terminal.
        return b""


def _fixed(text: str, home: Path) -> str:
    text = text.replace(sys.executable, "/home/you/.local/share/pipx/venvs/repo-navigator/bin/python")
    text = text.replace(str(home), "/home/you")
    text = re.sub(r"nav-[0-9a-f]{24}", f"nav-{'0a1b2c' * 4}", text)
    return re.sub(r"\d+\.\d s\b", "… s", text)


def _event(at_s: float, text: str) -> str:
    return json.dumps([round(at_s, 3), "o", text], ensure_ascii=False)


def _shown(recorded: str) -> Iterator[str]:
    """Yield each screen of a cast as its text, with its colours."""
    written = "".join(json.loads(line)[2] for line in recorded.splitlines()[1:])
    for screen in written.split(CLEAR)[1:]:
        yield screen.replace("\r\n", "\n").removesuffix("\n$ ").rstrip("\n")


def _drawn(text: str, row: int) -> Iterator[str]:
    """Yield the elements of a text that begins in a row, a line each; lines are broken as terminals do."""
    console = Console(width=COLUMNS, color_system="truecolor")
    for line in Text.from_ansi(text).split("\n", allow_blank=True):
        for part in line.divide(range(COLUMNS, len(line), COLUMNS)):
            column = 0
            for segment in part.render(console):
                for words in _WORDS.finditer(segment.text):
                    yield _element(words[0], segment.style or Style.null(), column + words.start(), row)
                column += len(segment.text)
            row += 1


def _element(text: str, style: Style, column: int, row: int) -> str:
    classes = " ".join(name for name, on in (("b", style.bold), ("d", style.dim)) if on)
    marked = f' class="{classes}"' if classes else ""
    if style.color:
        marked += f' style="fill:{style.color.get_truecolor(_THEME).hex}"'
    x, y = _LEFT_PX + column * _COLUMN_PX, _TOP_PX + row * _ROW_PX
    length = len(text) * _COLUMN_PX
    return f'<text x="{x}" y="{y}" textLength="{length}"{marked}>{escape(text, quote=False)}</text>'


if __name__ == "__main__":
    made = cast()
    CAST.write_text(made, "utf-8")
    PICTURE.write_text(picture(made), "utf-8")
