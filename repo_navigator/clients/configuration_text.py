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
    """Where a member of an object, or an element of a list, starts, and its value starts and ends."""

    key: str | int
    start: int
    value: int
    end: int


class JsonWithComments:
    """JSON in which comments, and a comma before a closing bracket, are allowed. New items come first."""

    def data(self, text: str) -> dict[str, Any]:
        """Return what the text says; nothing is an empty object."""
        plain = _plain(text)
        try:
            found = json.loads(plain) if plain.strip() else {}
        except RecursionError:
            raise ValueError("it is nested too deep") from None
        if not isinstance(found, dict):
            raise ValueError("it is no object")
        return found

    def put(self, text: str, path: Path, value: Any) -> str:
        """Put the value in its place, with the objects on the way to it, in the indentation of the text."""
        newline = _newline(text)
        if not _plain(text).strip():
            head = text.rstrip()
            text = f"{head}{newline if head.strip(_BOM) else ''}{{}}{newline}"
        plain = _plain(text)
        start, depth, item = _find(plain, path)
        for missing in reversed(path[depth + 1 :] if item is None else ()):
            value = {missing: value}
        items = [*_items(plain, start)]
        close = _skip(plain, items[-1].end if items else start + 1)
        is_one_line = bool(items) and "\n" not in text[start:close]
        found = re.search(r'^([ \t]+)"', text, re.MULTILINE)
        unit = found[1] if found else "  "
        line = text[:start].rpartition("\n")[2].lstrip(_BOM)
        outer = newline + line[: len(line) - len(line.lstrip())]
        inner = outer + unit
        indent = None if is_one_line else unit
        written = json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", inner)
        if item is not None:
            return text[: item.value] + written + text[item.end :]
        key = path[depth]
        written = f"{json.dumps(key)}: {written}" if isinstance(key, str) else written
        if not items:
            end = start + 1 + len(text[start + 1 : close].rstrip())
            return f"{text[:end]}{inner}{written}{outer}{text[close:]}"
        if is_one_line:
            new = f" {written}," if text[start + 1].isspace() else f"{written}, "
        else:
            new = f"{inner}{written},"
        return f"{text[: start + 1]}{new}{text[start + 1 :]}"

    def remove(self, text: str, path: Path) -> str:
        """Take the item out, with the comma and the space that were put in with it."""
        plain = _plain(text)
        start, _, item = _find(plain, path)
        assert item is not None
        items = [*_items(plain, start)]
        place = items.index(item)
        before = items[place - 1].end if place else start + 1
        after = items[place + 1].start if place + 1 < len(items) else _skip(plain, item.end)
        # Where the last word before it ends, comments included.
        begin = before + len(text[before : item.start].rstrip())
        commas = _without_comments(text)
        if (comma := commas.find(",", item.end, after)) >= 0:
            comma += begin == item.start and text[comma + 1 : comma + 2] == " "
            return text[:begin] + text[comma + 1 :]
        if place:
            comma = commas.find(",", before, item.start)
            return text[:comma] + text[comma + 1 : max(begin, comma + 1)] + text[item.end :]
        is_alone = not (text[start + 1 : item.start] + text[item.end : after]).strip()
        return text[:begin] + text[after if is_alone else item.end :]


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
        newline = _newline(text)
        lines = (f"{key} = {_toml(each)}" for key, each in value.items())
        written = newline.join((f"[{'.'.join(map(str, path))}]", *lines))
        if spans := self._spans(text, path):
            (start, end), *others = spans
            for other in reversed(others):
                text = _cut(text, *other)
            return text[:start] + written + text[end:]
        is_blank = not text.strip(_BOM)
        head = text if text.endswith("\n") or is_blank else text + newline
        return f"{head}{'' if is_blank else newline}{written}{newline}"

    def remove(self, text: str, path: Path) -> str:
        """Take the table out, with the empty line before it."""
        for span in reversed(self._spans(text, path)):
            text = _cut(text, *span)
        return text

    def _spans(self, text: str, path: Path) -> list[tuple[int, int]]:
        """Return where each table of ours, and each below it, begins and ends."""
        # A line in a string of many lines may look like our header.
        if path[1] not in self.data(text).get(str(path[0]), {}):
            return []
        spans, at, is_ours = list[tuple[int, int]](), 0, False
        for line in text.splitlines(keepends=True):
            end = at + len(line.rstrip())
            if line.lstrip().startswith("["):
                is_ours = _is_header(line, path)
                spans += [(at, end)] if is_ours else []
            elif is_ours and line.strip() and not line.lstrip().startswith("#"):
                spans[-1] = spans[-1][0], end
            at += len(line)
        return spans


def _is_header(line: str, path: Path) -> bool:
    try:
        return path[1] in tomllib.loads(line.strip()).get(str(path[0]), ())
    except ValueError:
        return False


def _cut(text: str, start: int, end: int) -> str:
    newline = _newline(text)
    head, rest = text[:start], text[end:].removeprefix(newline)
    return (head.removesuffix(newline) if head.endswith(newline * 2) else head) + rest


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _without_comments(text: str) -> str:
    """Return the text with its comments as spaces, so that every other character stays where it is."""
    text = f" {text[1:]}" if text.startswith(_BOM) else text
    return _COMMENT.sub(
        lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0]), text
    )


def _plain(text: str) -> str:
    """Return plain JSON: a comment, and a comma before a closing bracket, is space."""
    return _LAST_COMMA.sub(lambda found: found[0] if found[0][0] == '"' else " ", _without_comments(text))


def _find(plain: str, path: Path) -> tuple[int, int, _Item | None]:
    """Return where the last container on a path starts, which key is looked for in it, and its item."""
    start = plain.index("{")
    for depth, key in enumerate(path):
        # Of several items with one key the last is the one that readers take.
        item = next((each for each in reversed([*_items(plain, start)]) if each.key == key), None)
        if item is None or depth == len(path) - 1:
            break
        start = item.value
    return start, depth, item


def _items(plain: str, start: int) -> Iterator[_Item]:
    """Yield the items of the object or list that begins at ``start`` of valid JSON."""
    if plain[start] not in "{[":
        raise ValueError("it holds no object or list where one is needed")
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
