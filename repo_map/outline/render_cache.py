"""Rendered files of an index with their token counts, cached while it lives."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from repo_map.cache import LRUCache
from repo_map.index.index import current_symbols
from repo_map.outline.rendering import Body, legend_of, render_body, render_header, render_path
from repo_map.outline.sections import Shape
from repo_map.plan.levels import level_label
from repo_map.sources.file_kinds import PATH_ONLY
from repo_map.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from repo_map.index.index import Index
    from repo_map.parsing.values import LineRange

_COSTS = f" [{level_label(1)} "
"""How what a file costs begins in its header."""
_MAX_CACHED_CHARS = 16_000_000
_LIKE_PATH = re.compile(
    r"[\w@+.-]+(?:/[\w@+.-]+)+|[\w@+-][\w@+.-]*\.(?:[a-z]\w{0,7}|[A-Z]{1,7})"
    r"|[A-Z][a-z]+file|LICEN[CS]E|README|NOTICE|COPYING|AUTHORS|CHANGELOG|CODEOWNERS"
)
"""A line that looks like the path of a file, be there such a file or not."""


class RenderedFile(NamedTuple):
    """A file's part of a map."""

    text: str
    """The header line and what follows it, or the path alone; ends with a line break."""
    counts: tuple[int, ...]
    """Tokens by each vocabulary."""
    shown: tuple[LineRange, ...]
    """The lines of the file that stand in the text whole."""
    legend: str
    """The legend that the map needs for it, ``""`` for none."""


LevelTokens = tuple[int, int, int, int]
"""Tokens of a file at levels 1 to 4."""


class RenderCache:
    """Draws files of one index, with line numbers or without."""

    def __init__(
        self, index: Index, *, line_numbers: bool = False, prices: Callable[[int], LevelTokens] | None = None
    ) -> None:
        """Build one; ``prices`` gives what the headers say of costs, None for nothing."""
        self._index = index
        self._line_numbers = line_numbers
        self._prices = prices
        self._files = index.memo(_rendered_files, (line_numbers, prices is not None))
        self._path_lines = index.memo(_path_lines)

    def draw(self, file_id: int, shape: Shape) -> RenderedFile:
        """Return the part of a file; the same file at the same shape is drawn once."""
        key = (file_id, shape)
        rendered = self._files.get(key)
        if rendered is None:
            text, shown, _ = self._body(file_id, shape)
            rendered = RenderedFile(text, tokens.counts(text), shown, legend_of(text))
            self._files.put(key, rendered)
        return rendered

    def _body(self, file_id: int, shape: Shape) -> Body:
        """Return the text of a file, its header included."""
        index = self._index
        path, costs = index.paths[file_id], ""
        if self._prices is not None:
            levels = enumerate(self._prices(file_id), 1)
            costs = f" [{', '.join(f'{level_label(level)} {price}' for level, price in levels)}]"
        alone = f"{render_path(path)}{costs}\n"
        if shape.highest < 2 or int(index.files.flags[file_id]) & int(PATH_ONLY):
            return Body(alone, ())
        body = render_body(
            index.sources.text(file_id),
            current_symbols(index, file_id).definitions,
            shape,
            is_path_line=self._is_path_line,
            line_numbers=self._line_numbers,
        )
        if not body.text:
            return Body(alone, body.shown)
        return Body(f"{render_header(path, body.first)}{costs}\n{body.text}\n", body.shown)

    def _is_path_line(self, line: str) -> bool:
        """Say whether a line of source could pass for the one that tells a file by its path."""
        line = line.rstrip()
        path, costs, _ = line.rpartition(_COSTS)
        path = path if costs and line.endswith("]") else line
        if path in self._path_lines:
            return True
        if path.startswith("@"):
            return False  # As decorators do, and hardly a path.
        return _is_quoted_path(path) if path.startswith('"') else _LIKE_PATH.fullmatch(path) is not None


def _is_quoted_path(line: str) -> bool:
    try:
        path = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(path, str) and render_path(path) == line


def _path_lines(index: Index) -> frozenset[str]:
    return frozenset(map(render_path, index.paths))


def _rendered_files(_index: Index, _style: tuple[bool, bool]) -> LRUCache[tuple[int, Shape], RenderedFile]:
    return LRUCache(_MAX_CACHED_CHARS, lambda rendered: len(rendered.text))
