"""Rendered files and token counts of an index, kept while it lives."""

from __future__ import annotations

import hashlib
import json
import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from repo_map.cache import LRUCache, load_arrays, save_arrays
from repo_map.index.index import current_symbols
from repo_map.outline.rendering import Body, legend_of, render_body, render_header, render_path, render_paths
from repo_map.outline.sections import Shape
from repo_map.plan.levels import level_label
from repo_map.sources.file_kinds import PATH_ONLY
from repo_map.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from repo_map.index.index import Index
    from repo_map.parsing.values import LineRange
    from repo_map.text.tokens import TokenEncoding


_MOST_REMEMBERED = 50_000
_FORMAT = 1


class TokenMemo:
    """Exact counts by the hash of the text; shared by all repositories of a cache folder."""

    def __init__(self, folder: Path | None, encoding: TokenEncoding) -> None:
        self._folder = folder
        self._encoding: TokenEncoding = encoding
        self._name = f"tokens-{encoding}-{_FORMAT}"
        self._new: dict[int, tuple[int, ...]] = {}
        kept = load_arrays(folder, self._name) if folder else None
        if kept is None or len(kept) != 2 or len(kept[0]) != len(kept[1]):
            kept = [np.zeros(0, np.uint64), np.zeros((0, 0), np.uint32)]
        # One attribute, so that threads see keys and counts of one moment.
        self._kept = kept[0], kept[1]

    def counts(self, text: str) -> tuple[int, ...]:
        """Return the number of tokens of ``text`` by each vocabulary of the encoding."""
        whole = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8)
        key = int.from_bytes(whole.digest(), "little")
        found = self._new.get(key)
        if found is None:
            keys, counts = self._kept
            at = int(keys.searchsorted(np.uint64(key)))
            if at < len(keys) and int(keys[at]) == key:
                return tuple(counts[at].tolist())
            if len(self._new) >= _MOST_REMEMBERED:
                # They were not saved: there is no folder, or nothing was drawn to its end.
                self._new = {}
            found = self._new[key] = tokens.counts(text, self._encoding)
        return found

    def save(self) -> None:
        """Keep what was counted since the last time for other processes."""
        if self._folder is None or not self._new:
            return
        new, self._new = self._new, {}
        new = new.copy()
        keys, counts = np.fromiter(new, np.uint64, len(new)), np.array(list(new.values()), np.uint32)
        old_keys, old_counts = self._kept
        if 0 < len(old_keys) <= _MOST_REMEMBERED - len(keys):
            keys, counts = np.concatenate((old_keys, keys)), np.concatenate((old_counts, counts))
        order = np.argsort(keys)
        self._kept = keys[order], counts[order]
        save_arrays(self._folder, self._name, self._kept)


def memo_of(index: Index, encoding: TokenEncoding) -> TokenMemo:
    """Return the memo for the maps of an index."""
    return index.memo(_memo, encoding)


def _memo(index: Index, encoding: TokenEncoding) -> TokenMemo:
    return TokenMemo(index.build.cache_folder, encoding)


_FILE_NAME = re.compile(
    r"[\w@+-][\w@+.-]*\.(?:[a-z]\w{0,7}|[A-Z]{1,7})"
    r"|[A-Z][a-z]+file|LICEN[CS]E|README|NOTICE|COPYING|AUTHORS|CHANGELOG|CODEOWNERS"
)
_PATH = re.compile(r"[\w@+.-]+(?:/[\w@+.-]+)+")
_COSTS = f" [{level_label(1)} "
"""How what a file costs begins in its header."""
_MOST_CHARACTERS = 16_000_000


class RenderedFile(NamedTuple):
    """A file's part of a map."""

    text: str
    """The header line and what follows it, or the path alone; ends with a line break."""
    counts: tuple[int, ...]
    """Tokens by each vocabulary of the encoding."""
    shown: tuple[LineRange, ...]
    """The lines of the file that stand in the text whole."""
    legend: str
    """The legend that the map needs for it, ``""`` for none."""


class Style(NamedTuple):
    """What holds for every file of one map."""

    encoding: TokenEncoding
    line_numbers: bool = False
    show_costs: bool = False


LevelTokens = tuple[int, int, int, int]
"""Tokens of a file at levels 1 to 4."""


class RenderCache:
    """Draws files of one index in one style."""

    def __init__(
        self, index: Index, style: Style, prices: Callable[[int], LevelTokens] | None = None
    ) -> None:
        """Build one; ``prices`` gives what the header of a file says where the style shows costs."""
        assert (prices is not None) == style.show_costs, "costs are shown by those who know them"
        self._index = index
        self._style = style
        self._prices = prices
        self._files = index.memo(_rendered_files, style)
        self._memo = memo_of(index, style.encoding)
        self._lookalikes = index.memo(_PathLookalikes)

    def draw(self, file_id: int, shape: Shape) -> RenderedFile:
        """Return the part of a file; the same file at the same shape is drawn once."""
        key = (file_id, shape)
        rendered = self._files.get(key)
        if rendered is None:
            text, shown, _ = self._body(file_id, shape)
            rendered = RenderedFile(text, self._memo.counts(text), shown, legend_of(text))
            self._files.put(key, rendered)
        return rendered

    def _body(self, file_id: int, shape: Shape) -> Body:
        """Return the text of a file, its header included."""
        index = self._index
        path, told = index.paths[file_id], ""
        if self._prices is not None:
            levels = enumerate(self._prices(file_id), 1)
            told = f" [{', '.join(f'{level_label(level)} {price}' for level, price in levels)}]"
        if shape.highest < 2 or int(index.files.flags[file_id]) & int(PATH_ONLY):
            return Body(f"{render_path(path)}{told}\n", ())
        definitions = (
            index.definitions(file_id)
            if index.sources.is_current(file_id)
            else current_symbols(index, file_id).definitions
        )
        body = render_body(
            index.sources.text(file_id),
            definitions,
            shape,
            is_told_path=self._lookalikes.could_be_path,
            line_numbers=self._style.line_numbers,
        )
        if not body.text:
            return Body(f"{render_path(path)}{told}\n", body.shown)
        return Body(f"{render_header(path, body.first, shape.why)}{told}\n{body.text}\n", body.shown)


class _PathLookalikes:
    """The lines by which a map of an index may tell a path, and what a file could pass off as one."""

    def __init__(self, index: Index) -> None:
        self._paths = index.paths
        self._lines = render_paths(index.paths)

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(path.rpartition("/")[0] for path in self._paths)

    def could_be_path(self, line: str) -> bool:
        """Say whether a line of source could pass for that of a path, be there such a file or not."""
        line = line.rstrip()
        if line.endswith("]") and _COSTS in line:
            line = line.rpartition(_COSTS)[0]
        if line in self._lines:
            return True
        if line.startswith(("/", "@")):
            return False  # As comments and decorators do, and hardly a path.
        if line.startswith('"'):
            return _is_quoted_path(line)
        folder, slash, name = line.rpartition("/")
        if slash:
            return bool(name) and (folder in self._folders or _PATH.fullmatch(line) is not None)
        return _FILE_NAME.fullmatch(line) is not None


def _is_quoted_path(line: str) -> bool:
    """Tell whether a line is what a path looks like that has to be quoted."""
    try:
        path = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(path, str) and render_path(path) == line


_RenderedFiles = LRUCache[tuple[int, Shape], RenderedFile]


def _rendered_files(_index: Index, _style: Style) -> _RenderedFiles:
    return _RenderedFiles(_MOST_CHARACTERS, lambda rendered: len(rendered.text))
