"""A map is made of blocks: its text is theirs, and can be cut into them again."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repo_map.outline.blocks import MapText
from repo_map.outline.draw import RepoMap, draw_map
from repo_map.parsing.values import LineRange
from repo_map.plan.model import FlightPlan
from tests.support.maps import HEADER, draw, index_of, numbers_of

SHOP = {
    "shop/cart.py": (
        '"""A cart."""\n\nimport os\n\n\nclass Cart:\n    """Holds items."""\n\n'
        "    def total(self):\n        items = 3\n\n\n        return items\n\n\n"
        f"def long(first, {', '.join(f'argument_{n}' for n in range(40))}):\n    return first\n\n\n\n"
    ),
    "shop/notes.md": "# Notes\n\nSome words.\n\n## More\n\nAnd more words.\n",
    "shop/data.json": '{"key": 1}\n',
}
TRAPS = {
    "a.py": f"tools = 1\ntools\nb.py\n{HEADER} b.py\n{HEADER} b.py:3\n"
    "⋮ 3 more files: 3 under lib/\n⋮\nx = 2\n",
    "b.py": '"odd\\nname.py"\nshop/cart.py\na.py [path only 3, outline 4, signatures 5, source 6]\n',
    "odd\nname.py": "b.py\n\nb.py\n",
    "tools": "a.py\n",
    "ü/straße.py": "def größe():\n    return 1\n",
}


def cut_again(drawn: RepoMap) -> MapText:
    return MapText.parse(drawn.text, [block.path for block in drawn.blocks])


@pytest.mark.parametrize("level", range(5))
@pytest.mark.parametrize("budget", [40, 90, 5_000])
def test_a_stored_map_is_cut_into_the_blocks_that_made_it(level: int, budget: int) -> None:
    plan = f"budget: {budget}\nverbosity: [{{pattern: '**', level: {level}}}]\n"
    drawn = draw(SHOP | TRAPS, plan)
    assert cut_again(drawn) == drawn.map_text
    assert drawn.map_text.text == drawn.text


LINES = st.lists(
    st.sampled_from(
        [
            "a.py",
            f"{HEADER} b.py",
            f"{HEADER} tools:2",
            "tools = 1",
            "⋮ 2 more files",
            "⋮",
            "x",
            "",
            "a.py:",
            "a.py b",
        ]
    ),
    max_size=6,
)


# Each example indexes files, which takes long where other work shares the processor.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=50)
@given(
    st.dictionaries(st.sampled_from(["a.py", "b.py", "tools", "tools = 1"]), LINES, min_size=1),
    st.integers(20, 80),
)
def test_no_line_of_source_passes_for_a_header_or_for_the_closing_line(
    files: dict[str, list[str]], budget: int
) -> None:
    index = index_of({path: "\n".join(lines) for path, lines in files.items()})
    rules = [{"pattern": "**", "level": 4}]
    drawn = draw_map(index, FlightPlan.model_validate({"budget": budget, "verbosity": rules}))
    assert cut_again(drawn) == drawn.map_text


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_a_block_tells_which_lines_stand_in_it(level: int) -> None:
    """Drawn with numbers, the lines say themselves which they are."""
    plan = f"verbosity: [{{pattern: '**', level: {level}}}]\n"
    drawn, numbered = draw(SHOP, plan), draw(SHOP, f"line_numbers: true\n{plan}")
    for block, same in zip(drawn.blocks, numbered.blocks, strict=True):
        assert block.shown == same.shown
        source = SHOP[block.path].split("\n")
        shown = [n for lines in block.shown for n in range(lines.first, lines.last + 1) if source[n - 1]]
        # A line that was cut does not stand there whole.
        assert shown == [number for number, row in numbers_of(same.text) if row and not row.endswith("…")]


def test_lines_are_shown_only_where_all_of_them_are() -> None:
    drawn = draw(SHOP, "verbosity: [{pattern: shop/cart.py, level: 1, sections: [{lines: 6-9, level: 4}]}]")
    block = drawn.block("shop/cart.py")
    assert block is not None
    assert LineRange(6, 9) in block.shown
    inside, beside = [(6, 9), (7, 7), (9, 9)], [(5, 6), (9, 10), (5, 10), (1, 1), (60, 61)]
    assert [drawn.shows("shop/cart.py", LineRange(*lines)) for lines in inside + beside] == (
        [True] * len(inside) + [False] * len(beside)
    )
    assert not drawn.shows("shop/none.py", LineRange(1, 1))


def test_a_blank_line_at_the_end_of_what_is_shown_is_not_missing() -> None:
    """It is left out before the line that counts what follows; a unit that ends with it is whole."""
    drawn = draw(SHOP, "verbosity: [{pattern: shop/cart.py, level: 1, sections: [{lines: 9-12, level: 4}]}]")
    assert "items = 3\n⋮" in drawn.text
    assert drawn.shows("shop/cart.py", LineRange(9, 12))
    assert not drawn.shows("shop/cart.py", LineRange(9, 13))
