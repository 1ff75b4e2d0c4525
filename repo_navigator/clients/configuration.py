"""The configuration file of a host: the change that adds our entry to it, and the one that takes it out."""

from __future__ import annotations

import difflib
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from navigator.errors import InvalidRequestError
from repo_map.cache import replace_file
from repo_navigator.clients.configuration_text import JsonWithComments, Notation, Toml
from repo_navigator.clients.entries import is_ours
from repo_navigator.clients.hosts import ENTRY, Host

_USUAL: Final = 0o644
_ANYBODY_MAY_WRITE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class ConfigurationError(InvalidRequestError):
    """A host's file can't be read or changed; it is as it was."""

    code = "unusable_configuration"


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
    """A file in which a host lists what of ours it starts, as the user's or as one that a project shares."""

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
            ConfigurationError: The file can't be read, or is not what the host would write.
        """
        raise NotImplementedError

    def undoing(self) -> ConfigurationChange:
        """Return the change that takes ours out, or puts back what was there before; raises as ``adding``."""
        raise NotImplementedError

    def _change(self, before: str | None, after: str | None, *, keeps: bool = False) -> ConfigurationChange:
        return ConfigurationChange(self.path, self._backup, before, after, keeps)

    def _require(self, is_right: bool) -> None:
        """Raise unless the new text says what it has to, so that no file is ever spoilt."""
        if not is_right:
            raise ConfigurationError(
                f"`{self.path}` is written in a way that `install` can't change safely, so it was "
                "not changed; change it by hand."
            )

    def _data(self, path: Path, text: str) -> dict[str, Any]:
        try:
            return self._notation.data(text)
        except ValueError as error:
            raise ConfigurationError(
                f"`{path}` can't be read as {self._host.title} would ({error}), so it was not changed; "
                "fix it."
            ) from error

    def _read(self, path: Path) -> str | None:
        within = self._within if path == self.path else None
        return _read_text(path, self._notation.max_bytes, within)


class Configuration(HostFile):
    """The file that lists servers."""

    suffix = ".before-repo-navigator"

    def entry(self) -> Any:
        """Return our entry, or ``None`` where there is none.

        Raises:
            ConfigurationError: The file can't be read, or is not what the host would write.
        """
        text = self._read(self.path)
        return None if text is None else self._servers(self.path, text).get(ENTRY)

    def adding(self, wanted: Mapping[str, Any]) -> ConfigurationChange:
        """Return the change that adds an entry, or renews ours; raises as ``HostFile`` says."""
        before = self._read(self.path)
        text = before or ""
        earlier = self._servers(self.path, text).get(ENTRY)
        renewed = _renewed(earlier, wanted)
        if earlier == renewed:
            return self._change(before, before)
        written = self._notation.written(text, self._host.servers, ENTRY, renewed)
        after = self._put(text, written)
        self._require_data(after, self._expected(text, renewed))
        is_first = not is_ours(earlier) or earlier is None
        return self._change(before, after, keeps=before is not None and is_first)

    def undoing(self) -> ConfigurationChange:
        """Return the change that takes our entry out, or puts back the one that was there before us."""
        text, backup_text = self._read(self.path), self._read(self._backup)
        here = self._host.servers, ENTRY
        if text is None or self._servers(self.path, text).get(ENTRY) is None:
            return self._change(text, text)
        written = self._notation.entry(text, *here)
        if written is None:
            raise ConfigurationError(
                f"`{self.path}` has an entry `{ENTRY}` that is written in another way than `install` does, "
                "so it was not changed; take it out by hand."
            )
        # Whoever changed nothing else gets the same bytes back.
        if self._put(backup_text or "", written) == text:
            return self._change(text, backup_text)
        earlier = None if backup_text is None else self._servers(self._backup, backup_text).get(ENTRY)
        if backup_text is not None and earlier is not None and not is_ours(earlier):
            value = self._notation.entry(backup_text, *here) or self._notation.written(text, *here, earlier)
            return self._change(text, self._put(text, value))
        had_table = backup_text is not None and self._host.servers in self._data(self._backup, backup_text)
        after = self._notation.take(text, *here, with_table=not had_table)
        self._require_data(after, self._expected(text, None))
        return self._change(text, after)

    def _put(self, text: str, written: str) -> str:
        return self._notation.put(text, self._host.servers, ENTRY, written)

    def _expected(self, text: str, entry: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return what the file has to say once ours is ``entry``, or is gone."""
        servers = {name: value for name, value in self._servers(self.path, text).items() if name != ENTRY}
        return {
            **self._data(self.path, text),
            self._host.servers: servers | ({ENTRY: entry} if entry else {}),
        }

    def _require_data(self, after: str, expected: Mapping[str, Any]) -> None:
        try:
            found = self._notation.data(after)
        except ValueError:
            found = {}
        self._require(found | {self._host.servers: found.get(self._host.servers, {})} == expected)

    def _servers(self, path: Path, text: str) -> dict[str, Any]:
        servers = self._data(path, text).get(self._host.servers, {})
        if not isinstance(servers, dict):
            raise ConfigurationError(
                f"`{path}` has no object `{self._host.servers}` to add to, so it was not changed; fix it."
            )
        return servers


def _read_text(path: Path, max_bytes: int, within: Path | None) -> str | None:
    """Return the text of a host's file, None where there is none; it must lie ``within`` a folder if given.

    Raises:
        ConfigurationError: it can't be read.
    """
    try:
        real = path.resolve()
        # From Python 3.13 on a link to itself resolves to itself.
        leads_nowhere = real.is_symlink()
    except (OSError, RuntimeError):
        leads_nowhere = True
    if leads_nowhere:
        raise ConfigurationError(
            f"`{path}` is a link that leads nowhere, so it was not changed; move it out of the way."
        )
    if within is not None and not real.is_relative_to(within.resolve()):
        raise ConfigurationError(
            f"`{path}` leads out of the project, to `{real}`, so it was not changed; "
            "change that file by hand if it is meant."
        )
    try:
        if real.exists() and not real.is_file():
            raise ConfigurationError(
                f"`{path}` is not a file, so it was not changed; move it out of the way."
            )
        with real.open("rb") as file:
            data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise ConfigurationError(
                f"`{path}` has more than {max_bytes:,} bytes, so it was not changed; add the "
                "entry by hand, or make the file smaller."
            )
        return data.decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"`{path}` is not in UTF-8, so it was not changed; save it as UTF-8."
        ) from error


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
        raise ConfigurationError(
            f"`{change.path}` is read-only, so it was not changed; make it writable and try again."
        )
    now = real.read_bytes() if there is not None else None
    if now != (None if change.before is None else change.before.encode()):
        raise ConfigurationError(f"`{change.path}` was changed by another program meanwhile; try again.")
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


def _renewed(earlier: object, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``entry`` with what the user added to ours before."""
    if not isinstance(earlier, Mapping):
        return dict(entry)
    # Installing again must not open what an allow-list of the first time keeps closed.
    before = earlier.get("env")
    env = {**(before if isinstance(before, Mapping) else {}), **entry.get("env", {})}
    own = dict(earlier) if is_ours(earlier) else {}
    return {**own, **entry, **({"env": env} if env else {})}
