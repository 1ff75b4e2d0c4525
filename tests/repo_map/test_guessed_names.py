"""Names that the caller guesses: they find code that the goal's words miss, and wrong ones change little."""

from __future__ import annotations

from repo_map.ranking.score import score_goal
from tests.support.maps import index_of

SHOP = {
    "shop/discounts.py": "def voucher_cut(order):\n    return order.sum * 3\n",
    "shop/orders.py": "def place(order):\n    return order\n\n\ndef reduction(order):\n    return order\n",
    "shop/mail.py": "def send(message):\n    return message\n",
    "shop/names.py": "def send(reduction):\n    return reduction\n",
}
GOAL = "Where is the price reduction of an order decided?"


def test_a_guess_that_exists_lifts_its_definition() -> None:
    index = index_of(SHOP)
    plain, guessed = score_goal(index, GOAL), score_goal(index, GOAL, names=("voucher_cut", "percentage"))
    assert plain.units[0].name != "voucher_cut"
    assert guessed.units[0].name == "voucher_cut"


def test_a_guess_that_exists_nowhere_costs_nothing_and_is_not_mentioned() -> None:
    index = index_of(SHOP)
    plain = score_goal(index, GOAL)
    guessed = score_goal(index, GOAL, names=("frobnicate_all", "QuuxHandler"))
    assert [unit.name for unit in guessed.units] == [unit.name for unit in plain.units]
    assert guessed.sufficiency.notes == plain.sufficiency.notes


def test_what_the_goal_itself_names_stays_ahead_of_guesses() -> None:
    found = score_goal(
        index_of(SHOP), "What does `place` in shop/orders.py return?", names=("voucher_cut", "send")
    )
    assert "place" in [unit.name for unit in found.units[:2]]
    assert {unit.name for unit in found.spelt} <= {"place", ""}
