"""The bytes of a tree's files as they are now, the latest of them kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from repo_map.indexing.tables import Files
from repo_map.recent import Recent
from repo_map.worktree.file_flags import FileFlag
from repo_map.worktree.files import read_file
from repo_map.worktree.tree import Tree

_MOST_BYTES = 32_000_000


class Source(NamedTuple):
    """What is shown of one file."""

    content: bytes
    """Secrets masked; ``b""`` for a file listed by path only."""
    is_current: bool = True
    """Whether these are the bytes that were indexed."""
    secrets: tuple[str, ...] = ()
    """The format of each secret that is masked."""


class SourceCache:
    """Reads the files of one index; any number of threads may ask."""

    def __init__(self, tree: Tree, paths: Sequence[str], files: Files) -> None:
        self._tree = tree
        self._paths = paths
        self._files = files
        self._kept = Recent[int, Source](_MOST_BYTES, lambda source: len(source.content))

    def read(self, file_id: int) -> Source:
        """Return the file as it is now, or as it was when it was read of late."""
        source = self._kept.get(file_id)
        if source is None:
            source = self._read(file_id)
            self._kept.put(file_id, source)
        return source

    def _read(self, file_id: int) -> Source:
        known = self._files.digest[file_id].tobytes()
        if not any(known):
            return Source(b"")
        path = self._paths[file_id]
        read = read_file(self._tree.root, path, limit=self._tree.limits.file_bytes)
        content = read.source or b""
        is_current = read.digest == known
        has_secrets = not is_current or bool(int(self._files.flags[file_id]) & FileFlag.SECRETS)
        if not has_secrets or self._tree.shows(path):
            return Source(content, is_current)
        # Imported here because a warm start that shows no secret should not wait for it.
        from repo_map.secrecy.masking import mask  # noqa: PLC0415

        masked = mask(content)
        return Source(masked.source, is_current, masked.kinds)
