"""Lua."""

from __future__ import annotations

from typing import Final

from repo_map.languages.language import DocComments, Language, words
from repo_map.languages.syntax import DASH_LITERALS, Captures, Named, first_quoted, plain_name, writing

_BLOCK: Final = r"(?:--)?\[\[[^\]]*+(?:\](?!\])[^\]]*+)*(?:\]\])?"


def _namer(source: bytes, kind: str, captures: Captures) -> Named:
    """Write ``Cart:add`` as ``Cart.add``."""
    return [(name.replace(":", "."), kind) for name, kind in plain_name(source, kind, captures)]


LANGUAGES: Final = (
    Language(
        name="lua",
        suffixes=(".lua", ".rockspec"),
        unspoken_suffixes=(".rockspec",),
        interpreters=("lua",),
        grammar_module="tree_sitter_lua",
        namer=_namer,
        doc_comments=DocComments((b"--",), blocks=False),
        imports=first_quoted,
        writing=writing((_BLOCK, "dashes", "double", "single")),
        keywords=words(
            "and break do else elseif end false for function goto if in local nil not or repeat return self"
            " then true until while ipairs pairs require tostring tonumber type print"
        ),
        literals=DASH_LITERALS,
    ),
)
