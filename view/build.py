"""Makes the map's page from its sources, always the same bytes of the same: ``python -m view.build``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SOURCES: Final = Path(__file__).with_name("src")
PAGE: Final = Path(__file__).parents[1] / "navigator" / "picture" / "page.html"
SCRIPTS: Final = (
    *("dom", "treemap", "model", "code", "answer", "map", "bridge"),
    *("steps", "panels", "view", "main"),
)
"""In the order in which they stand in the page."""
_NEVER: Final = ("</script", "<!--", "</style")
"""What would end a script or a style before its end."""


def built() -> str:
    """Return the page.

    Raises:
        SystemExit: a source holds what can't stand in a page.
    """
    script = "\n".join(_lean(f"{name}.js", "//") for name in SCRIPTS)
    style = _lean("view.css", "/*")
    for part in (script, style):
        for text in _NEVER:
            if text in part:
                raise SystemExit(f"A source of the view holds `{text}`; write it in two pieces.")
    page = _read("page.html")
    page = page.replace("/* style */", f"\n{style}\n")
    return page.replace("/* script */", f'\n(() => {{\n"use strict";\n{script}\n}})();\n')


def _lean(name: str, comment: str) -> str:
    """Return a source without the lines that say nothing to a browser."""
    lines = (line.rstrip() for line in _read(name).splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith((comment, "/** ")))


def _read(name: str) -> str:
    return SOURCES.joinpath(name).read_text(encoding="utf-8")


if __name__ == "__main__":
    PAGE.write_text(built(), encoding="utf-8")
