"""Kotlin's names mean what Kotlin says they mean, in Java too, and nothing is told of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.relations.model import Confidence
from repo_map.relations.resolve import relations_of
from tests.repo_map.relations.asking import Files, callers, index_of, lines_of, uses

RATE = "src/main/kotlin/shop/tax/Rate.kt"
CART = "src/main/kotlin/shop/Cart.kt"
SHOP: Files = {
    RATE: (
        "package shop.tax\n\n"
        "class Rate(val percent: Int) {\n"
        "  constructor(text: String) : this(text.length)\n\n"
        "  fun apply(amount: Int): Int = amount\n"
        "  fun apply(text: String, more: Int = 1): Int = text.length\n\n"
        "  companion object {\n"
        "    fun of(country: String): Rate = Rate(country)\n"
        "  }\n"
        "}\n\n"
        "fun standard(): Rate = Rate(19)\n\n"
        "fun Rate.doubled(): Rate = Rate(percent * 2)\n\n"
        "fun String.toRate() = Rate(this)\n"
    ),
    CART: (
        "package shop\n\n"
        "import shop.tax.Rate\n"
        "import shop.tax.doubled\n"
        "import shop.tax.standard\n"
        "import shop.tax.toRate\n\n"
        "class Cart(private val rates: List<Rate>) : Base() {\n"
        "  private val first by lazy { rates.first() }\n\n"
        "  fun total(names: List<String>): Int {\n"
        "    val named = Rate.of(names[0])\n"
        "    for (each in rates) {\n"
        "      each.apply(1)\n"
        "    }\n"
        '    named.apply("one")\n'
        "    rates.forEach { it.apply(2) }\n"
        "    standard().apply { apply(3) }\n"
        "    first?.doubled()?.apply(4)\n"
        '    "de".toRate().apply(text = "de", more = 2)\n'
        "    return inherited() + own().apply(5)\n"
        "  }\n\n"
        "  private fun own() = rates.find { rate -> rate.apply(6) > 1 }!!\n"
        "}\n"
    ),
    "src/main/kotlin/shop/Base.kt": (
        "package shop\n\nopen class Base {\n  protected fun inherited(): Int = 1\n}\n"
    ),
    "src/main/kotlin/other/Rate.kt": (
        "package other\n\nclass Rate {\n  fun apply(amount: Int) = amount\n"
        "  companion object {\n    fun of(c: String) = Rate()\n  }\n}\n\n"
        'fun standard() = Rate.of("x").apply(9)\n'
    ),
}


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (f"{RATE}:Rate.Companion.of", 12),
        (f"{RATE}:doubled", 19),
        (f"{RATE}:toRate", 20),
        (f"{RATE}:standard", 18),
        ("src/main/kotlin/shop/Base.kt:Base.inherited", 21),
        (f"{CART}:Cart.own", 21),
    ],
)
def test_companions_extensions_functions_and_methods_are_those_of_the_import(
    tmp_path: Path, name: str, line: int
) -> None:
    assert callers(tmp_path, SHOP, name) == [f"{CART}:{line}"]


def test_overloads_are_told_apart_by_what_they_are_given(tmp_path: Path) -> None:
    index = index_of(tmp_path, SHOP)
    file = index.paths.index(RATE)
    told = {
        line: lines_of(index, relations_of(index).callers_of((file, row)))
        for row, each in enumerate(index.definitions(file))
        if (line := each.start) in (6, 7)
    }
    assert told == {6: [f"{CART}:{line}" for line in (14, 17, 18, 19, 21, 24)], 7: [f"{CART}:16"]}


def test_extensions_are_told_by_imports_and_receivers(tmp_path: Path) -> None:
    files = {
        "a/Text.kt": (
            "package a\n\nfun String.tidy() = trim()\n\nfun ByteArray.tidy() = this\n\n"
            "private fun String.own() = tidy()\n"
        ),
        "b/Use.kt": (
            "package b\n\nimport a.tidy\n\n"
            "fun run(text: String, bytes: ByteArray, any: Unknown) {\n"
            "  text.tidy()\n  bytes.tidy()\n  any.tidy()\n}\n"
        ),
        "c/Use.kt": "package c\n\nfun run(text: String) {\n  text.tidy()\n}\n",
    }
    assert callers(tmp_path, files, "a/Text.kt:tidy") == ["b/Use.kt:6"]


def test_a_top_level_function_is_that_of_the_import_or_the_package(tmp_path: Path) -> None:
    files = {
        "a/A.kt": "package a\n\nfun run() = helper()\n\nprivate fun helper() = 1\n",
        "a/B.kt": "package a\n\nfun go() = helper()\n\nprivate fun helper() = 2\n",
        "a/C.kt": "package a\n\nfun far() = run()\n",
    }
    assert callers(tmp_path, files, "a/A.kt:helper") == ["a/A.kt:3"]
    assert callers(tmp_path, files, "a/A.kt:run") == ["a/C.kt:3"]


def test_a_class_is_used_where_it_is_written_and_constructed(tmp_path: Path) -> None:
    found = uses(tmp_path, SHOP, f"{RATE}:Rate")
    assert {f"{CART}:8", f"{CART}:12", f"{RATE}:10", f"{RATE}:14"} <= set(found)
    assert not any(each.startswith("src/main/kotlin/other") for each in found)


def test_a_bare_name_in_the_block_of_an_object_is_a_member_of_it(tmp_path: Path) -> None:
    files = {
        "A.kt": "class A {\n  fun go() {}\n  fun only() {}\n}\n",
        "B.kt": (
            "class B(val a: A, val lost: Unknown) {\n"
            "  fun go() {}\n"
            "  fun run() {\n"
            "    a.apply { go() }\n"
            "    with(a) { only() }\n"
            "    lost.apply { go() }\n"
            "    a.run { also() }\n"
            "    go()\n"
            "  }\n"
            "  fun also() {}\n"
            "}\n"
        ),
    }
    expected = {"A.kt:A.go": ["B.kt:4"], "A.kt:A.only": ["B.kt:5"], "B.kt:B.go": ["B.kt:8"]}
    assert {name: callers(tmp_path, files, name) for name in expected} == expected


def test_a_test_of_its_type_says_what_a_name_is(tmp_path: Path) -> None:
    files = {
        "A.kt": "class A {\n  fun go() {}\n}\n",
        "B.kt": (
            "fun run(x: Any) {\n"
            "  if (x is A) {\n    x.go()\n  } else {\n    x.go()\n  }\n"
            "  when (x) {\n    is A -> x.go()\n    else -> x.go()\n  }\n"
            "  if (x !is A) return\n"
            "  x.go()\n"
            "}\n"
        ),
    }
    assert callers(tmp_path, files, "A.kt:A.go") == ["B.kt:3", "B.kt:8", "B.kt:12"]


def test_java_and_kotlin_see_each_other(tmp_path: Path) -> None:
    files = {
        "a/Point.kt": (
            "package a\n\nclass Point(val x: Step) {\n  fun move(): Point = this\n"
            '  @JvmName("-old") fun old() = 1\n\n'
            "  companion object {\n    @JvmStatic fun zero() = Point(Step())\n  }\n}\n\n"
            "fun helper() = 1\n"
        ),
        "a/Step.java": (
            "package a;\n\npublic class Step {\n  public void take() {}\n"
            "  public Step getNext() { return this; }\n}\n"
        ),
        "b/Use.java": (
            "package b;\n\nimport a.Point;\nimport a.PointKt;\n\nclass Use {\n  void run(Point p) {\n"
            "    p.move().getX().take();\n"
            "    p.old();\n"
            "    PointKt.helper();\n"
            "  }\n}\n"
        ),
        "b/Use.kt": (
            "package b\n\nimport a.Step\n\nfun run(step: Step) {\n  step.next.take()\n  step.take()\n}\n"
        ),
    }
    expected = {
        "a/Point.kt:Point.move": ["b/Use.java:8"],
        "a/Step.java:Step.take": ["b/Use.java:8", "b/Use.kt:6", "b/Use.kt:7"],
        "a/Point.kt:Point.old": [],
        "a/Point.kt:helper": ["b/Use.java:10"],
    }
    assert {name: callers(tmp_path, files, name) for name in expected} == expected


def test_java_reads_a_property_by_its_old_name_or_its_getter(tmp_path: Path) -> None:
    files = {
        "a/Response.kt": (
            "package a\n\nclass Headers { fun size() = 1 }\n"
            'class Response(@get:JvmName("headers") val headers: Headers) {\n'
            '  @JvmName("-deprecated_headers") fun headers(): Headers = headers\n'
            "  fun header(name: String) = headers.size()\n"
            "}\n"
        ),
        "b/Use.java": (
            "package b;\n\nimport a.Response;\n\nclass Use {\n  void run(Response response) {\n"
            "    response.headers().size();\n"
            "  }\n}\n"
        ),
        "b/Use.kt": (
            "package b\n\nimport a.Response\n\nfun run(response: Response) {\n"
            "  response.headers().size()\n  response.headers.size()\n}\n"
        ),
    }
    index = index_of(tmp_path, files)
    function = next(
        place
        for row, each in enumerate(index.definitions(0))
        if index.qualified_name(*(place := (0, row))) == "Response.headers" and each.kind == "method"
    )
    assert lines_of(index, relations_of(index).callers_of(function)) == ["b/Use.kt:6"]
    assert callers(tmp_path, files, "a/Response.kt:Headers.size") == [
        "a/Response.kt:6",
        "b/Use.java:7",
        "b/Use.kt:6",
        "b/Use.kt:7",
    ]


def test_a_constructor_is_told_from_the_one_in_the_head_of_its_class(tmp_path: Path) -> None:
    files = {
        "A.kt": "open class A(val n: Int) {\n  constructor(text: String) : this(text.length)\n}\n",
        "B.kt": 'class B : A("x")\n\nfun run() = A(1)\n\nval one = A("one")\n',
    }
    assert callers(tmp_path, files, "A.kt:A.constructor") == ["B.kt:1", "B.kt:5"]
    assert callers(tmp_path, files, "A.kt:A") == ["A.kt:2", "B.kt:1", "B.kt:3", "B.kt:5"]


def test_what_is_not_known_is_likely_at_most(tmp_path: Path) -> None:
    files = {
        "A.kt": "class A {\n  fun reckon() {}\n  fun isEmpty() = true\n}\n",
        "B.kt": "fun run(x: Unknown, f: Any) {\n  f.other().reckon()\n  unknown().isEmpty()\n}\n",
    }
    assert callers(tmp_path, files, "A.kt:A.reckon") == []
    assert callers(tmp_path, files, "A.kt:A.isEmpty", Confidence.LIKELY) == []


def test_the_methods_of_an_anonymous_object_are_of_no_class(tmp_path: Path) -> None:
    files = {
        "A.kt": (
            "class A {\n  val task = object : Runnable {\n    override fun run() {}\n  }\n"
            "  fun go() {\n    run()\n  }\n}\n\nfun run() {}\n"
        )
    }
    index = index_of(tmp_path, files)
    rows = [row for row, each in enumerate(index.definitions(0)) if each.name == "run"]
    told = [lines_of(index, relations_of(index).callers_of((0, row))) for row in rows]
    assert told == [[], ["A.kt:6"]]
