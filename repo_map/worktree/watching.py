"""Waits for changes of a tree's files, as the operating system tells them."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from threading import Event
from types import TracebackType

from watchdog.events import (
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

from repo_map.errors import RepoMapError

_CHANGES: list[type[FileSystemEvent]] = [
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
]
"""To open a file and to read it are events too: the index would wake itself up with them."""
_QUIET_S = 0.3
_LONGEST_BURST_S = 5.0


class Watch:
    """The changes of the files under a root, from its start to its end, as a context manager."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._changed = Event()
        self._observer = Observer()

    def __enter__(self) -> Watch:
        """Begin to watch; raises ``RepoMapError`` where the system can't watch so many folders."""
        handler = _Handler(self._root, self._changed)
        try:
            self._observer.schedule(handler, str(self._root), recursive=True, event_filter=_CHANGES)
            self._observer.start()
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EMFILE):
                raise RepoMapError(
                    f"`{self._root}` has more folders than this system may watch; raise its limit "
                    "(fs.inotify.max_user_watches on Linux), or do without: every call looks for changes."
                ) from error
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop watching."""
        self._observer.stop()
        self._observer.join()

    def wait(self) -> None:
        """Return once files changed and, within a few seconds, a burst of changes came to rest."""
        self._changed.wait()
        for _ in range(round(_LONGEST_BURST_S / _QUIET_S)):
            self._changed.clear()
            if not self._changed.wait(_QUIET_S):
                break
        self._changed.clear()


class _Handler(FileSystemEventHandler):
    """Sets an event at any change outside git's own folder."""

    def __init__(self, root: Path, changed: Event) -> None:
        self._git = str(root / ".git") + os.sep
        self._changed = changed

    def on_any_event(self, event: FileSystemEvent) -> None:
        paths = (os.fsdecode(event.src_path), os.fsdecode(event.dest_path))
        if any(path and not path.startswith(self._git) for path in paths):
            self._changed.set()
