"""Build the picture's page from its sources in ``page/``; the same sources give the same text.

The build hook of wheels loads this file by its path, so it imports the standard library alone.
"""

from __future__ import annotations

from importlib.resources.abc import Traversable
from typing import Final

_SCRIPTS: Final = (
    *("dom", "treemap", "model", "code", "answer", "map", "bridge"),
    *("steps", "panels", "view", "main"),
)
_FORBIDDEN: Final = ("</script", "<!--", "</style")
"""Ends a script or a style before its end."""


def build_page(sources: Traversable) -> str:
    """Return the page that is made of the files in ``sources``."""
    script = "\n".join(_lean(sources, f"{name}.js", "//") for name in _SCRIPTS)
    style = _lean(sources, "view.css", "/*")
    for part in (script, style):
        for text in _FORBIDDEN:
            if text in part:
                raise ValueError(f"A source of the page holds `{text}`; write it in two pieces.")
    page = _read(sources, "page.html").replace("/* style */", f"\n{style}\n")
    return page.replace("/* script */", f'\n(() => {{\n"use strict";\n{script}\n}})();\n')


def _lean(sources: Traversable, name: str, comment: str) -> str:
    lines = (line.rstrip() for line in _read(sources, name).splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith((comment, "/** ")))


def _read(sources: Traversable, name: str) -> str:
    return sources.joinpath(name).read_text(encoding="utf-8")
