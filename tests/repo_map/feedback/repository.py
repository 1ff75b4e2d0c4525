"""The repository that the sentences of the corpus speak of: nine languages, namesakes, tests and a history."""

from __future__ import annotations

from pathlib import Path

from tests.support.trees import git, write

FILES = {
    "src/shop/sessions.py": '''"""Sessions keep cookies and send requests."""

from shop.auth import AuthBase, BasicAuth
from shop.retry import MAX_RETRIES, Retry
from shop.utils import slug


class Session:
    """Sends requests, one after the other."""

    def __init__(self, auth: AuthBase | None = None):
        self.auth = auth or BasicAuth("", "")
        self.retry = Retry(MAX_RETRIES)
        self.cookies = {}

    def request(self, method, url):
        return self.send(self.prepare(method, url))

    def prepare(self, method, url):
        return {"method": method, "url": slug(url)}

    def send(self, request):
        for attempt in self.retry.attempts():
            answer = self.deliver(request)
            if answer is not None:
                self.cookies = merge_cookies(self.cookies, answer)
                return answer
        raise ConnectionError("too many attempts")

    def deliver(self, request):
        return self.auth.sign(request)

    def close(self):
        self.cookies = {}


def merge_cookies(old, new):
    """Return both, the new ones winning."""
    return {**old, **new}
''',
    "src/shop/retry.py": '''"""When to try again."""

MAX_RETRIES = 3


class Retry:
    def __init__(self, most):
        self.most = most

    def attempts(self):
        return range(self.most)

    def backoff(self, attempt):
        return 2**attempt

    def is_retry(self, status):
        return status in (429, 503)
''',
    "src/shop/auth.py": '''"""Who signs a request."""


class AuthBase:
    def sign(self, request):
        raise NotImplementedError


class BasicAuth(AuthBase):
    def __init__(self, user, word):
        self.user = user
        self.word = word

    def sign(self, request):
        return {**request, "user": encode_user(self.user)}


class DigestAuth(AuthBase):
    def sign(self, request):
        return {**request, "digest": "0"}


def encode_user(user):
    return user.encode().hex()
''',
    "src/shop/utils.py": "def slug(text):\n    return text.lower()\n\n\ndef chunked(items):\n    return [items]\n",
    "src/shop/config.py": (
        "def load_config(path):\n    return open(path).read()\n\n\ndef save_config(path, text):\n"
        "    open(path, 'w').write(text)\n"
    ),
    "src/billing/utils.py": "def round_money(amount):\n    return round(amount, 2)\n",
    "src/billing/invoices.py": """from billing.utils import round_money


class Invoice:
    def __init__(self, lines):
        self.lines = lines

    def total(self):
        return round_money(sum(self.lines))

    def send(self, address):
        return f"to {address}: {self.total()}"
""",
    "tests/test_sessions.py": """from shop.sessions import Session, merge_cookies


def test_send_merges_cookies():
    assert Session().send({}) is not None


def test_merge_prefers_new():
    assert merge_cookies({"a": 1}, {"a": 2}) == {"a": 2}
""",
    "tests/test_retry.py": """from shop.retry import Retry


class TestRetry:
    def test_backoff_grows(self):
        assert Retry(2).backoff(3) == 8
""",
    "tests/test_invoices.py": "from billing.invoices import Invoice\n\n\ndef test_total():\n    assert Invoice([1]).total() == 1\n",
    "proxy/lb.go": """package proxy

// LB balances requests between upstreams.
type LB struct {
	retries int
	match   string
}

func (lb *LB) Provision(args []string) error {
	switch args[0] {
	case "lb_retry_match":
		lb.match = args[1]
	case "lb_retries":
		lb.retries = len(args)
	}
	return nil
}

func (lb *LB) ServeHTTP(path string) error {
	for lb.tryAgain(path) {
		lb.retries--
	}
	return nil
}

func (lb *LB) tryAgain(path string) bool {
	return lb.retries > 0 && path == lb.match
}
""",
    "proxy/upstream.go": """package proxy

type Upstream struct {
	address string
}

func (u *Upstream) Provision(args []string) error {
	u.address = args[0]
	return nil
}

func (u *Upstream) ServeHTTP(path string) error {
	return dial(u.address + path)
}

func dial(address string) error {
	return nil
}
""",
    "proxy/lb_test.go": """package proxy

import "testing"

func TestTryAgain(t *testing.T) {
	lb := &LB{retries: 1}
	if !lb.tryAgain("") {
		t.Fatal("does not try again")
	}
}
""",
    "native/pool.rs": """pub trait Backend {
    fn connect(&self) -> bool;
}

pub struct Pool {
    size: usize,
}

impl Pool {
    pub fn new(size: usize) -> Pool {
        Pool { size }
    }

    pub fn drain(&mut self) {
        self.size = 0;
    }
}

impl Backend for Pool {
    fn connect(&self) -> bool {
        self.size > 0
    }
}
""",
    "native/ring.hpp": "class Ring {\n public:\n  void push(int value);\n  int size() const;\n\n private:\n  int count;\n};\n",
    "native/ring.cpp": (
        '#include "ring.hpp"\n\nvoid Ring::push(int value) {\n  count = value;\n}\n\n'
        "int Ring::size() const {\n  return count;\n}\n"
    ),
    "web/cart.ts": """export interface Item {
  price: number;
}

export class Cart {
  items: Item[] = [];

  addItem(item: Item): void {
    this.items.push(item);
  }

  total(): number {
    return this.items.reduce((sum, item) => sum + item.price, 0);
  }
}

export function formatPrice(cents: number): string {
  return (cents / 100).toFixed(2);
}
""",
    "web/cart.test.ts": """import { Cart } from "./cart";

it("adds up the prices", () => {
  const cart = new Cart();
  cart.addItem({ price: 2 });
});
""",
    "java/OrderService.java": """package com.shop;

public class OrderService {
    public boolean placeOrder(String item) {
        return validate(item);
    }

    public void cancelOrder(String id) {
    }

    private boolean validate(String item) {
        return !item.isEmpty();
    }
}
""",
    "docs/guide.md": "# Guide\n\nHow to send a request.\n",
    "docs/retries.md": "# Retries\n\nA request is sent three times.\n",
    "examples/quickstart.py": "from shop.sessions import Session\n\nSession().request('GET', '/')\n",
    "config/settings.yaml": "retries: 3\ntimeout: 30\n",
    "README.md": "# Shop\n\nA shop.\n",
    "CHANGELOG.md": "# Changes\n\n- retries\n",
    "pyproject.toml": "[project]\nname = 'shop'\n",
}
SHOWN = (
    "src/shop/sessions.py",
    "src/shop/retry.py",
    "src/shop/auth.py",
    "src/shop/utils.py",
    "proxy/lb.go",
    "native/pool.rs",
    "web/cart.ts",
    "tests/test_sessions.py",
)
"""What is on screen when a sentence is said."""
MENU = (
    ("src/shop/config.py", "load_config"),
    ("src/shop/config.py", "save_config"),
    ("src/billing/invoices.py", "Invoice.total"),
    ("src/billing/invoices.py", "Invoice.send"),
    ("src/billing/utils.py", "round_money"),
    ("proxy/upstream.go", "Upstream.Provision"),
    ("proxy/upstream.go", "Upstream.ServeHTTP"),
    ("proxy/upstream.go", "dial"),
    ("native/ring.cpp", "Ring.push"),
    ("native/ring.cpp", "Ring.size"),
    ("java/OrderService.java", "OrderService.placeOrder"),
    ("tests/test_retry.py", "TestRetry.test_backoff_grows"),
)
"""What the menu offers, from 1."""
GOAL = "a request that is retried sends its cookies twice"


def make(folder: Path) -> Path:
    """Write the repository, with two commits, and return its folder."""
    write(folder, FILES)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "Add the shop")
    retry = folder / "src/shop/retry.py"
    retry.write_text(f"{retry.read_text()}\n\ndef give_up():\n    return None\n")
    git(folder, "commit", "-qam", "Let a retry give up")
    return folder
