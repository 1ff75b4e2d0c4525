"""A line of JSON for each call: who called what of which repository, and what it took.

No line holds a goal, source, a path within a repository or an argument. A file is opened anew where another
has taken its name, so whoever rotates it need tell nobody.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

logger = logging.getLogger(__name__)


class AuditLog:
    """Appends lines to a file, or writes them to stderr; each is one write, so that none is torn."""

    def __init__(self, where: Path | Literal["stderr"]) -> None:
        self._path = where if isinstance(where, Path) else None
        self._file = -1 if self._path is not None else sys.stderr.fileno()

    def write(self, line: Mapping[str, Any]) -> None:
        """Append a line; a fault is logged, and the call that it is about is answered all the same."""
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
        try:
            if self._path is not None and not self._is_at(self._path):
                self._open(self._path)
            os.write(self._file, text.encode("utf-8", "replace"))
        except OSError as error:
            logger.error("A call can't be audited (%s)", error.strerror or error)

    def close(self) -> None:
        """Close the file; the next line opens it anew."""
        if self._path is not None and self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _is_at(self, path: Path) -> bool:
        if self._file < 0:
            return False
        with suppress(OSError):
            return os.path.samestat(path.stat(), os.fstat(self._file))
        return False

    def _open(self, path: Path) -> None:
        self.close()
        self._file = os.open(
            path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600
        )
