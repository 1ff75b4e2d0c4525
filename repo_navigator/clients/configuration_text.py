"""The texts that hosts keep their settings in: one entry is put in or taken out, the rest keeps its bytes."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

_BOM: Final = "\ufeff"
# What is never closed goes to the end, so that no character is looked at twice.
_STRING: Final = r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)'
_COMMENT: Final = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA: Final = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_SPACE: Final = re.compile(r"\s*")
_DECODER: Final = json.JSONDecoder()
_KEY_END: Final = re.compile(r"[=,{}\[\]\n]")
_MAX_PARTS: Final = 300
"""Names with dots between them in a key of TOML: reading it takes the square of their number."""


class Notation(Protocol):
    """A way to write settings down; ``table`` is the name of the table of servers, ``name`` that of ours."""

    @property
    def max_bytes(self) -> int:
        """Bytes of a file that is read within some seconds."""

    def data(self, text: str) -> dict[str, Any]:
        """Return what the text says; raises ``ValueError`` where it can't be read."""

    def written(self, text: str, table: str, name: str, value: Mapping[str, Any]) -> str:
        """Return an entry as it would be written in this very text."""

    def entry(self, text: str, table: str, name: str) -> str | None:
        """Return the entry as it stands in the text."""

    def put(self, text: str, table: str, name: str, entry: str) -> str:
        """Return the text with a written entry, in the place of the one that is there or at the end."""

    def take(self, text: str, table: str, name: str, *, with_table: bool) -> str:
        """Return the text without the entry, and ``with_table`` without the table that it leaves empty."""


class JsonMember(NamedTuple):
    """Where a member of a JSON object stands."""

    key: str
    start: int
    value: int
    end: int


class JsonWithComments:
    """JSON in which comments and a comma before a closing bracket are allowed."""

    max_bytes = 30_000_000

    def data(self, text: str) -> dict[str, Any]:
        """Return what the text says; nothing is an empty object."""
        plain = _plain(_bare(text))
        try:
            found = json.loads(plain) if plain.strip() else {}
        except RecursionError:
            raise ValueError("it is nested too deep") from None
        if not isinstance(found, dict):
            raise ValueError("it is no object")
        return found

    def written(self, text: str, table: str, name: str, value: Mapping[str, Any]) -> str:
        """Return ``value`` in the indentation of the text, on one line where its neighbours are."""
        del name
        found = _Object.whole(text)
        inner = found.object(table) if found else None
        anchor = inner or found
        if anchor is not None and anchor.is_one_line:
            return json.dumps(value, ensure_ascii=False)
        indented = json.dumps(value, indent=_unit(text), ensure_ascii=False)
        outer = inner.indent if inner else (found.indent if found else "") + _unit(text)
        return indented.replace("\n", _newline(text) + outer + _unit(text))

    def entry(self, text: str, table: str, name: str) -> str | None:
        """Return the value of the member as it is written."""
        found = _Object.whole(text)
        inner = found.object(table) if found else None
        member = inner.member(name) if inner else None
        return text[member.value : member.end] if member else None

    def put(self, text: str, table: str, name: str, entry: str) -> str:
        """Put the member last, or its new value in the place of the old one."""
        found = _Object.whole(text)
        newline, unit = _newline(text), _unit(text)
        if found is None:
            head = text.rstrip()
            lead = newline if head not in ("", _BOM) else ""
            held = _object_of(name, entry, newline, unit, unit)
            return f"{head}{lead}{_object_of(table, held, newline, '', unit)}{newline}"
        inner = found.object(table)
        if inner is not None:
            return inner.with_member(name, entry)
        one_line = found.is_one_line
        held = (
            f"{{{json.dumps(name)}: {entry}}}"
            if one_line
            else _object_of(name, entry, newline, found.indent + unit, unit)
        )
        return found.with_member(table, held)

    def take(self, text: str, table: str, name: str, *, with_table: bool) -> str:
        """Take the member out, with the comma and the space that were put in with it."""
        found = _Object.whole(text)
        inner = found.object(table) if found else None
        if inner is None:
            return text
        left = inner.without_member(name)
        whole = _Object.whole(left)
        emptied = whole.object(table) if whole else None
        if with_table and whole and emptied and not emptied.inside.strip():
            return whole.without_member(table)
        return left


class _Object:
    """A JSON object in a text with comments: where it stands, and how it looks with a member more or less."""

    def __init__(self, text: str, bare: str, start: int) -> None:
        self.text, self._bare, self._start = text, bare, start
        self._plain = _plain(bare)
        self.members = list(_members(self._plain, start))
        after = self.members[-1].end if self.members else start + 1
        self._close = self._plain.index("}", after)

    @classmethod
    def whole(cls, text: str) -> _Object | None:
        """Return the object that the text is, or ``None`` where it says nothing."""
        bare = _bare(text)
        return cls(text, bare, bare.index("{")) if bare.strip() else None

    def object(self, key: str) -> _Object | None:
        """Return the object that a member holds."""
        member = self.member(key)
        return _Object(self.text, self._bare, member.value) if member else None

    def member(self, key: str) -> JsonMember | None:
        """Return the member of that name; of several the last, which is the one that readers take."""
        return next((each for each in reversed(self.members) if each.key == key), None)

    @property
    def inside(self) -> str:
        """What stands between the braces, comments included."""
        return self.text[self._start + 1 : self._close]

    @property
    def is_one_line(self) -> bool:
        """Whether it has members, and all of them are on one line."""
        return bool(self.members) and "\n" not in self.inside

    @property
    def indent(self) -> str:
        """The space before the line that it begins on."""
        line = self.text[: self._start].rpartition("\n")[2].lstrip(_BOM)
        return line[: len(line) - len(line.lstrip())]

    def with_member(self, key: str, value: str) -> str:
        """Return the whole text with this member last, or with its new value."""
        text = self.text
        if (there := self.member(key)) is not None:
            return text[: there.value] + value + text[there.end :]
        member = f"{json.dumps(key)}: {value}"
        newline = _newline(text)
        if not self.members:
            at = self._after_words(self._start + 1, self._close)
            inner = f"{newline}{self.indent}{_unit(text)}{member}{newline}{self.indent}"
            return text[:at] + inner + text[self._close :]
        last = self.members[-1]
        at = self._after_words(last.end, self._close)
        space = " " if self.is_one_line else newline + self._indent_of(last)
        if self._comma(last.end, self._close) is not None:
            return f"{text[:at]}{space}{member},{text[at:]}"
        return f"{text[: last.end]},{text[last.end : at]}{space}{member}{text[at:]}"

    def without_member(self, key: str) -> str:
        """Return the whole text without the member, which is the inverse of putting it in."""
        text, member = self.text, self.member(key)
        if member is None:
            return text
        place = self.members.index(member)
        before = self.members[place - 1].end if place else self._start + 1
        comma = self._comma(before, member.start) if place else None
        start = self._after_words(before if comma is None else comma + 1, member.start)
        follower = self.members[place + 1].start if place + 1 < len(self.members) else self._close
        own_comma = self._comma(member.end, follower)
        end = member.end if own_comma is None else own_comma + 1
        if comma is not None and own_comma is None:
            return text[:comma] + text[comma + 1 : start] + text[end:]
        if len(self.members) == 1 and not (text[self._start + 1 : start] + text[end : self._close]).strip():
            end = self._close
        return text[:start] + text[end:]

    def _indent_of(self, member: JsonMember) -> str:
        line = self.text[: member.start].rpartition("\n")[2]
        return line if not line.strip() else self.indent + _unit(self.text)

    def _comma(self, start: int, end: int) -> int | None:
        found = self._bare.find(",", start, end)
        return None if found < 0 else found

    def _after_words(self, start: int, end: int) -> int:
        """Return where the last word before ``end`` ends, comments included, or ``start``."""
        return start + len(self.text[start:end].rstrip())


class JsonArray:
    """A JSON array as it stands in a text with comments: with an element more, or less."""

    def __init__(self, text: str) -> None:
        """``text`` is the array alone; raises ``ValueError`` where it is none."""
        self._text, self._bare = text, _bare(text)
        plain = _plain(self._bare)
        if not plain.startswith("["):
            raise ValueError("it is no list")
        self._spans = list(_elements(plain))
        self.values = [json.loads(plain[start:end]) for start, end in self._spans]

    def __str__(self) -> str:
        """Return the array as it is written."""
        return self._text

    def with_element(self, element: str) -> str:
        """Return the array with an element last, written as its neighbours are."""
        text = self._text
        if not self._spans:
            return f"[{element}]" if "\n" not in element else f"[{self._indented(element)}]"
        start, end = self._spans[-1]
        line = text[:start].rpartition("\n")[2]
        space = f"\n{line}" if "\n" in text[:start] and not line.strip() else " "
        return f"{text[:end]},{space}{element}{text[end:]}"

    def without_element(self, place: int) -> str:
        """Return the array without an element, which is the inverse of adding it."""
        text, (start, end) = self._text, self._spans[place]
        if place:
            return text[: self._spans[place - 1][1]] + text[end:]
        if len(self._spans) == 1:
            return "[" + text[end:].lstrip() if not text[1:start].strip() else text[:start] + text[end:]
        return text[:start] + text[self._spans[1][0] :]

    def with_value(self, place: int, element: str) -> str:
        """Return the array with an element in the place of another."""
        start, end = self._spans[place]
        return self._text[:start] + element + self._text[end:]

    def _indented(self, element: str) -> str:
        last = element.rpartition("\n")[2]
        indent = last[: len(last) - len(last.lstrip())]
        outer = indent[: len(indent) - len(_unit(element))]
        return f"\n{indent}{element}\n{outer}"


class Toml:
    """TOML, of which a table with our name is ours, with the tables below it."""

    max_bytes = 3_000_000

    def data(self, text: str) -> dict[str, Any]:
        """Return what the text says."""
        return _toml_data(text)

    def written(self, text: str, table: str, name: str, value: Mapping[str, Any]) -> str:
        """Return the table's lines."""
        lines = (f"{key} = {_toml(each)}" for key, each in value.items())
        return _newline(text).join((f"[{table}.{name}]", *lines))

    def entry(self, text: str, table: str, name: str) -> str | None:
        """Return the table as it is written, with those below it that follow it."""
        spans = self._tables(text, table, name)
        return text[spans[0][0] : spans[0][1]] if spans else None

    def put(self, text: str, table: str, name: str, entry: str) -> str:
        """Put the table at the end, or in the place of the old one."""
        newline = _newline(text)
        spans = self._tables(text, table, name)
        if spans:
            for start, end in reversed(spans[1:]):
                text = text[:start] + text[end:]
            start, end = spans[0]
            return text[:start] + entry + text[end:]
        head = text if text.endswith("\n") or not text.strip(_BOM) else text + newline
        return f"{head}{newline if text.strip(_BOM) else ''}{entry}{newline}"

    def take(self, text: str, table: str, name: str, *, with_table: bool) -> str:
        """Take the table out, with the empty line before it."""
        del with_table
        newline = _newline(text)
        for start, end in reversed(self._tables(text, table, name)):
            head, rest = text[:start], text[end:].removeprefix(newline)
            text = (head.removesuffix(newline) if head.endswith(newline * 2) else head) + rest
        return text

    def _tables(self, text: str, table: str, name: str) -> list[tuple[int, int]]:
        # A line in a string of many lines may look like our header.
        return list(_tables(text, table, name)) if name in self.data(text).get(table, {}) else []


@lru_cache(maxsize=4)
def _toml_data(text: str) -> dict[str, Any]:
    if any(key.count(".") > _MAX_PARTS for key in _KEY_END.split(text)):
        raise ValueError(f"it has a key of more than {_MAX_PARTS} parts")
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except RecursionError:
        raise ValueError("it is nested too deep") from None


@lru_cache(maxsize=4)
def _bare(text: str) -> str:
    """Return the text with its comments as spaces, so that every other character stays where it is."""
    if text.startswith(_BOM):
        text = f" {text[1:]}"
    return _COMMENT.sub(
        lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0]), text
    )


@lru_cache(maxsize=4)
def _plain(bare: str) -> str:
    """Return plain JSON: a comma before a closing bracket is a space."""
    return _LAST_COMMA.sub(lambda found: found[0] if found[0][0] == '"' else " ", bare)


def _members(plain: str, start: int) -> Iterator[JsonMember]:
    """Yield the members of the object that begins at ``start`` of valid JSON."""
    at = _word(plain, start + 1)
    while plain[at] != "}":
        key, end = _DECODER.raw_decode(plain, at)
        value = _word(plain, _word(plain, end) + 1)
        _, end = _DECODER.raw_decode(plain, value)
        yield JsonMember(key, at, value, end)
        at = _word(plain, end)
        at = _word(plain, at + 1) if plain[at] == "," else at


def _elements(plain: str) -> Iterator[tuple[int, int]]:
    """Yield where the elements of a valid array begin and end."""
    at = _word(plain, 1)
    while plain[at] != "]":
        _, end = _DECODER.raw_decode(plain, at)
        yield at, end
        at = _word(plain, end)
        at = _word(plain, at + 1) if plain[at] == "," else at


def _word(plain: str, at: int) -> int:
    """Return where the next character that is no space stands."""
    found = _SPACE.match(plain, at)
    assert found is not None
    return found.end()


def _object_of(key: str, value: str, newline: str, indent: str, unit: str) -> str:
    return f"{{{newline}{indent}{unit}{json.dumps(key)}: {value}{newline}{indent}}}"


def _tables(text: str, table: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield where our table and those below it begin and end; those that follow each other are one."""
    start, end, at = -1, 0, 0
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            is_ours = _is_header(line, table, name)
            if is_ours and start < 0:
                start = at
            elif not is_ours and start >= 0:
                yield start, end
                start = -1
        at += len(line)
        if line.strip() and not line.lstrip().startswith("#"):
            end = at - len(line) + len(line.rstrip())
    if start >= 0:
        yield start, end


def _is_header(line: str, table: str, name: str) -> bool:
    try:
        found = tomllib.loads(line.strip())
    except ValueError:
        return False
    return isinstance(found.get(table), dict) and name in found[table]


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """Return what the text indents its first level with."""
    found = re.search(r'^([ \t]+)"', text, re.MULTILINE)
    return found[1] if found else "  "
