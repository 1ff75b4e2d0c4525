"""A tree on disk as everybody may see it: without its keys."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from repo_map import globs
from repo_map.limits import USUAL, Limits
from repo_map.worktree.files import ReadFile, read_file


class Tree(NamedTuple):
    """Where a repository is, and which of its secrets may be shown."""

    root: Path
    unmasked: tuple[str, ...] = ()
    """Globs of the files that the user lets be shown as they are."""
    limits: Limits = USUAL

    @property
    def name(self) -> bytes:
        """What tells the tree from others: the same folder with other secrets shown is another one."""
        return b"\0".join((os.fsencode(self.root), *map(str.encode, self.unmasked)))

    def shows(self, path: str) -> bool:
        """Say whether a file is shown with its secrets."""
        return any(globs.matches(pattern, path) for pattern in self.unmasked)

    def withholds(self, path: str) -> bool:
        """Say whether a file is listed by its path alone because it holds keys by its name."""
        from repo_map.secrets.key_files import is_key_file  # noqa: PLC0415 - a warm start reads nothing

        return is_key_file(path) and not self.shows(path)

    def read(self, path: str) -> ReadFile:
        """Read a file for the index, which never holds a secret, whatever may be shown."""
        from repo_map.secrets.masking import mask  # noqa: PLC0415 - a warm start reads nothing

        if self.withholds(path):
            return ReadFile(path, 0, None, "it holds keys by its name; listed by path only")
        read = read_file(self.root, path, limit=self.limits.file_bytes)
        if read.source is None:
            return read
        masked = mask(read.source)
        return read._replace(source=masked.source, secrets=masked.kinds)

    def digest(self, path: str) -> bytes:
        """Return what identifies a file's bytes, empty for one that is not to be read."""
        if self.withholds(path):
            return b""
        return read_file(self.root, path, limit=self.limits.file_bytes).digest
