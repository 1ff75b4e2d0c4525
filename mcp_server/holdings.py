"""What the server knows of a navigation beyond the navigator: its answers' budget, what the host holds."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Final

import anyio.to_thread

logger = logging.getLogger(__name__)
_ID: Final = re.compile(r"[A-Za-z0-9_-]{6,80}")


@dataclass(frozen=True)
class Holding:
    """One navigation as the server sees it."""

    user: str
    repo_path: str
    token_budget: int
    """Most tokens of a whole answer, headers and report included."""
    status: str = "open"
    held_step: int | None = None
    """Step whose whole map the host was given, None while it holds none."""
    used_at: float = 0.0
    """Seconds since the epoch."""


class Holdings:
    """Holdings by navigation id, one small file each, so that they outlive the process."""

    def __init__(self, folder: Path | None) -> None:
        """Keep them in ``folder``, or in memory where there is none."""
        self._folder = folder
        self._read: dict[str, Holding] = {}
        self._writing = Lock()

    def get(self, navigation_id: str) -> Holding | None:
        """Return the holding of ``navigation_id``, or None where there is none that can be read."""
        if navigation_id not in self._read and self._folder and _ID.fullmatch(navigation_id):
            with suppress(OSError, ValueError, TypeError):
                self._read[navigation_id] = Holding(**json.loads(self._file(navigation_id).read_text()))
        return self._read.get(navigation_id)

    def put(self, navigation_id: str, holding: Holding) -> None:
        """Keep ``holding``; a reader never sees half of it, and on a full disk it lasts until the end."""
        self._read[navigation_id] = holding
        self._write(navigation_id)

    async def put_aside(self, navigation_id: str, holding: Holding) -> None:
        """Keep ``holding`` as ``put`` does, while others go on: files take their time when disks are busy."""
        self._read[navigation_id] = holding
        await anyio.to_thread.run_sync(self._write, navigation_id)

    def _write(self, navigation_id: str) -> None:
        """Write what is known of a navigation by the time that it is this one's turn."""
        with self._writing:
            holding = self._read.get(navigation_id)
            if self._folder is not None and holding is not None:
                self._write_file(self._folder, navigation_id, holding)

    def _write_file(self, folder: Path, navigation_id: str, holding: Holding) -> None:
        draft = folder / f".{navigation_id}.{os.getpid()}"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            draft.write_text(json.dumps(asdict(holding)))
            draft.replace(self._file(navigation_id))
        except OSError as error:
            logger.warning(
                "%s can't be written (%s): it is kept in memory only", draft.parent, error.strerror
            )
            with suppress(OSError):
                draft.unlink(missing_ok=True)

    def remove(self, navigation_id: str) -> None:
        """Forget ``navigation_id``."""
        self._read.pop(navigation_id, None)
        if self._folder is not None:
            self._file(navigation_id).unlink(missing_ok=True)

    def __iter__(self) -> Iterator[tuple[str, Holding]]:
        """Yield every id with its holding, by id."""
        stored = {file.stem for file in self._folder.glob("*.json")} if self._folder else set()
        for navigation_id in sorted(stored | self._read.keys()):
            if holding := self.get(navigation_id):
                yield navigation_id, holding

    def _file(self, navigation_id: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{navigation_id}.json"
