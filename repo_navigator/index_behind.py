"""A process of its own that reads a repository whole, behind an answer that came from a first look."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import anyio
from filelock import FileLock, Timeout

from mcp_server.loading import load_navigator
from mcp_server.settings import Settings, read_settings
from navigator.settings import in_memory
from repo_navigator.detached import start_detached

_KINDNESS = 10
"""How far it stands behind other programs (``nice``)."""


def index_behind(repositories: Sequence[str]) -> None:
    """Start a process that reads repositories whole into the cache, and leave it; none for none."""
    if repositories:
        start_detached("repo_navigator.index_behind", *repositories)


async def _read(repository: str, settings: Settings) -> None:
    folder = (settings.data_dir or Path(tempfile.gettempdir())) / "indexing"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = hashlib.sha256(repository.encode("utf-8", "replace")).hexdigest()[:32]
    with (
        suppress(Timeout),
        FileLock(folder / f"{name}.lock", timeout=0),
    ):  # Else another process reads it.
        navigator = load_navigator(in_memory(settings), takes_steps=False)
        try:
            await navigator.index_repository(repository)
        finally:
            await navigator.aclose()


def main(repositories: Sequence[str]) -> None:
    """Read repositories whole, one after the other, so that the cache holds them."""
    if hasattr(os, "nice"):
        os.nice(_KINDNESS)
    settings = read_settings()
    for repository in repositories:
        anyio.run(_read, repository, settings)


if __name__ == "__main__":
    main(sys.argv[1:])
