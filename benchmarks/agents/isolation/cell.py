"""The process between the benchmark and a candidate: it walls itself off, then starts the candidate.

Runs as ``python -I -S cell.py SPEC`` with nothing but the standard library. SPEC is one JSON object:
``command``, ``cwd``, ``env``, ``limits``, ``readable``, ``writable``, ``uplink``, ``report`` (a descriptor to
tell on, one object a line, what walls stand and how the command ended).
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import landlock  # type: ignore[import-not-found]
import uplink  # type: ignore[import-not-found]

_NEW_USER, _NEW_NET, _NEW_PID, _NEW_MOUNTS = 0x10000000, 0x40000000, 0x20000000, 0x00020000
_MOUNT_RECURSIVELY, _MOUNT_PRIVATE, _MOUNT_INERT = 0x4000, 0x40000, 0x2 | 0x4 | 0x8
_PROC = "/proc"
_PROC_OF_ONESELF = ("self", "thread-self", "cpuinfo", "meminfo", "stat", "filesystems", "mounts", "sys")
"""What programs read of ``/proc`` beside other processes."""
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_COULD_NOT_START = 127
_UNSAFE = (
    "This system gives root no namespaces of its own, so the candidate could not be contained and was not "
    "started; run the benchmark as an ordinary user.\n"
)
_NICER = 5
"""So that the watch outside gets its turn."""
_INSIDE_ID = 1000
"""The candidate's user id in its namespace: without capabilities, also where root runs the benchmark."""


def main() -> None:
    """Wall off, start, wait, report."""
    spec = json.loads(sys.argv[1])
    os.set_inheritable(spec["report"], False)
    apart = _enter_namespaces()
    if not apart and os.getuid() == 0:
        # No limit on processes holds for root, so nothing would stop a candidate that forks without end.
        os.write(2, _UNSAFE.encode())
        _tell(spec, {"code": _COULD_NOT_START})
        return
    keeper = os.fork()
    if keeper == 0:
        os._exit(_keep(spec, apart=apart))
    _, status = os.waitpid(keeper, 0)
    sys.exit(0 if status == 0 else 1)


def _enter_namespaces() -> bool:
    """Leave the network and the other processes behind; False where the system does not allow it."""
    if sys.platform != "linux":
        return False
    user, group = os.getuid(), os.getgid()
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_USER | _NEW_NET | _NEW_PID | _NEW_MOUNTS) != 0:
        return False
    with contextlib.suppress(OSError):
        Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{_INSIDE_ID} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{_INSIDE_ID} {group} 1")
    return True


def _mount_own_processes() -> bool:
    """Let ``/proc`` show the processes of this namespace alone; False where the system does not allow it."""
    mount = ctypes.CDLL(None, use_errno=True).mount
    mount(b"none", b"/", None, _MOUNT_RECURSIVELY | _MOUNT_PRIVATE, None)
    return bool(mount(b"proc", _PROC.encode(), b"proc", _MOUNT_INERT, None) == 0)


def _keep(spec: dict[str, Any], *, apart: bool) -> int:
    """Start the candidate and outlive it: after process 1 of a namespace, the kernel kills the rest."""
    if sys.platform == "linux":
        control = ctypes.CDLL(None).prctl
        control(_PR_SET_PDEATHSIG, signal.SIGKILL)
        control(_PR_SET_CHILD_SUBREAPER, 1)
    own_processes = apart and _mount_own_processes()
    if apart:
        # Kernels from 6.14 on keep one count for each namespace; the least that they take is 301.
        with contextlib.suppress(OSError):
            Path("/proc/sys/kernel/pid_max").write_text(str(max(spec["limits"]["processes"], 301)))
    if spec["uplink"]:
        uplink.start(spec["uplink"], alone=apart)
    candidate = os.fork()
    if candidate == 0:
        _become(spec, apart=apart, own_processes=own_processes)
    code = _wait_for(candidate)
    if not apart:
        _kill_orphans()
    _tell(spec, {"code": code})
    return 0


def _tell(spec: dict[str, Any], what: dict[str, Any]) -> None:
    os.write(spec["report"], json.dumps(what).encode() + b"\n")


def _become(spec: dict[str, Any], *, apart: bool, own_processes: bool) -> None:
    """Turn into the candidate."""
    try:
        _limit(spec["limits"], apart=apart)
        os.nice(_NICER)
        os.chdir(spec["cwd"])
        readable = spec["readable"]
        if not own_processes:
            # The list of the processes of this machine is nobody's business here.
            own = [f"{_PROC}/{name}" for name in _PROC_OF_ONESELF]
            readable = [path for path in readable if path != _PROC] + own
        walled = landlock.restrict(readable, spec["writable"], network=apart or bool(spec["uplink"]))
        closed = apart or (walled >= landlock.ABI_NETWORK and not spec["uplink"])
        _tell(spec, {"walls": {"network": closed, "files": walled > 0, "processes": apart}})
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execvpe(spec["command"][0], spec["command"], spec["env"])
    except OSError as error:
        os.write(2, f"{spec['command'][0]} could not be started: {error.strerror}\n".encode())
    os._exit(_COULD_NOT_START)


def _limit(limits: dict[str, int], *, apart: bool) -> None:
    _set(resource.RLIMIT_CPU, limits["cpu_seconds"])
    # Not the address space: runtimes reserve much more of it than they use.
    _set(resource.RLIMIT_DATA, limits["memory_bytes"])
    _set(resource.RLIMIT_FSIZE, limits["file_bytes"])
    _set(resource.RLIMIT_CORE, 0)
    # Outside a namespace of its own, the limit counts all that the user runs already.
    running = 0 if apart else _tasks_of(os.getuid())
    _set(resource.RLIMIT_NPROC, running + limits["processes"])


def _tasks_of(user: int) -> int:
    """Return how many processes and threads the user runs."""
    if not Path("/proc/self/status").exists():
        listed = subprocess.run(("ps", "-U", str(user), "-o", "pid="), capture_output=True, check=False)
        return len(listed.stdout.split())
    running = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.stat().st_uid == user:
                running += len(list((process / "task").iterdir()))
    return running


def _set(what: int, value: int) -> None:
    hard = resource.getrlimit(what)[1]
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(what, (most, most))


def _wait_for(candidate: int) -> int:
    """Reap whatever ends until the candidate does; return its status, minus the signal where one ended it."""
    while True:
        ended, status = os.wait()
        if ended == candidate:
            return os.waitstatus_to_exitcode(status)


def _kill_orphans() -> None:
    """Kill what the candidate left behind: as their subreaper, we are the parent of all of them."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    while children.exists() and (left := children.read_text().split()):
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.wait()


if __name__ == "__main__":
    main()
