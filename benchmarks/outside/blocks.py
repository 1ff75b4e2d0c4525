"""ContextBench's measures: files, definitions ("blocks") and lines that two sets of lines share.

A block is a definition of which any line is in the set. What counts as one are kinds of syntax nodes, by
language, nested ones as well. Where nothing was shown precision is 1, where nothing is wanted recall is 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from tree_sitter import Node

from repo_map.languages.grammars import parser_for

_LANGUAGES: Final = {
    **dict.fromkeys(("py",), "python"),
    **dict.fromkeys(("js", "jsx"), "javascript"),
    **dict.fromkeys(("ts",), "typescript"),
    **dict.fromkeys(("tsx",), "tsx"),
    **dict.fromkeys(("c", "h"), "c"),
    **dict.fromkeys(("cpp", "cc", "hpp"), "cpp"),
    "go": "go",
    "java": "java",
    "rs": "rust",
}
_BLOCKS: Final = {
    "python": {"class_definition", "function_definition"},
    "javascript": {"arrow_function", "class_declaration", "function_declaration", "method_definition"},
    "typescript": {
        "class_declaration",
        "function_declaration",
        "interface_declaration",
        "method_definition",
    },
    "java": {
        "class_declaration",
        "constructor_declaration",
        "interface_declaration",
        "method_declaration",
    },
    "go": {"function_declaration", "method_declaration", "type_declaration"},
    "rust": {"function_item", "impl_item", "struct_item", "trait_item"},
    "c": {"function_definition", "struct_specifier"},
    "cpp": {"class_specifier", "function_definition", "struct_specifier"},
}
_BLOCKS["tsx"] = _BLOCKS["typescript"]

Lines = Mapping[str, frozenset[int]]
"""Path → numbers of lines, from 1."""


class Overlap(NamedTuple):
    """What two sets share."""

    shared: int
    wanted: int
    shown: int

    @property
    def recall(self) -> float:
        return self.shared / self.wanted if self.wanted else 1.0

    @property
    def precision(self) -> float:
        return self.shared / self.shown if self.shown else 1.0


class Block(NamedTuple):
    """A definition; lines from 1, inclusive."""

    path: str
    first: int
    last: int
    start: int
    """Its first byte, which tells definitions of one line apart."""


def overlaps(
    wanted: Lines, shown: Lines, files: Iterable[str], sources: Mapping[str, str]
) -> dict[str, Overlap]:
    """Compare what is shown with what is wanted.

    Args:
        wanted: the gold lines; its paths are the gold files.
        shown: the lines that are shown.
        files: those that count as shown, whether with lines or not.
        sources: the texts of all files of both that are in the tree.
    """
    blocks = {path: list(blocks_of(path, text)) for path, text in sources.items()}
    lines = Overlap(
        sum(len(numbers & shown.get(path, frozenset())) for path, numbers in wanted.items()),
        sum(map(len, wanted.values())),
        sum(map(len, shown.values())),
    )
    return {
        "file": _overlap(frozenset(wanted), frozenset(files)),
        "block": _overlap(_touched(wanted, blocks), _touched(shown, blocks)),
        "line": lines,
    }


def blocks_of(path: str, text: str) -> Iterator[Block]:
    """Yield the definitions of a file; none where its suffix is of no known language."""
    language = _LANGUAGES.get(path.rpartition(".")[2].lower(), "")
    waiting: list[Node] = [parser_for(language).parse(text.encode()).root_node] if language else []
    while waiting:
        node = waiting.pop()
        if node.is_named and node.type in _BLOCKS[language]:
            yield Block(path, node.start_point.row + 1, node.end_point.row + 1, node.start_byte)
        waiting.extend(node.children)


def _touched(lines: Lines, blocks: Mapping[str, list[Block]]) -> frozenset[Block]:
    return frozenset(
        block
        for path, numbers in lines.items()
        for block in blocks.get(path, ())
        if any(number in numbers for number in range(block.first, block.last + 1))
    )


def _overlap(wanted: frozenset[object], shown: frozenset[object]) -> Overlap:
    return Overlap(len(wanted & shown), len(wanted), len(shown))
