"""References of every kind, resolved before by name, and requests as the wire has them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repo_map.lookup.operations import answer
from repo_map.lookup.references import MAX_ENTRIES, find_references
from repo_map.lookup.requests import (
    LookupRequestError,
    Outline,
    Read,
    References,
    Request,
    Search,
    parse_request,
)
from repo_map.lookup.search import MAX_DEFINITIONS, MAX_TOKENS
from repo_map.text.tokens import count
from tests.support.maps import index_of

CODE = {
    "shop/base.py": (
        "class Base:\n    limit = 3\n\n    def price(self):\n        return 0\n\n\n"
        "class Gift(Base):\n    def price(self):\n        return tax(self.limit)\n\n\n"
        "def tax(value):\n    return value * 2\n\n\n"
        "def report(order):\n    order.limit = 4\n    return tax(order.limit)\n"
    ),
    "shop/other.py": "def price():\n    return 1\n",
    "tests/test_base.py": "from shop.base import tax\n\n\ndef test_tax():\n    assert tax(1) == 2\n",
}


def names(symbol: str, kind: str, *, include_tests: bool = False) -> list[str]:
    found = find_references(index_of(CODE), References(symbol, kind, include_tests=include_tests))
    return [each.name for each in found.locations]


def test_each_kind_finds_what_it_says() -> None:
    assert names("tax", "callers") == ["Gift.price", "report"]
    assert names("tax", "callers", include_tests=True)[:3] == ["Gift.price", "report", "test_tax"]
    assert names("tax", "tests") == ["test_tax"]
    assert names("report", "callees") == ["tax"]
    assert names("Base", "implementations") == ["Gift"]
    assert names("Base.price", "overrides") == ["Gift.price"]
    assert names("Base", "uses") == ["Gift"]
    assert names("tax", "definition") == ["tax"]
    assert names("Gift.price", "similar") == ["price"]


def test_readers_and_writers_of_a_field_are_apart() -> None:
    assert "report" in names("limit", "writers")
    assert "Gift.price" not in names("limit", "writers")
    assert "Gift.price" in names("limit", "readers")


def test_what_only_a_name_says_is_marked_and_comes_last() -> None:
    code = {"a.lua": "function total()\n  return 1\nend\n\nfunction bill()\n  return total()\nend\n"}
    found = find_references(index_of(code), References("total", "callers"))
    assert [each.name for each in found.locations] == ["bill"]
    assert found.text.startswith("By name only")


def test_a_definition_is_meant_by_its_line_or_its_file_too() -> None:
    for symbol in ("shop/base.py:13", "shop/base.py:tax", "tax (shop/base.py)"):
        assert names(symbol, "definition") == ["tax"]


@pytest.mark.parametrize(
    ("request_", "limit", "tokens"),
    [
        (References("wanted", "callers"), MAX_ENTRIES, 2_000),
        (Search("return wanted"), MAX_DEFINITIONS, MAX_TOKENS),
    ],
)
def test_a_long_list_goes_on_by_its_cursor(request_: Request, limit: int, tokens: int) -> None:
    calls = "".join(f"def caller_{number}():\n    return wanted()\n\n\n" for number in range(90))
    index = index_of({"a.py": f"def wanted():\n    return 1\n\n\n{calls}"})
    found = answer(index, request_)
    seen = [each.name for each in found.locations]
    while found.cursor:
        found = answer(index, replace(request_, cursor=found.cursor))
        assert len(found.locations) <= limit
        assert count(found.text) <= tokens + 100
        seen += [each.name for each in found.locations]
    assert seen == [f"caller_{number}" for number in range(90)]


@pytest.mark.parametrize(
    ("operation", "value", "wanted"),
    [
        ("search", "x", Search("x")),
        ("search", {"pattern": "x", "include_tests": "true"}, Search("x", include_tests=True)),
        ("read", ["a", "b:1-2"], Read(("a", "b:1-2"))),
        ("read", {"targets": "a", "line_numbers": False}, Read(("a",), line_numbers=False)),
        ("callers", "f", References("f", "callers")),
        ("references", {"symbol": "f", "kind": "writers"}, References("f", "writers")),
        ("outline", "src", Outline("src")),
    ],
)
def test_the_short_and_the_long_form_of_a_request_mean_the_same(
    operation: str, value: object, wanted: object
) -> None:
    assert parse_request(operation, value) == wanted


@pytest.mark.parametrize(
    ("operation", "value"),
    [
        ("serch", "x"),
        ("search", {"pattern": "x", "regex": True}),
        ("search", {"literal": True}),
        ("search", {"pattern": ["x"]}),
        ("search", {"pattern": "x", "literal": "perhaps"}),
        ("references", {"symbol": "tax", "kind": "friends"}),
        ("references", {"symbol": "nothing_like_it"}),
    ],
)
def test_a_bad_request_is_refused(operation: str, value: object) -> None:
    with pytest.raises(LookupRequestError):
        answer(index_of(CODE), parse_request(operation, value))


@pytest.mark.parametrize(
    "request_", [Search("tax"), Read(("shop/base.py",)), References("tax"), Outline("shop/base.py")]
)
def test_a_file_that_the_user_leaves_out_is_not_shown(request_: Request) -> None:
    try:
        found = answer(index_of(CODE), request_, is_excluded=lambda path: path.startswith("shop"))
    except LookupRequestError:
        return
    assert "base.py" not in found.text
    assert not found.locations


def test_a_function_that_is_only_passed_on_has_its_uses_listed() -> None:
    code = {
        "a.py": "def work():\n    return 1\n",
        "b.py": "from a import work\n\n\ndef run(pool):\n    pool.submit(work)\n",
    }
    found = find_references(index_of(code), References("work", "callers"))
    assert [each.name for each in found.locations] == ["run"]


def test_the_definition_of_a_namesake_is_no_use() -> None:
    code = {
        "a.py": "class A:\n    def take(self):\n        pass\n\nclass B:\n    def take(self):\n        pass\n"
    }
    assert not find_references(index_of(code), References("A.take", "callers")).locations
