"""The files in which clients list servers and hooks: entries of ours go in and out, all else stays."""

from __future__ import annotations

import difflib
import json
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from navigator.errors import InvalidRequestError
from repo_map.cache import replace_file
from repo_navigator.clients.entries import is_our_hook, is_ours
from repo_navigator.clients.hosts import ENTRY, Host

HOOKS: Final = "hooks"
_MAX_BYTES: Final = 10_000_000
_USUAL_MODE: Final = 0o644
_ANYBODY_MAY_WRITE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_BOM: Final = "\ufeff"
# What is never closed goes to the end, so that no character is looked at twice.
_STRING: Final = r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)'
_COMMENT: Final = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA: Final = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_DECODER: Final = json.JSONDecoder()
_LONG_KEY: Final = re.compile(r"(?:[^=,{}\[\]\n.]*\.){300}")
"""A TOML key of hundreds of parts: reading it takes the square of their number."""


class ConfigurationError(InvalidRequestError):
    """A client's file can't be read or changed; it is as it was."""

    code = "unusable_configuration"

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"`{path}` {why}, so it was not changed; change it by hand, or correct it.")


class ConfigurationChange(NamedTuple):
    """A change of one file; ``before`` is None if it is missing, ``after`` if it is to be removed."""

    path: Path
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        """The change as a unified diff, empty if nothing changes."""
        old, new = (self.before or "").splitlines(keepends=True), (self.after or "").splitlines(keepends=True)
        lines = difflib.unified_diff(old, new, str(self.path), str(self.path))
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def write(self) -> None:
        """Write the file, whole or not at all.

        Raises:
            ConfigurationError: The file may not be written, or was changed meanwhile.
            OSError: The disk refuses.
        """
        # A symlinked configuration stays a symlink: its target is what changes.
        real = self.path.resolve()
        there = real.stat() if real.exists() else None
        if there is not None and not there.st_mode & _ANYBODY_MAY_WRITE:
            raise ConfigurationError(self.path, "is read-only")
        now = real.read_bytes() if there is not None else None
        if now != (None if self.before is None else self.before.encode()):
            raise ConfigurationError(self.path, "was changed by another program meanwhile")
        if self.after is None:
            real.unlink()
            # The folder of a client that is not installed would look like its own.
            with suppress(OSError):
                real.parent.rmdir()
            return
        content = self.after.encode()
        # It may hold keys: until it has its permissions, it is unreadable for others.
        replace_file(real, lambda file: file.write(content))
        real.chmod(_USUAL_MODE if there is None else stat.S_IMODE(there.st_mode))


@dataclass(frozen=True)
class ConfigurationFile:
    """A file in which a client lists our server, or with ``hooks`` our hooks by their events."""

    host: Host
    path: Path
    hooks: bool = False
    within: Path | None = None
    """The folder that it must lie in, links followed."""

    def entry(self) -> Any:
        """Return the server's entry, or ``None`` if there is none.

        Raises:
            ConfigurationError: The file can't be read, or is not what the client would write.
        """
        return self._listed(self._data(self._read() or "")).get(ENTRY)

    def adding(self, wanted: Mapping[str, Any]) -> ConfigurationChange:
        """Return the change that adds what is ``wanted``, or renews ours, and leaves the rest as it is.

        Raises:
            ConfigurationError: The file can't be read, is not what the client would write, or lists another
                server under our name.
        """
        before = self._read()
        listed = self._listed(self._data(before or ""))
        changed: dict[str, Any]
        if self.hooks:
            changed = {
                event: [element, *(each for each in listed.get(event, ()) if not is_our_hook(each))]
                for event, element in wanted.items()
                if element not in listed.get(event, ())
            }
        else:
            entry = _renewed(listed.get(ENTRY), wanted[ENTRY])
            changed = {ENTRY: entry} if entry != listed.get(ENTRY) else {}
            if ENTRY in listed and changed and not is_ours(listed[ENTRY]):
                raise ConfigurationError(self.path, f"has a `{ENTRY}` that starts another program")
        return ConfigurationChange(self.path, before, self._changed(before, changed))

    def undoing(self) -> ConfigurationChange:
        """Return the change that removes ours; a file with nothing else goes. Raises as ``adding``."""
        before = self._read()
        listed = self._listed(self._data(before or ""))
        changed: dict[str, Any] = {}
        if self.hooks:
            for event, elements in listed.items():
                if any(map(is_our_hook, elements)):
                    changed[event] = [each for each in elements if not is_our_hook(each)] or None
        elif is_ours(listed.get(ENTRY)):
            changed[ENTRY] = None
        after = self._changed(before, changed)
        if changed and after is not None and self._data(after) in ({}, self._heads):
            return ConfigurationChange(self.path, before, None if _is_bare(after) else after)
        return ConfigurationChange(self.path, before, after)

    @property
    def _table(self) -> str:
        return HOOKS if self.hooks else self.host.servers

    @property
    def _heads(self) -> Mapping[str, Any]:
        return self.host.hooks.heads if self.hooks and self.host.hooks else {}

    def _listed(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the table that lists servers, or a list of hooks for each event."""
        found, what = data.get(self._table, {}), " of lists" if self.hooks else ""
        if not isinstance(found, dict) or (
            self.hooks and not all(isinstance(each, list) for each in found.values())
        ):
            raise ConfigurationError(self.path, f"has no object `{self._table}`{what} to add to")
        return found

    def _changed(self, before: str | None, changed: Mapping[str, Any]) -> str | None:
        """Return the text with items of the table replaced, or removed if they are None.

        Raises:
            ConfigurationError: What is not ours would change, so that no file is ever spoilt.
        """
        if not changed:
            return before
        text = before or ""
        wanted = {**({} if text.strip() else self._heads), **self._data(text)}
        table = {**wanted.get(self._table, {}), **changed}
        wanted[self._table] = {name: value for name, value in table.items() if value is not None}
        try:
            if self.path.suffix == ".toml":
                text = _change_toml(text, self._table, changed[ENTRY])
            else:
                for name, value in () if text.strip() else self._heads.items():
                    text = _put(text, (name,), value)
                for name, value in sorted(changed.items()):
                    path = self._table, name
                    text = _remove(text, path) if value is None else _put(text, path, value)
                if not wanted[self._table]:
                    text = _remove(text, (self._table,))
            is_right = {self._table: {}, **self._data(text)} == wanted
        except ValueError:
            is_right = False
        if not is_right:
            raise ConfigurationError(self.path, "is written in a way that `install` can't change safely")
        return text

    def _data(self, text: str) -> dict[str, Any]:
        try:
            if self.path.suffix == ".toml" and _LONG_KEY.search(text):
                raise ValueError("it has a key of hundreds of parts")
            if self.path.suffix == ".toml":
                return tomllib.loads(text.removeprefix(_BOM))
            found = json.loads(plain) if (plain := _plain(text)).strip() else {}
            if not isinstance(found, dict):
                raise ValueError("it is no object")
            return found
        except (ValueError, RecursionError) as error:
            why = "it is nested too deep" if isinstance(error, RecursionError) else error
            raise ConfigurationError(
                self.path, f"can't be read as {self.host.title} would ({why})"
            ) from error

    def _read(self) -> str | None:
        """Return the text of the file, None if there is none.

        Raises:
            ConfigurationError: It can't be read, or leads out of the project.
        """
        try:
            real = self.path.resolve()
            if self.within and not real.is_relative_to(self.within.resolve()):
                raise ConfigurationError(self.path, f"leads out of the project, to `{real}`")
            if real.exists() and not real.is_file():
                raise ConfigurationError(self.path, "is not a file")
            with real.open("rb") as file:
                data = file.read(_MAX_BYTES + 1)
            if len(data) > _MAX_BYTES:
                raise ConfigurationError(self.path, f"has more than {_MAX_BYTES:,} bytes")
            return data.decode("utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            raise ConfigurationError(self.path, "is not in UTF-8") from None
        except RuntimeError:  # Up to Python 3.12 for a link to itself, which later is an OSError.
            raise ConfigurationError(self.path, "is a link that leads nowhere") from None


def _renewed(earlier: Any, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the ``wanted`` entry, with what the user added to an earlier one of ours."""
    before = earlier if isinstance(earlier, Mapping) and is_ours(earlier) else {}
    # Installing again must not open what an allow-list of the first time keeps closed.
    env = before.get("env")
    env = {**(env if isinstance(env, Mapping) else {}), **wanted.get("env", {})}
    return {**before, **wanted, **({"env": env} if env else {})}


# JSON in which comments, and a comma before a closing bracket, are allowed. New members come first.


class _Member(NamedTuple):
    key: str
    start: int
    value: int
    end: int
    """Offsets of the member, of its value and behind it."""


def _put(text: str, path: tuple[str, ...], value: Any) -> str:
    """Return the text with a value at a path of keys, in the place of the one that is there, or first."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if not _plain(text).strip():
        head = text.rstrip()
        text = f"{head}{newline if head.strip(_BOM) else ''}{{}}{newline}"
    plain = _plain(text)
    start, depth, member = _find(plain, path)
    unit = found[1] if (found := re.search(r'^([ \t]+)"', text, re.MULTILINE)) else "  "
    inner = newline + unit * (depth + 1)
    for missing in reversed(path[depth + 1 :] if member is None else ()):
        value = {missing: value}
    written = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", inner)
    if member is not None:
        return text[: member.value] + written + text[member.end :]
    is_first = next(_members(plain, start), None) is None
    is_closed = is_first and re.match(r"[ \t]*\}", text[start + 1 :]) is not None
    end = newline + unit * depth if is_closed else "" if is_first else ","
    return f"{text[: start + 1]}{inner}{json.dumps(path[depth])}: {written}{end}{text[start + 1 :]}"


def _remove(text: str, path: tuple[str, ...]) -> str:
    """Return the text without the member at a path, its comma, and the space before it."""
    start, _, member = _find(_plain(text), path)
    if member is None:
        return text
    commas = _without_comments(text)
    begin = len(text[: member.start].rstrip())
    if (comma := re.compile(r"\s*,").match(commas, member.end)) is not None:
        return text[:begin] + text[member.end : comma.end() - 1] + text[comma.end() :]
    before = commas.rfind(",", start, member.start)
    is_only = re.search(r"[^\s,]", commas[start + 1 : member.start]) is None
    if is_only:
        return text[:begin] + text[member.end :]
    return text[:before] + text[before + 1 : begin] + text[member.end :]


def _is_bare(text: str) -> bool:
    """Return True if a text has no comment that could get lost."""
    return _without_comments(text).strip(_BOM) == text.strip(_BOM) and "#" not in text


def _blanked(found: re.Match[str]) -> str:
    return found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0])


def _without_comments(text: str) -> str:
    """Return the text with its comments as spaces, so that every other character stays where it is."""
    return _COMMENT.sub(_blanked, f" {text[1:]}" if text.startswith(_BOM) else text)


def _plain(text: str) -> str:
    """Return plain JSON: a comment, and a comma before a closing bracket, is space."""
    return _LAST_COMMA.sub(_blanked, _without_comments(text))


def _find(plain: str, path: tuple[str, ...]) -> tuple[int, int, _Member | None]:
    """Return where the innermost object on a path starts, its depth, and the member looked for in it."""
    start = plain.index("{")
    for depth, key in enumerate(path):
        # Of several members with one key the last is the one that readers take.
        member = next((each for each in reversed([*_members(plain, start)]) if each.key == key), None)
        if member is None or depth == len(path) - 1:
            break
        start = member.value
    return start, depth, member


def _members(plain: str, start: int) -> Iterator[_Member]:
    """Yield the members of the object that begins at ``start`` of valid JSON."""
    space = re.compile(r"[\s,:]*")
    at = space.match(plain, start + 1).end()  # type: ignore[union-attr]
    while plain[at] != "}":
        key, end = _DECODER.raw_decode(plain, at)
        value = space.match(plain, end).end()  # type: ignore[union-attr]
        _, end = _DECODER.raw_decode(plain, value)
        yield _Member(key, at, value, end)
        at = space.match(plain, end).end()  # type: ignore[union-attr]


# TOML.


def _change_toml(text: str, table: str, entry: Mapping[str, Any] | None) -> str:
    """Return the text without the tables of our entry, and with a new one at its end if there is one."""
    newline = "\r\n" if "\r\n" in text else "\n"
    name = rf'(?:{ENTRY}|"{ENTRY}")'
    ours = rf"(?:^|(?:\r?\n)?(?<=\n))\[{table}\.{name}(?:\.[^\]\n]*)?\][^\n]*(?:\n(?![\r\n\[#])[^\n]*)*\n?"
    text = re.sub(ours, "", text)
    if entry is None:
        return text
    lines = (f"[{table}.{ENTRY}]", *(f"{key} = {_toml(value)}" for key, value in entry.items()))
    head = f"{text}{'' if text.endswith(newline) else newline}{newline}" if text.strip(_BOM) else text
    return f"{head}{newline.join(lines)}{newline}"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
