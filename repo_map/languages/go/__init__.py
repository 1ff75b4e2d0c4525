"""Go."""

from __future__ import annotations

import re
from collections.abc import Iterable

from repo_map.languages.syntax import QUOTED_MODULE, Captures, Named, plain_name, text_of


def namer(source: bytes, kind: str, captures: Captures) -> Named:
    """Put the type of its receiver before a method's name."""
    named = plain_name(source, kind, captures)
    if owner := captures.get("owner"):
        receiver = text_of(source, owner[0]).strip("()").partition("[")[0].split()
        if receiver:
            return [(f"{receiver[-1].lstrip('*')}.{name}", kind) for name, kind in named]
    return named


def imports(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    if found := re.search(QUOTED_MODULE, text):
        alias = text[: found.start()].strip()
        yield found[1], (alias,) if alias else ()
