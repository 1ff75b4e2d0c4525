"""A goal with a stack trace: the function where it broke leads, in whichever order its frames are written."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.outline.draw import draw_map
from repo_map.ranking.score import score_goal
from tests.support.maps import pack_places
from tests.support.trees import write

TITLE = "Checkout fails for new customers\n\n"
WORDS = "Checks an order out; the checkout fails for new customers."


class Case(NamedTuple):
    files: dict[str, str]
    trace: str
    crashed: str
    line: str
    """Of the function that crashed."""


PYTHON = Case(
    {
        "shop/web.py": f'def dispatch(request):\n    """{WORDS}"""\n    return checkout(request.order)\n',
        "shop/orders.py": f'def checkout(order):\n    """{WORDS}"""\n    return order.size * rate(order)\n',
        "shop/table.py": "def find(table, key):\n    entry = table[key]\n    return entry / 100\n",
        "tests/test_orders.py": f'def test_checkout():\n    """{WORDS}"""\n    assert checkout(None)\n',
    },
    """Traceback (most recent call last):
  File "/venv/site-packages/wsgi/core.py", line 80, in __call__
    response = self.app(request)
  File "/srv/app/shop/web.py", line 3, in dispatch
    return checkout(request.order)
  File "/srv/app/shop/orders.py", line 3, in checkout
    return order.size * rate(order)
  File "/srv/app/shop/table.py", line 2, in find
    entry = table[key]
  File "/venv/site-packages/frozen/table.py", line 41, in __getitem__
    raise KeyError(key)
KeyError: 'AT'
""",
    "find",
    "entry = table[key]",
)
CHAINED = PYTHON._replace(
    trace=f"""{PYTHON.trace}
The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/app/shop/web.py", line 3, in dispatch
    return checkout(request.order)
  File "/srv/app/shop/orders.py", line 3, in checkout
    raise CheckoutError(order) from error
shop.orders.CheckoutError: 7
"""
)
_SHOP = "src/main/java/com/acme"
JAVA = Case(
    {
        f"{_SHOP}/OrderService.java": (
            f"package com.acme;\nclass OrderService {{\n    /** {WORDS} */\n"
            "    int checkout(Order order) {\n"
            "        return rates.priced(order);\n    }\n}\n"
        ),
        f"{_SHOP}/RateTable.java": (
            "package com.acme;\nclass RateTable {\n    int find(String key) {\n"
            "        Integer entry = map.get(key);\n        return entry.intValue();\n    }\n}\n"
        ),
    },
    """com.acme.CheckoutException: checkout failed
\tat com.acme.OrderService.checkout(OrderService.java:5)
\tat org.springframework.web.Handler.doInvoke(Handler.java:205)
Caused by: java.lang.NullPointerException: "entry" is null
\tat java.base/java.util.Objects.requireNonNull(Objects.java:233)
\tat com.acme.RateTable.find(RateTable.java:5)
\tat com.acme.OrderService.checkout(OrderService.java:5)
\t... 42 more
""",
    "RateTable.find",
    "return entry.intValue();",
)
SCRIPT = Case(
    {
        "src/orders.js": f"/** {WORDS} */\nfunction checkout(order) {{\n  return rate(order);\n}}\n",
        "src/rates.js": "function rate(order) {\n  const entry = RATES[order];\n  return entry.value;\n}\n",
    },
    """TypeError: Cannot read properties of undefined (reading 'value')
    at rate (/srv/app/src/rates.js:3:16)
    at Array.map (<anonymous>)
    at checkout (/srv/app/src/orders.js:3:23)
    at Layer.handle [as handle_request] (/srv/app/node_modules/express/lib/router/layer.js:95:5)
""",
    "rate",
    "return entry.value;",
)
GO = Case(
    {
        "orders/checkout.go": (
            f"package orders\n\n// Checkout: {WORDS}\nfunc Checkout(order *Order) int {{\n"
            "\treturn order.Size * table.Rate(order.Country)\n}\n"
        ),
        "rates/table.go": (
            "package rates\n\ntype Table struct{ entries map[string]*entry }\n\n"
            "func (t *Table) Rate(key string) int {\n\tfound := t.entries[key]\n\treturn found.value\n}\n"
        ),
    },
    """panic: runtime error: invalid memory address or nil pointer dereference

goroutine 1 [running]:
acme/rates.(*Table).Rate(0xc000010250, {0x4a1b2c, 0x2})
\t/home/ci/acme/rates/table.go:7 +0x65
acme/orders.Checkout(0xc00007e000)
\t/home/ci/acme/orders/checkout.go:5 +0x45
main.main()
\t/home/ci/acme/main.go:4 +0x17
""",
    "Table.Rate",
    "return found.value",
)
RUST = Case(
    {
        "src/orders.rs": f"/// {WORDS}\npub fn checkout(order: &Order) -> u32 {{\n    rate(order)\n}}\n",
        "src/rates.rs": (
            "pub fn rate(order: &Order) -> u32 {\n    let found = TABLE.get(order);\n    *found.unwrap()\n}\n"
        ),
    },
    """thread 'main' panicked at src/rates.rs:3:12:
called `Option::unwrap()` on a `None` value
stack backtrace:
   0: core::option::unwrap_failed
             at /rustc/9fc6b43126469e3858e2fe86cafb4f0fd5068869/library/core/src/option.rs:1992:5
   1: shop::rates::rate
             at ./src/rates.rs:3:5
   2: shop::orders::checkout
             at ./src/orders.rs:3:13
""",
    "rate",
    "*found.unwrap()",
)
_C_FILES = {
    "lib/orders.c": f"/* {WORDS} */\nint checkout(order_t *order) {{\n    return rate(order);\n}}\n",
    "lib/rates.c": (
        "int rate(order_t *order) {\n    entry_t *found = find(order);\n    return found->value;\n}\n"
    ),
}
SANITIZER = Case(
    _C_FILES,
    """==4242==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x55
READ of size 4 at 0x602000000014 thread T0
    #0 0x4a1b2c in __asan_memcpy (/usr/lib/libasan.so.8+0x3c)
    #1 0x55d0c1 in rate /home/ci/shop/lib/rates.c:3:12
    #2 0x55d1f2 in checkout /home/ci/shop/lib/orders.c:3:12

freed by thread T0 here:
    #0 0x55d1f2 in checkout /home/ci/shop/lib/orders.c:3:12
""",
    "rate",
    "return found->value;",
)
DEBUGGER = SANITIZER._replace(
    trace="""Program received signal SIGSEGV, Segmentation fault.
#0  0x000055d0c1 in rate (order=0x0) at lib/rates.c:3
#1  0x000055d1f2 in checkout (order=0x0) at lib/orders.c:3
"""
)
SHARP = Case(
    {
        "src/Orders.cs": (
            f"class Orders {{\n    /// {WORDS}\n    int Checkout(Order order) {{\n"
            "        return rates.Find(order);\n    }\n}\n"
        ),
        "src/Rates.cs": (
            "class Rates {\n    int Find(Order order) {\n        var found = map[order];\n"
            "        return found.Value;\n    }\n}\n"
        ),
    },
    """Unhandled exception. System.NullReferenceException: Object reference not set.
   at System.Collections.Generic.Dictionary`2.get_Item(TKey key)
   at Shop.Rates.Find(Order order) in C:\\ci\\shop\\src\\Rates.cs:line 4
   at Shop.Orders.Checkout(Order order) in C:\\ci\\shop\\src\\Orders.cs:line 4
""",
    "Rates.Find",
    "return found.Value;",
)
CASES = {
    "python": PYTHON,
    "python, chained": CHAINED,
    "java": JAVA,
    "javascript": SCRIPT,
    "go": GO,
    "rust": RUST,
    "c, sanitizer": SANITIZER,
    "c, debugger": DEBUGGER,
    "c#": SHARP,
}
_COMMENT = {".py": "#", ".java": "//", ".js": "//", ".go": "//", ".rs": "//", ".c": "//", ".cs": "//"}


def indexed(folder: Path, case: Case) -> Index:
    """Return the index of the case's files among helpers that speak the goal's words."""
    suffix = Path(next(iter(case.files))).suffix
    helpers = {f"extra/note_{n}{suffix}": f"{_COMMENT[suffix]} {WORDS}\n" * 30 for n in range(6)}
    return build_index(write(folder, {**case.files, **helpers}), workers=1)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_function_where_it_broke_leads_and_a_small_packet_holds_it(case: Case, tmp_path: Path) -> None:
    index = indexed(tmp_path, case)
    relevance = score_goal(index, TITLE + case.trace)
    assert relevance.units[0].name == case.crashed
    assert relevance.units[0].path in [file.path for file in relevance.files[:2]]
    assert case.line in draw_map(index, pack_places(index, relevance, 150)).text


def test_a_test_that_fails_by_itself_does_not_lead(tmp_path: Path) -> None:
    trace = """Traceback (most recent call last):
  File "/srv/app/shop/orders.py", line 3, in checkout
    return order.size * rate(order)
  File "/srv/app/tests/test_orders.py", line 3, in test_checkout
    assert checkout(None)
AssertionError
"""
    assert score_goal(indexed(tmp_path, PYTHON), TITLE + trace).units[0].name == "checkout"


def test_a_file_of_a_library_with_a_name_of_ours_is_not_taken_for_ours(tmp_path: Path) -> None:
    trace = PYTHON.trace.replace("frozen/table.py", "frozen/shop/table.py")
    assert score_goal(indexed(tmp_path, PYTHON), TITLE + trace).units[0].name == "find"
