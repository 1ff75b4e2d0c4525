"""The current content of an index's files, with secrets masked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from repo_map.cache import LRUCache
from repo_map.index.schema import Files
from repo_map.sources.file_kinds import FileFlag
from repo_map.sources.source import MaskedReader

_MAX_CACHED_BYTES = 8_000_000


class _Content(NamedTuple):
    masked: bytes
    is_current: bool = True
    secrets: tuple[str, ...] = ()


class SourceReader:
    """Reads the files of one index, and caches what it read. Thread-safe."""

    def __init__(self, reader: MaskedReader, paths: Sequence[str], files: Files) -> None:
        self._reader = reader
        self._paths = paths
        self._files = files
        self._cached = LRUCache[int, _Content](_MAX_CACHED_BYTES, lambda content: len(content.masked))

    def content(self, file_id: int) -> bytes:
        """Return a file's current bytes, secrets masked; ``b""`` for a file that is listed by path only."""
        return self._read(file_id).masked

    def text(self, file_id: int) -> str:
        r"""Return a file's current text: UTF-8 with replacements, no byte order mark, ``\r\n`` as ``\n``.

        Its lines are what ``split("\n")`` gives; ``splitlines`` would also split at form feeds, which no line
        number counts.
        """
        return self.content(file_id).decode("utf-8-sig", "replace").replace("\r\n", "\n")

    def is_current(self, file_id: int) -> bool:
        """Return True if a file still has the bytes that were indexed."""
        return self._read(file_id).is_current

    def secrets(self, file_id: int) -> tuple[str, ...]:
        """Return the format of each secret that is masked in a file."""
        return self._read(file_id).secrets

    def _read(self, file_id: int) -> _Content:
        content = self._cached.get(file_id)
        if content is None:
            content = self._read_masked(file_id)
            self._cached.put(file_id, content)
        return content

    def _read_masked(self, file_id: int) -> _Content:
        indexed = self._files.digest[file_id].tobytes()
        if not any(indexed):
            return _Content(b"")
        path = self._paths[file_id]
        read = self._reader.fetch(path)
        source = read.source or b""
        is_current = read.digest == indexed
        has_secrets = not is_current or bool(int(self._files.flags[file_id]) & FileFlag.SECRETS)
        if not has_secrets or self._reader.is_unmasked(path):
            return _Content(source, is_current)
        from repo_map.secrets.masking import mask  # noqa: PLC0415 - a warm start may show no secret

        masked = mask(source)
        return _Content(masked.source, is_current, masked.kinds)
