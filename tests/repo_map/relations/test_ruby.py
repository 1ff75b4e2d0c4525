"""What is written of Ruby's names is told; of the rest, nothing is stated."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.relations.model import Confidence
from tests.repo_map.relations.asking import Files, callers

RATE = "lib/shop/rate.rb"
CART = "lib/shop/cart.rb"
SHOP: Files = {
    RATE: (
        "module Shop\n"
        "  class Rate\n"
        "    def self.of(country)\n      new(1)\n    end\n\n"
        "    def initialize(percent)\n      @percent = percent\n    end\n\n"
        "    def apply(amount)\n      amount\n    end\n"
        "  end\n"
        "end\n"
    ),
    "lib/shop/counts.rb": (
        "module Shop\n  module Counts\n    def counted\n      total\n    end\n  end\nend\n"
    ),
    "lib/shop/base.rb": "module Shop\n  class Base\n    def inherited_one\n      1\n    end\n  end\nend\n",
    CART: (
        "module Shop\n"
        "  class Cart < Base\n"
        "    include Counts\n\n"
        "    def initialize(other)\n"
        "      @rate = Rate.new(1)\n"
        "      @other = other\n"
        "    end\n\n"
        "    def total(apply)\n"
        "      rate = Shop::Rate.new(2)\n"
        "      rate.apply(1)\n"
        "      @rate.apply(2)\n"
        "      @other.apply(3)\n"
        "      apply.each { |each| each.apply(4) }\n"
        "      Rate.of('de')\n"
        "      Other.of('de')\n"
        "      own + counted() + inherited_one()\n"
        "    end\n\n"
        "    def own\n      self.counted\n    end\n"
        "  end\n"
        "end\n"
    ),
    "lib/other.rb": "class Rate\n  def apply(a)\n    apply(a)\n  end\nend\n",
}


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (f"{RATE}:Shop.Rate.apply", [12, 13]),
        (f"{RATE}:Shop.Rate.of", [16]),
        (f"{RATE}:Shop.Rate.initialize", [6, 11]),
        (f"{CART}:Shop.Cart.own", [18]),
        ("lib/shop/counts.rb:Shop.Counts.counted", [18, 22]),
        ("lib/shop/base.rb:Shop.Base.inherited_one", [18]),
    ],
)
def test_a_method_is_called_through_self_constants_and_new(
    tmp_path: Path, name: str, lines: list[int]
) -> None:
    assert callers(tmp_path, SHOP, name) == [f"{CART}:{line}" for line in lines]


def test_what_a_receiver_is_nobody_guesses(tmp_path: Path) -> None:
    files = {
        "a.rb": "class A\n  def reckon\n  end\n\n  def join\n  end\nend\n",
        "b.rb": "def run(x)\n  x.reckon\n  x.join\nend\n",
    }
    assert callers(tmp_path, files, "a.rb:A.reckon") == []
    assert callers(tmp_path, files, "a.rb:A.reckon", Confidence.LIKELY) == ["b.rb:2"]
    assert callers(tmp_path, files, "a.rb:A.join", Confidence.LIKELY) == []


def test_a_writer_is_another_method_than_its_reader(tmp_path: Path) -> None:
    files = {"a.rb": "module A\n  def self.level\n  end\nend\n", "b.rb": "A.level = 1\nputs A.level\n"}
    assert callers(tmp_path, files, "a.rb:A.level") == ["b.rb:2"]


def test_a_class_that_several_files_open_is_one(tmp_path: Path) -> None:
    files = {
        "a.rb": "module A\n  class B\n    def one\n      two(1)\n    end\n  end\nend\n",
        "b.rb": "class A::B\n  def two(n)\n    self.class.three\n  end\n\n  def self.three\n  end\nend\n",
    }
    assert callers(tmp_path, files, "b.rb:A::B.two") == ["a.rb:4"]
    assert callers(tmp_path, files, "b.rb:A::B.three") == ["b.rb:3"]
