"""SQL."""

from __future__ import annotations

from typing import Final

from repo_map.languages.language import DocComments, Language, LanguageRole, words
from repo_map.languages.syntax import DASH_LITERALS, bare_name, writing

_WORDS: Final = (
    "add all alter and any as asc begin between bigint boolean by cascade case char check column commit"
    " constraint create cross database date decimal declare default delete desc distinct drop else end"
    " exists false float for foreign from full function group having if in index inner insert int integer"
    " into is join key language left like limit not null numeric offset on or order outer primary"
    " procedure references replace return returns right rollback schema select serial set table text then"
    " timestamp to trigger true union unique update using values varchar view when where with"
)

LANGUAGES: Final = (
    Language(
        name="sql",
        role=LanguageRole.DECLARATIONS,
        suffixes=(".sql", ".ddl", ".dml", ".pgsql"),
        unspoken_suffixes=(".ddl", ".dml", ".pgsql"),
        grammar_module="tree_sitter_sql",
        namer=bare_name,
        doc_comments=DocComments((b"--",)),
        writing=writing(("dashes", "block", "quoted")),
        keywords=words(_WORDS, _WORDS.upper()),
        literals=DASH_LITERALS,
    ),
)
