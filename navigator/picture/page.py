"""A map's page as a file that opens from disk: its data in it, under a policy that lets nothing else in."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import Any

from navigator.picture.page_builder import build_page
from repo_map.messages import one_line, plural, printable

PictureData = dict[str, Any]
"""As ``docs/picture.md`` describes it: numbers and printable texts alone."""

_POLICY = "<!-- policy -->"
_DATA = '<script type="application/json" id="picture"></script>'
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


@cache
def view_page() -> str:
    """Return the page without data, as clients receive it; a source checkout builds it."""
    package = resources.files("navigator.picture")
    built = package.joinpath("page.html")
    return built.read_text(encoding="utf-8") if built.is_file() else build_page(package.joinpath("page"))


def saved_page(data: PictureData) -> str:
    """Return the page of a picture: it runs its own script alone, and can reach nothing."""
    page = view_page()
    policy = (
        f"default-src 'none'; script-src {_hash(_SCRIPT, page)}; style-src {_hash(_STYLE, page)}; "
        "base-uri 'none'; form-action 'none'"
    )
    page = page.replace(_POLICY, f'<meta http-equiv="Content-Security-Policy" content="{policy}">')
    return page.replace(_DATA, _DATA.replace("></", f">{as_json(data)}</"))


def _hash(pattern: re.Pattern[str], page: str) -> str:
    (text,) = pattern.findall(page)
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def as_json(data: PictureData) -> str:
    """Return a picture's data as text that is safe in a page: no tag, comment or line end begins in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def clipped(text: str, characters: int, *, lines: bool = False) -> str:
    """Return a text on one line, or with its ``lines``, without invisible characters, cut if too long."""
    text = printable(text).strip() if lines else one_line(text)
    return text if len(text) <= characters else f"{text[: characters - 1].rstrip()}…"


def totals(data: PictureData) -> str:
    """Return how much of the budget and of the files is shown."""
    shown, all_files = sum(file["level"] > 1 for file in data["files"]), data["tree"]["files"][0]
    budget = plural(data["token_budget"], "token")
    return f"{data['tokens']:,} of {budget}, {shown:,} of {plural(all_files, 'file')}"
