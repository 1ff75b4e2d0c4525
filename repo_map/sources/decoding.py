"""Bytes of a file as UTF-8 source, line by line: encodings, carriage returns, and the cells of notebooks."""

from __future__ import annotations

import codecs
import json
import re
import unicodedata
from collections import Counter
from typing import Any, Final, NamedTuple

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


class Decoded(NamedTuple):
    """Source as UTF-8."""

    source: bytes
    encoding: str = ""
    """What it was decoded from, ``""`` for UTF-8."""


def decode(source: bytes, path: str) -> Decoded:
    """Return a file's bytes as UTF-8 with line feeds; a notebook as the source of its cells.

    A byte order mark decides the encoding, else a coding line, else how the bytes look. Bytes that are no
    text are returned as they are.
    """
    decoded = _as_utf8(source)
    if b"\r" in decoded.source and b"\n" not in decoded.source:
        decoded = decoded._replace(source=decoded.source.replace(b"\r", b"\n"))
    if path.endswith(NOTEBOOK) and decoded.source.lstrip().startswith(b"{"):
        decoded = decoded._replace(source=_cells(decoded.source))
    return decoded


def _as_utf8(source: bytes) -> Decoded:
    encoding = next((name for mark, name in _MARKS if source.startswith(mark)), "")
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


# Notebooks.

_DECODER: Final = json.JSONDecoder()
_SOURCE_BEGINS: Final = re.compile(r'\s*"source":\s*\[\s*')
_PLAIN_MAGIC: Final = re.compile(r"%%(?:time|timeit|capture|prun)\b")
_SLASHES: Final = frozenset(
    {"javascript", "typescript", "scala", "java", "kotlin", "c#", "c++", "go", "rust", "swift"}
)
"""Languages of kernels whose comments are not written with ``#``."""


def _cells(source: bytes) -> bytes:
    """Return the cells' source at the lines of the file that hold it, all else blank.

    A notebook that is not written with a line of source on each line is numbered through its cells instead.
    The first line names the language of the kernel. What is no notebook is returned as it is.
    """
    try:
        notebook = json.loads(source)
        mark, head = _kernel_mark(notebook)
        pieces: list[tuple[str, list[str]]] = []
        for cell in notebook["cells"]:
            text = cell["source"]
            is_text = cell["cell_type"] != "code" or _is_foreign("".join(text))
            strings = [text] if isinstance(text, str) else text
            pieces += ((piece, _shown(piece, mark, is_text=is_text)) for piece in strings)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return source
    written = source.decode("utf-8", "replace").split("\n")
    lines = _aligned(written, pieces) or ["", *(line for _, shown in pieces for line in shown), ""]
    lines[0] = head
    return "\n".join(lines).encode("utf-8", "replace")


def _aligned(written: list[str], pieces: list[tuple[str, list[str]]]) -> list[str]:
    """Return the lines of a notebook with its source and nothing else; none if they do not match."""
    lines, at, is_source = [""] * len(written), 0, False
    for number, line in enumerate(written):
        text = line.strip().removesuffix(",")
        if not is_source:
            is_source = _SOURCE_BEGINS.fullmatch(line) is not None
        elif text == "]":
            is_source = False
        elif (
            at == len(pieces)
            or len(pieces[at][1]) != 1
            or text[:1] != '"'
            or _DECODER.raw_decode(text) != (pieces[at][0], len(text))
        ):
            return []
        else:
            lines[number] = pieces[at][1][0]
            at += 1
    return lines if at == len(pieces) and len(written) > 1 else []


def _shown(piece: str, mark: str, *, is_text: bool) -> list[str]:
    return [
        f"{mark} {line}" if is_text or line.lstrip().startswith(("%", "!")) else line
        for line in piece.removesuffix("\n").split("\n")
    ]


def _is_foreign(text: str) -> bool:
    """Return True if a cell is in another language (``%%bash``)."""
    return text.startswith("%%") and not _PLAIN_MAGIC.match(text)


def _kernel_mark(notebook: dict[str, Any]) -> tuple[str, str]:
    """Return how comments begin, and the line that names the language of the kernel."""
    metadata = notebook.get("metadata") or {}
    kernels = (metadata.get("language_info") or {}, metadata.get("kernelspec") or {})
    named = kernels[0].get("name") or kernels[1].get("language")
    language = re.sub(r"[^\w+#-]", "", str(named or "python").lower())[:30]
    mark = "//" if language in _SLASHES else "#"
    return mark, f"{mark} Notebook in {language}"
