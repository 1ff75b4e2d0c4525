"""The notations of clients' settings: one value is put in or taken out, and all other bytes stay."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, Protocol

Path = tuple[str | int, ...]
"""Keys, and positions in lists, that lead to a value."""
_BOM: Final = "\ufeff"
# What is never closed goes to the end, so that no character is looked at twice.
_STRING: Final = r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)'
_COMMENT: Final = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA: Final = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_SPACE: Final = re.compile(r"\s*")
_DECODER: Final = json.JSONDecoder()
_LONG_KEY: Final = re.compile(r"(?:[^=,{}\[\]\n.]*\.){300}")
"""A TOML key of hundreds of parts: reading it takes the square of their number."""


class Notation(Protocol):
    """How settings are written."""

    def data(self, text: str) -> dict[str, Any]:
        """Return what the text says; raises ``ValueError`` where it can't be read."""

    def put(self, text: str, path: Path, value: Any) -> str:
        """Return the text with a value, in the place of the one that is there, or as a new one."""

    def remove(self, text: str, path: Path) -> str:
        """Return the text without the value at a path that is there."""


class _Item(NamedTuple):
    """Where a member of an object, or an element of a list, stands."""

    key: str | int
    start: int
    value: int
    end: int


class _Container(NamedTuple):
    """An object or a list: where it begins, its items, and where its closing bracket stands."""

    start: int
    items: list[_Item]
    close: int

    def item(self, key: str | int) -> _Item | None:
        """Return an item; of several with one key the last, which is the one that readers take."""
        return next((each for each in reversed(self.items) if each.key == key), None)


class JsonWithComments:
    """JSON in which comments, and a comma before a closing bracket, are allowed. New items come first."""

    def data(self, text: str) -> dict[str, Any]:
        """Return what the text says; nothing is an empty object."""
        plain = _without_last_commas(_without_comments(text))
        try:
            found = json.loads(plain) if plain.strip() else {}
        except RecursionError:
            raise ValueError("it is nested too deep") from None
        if not isinstance(found, dict):
            raise ValueError("it is no object")
        return found

    def put(self, text: str, path: Path, value: Any) -> str:
        """Put the value in its place, with the objects on the way to it, in the indentation of the text."""
        newline = "\r\n" if "\r\n" in text else "\n"
        if not _without_comments(text).strip():
            head = text.rstrip()
            text = f"{head}{newline if head.strip(_BOM) else ''}{{}}{newline}"
        for length in range(1, len(path)):
            if _find(text, path[:length]) is None:
                for key in reversed(path[length:]):
                    value = {key: value}
                return self.put(text, path[:length], value)
        container = _find(text, path[:-1])
        assert container is not None
        start, items, close = container
        is_one_line = bool(items) and "\n" not in text[start:close]
        found = re.search(r'^([ \t]+)"', text, re.MULTILINE)
        unit = found[1] if found else "  "
        line = text[:start].rpartition("\n")[2].lstrip(_BOM)
        outer = newline + line[: len(line) - len(line.lstrip())]
        inner = outer + unit
        written = json.dumps(value, indent=None if is_one_line else unit, ensure_ascii=False)
        written = written.replace("\n", inner)
        if there := container.item(path[-1]):
            return text[: there.value] + written + text[there.end :]
        if isinstance(path[-1], str):
            written = f"{json.dumps(path[-1])}: {written}"
        if not items:
            end = start + 1 + len(text[start + 1 : close].rstrip())
            return f"{text[:end]}{inner}{written}{outer}{text[close:]}"
        if not is_one_line:
            new = f"{inner}{written},"
        else:
            new = f" {written}," if text[start + 1].isspace() else f"{written}, "
        return text[: start + 1] + new + text[start + 1 :]

    def remove(self, text: str, path: Path) -> str:
        """Take the item out, with the comma and the space that were put in with it."""
        container = _find(text, path[:-1])
        item = container.item(path[-1]) if container else None
        if container is None or item is None:
            return text
        start, items, close = container
        bare, place = _without_comments(text), items.index(item)
        before = items[place - 1].end if place else start + 1
        after = items[place + 1].start if place + 1 < len(items) else close
        # Where the last word before it ends, comments included.
        begin = before + len(text[before : item.start].rstrip())
        comma = bare.find(",", item.end, after)
        if comma >= 0:
            if begin == item.start and text[comma + 1 : comma + 2] == " ":
                comma += 1
            return text[:begin] + text[comma + 1 :]
        if place:
            comma = bare.find(",", before, item.start)
            return text[:comma] + text[comma + 1 : max(begin, comma + 1)] + text[item.end :]
        is_alone = not (text[start + 1 : item.start] + text[item.end : close]).strip()
        end = close if is_alone else item.end
        return text[:begin] + text[end:]


class Toml:
    """TOML, in which the value at a path of two names is a table with those below it."""

    def data(self, text: str) -> dict[str, Any]:
        """Return what the text says."""
        if _LONG_KEY.search(text):
            raise ValueError("it has a key of hundreds of parts")
        try:
            return tomllib.loads(text.removeprefix(_BOM))
        except RecursionError:
            raise ValueError("it is nested too deep") from None

    def put(self, text: str, path: Path, value: Any) -> str:
        """Put the table at the end, or in the place of the old one."""
        newline = "\r\n" if "\r\n" in text else "\n"
        lines = (f"{key} = {_toml(each)}" for key, each in value.items())
        written = newline.join((f"[{'.'.join(map(str, path))}]", *lines))
        if spans := self._spans(text, path):
            for start, end in reversed(spans[1:]):
                text = text[:start] + text[end:]
            start, end = spans[0]
            return text[:start] + written + text[end:]
        is_blank = not text.strip(_BOM)
        head = text if text.endswith("\n") or is_blank else text + newline
        return f"{head}{'' if is_blank else newline}{written}{newline}"

    def remove(self, text: str, path: Path) -> str:
        """Take the table out, with the empty line before it."""
        newline = "\r\n" if "\r\n" in text else "\n"
        for start, end in reversed(self._spans(text, path)):
            head, rest = text[:start], text[end:].removeprefix(newline)
            text = (head.removesuffix(newline) if head.endswith(newline * 2) else head) + rest
        return text

    def _spans(self, text: str, path: Path) -> list[tuple[int, int]]:
        """Return where the table and those below it begin and end; those that follow each other are one."""
        # A line in a string of many lines may look like our header.
        if len(path) < 2 or path[1] not in self.data(text).get(str(path[0]), {}):
            return []
        spans, start, end, at = list[tuple[int, int]](), -1, 0, 0
        for line in text.splitlines(keepends=True):
            if line.lstrip().startswith("["):
                is_ours = _is_header(line, path)
                if is_ours and start < 0:
                    start = at
                elif not is_ours and start >= 0:
                    spans.append((start, end))
                    start = -1
            at += len(line)
            if line.strip() and not line.lstrip().startswith("#"):
                end = at - len(line) + len(line.rstrip())
        return [*spans, (start, end)] if start >= 0 else spans


def _is_header(line: str, path: Path) -> bool:
    try:
        found = tomllib.loads(line.strip()).get(str(path[0]))
    except ValueError:
        return False
    return isinstance(found, dict) and path[1] in found


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _without_comments(text: str) -> str:
    """Return the text with its comments as spaces, so that every other character stays where it is."""
    if text.startswith(_BOM):
        text = f" {text[1:]}"
    return _COMMENT.sub(
        lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0]), text
    )


def _without_last_commas(bare: str) -> str:
    """Return plain JSON: a comma before a closing bracket is a space."""
    return _LAST_COMMA.sub(lambda found: found[0] if found[0][0] == '"' else " ", bare)


def _find(text: str, path: Path) -> _Container | None:
    """Return the object or list at a path of a text that can be read; None where there is none."""
    plain = _without_last_commas(_without_comments(text))
    found = _container(plain, plain.index("{"))
    for key in path:
        item = found.item(key)
        if item is None:
            return None
        found = _container(plain, item.value)
    return found


def _container(plain: str, start: int) -> _Container:
    if plain[start] not in "{[":
        raise ValueError("it holds no object or list where one is needed")
    items = list(_items(plain, start))
    return _Container(start, items, _skip(plain, items[-1].end if items else start + 1))


def _items(plain: str, start: int) -> Iterator[_Item]:
    """Yield the items of the object or list that begins at ``start`` of valid JSON."""
    at, place = _skip(plain, start + 1), 0
    while plain[at] not in "}]":
        key: str | int
        key, value = place, at
        if plain[start] == "{":
            key, end = _DECODER.raw_decode(plain, at)
            value = _skip(plain, _skip(plain, end) + 1)
        _, end = _DECODER.raw_decode(plain, value)
        yield _Item(key, at, value, end)
        place += 1
        at = _skip(plain, end)
        at = _skip(plain, at + 1) if plain[at] == "," else at


def _skip(plain: str, at: int) -> int:
    """Return where the next character that is no space stands."""
    found = _SPACE.match(plain, at)
    assert found is not None
    return found.end()
