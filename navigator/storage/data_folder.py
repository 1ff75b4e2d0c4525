"""Where a user's navigations belong on each platform; apart, so that a starting server imports no more."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def default_data_dir(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Return the folder for sessions and artifacts: ``REPO_NAVIGATOR_DATA``, else the platform's own."""
    if chosen := environ.get("REPO_NAVIGATOR_DATA"):
        # Unlike pathlib, which raises, it leaves the home of an unknown user as it is written.
        return Path(os.path.expanduser(chosen))  # noqa: PTH111
    home = Path(environ.get("HOME") or environ.get("USERPROFILE") or Path.home())
    if platform == "darwin":
        return home / "Library" / "Application Support" / "repo-navigator"
    if platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "repo-navigator"
    base = environ.get("XDG_DATA_HOME", "")
    # The XDG specification has relative paths ignored: they would lie in whatever folder is opened.
    return (Path(base) if base.startswith("/") else home / ".local" / "share") / "repo-navigator"
