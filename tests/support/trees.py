"""Small repositories for tests, made of real files and real git."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from repo_map.index.index import Index
from repo_map.index.schema import to_arrays


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files by their paths, and return the folder they are in."""
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def git(root: Path, *arguments: str) -> str:
    """Run git in a folder, as somebody with a name, and return what it prints."""
    who = {
        f"GIT_{role}_{field}": f"t@{role}" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")
    }
    command = ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *arguments]
    done = subprocess.run(command, cwd=root, env=os.environ | who, check=True, capture_output=True)
    return done.stdout.decode()


def commit(root: Path, files: Mapping[str, str | bytes], *, message: str = "A commit") -> Path:
    """Write files and commit them, in a repository that is made if there is none."""
    write(root, files)
    if not (root / ".git").exists():
        git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)
    return root


def tables_digest(index: Index) -> str:
    """Return a digest of every byte of every table of an index, names and types included."""
    whole = hashlib.sha256()
    for name, array in to_arrays(index._tables).items():
        whole.update(f"{name} {array.dtype.str} {array.shape}\0".encode())
        whole.update(array.tobytes())
    return whole.hexdigest()


def folded_paths(names: Sequence[str], parents: Sequence[int]) -> list[str]:
    """Return the path of each node of a folded tree; of a rest that of its folder."""
    found: list[str] = []
    for name, parent in zip(names, parents, strict=True):
        above = found[parent] if parent >= 0 else ""
        found.append(f"{above}/{name}" if above and name else above or name)
    return found
