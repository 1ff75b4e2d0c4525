"""``repo-map watch``: keep a repository's cached index up to date as its files change."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from repo_map.errors import RepoMapError
from repo_map.messages import counted
from repo_navigator.map_options import IndexOptions, open_index

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

OPTIONS = IndexOptions


def run(options: IndexOptions) -> None:
    """Print a line when the index is ready and after each change, until interrupted.

    An interrupt ends the command well from the first line on, wherever it meets it; before, it cancels.
    """
    try:
        from repo_map.worktree.watching import Watch  # noqa: PLC0415 - each command loads only what it uses
    except ImportError as error:
        raise RepoMapError(
            "To watch a repository, install watchdog: pip install 'repo-navigator[watch]'."
        ) from error
    started = time.monotonic()
    index = open_index(options)
    with Watch(index.place.parts[0].root) as changes:
        # What changed between the first look and the start of the watch.
        index = index.refresh()
        try:
            _print(_line(index, 0, time.monotonic() - started, options))
            while True:
                changes.wait()
                started, before = time.monotonic(), index
                index = before.refresh()
                if index.fingerprint != before.fingerprint:
                    _print(_line(index, _changed(before, index), time.monotonic() - started, options))
        except KeyboardInterrupt:
            return


def _print(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()


def _changed(before: RepoIndex, after: RepoIndex) -> int:
    """Return how many files are new, gone or other than they were."""
    old, new = (
        {path: digest.tobytes() for path, digest in zip(index.paths, index.files.digest, strict=True)}
        for index in (before, after)
    )
    return sum(old.get(path) != new.get(path) for path in old.keys() | new.keys())


def _line(index: RepoIndex, changed: int, seconds: float, options: IndexOptions) -> str:
    if options.json:
        message = {
            "files": len(index),
            "changed": changed,
            "seconds": round(seconds, 3),
            "fingerprint": index.fingerprint,
            "problems": len(index.problems),
        }
        return json.dumps(message) + "\n"
    if not options.quiet and index.problems:
        sys.stderr.write(f"repo-map: {len(index.problems):,} with problems\n")
    return f"{counted(len(index), 'file')}, {changed:,} changed, {seconds:.2f} s\n"
