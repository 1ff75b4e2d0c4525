"""Pages and their styles."""

from __future__ import annotations

import re
from typing import Final

from repo_map.languages.javascript.components import page_code
from repo_map.languages.language import Language, LanguageRole
from repo_map.languages.syntax import MAX_NAME_CHARS, SCRIPT_LITERALS, Captures, Named, first_quoted, text_of


def _element(source: bytes, kind: str, captures: Captures) -> Named:
    """Name ``main#cart`` by tag and id, a heading by its text."""
    if kind == "heading":
        parts = re.sub(r"<[^>]*>", " ", text_of(source, captures["heading"][0])).split()
        return [(" ".join(parts)[:MAX_NAME_CHARS], kind)] if parts else []
    return [("#".join(text_of(source, node) for node in captures["name"])[:MAX_NAME_CHARS], kind)]


def _rule(source: bytes, kind: str, captures: Captures) -> Named:
    """Name a style rule by its whole head."""
    name = " ".join(text_of(source, node) for node in captures.get("name", ()))
    return [(name[:MAX_NAME_CHARS], kind)] if name else []


LANGUAGES: Final = (
    Language(
        name="html",
        role=LanguageRole.MARKUP,
        suffixes=(".html", ".htm", ".xhtml"),
        unspoken_suffixes=(".htm", ".xhtml"),
        grammar_module="tree_sitter_html",
        scripts=page_code,
        namer=_element,
    ),
    Language(
        name="css",
        role=LanguageRole.MARKUP,
        suffixes=(".css", ".scss", ".less"),
        unspoken_suffixes=(".less",),
        grammar_module="tree_sitter_css",
        namer=_rule,
        imports=first_quoted,
        literals=SCRIPT_LITERALS,
    ),
)
