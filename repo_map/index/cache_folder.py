"""Where a user's caches belong on each platform."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "REPO_NAVIGATOR_CACHE"
OFF = "off"


def cache_folder(environment: Mapping[str, str], platform: str, home: Path) -> Path | None:
    """Return the folder for cached indexes: the variable's, or the platform's; None where caching is off."""
    chosen = environment.get(VARIABLE, "")
    if chosen.lower() == OFF:
        return None
    if chosen:
        # Unlike pathlib, which raises, it leaves the home of an unknown user as it is written.
        return Path(os.path.expanduser(chosen))  # noqa: PTH111
    if platform == "win32":
        base = environment.get("LOCALAPPDATA")
        return (Path(base) if base else home / "AppData" / "Local") / "repo-navigator" / "Cache"
    if platform == "darwin":
        return home / "Library" / "Caches" / "repo-navigator"
    base = environment.get("XDG_CACHE_HOME", "")
    # The XDG specification has relative paths ignored.
    return (Path(base) if base.startswith("/") else home / ".cache") / "repo-navigator"
