"""Search, read, outline and references: whole definitions, grouped and in order, within caps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repo_map.lookup.operations import answer
from repo_map.lookup.read import outline, read
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
from repo_map.lookup.search import MAX_DEFINITIONS, MAX_TOKENS, search
from repo_map.text.tokens import count
from tests.support.maps import index_of

ORDERS = {
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
    found = search(index_of(ORDERS), Search("retry"))
    assert headers(found.text) == [
        "shop/orders.py:17-19 Order.retry [method]",
        "shop/orders.py:13-15 Order.total [method]",
        "shop/orders.py:1-4 LIMITS [constant]",
        "docs/orders.md:1-3 Orders [heading]",
    ]
    assert [(each.first, each.last) for each in found.locations] == [(17, 19), (13, 15), (1, 4), (1, 3)]
    assert not found.cursor


def test_what_matches_most_alternatives_comes_first() -> None:
    found = search(index_of(ORDERS), Search("gift|backoff|retry"))
    assert headers(found.text)[:2] == [
        "shop/orders.py:17-19 Order.retry [method]",
        "shop/orders.py:1-4 LIMITS [constant]",
    ]


def test_tests_and_copies_are_counted_unless_they_are_asked_for() -> None:
    index = index_of(ORDERS)
    assert "1 line in generated or vendored files" in search(index, Search("retry")).text
    with_tests = search(index, Search("retry", include_tests=True))
    assert "tests/test_orders.py:1-2 test_retry [function]" in headers(with_tests.text)
    assert headers(search(index, Search("retry", paths="tests")).text) == [
        "tests/test_orders.py:1-2 test_retry [function]"
    ]
    folders = search(index, Search("retry", paths="{docs,shop/orders.py,nowhere}"))
    assert {each.split(":")[0] for each in headers(folders.text)} == {"docs/orders.md", "shop/orders.py"}
    assert headers(search(index, Search("retry", paths="vendor/**")).text) == [
        "vendor/lib.py:1-2 retry [function]"
    ]


def test_a_statement_outside_definitions_has_its_range() -> None:
    code = "import os\n\nregister(\n    'name',\n    other,\n)\n\nif os:\n    run('name')\n"
    found = search(index_of({"a.py": code}), Search("'name'"))
    assert [(each.first, each.last) for each in found.locations] == [(3, 6), (8, 9)]


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


LONG = '    """First.\n\n' + "    More words.\n" * 40 + '    """\n'
BODY = "".join(f"    value_{number} = compute({number})\n" for number in range(300))
SHOP = {
    "shop/a.py": f"def small():\n    return 1\n\n\ndef documented():\n{LONG}    return 2\n",
    "shop/b.py": f"def small():\n    return 2\n\n\ndef huge():\n{BODY}",
    "shop/conf.py": "OPTIONS = [\n    'stop-writes-on-error',\n    'other',\n]\n",
    "tests/test_a.py": "def small():\n    return 3\n",
}


def lines_of(text: str) -> list[str]:
    return text.split("\n")


def test_a_name_gives_whole_definitions_the_project_before_tests() -> None:
    found = read(index_of(SHOP), Read(("small",)))
    heads = [line for line in lines_of(found.text) if line.endswith("[function]")]
    assert heads == [
        "shop/a.py:1-2 small [function]",
        "shop/b.py:1-2 small [function]",
        "tests/test_a.py:1-2 small [function]",
    ]
    near = read(index_of(SHOP), Read(("small",)), near=("shop/b.py",))
    assert lines_of(near.text)[0] == "shop/b.py:1-2 small [function]"


@pytest.mark.parametrize(
    "target", ["shop/b.py:small", "small (shop/b.py)", "shop/b.py::small", "b.py:1-2", "b.py:1"]
)
def test_every_form_of_a_target_is_read(target: str) -> None:
    found = read(index_of(SHOP), Read((target,)))
    assert {each.file for each in found.locations} == {1}
    assert "return 2" in found.text or target == "b.py:1"


def test_the_room_is_shared_and_a_cut_says_where_it_goes_on() -> None:
    index = index_of(SHOP)
    found = read(index, Read(("shop/b.py:huge", "shop/a.py:small")), tokens=600)
    assert count(found.text) <= 620
    assert "    return 1" in found.text
    _, cut, rest = found.text.partition("… continue with shop/b.py:")
    assert cut
    first, last = rest.split("\n")[0].split("-")
    assert int(last) == 305
    assert f"value_{int(first) - 6} " in read(index, Read((f"shop/b.py:{first}-{last}",))).text


def test_documentation_is_shortened_before_code() -> None:
    found = read(index_of(SHOP), Read(("documented",)), tokens=120)
    assert "return 2" in found.text
    assert "lines of documentation" in found.text


def test_a_string_that_is_no_definition_leads_to_its_table() -> None:
    found = read(index_of(SHOP), Read(("stop-writes-on-error",)))
    assert [(each.first, each.last) for each in found.locations] == [(1, 4)]


def test_lines_can_go_without_numbers_and_a_missing_target_does_not_lose_the_others() -> None:
    found = read(index_of(SHOP), Read(("shop/a.py:small", "nowhere_at_all"), line_numbers=False))
    assert lines_of(found.text)[1:3] == ["def small():", "    return 1"]
    assert "nowhere_at_all" in found.text


def test_an_outline_lists_definitions_or_the_files_of_a_folder() -> None:
    index = index_of(SHOP)
    of_file = lines_of(outline(index, "shop/a.py").text)
    assert of_file[1:] == ["1-2 def small():", "5-49 def documented():"]
    assert lines_of(outline(index, "shop").text)[1:] == [
        "shop/a.py 2 definitions",
        "shop/b.py 2 definitions",
        "shop/conf.py 1 definition",
    ]
    assert lines_of(outline(index, "").text)[1:] == ["shop/ 3 files", "tests/ 1 file"]


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
        ("search", ""),
        ("search", "(?=x)y"),
        ("search", "("),
        ("search", r"(a)\1"),
        ("search", "x*"),
        ("search", "a" * 2_000),
        ("search", {"pattern": "a", "paths": "nowhere"}),
        ("search", {"pattern": "a", "cursor": "x"}),
        ("read", []),
        ("read", ["a", "b", "c", "d", "e"]),
        ("read", "nowhere_at_all"),
        ("read", "shop/base.py:900-901"),
        ("read", "shop/base.py:0"),
        ("outline", "nowhere"),
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


def test_what_only_strings_and_comments_name_is_listed_apart() -> None:
    code = {
        "a.py": "LABEL = 'retry_limit'\n",
        "b.py": "def wait():\n    # retry_limit holds\n    pass\n",
        "c.py": "def use(settings):\n    return settings.retry_limit\n",
    }
    found = find_references(index_of(code), References("retry_limit", "uses"))
    assert [each.name for each in found.locations] == ["use", "LABEL", "wait"]
    parts = found.text.split("In strings and comments:")
    assert [part.count("retry_limit") for part in parts] == [1, 2]
