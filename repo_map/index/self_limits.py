"""Ends to what this process may take, kept by the system: a grammar in a loop hears nothing else."""

from __future__ import annotations

import faulthandler
import signal
import sys

CLOCK_PER_CPU = 4
"""On a busy machine a second of CPU time takes longer."""


def end_after(cpu_s: float) -> None:
    """End this process once it has used more CPU time from now, whatever it does; each call begins anew."""
    if sys.platform == "win32":
        faulthandler.dump_traceback_later(cpu_s * CLOCK_PER_CPU, exit=True)
    else:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, cpu_s)


def never_end() -> None:
    """Let this process live, however long it waits."""
    if sys.platform == "win32":
        faulthandler.cancel_dump_traceback_later()
    else:
        signal.setitimer(signal.ITIMER_PROF, 0)


def was_ended(returncode: int) -> bool:
    """Say whether a process that ended so was ended for the time that it took."""
    return returncode == (1 if sys.platform == "win32" else -signal.SIGPROF)


def bound_memory(megabytes: int) -> None:
    """Let the system refuse this process more memory; a parser that asks for it then ends alone."""
    if sys.platform == "linux":  # Elsewhere the limit is not kept, or there is none.
        import resource  # noqa: PLC0415 - not on every system

        most = resource.getrlimit(resource.RLIMIT_DATA)[1]
        wanted = megabytes * 1_000_000
        if most == resource.RLIM_INFINITY or wanted < most:
            resource.setrlimit(resource.RLIMIT_DATA, (wanted, most))
