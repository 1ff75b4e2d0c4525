"""docs/errors.md lists every error code, and no other."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

from repo_map.errors import UserError

ROOT = Path(__file__).parents[2]
PACKAGES = ("repo_map", "navigator", "mcp_server", "repo_navigator")
PAGE = (ROOT / "docs/errors.md").read_text("utf-8").partition("## Codes\n")[2].partition("\n## ")[0]
LISTED = {code for entry in re.findall(r"^- ([^:\n]+)", PAGE, re.M) for code in re.findall(r"`(\w+)`", entry)}


def kinds(kind: type[UserError] = UserError) -> Iterator[type[UserError]]:
    """Yield the classes of errors, those without a code of their own left out."""
    for each in kind.__subclasses__():
        if each.code != UserError.code:
            yield each
        yield from kinds(each)


def test_the_page_lists_the_codes_of_all_errors() -> None:
    for package in PACKAGES:
        for found in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if not found.name.endswith("__main__"):
                importlib.import_module(found.name)
    codes = {each.code for each in kinds()}
    assert len(codes) > 15
    assert codes - LISTED == set()
    # Some codes are given where an error is raised.
    sources = "".join(path.read_text("utf-8") for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
    given = {*re.findall(r'\bcode="(\w+)"', sources), *re.findall(r'ErrorDetails\(\s*"(\w+)"', sources)}
    assert (codes | given) - {"cancelled"} == LISTED
