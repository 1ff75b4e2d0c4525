"""PHP's names mean what PHP says they mean, and nothing is told of those that mean something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.relations.model import Confidence
from tests.repo_map.relations.asking import Files, callers, uses

RATE = "src/Tax/Rate.php"
CART = "src/Cart.php"
SHOP: Files = {
    RATE: (
        "<?php\nnamespace Shop\\Tax;\n\n"
        "class Rate\n{\n"
        "    public static function of(string $country): static { return new static(1); }\n"
        "    public function __construct(private int $percent) {}\n"
        "    public function apply(int $amount): int { return $amount; }\n"
        "    /** @return $this */\n"
        "    public function twice() { return $this; }\n"
        "}\n\n"
        "function standard(): Rate { return new Rate(19); }\n"
    ),
    "src/Counts.php": (
        "<?php\nnamespace Shop;\n\ntrait Counts\n{\n"
        "    public function counted(): int { return $this->total(); }\n}\n"
    ),
    CART: (
        "<?php\nnamespace Shop;\n\n"
        "use Shop\\Tax\\Rate as Tax;\n"
        "use function Shop\\Tax\\standard;\n\n"
        "class Cart extends Base\n{\n"
        "    use Counts;\n\n"
        "    /** @var Tax[] */\n"
        "    private $rates;\n\n"
        "    public function __construct(private Tax $first, private ?Tax $second = null) {}\n\n"
        "    public function total(): int\n    {\n"
        "        foreach ($this->rates as $rate) {\n"
        "            $rate->apply(1);\n"
        "        }\n"
        "        $named = Tax::of('de');\n"
        "        $named->twice()->apply(2);\n"
        "        standard()->apply(3);\n"
        "        $this->second?->apply(4);\n"
        "        $date = new \\DateTime();\n"
        "        $date->apply(5);\n"
        "        return $this->inherited() + self::made()->counted() + parent::inherited();\n"
        "    }\n\n"
        "    public static function made(): self { return new self(standard()); }\n"
        "}\n"
    ),
    "src/Base.php": (
        "<?php\nnamespace Shop;\n\nabstract class Base\n{\n"
        "    protected function inherited(): int { return 1; }\n}\n"
    ),
    "src/Other/Rate.php": (
        "<?php\nnamespace Other;\n\nclass Rate\n{\n"
        "    public function apply(int $a): int { return (new Rate())->apply($a); }\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (f"{RATE}:Rate.apply", [19, 22, 23, 24]),
        (f"{RATE}:Rate.of", [21]),
        (f"{RATE}:standard", [23, 30]),
        ("src/Base.php:Base.inherited", [27, 27]),
        ("src/Counts.php:Counts.counted", [27]),
        (f"{CART}:Cart.__construct", [30]),
    ],
)
def test_a_method_is_called_through_what_is_written(tmp_path: Path, name: str, lines: list[int]) -> None:
    assert callers(tmp_path, SHOP, name) == [f"{CART}:{line}" for line in dict.fromkeys(lines)]


def test_a_trait_comes_before_the_parent_and_an_interface_last(tmp_path: Path) -> None:
    files = {
        "A.php": (
            "<?php\ninterface Each { function each(); }\n"
            "trait Own { function each() {} }\n"
            "class Base implements Each { use Own; }\n"
            "class Sub extends Base implements Each { function go() { $this->each(); } }\n"
        )
    }
    assert callers(tmp_path, files, "A.php:Own.each") == ["A.php:5"]
    assert callers(tmp_path, files, "A.php:Each.each") == []


def test_a_class_is_used_where_it_is_written_and_constructed(tmp_path: Path) -> None:
    found = uses(tmp_path, SHOP, f"{RATE}:Rate")
    assert {f"{CART}:14", f"{CART}:21", f"{RATE}:6", f"{RATE}:13"} <= set(found)
    assert not any(each.startswith("src/Other") for each in found)


def test_a_test_of_its_class_says_what_a_variable_is(tmp_path: Path) -> None:
    files = {
        "A.php": "<?php\nclass A { function go() {} }\n",
        "B.php": (
            "<?php\nfunction run($x) {\n    if ($x instanceof A) {\n        $x->go();\n"
            "    } else {\n        $x->go();\n    }\n}\n"
        ),
    }
    assert callers(tmp_path, files, "A.php:A.go") == ["B.php:4"]


def test_the_library_is_not_ours(tmp_path: Path) -> None:
    files = {
        "A.php": "<?php\nnamespace App;\nclass A { function format() {} function count() {} }\n",
        "B.php": (
            "<?php\nnamespace App;\nuse DateTime;\n"
            "function run(DateTime $d, \\Countable $c, $any) {\n"
            "    $d->format();\n    $c->count();\n    $any->count();\n    (new A())->format();\n}\n"
        ),
    }
    assert callers(tmp_path, files, "A.php:A.format") == ["B.php:8"]
    assert callers(tmp_path, files, "A.php:A.count", Confidence.LIKELY) == []
