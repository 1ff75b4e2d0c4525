"""The process between the benchmark and a candidate: it isolates itself, then starts the candidate.

Runs as ``python -I -S cell.py SPEC`` with nothing but the standard library. SPEC is one JSON object:
``command``, ``cwd``, ``env``, ``limits``, ``readable``, ``writable``, ``uplink``, ``report`` (a descriptor
for the command's exit status). Without namespaces and Landlock nothing is started.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_NEW_USER, _NEW_NET, _NEW_PID, _NEW_MOUNTS = 0x10000000, 0x40000000, 0x20000000, 0x00020000
_MOUNT_RECURSIVELY, _MOUNT_PRIVATE, _MOUNT_INERT = 0x4000, 0x40000, 0x2 | 0x4 | 0x8
_PROC = "/proc"
_PROC_OF_ONESELF = ("self", "thread-self", "cpuinfo", "meminfo", "stat", "filesystems", "mounts", "sys")
"""What programs read of ``/proc`` beside other processes."""
_PR_SET_PDEATHSIG = 1
# Numbers and structures of ``linux/landlock.h`` and ``linux/if.h``.
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_ALL_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1}
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | (1 << 14)
_SCOPED_SIGNALS_AND_SOCKETS = 3
_SET_FLAGS = 0x8914
_UP_AND_RUNNING = 0x1 | 0x40
_COULD_NOT_START = 127
_UNSAFE = (
    "This system has no user namespaces or no Landlock (Linux 5.13), so candidates can't be isolated; run "
    "the benchmark on a Linux where both are enabled."
)
_NICER = 5
"""So that the watch outside gets its turn."""
_INSIDE_ID = 1000
"""The candidate's user id in its namespace: without capabilities, also where root runs the benchmark."""


def main() -> None:
    """Isolate, start, wait, report."""
    spec = json.loads(sys.argv[1])
    os.set_inheritable(spec["report"], False)
    if not _enter_namespaces():
        _refuse(spec)
    keeper = os.fork()
    if keeper == 0:
        _keep(spec)
        os._exit(0)
    _, status = os.waitpid(keeper, 0)
    sys.exit(0 if status == 0 else 1)


def _enter_namespaces() -> bool:
    """Leave the network and the other processes behind; return False where the system does not allow it."""
    user, group = os.getuid(), os.getgid()
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_USER | _NEW_NET | _NEW_PID | _NEW_MOUNTS) != 0:
        return False
    with contextlib.suppress(OSError):
        Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{_INSIDE_ID} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{_INSIDE_ID} {group} 1")
    return True


def _mount_own_processes() -> bool:
    """Let ``/proc`` show the processes of this namespace alone; return False where that is not allowed."""
    mount = ctypes.CDLL(None, use_errno=True).mount
    mount(b"none", b"/", None, _MOUNT_RECURSIVELY | _MOUNT_PRIVATE, None)
    return bool(mount(b"proc", _PROC.encode(), b"proc", _MOUNT_INERT, None) == 0)


def _keep(spec: dict[str, Any]) -> None:
    """Start the candidate and outlive it as process 1 of the namespace: then the kernel kills the rest."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if not _mount_own_processes():
        readable = [path for path in spec["readable"] if path != _PROC]
        spec["readable"] = readable + [f"{_PROC}/{name}" for name in _PROC_OF_ONESELF]
    # Kernels from 6.14 on keep one count for each namespace; the least that they take is 301.
    with contextlib.suppress(OSError):
        Path("/proc/sys/kernel/pid_max").write_text(str(max(spec["limits"]["processes"], 301)))
    if spec["uplink"]:
        _open_uplink(spec["uplink"])
    candidate = os.fork()
    if candidate == 0:
        _become(spec)
    while True:
        ended, status = os.wait()
        if ended == candidate:
            os.write(spec["report"], str(os.waitstatus_to_exitcode(status)).encode())
            return


def _become(spec: dict[str, Any]) -> None:
    """Turn into the candidate."""
    try:
        _limit(spec["limits"])
        os.nice(_NICER)
        os.chdir(spec["cwd"])
        if not _restrict_files(spec["readable"], spec["writable"]):
            _refuse(spec)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execvpe(spec["command"][0], spec["command"], spec["env"])
    except OSError as error:
        os.write(2, f"{spec['command'][0]} could not be started: {error.strerror}\n".encode())
    os._exit(_COULD_NOT_START)


def _refuse(spec: dict[str, Any]) -> None:
    """Report that the candidate can't be isolated, and end."""
    os.write(2, f"{_UNSAFE}\n".encode())
    os.write(spec["report"], str(_COULD_NOT_START).encode())
    os._exit(_COULD_NOT_START)


def _limit(limits: dict[str, int]) -> None:
    _set(resource.RLIMIT_CPU, limits["cpu_seconds"])
    # Not the address space: runtimes reserve much more of it than they use.
    _set(resource.RLIMIT_DATA, limits["memory_bytes"])
    _set(resource.RLIMIT_FSIZE, limits["file_bytes"])
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_NPROC, limits["processes"])


def _set(what: int, value: int) -> None:
    hard = resource.getrlimit(what)[1]
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(what, (most, most))


def _restrict_files(readable: Iterable[str], writable: Iterable[str]) -> bool:
    """Give up all other files, for this process and all that it starts; return False without Landlock."""
    libc = ctypes.CDLL(None, use_errno=True)
    abi: int = libc.syscall(_CREATE, None, 0, 1)
    if abi < 1:
        return False
    everything = _ALL_BY_ABI[min(abi, 3)]
    attributes = struct.pack("=QQQ", everything, 0, _SCOPED_SIGNALS_AND_SOCKETS if abi >= 6 else 0)
    size = 24 if abi >= 6 else 8
    rules: int = libc.syscall(_CREATE, attributes, size, 0)
    if rules < 0:
        return False
    for path in readable:
        _allow(libc, rules, path, _READ & everything)
    for path in writable:
        _allow(libc, rules, path, everything)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    done: int = libc.syscall(_RESTRICT, rules, 0)
    os.close(rules)
    return done == 0


def _allow(libc: ctypes.CDLL, rules: int, path: str, access: int) -> None:
    with contextlib.suppress(FileNotFoundError, PermissionError):
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
        allowed = access if Path(path).is_dir() else access & _OF_FILES
        libc.syscall(_ADD, rules, _PATH_BENEATH, struct.pack("=Qi", allowed, beneath), 0)
        os.close(beneath)


def _open_uplink(way: dict[str, Any]) -> None:
    """Listen on ``way["port"]`` of the namespace's own loopback until the cell ends."""
    _raise_loopback()
    listener = socket.create_server(("127.0.0.1", way["port"]))
    if os.fork() == 0:
        while True:
            inside, _ = listener.accept()
            outside = socket.socket(socket.AF_UNIX)
            outside.connect(way["socket"])
            for source, target in ((inside, outside), (outside, inside)):
                threading.Thread(target=_pump, args=(source, target), daemon=True).start()
    listener.close()


def _raise_loopback() -> None:
    """Bring up ``lo``: a new network namespace has it down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", _UP_AND_RUNNING)
        fcntl.ioctl(any_socket, _SET_FLAGS, request)


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        source.close()
        target.close()


if __name__ == "__main__":
    main()
