"""A possessive quantifier repeats one character: CPython 3.11.0 to 3.11.4 match repeated groups wrongly.

There ``(?:ab?c)*+`` takes three characters of ``aca`` instead of two (gh-106052); a group that it captures is
wrong in later versions too (gh-101955). ``(?>(?:ab?c)*)`` says the same and is matched rightly by all.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = ("repo_map", "navigator", "mcp_server", "repo_navigator")
PACKAGES = (*PRODUCT, "benchmarks", "training", "bundle", "view")
_HOLE = "\ufdd0"
"""What stands for a value in a literal that is put together at run time."""
_CHARACTER = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|.", re.DOTALL)
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_POSSESSIVE = re.compile(r"(?:[*+?]|\{\d*(?:,\d*)?\})\+(?!\+)")
_MAY_REPEAT = re.compile(r"[*+?}]\+")


def repeated_groups(pattern: str) -> Iterator[int]:
    """Yield where a possessive quantifier follows something else than one character or class.

    What a text begins with may follow a group when texts are joined.
    """
    at, is_one = 0, False
    while at < len(pattern):
        if not is_one and _POSSESSIVE.match(pattern, at):
            yield at
        if found := _CLASS.match(pattern, at):
            is_one = True
        elif found := _CHARACTER.match(pattern, at):
            # The number of a group stands for all that the group has matched.
            is_one = found[0] not in (")", _HOLE) and re.match(r"\\[1-9]", found[0]) is None
        assert found
        at = found.end()


def literals(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each literal, with a sign where a value is put in."""
    inner: set[ast.AST] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            inner |= {*node.values}
            parts = [
                part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else _HOLE
                for part in node.values
            ]
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and node not in inner:
            if isinstance(node.value, str):
                yield node.lineno, node.value
            elif isinstance(node.value, bytes):
                yield node.lineno, node.value.decode("latin-1")


def texts_within(value: object, seen: set[int]) -> Iterator[str]:
    """Yield the texts and patterns that a value holds, however deep."""
    if isinstance(value, re.Pattern):
        value = value.pattern
    if isinstance(value, bytes):
        yield value.decode("latin-1")
    elif isinstance(value, str):
        yield value
    elif id(value) not in seen:
        seen.add(id(value))
        if isinstance(value, Mapping):
            held = [*value.keys(), *value.values()]
        elif isinstance(value, tuple | list | set | frozenset):
            held = [*value]
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            held = [getattr(value, field.name, None) for field in dataclasses.fields(value)]
        elif isinstance(value, type) and value.__module__.partition(".")[0] in PRODUCT:
            held = [each for name, each in vars(value).items() if not name.startswith("__")]
        else:
            held = []
        for each in held:
            yield from texts_within(each, seen)


def product_modules() -> Iterator[ModuleType]:
    for package in PRODUCT:
        for found in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def test_no_pattern_that_is_written_repeats_a_group_possessively() -> None:
    found, read = [], 0
    for path in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if not _MAY_REPEAT.search(source):
            continue
        for line, text in literals(source):
            read += 1
            if [*repeated_groups(text)]:
                found.append(f"{path.relative_to(ROOT).as_posix()}:{line}")
    assert read > 100
    assert found == []


def test_no_pattern_that_is_put_together_repeats_a_group_possessively() -> None:
    seen: set[int] = set()
    texts = {
        text
        for module in product_modules()
        for name, value in vars(module).items()
        if not name.startswith("__")
        for text in texts_within(value, seen)
    }
    possessive = sorted(text for text in texts if _MAY_REPEAT.search(text))
    assert len(possessive) > 100
    assert [text for text in possessive if [*repeated_groups(text)]] == []


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:ab?c)*+",
        "(ab)++",
        r"x(?:\.y)?+",
        "(?:a|bc){2,}+",
        "(?>a|b){1,3}+",
        "(?P<a>x)(?P=a)*+",
        r"(a)\1++",
        f"{_HOLE}*+",
        "[(](?:[)]b)*+",
    ],
)
def test_a_repeated_group_is_found(pattern: str) -> None:
    re.compile(pattern)
    assert [*repeated_groups(pattern)]


@pytest.mark.parametrize("part", ["*+", "++x", "{1,8}+"])
def test_a_part_that_begins_with_a_quantifier_is_found(part: str) -> None:
    assert [*repeated_groups(part)] == [0]


@pytest.mark.parametrize(
    "pattern", ["a*+", r"\)++", "[^()*+]{2}+", r"[\])]?+", r"\w{3,}+", r"\x29*+", "(?>(?:ab?c)*)", "(?:ab)*"]
)
def test_what_repeats_one_character_or_gives_nothing_back_is_not(pattern: str) -> None:
    re.compile(pattern)
    assert [*repeated_groups(pattern)] == []
