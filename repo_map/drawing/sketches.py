"""The drawn text of one file at one shape with its exact token counts, remembered while the index lives."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from repo_map.drawing.rendering import render_body, render_header, render_headers
from repo_map.pricing.token_memo import memo_of
from repo_map.recent import Recent
from repo_map.selection.sections import Shape
from repo_map.worktree.file_flags import FileFlag

if TYPE_CHECKING:
    from repo_map.index import RepoIndex
    from repo_map.pricing.manifest import CostManifest
    from repo_map.tokens import TokenEncoding

_FILE_NAME = re.compile(r"[\w@+-][\w@+.-]*\.[a-z]\w{0,7}")
_MOST_CHARACTERS = 16_000_000
_PATH_ONLY = int(FileFlag.BINARY | FileFlag.TRUNCATED | FileFlag.LINK)


class Sketch(NamedTuple):
    """A file's part of a map."""

    text: str
    """The header line and what follows it; ends with a line break."""
    counts: tuple[int, ...]
    """Tokens by each vocabulary of the encoding."""


class Style(NamedTuple):
    """What holds for every file of one map."""

    encoding: TokenEncoding
    line_numbers: bool = False
    show_costs: bool = False


class Sketchbook:
    """Draws files of one index in one style."""

    def __init__(self, index: RepoIndex, style: Style) -> None:
        self._index = index
        self._style = style
        self._shelf = _shelf_of(index, style)
        self._memo = memo_of(index, style.encoding)
        self._places = _places_of(index)

    def draw(self, file_id: int, shape: Shape) -> Sketch:
        """Return the sketch of a file; the same file at the same shape is drawn once."""
        key = (file_id, shape)
        sketch = self._shelf.get(key)
        if sketch is None:
            text = self._text(file_id, shape)
            sketch = Sketch(text, self._memo.counts(text))
            self._shelf.put(key, sketch)
        return sketch

    def _text(self, file_id: int, shape: Shape) -> str:
        index = self._index
        header = render_header(index.paths[file_id])
        if self._style.show_costs:
            prices = _prices_of(index, self._style.encoding).of_file(file_id)
            header = f"{header} [{' '.join(f'L{level}:{price}' for level, price in enumerate(prices, 1))}]"
        if shape.highest < 2 or int(index.files.flags[file_id]) & _PATH_ONLY:
            return f"{header}\n"
        definitions = (
            index.definitions(file_id)
            if index.is_current(file_id)
            else index.fresh_symbols(file_id).definitions
        )
        body = render_body(
            index.text(file_id),
            definitions,
            shape,
            is_header=self._places.could_be_header,
            line_numbers=self._style.line_numbers,
        )
        return f"{header}\n{body}\n" if body else f"{header}\n"


class _Places:
    """The headers that a map of an index may have, and what a file could pass off as one."""

    def __init__(self, index: RepoIndex) -> None:
        self._paths = index.paths
        self._headers = render_headers(index.paths)

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(path.rpartition("/")[0] for path in self._paths)

    def could_be_header(self, line: str) -> bool:
        """Say whether a line of source could pass for the header of a file, be there such a file or not."""
        line = line.rstrip()
        if line.endswith("]") and " [L1:" in line:
            line = line.rpartition(" [L1:")[0]
        if line in self._headers:
            return True
        if line.startswith(("/", "@")):
            return False  # As comments and decorators do, and hardly a path.
        folder, slash, name = line.rpartition("/")
        if slash:
            return bool(name) and folder in self._folders
        return _FILE_NAME.fullmatch(line) is not None


_Shelf = Recent[tuple[int, Shape], Sketch]

_shelves: WeakKeyDictionary[RepoIndex, dict[Style, _Shelf]] = WeakKeyDictionary()
_places: WeakKeyDictionary[RepoIndex, _Places] = WeakKeyDictionary()


def _shelf_of(index: RepoIndex, style: Style) -> _Shelf:
    shelves = _shelves.setdefault(index, {})
    if style not in shelves:
        shelves[style] = _Shelf(_MOST_CHARACTERS, lambda sketch: len(sketch.text))
    return shelves[style]


def _places_of(index: RepoIndex) -> _Places:
    if index not in _places:
        _places[index] = _Places(index)
    return _places[index]


_manifests: WeakKeyDictionary[RepoIndex, dict[TokenEncoding, CostManifest]] = WeakKeyDictionary()


def _prices_of(index: RepoIndex, encoding: TokenEncoding) -> CostManifest:
    """Return the prices that ``repo-map costs`` tells too."""
    # Imported here because prices are counted by drawing.
    from repo_map.pricing.manifest import price_index  # noqa: PLC0415

    known = _manifests.setdefault(index, {})
    if encoding not in known:
        known[encoding] = price_index(index, encoding=encoding)
    return known[encoding]
