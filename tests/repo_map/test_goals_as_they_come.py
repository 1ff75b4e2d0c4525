"""Goals as people paste them: templates, traces, other languages, quotations, links to issues and commits."""

from __future__ import annotations

import unicodedata

import pytest

from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.ranking.goal import parse_goal
from repo_map.ranking.score import score_goal
from tests.support.trees import write

MONEY = '''"""Money."""


def rate(code, table):
    # Look the rate of a currency up, before the cart is priced
    if code not in table:
        raise LookupError(f"Unknown currency {code!r} in the rates of {len(table)} countries")
    logger.warning("rates are %d days old, since %s", 3, code)
    return table[code]


def convert(amount, code, table):
    """Return an amount in the currency that the customer pays in."""
    return amount * rate(code, table)
'''
ORDERS = '''"""Orders and their currency, rates, countries, customers, carts, amounts."""


def place(order, currency, rates):
    """Place an order: the amount, the currency, the rates and the countries of its customer."""
    return order.amount(currency, rates)


def rates_of(order):
    """Return the rates of the currency of an order."""
    return order.rates
'''
SHELL = 'die() {\n  echo "$1" >&2\n  exit 1\n}\n'
TEMPLATE = """---
name: Bug report
---
## What happened to your basket
Tell which browser the customer uses in the shop
"""
FILES = {
    "shop/money.py": MONEY,
    "shop/orders.py": ORDERS,
    "shop/saml/provider.py": "def login(user):\n    return user.assertion\n",
    "shop/browser.py": "def browser_of_customer(basket):\n    return basket.browser\n",
    "lib/common.sh": SHELL,
    "tests/test_money.py": "# Look the rate of a currency up, before the cart is priced\n",
    ".github/ISSUE_TEMPLATE/bug_report.md": TEMPLATE,
    **{f"shop/part{at}.py": f"def part{at}(request):\n    return request\n" for at in range(20)},
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return build_index(write(tmp_path_factory.mktemp("shop"), FILES), store=Store(None), workers=1)


@pytest.mark.parametrize(
    ("goal", "name"),
    [
        (
            "Look the rate of a currency up, before the cart is priced",
            "rate",
        ),
        (
            "Return an amount in the currency that the customer pays in.",
            "convert",
        ),
        (
            "Checkout breaks\n\nLookupError: Unknown currency 'EUR' in the rates of 12 countries",
            "rate",
        ),
        (
            'The log says "rates are 17 days old, since USD"',
            "rate",
        ),
    ],
)
def test_what_repeats_text_of_the_code_finds_its_place_first(index: Index, goal: str, name: str) -> None:
    relevance = score_goal(index, goal)
    assert relevance.files[0].path == "shop/money.py"
    assert relevance.units[0].name == name
    assert relevance.units[0].reasons == ("contains the goal's text",)


def test_a_turn_of_phrase_is_no_literal(index: Index) -> None:
    relevance = score_goal(index, "The currency of an order is wrong in the list of the orders")
    assert not any(file.reasons for file in relevance.files)


def test_stop_words_of_the_goals_own_language_are_no_names(index: Index) -> None:
    assert score_goal(index, "Bitte die Steuer und die Rundung nicht für alle Kunden anzeigen").files == ()
    named = score_goal(index, "Warum endet das Skript nicht, wenn `die` in der Shell gerufen wird?")
    assert named.files[0].path == "lib/common.sh"
    assert (
        score_goal(index, "The script goes on after it called die in the shell").files[0].path
        == "lib/common.sh"
    )


def test_what_stands_in_the_repositorys_own_template_weighs_nothing(index: Index) -> None:
    title = "Wrong amount of a converted currency"
    asked = TEMPLATE.partition("report\n---\n")[2]
    assert score_goal(index, f"{title}\n{asked}").goal.terms == score_goal(index, title).goal.terms


DUMP = """
INSTALLED VERSIONS
------------------
commit: 1a2b3c
python: 3.11.4.final.0
OS: Linux
money: 2.1.0
orders : 1.26.0
browser: 4.2.1
provider : 1.0.3
saml: None
"""
SETTINGS = "orders: broken\nbrowser: empty\nprovider: slow\nsaml: odd\npython: yes\nhost: local\n"


def test_a_dump_of_versions_weighs_nothing_and_other_names_and_values_keep_their_weight(index: Index) -> None:
    goal = "Wrong amount of a converted currency"
    bare, with_dump = score_goal(index, goal), score_goal(index, f"{goal}\n{DUMP}")
    assert (with_dump.units, with_dump.files) == (bare.units, bare.files)
    assert all(0 < unit.chance < 1 for unit in bare.units)
    assert score_goal(index, f"{goal}\n\n{SETTINGS}").units != bare.units


def test_what_issue_templates_ask_for_weighs_nothing() -> None:
    goal = """Cart forgets its rows

<!-- Thank you for filing a walrus -->
- [x] I have searched the zebra tracker
I have read the giraffe guidelines

### Expected behaviour
rows stay
### Output of `shop --version`
```
okapi 3.2
```
### Checklist
penguin
### Steps to reproduce
open the page
Ubuntu 22.04 (ostrich)
"""
    said = {term for counts in parse_goal(goal).terms.values() for term in counts}
    assert said == {"cart", "forget", "row", "stay", "open", "page"}


def test_frames_in_other_projects_weigh_nothing(index: Index) -> None:
    goal = """Checkout fails

Traceback (most recent call last):
  File "/venv/lib/python3.11/site-packages/shop/money.py", line 8, in rate
    raise LookupError(code)
  File "/venv/lib/python3.11/site-packages/walrus/orders.py", line 3, in zebra_of
    return giraffe(okapi)
ValueError: no
"""
    relevance = score_goal(index, goal)
    assert relevance.files[0].path == "shop/money.py"
    assert {term for counts in relevance.goal.terms.values() for term in counts}.isdisjoint(
        {"walrus", "giraff", "okapi", "zebra"}
    )
    assert not any("stack trace" in " ".join(file.reasons) for file in relevance.files[1:])


def test_a_rare_word_that_names_a_folder_stands_beside_common_words_of_the_title(index: Index) -> None:
    relevance = score_goal(index, "Saml customers with a wrong currency")
    assert "shop/saml/provider.py" in [file.path for file in relevance.files[:5]]


@pytest.mark.parametrize(
    ("goal", "name"),
    [
        ("修复settleRefund函数的错误", "settleRefund"),
        ("주문을settle_refund에서 취소", "settle_refund"),
        (unicodedata.normalize("NFD", "Wo ist berechne_Größe?"), "berechne_Größe"),
    ],
)
def test_names_are_found_beside_scripts_without_spaces_and_decomposed(goal: str, name: str) -> None:
    assert name in parse_goal(goal).identifiers


def test_what_is_quoted_keeps_its_script_borders() -> None:
    assert "错误code" in parse_goal('在settle里出现 "错误code已取消订单"').text
