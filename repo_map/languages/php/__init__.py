"""PHP."""

from __future__ import annotations

from collections.abc import Iterable

from repo_map.languages.syntax import dotted, first_quoted


def imports(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    if text.lstrip().startswith("use"):
        for module, names in dotted(text):
            yield module.replace("\\", "."), names
    else:
        yield from first_quoted(text)
