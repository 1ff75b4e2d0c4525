"""The English of the documents: sentences that are read once, and words that a stranger knows.

``python -m tests.docs.prose`` prints what is to be mended, a line each, and ends with 1 where there is any.
Linters of prose come as programs that are downloaded at first use, or need Node: the two rules stand here, on
a parser of Markdown.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT: Final = Path(__file__).parents[2]
MOST_WORDS: Final = 25
"""Words of a sentence at most; code between backticks and numbers count as one each."""
_QUOTED: Final = "Text"
"""Head of a first column that is left out: it quotes the product's errors, which other tests check."""
_WORDS: Final = Path(__file__).with_name("private_words.txt")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?:;])[\")”’]*\s+(?=[\"(“‘]*[A-Z0-9`«])|\n{2,}")
_WORD: Final = re.compile(r"[^\W_][\w'’.,/-]*")
_ABBREVIATION: Final = re.compile(r"\b(?:e\.g|i\.e|etc|vs|approx)\.$")


def pages() -> Iterator[Path]:
    """Yield the documents that people read, in the order of their names."""
    yield from sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def prose(markdown: str) -> Iterator[tuple[int, str]]:
    """Yield each paragraph, list item, heading and cell of a table as its 1-based line and its text.

    Code between backticks becomes one word, and so does an image. Left out are blocks of code, HTML and
    quoted errors.
    """
    line, column = 1, 0
    head: str | None = None
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        if token.map:
            line = token.map[0] + 1
        match token.type:
            case "table_open":
                head = None
            case "tr_open" | "table_close":
                column = 0
            case "th_open" | "td_open":
                column += 1
            case "inline":
                if column == 1 and head is None:
                    head = token.content
                if column != 1 or head != _QUOTED:
                    yield line, "".join(_spoken(each) for each in token.children or ())


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text; a colon or a semicolon before a capital ends one as well."""
    held = ""
    for part in _SENTENCE_END.split(text):
        held = f"{held} {part}".strip()
        if not _ABBREVIATION.search(held):
            yield held
            held = ""
    if held:
        yield held


def private_words() -> dict[str, str]:
    """Return the words that only this house uses, each with what the field says."""
    rows = (line.partition(":") for line in _WORDS.read_text("utf-8").splitlines() if line and line[0] != "#")
    return {word.strip(): instead.strip() for word, _, instead in rows}


def problems(page: Path) -> Iterator[str]:
    """Yield what is to be mended on a page, as ``path:line: what``."""
    words = private_words()
    known = re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b", re.IGNORECASE) if words else None
    name = page.relative_to(ROOT).as_posix()
    for line, text in prose(page.read_text("utf-8")):
        for sentence in sentences(text):
            if (length := len(_WORD.findall(sentence))) > MOST_WORDS:
                yield f"{name}:{line}: {length} words: {' '.join(sentence.split())[:100]}"
        for found in known.finditer(text) if known else ():
            yield f"{name}:{line}: `{found[0]}`: {words[found[0].lower()]}"


def _spoken(token: Token) -> str:
    match token.type:
        case "code_inline" | "image":
            return "`code`"
        case "text":
            return token.content
        case "softbreak":
            return " "
        case "hardbreak":
            return "\n\n"
        case _:
            return ""


def main() -> int:
    """Print the problems of all pages; 1 where there is any."""
    found = [problem for page in pages() for problem in problems(page)]
    sys.stdout.write("".join(f"{problem}\n" for problem in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
