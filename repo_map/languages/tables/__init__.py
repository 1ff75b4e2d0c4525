"""What is special of languages whose names are not resolved; their records are in ``languages.toml``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from repo_map.languages.javascript import page_code
from repo_map.languages.language import Found
from repo_map.languages.syntax import (
    MAX_NAME_CHARS,
    Captures,
    Named,
    bare_name,
    bounded,
    dotted,
    plain_name,
    text_of,
    without_parameters,
)

__all__ = ["page_code"]

Imports = Iterable[tuple[str, tuple[str, ...]]]


def second_word(text: str) -> Imports:
    """Read ``source lib.sh``, ``. lib.sh``, ``include a.mk``, ``include(a.cmake)``."""
    named = re.split(r"[\s()]+", text.strip())
    if len(named) > 1:
        yield named[1].strip("\"'"), ()


def using(text: str) -> Imports:
    """Read C#'s ``using``: the whole path is a namespace."""
    for module, names in dotted(text):
        yield ".".join((module, *names)) if module else "", ()


def haskell_import(text: str) -> Imports:
    """Read ``import qualified Data.Map as M``, ``import Data.List (sort)``."""
    found = re.match(r"import\s+(?:safe\s+)?(?:qualified\s+)?(?:\"[^\"]*\"\s+)?([\w.']+)", text)
    if found:
        yield found[1], ()


def clojure_namespace(text: str) -> Imports:
    """Read the namespaces that ``(:require [a.b :as c] [d.e])`` and ``(:use …)`` list."""
    for clause in re.findall(r"\(:(?:require|use)\b([^()]*)", text):
        for module in re.findall(r"(?:^|[\s\[])([a-zA-Z][\w.*+!?-]*)(?=[\s\]]|$)", clause):
            if "." in module:
                yield module, ()


def block_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name a block of HCL by its type and labels: ``resource.aws_s3_bucket.main``."""
    name = ".".join(text_of(source, node).strip('"') for node in captures.get("name", ()))
    return [(name, kind)] if bounded(name) else []


def haskell_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name an instance of Haskell by its class and types, and an operator without parentheses."""
    named = plain_name(source, kind, captures)
    return [(" ".join(name.strip("()") for name, _ in named), kind)] if named else []


def dot_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Write ``Cart:add`` as ``Cart.add``."""
    return [(name.replace(":", "."), kind) for name, kind in plain_name(source, kind, captures)]


def type_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Call an extension after its type, without parameters."""
    return [(without_parameters(name), kind) for name, _ in plain_name(source, kind, captures)]


def unscoped_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Write ``script:Get-Box`` as ``Get-Box``, ``$Width`` as ``Width``."""
    return [(name.rpartition(":")[2], kind) for name, _ in bare_name(source, kind, captures)]


_MAX_YAML_DEPTH: Final = 200
"""Levels; the scanner of tree-sitter-yaml 0.7 writes 4 bytes for each into a buffer of 1,024."""


def too_deep(source: bytes) -> str:
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
    # A column holds two levels at most: a key, and the list below it at the same indentation.
    if re.search(rb"(?m)^[ \t?:-]{%d}" % (_MAX_YAML_DEPTH // 2), source) is None:
        return 0
    places: set[tuple[int, bool]] = set()
    for start in set(re.findall(rb"(?m)^[ \t]*(?:[-?:][ \t]+)*[-?:]?", source)):
        places.update((at, True) for at, byte in enumerate(start) if byte in b"-?:")
        places.add((len(start), False))
    return len(places)


_MAX_DOC_LINES: Final = 400
"""Lines."""


def clause_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Call a clause by its head, without arguments and guard."""
    if not (nodes := captures.get("name")):
        return []
    name = text_of(source, nodes[0])
    if name.startswith('"'):
        return [(name.strip('"')[:MAX_NAME_CHARS], kind)]
    head = re.match(r"[\w.!?]+", name)
    return [(head[0] if head else name.partition(" when ")[0][:MAX_NAME_CHARS], kind)]


def elixir_docs(source: bytes) -> Callable[[Found], tuple[int, int]]:
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


def alias(text: str) -> Imports:
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


def element(source: bytes, kind: str, captures: Captures) -> Named:
    """Name ``main#cart`` by tag and id, a heading by its text."""
    if kind == "heading":
        parts = re.sub(r"<[^>]*>", " ", text_of(source, captures["heading"][0])).split()
        return [(" ".join(parts)[:MAX_NAME_CHARS], kind)] if parts else []
    return [("#".join(text_of(source, node) for node in captures["name"])[:MAX_NAME_CHARS], kind)]


def rule(source: bytes, kind: str, captures: Captures) -> Named:
    """Name a style rule by its whole head."""
    name = " ".join(text_of(source, node) for node in captures.get("name", ()))
    return [(name[:MAX_NAME_CHARS], kind)] if name else []
