"""Source that is not UTF-8, ends its lines with carriage returns, or is in the cells of a notebook."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from repo_map.index.build import build_index
from repo_map.index.store import Store
from repo_map.sources.decoding import decode

GERMAN = "# Größe und Straße\nx = 'für'\n"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-16", "// shelf count\n"),
        ("utf-32", "// shelf count\n"),
        ("gb18030", '/* 库存扣减：下单时扣减库存 */\nlog("库存不足");\n'),
        ("cp932", "// 座席の予約を確認する\n// 予約が重複しています\n"),
        ("euc_jp", "// 座席の予約を確認する\n// 予約が重複しています\n"),
        ("cp949", "// 쿠폰 할인 계산\n// 쿠폰이 만료되었습니다\n"),
        ("cp1251", "// расчёт скидки для заказа\n// скидка истекла\n"),
        ("cp1252", GERMAN),
        ("iso8859-2", "# -*- coding: iso-8859-2 -*-\n# Zażółć gęślą jaźń\n"),
    ],
)
def test_source_is_decoded_by_its_mark_its_coding_line_or_its_looks(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding), "a.c").source.decode() == text


@pytest.mark.parametrize(
    "source",
    [
        b"",
        "größe = 1\r\n".encode(),
        "größe, größe, größe".encode() + b" \xff\n",
        b"\x00\x01\xff\xfe",
        b"# -*- coding: nonsense -*-\n\xe9\n",
        b"# -*- coding: rot13 -*-\n\xe9\n",
    ],
)
def test_utf8_and_what_is_no_text_stay_as_they_are(source: bytes) -> None:
    assert decode(source, "a.py") == (source, "")


def test_lone_carriage_returns_end_lines() -> None:
    assert decode(b"a = 1\rb = 2\r", "a.py").source == b"a = 1\nb = 2\n"
    assert decode(b"a = '\r'\nb = 2\r\n", "a.py").source == b"a = '\r'\nb = 2\r\n"


def notebook(*cells: tuple[str, str], language: str = "python", indent: int | None = 1) -> bytes:
    made = [
        {"cell_type": kind, "metadata": {}, "outputs": [{"text": ['"source": ["no = 1"]']}], "source": text}
        for kind, text in ((kind, text.splitlines(keepends=True)) for kind, text in cells)
    ]
    content = {"cells": made, "metadata": {"kernelspec": {"language": language}}, "nbformat": 4}
    return json.dumps(content, indent=indent).encode()


CELLS = (
    ("markdown", "# Demand\nSeasonal."),
    ("code", "%matplotlib inline\nimport numpy\n"),
    ("code", "def forecast(frame):\n    return '\\u00e9'\n"),
    ("code", "%%bash\nls"),
)


def test_cells_keep_the_lines_of_their_notebook() -> None:
    source = notebook(*CELLS)
    lines, written = decode(source, "a.ipynb").source.decode().split("\n"), source.decode().split("\n")
    for line in ("def forecast(frame):", "import numpy"):
        assert line in written[lines.index(line)]
    assert [line for line in lines if line and not line.startswith("#")] == [
        "import numpy",
        "def forecast(frame):",
        "    return '\\u00e9'",
    ]
    assert len(lines) == len(written)
    assert decode(decode(source, "a.ipynb").source, "a.ipynb").source == decode(source, "a.ipynb").source


@pytest.mark.parametrize(
    ("source", "language", "names"),
    [
        (notebook(*CELLS), "python", ["forecast"]),
        (notebook(*CELLS, indent=None), "python", ["forecast"]),
        (
            notebook(("code", "function add(a) {\n  return a\n}"), language="javascript"),
            "javascript",
            ["add"],
        ),
        (notebook(("code", "add <- function(a) a"), language="R"), "", []),
        (b'{"cells": [', "python", []),
    ],
)
def test_a_notebook_is_source_of_its_kernel(
    tmp_path: Path, source: bytes, language: str, names: list[str]
) -> None:
    (tmp_path / "a.ipynb").write_bytes(source)
    index = build_index(tmp_path, store=Store(None), workers=1)
    assert index.language(0) == language
    assert [each.name for each in index.definitions(0)] == names


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("deep.ipynb", b'{"cells": [{"source": ' + b"[" * 200_000 + b'"a",' * 100_000),
        ("quotes.ipynb", b'{"' * 300_000),
        ("lines.ipynb", b'{"cells": [{"cell_type": "code", "source": [' + b'"a",\n' * 200_000 + b'"b"]}]}'),
        ("metadata.ipynb", b'{"cells": [], "metadata": "none"}'),
        ("coding.py", b"# coding: punycode\n" + b"a" * 100_000 + b"-" + b"\xe9" * 100_000),
        ("long.c", b"\xe9\xff" * 300_000),
    ],
)
def test_hostile_bytes_take_linear_time(path: str, source: bytes) -> None:
    began = time.process_time()
    decode(source, path)
    assert time.process_time() - began < 4
