"""The folder that a process stands in may be a stranger's repository: nothing in it is imported or run."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

_SOURCE: Final = str(Path(__file__).resolve().parents[1])
"""Where these packages lie: who stands in a checkout of them and starts them there means them."""


def shut_out_working_folder() -> None:
    """Take the working folder, and what is relative to it, out of the search for modules and programs.

    It holds for this process and for those that it starts. It comes first in a program's ``main``, before a
    package of somebody else is imported.
    """
    unsafe = set(_relative_entries(os.environ.get("PYTHONPATH", "")))
    sys.path[:] = [entry for entry in sys.path if entry and _absolute(entry) not in unsafe]
    for name in ("PYTHONPATH", "PATH"):
        if os.environ.get(name):
            # An empty search path for programs means the working folder.
            nothing = os.defpath if name == "PATH" else ""
            os.environ[name] = os.pathsep.join(absolute_entries(os.environ[name])) or nothing
    # Windows looks for programs in the working folder first, unless it is told not to.
    os.environ["NoDefaultCurrentDirectoryInExePath"] = "1"  # noqa: SIM112 - as it is documented


def find_program(name: str) -> str | None:
    """Return the absolute path of a program in an absolute folder of ``PATH``, or ``None``."""
    file = f"{name}.exe" if sys.platform == "win32" else name
    for folder in absolute_entries(os.environ.get("PATH", os.defpath)):
        if found := shutil.which(os.path.join(folder, file)):  # noqa: PTH118
            return found
    return None


@lru_cache(maxsize=4)
def absolute_entries(search_path: str) -> tuple[str, ...]:
    """Return the folders of a search path that do not depend on the working folder."""
    return tuple(entry for entry in search_path.split(os.pathsep) if Path(entry).is_absolute())


def _relative_entries(search_path: str) -> Iterator[str]:
    """Yield the folders that a search path names relative to the working folder, and that folder itself."""
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
    except FileNotFoundError:  # The working folder is gone: what is relative to it is nowhere.
        return entry
