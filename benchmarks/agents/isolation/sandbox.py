"""Run a command of a candidate within limits, in a cell, with nothing of the user's environment.

A cell has namespaces of its own and Landlock rules: the command reads the folders of the system and of Python
and a few files of ``/etc``, writes only its room, sees no other process, and reaches nothing but an uplink.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

MEBIBYTE = 1 << 20
_CELL = Path(__file__).with_name("cell.py")
_LOOK_EVERY_S = 0.05
_SYSTEM = ("/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/opt", "/dev", "/proc", "/sys")
_SETTINGS = ("alternatives", "group", "hosts", "localtime", "ld.so.cache", "nsswitch.conf", "passwd", "ssl")
"""What programs need of ``/etc``; other files there may hold secrets that root can read."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
_PROC = Path("/proc")
_BLOCK = 512
_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


class Limits(NamedTuple):
    """Most that one run may use; beyond it, the whole tree of processes is killed."""

    seconds: float = 30.0
    """Wall time."""
    cpu_seconds: int = 30
    """Processor time of one process."""
    memory_bytes: int = 1024 * MEBIBYTE
    """Writable memory of one process, and resident memory of all together."""
    file_bytes: int = 16 * MEBIBYTE
    """One file."""
    folder_bytes: int = 64 * MEBIBYTE
    """The run's folder beyond what lay there before."""
    folder_entries: int = 20_000
    processes: int = 64
    output_bytes: int = 64 * 1024
    """Kept of what it prints: the first and the last half of it."""


class EndReason(StrEnum):
    """Why a run ended."""

    EXITED = "exited"
    TIME = "time limit"
    MEMORY = "memory limit"
    DISK = "disk limit"
    PROCESSES = "process limit"


class Ended(NamedTuple):
    """How a run ended."""

    reason: EndReason
    code: int
    """Exit status; minus the signal's number where a signal ended it."""
    output: str
    seconds: float

    @property
    def passed(self) -> bool:
        """Tell whether it ended by itself with status 0."""
        return self.reason is EndReason.EXITED and self.code == 0

    def log(self) -> str:
        """Return the run's output with a last line that says how it ended."""
        how = f"exit status {self.code}" if self.code >= 0 else f"killed by signal {-self.code}"
        if self.reason is not EndReason.EXITED:
            how = f"stopped: {self.reason.value}"
        return f"{self.output.rstrip()}\n[{how}]".lstrip()


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
        "readable": [
            *_SYSTEM,
            *(f"/etc/{name}" for name in _SETTINGS),
            *_python_folders(),
            *map(str, readable),
        ],
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
        status = os.read(reading, 16)
    finally:
        os.close(reading)
    return Ended(reason, int(status or -signal.SIGKILL), text, time.perf_counter() - started)


async def isolation_fault() -> str:
    """Return why this system can't isolate a candidate, empty if it can."""
    if sys.platform != "linux":
        return "Candidates are isolated with namespaces and Landlock; run the benchmark on Linux."
    with tempfile.TemporaryDirectory(prefix="isolation-") as folder:
        ended = await run_isolated(("python", "-c", ""), Room(Path(folder)))
    return "" if ended.passed else ended.output.strip()


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


class Use(NamedTuple):
    """What a folder holds."""

    bytes: int
    entries: int


def use_of(folder: Path, most: Limits | None = None) -> Use:
    """Return the room that the folder takes on disk; counting stops where ``most`` is passed."""
    total, entries = 0, 0
    for where, folders, files in os.walk(folder):
        entries += len(folders) + len(files)
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(f"{where}/{name}").st_blocks * _BLOCK
        if most is not None and (total > most.folder_bytes * 2 or entries > most.folder_entries * 2):
            break
    return Use(total, entries)


def excess(root: int, folder: Path, before: Use, limits: Limits) -> EndReason | None:
    """Return the limit that the processes below ``root`` or their folder have passed, if any."""
    tree = descendants(root)
    # The cell itself, its keeper and a way to the model come on top of what a candidate may start.
    if len(tree) > limits.processes + 3:
        return EndReason.PROCESSES
    if sum(map(_resident, tree)) > limits.memory_bytes:
        return EndReason.MEMORY
    now = use_of(folder, limits)
    if now.bytes - before.bytes > limits.folder_bytes or now.entries - before.entries > limits.folder_entries:
        return EndReason.DISK
    return None


def descendants(root: int) -> list[int]:
    """Return the processes below ``root``, parents first."""
    found: list[int] = []
    pending = [root]
    while pending:
        with contextlib.suppress(OSError):
            for task in (_PROC / str(pending.pop()) / "task").iterdir():
                children = [int(child) for child in (task / "children").read_text().split()]
                found += children
                pending += children
    return found


def kill_tree(root: int) -> None:
    """Kill the keeper, the child of ``root`` with which the kernel ends its namespace; then ``root``."""
    for process in (*descendants(root)[:1], root):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def _resident(process: int) -> int:
    try:
        return int((_PROC / str(process) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
