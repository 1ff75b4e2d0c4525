"""What a file says about who means whom: its uses of names and its bindings, before anything is resolved.

The reader of a family of languages takes both from the syntax tree; ``repo_map.relations`` resolves them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import cast

from tree_sitter import Tree

from repo_map.languages.language import Found
from repo_map.languages.parser import CpuDeadline
from repo_map.languages.registry import language_named
from repo_map.parsing.facts_model import NO_FACTS, FileFacts, owner_finder
from repo_map.parsing.facts_reader import Reader


def find_facts(
    source: bytes, tree: Tree, language: str, found: Sequence[Found], deadline: CpuDeadline
) -> FileFacts:
    """Read the facts of one file; none for a language without a reader."""
    family = language_named(language).family
    if not family or deadline.is_over():
        return NO_FACTS
    ranges = [(item.start_byte, -item.minus_end_byte) for item in found]
    return _readers(family)[language](source, found, owner_finder(ranges)).read(tree, language)


@cache
def _readers(family: str) -> Mapping[str, type[Reader]]:
    """Return the readers of a family by language, loaded by name: the engine's parts know no language."""
    return cast("Mapping[str, type[Reader]]", import_module(f"repo_map.languages.{family}.reader").READERS)
