"""Text that is stuffed with a goal's words does not lead: it stays behind what has a past."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.index.build import build_index
from repo_map.index.store import Store
from repo_map.ranking.score import score_goal
from tests.support.history import read_history
from tests.support.trees import commit, write

GOAL = "An expired voucher still lowers the total of an order"
WORDS = "expired voucher still lowers total order expired voucher total order"
SPELLED = "".join(
    f"def expired_voucher_lowers_total_of_order_{number}(voucher, order, total):\n"
    f'    """{WORDS}"""\n    return voucher, order, total\n\n\n'
    for number in range(8)
)
PAST = {
    "shop/voucher.py": (
        "def is_expired(voucher, today):\n    return voucher.last_day < today\n\n\n"
        "def lowered(total, voucher):\n    return total - voucher.amount\n"
    ),
    "shop/order.py": (
        "from shop.voucher import lowered\n\n\n"
        "def total_of(order):\n    return lowered(sum(order.lines), order.voucher)\n"
    ),
    "shop/receipt.py": "def receipt_of(order, total):\n    return f'order {order} total {total}'\n",
    "shop/mail.py": "def send(address, text):\n    return address, text\n",
    "shop/stock.py": "def left(item):\n    return item.count\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    commit(root, {"README.md": "A shop.\n"}, message="begin")
    for path, text in PAST.items():
        commit(root, {path: text}, message=f"add {path}")
    for number in range(24):
        commit(root, {"CHANGES.txt": f"{number}\n"}, message=f"note change {number}")
    return root


def first_three(root: Path) -> list[str]:
    index = build_index(root, store=Store(None), workers=1)
    history = read_history(root, store=Store(None))
    assert history is not None
    return [file.path for file in score_goal(index, GOAL, history).files[:3]]


def test_those_that_matter_are_first_where_nothing_is_stuffed(shop: Path) -> None:
    assert set(first_three(shop)) == {"shop/voucher.py", "shop/order.py", "shop/receipt.py"}


@pytest.mark.parametrize("is_committed", [False, True], ids=["untracked", "just committed"])
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("shop/extra.py", f"# {WORDS}\n" * 40 + "def run(value):\n    return value\n"),
        ("shop/extra.py", SPELLED),
        ("shop/extra.py", f"TEXT = '{WORDS}'\n" * 40),
        ("shop/expired_voucher_order_total.py", SPELLED),
        ("expired/voucher/order/total/lowers.py", SPELLED),
        ("vendor/shop/voucher.py", PAST["shop/voucher.py"] + SPELLED),
        ("shop/copy/voucher.py", PAST["shop/voucher.py"] + SPELLED),
        ("tests/test_extra.py", SPELLED.replace("def ", "def test_")),
        ("docs/extra.md", f"# {GOAL}\n\n{WORDS}\n\n" * 20),
        ("shop/extra.json", f'["{WORDS}"]\n'),
        ("shop/extra.min.js", f"function a(){{return '{WORDS}'}};" * 50),
    ],
)
def test_a_stuffed_file_without_a_past_displaces_none_of_them(
    shop: Path, path: str, text: str, *, is_committed: bool
) -> None:
    before = set(first_three(shop))
    (commit if is_committed else write)(shop, {path: text})
    assert set(first_three(shop)) == before


@pytest.mark.parametrize("added", [f"# {WORDS}\n" * 40, SPELLED])
def test_a_file_with_a_past_gains_nothing_by_what_was_just_added_to_it(shop: Path, added: str) -> None:
    before = set(first_three(shop))
    commit(shop, {"shop/mail.py": f"{PAST['shop/mail.py']}\n\n{added}"}, message="extend mail")
    assert "shop/mail.py" not in first_three(shop)
    assert set(first_three(shop)) == before


def test_commits_that_say_the_goals_words_lift_none_of_the_files_that_they_touch(shop: Path) -> None:
    before = set(first_three(shop))
    for number in range(12):
        text = f"{PAST['shop/stock.py']}\n\nLIMIT = {number}\n"
        commit(shop, {"shop/stock.py": text}, message=f"{GOAL} {WORDS} (#{number})")
    assert set(first_three(shop)) == before


def test_a_new_file_that_the_goal_names_is_first_all_the_same(shop: Path) -> None:
    write(shop, {"shop/refund.py": "def refund(order):\n    return order\n"})
    index = build_index(shop, store=Store(None), workers=1)
    history = read_history(shop, store=Store(None))
    goal = "refund() in shop/refund.py forgets the voucher of an order"
    assert score_goal(index, goal, history).files[0].path == "shop/refund.py"
