"""Markdown: read without a grammar, which is slow and says no more."""

from __future__ import annotations

from typing import Final

from repo_map.languages.language import Language, LanguageRole, Structure

LANGUAGES: Final = (
    Language(
        name="markdown",
        role=LanguageRole.PROSE,
        suffixes=(".md", ".markdown", ".mdx", ".mdown"),
        unspoken_suffixes=(".markdown", ".mdx", ".mdown"),
        structure=Structure.HEADINGS,
    ),
)
