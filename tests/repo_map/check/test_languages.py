"""What a check reports of edits whose users are in components, strings, or behind a module's exports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo_map.check.edit_cases import Case
from tests.repo_map.check.test_check import check, described, edited, uncertain

TOAST = "export function raise(text: string, seconds = 4) {}\nexport const limit = 3\n"
VUE = """<template>
  <order-line v-for="row in rows" :key="row.id" @gone="raise(row.id)" />
  <p :title="`${limit}`">{{ limit }}</p>
</template>

<script setup lang="ts">
import OrderLine from './OrderLine.vue'
import { raise, limit } from '@/toast'
const drop = () => {
  raise('gone')
}
</script>
"""
SVELTE = """<script lang="ts">
  import { raise, limit } from './toast'
</script>
{#if limit > 2}<p on:click={() => raise('x')}>{limit}</p>{/if}
"""
COMPONENTS = {
    "src/toast.ts": TOAST,
    "src/Panel.vue": VUE,
    "src/OrderLine.vue": "<template><li></li></template>\n",
    "src/Row.svelte": SVELTE,
    "tsconfig.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"]}}}',
}
SCRIPTS = {
    "src/a.ts": "export function foo(x: number) { return x }\nexport const limit = 3\n",
    "src/index.ts": "export * from './a'\n",
    "src/u.ts": "import { foo, limit } from './index'\nexport function g() { return foo(limit) }\n",
    "src/v.ts": "import * as m from './a'\nm.foo(1)\n",
}
COMMON = {
    "lib/order.js": "const closeOrder = (id) => id\nconst openOrder = (id) => ({ id })\n"
    "module.exports = { closeOrder, open: openOrder }\n"
    "module.exports.again = function again(id) { return openOrder(id) }\n",
    "lib/audit.js": "exports.note = function (w) { console.log(w) }\n",
    "lib/index.js": "module.exports = {\n  orders: require('./order'),\n  ...require('./audit'),\n}\n",
    "routes.js": "const svc = require('./lib/order')\nconst { note } = require('./lib/audit')\n"
    "const lib = require('./lib')\nconst closer = require('./lib/order').closeOrder\n"
    "module.exports = () => {\n  svc.closeOrder(1)\n  svc.open(2); note('x')\n  lib.orders.again(3)\n"
    "  closer(4)\n  lib.note('y')\n}\n",
}
SHOP = {
    "shop/__init__.py": "from .pay import charge, Till\n",
    "shop/pay.py": "__all__ = ['charge', 'Till']\n\n\ndef charge(c):\n    return c\n\n\nclass Till:\n    pass\n",
    "use.py": "from shop import charge\nimport shop\n\n\ndef f():\n    return charge(1), shop.Till()\n",
    "star.py": "from shop.pay import *\n\n\ndef g():\n    return charge(2)\n",
}
CRATE = {
    "Cargo.toml": "[package]\nname='a'\n",
    "src/lib.rs": "mod pay;\npub mod ui;\npub use pay::charge;\n",
    "src/pay.rs": "pub fn charge(x: u8) -> u8 { x }\n",
    "src/ui.rs": "use crate::charge as c;\npub fn f() { crate::pay::charge(1); c(2); }\n",
}
PACKAGE = {
    "m/package.json": '{"name": "@s/m", "imports": {"#int/*": "./src/*.ts"}, '
    '"exports": {".": "./dist/index.js", "./round": {"import": "./src/r.ts"}}}',
    "m/src/index.ts": "export function a() {}\n",
    "m/src/r.ts": "import { a } from '#int/index'\nexport function r() { a() }\n",
    "app/package.json": '{"name":"app","dependencies":{"@s/m":"workspace:*"}}',
    "app/x.ts": "import { a } from '@s/m'\nimport { r } from '@s/m/round'\na(); r()\n",
}


def lost(name: str, module: str, *places: str) -> tuple[str, ...]:
    return tuple(f"{place} gone-name `{name}` is no longer offered by {module}" for place in places)


def hidden(name: str, *places: str) -> tuple[str, ...]:
    message = f"`{name}` can't be used here any more: its visibility was reduced"
    return tuple(f"{place} gone-name {message}" for place in places)


PATHS = {
    "shop/__init__.py": "",
    "shop/pay.py": "def charge(c):\n    return c\n\n\nclass Till:\n    def open(self):\n        return 1\n",
    "tests/test_pay.py": "from unittest.mock import patch\n\n\n@patch('shop.pay.charge', return_value=3)\n"
    "def test_buy(fake):\n    pass\n\n\ndef test_open(monkeypatch):\n"
    "    monkeypatch.setattr('shop.pay.Till.open', 1)\n",
    "pyproject.toml": '[project.scripts]\n# shop.pay:charge\npay = "shop.pay:charge"\n',
    "setup.cfg": "[options.entry_points]\nshop =\n    pay = shop.pay:charge\n",
    "shop/settings.py": "BEAT = {'task': 'shop.pay.charge'}\nOTHER = 'other.pay.charge'\n",
    "README.md": "See `shop.pay.charge`.\n",
}
ACTION = {
    "src/main/java/com/shop/Pay.java": "package com.shop;\npublic class Pay {\n    void charge() {}\n}\n",
    "src/main/resources/jobs.xml": '<job class="com.shop.Pay" method="x"/>\n',
    "src/main/resources/jobs.yaml": "job: com.shop.Pay\n",
}
TILL = {
    "pay.py": "def charge(cents):\n    return cents\n\n\ndef pair():\n    return 1, 2\n\n\nclass Till:\n"
    "    def open(self, code):\n        return code\n\n    @property\n    def balance(self):\n        return 3\n\n"
    "    def rows(self):\n        return [1]\n",
    "use.py": "from pay import Till, charge, pair\n\n\nasync def close(till: Till):\n    rows = till.rows()\n"
    "    total = charge(3)\n    a, b = pair()\n    await till.open(1)\n    return till.balance + 1, rows\n",
    "till.html": "<p>{{ till.balance }}</p>\n",
}
BOX = {
    "a.ts": "export class A {\n  get size() { return 1 }\n  run() { return 2 }\n  len = 3\n}\n"
    "export function f() { return 1 }\n",
    "b.ts": "import { A, f } from './a'\nconst a = new A()\nconsole.log(a.size)\nconsole.log(a.run())\n"
    "console.log(a.len)\nconst x = f()\n",
}
SUM = {
    "a.go": "package a\n\nfunc F() (int, error) { return 1, nil }\n",
    "b.go": "package a\n\nfunc h() int {\n\ty, _ := F()\n\treturn y\n}\n",
}


def misused(place: str, name: str, error: str) -> tuple[str, ...]:
    return (f"{place} arguments the use of `{name}` does not fit: {error}",)


CASES = {
    "script-local-that-shadows-an-import": Case(
        {
            "a.test.ts": "import { make } from 'lib'\nit('a', () => {\n  const make = () => 1\n  make()\n})\n"
            "it('b', () => {\n})\n"
        },
        {"a.test.ts": ("it('b', () => {\n", "it('b', () => {\n  make(1)\n")},
        (),
    ),
    "script-global": Case(
        {"a.js": "import x from 'x'\nx(defineTest({}))\n", "b.js": "import x from 'x'\nx(1)\n"},
        {"b.js": ("x(1)", "x(defineTest({ a: 1 }))")},
        (),
    ),
    "python-async": Case(
        TILL,
        {"pay.py": ("def charge", "async def charge")},
        misused("use.py:6", "charge", "it is async now, and is not awaited"),
    ),
    "python-async-and-awaited": Case(TILL, {"pay.py": ("    def open", "    async def open")}, ()),
    "python-method-to-property": Case(
        TILL,
        {"pay.py": ("    def open", "    @property\n    def open")},
        misused("use.py:8", "Till.open", "it is a property now"),
    ),
    "python-property-to-method": Case(
        TILL, {"pay.py": ("    @property\n", "")}, (), uncertain=("use.py:9", "till.html:1")
    ),
    "python-generator": Case(TILL, {"pay.py": ("return [1]", "yield 1")}, (), uncertain=("use.py:5",)),
    "python-tuple": Case(
        TILL,
        {"pay.py": ("return 1, 2", "return 1, 2, 3")},
        misused("use.py:7", "pair", "it returns 3 values now"),
    ),
    "typescript-async": Case(
        BOX, {"a.ts": ("export function", "export async function")}, (), uncertain=("b.ts:6",)
    ),
    "typescript-getter-to-method": Case(
        BOX, {"a.ts": ("get size", "size")}, misused("b.ts:3", "A.size", "it is a method now")
    ),
    "typescript-method-to-getter": Case(
        BOX, {"a.ts": ("run()", "get run()")}, misused("b.ts:4", "A.run", "it is a property now")
    ),
    "typescript-field-to-method": Case(
        BOX, {"a.ts": ("len = 3", "len() { return 3 }")}, misused("b.ts:5", "A.len", "it is a method now")
    ),
    "go-values": Case(
        SUM,
        {"a.go": ("(int, error) { return 1, nil }", "int { return 1 }")},
        misused("b.go:4", "F", "it returns 1 value now"),
    ),
    "kotlin-suspend": Case(
        {"a.kt": "package p\nfun f(): Int = 1\n", "b.kt": "package p\nfun g() = f()\n"},
        {"a.kt": ("fun f", "suspend fun f")},
        (),
        uncertain=("b.kt:2",),
    ),
    "string-with-path": Case(
        PATHS,
        {"shop/pay.py": ("def charge", "def take")},
        tuple(
            f"{place} gone-name `charge` is now `take`"
            for place in ("pyproject.toml:3", "setup.cfg:3", "shop/settings.py:1", "tests/test_pay.py:4")
        ),
        uncertain=("shop/settings.py:2",),
    ),
    "string-with-path-of-method": Case(
        PATHS,
        {"shop/pay.py": ("def open", "def unlock")},
        ("tests/test_pay.py:10 gone-name `Till.open` is now `Till.unlock`",),
    ),
    "string-with-path-of-class": Case(
        ACTION,
        {"src/main/java/com/shop/Pay.java": ("class Pay", "class Till")},
        tuple(
            f"src/main/resources/jobs.{place} gone-name `Pay` is now `Till`" for place in ("xml:1", "yaml:1")
        ),
    ),
    "script-export-removed": Case(
        SCRIPTS,
        {"src/a.ts": ("export function", "function")},
        (
            *lost("foo", "src/index.ts", "src/u.ts:1"),
            *lost("foo", "src/a.ts", "src/u.ts:2", "src/v.ts:2"),
        ),
    ),
    "script-star-removed": Case(
        SCRIPTS,
        {"src/index.ts": ("export * from './a'", "export {}")},
        tuple(
            each
            for line in (1, 2)
            for name in ("foo", "limit")
            for each in lost(name, "src/index.ts", f"src/u.ts:{line}")
        ),
    ),
    "script-alias-renamed": Case(
        SCRIPTS
        | {
            "src/index.ts": "export { foo as bar } from './a'\n",
            "src/u.ts": "import { bar as b } from './index'\nexport function g() { return b(1) }\n",
        },
        {"src/index.ts": ("bar", "baz")},
        lost("bar", "src/index.ts", "src/u.ts:1", "src/u.ts:2"),
    ),
    "script-default-to-named": Case(
        {"a.ts": "export default function foo() {}\n", "b.ts": "import foo from './a'\nfoo()\n"},
        {"a.ts": ("export default", "export")},
        lost("default", "a.ts", "b.ts:1", "b.ts:2"),
    ),
    "common-shorthand-removed": Case(
        COMMON,
        {"lib/order.js": ("{ closeOrder, ", "{ ")},
        lost("closeOrder", "lib/order.js", "routes.js:4", "routes.js:6", "routes.js:9"),
    ),
    "common-alias-removed": Case(
        COMMON, {"lib/order.js": (", open: openOrder", "")}, lost("open", "lib/order.js", "routes.js:7")
    ),
    "common-property-removed": Case(
        COMMON,
        {"lib/order.js": ("module.exports.again = ", "const again = ")},
        lost("again", "lib/order.js", "routes.js:8"),
    ),
    "common-export-removed": Case(
        COMMON,
        {"lib/audit.js": ("exports.note = ", "const note = ")},
        lost("note", "lib/audit.js", "routes.js:2", "routes.js:7", "routes.js:10"),
    ),
    "common-spread-removed": Case(
        COMMON,
        {"lib/index.js": ("  ...require('./audit'),\n", "")},
        lost("note", "lib/index.js", "routes.js:10"),
    ),
    "common-module-removed": Case(
        COMMON,
        {"lib/index.js": ("  orders: require('./order'),\n", "")},
        (),
        uncertain=("routes.js:8",),
    ),
    "package-subpath-removed": Case(
        PACKAGE,
        {"m/package.json": (', "./round": {"import": "./src/r.ts"}', "")},
        ("app/x.ts:2 gone-name `@s/m/round` leads to no file any more",),
    ),
    "package-import-removed": Case(
        PACKAGE,
        {"m/package.json": ("#int/", "#own/")},
        ("m/src/r.ts:1 gone-name `#int/index` leads to no file any more",),
    ),
    "python-reexport-removed": Case(
        SHOP,
        {"shop/__init__.py": ("charge, Till", "Till")},
        lost("charge", "shop/__init__.py", "use.py:1", "use.py:6"),
    ),
    "python-removed-from-all": Case(
        SHOP,
        {"shop/pay.py": ("'charge', ", "")},
        ("star.py:5 gone-name `charge` is no longer in `__all__` of shop/pay.py",),
    ),
    "rust-pub-removed": Case(
        CRATE,
        {"src/pay.rs": ("pub fn", "fn")},
        hidden("charge", "src/lib.rs:3", "src/ui.rs:1", "src/ui.rs:2"),
    ),
    "rust-pub-use-removed": Case(
        CRATE,
        {"src/lib.rs": ("pub use pay::charge;\n", "")},
        lost("charge", "src/lib.rs", "src/ui.rs:1", "src/ui.rs:2"),
    ),
    "java-private": Case(
        {
            "p/A.java": "package p;\npublic class A {\n    public int net() { return 1; }\n}\n",
            "q/B.java": "package q;\nimport p.A;\nclass B {\n    int f(A a) { return a.net(); }\n}\n",
        },
        {"p/A.java": ("public int", "int")},
        hidden("A.net", "q/B.java:4"),
    ),
    "kotlin-private": Case(
        {"a.kt": "package p\nfun net(): Int = 1\n", "b.kt": "package p\nfun f() { net() }\n"},
        {"a.kt": ("fun net", "private fun net")},
        hidden("net", "b.kt:2"),
    ),
    "typescript-private": Case(
        {
            "a.ts": "export class A {\n  run() { return 1 }\n}\n",
            "b.ts": "import { A } from './a'\nnew A().run()\n",
        },
        {"a.ts": ("  run", "  private run")},
        hidden("A.run", "b.ts:2"),
    ),
    "php-private": Case(
        {
            "A.php": "<?php\nclass A {\n  public function net() { return 1; }\n}\n",
            "b.php": "<?php\nfunction f() { $a = new A(); return $a->net(); }\n",
        },
        {"A.php": ("public", "private")},
        hidden("A.net", "b.php:2"),
    ),
    "ruby-private": Case(
        {
            "a.rb": "class A\n  def net\n    1\n  end\nend\n",
            "b.rb": "require_relative 'a'\nputs A.new.net\n",
        },
        {"a.rb": ("  def net", "  private\n\n  def net")},
        hidden("A.net", "b.rb:2"),
    ),
    "cpp-private": Case(
        {
            "a.h": "class A {\npublic:\n  int net();\n};\n",
            "a.cpp": '#include "a.h"\nint A::net() { return 1; }\n',
            "b.cpp": '#include "a.h"\nint f(A a) { return a.net(); }\n',
        },
        {"a.h": ("public:", "private:")},
        hidden("A.net", "b.cpp:2"),
    ),
    "rust-field": Case(
        {
            "Cargo.toml": "[package]\nname='a'\n",
            "src/lib.rs": "pub mod a;\npub mod b;\n",
            "src/a.rs": "pub struct A { pub net: u8 }\n",
            "src/b.rs": "use crate::a::A;\npub fn f(a: A) -> u8 { a.net }\n",
        },
        {"src/a.rs": ("pub net", "net")},
        (),
        uncertain=("src/b.rs:2",),
    ),
    "kotlin-companion": Case(
        {
            "a.kt": "package p\nclass A {\n    companion object {\n        fun of() = A()\n    }\n}\n",
            "b.kt": "package p\nfun f() = A.of()\n",
        },
        {"a.kt": ("fun of", "private fun of")},
        hidden("A.Companion.of", "b.kt:2"),
    ),
    "c-static": Case(
        {
            "a.c": "int net(int a) { return a; }\n",
            "b.c": "int net(int a);\nint f(void) { return net(1); }\n",
        },
        {"a.c": ("int net", "static int net")},
        hidden("net", "b.c:2"),
    ),
    "component-name-renamed": Case(
        COMPONENTS,
        {"src/toast.ts": ("limit", "most")},
        tuple(
            f"src/{place} gone-name `limit` is no longer offered by src/toast.ts"
            for place in ("Panel.vue:3", "Panel.vue:8", "Row.svelte:2", "Row.svelte:4")
        ),
    ),
    "component-arguments": Case(
        COMPONENTS,
        {"src/toast.ts": ("text: string, seconds = 4", "")},
        tuple(
            f"src/{place} arguments the call of `raise` does not fit: expected 0 arguments, got 1"
            for place in ("Panel.vue:2", "Panel.vue:10", "Row.svelte:4")
        ),
    ),
    "component-deleted": Case(
        COMPONENTS,
        {"src/OrderLine.vue": None},
        ("src/Panel.vue:7 gone-name it imports src/OrderLine.vue, which was removed",),
        ("src/Panel.vue:2",),
    ),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_check_reports_what_an_edit_breaks(tmp_path: Path, name: str) -> None:
    report = check(edited(tmp_path, CASES[name]))
    assert described(report) == CASES[name].findings
    assert uncertain(report) == CASES[name].uncertain
    assert report.complete is not bool(CASES[name].uncertain)
