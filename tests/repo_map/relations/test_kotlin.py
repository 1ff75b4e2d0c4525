"""Kotlin's names mean what Kotlin says they mean, in Java too, and nothing is told of those that mean else."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.relations.model import Confidence
from repo_map.relations.resolve import relations_of
from tests.repo_map.relations.asking import Files, callers, index_of, lines_of, place_of, uses

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
        "fun standard() = Rate.of(\"x\").apply(9)\n"
    ),
}


def test_an_import_tells_companions_of_one_name_apart(tmp_path: Path) -> None:
    assert callers(tmp_path, SHOP, f"{RATE}:Rate.Companion.of") == [f"{CART}:12"]


def test_overloads_are_told_apart_by_what_they_are_given(tmp_path: Path) -> None:
    index = index_of(tmp_path, SHOP)
    file = index.file_id(RATE)
    assert file is not None
    told = {
        line: lines_of(index, relations_of(index).callers_of((file, row)))
        for row, each in enumerate(index.definitions(file))
        if (line := each.start) in (6, 7)
    }
    assert told == {
        6: [f"{CART}:{line}" for line in (14, 17, 18, 19, 21, 24)],
        7: [f"{CART}:16"],
    }
