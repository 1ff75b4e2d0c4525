"""Prices before anything is drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.outline import costs
from repo_map.outline.costs import price_index, price_plan
from repo_map.outline.draw import draw_map
from repo_map.plan.yaml import parse_plan
from repo_map.text import tokens
from repo_map.text.token_estimates import estimate
from tests.support.maps import index_of

PACKAGE = Path(__file__).parents[3] / "repo_map"
SOURCES = {path.relative_to(PACKAGE.parent).as_posix(): path.read_text() for path in PACKAGE.rglob("*.py")}


def test_the_estimate_of_source_is_near_the_count() -> None:
    texts = [source for source in SOURCES.values() if len(source) > 2000]
    errors = sorted(abs(estimate(text, "python") / tokens.count(text) - 1) for text in texts)
    # Tables of patterns are no ordinary source, and may be further off.
    assert errors[len(errors) // 2] < 0.08
    assert errors[len(errors) * 19 // 20] < 0.2
    together = "".join(SOURCES.values())
    assert estimate(together, "python") == pytest.approx(tokens.count(together), rel=0.05)


def test_a_definition_costs_what_it_encloses() -> None:
    index = index_of(
        {"a.py": "class A:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 2\n"}
    )
    prices = dict(zip((d.name for d in index.definitions(0)), index.costs.definitions.tolist(), strict=True))
    for level in (0, 1, 2):
        assert prices["A"][level] >= prices["one"][level] + prices["two"][level] - 1
    assert prices["one"][0] <= prices["one"][1] <= prices["one"][2]


def test_what_a_file_costs_follows_from_its_content_alone() -> None:
    odd = {"b.py": SOURCES["repo_map/globs.py"], "c.md": "# A\n\nb\n", "d.js": "a=1;" * 50, "e.txt": "x"}
    alone = index_of({"m/a.py": SOURCES["repo_map/text/tokens.py"]}).costs
    among = index_of({**odd, "n/a.py": SOURCES["repo_map/text/tokens.py"], "z.py": ""})
    file = among.paths.index("n/a.py")
    assert among.costs.levels[file].tolist() == alone.levels[0].tolist()
    first, last = among.symbols.file_start[file : file + 2].tolist()
    assert among.costs.definitions[first:last].tolist() == alone.definitions.tolist()


def test_a_small_tree_is_counted_exactly_at_every_level() -> None:
    index = index_of(
        {"a.py": SOURCES["repo_map/globs.py"], "b/c.py": SOURCES["repo_map/text/tokens.py"], "d.txt": "x\n"}
    )
    manifest = price_index(index)
    assert manifest.exact
    for level in (1, 2, 3, 4):
        plan = parse_plan(f"{{budget: 100000, verbosity: [{{pattern: '**', level: {level}}}]}}")
        assert abs(manifest.total().levels[level - 1] - draw_map(index, plan).tokens) <= 3


def test_the_size_of_a_map_of_a_large_tree_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "EXACT_UP_TO_BYTES", 0)
    index = index_of(SOURCES)
    manifest = price_index(index)
    assert not manifest.exact
    for level in (3, 4):
        plan = parse_plan(f"{{budget: 1000000, verbosity: [{{pattern: '**', level: {level}}}]}}")
        assert price_plan(manifest, plan) == pytest.approx(draw_map(index, plan).tokens, rel=0.06)
