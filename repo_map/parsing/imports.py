"""What a file imports, read from the text of its import statements."""

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from repo_map.languages.registry import language_named
from repo_map.parsing.values import Import

_LONGEST_STATEMENT: Final = 20_000
_SPACES: Final = re.compile(r"\s{2,}+")


def find_imports(source: bytes, nodes: list[Node], language: str, most: int) -> list[Import]:
    """Read the import statements that a query found; one statement may import several modules.

    Stops once more than ``most`` modules and names are found.
    """
    reader = language_named(language).imports
    if reader is None:
        return []
    imports: list[Import] = []
    seen: set[int] = set()
    found = 0
    for node in sorted(nodes, key=lambda node: node.start_byte):
        if node.start_byte in seen:
            continue
        seen.add(node.start_byte)
        text = source[node.start_byte : min(node.end_byte, node.start_byte + _LONGEST_STATEMENT)].decode(
            "utf-8", "replace"
        )
        for module, names in reader(_SPACES.sub(_one_space, text)):
            imports.append(Import(module, names, node.start_point[0] + 1))
            found += 1 + len(names)
        if found > most:
            break
    return imports


def _one_space(run: re.Match[str]) -> str:
    """Return what a run of white space says: that a line ends, or a word."""
    return "\n" if "\n" in run[0] else " "
