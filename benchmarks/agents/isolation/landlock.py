"""Linux' Landlock: a process gives up every file but those it names, for itself and all that it starts.

Numbers and structures are those of ``linux/landlock.h``; standard library only, it runs inside the cell.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

ABI_NETWORK = 4
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_ALL_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1}
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | (1 << 14)
_TCP = 3
_SCOPED_SIGNALS_AND_SOCKETS = 3


def restrict(readable: Iterable[str], writable: Iterable[str], *, network: bool) -> int:
    """Give up all other files, and TCP unless ``network``; return the ABI's version, 0 without Landlock."""
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    abi: int = libc.syscall(_CREATE, None, 0, 1)
    if abi < 1:
        return 0
    everything = _ALL_BY_ABI[min(abi, 3)]
    attributes = struct.pack(
        "=QQQ",
        everything,
        0 if network or abi < ABI_NETWORK else _TCP,
        _SCOPED_SIGNALS_AND_SOCKETS if abi >= 6 else 0,
    )
    size = 24 if abi >= 6 else 16 if abi >= ABI_NETWORK else 8
    rules: int = libc.syscall(_CREATE, attributes, size, 0)
    if rules < 0:
        return 0
    for path in readable:
        _allow(libc, rules, path, _READ & everything)
    for path in writable:
        _allow(libc, rules, path, everything)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    done: int = libc.syscall(_RESTRICT, rules, 0)
    os.close(rules)
    return abi if done == 0 else 0


def _allow(libc: ctypes.CDLL, rules: int, path: str, access: int) -> None:
    with contextlib.suppress(FileNotFoundError, PermissionError):
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
        allowed = access if Path(path).is_dir() else access & _OF_FILES
        libc.syscall(_ADD, rules, _PATH_BENEATH, struct.pack("=Qi", allowed, beneath), 0)
        os.close(beneath)
