"""A process of its own that reads a repository whole, behind an answer that came from a first look."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import anyio

from mcp_server.loading import load_navigator
from mcp_server.settings import Settings, read_settings
from navigator.errors import NavigationBusyError
from navigator.stores.locks import NavigationLocks
from repo_navigator.detached import start_detached

_KINDNESS = 10
"""How far it stands behind other programs (``nice``)."""


def index_behind(repositories: Sequence[str]) -> None:
    """Start a process that reads repositories whole into the cache, and leave it; none for none."""
    if repositories:
        start_detached("repo_navigator.index_behind", *repositories)


async def _read(repository: str, settings: Settings) -> None:
    folder = None if settings.data_dir is None else settings.data_dir / "indexing"
    locks = NavigationLocks(folder, patience_s=0.0)
    with suppress(NavigationBusyError):  # Another process reads it.
        async with locks.hold(repository):
            navigator = load_navigator(replace(settings, store=None), takes_steps=False)
            try:
                await navigator.read_repository(repository)
            finally:
                await navigator.aclose()


def main(repositories: Sequence[str]) -> None:
    """Read repositories whole, one after the other, so that the cache holds them."""
    if hasattr(os, "nice"):
        os.nice(_KINDNESS)
    settings = read_settings(os.environ)
    for repository in repositories:
        anyio.run(_read, repository, settings)


if __name__ == "__main__":
    main(sys.argv[1:])
