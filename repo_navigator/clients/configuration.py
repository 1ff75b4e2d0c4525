"""The files in which clients list servers and hooks: the changes that add ours, and remove it."""

from __future__ import annotations

import difflib
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from navigator.errors import InvalidRequestError
from repo_map.cache import replace_file
from repo_navigator.clients.configuration_text import JsonWithComments, Notation, Toml
from repo_navigator.clients.entries import is_our_hook, is_ours
from repo_navigator.clients.hosts import ENTRY, Host

HOOKS: Final = "hooks"
_MAX_BYTES: Final = 10_000_000
_USUAL: Final = 0o644
_ANYBODY_MAY_WRITE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class ConfigurationError(InvalidRequestError):
    """A client's file can't be read or changed; it is as it was."""

    code = "unusable_configuration"

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"`{path}` {why}, so it was not changed; change it by hand, or correct it.")


class ConfigurationChange(NamedTuple):
    """What would become of one file; ``before`` is None where it is missing, ``after`` where it goes."""

    path: Path
    backup: Path
    """Where the file is kept as it was before us."""
    before: str | None
    after: str | None
    keeps: bool = False
    """Whether the file as it is now is what undoing goes back to."""

    @property
    def diff(self) -> str:
        """The change as a unified diff, empty where nothing changes."""
        old, new = (self.before or "").splitlines(keepends=True), (self.after or "").splitlines(keepends=True)
        lines = difflib.unified_diff(old, new, str(self.path), str(self.path))
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


class ConfigurationFile:
    """A file in which a client lists what of ours it starts: the server, or with ``hooks`` the hooks.

    What is ours, or wanted, is a mapping: the server's entry by its name, or each hook by its event.
    """

    def __init__(
        self,
        host: Host,
        path: Path,
        *,
        hooks: bool = False,
        backup: Path | None = None,
        within: Path | None = None,
    ) -> None:
        """Name the file; it must lie ``within`` a folder, links followed, where one is given."""
        self._host, self.path, self._hooks = host, path, hooks
        suffix = ".before-repo-navigator-hooks" if hooks else ".before-repo-navigator"
        self._backup = backup or path.with_name(path.name + suffix)
        self._within = within
        self._table = HOOKS if hooks else host.servers
        self._notation: Notation = Toml() if path.suffix == ".toml" else JsonWithComments()

    def entry(self) -> Any:
        """Return the server's entry, or ``None`` where there is none.

        Raises:
            ConfigurationError: The file can't be read, or is not what the client would write.
        """
        return self._ours(self._data(self.path, self._read(self.path) or "")).get(ENTRY)

    def adding(self, wanted: Mapping[str, Any]) -> ConfigurationChange:
        """Return the change that adds what is ``wanted``, or renews ours, and leaves the rest as it is.

        Raises:
            ConfigurationError: The file can't be read, or is not what the client would write.
        """
        before = self._read(self.path)
        text = before or ""
        earlier = self._ours(self._data(self.path, text))
        if not self._hooks:
            wanted = {ENTRY: _renewed(earlier.get(ENTRY), wanted[ENTRY])}
        after = self._put(text, wanted)
        if after == text:
            return ConfigurationChange(self.path, self._backup, before, before)
        self._verify(text, after)
        keeps = before is not None and not self._is_from_us(earlier)
        return ConfigurationChange(self.path, self._backup, before, after, keeps)

    def undoing(self) -> ConfigurationChange:
        """Return the change that removes ours, or puts back what was there before; raises as ``adding``."""
        text, backup = self._read(self.path), self._read(self._backup)
        ours = self._ours(self._data(self.path, text or ""))
        if text is None or not ours:
            return ConfigurationChange(self.path, self._backup, text, text)
        # Whoever changed nothing else gets the same bytes back.
        if self._put(backup or "", ours) == text:
            return ConfigurationChange(self.path, self._backup, text, backup)
        after = self._without(text, backup or "")
        self._verify(text, after)
        return ConfigurationChange(self.path, self._backup, text, after)

    def _is_from_us(self, ours: Mapping[str, Any]) -> bool:
        """Return whether this program wrote what is there under our name."""
        return bool(ours) and (self._hooks or is_ours(ours[ENTRY]))

    def _listed(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the table that lists servers, or a list of hooks for each event."""
        found, what = data.get(self._table, {}), " of lists" if self._hooks else ""
        if not isinstance(found, dict) or (
            self._hooks and not all(isinstance(each, list) for each in found.values())
        ):
            raise ConfigurationError(self.path, f"has no object `{self._table}`{what} to add to")
        return found

    def _ours(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        listed = self._listed(data)
        if not self._hooks:
            return {ENTRY: listed[ENTRY]} if ENTRY in listed else {}
        return {event: each[places[0]] for event, each in listed.items() if (places := _hook_places(each))}

    def _others(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what the data holds besides ours, without lists that are empty."""
        listed = self._listed(data)
        if not self._hooks:
            return {**data, self._table: {name: each for name, each in listed.items() if name != ENTRY}}
        lists = {event: [each for each in found if not is_our_hook(each)] for event, found in listed.items()}
        return {**self._heads, **data, HOOKS: {event: found for event, found in lists.items() if found}}

    @property
    def _heads(self) -> Mapping[str, Any]:
        return self._host.hooks.heads if self._hooks and self._host.hooks else {}

    def _put(self, text: str, ours: Mapping[str, Any]) -> str:
        """Return the text with ours in it."""
        listed = self._listed(self._data(self.path, text))
        for key, value in () if text.strip() else self._heads.items():
            text = self._notation.put(text, (key,), value)
        path: tuple[str | int, ...]
        for name, value in sorted(ours.items()):
            there, path, new = listed.get(name), (self._table, name), value
            if self._hooks and there is not None:
                at = next(iter(_hook_places(there)), len(there))
                path = *path, at
                there = there[at] if at < len(there) else None
            elif self._hooks:
                new = [value]
            text = text if there == new else self._notation.put(text, path, new)
        return text

    def _without(self, text: str, backup: str) -> str:
        """Return the text without ours, and with what the backup had in its place."""
        data, before = self._data(self.path, text), self._data(self._backup, backup)
        earlier = self._ours(before)
        if earlier and not self._is_from_us(earlier):
            return self._put(text, earlier)
        paths: list[tuple[str | int, ...]] = [] if self._hooks else [(self._table, ENTRY)]
        for event, listed in self._listed(data).items() if self._hooks else ():
            places = _hook_places(listed)
            if places and len(places) == len(listed) and event not in self._listed(before):
                paths.append((HOOKS, event))
            else:
                paths += ((HOOKS, event, place) for place in reversed(places))
        for path in paths:
            text = self._notation.remove(text, path)
        is_left = self._table not in before and self._notation.data(text).get(self._table) == {}
        return self._notation.remove(text, (self._table,)) if is_left else text

    def _verify(self, before: str, after: str) -> None:
        """Refuse a change that would alter what is not ours, so that no file is ever spoilt."""
        try:
            is_right = self._others(self._notation.data(after)) == self._others(self._notation.data(before))
        except ValueError:
            is_right = False
        if not is_right:
            raise ConfigurationError(self.path, "is written in a way that `install` can't change safely")

    def _data(self, path: Path, text: str) -> dict[str, Any]:
        try:
            return self._notation.data(text)
        except ValueError as error:
            raise ConfigurationError(path, f"can't be read as {self._host.title} would ({error})") from error

    def _read(self, path: Path) -> str | None:
        """Return the text of a file, None where there is none.

        Raises:
            ConfigurationError: It can't be read, or leads out of the project.
        """
        try:
            real = path.resolve()
            if path == self.path and self._within and not real.is_relative_to(self._within.resolve()):
                raise ConfigurationError(path, f"leads out of the project, to `{real}`")
            if real.exists() and not real.is_file():
                raise ConfigurationError(path, "is not a file")
            with real.open("rb") as file:
                data = file.read(_MAX_BYTES + 1)
            if len(data) > _MAX_BYTES:
                raise ConfigurationError(path, f"has more than {_MAX_BYTES:,} bytes")
            return data.decode("utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            raise ConfigurationError(path, "is not in UTF-8") from None
        except RuntimeError:  # Up to Python 3.12 for a link to itself, which later is an OSError.
            raise ConfigurationError(path, "is a link that leads nowhere") from None


def _renewed(earlier: Any, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the ``wanted`` entry, with what the user added to an earlier one of ours."""
    before = earlier if isinstance(earlier, Mapping) else {}
    # Installing again must not open what an allow-list of the first time keeps closed.
    env = before.get("env")
    env = {**(env if isinstance(env, Mapping) else {}), **wanted.get("env", {})}
    return {**(before if is_ours(earlier) else {}), **wanted, **({"env": env} if env else {})}


def _hook_places(listed: list[Any]) -> list[int]:
    """Return which elements of an event's list are ours."""
    return [place for place, each in enumerate(listed) if is_our_hook(each)]


def carry_out(change: ConfigurationChange, *, undo: bool) -> None:
    """Write what ``change`` says, whole or not at all; undoing ends with what was kept for it.

    Raises:
        ConfigurationError: The file may not be written, or was changed meanwhile.
        OSError: The disk refuses.
    """
    # A symlinked configuration stays a symlink: its target is what changes.
    real = change.path.resolve()
    there = real.stat() if real.exists() else None
    if there is not None and not there.st_mode & _ANYBODY_MAY_WRITE:
        raise ConfigurationError(change.path, "is read-only")
    now = real.read_bytes() if there is not None else None
    if now != (None if change.before is None else change.before.encode()):
        raise ConfigurationError(change.path, "was changed by another program meanwhile")
    mode = _USUAL if there is None else stat.S_IMODE(there.st_mode)
    if change.keeps and change.before is not None:
        _write(change.backup, change.before, mode)
    if change.after is None:
        real.unlink()
        # The folder of a client that is not installed would look like its own.
        with suppress(OSError):
            real.parent.rmdir()
    else:
        _write(real, change.after, mode)
    if undo or change.before is None:
        change.backup.unlink(missing_ok=True)


def _write(path: Path, text: str, mode: int) -> None:
    # It may hold keys: until it has its permissions, it is unreadable for others.
    replace_file(path, lambda file: file.write(text.encode()))
    path.chmod(mode)
