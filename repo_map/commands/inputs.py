"""What both commands take: a repository and a plan."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from repo_map.commands.progress import Progress
from repo_map.errors import FlightPlanError

if TYPE_CHECKING:
    from repo_map.index import RepoIndex


def open_index(options: argparse.Namespace) -> RepoIndex:
    """Index the repository, with progress on a terminal."""
    from repo_map.index import build_index  # noqa: PLC0415 - each command loads only what it uses
    from repo_map.indexing.store import Store  # noqa: PLC0415
    from repo_map.limits import read_limits  # noqa: PLC0415

    store = Store(None) if options.no_cache else None
    progress = Progress(shown=not options.quiet and sys.stderr.isatty())
    try:
        return build_index(
            options.path,
            store=store,
            workers=options.workers,
            on_progress=progress.report,
            unmasked=options.unmask,
            limits=read_limits(os.environ),
        )
    finally:
        progress.clear()


def read_plan(path: Path) -> str:
    """Return the text of a plan file, ``-`` for what comes in on stdin."""
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise FlightPlanError(
            f"The flight plan can't be read from `{path}`: {error.strerror}; check the path."
        ) from None
    except UnicodeDecodeError:
        raise FlightPlanError(f"The plan `{path}` is not UTF-8 text; save it as UTF-8.") from None
