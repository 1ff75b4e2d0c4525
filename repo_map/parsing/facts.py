"""What a file says about who means whom: its uses of names and its bindings, before anything is resolved.

A reader for each family of languages takes both from the syntax tree; ``repo_map.relations`` resolves them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tree_sitter import Tree

from repo_map.languages.language import Found
from repo_map.languages.parser import CpuDeadline
from repo_map.languages.registry import language_named
from repo_map.parsing import (
    facts_c,
    facts_go,
    facts_java,
    facts_kotlin,
    facts_php,
    facts_python,
    facts_ruby,
    facts_rust,
    facts_script,
)
from repo_map.parsing.facts_model import NO_FACTS, FileFacts, OwnerOf, owner_finder

FactReader = Callable[[bytes, Tree, str, Sequence[Found], OwnerOf], FileFacts]
"""From source, tree, language, definitions and their owners."""

READERS: Final[dict[str, FactReader]] = {
    module.__name__.rpartition("facts_")[2]: module.read
    for module in (
        facts_c,
        facts_go,
        facts_java,
        facts_kotlin,
        facts_php,
        facts_python,
        facts_ruby,
        facts_rust,
        facts_script,
    )
}
"""The reader of each family of languages, or of one language of a family by its own name."""


def find_facts(
    source: bytes, tree: Tree, language: str, found: Sequence[Found], deadline: CpuDeadline
) -> FileFacts:
    """Read the facts of one file; none for a language without a reader."""
    reader = READERS.get(language) or READERS.get(language_named(language).family)
    if reader is None or deadline.is_over():
        return NO_FACTS
    ranges = [(item.start_byte, -item.minus_end_byte) for item in found]
    return reader(source, tree, language, found, owner_finder(ranges))
