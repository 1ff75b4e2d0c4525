"""JavaScript, TypeScript, and both with elements in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from repo_map.languages.syntax import QUOTED_MODULE, Captures, Named, bounded, text_of, without_comments


def namer(source: bytes, kind: str, captures: Captures) -> Named:
    """Write quoted keys bare, and ``X.prototype.y`` as ``X.y``."""
    if not (nodes := captures.get("name")):
        return []
    name = text_of(source, nodes[0])
    if name.isidentifier():
        return [(name, kind)]
    name = name.strip("'\"`").replace(".prototype.", ".")
    for lead in ("module.exports.", "exports.", "this."):
        name = name.removeprefix(lead)
    if name == "module.exports":
        name = "exports"
    return [(name, kind)] if bounded(name) else []


def imports(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    found = re.findall(QUOTED_MODULE, text)
    if not found:
        return
    clause = without_comments(text[: text.rfind(found[-1]) - 1])
    clause = re.sub(r"^\s*(?:import|export)\b|\btype\b|\bfrom\s*$|[{}*]", " ", clause.rstrip())
    names = [named[0] for part in clause.split(",") if (named := part.split()) and named[0] != "as"]
    yield found[-1], tuple(names)


# The code of pages and components: scripts, and the expressions and component tags of Vue and Svelte.
# Patterns are compiled on use: every process imports them, and few read a page.

_BLOCK: Final = rb"(?si)<(script|style)\b([^>]{0,2000}+)>(.*?)(?=</\1\s*>|\Z)"
_NO_SCRIPT: Final = (
    rb"""(?i)type\s*=\s*["']?(?!module|(?:text|application)/(?:javascript|typescript|babel)|ts\b)"""
)
_TAG: Final = rb"<!--.*?-->|<(?P<tag>[A-Za-z][\w.-]*)"
_VUE: Final = (
    b"(?s)" + _TAG + rb"|\{\{(?P<text>.{1,2000}?)\}\}"
    rb"|(?<=\s)(?:v-(?!slot)[\w.:-]+|[:@][\w.:\[\]-]+)=(?P<quote>[\"'])(?P<value>.*?)(?P=quote)"
)
_LOOP: Final = rb"(?s)[^=]*?\s(?:in|of)\s+(?=[^=])"
"""What an element of a loop is called, up to what is looped over."""
_NESTED: Final = rb"[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_SVELTE: Final = b"(?s)" + _TAG + rb"|\{(?P<code>(?:" + _NESTED + rb"){1,2000}?)\}"
_SVELTE_WORD: Final = rb"(?s)\s*(?:[/:](?!else\s+if)\w+.*|#snippet\b.*|[#@:][a-z]+(?:\s+if)?\b|\.\.\.)"
_AS: Final = rb"(?s)\s(?:as|then)\s+(?:[\w{\[]).*"
_NO_BREAK: Final = rb"[^\r\n]"


def page_code(source: bytes) -> bytes:
    """Return the scripts of a page: each byte at its place, blanks for the rest."""
    return _code(source, b"")


def vue_code(source: bytes) -> bytes:
    """Return the TypeScript of a Vue component: each byte of code at its place, blanks for the rest."""
    return _code(source, _VUE)


def svelte_code(source: bytes) -> bytes:
    """Return the TypeScript of a Svelte component: each byte of code at its place, blanks for the rest."""
    return _code(source, _SVELTE)


def _code(source: bytes, markup: bytes) -> bytes:
    code = bytearray(re.sub(_NO_BREAK, b" ", source))
    start = 0
    for block in re.finditer(_BLOCK, source):
        _read_markup(code, source, markup, start, block.start())
        start = block.end()
        if block[1].lower() == b"script" and not re.search(_NO_SCRIPT, block[2]):
            code[block.start(3) : start] = block[3]
            code[block.start(3) - 1] = ord(";")
            # An empty block ends the last statement in its own line, as a semicolon would not.
            code[start : start + 2] = b"{}"[: len(source) - start]
    _read_markup(code, source, markup, start, len(source))
    return bytes(code)


def _read_markup(code: bytearray, source: bytes, markup: bytes, start: int, end: int) -> None:
    """Put the expressions and component tags of a part of a component into its code, a statement each."""
    for found in re.compile(markup).finditer(source, start, end) if markup else ():
        groups = found.groupdict()
        if (tag := groups["tag"]) is not None:
            name = tag
            if b"-" in tag and b"." not in tag:
                name = b"".join(part[:1].upper() + part[1:] for part in tag.split(b"-"))
            if name[:1].isupper() or b"." in name:
                code[found.start()] = ord(";")
                code[found.start("tag") : found.start("tag") + len(name)] = name
        elif groups.get("text") is not None:
            _put(code, found.span("text"), groups["text"], b";(", b");")
        elif (value := groups.get("value")) is not None and value.strip():
            loop = re.match(_LOOP, value) if source[found.start() :].startswith(b"v-for") else None
            skipped = loop.end() if loop else 0
            marks = (b";{", b"}") if b";" in value else (b";(", b")")
            _put(code, found.span("value"), b" " * skipped + value[skipped:], *marks)
        elif (written := groups.get("code")) is not None:
            word = re.match(_SVELTE_WORD, written)
            skipped = word.end() if word else 0
            expression = re.sub(_AS, lambda rest: re.sub(_NO_BREAK, b" ", rest[0]), written[skipped:])
            _put(code, found.span("code"), b" " * skipped + expression, b";", b";")


def _put(code: bytearray, span: tuple[int, int], text: bytes, before: bytes, after: bytes) -> None:
    start, end = span
    code[start - len(before) : start] = before
    code[start:end] = text
    code[end : end + len(after)] = after
