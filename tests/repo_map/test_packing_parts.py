"""Which lines of a file a packet shows: whole statements, signatures, needed imports, tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.outline.draw import draw_map
from repo_map.outline.listing import list_places
from repo_map.outline.pack import pack
from repo_map.outline.statements import Statements
from repo_map.ranking.score import score_goal
from tests.support.trees import write

PADDING = "".join(f"def unrelated_{n}(x):\n    return x * {n} + helper_{n}(x)\n\n\n" for n in range(120))


def shown(root: Path, files: dict[str, str], goal: str, budget: int, *, fill: bool = True) -> str:
    index: Index = build_index(write(root, files), workers=1)
    return draw_map(index, pack(index, score_goal(index, goal), budget, fill=fill)).text


def test_only_the_imports_that_the_shown_code_needs_are_shown(tmp_path: Path) -> None:
    head = (
        "# Copyright of somebody, with a licence of many words.\n# All rights are reserved.\n\n"
        "import os\nimport decimal\nfrom shop.rates import (\n"
        "    RATES,\n    NAMES,\n    ZONES,\n    DAYS,\n)\n"
        "import subprocess, threading\n\n__all__ = ['refund_voucher']\n\n\n"
    )
    code = "def refund_voucher(order):\n    return decimal.Decimal(order.total) * RATES[order.zone]\n\n\n"
    files = {"shop/vouchers.py": head + code + PADDING, "shop/rates.py": "RATES = {}\nNAMES = {}\n"}
    text = shown(tmp_path, files, "refund_voucher rounds wrongly", 300)
    assert "import decimal\n" in text
    assert "from shop.rates import (\n    RATES,\n" in text
    for unused in ("import os", "subprocess", "__all__", "ZONES", "Copyright"):
        assert unused not in text, text


PYTHON = ("def run(\n    state,\n    coupon,\n):\n", "    step({n})\n", '    """{n} of\n    it."""\n', "")
GO = ("package a\n\nfunc run(\n\tstate int,\n) {{\n", "\tstep({n})\n", "\t/* {n}\n\tof it */\n", "}}\n")
SCRIPT = ("function run(\n  state,\n) {{\n", "  step({n});\n", "  // {n}\n  // of it\n", "}}\n")
C = ("int run(\n  int state\n) {{\n", "  step({n});\n", "  /* {n}\n  of it */\n", "}}\n")


@pytest.mark.parametrize(
    ("path", "parts"), [("run.py", PYTHON), ("run.go", GO), ("run.js", SCRIPT), ("run.c", C)]
)
def test_windows_of_a_long_function_are_whole_statements(
    tmp_path: Path, path: str, parts: tuple[str, str, str, str]
) -> None:
    head, step, block, end = parts
    indent = step[: len(step) - len(step.lstrip())]
    colon, close = (":", "") if path.endswith(".py") else (" {", f"{indent}}}\n")
    call = f"{indent * 2}apply_coupon(\n{indent * 3}state\n{indent * 2})\n"
    call = f"{indent}if (discount_coupon(state)){colon}\n{call}{close}"
    steps = "".join((block + step).format(n=n) for n in range(300))
    source = head.format() + steps + call + steps + end.format()
    text = shown(tmp_path, {path: source}, "apply_coupon and discount_coupon are called twice", 700)
    assert call in text
    assert head.format().rpartition("\n\n")[2] in text
    statements = Statements(
        source, path.rpartition(".")[2].replace("py", "python").replace("js", "javascript")
    )
    lines = source.split("\n")
    for each in text.split("⋮")[1:-1]:
        number, _, body = each.strip("\n").partition("\n")
        if number.strip().isdigit():
            first = int(number)
            last = first + len(body.rstrip().split("\n")) - 1
            assert statements.outermost(first, first)[0].first == first or lines[first - 1].startswith("}")
            assert statements.at(last) == len(lines) or statements[statements.at(last)].first >= first


def test_the_whole_signature_of_what_encloses_a_shown_part_is_shown(tmp_path: Path) -> None:
    source = (
        "class Shop(\n    Base,\n    Mixin,\n):\n    def refund_voucher(self):\n        return 1\n\n"
        + "".join(f"    def other_{n}(self):\n        return {n}\n\n" for n in range(200))
    )
    text = shown(tmp_path, {"shop.py": source}, "refund_voucher gives 1", 120)
    assert "class Shop(\n    Base,\n    Mixin,\n):\n" in text


TESTED = "def refund_voucher(order):\n    return order.total\n\n\n"
TEST = (
    "import pytest\nfrom shop.vouchers import refund_voucher\n\n\n"
    "@pytest.fixture\ndef order():\n    return make_order(3)\n\n\n"
    "def test_other():\n    assert make_order(1)\n\n\n"
    "def test_refunds(order):\n    assert refund_voucher(order) == 3\n"
)


def test_from_4000_tokens_on_the_tests_of_the_chosen_code_are_shown_with_their_fixtures(
    tmp_path: Path,
) -> None:
    files = {"shop/vouchers.py": TESTED + PADDING, "tests/test_vouchers.py": TEST}
    text = shown(tmp_path, files, "refund_voucher loses the total", 4_000)
    assert "def test_refunds(order):\n    assert refund_voucher(order) == 3\n" in text
    assert "def order():\n    return make_order(3)\n" in text


def test_below_4000_tokens_no_part_of_a_test_is_shown(tmp_path: Path) -> None:
    files = {
        "shop/vouchers.py": TESTED + PADDING,
        "tests/test_vouchers.py": TEST + 300 * "    assert order.total\n",
    }
    assert "test_refunds" not in shown(tmp_path, files, "refund_voucher loses the total", 1_500)


def test_a_comment_that_stands_alone_is_no_part_of_a_packet(tmp_path: Path) -> None:
    code = "class Shop:\n    def refund_voucher(self):\n        return 1\n\n    # Common descriptors\n\n"
    code += "    @property\n    def size(self):\n        return 2\n\n    # How it is kept\n\n"
    code += "    def close(self):\n        return 3\n\n\n"
    text = shown(tmp_path, {"shop.py": code + PADDING}, "refund_voucher loses a total", 600)
    assert "# Common descriptors" not in text
    assert "def refund_voucher" in text


def test_where_no_relation_leads_to_a_test_it_is_found_by_its_files_name(tmp_path: Path) -> None:
    test = (
        "describe('vouchers', () => {\n  it('refunds all', () => {\n    shop['refundVoucher'](1)\n  })\n})\n"
    )
    code = "export function refundVoucher(order) {\n  return order.total\n}\n"
    more = "".join(f"export function other{n}(x) {{\n  return x + {n}\n}}\n" for n in range(300))
    files = {"src/vouchers.js": code + more, "test/vouchers.test.js": test}
    assert "it('refunds all', () => {\n" in shown(tmp_path, files, "refundVoucher loses the total", 4_000)


def test_what_the_chosen_code_calls_comes_before_equals(tmp_path: Path) -> None:
    helpers = "".join(
        f"def total_{n}(order):\n    total = order.total\n    return total - {n}\n\n\n" for n in range(40)
    )
    code = f"def refund_voucher(order):\n    return total_31(order)\n\n\n{helpers}"
    text = shown(tmp_path, {"shop.py": code}, "refund_voucher gives the wrong total", 150)
    assert "def total_31(order):" in text


def test_nearly_the_same_part_of_a_copied_file_is_shown_once(tmp_path: Path) -> None:
    lines = "".join(f"    step_{n}(order)\n" for n in range(10))
    files = {
        "src/a.py": f"def refund_voucher(order):\n{lines}    return 'src'\n",
        "lib/a.py": f"def refund_voucher(order):\n{lines}    return 'lib'\n",
        "more.py": PADDING,
    }
    assert shown(tmp_path, files, "refund_voucher", 600).count("step_3(order)") == 1


def test_a_packet_of_any_text_begins_and_ends_on_statements(tmp_path: Path) -> None:
    for language in ("python", "go", "c", "javascript", "rust", "markdown", ""):
        statements = Statements("}\n)\n'''\n/* x\n\n  (\n ]\n```\n\ty", language)
        for line in range(1, 10):
            window = statements.window(line, (1, 9), 4)
            assert window is None or 1 <= window[0] <= window[1] <= 9


def test_a_line_or_two_between_shown_parts_are_shown_with_them(tmp_path: Path) -> None:
    code = "class Shop:\n    def refund_voucher(self):\n        return self.total\n\n    rate = 3\n\n"
    code += "    def refund_all_vouchers(self):\n        return self.refund_voucher() * self.rate\n\n\n"
    text = shown(tmp_path, {"shop.py": code + PADDING}, "refund_voucher loses a total", 160)
    assert "return self.total\n\n    rate = 3\n\n    def refund_all_vouchers" in text


def test_a_long_table_between_shown_parts_is_left_out(tmp_path: Path) -> None:
    table = "    RATES = [\n" + "".join(f"        {n},\n" for n in range(80)) + "    ]\n\n"
    code = f"class Shop:\n    def refund_voucher(self):\n        return self.total\n\n{table}"
    code += "    def refund_all_vouchers(self):\n        return self.refund_voucher() * self.rate\n\n\n"
    text = shown(tmp_path, {"shop.py": code + PADDING}, "refund_voucher loses a total", 160)
    assert "def refund_all_vouchers" in text
    assert "RATES" not in text


def test_what_chosen_code_calls_is_shown_where_its_like_is_not_worth_its_tokens(tmp_path: Path) -> None:
    steps = "".join(f"    order = order.step_{n}(order.line_{n}, order.rate_{n})\n" for n in range(80))
    chosen = f"def refund_voucher(order):\n{steps}    return settle(order)\n\n\n"
    called = "def settle(order):\n    return order.left + order.right\n\n\n"
    apart = "def unlike(order):\n" + 9 * "    order.keep(order.line)\n" + "\n\n"
    equal = "def adjust(order):\n    return order.left + order.right\n\n\n"
    files = {"shop/vouchers.py": chosen + PADDING + called + apart + equal}
    index = build_index(write(tmp_path, files), workers=1)
    relevance = score_goal(index, "refund_voucher loses a total")
    first = relevance.units[0]
    assert first.name == "refund_voucher"
    units = {unit.name: unit for unit in relevance.units}
    before = [units[f"unrelated_{n}"]._replace(score=first.score - 1, chance=0.5) for n in range(3)]
    likely = [units[name]._replace(score=first.score - 4, chance=0.008) for name in ("settle", "adjust")]
    alone = relevance._replace(units=(first._replace(chance=0.9), *before, *likely))
    text = draw_map(index, pack(index, alone, 4_000, fill=False)).text
    assert "def settle" in text
    assert "def adjust" not in text


def test_an_outline_with_room_to_spare_lists_no_place_that_is_unlikely(tmp_path: Path) -> None:
    files = {
        f"shop/part_{number:02}.py": "\n\n".join(
            f'def step_{number}_{at}(cart):\n    """Do step {at} with the cart."""\n    return cart\n'
            for at in range(4)
        )
        for number in range(12)
    }
    files["shop/ledger.py"] = "def settle_books(days):\n    return [day.close() for day in days]\n"
    index = build_index(write(tmp_path, files), store=Store(None), workers=1)
    relevance = score_goal(index, "settle_books forgets to end the last day of the cart")
    listed = [unit for file in list_places(index, relevance, 10_000) for unit in file.places]
    assert "settle_books" in {unit.name for unit in listed}
    assert 6 <= len(listed) < 12
    assert min(unit.chance for unit in listed) >= 0.004


def test_short_declarations_that_shown_code_uses_come_along(tmp_path: Path) -> None:
    files = {
        "shop/limits.py": "OTHER = 1\nMOST_VOUCHERS = (\n    3\n)\n\n\n" + PADDING,
        "shop/orders.py": "class Order:\n    items: list[str]\n    paid: bool = False\n\n" + PADDING,
        "shop/vouchers.py": (
            "from shop.limits import MOST_VOUCHERS\nfrom shop.orders import Order\n\n\n"
            "def redeem_vouchers(order: Order, vouchers):\n    return vouchers[:MOST_VOUCHERS]\n\n\n"
            + PADDING
        ),
    }
    index = build_index(write(tmp_path, files), store=Store(None), workers=1)
    relevance = score_goal(index, "redeem_vouchers redeems too many")
    text = draw_map(index, pack(index, relevance, 2_000, fill=False, most=500, most_alone=500)).text
    assert "return vouchers[:MOST_VOUCHERS]" in text
    assert "    paid: bool = False" in text
    assert "MOST_VOUCHERS = (\n    3\n)" in text
    assert "OTHER" not in text


def small(root: Path, files: dict[str, str], goal: str, most: int) -> str:
    """Return the code of a small answer of at most ``most`` tokens."""
    index = build_index(write(root, files), store=Store(None), workers=1)
    plan = pack(index, score_goal(index, goal), 2_000, fill=False, most=most, most_alone=most)
    return draw_map(index, plan).text


def test_a_function_that_the_goal_writes_as_a_call_is_shown_first_in_a_small_answer(tmp_path: Path) -> None:
    said = "".join(
        f"def usage_text_{n}(command):\n    # the help text shows the usage of the command\n"
        f"    return command.usage_text + {n}\n\n\n"
        for n in range(40)
    )
    files = {
        "shop/usage.py": said,
        "shop/command.py": "def label(self):\n    return self.first\n\n\n" + PADDING,
    }
    goal = "The help text shows the wrong usage of the command\n\nThis changes label() for the first command."
    assert "def label(self):" in small(tmp_path, files, goal, 120)


def test_what_does_not_fit_is_shown_in_windows_and_leaves_the_rest_of_the_room(tmp_path: Path) -> None:
    long = "".join(f"    value_{n} = other_{n}(cart)\n" for n in range(90))
    files = {
        "shop/vouchers.py": (
            f"def refund_voucher(cart):\n{long}    refund(cart.voucher, twice=True)\n    return cart\n\n\n"
            "def refund_voucher_twice(cart):\n    return refund_voucher(refund_voucher(cart))\n\n\n" + PADDING
        )
    }
    text = small(tmp_path, files, "refund_voucher refunds a voucher of the cart twice", 300)
    assert "    refund(cart.voucher, twice=True)\n" in text
    assert "    return refund_voucher(refund_voucher(cart))\n" in text
    assert "value_40" not in text


@pytest.mark.parametrize(
    ("path", "lines", "used", "unused"),
    [
        (
            "shop/vouchers.py",
            ["import os", "import re", "", "from shop.orders import Order", "", ""],
            ["import re", "from shop.orders import Order"],
            ["import os"],
        ),
        (
            "shop/vouchers.ts",
            ["import { join } from 'path';", "import * as re from 'regular';", ""],
            ["import * as re from 'regular';"],
            ["import { join } from 'path';"],
        ),
    ],
)
def test_what_shown_code_imports_from_elsewhere_comes_along_in_a_small_answer(
    tmp_path: Path, path: str, lines: list[str], used: list[str], unused: list[str]
) -> None:
    body = {
        "py": "def redeem_voucher(order: Order, text):\n    found = re.match('[A-Z]+', text)\n"
        "    return order.take(found)\n\n\n" + PADDING,
        "ts": "export function redeemVoucher(text: string) {\n  const found = re.match('[A-Z]+', text);\n"
        "  return found.take(text);\n}\n\n"
        + "".join(f"function other{at}() {{\n  return {at};\n}}\n\n" for at in range(30)),
    }[path.rpartition(".")[2]]
    files = {path: "\n".join([*lines, body]), "shop/orders.py": "class Order:\n    items: list\n\n" + PADDING}
    text = small(tmp_path, files, "redeemVoucher, or redeem_voucher, redeems too many vouchers", 400)
    assert "found" in text
    assert all(f"{line}\n" in text for line in used)
    assert not any(line in text for line in unused)
