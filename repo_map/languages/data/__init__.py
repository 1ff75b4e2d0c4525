"""Formats of data and settings: JSON, YAML, TOML."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from repo_map.languages.language import HASH_COMMENTS, Language, LanguageRole
from repo_map.languages.syntax import HASH_LITERALS, bare_name

_MAX_YAML_DEPTH: Final = 200
"""Levels; the scanner of tree-sitter-yaml 0.7 writes 4 bytes for each into a buffer of 1,024."""


def _too_deep(source: bytes) -> str:
    if (depth := max_levels(source)) > _MAX_YAML_DEPTH:
        return f"its blocks may be nested {depth:,} deep, more than {_MAX_YAML_DEPTH}"
    return ""


def max_levels(source: bytes) -> int:
    """Return a number of levels that no block is deeper than, 0 where no line is far enough in to matter.

    Blocks within one another begin at different places of their lines. So the places are counted, and not
    what lies between them: comments, blank lines and texts of many lines end no block, or only seem to.
    """
    # To YAML a lone carriage return ends a line as well; the other separators of Unicode do not.
    source = source.replace(b"\r", b"\n")
    far_in, line_start = _patterns()
    if far_in.search(source) is None:
        return 0
    places: set[tuple[int, bool]] = set()
    for start in {line[0] for line in line_start.finditer(source)}:
        places.update((at, True) for at, byte in enumerate(start) if byte in b"-?:")
        places.add((len(start), False))
    return len(places)


@cache
def _patterns() -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return what tells a line that is far in, and what reads the marks at the start of one."""
    # A column holds two levels at most: a key, and the list below it at the same indentation.
    far_in = re.compile(rb"^[ \t?:-]{%d}" % (_MAX_YAML_DEPTH // 2), re.M)
    return far_in, re.compile(rb"^[ \t]*(?:[-?:][ \t]+)*[-?:]?", re.M)


LANGUAGES: Final = (
    Language(
        name="json",
        role=LanguageRole.DATA,
        suffixes=(".json", ".jsonc", ".json5", ".webmanifest"),
        unspoken_suffixes=(".jsonc", ".json5", ".webmanifest"),
        grammar_module="tree_sitter_json",
        namer=bare_name,
        token_factor=1.05,
    ),
    Language(
        name="yaml",
        role=LanguageRole.DATA,
        suffixes=(".yml", ".yaml"),
        filenames=(".clang-format", ".clang-tidy"),
        grammar_module="tree_sitter_yaml",
        refusal=_too_deep,
        namer=bare_name,
        doc_comments=HASH_COMMENTS,
        literals=HASH_LITERALS,
        token_factor=1.05,
    ),
    Language(
        name="toml",
        role=LanguageRole.DATA,
        suffixes=(".toml",),
        filenames=("cargo.lock", "poetry.lock", "uv.lock", "pipfile"),
        grammar_module="tree_sitter_toml",
        namer=bare_name,
        doc_comments=HASH_COMMENTS,
        literals=HASH_LITERALS,
    ),
)
