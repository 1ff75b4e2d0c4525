"""The facts of Java and Kotlin: each language has its reader, and one resolver takes both."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Tree

from repo_map.families.jvm import java_reader, kotlin_reader
from repo_map.languages.language import Found
from repo_map.parsing.facts_model import FileFacts, OwnerOf


def read(source: bytes, tree: Tree, language: str, found: Sequence[Found], owner: OwnerOf) -> FileFacts:
    """Read the facts of one file of Java or Kotlin."""
    reader = kotlin_reader.read if language == "kotlin" else java_reader.read
    return reader(source, tree, language, found, owner)
