"""A YAML list that the server reads again when its file changes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from mcp_server.settings import SettingsError
from repo_map.messages import one_line

Entry = TypeVar("Entry", bound=BaseModel)
logger = logging.getLogger(__name__)


class ReloadedFile(Generic[Entry]):
    """The entries of one file, as of its latest usable content.

    A file that can't be used when the server starts is an error. One that becomes unusable later leaves the
    entries as they were, and the log says so once.
    """

    def __init__(self, path: Path, entry: type[Entry], key: Callable[[Entry], str]) -> None:
        """Read ``path``, a list of ``entry`` whose ``key`` is unique, or raise ``SettingsError``."""
        self._path = path
        self._key = key
        self._list: TypeAdapter[list[Entry]] = TypeAdapter(list[entry])  # type: ignore[valid-type]
        self._stamp = self._stat()
        self._entries = self._read()

    @property
    def entries(self) -> tuple[Entry, ...]:
        if (stamp := self._stat()) != self._stamp:
            self._stamp = stamp
            try:
                self._entries = self._read()
                logger.info("Reloaded `%s`: %d entries", self._path, len(self._entries))
            except SettingsError as error:
                logger.error("%s The last valid entries stay in force.", one_line(str(error)))
        return self._entries

    def _stat(self) -> tuple[int, ...]:
        try:
            found = self._path.stat()
        except OSError:
            return ()
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _read(self) -> tuple[Entry, ...]:
        import yaml  # noqa: PLC0415 - most servers have no such file

        try:
            if not self._path.is_file():
                raise OSError(0, "it is no file")
            entries = self._list.validate_python(yaml.safe_load(self._path.read_bytes()) or [])
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = "".join(f", {part + 1 if isinstance(part, int) else part}" for part in first["loc"])
            reason = f"entry{place[1:]}: {first['msg']}" if place else "it holds no list"
            raise SettingsError(f"`{self._path}` can't be used: {reason}; correct it.") from None
        except OSError as error:
            raise SettingsError(f"`{self._path}` can't be read: {error.strerror}.") from error
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            mark = getattr(error, "problem_mark", None)
            where = "" if mark is None else f", line {mark.line + 1}"
            raise SettingsError(f"`{self._path}`{where} is no valid YAML; correct it.") from error
        keys = [self._key(entry) for entry in entries]
        if twice := next((key for key in keys if keys.count(key) > 1), None):
            raise SettingsError(f"`{self._path}` lists `{twice}` twice; remove one entry.")
        return tuple(entries)
