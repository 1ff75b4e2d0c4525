"""Strings with the path of a name: ``shop.pay.charge`` in a mock, ``shop.pay:charge`` in an entry point."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from repo_map.check.occurrences import is_data, is_prose
from repo_map.check.trees import TreeComparison
from repo_map.relations.text_search import files_with

_MAX_FILES: Final = 200
"""Files with a name that are searched."""
_SEPARATOR: Final = r"(?:::|->|\\{1,4}|[.:#/@])"
_UNNAMED: Final = frozenset({"__init__", "index", "mod", "lib", "main"})
"""Files that are imported by their folder."""
_COMMENT: Final = re.compile(r"\s*(?:#|;|//|<!--)")


def find_path_strings(trees: TreeComparison, path: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield file and line, on unchanged lines after a change, of each string with the path of a name.

    Args:
        trees: The trees before and after the change.
        path: The file that had the name before the change.
        name: The qualified name in that file.
    """
    index, parts = trees.after.index, name.split(".")
    stem = path.rpartition("/")[2].partition(".")[0]
    folders = path.split("/")[:-1]
    module = folders if stem in _UNNAMED or stem == parts[0] else [*folders, stem]
    whole = [*module, *parts]
    pattern = re.compile(rf"(?<![\w$])(?:[\w$-]+{_SEPARATOR})+{re.escape(parts[-1])}(?![\w$])")
    for file in files_with(index, (parts[-1],))[:_MAX_FILES] if module else ():
        if is_prose(index, file):
            continue
        text, is_plain, seen = index.sources.text(file), is_data(index, file), 0
        for found in pattern.finditer(text):
            steps = re.split(_SEPARATOR, found[0])
            is_whole = len(steps) == len(whole) or len(steps) >= len(parts) + 2
            if not is_whole or steps != whole[-len(steps) :]:
                continue
            line = text.count("\n", 0, found.start()) + 1
            start = text.rfind("\n", 0, found.start()) + 1
            is_string = text[found.start() - 1 : found.start()] in tuple("\"'`")
            is_named = is_string or (is_plain and _COMMENT.match(text, start) is None)
            if is_named and line != seen and trees.line_before(file, line):
                seen = line
                yield file, line
