"""What an import statement names: the readings that languages share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

# An opening mark ends what stands before it, so that a row of them is not read from each anew.
QUOTED: Final = r"""["'`<]([^"'`<>\n]++)["'`>]"""
_COMMENT: Final = r"//[^\n]*|/\*.*?(?:\*/|\Z)"


def without_comments(text: str) -> str:
    """Return a statement without ``//`` and ``/* … */``."""
    return re.sub(_COMMENT, "", text, flags=re.DOTALL)


def first_quoted(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Read ``require 'a'``, ``#include <a>``, ``@import "a"``."""
    if found := re.search(QUOTED, text):
        yield found[1].strip(), ()


def dotted(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Read ``import a.b.{c, d => e}``, ``using X = a.b``, ``@testable import a``."""
    text = without_comments(text).strip().rstrip(";")
    text = re.sub(
        r"^(?:@\w+\s+|global\s+)*(?:import|using|use)\s+(?:static\s+|function\s+|const\s+)?", "", text
    )
    text = text.rpartition("=")[2].strip() if "=>" not in text else text
    head, brace, tail = text.partition("{")
    if brace:
        names = [words[0] for part in tail.rstrip("} ").split(",") if (words := part.split())]
        yield head.strip().rstrip(".\\"), tuple(names)
        return
    words = re.split(r"\s+as\s+|\s", text.strip())
    module, _, name = words[0].replace("\\", ".").rpartition(".")
    yield (module, (name,)) if module else (name, ())
