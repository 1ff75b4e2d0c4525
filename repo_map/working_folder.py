"""Keep the working folder, which may be a hostile repository, out of the search for modules and programs."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

_SOURCE: Final = str(Path(__file__).resolve().parents[1])
"""The folder of these packages, which may be the working folder of a source checkout."""


def harden_sys_path() -> None:
    """Remove the working folder and relative entries from the search paths of modules and programs.

    This applies to the process and its children. Call it first in ``main``, before a third-party import.
    """
    unsafe = set(_relative_entries(os.environ.get("PYTHONPATH", "")))
    sys.path[:] = [entry for entry in sys.path if entry and _absolute(entry) not in unsafe]
    for name in ("PYTHONPATH", "PATH"):
        if os.environ.get(name):
            # An empty search path for programs means the working folder.
            nothing = os.defpath if name == "PATH" else ""
            os.environ[name] = os.pathsep.join(absolute_entries(os.environ[name])) or nothing
    # Windows looks for programs in the working folder first, unless this is set.
    os.environ["NoDefaultCurrentDirectoryInExePath"] = "1"  # noqa: SIM112 - as it is documented


def find_program(name: str) -> str | None:
    """Return the absolute path of a program in an absolute folder of ``PATH``, or ``None``."""
    # On Windows many clients are started by a `.cmd`; `which` adds no suffix to a path before Python 3.12.
    suffixes = os.environ.get("PATHEXT", ".EXE;.CMD").split(";") if sys.platform == "win32" else [""]
    for folder in absolute_entries(os.environ.get("PATH", os.defpath)):
        for suffix in suffixes:
            if found := shutil.which(os.path.join(folder, name + suffix)):  # noqa: PTH118
                return found
    return None


@lru_cache(maxsize=4)
def absolute_entries(search_path: str) -> tuple[str, ...]:
    """Return the absolute folders of a search path."""
    return tuple(entry for entry in search_path.split(os.pathsep) if Path(entry).is_absolute())


def _relative_entries(search_path: str) -> Iterator[str]:
    """Yield the folders of the relative entries of a search path, and the working folder."""
    entries = ["", *search_path.split(os.pathsep)]
    for entry in entries:
        if Path(entry).is_absolute():
            continue
        folder = _absolute(entry)
        if not Path(folder).is_absolute() or os.path.realpath(folder) != _SOURCE:
            yield folder


def _absolute(entry: str) -> str:
    try:
        return os.path.abspath(entry)  # noqa: PTH100
    except FileNotFoundError:  # The working folder was deleted.
        return entry
