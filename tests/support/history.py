"""The history of one folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from repo_map.history.history import History
from repo_map.history.reader import source_history
from repo_map.sources.commits import CommitSource
from repo_map.sources.source import FolderSource


def read_history(root: Path, ref: str = "", **options: Any) -> History | None:
    """Return the history of a folder, or of a commit of it; ``options`` are those of ``source_history``."""
    return source_history(CommitSource(root, ref) if ref else FolderSource(root), **options)
