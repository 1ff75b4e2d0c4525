"""Elixir."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from repo_map.languages.language import HASH_COMMENTS, Found, Language, words
from repo_map.languages.syntax import HASH_LITERALS, MAX_NAME_CHARS, Captures, Named, text_of, writing

_MAX_DOC_LINES: Final = 400
"""Lines."""


def _namer(source: bytes, kind: str, captures: Captures) -> Named:
    """Call a clause by its head, without arguments and guard."""
    if not (nodes := captures.get("name")):
        return []
    name = text_of(source, nodes[0])
    if name.startswith('"'):
        return [(name.strip('"')[:MAX_NAME_CHARS], kind)]
    head = re.match(r"[\w.!?]+", name)
    return [(head[0] if head else name.partition(" when ")[0][:MAX_NAME_CHARS], kind)]


def _docs(source: bytes) -> Callable[[Found], tuple[int, int]]:
    """Find ``@doc`` before a signature, or ``@moduledoc`` after it."""
    lines = source.removeprefix(b"\xef\xbb\xbf").split(b"\n")

    def attribute(item: Found) -> tuple[int, int]:
        for row in (*range(item.start, item.sig_start), item.sig_end + 1):
            line = lines[row].strip() if row < len(lines) else b""
            if line.startswith((b"@doc ", b"@moduledoc ")) and not line.endswith(b"false"):
                last = row
                if line.count(b'"""') == 1:
                    below = range(row + 1, min(row + _MAX_DOC_LINES, len(lines)))
                    last = next((r for r in below if b'"""' in lines[r]), row)
                return row + 1, last + 1
        return 0, 0

    return attribute


def _imports(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Read ``alias A.{B, C}``, ``import A``, ``use A, option: 1``."""
    named = re.split(r"[,\s]", text.strip(), maxsplit=2)
    if len(named) < 2:
        return
    module, brace, tail = text.partition("{")
    if brace:
        names = tuple(part.strip() for part in tail.rstrip("} \n").split(",") if part.strip())
        yield module.split()[-1].rstrip("."), names
    else:
        yield named[1], ()


LANGUAGES: Final = (
    Language(
        name="elixir",
        suffixes=(".ex", ".exs"),
        interpreters=("elixir",),
        grammar_module="tree_sitter_elixir",
        namer=_namer,
        doc_comments=HASH_COMMENTS,
        docs=_docs,
        imports=_imports,
        writing=writing(("hash", "triple", "double_lines", "single"), ("#{",), "hash_braces"),
        keywords=words(
            "after alias and case catch cond def defdelegate defexception defguard defimpl defmacro defmacrop"
            " defmodule defp defprotocol defstruct do else end false fn for if import in nil not or quote"
            " raise receive require rescue super throw true try unless unquote use when with __MODULE__"
            " is_nil"
        ),
        literals=HASH_LITERALS,
    ),
)
