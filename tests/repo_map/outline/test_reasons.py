"""A packet that ends by need says above each part, in a few words, why it is there."""

from __future__ import annotations

import re
from pathlib import Path

from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.outline.blocks import MapText
from repo_map.outline.draw import RepoMap, draw_map
from repo_map.outline.pack import pack
from repo_map.plan.model import FlightPlan
from repo_map.plan.update import apply_update
from repo_map.plan.yaml import format_plan, parse_plan
from repo_map.ranking.score import score_goal
from tests.support.maps import HEADER
from tests.support.trees import write

PADDING = "".join(f"def unrelated_{n}(x):\n    return x * {n} + helper_{n}(x)\n\n\n" for n in range(60))
REFUNDS = "".join(f"def refund_off_{n}(cent):\n    return cent - {n}\n\n\n" for n in range(5))
FILES = {
    "shop/till.py": f"""
from shop.rates import rate_of


{PADDING}class Till:
    def checkout(self, total):
        return total * rate_of(total)


{PADDING.replace("unrelated", "other")}def round_refund(total):
    return round(total, 2)


{REFUNDS}""",
    "shop/rates.py": f"{PADDING}def rate_of(amount):\n    cent = amount // 3\n    return cent\n",
}
GOAL = "Till.checkout: a refund is off by a cent"


def indexed(tmp_path: Path) -> Index:
    return build_index(write(tmp_path, FILES), workers=1)


def packed(index: Index, *, fill: bool = False) -> FlightPlan:
    return pack(index, score_goal(index, GOAL), 900, fill=fill)


def above(drawn: RepoMap, line: str) -> str:
    """Return the map's own line above a line of source."""
    head, _, _ = drawn.text.partition(f"\n{line}")
    return next(each for each in reversed(head.split("\n")) if each.startswith((f"{HEADER}", "⋮")))


def test_the_header_of_a_file_and_the_gap_before_a_part_tell_why_they_are_shown(tmp_path: Path) -> None:
    index = indexed(tmp_path)
    drawn = draw_map(index, packed(index))
    assert f"{HEADER} shop/rates.py:241  called by Till.checkout\n" in drawn.text
    assert not [line for line in drawn.text.split("\n") if "  matches " in line or "  is " in line]


def test_the_plan_holds_the_reasons_and_draws_the_same_bytes_without_the_goal(tmp_path: Path) -> None:
    index = indexed(tmp_path)
    plan = packed(index)
    again = parse_plan(format_plan(plan))
    assert again == plan
    assert draw_map(index, again).text == draw_map(index, plan).text


def test_a_plan_may_leave_the_reasons_untold(tmp_path: Path) -> None:
    index = indexed(tmp_path)
    plan = packed(index)
    change = apply_update(plan, {"reasons": False})
    assert change.lines == ("reasons off",)
    told, untold = draw_map(index, plan), draw_map(index, change.plan)
    assert "called by" not in untold.text
    assert untold.tokens < told.tokens
    assert re.sub(rf"(?m)^([{HEADER}⋮].*?)  .*$", r"\1", told.text) == untold.text
    assert [block.shown for block in told.blocks] == [block.shown for block in untold.blocks]


def test_a_packet_that_fills_its_budget_tells_none(tmp_path: Path) -> None:
    index = indexed(tmp_path)
    assert not re.search(rf"(?m)^[{HEADER}⋮].*  ", draw_map(index, packed(index, fill=True)).text)


def test_a_stored_map_with_reasons_is_cut_into_its_files(tmp_path: Path) -> None:
    index = indexed(tmp_path)
    drawn = draw_map(index, packed(index))
    assert MapText.parse(drawn.text, [block.path for block in drawn.blocks]) == drawn.map_text


def test_a_reason_stays_on_its_line(tmp_path: Path) -> None:
    index = indexed(tmp_path)
    rule = {"pattern": "shop/rates.py", "level": 4, "why": f"one\n{HEADER} shop/till.py"}
    plan = FlightPlan.model_validate({"verbosity": [{"pattern": "**", "level": 0}, rule]})
    assert draw_map(index, plan).text.startswith(f"{HEADER} shop/rates.py  one {HEADER} shop/till.py\ndef ")
