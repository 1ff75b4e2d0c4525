"""How much a candidate may use, and how its run ended."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

MEBIBYTE = 1 << 20


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


class Walls(NamedTuple):
    """What this system could put around the run."""

    network: bool = False
    """No network but what was handed in."""
    files: bool = False
    """Reads only system folders and what was handed in; writes only its own folder."""
    processes: bool = False
    """Its processes see and reach no others, and none outlives it."""

    def missing(self) -> str:
        """Return what is open for want of support by the system, empty if nothing is."""
        names = [name for name, closed in zip(self._fields, self, strict=True) if not closed]
        return f"not walled off on this system: {', '.join(names)}" if names else ""


class Ended(NamedTuple):
    """How a run ended."""

    reason: EndReason
    code: int
    """Exit status; minus the signal's number where a signal ended it."""
    output: str
    seconds: float
    walls: Walls

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
