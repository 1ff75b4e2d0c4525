"""Installs the official tools, at the versions in package.json, into a folder that git ignores."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

PATIENCE: Final = "CONFORMANCE_SECONDS"
"""Environment variable: how long one run of a tool may take."""
HERE: Final = Path(__file__).parent
FOLDER: Final = HERE.parents[1] / "build" / "conformance"
_INSTALL_SECONDS: Final = 300
_RUN_SECONDS: Final = 180


class UnavailableError(Exception):
    """The official tools can't be installed here; the message says why."""


class TooSlowError(Exception):
    """A tool was not done in time; the message says which, and how long it was waited for."""


def install(folder: Path = FOLDER) -> dict[str, str]:
    """Install what is missing and return the environment in which the tools are found by name.

    Raises:
        UnavailableError: npm is missing, or can't install them.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError("npm is not on the path; install Node.js 20 or newer")
    wanted, kept = HERE / "package.json", folder / "package.json"
    binaries = folder / "node_modules" / ".bin"
    done = folder / ".installed"
    if not done.exists() or kept.read_bytes() != wanted.read_bytes():
        done.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(wanted, kept)
        _run_npm(npm, folder)
        done.touch()
    home = folder / "home"
    home.mkdir(exist_ok=True)
    # The Inspector keeps a catalogue in the user's folder; it gets one of its own.
    return {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "HOME": str(home)}


def _run_npm(npm: str, folder: Path) -> None:
    command = [npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=_INSTALL_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"npm was not done after {_INSTALL_SECONDS} seconds") from error
    if done.returncode:
        message = [line for line in done.stderr.splitlines() if line.startswith("npm error")]
        raise UnavailableError(message[0] if message else f"npm ended with {done.returncode}")


def run_tool(
    environ: Mapping[str, str], *command: str, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one of the tools to its end.

    Raises:
        TooSlowError: It has not come to its end in time.
    """
    program = shutil.which(command[0], path=environ["PATH"])
    assert program is not None, f"{command[0]} was not installed"
    try:
        return subprocess.run(
            [program, *command[1:]],
            env=dict(environ),
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
            timeout=_seconds(environ),
        )
    except subprocess.TimeoutExpired as error:
        raise TooSlowError(
            f"{command[0]} was not done after {error.timeout:.0f} seconds; wait until the machine is less "
            f"busy, or set {PATIENCE} to more seconds"
        ) from None


def _seconds(environ: Mapping[str, str]) -> float:
    message = environ.get(PATIENCE, "")
    return float(message) if message.isdecimal() else _RUN_SECONDS
