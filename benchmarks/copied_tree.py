"""A copy of a repository that a measurement may edit."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from repo_map.worktree.files import list_files


@contextmanager
def copied_tree(tree: Path) -> Iterator[Path]:
    """Copy the files that the index would see into a repository of its own, with one commit."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        copy = Path(folder, "tree")
        for path in list_files(tree).paths:
            if not (tree / path).is_symlink():
                (copy / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(tree / path, copy / path)
        commit_all(copy)
        yield copy


def commit_all(tree: Path) -> None:
    """Make a folder a repository whose only commit holds all of it."""
    name = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost", "-c", "gc.auto=0")
    for command in (("init", "-q"), ("add", "-A", "-f"), (*name, "commit", "-q", "-m", "Measured")):
        subprocess.run(["git", *command], cwd=tree, check=True)
