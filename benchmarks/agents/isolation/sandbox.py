"""Running a command of a candidate within limits, in a cell, with nothing of the user's environment."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.agents.isolation.limits import Ended, EndReason, Limits, Walls
from benchmarks.agents.isolation.watch import excess, kill_tree, use_of

_CELL = Path(__file__).with_name("cell.py")
_LOOK_EVERY_S = 0.05
_SYSTEM = ("/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/dev", "/proc", "/sys")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


class Uplink(NamedTuple):
    """A port inside the cell that leads to a Unix socket outside."""

    port: int
    socket: Path


class Room(NamedTuple):
    """The folder of one run: where the candidate works, and a home and a scratch folder for it."""

    folder: Path

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def environment(self) -> dict[str, str]:
        """Return all that the candidate gets to know of its environment."""
        return {
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), *_SYSTEM_PATH)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "TMPDIR": str(self.folder / "tmp"),
        }

    def prepare(self) -> None:
        """Make the folders that are not there yet."""
        for name in ("work", "home", "tmp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)


async def run_isolated(
    command: Sequence[str],
    room: Room,
    limits: Limits = Limits(),  # noqa: B008
    *,
    environment: Mapping[str, str] | None = None,
    readable: Sequence[Path] = (),
    uplink: Uplink | None = None,
) -> Ended:
    """Run a command in ``room.work`` and return how it ended; it never raises for what the command does.

    Args:
        command: the program, looked up on the cell's own path, and its arguments.
        room: its folder, the only one that it may write.
        limits: beyond them, it is killed with everything that it started.
        environment: variables handed in beside those of the room.
        readable: folders that it may read beside the system's and Python's.
        uplink: the one address that it may reach; none, unless given.
    """
    room.prepare()
    variables = {**room.environment(), **(environment or {})}
    spec = {
        "command": [_resolve(command[0], variables["PATH"]), *command[1:]],
        "cwd": str(room.work),
        "env": variables,
        "limits": limits._asdict(),
        "readable": [*_SYSTEM, *_python_folders(), *map(str, readable)],
        "writable": [str(room.folder), *_DEVICES],
        "uplink": None if uplink is None else {"port": uplink.port, "socket": str(uplink.socket)},
    }
    return await _run(spec, room, limits)


async def _run(spec: Mapping[str, Any], room: Room, limits: Limits) -> Ended:
    """Start a cell, watch it, and end it."""
    before = use_of(room.folder)
    started = time.perf_counter()
    reading, writing = os.pipe()
    try:
        process = await _start(spec, writing)
        assert process.stdout is not None
        output = asyncio.create_task(_read(process.stdout, limits.output_bytes))
        try:
            reason = await _watch(process, lambda: excess(process.pid, room.folder, before, limits), limits)
        finally:
            # Also when the benchmark itself is interrupted: nothing that was started may stay behind.
            kill_tree(process.pid)
            await process.wait()
            text = (await output).replace(str(room.folder), "…")
        said = _report(reading)
    finally:
        os.close(reading)
    return Ended(
        reason,
        said.get("code", -signal.SIGKILL),
        text,
        time.perf_counter() - started,
        Walls(**said.get("walls", {})),
    )


async def walls_here() -> Walls:
    """Return what this system can put around a candidate."""
    with tempfile.TemporaryDirectory(prefix="walls-") as folder:
        return (await run_isolated(("python", "-c", ""), Room(Path(folder)))).walls


async def _start(spec: Mapping[str, Any], report: int) -> asyncio.subprocess.Process:
    """Start the cell and hand it ``report``, which is closed on this side."""
    try:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(_CELL), json.dumps({**spec, "report": report})),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={},
            pass_fds=(report,),
            start_new_session=True,
        )
    finally:
        os.close(report)


def _report(descriptor: int) -> dict[str, Any]:
    """Return what the cell told: the walls, and the candidate's status if it came to that."""
    said: dict[str, Any] = {}
    with os.fdopen(descriptor, closefd=False) as lines:
        for line in lines:
            said |= json.loads(line)
    return said


async def _watch(
    process: asyncio.subprocess.Process, look: Callable[[], EndReason | None], limits: Limits
) -> EndReason:
    """Return why the run ended: by itself, or because it passed a limit."""
    ends = time.perf_counter() + limits.seconds
    while True:
        try:
            await asyncio.wait_for(process.wait(), _LOOK_EVERY_S)
        except TimeoutError:
            if time.perf_counter() > ends:
                return EndReason.TIME
            passed = await asyncio.to_thread(look)
            if passed is not None:
                return passed
        else:
            # A run may be over before anybody looked.
            return EndReason.DISK if look() is EndReason.DISK else EndReason.EXITED


async def _read(stream: asyncio.StreamReader, most: int) -> str:
    """Read to the end; keep the first and the last half of what is allowed."""
    head, tail, dropped = b"", b"", 0
    while data := await stream.read(65536):
        room = most // 2 - len(head)
        head, data = head + data[:room], data[room:]
        tail += data
        dropped += max(0, len(tail) - most // 2)
        tail = tail[-(most // 2) :]
    note = f"\n… {dropped} bytes left out …\n".encode() if dropped else b""
    return (head + note + tail).decode("utf-8", "replace")


def _resolve(program: str, path: str) -> str:
    return sys.executable if program == "python" else shutil.which(program, path=path) or program


def _python_folders() -> list[str]:
    """Return where this Python and its packages lie, without folders of projects that are being worked on."""
    packages = [entry for entry in sys.path if entry.rstrip("/").endswith("site-packages")]
    return list(dict.fromkeys((sys.base_prefix, sys.prefix, *packages)))
