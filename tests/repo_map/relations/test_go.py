"""Go's names mean what Go says they mean, and nothing is told of those that mean something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.relations.resolve import relations_of
from tests.repo_map.relations.asking import Files, callers, index_of, lines_of, place_of, uses

SHOP: Files = {
    "go.mod": "module example.org/shop\n\ngo 1.21\n",
    "tax/tax.go": (
        "package tax\n\n"
        "type Rate struct{ Percent int }\n\n"
        "func (r *Rate) Of(amount int) int { return amount * r.Percent }\n\n"
        "func Find(country string) (*Rate, error) { return &Rate{}, nil }\n"
    ),
    "cart/cart.go": (
        "package cart\n\n"
        "import (\n"
        '\t"strings"\n\n'
        '\t"example.org/shop/tax"\n'
        ")\n\n"
        "type Cart struct {\n"
        "\t*tax.Rate\n"
        "\trates map[string]*tax.Rate\n"
        "\tnext  func() *tax.Rate\n"
        "}\n\n"
        "func (c *Cart) Total(names []string) int {\n"
        "\trate, err := tax.Find(strings.TrimSpace(names[0]))\n"
        "\tif err != nil {\n"
        "\t\treturn c.Of(1)\n"
        "\t}\n"
        "\tfor _, each := range c.rates {\n"
        "\t\teach.Of(2)\n"
        "\t}\n"
        "\tc.next().Of(3)\n"
        "\treturn rate.Of(4) + Find()\n"
        "}\n\n"
        "func Find() int { return 0 }\n"
    ),
}


@pytest.mark.parametrize(
    ("name", "lines"),
    [("tax/tax.go:Find", [16]), ("cart/cart.go:Find", [24]), ("tax/tax.go:Rate.Of", [18, 21, 23, 24])],
    ids=["of a package", "of its own package", "method"],
)
def test_functions_and_methods_are_those_of_their_package(
    tmp_path: Path, name: str, lines: list[int]
) -> None:
    assert callers(tmp_path, SHOP, name) == [f"cart/cart.go:{line}" for line in lines]


def test_a_type_is_used_where_it_is_written(tmp_path: Path) -> None:
    found = uses(tmp_path, SHOP, "tax/tax.go:Rate")
    assert "cart/cart.go:11" in found
    assert "tax/tax.go:7" in found


@pytest.mark.parametrize("call", ["strings.Find()", "other.Find()", "func(tax shop) { tax.Find() }(shop{})"])
def test_a_function_of_another_package_is_no_namesake_of_ours(tmp_path: Path, call: str) -> None:
    use = f'package use\n\nimport (\n\t"strings"\n\t"example.com/other"\n)\n\nfunc use() {{ {call} }}\n'
    assert callers(tmp_path, {**SHOP, "use/use.go": use}, "tax/tax.go:Find") == ["cart/cart.go:16"]


def test_a_call_through_an_interface_is_one_of_the_interface(tmp_path: Path) -> None:
    files = {
        "go.mod": "module m\n",
        "a.go": (
            "package a\n\n"
            "type Runner interface{ Run() error }\n"
            "type Job struct{}\n"
            "func (j Job) Run() error { return nil }\n"
            "func all(runners []Runner, v any) {\n"
            "\tfor _, r := range runners {\n"
            "\t\tr.Run()\n"
            "\t}\n"
            "\tif job, ok := v.(Job); ok {\n"
            "\t\tjob.Run()\n"
            "\t}\n"
            "\tswitch t := v.(type) {\n"
            "\tcase Runner:\n"
            "\t\tt.Run()\n"
            "\tcase *Job:\n"
            "\t\tt.Run()\n"
            "\t}\n"
            "}\n"
        ),
    }
    assert callers(tmp_path, files, "a.go:Runner.Run") == ["a.go:8", "a.go:15"]
    index = index_of(tmp_path, files)
    job = place_of(index, "a.go:Job.Run")
    assert lines_of(index, relations_of(index).callers_of(job)) == ["a.go:11", "a.go:17"]


def test_a_name_bound_in_a_block_hides_nothing_behind_it(tmp_path: Path) -> None:
    files = {
        "go.mod": "module m\n",
        "a.go": (
            "package a\n\n"
            "type A struct{}\n"
            "type B struct{}\n"
            "func (A) Do() {}\n"
            "func (B) Do() {}\n"
            "func run(x A, all []B) {\n"
            "\tfor _, x := range all {\n"
            "\t\tx.Do()\n"
            "\t}\n"
            "\tx.Do()\n"
            "}\n"
        ),
    }
    assert callers(tmp_path, files, "a.go:A.Do") == ["a.go:11"]
    assert callers(tmp_path, files, "a.go:B.Do") == ["a.go:9"]


TABLE: Files = {
    "go.mod": "module example.org/shop\n",
    "rule.go": (
        "package shop\n\ntype Rule struct{ next *Rule }\n\n"
        "func (r *Rule) Rewrite(s string) *Rule { return r }\n\n"
        "type Rewriter interface{ Rewrite(s string) *Rule }\n\nvar _ Rewriter = (*Rule)(nil)\n"
    ),
    "rule_test.go": (
        "package shop\n\nfunc TestRewrite(t *testing.T) {\n"
        "\ttests := []struct {\n\t\tname  string\n\t\trule  *Rule\n"
        "\t\tinner struct{ rules []*Rule }\n\t\t"
        "this_is_a_name_that_makes_what_is_written_of_it_long map[string]map[string]map[string]int\n\t}{\n"
        '\t\t{name: "a"},\n\t}\n'
        "\tfor _, tc := range tests {\n\t\ttc.rule.Rewrite(tc.name)\n"
        "\t\ttc.inner.rules[0].Rewrite(tc.name)\n\t}\n"
        "\tfor name, tc := range map[string]struct{ r Rule }{} {\n"
        "\t\ttc.r.Rewrite(name)\n\t\ttc.rule.Rewrite(name)\n\t}\n"
        "\tvar one struct{ by *Rule }\n\tone.by.Rewrite(one.name)\n}\n"
    ),
}


def test_a_table_of_structs_without_a_name_says_what_its_fields_are(tmp_path: Path) -> None:
    assert callers(tmp_path, TABLE, "rule.go:Rule.Rewrite") == [
        f"rule_test.go:{line}" for line in (13, 14, 17, 21)
    ]


def test_a_type_that_is_said_to_implement_an_interface_is_used(tmp_path: Path) -> None:
    assert "rule.go:9" in uses(tmp_path, TABLE, "rule.go:Rule")


def test_a_type_called_fields_is_a_type_with_a_name(tmp_path: Path) -> None:
    go = "package a\n\ntype fields struct{}\n\nfunc (f fields) M() {}\n\nfunc g(f fields) { f.M() }\n"
    assert callers(tmp_path, {"go.mod": "module a\n", "a.go": go}, "a.go:fields.M") == ["a.go:7"]
