"""Small repositories, an edit of them, and all that a check of it tells."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    files: dict[str, str]
    edits: dict[str, tuple[str, str] | None]
    """Of each file what is replaced by what, all over; None: it is deleted."""
    findings: tuple[str, ...]
    """``path:line kind message`` of each, in order."""
    uncertain: tuple[str, ...] = ()
    """``path:line`` of each place that is not resolved."""
    complete: bool = True
    """Whether the check is complete if it names no such place."""


GO_RESULTS = {
    "go.mod": "module m\n",
    "a.go": "package m\n\nfunc net(s string) string { return s }\n\n"
    "func one(k string) string { return k }\n\nfunc two(k string) (a, b string) { return k, k }\n\n"
    "func pair(a, b string) string { return a + b }\n\n"
    "func many(a string, xs ...string) string { return a }\n",
    "b.go": 'package m\n\nfunc use(k string, xs []string) {\n\tnet(k)\n\tnet(one(k) + "")\n\tnet(one(k))\n'
    "\tnet(strings.TrimSpace(k))\n\tnet(string(k))\n\tpair(two(k))\n\tmany(two(k))\n"
    "\tmany(strings.Cut(k, k))\n\tmany(k, xs...)\n}\n",
}
GROSS = "def gross(amount):\n    return amount * 2\n"
PRICE = f"def net(amount):\n    return amount\n\n\n{GROSS}"
CART = "from price import gross\n\n\ndef total(a):\n    return gross(a)\n"
MOVED = {"price.py": PRICE, "tax.py": "", "cart.py": CART}
SHAPE = "class Shape:\n    def area(self, unit):\n        return 0\n"
CASES: dict[str, Case] = {
    "python-renamed": Case(
        {
            "price.py": PRICE,
            "cart.py": "from price import gross, net\n\n\ndef total(a):\n    return gross(a) + net(gross(1))\n\n\ndef more():\n    return gross(2)\n",
        },
        {"price.py": ("def gross", "def with_tax")},
        (
            "cart.py:1 gone-name `gross` is now `with_tax`",
            "cart.py:5 gone-name `gross` is now `with_tax`",
            "cart.py:9 gone-name `gross` is now `with_tax`",
        ),
    ),
    "python-moved": Case(
        MOVED,
        {"price.py": (GROSS, "\n"), "tax.py": ("", GROSS)},
        (
            "cart.py:1 gone-name `gross` moved from price.py to tax.py",
            "cart.py:5 gone-name `gross` moved from price.py to tax.py",
        ),
    ),
    "python-module-deleted": Case(
        {
            "price.py": PRICE,
            "cart.py": "import os\nimport price\n\n\ndef total(a):\n    return price.net(a)\n",
        },
        {"price.py": None},
        (
            "cart.py:2 gone-name it imports price.py, which was removed",
            "cart.py:6 gone-name `net` was removed from price.py",
        ),
    ),
    "python-more-parameters": Case(
        {
            "price.py": PRICE,
            "cart.py": "from price import net\n\n\ndef total(a):\n    return net(a) + net(1)\n\n\ndef fine(*a):\n    return net(*a)\n",
        },
        {"price.py": ("def net(amount)", "def net(amount, rate)")},
        ("cart.py:5 arguments the call of `net` does not fit: `rate` is missing",),
        ("cart.py:9",),
    ),
    "go-results-of-a-call-as-arguments": Case(
        GO_RESULTS,
        {"a.go": ("net(s string)", "net(s string, keep bool)")},
        tuple(
            f"b.go:{line} arguments the call of `net` does not fit: `keep` is missing" for line in range(4, 9)
        ),
    ),
    "go-results-that-fit-one-parameter-less": Case(
        GO_RESULTS,
        {"a.go": ("pair(a, b string)", "pair(a, b, c string)")},
        ("b.go:9 arguments the call of `pair` does not fit: `c` is missing",),
    ),
    "go-results-for-renamed-parameters": Case(GO_RESULTS, {"a.go": ("pair(a, b", "pair(left, right")}, ()),
    "go-results-for-a-variadic-function": Case(
        GO_RESULTS,
        {"a.go": ("many(a string,", "many(a, b, c string,")},
        ("b.go:10 arguments the call of `many` does not fit: `c` is missing",),
        ("b.go:11", "b.go:12"),
    ),
    "go-results-in-an-edited-call": Case(
        GO_RESULTS,
        {"a.go": ("net(s string)", "net(s string, keep bool)"), "b.go": ("\tnet(", "\tgo net(")},
        tuple(
            f"b.go:{line} arguments the call of `net` does not fit: `keep` is missing"
            for line in (4, 5, 6, 8)
        ),
        ("b.go:7",),
    ),
    "python-constructor-that-a-class-inherits": Case(
        {
            "a.py": "class Till:\n    def __init__(self, n):\n        self.n = n\n",
            "b.py": "from a import Till\n\n\nclass Box(Till):\n    pass\n\n\nclass Own(Till):\n"
            "    def __init__(self):\n        self.n = 1\n\n\nBox(1)\nOwn()\n",
        },
        {"a.py": ("self, n)", "self, n, m)")},
        ("b.py:13 arguments the call of `Till.__init__` does not fit: `m` is missing",),
    ),
    "python-more-parameters-with-a-default": Case(
        {"price.py": PRICE, "cart.py": "from price import net\n\nnet(1)\n"},
        {"price.py": ("def net(amount)", "def net(amount, rate=1, *, kind=None)")},
        (),
    ),
    "python-keyword-renamed": Case(
        {"price.py": PRICE, "cart.py": "from price import net\n\nnet(amount=1)\nnet(2)\n"},
        {"price.py": ("amount", "value")},
        ("cart.py:3 arguments the call of `net` does not fit: it takes no `amount`",),
    ),
    "python-override-kept": Case(
        {
            "shape.py": SHAPE,
            "square.py": "from shape import Shape\n\n\nclass Square(Shape):\n    def area(self, unit):\n        return 1\n",
        },
        {"shape.py": ("def area(self, unit)", "def area(self, unit, scale)")},
        ("square.py:5 override it overrides `Shape.area` and still has its old parameters",),
    ),
    "python-new-call-of-nothing": Case(
        {"price.py": PRICE, "cart.py": "from price import net\n\n\ndef total(a):\n    return net(a)\n"},
        {"cart.py": ("net(a)", "nett(a) + net()")},
        (
            "cart.py:5 undefined-name `nett` is defined nowhere in this file, and not imported",
            "cart.py:5 arguments the call of `net` does not fit: `amount` is missing",
        ),
    ),
    "python-new-import-of-nothing": Case(
        {"shop/price.py": PRICE, "shop/cart.py": "A = 1\n"},
        {"shop/cart.py": ("A = 1", "from .price import tax\nA = tax(1)")},
        ("shop/cart.py:1 undefined-name it imports `tax`, which shop/price.py does not define",),
    ),
    "python-new-import-of-a-module": Case(
        {"shop/__init__.py": "", "shop/price.py": PRICE, "shop/deep/__init__.py": "", "use.py": "A = 1\n"},
        {"use.py": ("A = 1", "from shop import deep, price\nA = price.net(1), deep")},
        (),
    ),
    "python-broken": Case(
        {"price.py": PRICE},
        {"price.py": ("def net(amount):", "def net(amount:")},
        ("price.py:1 unparsed it does not parse from here on",),
        complete=False,
    ),
    "merge-marks": Case(
        {"notes.txt": "one\ntwo\n"},
        {"notes.txt": ("two", "<<<<<<< HEAD\ntwo\n=======\nthree\n>>>>>>> other")},
        ("notes.txt:2 unparsed it contains merge markers",),
    ),
    "template-renamed": Case(
        {
            "app.py": "def page(render):\n    return render('mail/welcome.html')\n",
            "templates/mail/welcome.html": "<p>Hello</p>\n",
        },
        {"templates/mail/welcome.html": None},
        ("app.py:2 text it names the file templates/mail/welcome.html, and it was removed",),
        complete=False,
    ),
    "go": Case(
        {
            "go.mod": "module m\n",
            "p/a.go": "package p\n\nfunc Add(a int) int { return a }\n\nfunc Old() {}\n",
            "p/b.go": "package p\n\nfunc Use() {\n\tAdd(1)\n\tOld()\n}\n",
            "q/c.go": 'package q\n\nimport "m/p"\n\nfunc Far() { p.Add(2) }\n',
        },
        {"p/a.go": ("a int) int { return a }\n\nfunc Old", "a int, b int) int { return a }\n\nfunc Fresh")},
        (
            "p/b.go:5 gone-name `Old` is now `Fresh`",
            "p/b.go:4 arguments the call of `Add` does not fit: `b` is missing",
            "q/c.go:5 arguments the call of `Add` does not fit: `b` is missing",
        ),
    ),
    "java-overload": Case(
        {
            "p/Price.java": "package p;\npublic class Price {\n    int net(int a) {\n        return a;\n    }\n    int net(int a, int b) {\n        return a;\n    }\n}\n",
            "p/Cart.java": "package p;\nclass Cart {\n    int total(Price price) {\n        return price.net(1) + price.net(1, 2);\n    }\n}\n",
        },
        {"p/Price.java": ("int a, int b", "int a, int b, int c")},
        ("p/Cart.java:4 arguments the call of `Price.net` does not fit: `c` is missing",),
    ),
    "java-interface-and-moved": Case(
        {
            "p/Shape.java": "package p;\ninterface Shape {\n    int area();\n}\n",
            "p/Square.java": "package p;\nclass Square implements Shape {\n    @Override\n    public int area() {\n        return 1;\n    }\n}\n",
        },
        {"p/Shape.java": ("int area();", "int size();\n    int sides();")},
        (
            "p/Square.java:2 override it implements `Shape` and lacks its new `size`",
            "p/Square.java:2 override it implements `Shape` and lacks its new `sides`",
            "p/Square.java:4 override it overrides `Shape.area`, which was removed",
        ),
    ),
    "kotlin": Case(
        {
            "Price.kt": "package p\n\nfun net(a: Int, b: Int = 1): Int = a\n",
            "Cart.kt": "package p\n\nfun total(): Int = net(1) + net(a = 1)\n",
        },
        {"Price.kt": ("a: Int, b: Int = 1", "value: Int, b: Int")},
        ("Cart.kt:3 arguments the call of `net` does not fit: `b` is missing",),
    ),
    "typescript": Case(
        {
            "price.ts": "export function net(a: number, b?: number) {\n  return a;\n}\nexport const gross = (a: number) => a;\n",
            "cart.ts": "import { gross, net } from './price';\nexport function total() {\n  return net(1) + gross(2);\n}\n",
        },
        {"price.ts": ("a: number, b?: number", "a: number, b: number, c?: number")},
        ("cart.ts:3 arguments the call of `net` does not fit: `b` is missing",),
    ),
    "typescript-type-that-is-a-parameter-now": Case(
        {"a.ts": "export type State = number\nexport function f(a: State): State {\n  return a\n}\n"},
        {"a.ts": ("export type State = number\nexport function f(", "export function f<S, State = S>(")},
        (),
        complete=False,
    ),
    "go-types-are-not-compared": Case(
        {
            "a.go": "package a\n\ntype Handler func(int)\n\nfunc Find(key string) string {\n\treturn key\n}\n",
            "b.go": 'package a\n\nfunc use() string {\n\treturn Find("a")\n}\n',
        },
        {"a.go": ("key string) string", "key int) string")},
        (),
        complete=False,
    ),
    "go-type-of-a-function-is-not-compared": Case(
        {
            "a.go": "package a\n\ntype Handler func(int)\n\nfunc run(h Handler) {\n\th(1)\n}\n",
        },
        {"a.go": ("func(int)", "func(int) error")},
        (),
        complete=False,
    ),
    "go-parameters-that-are-named-anew": Case(
        {
            "a.go": "package a\n\nfunc Pair(a, b string, n int) string {\n\treturn a + b\n}\n",
            "b.go": 'package a\n\nfunc use() string {\n\treturn Pair("a", "b", 1)\n}\n',
        },
        {"a.go": ("a, b string, n int", "one string, two string, n int")},
        (),
    ),
    "javascript-fewer-are-given": Case(
        {
            "price.js": "export function net(a) {\n  return a\n}\n",
            "cart.js": "import { net } from './price.js'\nnet(1)\n",
        },
        {"price.js": ("net(a)", "net(a, options)")},
        (),
        ("cart.js:2",),
    ),
    "javascript-removed-in-front": Case(
        {
            "price.js": "export function net(shop, a) {\n  return a\n}\n",
            "cart.js": "import { net } from './price.js'\nnet(1, 2)\n",
        },
        {"price.js": ("net(shop, a)", "net(a)")},
        ("cart.js:2 arguments the call of `net` does not fit: expected 1 argument, got 2",),
    ),
    "c-prototype-kept": Case(
        {
            "net.h": "void reply(int a);\n",
            "net.c": '#include "net.h"\nvoid reply(int a) {\n}\n',
            "use.c": '#include "net.h"\nvoid use(void) {\n    reply(1);\n}\n',
        },
        {"net.c": ("void reply", "void answer")},
        ("net.h:1 gone-name `reply` is now `answer`", "use.c:3 gone-name `reply` is now `answer`"),
    ),
    "c-prototype-of-other-values": Case(
        {
            "net.h": "#ifndef NET_H\nvoid log(const char *, ...) printflike(1, 2);\nvoid reply(int a,\n    char b);\n#endif\n",
            "net.c": '#include "net.h"\nvoid reply(int a, char b) {\n}\n',
        },
        {"net.c": ("char b)", "char b, int c)")},
        ("net.h:3 override it declares a function whose parameters changed",),
    ),
    "python-function-within-another": Case(
        {
            "a.py": "def outer(a):\n    def helper(b):\n        return b\n\n    if a:\n        helper(a)\n    return 1\n"
        },
        {"a.py": ("    def helper(b):\n        return b\n\n", "")},
        ("a.py:3 gone-name `outer.helper` was removed from a.py",),
    ),
    "python-given-on-access": Case(
        {"a.py": "class Old: ...\n", "b.py": "import a\n\n\ndef f():\n    return a.Old()\n"},
        {"a.py": ("class Old: ...\n", "def __getattr__(name):\n    return 1\n")},
        (),
    ),
    "rust-a-removed-function-and-a-local-of-its-name": Case(
        {
            "Cargo.toml": '[package]\nname = "x"\n',
            "src/lib.rs": "fn map(a: u8) -> u8 {\n    a\n}\n\npub fn f(a: u8) -> u8 {\n    let map = map(a);\n    map\n}\n",
        },
        {
            "src/lib.rs": (
                "fn map(a: u8) -> u8 {\n    a\n}\n\npub fn f(a: u8) -> u8 {\n    let map = map(a);\n",
                "pub fn f(a: u8) -> u8 {\n    let other = a;\n",
            )
        },
        ("src/lib.rs:3 gone-name `map` was removed from src/lib.rs",),
    ),
    "javascript-a-member-of-what-is-required": Case(
        {
            "lib/price.js": "exports.gross = function (a) {\n  return a\n}\n",
            "lib/cart.js": "var gross = require('./price').gross\n\nmodule.exports.total = function (a) {\n  return gross(a)\n}\n",
        },
        {"lib/price.js": ("exports.gross", "exports.withTax")},
        (
            "lib/cart.js:1 gone-name `gross` is now `withTax`",
            "lib/cart.js:4 gone-name `gross` is now `withTax`",
        ),
    ),
    "rust-handed-on-by-the-old-name": Case(
        {
            "Cargo.toml": '[package]\nname = "a"\n',
            "src/lib.rs": "mod error;\nmod form;\npub use self::{error::FormError, form::run};\n",
            "src/error.rs": "pub enum FormError {\n    Missing,\n}\n",
            "src/form.rs": "use crate::{\n    error, FormError,\n};\n\npub fn run() -> Result<(), FormError> {\n    Err(FormError::Missing)\n}\n\npub fn made() -> FormError {\n    FormError::of(1)\n}\n",
        },
        {"src/error.rs": ("FormError", "Error"), "src/lib.rs": ("FormError", "Error as FormError")},
        (),
    ),
    "typescript-handed-on": Case(
        {
            "a.ts": "export interface Old {\n  b: string;\n}\n",
            "index.ts": "export { Old } from './a';\n",
            "use.ts": "import { Old } from './index';\n\nexport function f(a: Old) {\n  return a;\n}\n",
        },
        {"a.ts": ("Old", "New"), "index.ts": ("Old", "New")},
        (
            "use.ts:1 gone-name `Old` is now `New`",
            "use.ts:3 gone-name `Old` is now `New`",
        ),
    ),
    "rust": Case(
        {
            "Cargo.toml": '[package]\nname = "x"\n',
            "src/lib.rs": "mod price;\nmod cart;\n",
            "src/price.rs": "pub struct Price;\n\nimpl Price {\n    pub fn net(&self, a: u8) -> u8 {\n        a\n    }\n}\n",
            "src/cart.rs": "use crate::price::Price;\n\npub fn total(price: Price) -> u8 {\n    price.net(1) + Price::net(&price, 2)\n}\n",
        },
        {"src/price.rs": ("a: u8", "a: u8, b: u8")},
        ("src/cart.rs:4 arguments the call of `Price.net` does not fit: `b` is missing",),
    ),
    "php": Case(
        {
            "src/Price.php": "<?php\nnamespace A;\nclass Price {\n    public function net(int $a) {\n        return $a;\n    }\n}\n",
            "src/Cart.php": "<?php\nnamespace A;\nclass Cart {\n    public function total(Price $price) {\n        return $price->net(1);\n    }\n}\n",
        },
        {"src/Price.php": ("int $a)", "int $a, int $b)")},
        ("src/Cart.php:5 arguments the call of `Price.net` does not fit: `b` is missing",),
    ),
    "ruby": Case(
        {
            "price.rb": "class Price\n  def net(a)\n    a\n  end\n\n  def self.made(a)\n    new\n  end\nend\n",
            "cart.rb": "class Cart\n  def total\n    Price.made(1)\n  end\nend\n",
        },
        {"price.rb": ("self.made(a)", "self.made(a, kind:)")},
        ("cart.rb:3 arguments the call of `Price.made` does not fit: `kind` is missing",),
    ),
    "javascript-a-local-that-is-gone": Case(
        {
            "a.js": "exports.make = function make() {\n  let stop = null;\n  stop = () => 1;\n  return () => {\n    if (stop) {\n      stop();\n    }\n  };\n}\n"
        },
        {"a.js": ("  let stop = null;\n  stop = () => 1;\n", "")},
        (
            "a.js:3 gone-name `make.stop` was removed from a.js",
            "a.js:4 gone-name `make.stop` was removed from a.js",
        ),
    ),
    "javascript-a-constant-that-functions-bind-now": Case(
        {
            "a.js": "const root = 1;\n\nfunction size(at) {\n  return at.length + root;\n}\nexports.size = size;\n"
        },
        {
            "a.js": (
                "const root = 1;\n\nfunction size(at) {\n",
                "function size(at) {\n  const root = at.root;\n",
            )
        },
        (),
    ),
    "javascript-a-call-that-was-edited": Case(
        {
            "a.js": "function put(a, b, c) {\n  return a;\n}\nexports.all = (x) => {\n  put(1, x, 2);\n  put(\n    1, x,\n    3\n  );\n};\n"
        },
        {
            "a.js": (
                "a, b, c) {\n  return a;\n}\nexports.all = (x) => {\n  put(1, x, 2);\n  put(\n    1, x,",
                "a, c) {\n  return a;\n}\nexports.all = (x) => {\n  put(1, 2);\n  put(\n    1,",
            )
        },
        (),
    ),
    "a-file-that-was-built-from-others": Case(
        {
            "a.js": "export function net(a) {\n  return a;\n}\n",
            "dist/b.js": "import { net } from '../a.js';\nnet(1);\n",
        },
        {"a.js": ("net", "gross")},
        (),
    ),
    "typescript-new-names-of-nothing": Case(
        {
            "a.ts": "export function net(a: number) {\n  return a;\n}\n",
            "b.ts": "import { net } from './a';\nexport function total() {\n  return net(1);\n}\n",
        },
        {"b.ts": ("net", "gross")},
        ("b.ts:1 undefined-name it imports `gross`, which a.ts does not define",),
    ),
    "typescript-new-call-of-nothing": Case(
        {
            "b.ts": "export function total(done: () => void) {\n  done();\n  setTimeout(done);\n  return 1;\n}\n"
        },
        {"b.ts": ("return 1", "return gross(1)")},
        ("b.ts:4 undefined-name `gross` is defined nowhere in this file, and not imported",),
    ),
    "go-new-call-of-nothing": Case(
        {
            "go.mod": "module m\n",
            "a.go": "package m\n\nfunc net(a int) int { return a }\n",
            "b.go": "package m\n\nfunc total() int { return 1 }\n",
            "c.go": "package m\n\nfunc other() int { return 1 }\n",
        },
        {"b.go": ("return 1", "return gross(1)"), "c.go": ("return 1", "return len(make([]int, net(1)))")},
        ("b.go:3 undefined-name `gross` is defined nowhere in this package, and not imported",),
    ),
    "rust-new-call-of-nothing": Case(
        {
            "Cargo.toml": '[package]\nname = "m"\n',
            "src/lib.rs": "pub fn net(a: u8) -> u8 {\n    a\n}\n\npub fn total() -> u8 {\n    1\n}\n",
        },
        {"src/lib.rs": ("    1\n", "    drop(net(1));\n    gross(1)\n")},
        ("src/lib.rs:7 undefined-name `gross` is defined nowhere in this file, and not imported",),
    ),
    "rust-new-call-of-a-method-whose-self-has-a-lifetime": Case(
        {
            "Cargo.toml": '[package]\nname = "m"\n',
            "src/lib.rs": "pub struct Walk;\n\nimpl Walk {\n    pub fn begin<'a>(&'a self) -> u8 {\n        1\n    }\n}\n\npub fn total(walk: &Walk) -> u8 {\n    1\n}\n",
        },
        {"src/lib.rs": ("u8 {\n    1\n", "u8 {\n    walk.begin()\n")},
        (),
    ),
    "java-new-call-of-nothing": Case(
        {
            "p/A.java": "package p;\nimport static q.Tools.made;\nclass A {\n    int total() {\n        return 1;\n    }\n}\n",
        },
        {"p/A.java": ("return 1", "return made(gross(1))")},
        ("p/A.java:5 undefined-name `gross` is defined nowhere in this tree, and not imported",),
    ),
    "python-new-abstract-method": Case(
        {
            "a.py": "import abc\n\n\nclass Shape(abc.ABC):\n    @abc.abstractmethod\n    def area(self): ...\n",
            "b.py": "from a import Shape\n\n\nclass Square(Shape):\n    def area(self):\n        return 1\n",
        },
        {"a.py": ("area(self): ...", "area(self): ...\n    @abc.abstractmethod\n    def size(self): ...")},
        ("b.py:4 override it implements `Shape` and lacks its new `size`",),
    ),
    "typescript-interface": Case(
        {
            "a.ts": "export interface Shape {\n  area(): number;\n}\n",
            "b.ts": "import { Shape } from './a';\nexport class Square implements Shape {\n  area() {\n    return 1;\n  }\n}\n",
        },
        {"a.ts": ("number;\n", "number;\n  size(): number;\n  more?(): number;\n")},
        ("b.ts:2 override it implements `Shape` and lacks its new `size`",),
    ),
    "cpp-marked-as-overriding": Case(
        {
            "a.hpp": "class Shape {\npublic:\n    virtual int area(int unit) { return unit; }\n};\n",
            "b.hpp": '#include "a.hpp"\nclass Square : public Shape {\npublic:\n    int area(int unit) override { return 2; }\n};\n',
        },
        {"a.hpp": ("int unit", "int unit, int of")},
        ("b.hpp:4 override it overrides `Shape.area` and still has its old parameters",),
    ),
    "kotlin-interface": Case(
        {
            "p/A.kt": "package p\n\ninterface Shape {\n    fun area(): Int\n}\n",
            "p/B.kt": "package p\n\nclass Square : Shape {\n    override fun area(): Int {\n        return 1\n    }\n}\n",
        },
        {"p/A.kt": ("fun area(): Int\n", "fun area(): Int\n    fun size(): Int\n    fun more(): Int = 1\n")},
        ("p/B.kt:3 override it implements `Shape` and lacks its new `size`",),
    ),
    "python-more-parameters-of-a-method-of-what-nothing-resolves": Case(
        {
            "a.py": "class Cart:\n    def add(self, a):\n        return a\n",
            "b.py": "def fill(cart, names):\n    cart.add(1)\n    cart.add(1, 2)\n    for name in names:\n        name.add(2)\n        Other.add(3)\n",
        },
        {"a.py": ("self, a", "self, a, b")},
        (),
        ("b.py:2", "b.py:3", "b.py:5"),
    ),
    "javascript-a-constant-that-no-other-file-sees": Case(
        {
            "a.js": "const file = require('./c');\nexports.a = () => 1;\n",
            "b.js": "const one = require('./a');\nexports.b = (x) => one.file + x.file;\n",
            "c.js": "exports.file = 1;\n",
        },
        {"a.js": ("const file = require('./c');\n", "")},
        (),
    ),
    "javascript-a-constant-that-another-file-may-see": Case(
        {
            "a.js": "const { file } = require('./c');\nconst colour = 1;\nmodule.exports = { colour, file };\n",
            "b.js": "const one = require('./a');\nexports.b = () => one.colour;\n",
            "c.js": "exports.file = 1;\nexports.other = { colour: 2 };\n",
        },
        {"a.js": ("const colour = 1;\nmodule.exports = { colour, file }", "module.exports = { file }")},
        (),
        ("b.js:2",),
    ),
    "python-a-parameter-in-front-of-one-that-is-given": Case(
        {
            "a.py": "def net(a, b=1):\n    return a\n\n\ndef total():\n    net(1)\n    net(1, b=2)\n    return net(1, 2)\n"
        },
        {"a.py": ("a, b=1", "a, c=0, b=1")},
        (),
        ("a.py:8",),
    ),
    "python-handed-on-as-a-value": Case(
        {
            "a.py": "def net(a):\n    return a\n",
            "test_a.py": "import pytest\nimport a\nfrom a import net\n\n\ndef test_net():\n    pytest.raises(ValueError, net, 1)\n    pytest.raises(ValueError, a.net, 1)\n    pytest.raises(ValueError, net, 1, 2)\n    net(1, 2)\n",
        },
        {"a.py": ("(a)", "(a, b)"), "test_a.py": ("net(1, 2)", "net(2, 3)")},
        (),
        ("test_a.py:7", "test_a.py:8", "test_a.py:9"),
    ),
    "javascript-handed-on-as-a-value": Case(
        {
            "a.js": "function net(a) {\n  return a;\n}\nmodule.exports = { net };\nexports.more = net;\n",
            "b.js": "const { net } = require('./a');\n[1].map(net);\n",
        },
        {"a.js": ("(a)", "(a, b)")},
        (),
        ("b.js:2",),
    ),
    "python-moved-and-exported-from-where-it-was": Case(
        MOVED, {"price.py": (GROSS, "from tax import gross\n"), "tax.py": ("", GROSS)}, ()
    ),
    "python-an-object-of-another-class-now": Case(
        {
            "a.py": "class Own:\n    def close(self):\n        pass\n\n    def go(self):\n        pass\n",
            "b.py": "from a import Own\n\n\ndef f(name):\n    it = Own()\n    it.close()\n",
        },
        {"a.py": ("    def close(self):\n        pass\n\n", ""), "b.py": ("it = Own()", "it = open(name)")},
        (),
    ),
}
