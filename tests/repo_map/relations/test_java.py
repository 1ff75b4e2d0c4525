"""Java's names mean what Java says they mean, and nothing is told of those that mean something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.relations.resolve import relations_of
from tests.repo_map.relations.asking import Files, callers, index_of, lines_of, uses

TAX = "src/main/java/shop/tax/Rate.java"
CART = "src/main/java/shop/Cart.java"
SHOP: Files = {
    TAX: (
        "package shop.tax;\n\n"
        "public class Rate {\n"
        "  public static Rate of(String country) { return new Rate(1); }\n"
        "  Rate(int percent) {}\n"
        "  public int apply(int amount) { return amount; }\n"
        "  public int apply(String text) { return 0; }\n"
        "  public int apply(int amount, int more) { return amount; }\n"
        "}\n"
    ),
    CART: (
        "package shop;\n\n"
        "import java.util.List;\n"
        "import shop.tax.Rate;\n"
        "import static shop.Sums.sum;\n\n"
        "class Cart extends Base {\n"
        "  private List<Rate> rates;\n"
        "  private Rate apply;\n\n"
        "  int total(List<String> names) {\n"
        "    Rate first = Rate.of(names.get(0));\n"
        "    for (var each : rates) {\n"
        "      each.apply(1);\n"
        "    }\n"
        '    first.apply("one");\n'
        "    apply.apply(1, 2);\n"
        "    return sum(rates.get(0).apply(3)) + inherited() + this.own().apply(4);\n"
        "  }\n\n"
        "  Rate own() { return first(rates); }\n"
        "  <T> T first(List<T> all) { return all.get(0); }\n"
        "}\n"
    ),
    "src/main/java/shop/Base.java": "package shop;\n\nclass Base {\n  int inherited() { return 1; }\n}\n",
    "src/main/java/shop/Sums.java": (
        "package shop;\n\nclass Sums {\n  static int sum(int... all) { return 0; }\n}\n"
    ),
    "src/main/java/other/Rate.java": (
        "package other;\n\nclass Rate {\n  static Rate of(String c) { return null; }\n"
        "  static int sum(int a) { return Rate.of(null).hashCode(); }\n}\n"
    ),
}


def test_an_import_tells_classes_of_one_name_apart(tmp_path: Path) -> None:
    assert callers(tmp_path, SHOP, f"{TAX}:Rate.of") == [f"{CART}:12"]


@pytest.mark.parametrize(
    ("line", "found"), [(6, [14, 18]), (7, [16]), (8, [17])], ids=["number", "text", "two"]
)
def test_overloads_are_told_apart_by_what_they_are_given(tmp_path: Path, line: int, found: list[int]) -> None:
    index = index_of(tmp_path, SHOP)
    file = index.paths.index(TAX)
    row = next(row for row, each in enumerate(index.definitions(file)) if each.start == line)
    told = lines_of(index, relations_of(index).callers_of((file, row)))
    assert told == [f"{CART}:{each}" for each in found]


def test_a_static_import_and_an_inherited_method_are_found_by_their_bare_names(tmp_path: Path) -> None:
    assert callers(tmp_path, SHOP, "src/main/java/shop/Sums.java:Sums.sum") == [f"{CART}:18"]
    assert callers(tmp_path, SHOP, "src/main/java/shop/Base.java:Base.inherited") == [f"{CART}:18"]


def test_a_class_is_used_where_it_is_written_and_constructed(tmp_path: Path) -> None:
    found = uses(tmp_path, SHOP, f"{TAX}:Rate")
    assert {f"{CART}:8", f"{CART}:12", f"{CART}:21", f"{TAX}:4"} <= set(found)
    assert not any(each.startswith("src/main/java/other") for each in found)


def test_the_library_is_not_ours(tmp_path: Path) -> None:
    files = {
        "A.java": "class A {\n  void trim() {}\n}\n",
        "B.java": (
            "class B {\n  String s;\n  void run(String t) {\n    t.trim();\n    s.trim();\n"
            '    "x".trim();\n    new A().trim();\n  }\n}\n'
        ),
    }
    assert callers(tmp_path, files, "A.java:A.trim") == ["B.java:7"]


def test_a_constructor_is_called_by_new_super_and_this(tmp_path: Path) -> None:
    files = {
        "A.java": "class A {\n  A(int a) {}\n  A() { this(1); }\n}\n",
        "B.java": "class B extends A {\n  B() { super(2); }\n  A make() { return new A(3); }\n}\n",
    }
    assert callers(tmp_path, files, "A.java:A.A") == ["A.java:3", "B.java:2", "B.java:3"]


LAMBDAS: Files = {
    "shop/Item.java": 'package shop;\nclass Item { int price() { return 1; } String name() { return ""; }}\n',
    "shop/Check.java": (
        "package shop;\ninterface Check<T> {\n  boolean holds(T each, int n);\n"
        "  default boolean both(T each) { return holds(each, 2); }\n}\n"
    ),
    "shop/Shop.java": (
        "package shop;\nimport java.util.*;\nimport java.util.function.*;\nclass Shop {\n"
        "  List<Item> all;\n  Map<String, Item> named;\n"
        "  static void each(Check<Item> check) {}\n"
        "  Shop(Consumer<Item> taker, int n) {}\n"
        "  void run() {\n"
        "    all.forEach(each -> each.price());\n"
        "    named.forEach((name, item) -> item.price());\n"
        "    each((one, n) -> one.price() > n);\n"
        "    new Shop(one -> {\n      one.price();\n    }, 3);\n"
        "    Function<Item, Integer> cost = it -> it.price();\n"
        "    all.stream().filter(it -> it.price() > 2).map(it -> it.price());\n"
        "    for (Item it : named.values()) it.price();\n"
        "    for (var entry : named.entrySet()) entry.getValue().price();\n"
        "    other(it -> it.price());\n"
        "    all.forEach(it -> it.name());\n"
        "  }\n}\n"
    ),
}


def test_what_a_lambda_is_given_is_told_by_what_takes_it(tmp_path: Path) -> None:
    assert callers(tmp_path, LAMBDAS, "shop/Item.java:Item.price") == [
        f"shop/Shop.java:{line}" for line in (10, 11, 12, 14, 16, 17, 18, 19)
    ]


def test_a_class_within_a_class_is_constructed_by_both_names(tmp_path: Path) -> None:
    files = {
        "a/Mock.java": (
            "package a;\n\npublic class Mock {\n"
            "  public static class Builder {\n    public Builder(int size) {}\n  }\n"
            "  public class Inner {}\n}\n"
        ),
        "a/Use.java": (
            "package a;\n\nclass Use {\n  void run(Mock mock) {\n"
            "    new Mock.Builder(1);\n    mock.new Inner();\n  }\n}\n"
        ),
    }
    assert uses(tmp_path, files, "a/Mock.java:Mock.Builder") == ["a/Use.java:5"]
    assert callers(tmp_path, files, "a/Mock.java:Mock.Builder.Builder") == ["a/Use.java:5"]
    assert uses(tmp_path, files, "a/Mock.java:Mock.Inner") == ["a/Use.java:6"]
