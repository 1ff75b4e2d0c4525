"""The files in which clients list servers and hooks: the changes that add ours, and remove it."""

from __future__ import annotations

import difflib
import stat
from collections.abc import Mapping
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


class HostFile:
    """A file in which a client lists what of ours it starts, for the user or for a project."""

    suffix: str
    """Of the file beside it that keeps it as it was before us."""

    def __init__(
        self, host: Host, path: Path, backup: Path | None = None, *, within: Path | None = None
    ) -> None:
        """Name the file; it must lie ``within`` a folder, links followed, where one is given."""
        self._host, self.path = host, path
        self._backup = backup or path.with_name(path.name + self.suffix)
        self._within = within
        self._notation: Notation = Toml() if path.suffix == ".toml" else JsonWithComments()

    def adding(self, wanted: Mapping[str, Any]) -> ConfigurationChange:
        """Return the change that adds what is ``wanted``, or renews ours, and leaves the rest as it is.

        Raises:
            ConfigurationError: The file can't be read, or is not what the client would write.
        """
        before = self._read(self.path)
        text = before or ""
        earlier = self._ours(self._data(self.path, text))
        after = self._put(text, self._renewed(earlier, wanted))
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

    def _ours(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what of ours the data holds; empty for nothing."""
        raise NotImplementedError

    def _others(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what the data holds besides, without lists and tables that are empty."""
        raise NotImplementedError

    def _renewed(self, earlier: Mapping[str, Any], wanted: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what is ``wanted``, with what the user added to ours."""
        del earlier
        return wanted

    def _is_from_us(self, earlier: Mapping[str, Any]) -> bool:
        """Return whether this program wrote what was there under our name."""
        return bool(earlier)

    def _put(self, text: str, ours: Mapping[str, Any]) -> str:
        """Return the text with ours in it."""
        raise NotImplementedError

    def _without(self, text: str, backup: str) -> str:
        """Return the text without ours, and with what the backup had in its place."""
        raise NotImplementedError

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


class Configuration(HostFile):
    """The file that lists servers."""

    suffix = ".before-repo-navigator"

    def entry(self) -> Any:
        """Return our entry, or ``None`` where there is none.

        Raises:
            ConfigurationError: The file can't be read, or is not what the client would write.
        """
        text = self._read(self.path)
        return None if text is None else self._servers(self._data(self.path, text)).get(ENTRY)

    def _servers(self, data: Mapping[str, Any]) -> dict[str, Any]:
        servers = data.get(self._host.servers, {})
        if not isinstance(servers, dict):
            raise ConfigurationError(self.path, f"has no object `{self._host.servers}` to add to")
        return servers

    def _ours(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        entry = self._servers(data).get(ENTRY)
        return entry if isinstance(entry, dict) else {} if entry is None else {"": entry}

    def _others(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        servers = {name: value for name, value in self._servers(data).items() if name != ENTRY}
        return {**data, self._host.servers: servers}

    def _renewed(self, earlier: Mapping[str, Any], wanted: Mapping[str, Any]) -> Mapping[str, Any]:
        # Installing again must not open what an allow-list of the first time keeps closed.
        before = earlier.get("env")
        env = {**(before if isinstance(before, Mapping) else {}), **wanted.get("env", {})}
        own = earlier if self._is_from_us(earlier) else {}
        return {**own, **wanted, **({"env": env} if env else {})}

    def _is_from_us(self, earlier: Mapping[str, Any]) -> bool:
        return is_ours(earlier)

    def _put(self, text: str, ours: Mapping[str, Any]) -> str:
        if self._ours(self._data(self.path, text)) == ours:
            return text
        return self._notation.put(text, (self._host.servers, ENTRY), ours)

    def _without(self, text: str, backup: str) -> str:
        before = self._data(self._backup, backup)
        earlier = self._ours(before)
        if earlier and not self._is_from_us(earlier):
            return self._notation.put(text, (self._host.servers, ENTRY), earlier)
        text = self._notation.remove(text, (self._host.servers, ENTRY))
        return _without_empty(self._notation, text, self._host.servers, before)


class HookConfiguration(HostFile):
    """The file that lists hooks."""

    suffix = ".before-repo-navigator-hooks"

    def _lists(self, data: Mapping[str, Any]) -> dict[str, list[Any]]:
        found = data.get(HOOKS, {})
        if not isinstance(found, dict) or not all(isinstance(each, list) for each in found.values()):
            raise ConfigurationError(self.path, f"has no object `{HOOKS}` of lists to add to")
        return found

    def _ours(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        lists = self._lists(data).items()
        return {
            event: next(filter(is_our_hook, each)) for event, each in lists if any(map(is_our_hook, each))
        }

    def _others(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        lists = {
            event: [each for each in listed if not is_our_hook(each)]
            for event, listed in self._lists(data).items()
        }
        heads = self._host.hooks.heads if self._host.hooks else {}
        return {**heads, **data, HOOKS: {event: listed for event, listed in lists.items() if listed}}

    def _put(self, text: str, ours: Mapping[str, Any]) -> str:
        if not text.strip():
            for key, value in (self._host.hooks.heads if self._host.hooks else {}).items():
                text = self._notation.put(text, (key,), value)
        for event, element in sorted(ours.items()):
            listed = self._lists(self._data(self.path, text)).get(event)
            if listed is None:
                text = self._notation.put(text, (HOOKS, event), [element])
                continue
            places = [place for place, each in enumerate(listed) if is_our_hook(each)]
            if not places or listed[places[0]] != element:
                place = places[0] if places else len(listed)
                text = self._notation.put(text, (HOOKS, event, place), element)
        return text

    def _without(self, text: str, backup: str) -> str:
        before = self._data(self._backup, backup)
        for event, listed in self._lists(self._data(self.path, text)).items():
            places = [place for place, each in enumerate(listed) if is_our_hook(each)]
            for place in reversed(places):
                text = self._notation.remove(text, (HOOKS, event, place))
            if places and len(places) == len(listed) and event not in self._lists(before):
                text = self._notation.remove(text, (HOOKS, event))
        return _without_empty(self._notation, text, HOOKS, before)


def _without_empty(notation: Notation, text: str, table: str, before: Mapping[str, Any]) -> str:
    """Return the text without a table that is empty and was not there before."""
    is_left = table not in before and notation.data(text).get(table) == {}
    return notation.remove(text, (table,)) if is_left else text


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
    else:
        _write(real, change.after, mode)
    if undo or change.before is None:
        change.backup.unlink(missing_ok=True)


def _write(path: Path, text: str, mode: int) -> None:
    # It may hold keys: until it has its permissions, it is unreadable for others.
    replace_file(path, lambda file: file.write(text.encode()))
    path.chmod(mode)
