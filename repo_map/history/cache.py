"""The cache on disk: commits as they were read, and the history they make at one HEAD."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from repo_map.history.commits import Commit
from repo_map.history.value import History
from repo_map.whole_files import prune, replace_file

_LIMIT_BYTES = 256_000_000
_FORMAT = 2
"""Part of each file's name: a new format never reads an old file."""


def load_commits(folder: Path | None, key: str) -> dict[str, Commit]:
    """Return the cached commits by id; none when there is no cache or it can't be read."""
    content = _load(folder, f"{key}\0commits")
    try:
        commits = msgspec.msgpack.decode(content, type=list[Commit]) if content else []
    except msgspec.MsgspecError:
        return {}
    return {commit.id: commit for commit in commits}


def save_commits(folder: Path | None, key: str, commits: list[Commit]) -> None:
    """Replace the cached commits."""
    _save(folder, f"{key}\0commits", commits)


def load_history(folder: Path | None, key: str, made: str) -> History | None:
    """Return the cached history if ``made``, of what and by what, is the same."""
    content = _load(folder, f"{key}\0history")
    if not content:
        return None
    try:
        columns: dict[str, Any] = msgspec.msgpack.decode(content)
        if columns["made"] != made:
            return None
        return History(**{field.name: _value(columns[field.name]) for field in fields(History)})
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError):
        return None


def save_history(folder: Path | None, key: str, made: str, history: History) -> None:
    """Replace the cached history."""
    columns = ((field.name, getattr(history, field.name)) for field in fields(History))
    packed = {
        name: {"type": value.dtype.str, "bytes": value.tobytes()} if isinstance(value, np.ndarray) else value
        for name, value in columns
    }
    _save(folder, f"{key}\0history", {"made": made, **packed})


def _value(packed: Any) -> Any:
    if isinstance(packed, dict):
        return np.frombuffer(packed["bytes"], packed["type"])
    return tuple(packed) if isinstance(packed, list) else packed


def _load(folder: Path | None, key: str) -> bytes:
    if folder is None:
        return b""
    path = _file(folder, key)
    try:
        content = path.read_bytes()
    except OSError:
        return b""
    with suppress(OSError):
        os.utime(path)  # Those used least recently go first.
    return content


def _save(folder: Path | None, key: str, value: object) -> None:
    """Replace a file in one step; a folder that can't be written costs time at the next read and no more."""
    if folder is None:
        return
    path = _file(folder, key)
    with suppress(OSError):
        replace_file(path, lambda file: file.write(msgspec.msgpack.encode(value)))
        prune(path.parent, _LIMIT_BYTES)


def _file(folder: Path, key: str) -> Path:
    return folder / "history" / f"{hashlib.blake2b(key.encode(), digest_size=12).hexdigest()}.v{_FORMAT}"
