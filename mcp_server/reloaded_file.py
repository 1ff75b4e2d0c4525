"""A YAML list that the server reads again when its file changes."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from mcp_server.settings import SettingsError
from repo_map.messages import one_line

MAX_BYTES: Final = 1_000_000
CHECK_INTERVAL_S: Final = 1.0
"""Seconds between two looks at the file's size and time of change."""

Entry = TypeVar("Entry", bound=BaseModel)
logger = logging.getLogger(__name__)


class ReloadedFile(Generic[Entry]):
    """The entries of one file, as of its latest usable content.

    A file that can't be used when the server starts is an error. One that becomes unusable later leaves the
    entries as they were, and the log says so once.
    """

    def __init__(
        self,
        path: Path,
        entry: type[Entry],
        key: Callable[[Entry], str],
        interval_s: float = CHECK_INTERVAL_S,
    ) -> None:
        """Read ``path``, a list of ``entry`` whose ``key`` is unique.

        Raises:
            SettingsError: The file can't be read, or an entry can't be used; the message names its line.
        """
        self._path = path
        self._entry = entry
        self._key = key
        self._stamp = self._stat()
        self._entries = self._read()
        self._checked_at = monotonic()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries as they are now, at most ``CHECK_INTERVAL_S`` late."""
        now = monotonic()
        if now - self._checked_at >= CHECK_INTERVAL_S:
            self._checked_at = now
            stamp = self._stat()
            if stamp != self._stamp:
                self._stamp = stamp
                self._reload()
        return self._entries

    def _reload(self) -> None:
        try:
            self._entries = self._read()
        except SettingsError as error:
            logger.error("%s The last valid entries stay in force.", one_line(str(error)))
        else:
            logger.info("Reloaded `%s`: %d entries", self._path, len(self._entries))

    def _stat(self) -> tuple[int, ...]:
        try:
            found = self._path.stat()
        except OSError:
            return ()
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _read(self) -> tuple[Entry, ...]:
        try:
            with self._path.open("rb") as file:
                if not os.path.isfile(self._path):  # noqa: PTH113 - a pipe or a device would never end
                    raise OSError(0, "it is no regular file")
                content = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise SettingsError(
                f"`{self._path}` can't be read: {error.strerror}; correct the path."
            ) from error
        if len(content) > MAX_BYTES:
            raise SettingsError(f"`{self._path}` has more than {MAX_BYTES:,} bytes; name a list of entries.")
        return self._parse(content)

    def _parse(self, content: bytes) -> tuple[Entry, ...]:
        import yaml  # noqa: PLC0415 - most servers have no such file

        try:
            root = yaml.compose(content, Loader=yaml.SafeLoader)
            values = yaml.safe_load(content)
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
            mark = getattr(error, "problem_mark", None)
            where = "" if mark is None else f", line {mark.line + 1}"
            raise SettingsError(f"`{self._path}`{where} is no valid YAML; correct it.") from error
        if root is None:
            return ()
        if not isinstance(root, yaml.SequenceNode) or not isinstance(values, list):
            raise SettingsError(f"`{self._path}` holds no list; write one entry after each `-`.")
        found: dict[str, Entry] = {}
        for node, value in zip(root.value, values, strict=True):
            where = f"`{self._path}`, line {node.start_mark.line + 1}"
            try:
                entry = self._entry.model_validate(value)
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                field = ".".join(map(str, first["loc"])) or "the entry"
                raise SettingsError(f"{where}: {field}: {first['msg']}; correct it.") from None
            if self._key(entry) in found:
                raise SettingsError(f"{where}: `{self._key(entry)}` is listed twice; remove one entry.")
            found[self._key(entry)] = entry
        return tuple(found.values())
