"""Bytes of a file as UTF-8 source, line by line: encodings, carriage returns, and the cells of notebooks."""

from __future__ import annotations

import codecs
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from repo_map import globs
from repo_map.errors import FlightPlanError
from repo_map.sources import disk
from repo_map.sources.file_kinds import is_binary

NOTEBOOK: Final = ".ipynb"
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CODING: Final = re.compile(
    rb"\A[^\n]*?(?:\n[^\n]*?)?(?:coding[:=][ \t]*|encoding=[\"'])([\w.-]{1,30})", re.ASCII
)
_SAFE: Final = re.compile(
    r"(?:utf[-_]?(?:8|16|32)|iso|latin|cp\d|windows|koi8|mac|euc|shift|s?jis|gb|hz|big5|ks_?c|uhc|tis|ascii|us-ascii)",
    re.IGNORECASE,
)
"""What names of encodings begin with that take time linear in the text; that of ``punycode`` is quadratic."""
_DETECTED: Final = (
    *("cp932", "euc_jp", "cp949", "gb18030", "big5"),
    *("cp1251", "koi8_r", "cp1252", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256"),
)
"""The encodings of source that are guessed; the first of equally likely ones counts."""
_JAPANESE: Final = frozenset({"cp932", "euc_jp"})
_SAMPLE_BYTES: Final = 4_000
_BEYOND_ASCII: Final = bytes(range(0x80, 0x100))
_MAX_ATTRIBUTES_BYTES: Final = 100_000


class Decoded(NamedTuple):
    """Source as UTF-8."""

    source: bytes
    encoding: str = ""
    """What it was decoded from, ``""`` for UTF-8."""


def decode(source: bytes, path: str, declared: str = "") -> Decoded:
    """Return a file's bytes as UTF-8 with line feeds; a notebook as the source of its cells.

    A byte order mark decides the encoding, else ``declared``, else a coding line, else how the bytes look.
    Bytes that are no text are returned as they are.
    """
    decoded = _as_utf8(source, declared)
    if b"\r" in decoded.source and b"\n" not in decoded.source:
        decoded = decoded._replace(source=decoded.source.replace(b"\r", b"\n"))
    if path.endswith(NOTEBOOK) and decoded.source.lstrip().startswith(b"{"):
        decoded = decoded._replace(source=_cells(decoded.source))
    return decoded


def _as_utf8(source: bytes, declared: str) -> Decoded:
    encoding = next((name for mark, name in _MARKS if source.startswith(mark)), "") or declared
    if not encoding:
        if source.isascii() or is_binary(source):
            return Decoded(source)
        try:
            source.decode()
            return Decoded(source)
        except UnicodeDecodeError:
            written = _CODING.match(source[:400])
            encoding = written[1].decode() if written else _detected(source)
    if not _SAFE.match(encoding):
        return Decoded(source)
    try:
        text = source.decode(encoding, "replace")
    except (LookupError, ValueError):  # Python knows no such encoding of text.
        return Decoded(source)
    name = codecs.lookup(encoding).name
    return Decoded(source) if name == "utf-8" else Decoded(text.encode("utf-8", "replace"), name)


def _detected(source: bytes) -> str:
    """Return the likeliest encoding of bytes that are not UTF-8."""
    text = source.decode("utf-8", "replace")
    valid = sum(each > "\x7f" for each in text) - (broken := text.count("\ufffd"))
    if broken <= max(1, valid):
        return "utf-8"  # With a few bytes of something else.
    from charset_normalizer import from_bytes  # noqa: PLC0415 - few files need it

    lines = (line for line in source.splitlines(keepends=True) if not line.isascii())
    sample = b"".join(lines)[:_SAMPLE_BYTES].rstrip(_BEYOND_ASCII)  # No character is cut.
    found = [
        (_mixture(str(each), each.encoding), each.chaos, _DETECTED.index(each.encoding))
        for each in from_bytes(sample, cp_isolation=list(_DETECTED), enable_fallback=False)
        if each.encoding in _DETECTED
    ]
    return _DETECTED[min(found)[2]] if found else "utf-8"


def _mixture(text: str, encoding: str) -> float:
    """Return the share of letters beyond ASCII that are not of the commonest script: words have one."""
    scripts = Counter(
        unicodedata.name(each, "?").split()[0] for each in text if each > "\x7f" and each.isalpha()
    )
    if encoding in _JAPANESE:
        scripts["CJK"] += scripts.pop("HIRAGANA", 0) + scripts.pop("KATAKANA", 0)
    return 1 - max(scripts.values(), default=0) / max(scripts.total(), 1)


def declared_encoding(root: Path, path: str) -> str:
    """Return the ``working-tree-encoding`` of a file in the root's ``.gitattributes``, ``""`` without one."""
    attributes = root / ".gitattributes"
    changed = disk.modified_ns(attributes)
    rules = _encodings(root, changed) if changed else ()
    return next((encoding for pattern, encoding in reversed(rules) if _applies(pattern, path)), "")


@lru_cache(maxsize=16)
def _encodings(root: Path, _changed_ns: int) -> tuple[tuple[str, str], ...]:
    try:
        text = disk.read_start(root, ".gitattributes", _MAX_ATTRIBUTES_BYTES).decode("utf-8", "replace")
    except OSError:
        return ()
    found = re.findall(r"^[ \t]*([^\s#]\S*)[ \t](?:.*[ \t])?working-tree-encoding=(\S+)", text, re.M)
    return tuple(
        (f"**/{each}" if "/" not in each else each.lstrip("/"), encoding) for each, encoding in found
    )


def _applies(pattern: str, path: str) -> bool:
    try:
        return globs.matches(pattern, path)
    except FlightPlanError:
        return False


# Notebooks.

_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"(\s*+:)?|[{}\[\]]', re.S)
_PLAIN_MAGIC: Final = re.compile(r"%%(?:time|timeit|capture|prun)\b")
_SLASHES: Final = frozenset(
    {"javascript", "typescript", "scala", "java", "kotlin", "c#", "c++", "go", "rust", "swift"}
)
"""Languages of kernels whose comments are not written with ``#``."""


class _Cell(NamedTuple):
    kind: str
    pieces: list[tuple[int, str]]
    """Offset in the file and text of each string of its source."""


def _cells(source: bytes) -> bytes:
    """Return the cells' source at the lines of the file that hold it, all else blank.

    A notebook with several lines of source on a line of the file is numbered through its cells instead. The
    first line names the language of the kernel. What is no notebook is returned as it is.
    """
    try:
        cells, language = list(_read_cells(source)), _kernel_language(source)
    except (ValueError, IndexError, AttributeError, RecursionError):
        return source
    mark = "//" if language in _SLASHES else "#"
    lines = [f"{mark} Notebook in {language}"]
    aligned, count, counted = True, 0, 0
    for cell in cells:
        is_text = cell.kind != "code" or _is_foreign("".join(text for _, text in cell.pieces))
        for at, text in cell.pieces:
            count, counted = count + source.count(b"\n", counted, at), at
            aligned = aligned and count >= len(lines) and "\n" not in text[:-1]
            lines += [""] * (count - len(lines) if aligned else 0)
            lines += (
                f"{mark} {line}" if is_text or line.lstrip().startswith(("%", "!")) else line
                for line in text.removesuffix("\n").split("\n")
            )
    total = source.count(b"\n")
    lines += [""] * (total - len(lines) if aligned else 0)
    return "\n".join((*lines, "")).encode("utf-8", "replace")


def _is_foreign(text: str) -> bool:
    """Return True if a cell is in another language (``%%bash``)."""
    return text.startswith("%%") and not _PLAIN_MAGIC.match(text)


def _kernel_language(source: bytes) -> str:
    metadata: dict[str, Any] = json.loads(source).get("metadata") or {}
    named = (metadata.get("language_info") or {}).get("name") or (metadata.get("kernelspec") or {}).get(
        "language"
    )
    return re.sub(r"[^\w+#-]", "", str(named or "python").lower())[:30]


def _read_cells(source: bytes) -> Iterator[_Cell]:
    """Yield the cells of a notebook in order."""
    path: list[bytes] = []
    key, kind = b"", ""
    pieces: list[tuple[int, str]] = []
    for token in _TOKEN.finditer(source):
        written = token[0]
        if written in b"{[":
            path.append(key)
            key = b""
        elif written in b"}]":
            path.pop()
            key = b""
            if len(path) == 2 and path[1] == b"cells":
                yield _Cell(kind, pieces)
                kind, pieces = "", []
        elif token[1]:
            key = written[1 : written.rindex(b'"')]
        elif not 3 <= len(path) <= 4 or path[1] != b"cells":
            continue
        elif len(path) == 3 and key == b"cell_type":
            kind = json.loads(written)
        elif path[3:] == [b"source"] or (len(path) == 3 and key == b"source"):
            pieces.append((token.start(), json.loads(written)))
