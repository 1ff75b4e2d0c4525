"""Record an assistant's first minute: real answers, as an asciinema cast and as an SVG.

``python docs/recording.py`` writes `docs/first-minute.cast` and `docs/first-minute.svg`, before a release.
The commands, the tool call and their answers are real. What the user and the model say and the edit are
written here: no model is asked. The screen is cleared before each scene, progress lines are left out, pauses
are fixed, and what differs between machines (folders, ids, seconds) is replaced by something fixed.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import textwrap
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

from mcp import Client
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

from mcp_server.app import build_server
from mcp_server.settings import Settings

ROOT: Final = Path(__file__).parents[1]
CAST: Final = ROOT / "docs/first-minute.cast"
PICTURE: Final = CAST.with_suffix(".svg")
COLUMNS: Final = 112
ROWS: Final = 74
CLEAR: Final = "\x1b[2J\x1b[H"
TYPING_S: Final = 1.5
_REPOSITORY: Final = ROOT / "tests/fixtures/repositories/orderdesk"


class Place(NamedTuple):
    """Where the session takes place."""

    home: Path
    folder: Path


class Scene(NamedTuple):
    """What is typed, or said, and what follows on the screen."""

    prompt: str
    """``$`` in a terminal, ``>`` where the user speaks to an assistant, ``●`` where its model speaks."""
    typed: str
    seconds: float
    """For how long what follows is left on the screen."""
    follows: Callable[[Place], str]


GOAL: Final = "Let the caller of percent choose how it rounds"
_FILE: Final = "orderdesk/billing/money.py"
_EDIT: Final = ("(cents: int, rate: float) -> int:", "(cents: int, rate: float, rounding: str) -> int:")
_TESTS: Final = "python -m unittest"


def _finding(place: Place) -> str:
    """Show the call that the model makes first, and its whole answer."""
    arguments = {"goal": GOAL}
    lines = [f"\x1b[1;32m●\x1b[0m \x1b[1mrepo-navigator: navigate\x1b[0m {json.dumps(arguments)}", ""]
    return "\n".join([*lines, textwrap.indent(asyncio.run(_navigated(place, arguments)), "  ")])


def _editing(place: Place) -> str:
    """Show an edit of the model, and its run of the tests."""
    path = place.folder / _FILE
    text = path.read_text("utf-8")
    (old,) = (line for line in text.splitlines() if _EDIT[0] in line and "percent" in line)
    new = old.replace(*_EDIT)
    path.write_text(text.replace(old, new), "utf-8")
    ran = _output(f"{_TESTS} 2>&1 | tail -n 4 || true", place)
    return "\n".join(
        [
            f"\x1b[1;32m●\x1b[0m \x1b[1mEdit\x1b[0m {_FILE}",
            f"  \x1b[31m- {old}\x1b[0m",
            f"  \x1b[32m+ {new}\x1b[0m",
            "",
            f"\x1b[1;32m●\x1b[0m \x1b[1mBash\x1b[0m {_TESTS}",
            textwrap.indent(ran.strip(), "  "),
        ]
    )


SESSION: Final = (
    Scene(">", f"{GOAL}.", 14.0, _finding),
    Scene("●", "percent takes the rounding as an argument now. I run the tests.", 14.0, _editing),
    Scene("$", "repo-navigator check", 11.0, lambda place: _output("repo-navigator check", place)),
)
_SHOWN_AT_REST: Final = 2
"""The screen that stands where nothing may move, by its place in the session."""
_CONTROL: Final = re.compile(r"(\x1b\[\d*A|\x1b\[2K|\x1b\[\?25[lh]|[\r\n])")
_WORDS: Final = re.compile(r"\S+(?: \S+)*")
"""Browsers draw a run of spaces as one."""
_LEFT_PX, _TOP_PX, _COLUMN_PX, _ROW_PX = 14, 22, 8, 17
_THEME: Final = MONOKAI


def cast() -> str:
    """Run the session; return it as a cast, JSON lines of asciinema's version 2."""
    lines = [json.dumps({"version": 2, "width": COLUMNS, "height": ROWS, "title": "An assistant's minute"})]
    now = 0.0
    with tempfile.TemporaryDirectory() as name:
        home = Path(name).resolve()
        place = Place(home, _make(home / "orderdesk"))
        for scene in SESSION:
            lines.append(_event(now, f"{CLEAR}{scene.prompt} "))
            each_s = TYPING_S / len(scene.typed)
            lines += [_event(now + each_s * at, char) for at, char in enumerate(scene.typed, 1)]
            now += TYPING_S
            settled_text = settled(scene.follows(place))
            lines.append(_event(now, "\r\n" + _fixed(settled_text, home).replace("\n", "\r\n")))
            now += scene.seconds
    lines.append(_event(now, "$ "))
    return "\n".join(lines) + "\n"


def _make(folder: Path) -> Path:
    """Make a git repository of the sample shop."""
    shutil.copytree(_REPOSITORY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    author = ("-c", "user.name=Shop", "-c", "user.email=shop@example.com")
    for command in (("init", "-q"), ("add", "."), (*author, "commit", "-qm", "Add the order desk")):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


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


def picture(recorded: str) -> str:
    """Return a cast as an SVG that moves by itself, and stands still where the reader asked for that."""
    screens = list(shown(recorded))
    whole_s = sum(TYPING_S + scene.seconds for scene in SESSION)
    width, height = COLUMNS * _COLUMN_PX + 2 * _LEFT_PX, ROWS * _ROW_PX + _TOP_PX
    rules, groups = [], []
    begin_s = 0.0
    for at, (screen, scene) in enumerate(zip(screens, SESSION, strict=True)):
        end_s = begin_s + TYPING_S + scene.seconds
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
            f'height="{height}" role="img" aria-label="One minute of an assistant">',
            f"<style>{style}{''.join(rules)}</style>",
            f'<rect width="100%" height="100%" rx="8" fill="{background}"/>',
            *groups,
            "</svg>\n",
        ]
    )


def _environment(place: Place) -> dict[str, str]:
    """Return the environment of a user whose home is empty at first."""
    return {
        "HOME": str(place.home),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
    }


def _output(command: str, place: Place) -> str:
    """Run a command in a terminal of its own, and return all that it wrote.

    It may end with 1, as a check does that finds something.
    """
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        ["bash", "-c", command],
        cwd=place.folder,
        env=_environment(place),
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
    if (code := process.wait()) not in (0, 1):
        raise subprocess.CalledProcessError(code, command, written)
    return written.decode().replace("\r\n", "\n")


async def _navigated(place: Place, arguments: Mapping[str, str]) -> str:
    """Return the text of an answer to `navigate`, as a model reads it."""
    settings = Settings(data_dir=place.home / "data", cache_dir=place.home / "cache")
    async with Client(build_server(settings, working_folder=place.folder)) as client:
        result = await client.call_tool("navigate", dict(arguments))
        assert not result.is_error, result.content
        (part,) = result.content
        return str(part.text)  # type: ignore[union-attr]


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


def shown(recorded: str) -> Iterator[str]:
    """Yield each scene of a cast as its text, with its colours."""
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
