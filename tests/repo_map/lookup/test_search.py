"""Search: hits grouped by definition, in order, within caps, and patterns that can't be used."""

from __future__ import annotations

import pytest

from repo_map.lookup.requests import LookupRequestError, Search
from repo_map.lookup.search import MAX_TOKENS, search
from repo_map.text.tokens import count
from tests.support.maps import index_of

SHOP = {
    "shop/orders.py": (
        "LIMITS = {\n    'retry': 3,\n    'backoff': 2,\n}\n\n\n"
        "class Order:\n    kinds = (\n        'gift',\n        'plain',\n    )\n\n"
        "    @property\n    def total(self):\n        return self.retry(3)\n\n"
        "    def retry(self, times):\n        backoff = times\n        return backoff\n"
    ),
    "docs/orders.md": "# Orders\n\nA retry waits.\n",
    "tests/test_orders.py": "def test_retry():\n    assert retry\n",
    "vendor/lib.py": "def retry():\n    pass\n",
}


def headers(text: str) -> list[str]:
    return [line for line in text.split("\n") if line[:1].isalnum() and ":" in line.split(" ")[0]]


def test_hits_are_grouped_by_the_innermost_definition_with_its_range() -> None:
    found = search(index_of(SHOP), Search("retry"))
    assert headers(found.text) == [
        "shop/orders.py:17-19 Order.retry [method]",
        "shop/orders.py:13-15 Order.total [method]",
        "shop/orders.py:1-4 LIMITS [constant]",
        "docs/orders.md:1-3 Orders [heading]",
    ]
    assert [(each.first, each.last) for each in found.locations] == [(17, 19), (13, 15), (1, 4), (1, 3)]
    assert not found.cursor


def test_what_matches_most_alternatives_comes_first() -> None:
    found = search(index_of(SHOP), Search("gift|backoff|retry"))
    assert headers(found.text)[:2] == [
        "shop/orders.py:17-19 Order.retry [method]",
        "shop/orders.py:1-4 LIMITS [constant]",
    ]


def test_tests_and_copies_are_counted_unless_they_are_asked_for() -> None:
    index = index_of(SHOP)
    assert "1 line in generated or vendored files" in search(index, Search("retry")).text
    with_tests = search(index, Search("retry", include_tests=True))
    assert "tests/test_orders.py:1-2 test_retry [function]" in headers(with_tests.text)
    assert headers(search(index, Search("retry", paths="tests")).text) == [
        "tests/test_orders.py:1-2 test_retry [function]"
    ]
    assert headers(search(index, Search("retry", paths="vendor/**")).text) == [
        "vendor/lib.py:1-2 retry [function]"
    ]


def test_a_statement_outside_definitions_has_its_range() -> None:
    code = "import os\n\nregister(\n    'name',\n    other,\n)\n\nif os:\n    run('name')\n"
    found = search(index_of({"a.py": code}), Search("'name'"))
    assert [(each.first, each.last) for each in found.locations] == [(3, 6), (8, 9)]


@pytest.mark.parametrize(
    "request_",
    [
        Search(""),
        Search("(?=x)y"),
        Search("("),
        Search(r"(a)\1"),
        Search("x*"),
        Search("a" * 2_000),
        Search("a", paths="nowhere"),
        Search("a", cursor="x"),
    ],
)
def test_a_request_that_can_not_be_answered_is_refused(request_: Search) -> None:
    with pytest.raises(LookupRequestError):
        search(index_of({"a.py": "a = 1\n"}), request_)


def test_a_literal_is_no_expression() -> None:
    index = index_of({"a.py": "x = f(1)[0]\n"})
    assert search(index, Search("f(1)[0]", literal=True)).locations
    assert not search(index, Search("F(1)[0]", literal=True)).locations
    assert search(index, Search("F(1)[0]", literal=True, ignore_case=True)).locations


def test_hard_patterns_and_long_lines_are_answered_within_the_caps() -> None:
    index = index_of({"a.js": f"var x = '{'ab' * 400_000}';\n", "b.py": "hit = 1\n" * 10_000})
    for pattern in ("(a+)+$", "(x|xx)*y", "(ab)+", "hit"):
        assert count(search(index, Search(pattern)).text) <= MAX_TOKENS + 100


def test_control_characters_are_not_printed() -> None:
    found = search(index_of({"a.py": "x = '\x1b[31mhit\u202e'\n"}), Search("hit"))
    assert "hit" in found.text
    assert not {"\x1b", "\u202e"} & set(found.text)
