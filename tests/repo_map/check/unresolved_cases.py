"""Edits whose users no resolver knows: what a check must not call complete."""

from __future__ import annotations

from typing import NamedTuple


class Edit(NamedTuple):
    files: dict[str, str]
    path: str
    """The edited file."""
    old: str
    new: str
    place: str
    """``path:line`` of a use that is named; a path alone for a file that can't be searched."""
    setup: str = ""
    """What git is told after the commit: ``skip`` or ``gone`` and a path, or ``link`` and a folder."""


LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n"
KOTLIN = {
    "A.kt": "class Till {\n    fun settle(n: Int): Int = n\n}\n",
    "B.kt": "fun go(): Int {\n    val x = load()\n    return x.settle(1)\n}\n",
}
RUBY = {"a.rb": "class Till\n  def settle(n)\n    n\n  end\nend\n", "b.rb": "def go(x)\n  x.settle(1)\nend\n"}
PHP = {
    "a.php": "<?php\nclass Till {\n    public function settle(int $n) { return $n; }\n}\n",
    "b.php": "<?php\nfunction go($x) {\n    return $x->settle(1);\n}\n",
}
GROOVY = {"a.groovy": "class Till {\n    int settle(int n) { n }\n}\n", "b.groovy": "new Till().settle(1)\n"}
JULIA = {"a.jl": "settle(n) = n + 1\n", "b.jl": 'include("a.jl")\nsettle(1)\n'}
ERLANG = {"a.erl": "-module(a).\nsettle(N) -> N.\n", "b.erl": "-module(b).\ngo() -> a:settle(1).\n"}
R_CODE = {"a.R": "settle <- function(n) n\n", "b.R": 'source("a.R")\nsettle(1)\n'}
NIM = {"a.nim": "proc settle*(n: int): int = n\n", "b.nim": "import a\necho settle(1)\n"}
PASCAL = {
    "a.pas": "unit a;\nfunction Settle(n: Integer): Integer;\n",
    "b.pas": "uses a;\nbegin\n  Settle(1);\nend.\n",
}
C = {
    "a.c": "int settle(int n) { return n; }\n",
    "m.go": 'package m\n\nimport "C"\n\nfunc Go() { C.settle(1) }\n',
}
RUST = {
    "Cargo.toml": '[package]\nname = "m"\n',
    "src/lib.rs": "pub fn settle(n: u8) -> u8 {\n    n\n}\n",
    "use.py": "import m\n\nm.settle(1)\n",
}
JAVA = {
    "p/Till.java": "package p;\npublic class Till {\n    public int settle(int n) {\n        return n;\n    }\n}\n",
    "p/use.kts": "val till = load()\ntill.settle(1)\n",
}
GO = {"go.mod": "module m\n", "a.go": "package m\n\nfunc Settle(n int) int { return n }\n"}
PYTHON = {"shop/__init__.py": "", "shop/pay.py": "def settle(n):\n    return n\n"}
MEMBER = {"a.py": "class Till:\n    total = 1\n\n    def settle(self, n):\n        return n\n"}
SCRIPT = {"a.js": "export function settle(n) {\n  return n\n}\n"}
FIELD = {"a.ts": "export interface Toast {\n  seconds: number\n}\n"}
SPREAD_PY = {
    "use.py": "from shop.pay import settle\n\nsettle(*xs)\nsettle(**xs)\n\n\n@settle\ndef go():\n    pass\n"
}
SPREAD_JS = {"b.js": "import { settle } from './a'\nsettle(...xs)\nsettle`x`\n"}
MACROS = {
    "a.c": "int settle(int n, int m) { return n; }\n#define BOTH 1, 2\n#define PAY(x) settle(x, 1)\n"
    "int go(void) {\n  return settle(BOTH);\n}\n"
}
RENAMED = ("settle", "payout")
UNRESOLVED: dict[str, dict[str, Edit]] = {
    "removed": {
        "kotlin": Edit(KOTLIN, "A.kt", *RENAMED, "B.kt:3"),
        "ruby-symbol": Edit(RUBY | {"c.rb": "go.send(:settle, 1)\n"}, "a.rb", *RENAMED, "c.rb:1"),
        "php": Edit(PHP, "a.php", *RENAMED, "b.php:3"),
        "groovy": Edit(GROOVY, "a.groovy", *RENAMED, "b.groovy:1"),
        "julia": Edit(JULIA, "a.jl", *RENAMED, "b.jl:2"),
        "erlang": Edit(ERLANG, "a.erl", *RENAMED, "b.erl:2"),
        "r": Edit(R_CODE, "a.R", *RENAMED, "b.R:2"),
        "typescript-field": Edit(
            FIELD | {"b.ts": "import { Toast } from './a'\nexport const t: Toast = {\n  seconds: 1,\n}\n"},
            "a.ts",
            "seconds",
            "delay",
            "b.ts:3",
        ),
    },
    "hidden": {
        "rust": Edit(RUST, "src/lib.rs", "pub fn", "fn", "use.py:3"),
        "java": Edit(JAVA, "p/Till.java", "public int", "private int", "p/use.kts:2"),
        "go": Edit(GO | {"t.tmpl": "{{ .Till.Settle 1 }}\n"}, "a.go", "Settle", "settle", "t.tmpl:1"),
        "nim": Edit(NIM, "a.nim", "settle*", "settle", "b.nim:2"),
        "c-static": Edit(C, "a.c", "int settle", "static int settle", "m.go:5"),
        "pascal": Edit(PASCAL, "a.pas", "Settle", "Inner", "b.pas:3"),
        "typescript-default": Edit(
            {"a.ts": "export default function settle() {}\n", "b.ts": "import pay from './a'\npay()\n"},
            "a.ts",
            "export default ",
            "",
            "b.ts:1",
        ),
        "python-alias": Edit(
            PYTHON
            | {
                "shop/__init__.py": "from .pay import settle as pay\n",
                "use.py": "import shop\n\nshop.pay(1)\n",
            },
            "shop/__init__.py",
            "settle as pay",
            "settle",
            "use.py:3",
        ),
    },
    "signature": {
        "kotlin": Edit(KOTLIN, "A.kt", "n: Int)", "n: Int, m: Int)", "B.kt:3"),
        "ruby": Edit(RUBY, "a.rb", "(n)", "(n, m)", "b.rb:2"),
        "php": Edit(PHP, "a.php", "int $n", "int $n, int $m", "b.php:3"),
        "groovy": Edit(GROOVY, "a.groovy", "int n)", "int n, int m)", "b.groovy:1"),
        "c": Edit(C, "a.c", "int n)", "int n, int m)", "m.go:5"),
        "rust": Edit(RUST, "src/lib.rs", "n: u8", "n: u8, m: u8", "use.py:3"),
        "rust-beside-a-closure-parameter": Edit(
            RUST
            | {
                "src/m.rs": "use crate::settle;\nfn f(v: &[u8]) -> Vec<u8> {\n    v.iter().map(|settle| *settle).collect()\n"
                "}\nfn g() -> u8 {\n    apply(settle)\n}\n"
            },
            "src/lib.rs",
            "n: u8",
            "n: u8, m: u8",
            "src/m.rs:6",
        ),
        "cpp-using-in-a-function": Edit(
            {
                "a.h": "namespace m {\nbool settle(int n);\n}\n",
                "b.cpp": '#include "a.h"\nbool go() {\n    using m::settle;\n    return settle(1);\n}\n',
            },
            "a.h",
            "int n",
            "int n, int m",
            "b.cpp:3",
        ),
        "php-callback-in-its-own-file": Edit(
            {
                "a.php": "<?php\nfunction settle($n) { return $n; }\n\n"
                "function go() {\n    return call_user_func_array('settle', [1]);\n}\n"
            },
            "a.php",
            "($n)",
            "($n, $m)",
            "a.php:5",
        ),
        "python": Edit(
            MEMBER | {"b.py": "def go(x):\n    x.settle(1)\n"}, "a.py", "self, n", "self, n, m", "b.py:2"
        ),
        "go": Edit(GO | {"t.tmpl": "{{ .Settle 1 }}\n"}, "a.go", "n int)", "n, m int)", "t.tmpl:1"),
    },
    "spread": {
        "python-list": Edit(PYTHON | SPREAD_PY, "shop/pay.py", "(n)", "(n, m)", "use.py:3"),
        "python-keywords": Edit(PYTHON | SPREAD_PY, "shop/pay.py", "(n)", "(n, m)", "use.py:4"),
        "python-decorator": Edit(PYTHON | SPREAD_PY, "shop/pay.py", "(n)", "(n, m)", "use.py:7"),
        "python-local": Edit(
            {"a.py": "def go(xs):\n    def settle(n):\n        return n\n    return settle(*xs)\n"},
            "a.py",
            "settle(n)",
            "settle(n, m)",
            "a.py:4",
        ),
        "python-super": Edit(
            {
                "a.py": "class A:\n    def __init__(self, n):\n        self.n = n\n\n\nclass B(A):\n"
                "    def __init__(self, *a):\n        super().__init__(*a)\n"
            },
            "a.py",
            "self, n",
            "self, n, m",
            "a.py:8",
        ),
        "javascript": Edit(SCRIPT | SPREAD_JS, "a.js", "(n)", "(n, m)", "b.js:2"),
        "javascript-template": Edit(SCRIPT | SPREAD_JS, "a.js", "(n)", "(n, m)", "b.js:3"),
        "typescript": Edit(
            {
                "a.ts": "export function settle(n: number) {}\n",
                "b.ts": "import { settle } from './a'\nsettle(...xs)\n",
            },
            "a.ts",
            "n: number",
            "n: number, m: number",
            "b.ts:2",
        ),
        "kotlin": Edit(
            {
                "A.kt": "fun settle(vararg n: Int): Int = 1\n",
                "B.kt": "fun go(x: IntArray) {\n    settle(*x)\n}\n",
            },
            "A.kt",
            "vararg n",
            "s: String, vararg n",
            "B.kt:2",
        ),
        "kotlin-infix": Edit(
            {
                "A.kt": "class T {\n    infix fun add(b: Int) = b\n    fun go(t: T) {\n        t add 1\n    }\n}\n"
            },
            "A.kt",
            "b: Int)",
            "b: Int, c: Int)",
            "A.kt:4",
        ),
        "php": Edit(
            {
                "a.php": "<?php\nfunction settle($n) { return $n; }\n",
                "b.php": "<?php\nrequire 'a.php';\nsettle(...$xs);\n",
            },
            "a.php",
            "settle($n)",
            "settle($n, $m)",
            "b.php:3",
        ),
        "ruby": Edit(
            {
                "a.rb": "class Till\n  def settle(n)\n    n\n  end\n\n  def go(x)\n    settle(*x)\n  end\nend\n"
            },
            "a.rb",
            "settle(n)",
            "settle(n, m)",
            "a.rb:7",
        ),
        "c-arguments-of-a-macro": Edit(MACROS, "a.c", "int n, int m)", "int n, int m, int k)", "a.c:5"),
        "c-macro-that-calls": Edit(MACROS, "a.c", "int n, int m)", "int n, int m, int k)", "a.c:3"),
        "c++": Edit(
            {
                "a.cpp": "int settle(int n) { return n; }\ntemplate <class... T> int go(T... t) {\n"
                "  return settle(t...);\n}\n"
            },
            "a.cpp",
            "int n)",
            "int n, int m)",
            "a.cpp:3",
        ),
        "rust-argument-of-a-macro": Edit(
            RUST | {"src/b.rs": "use crate::settle;\nfn go() {\n    assert_eq!(settle(1), 1);\n}\n"},
            "src/lib.rs",
            "pub fn settle(n: u8)",
            "mod b;\npub fn settle(n: u8, m: u8)",
            "src/b.rs:3",
        ),
        "rust-rules-of-a-macro": Edit(
            {
                "Cargo.toml": RUST["Cargo.toml"],
                "src/lib.rs": f"{RUST['src/lib.rs']}macro_rules! pay {{\n    ($x:expr) => {{ settle($x) }};\n}}\n",
            },
            "src/lib.rs",
            "n: u8",
            "n: u8, m: u8",
            "src/lib.rs:5",
        ),
    },
    "elsewhere": {
        "erb": Edit(RUBY | {"v.html.erb": "<p>\n<%= settle(1) %></p>\n"}, "a.rb", *RENAMED, "v.html.erb:2"),
        "blade": Edit(
            PHP | {"v.blade.php": "<p>{{ $till->settle(1) }}</p>\n"}, "a.php", *RENAMED, "v.blade.php:1"
        ),
        "jinja": Edit(
            PYTHON | {"v.j2": "{% if x %}\n{{ settle(2) }}{% endif %}\n"}, "shop/pay.py", *RENAMED, "v.j2:2"
        ),
        "handlebars": Edit(
            SCRIPT | {"v.hbs": "{{#each rows}}{{settle this}}{{/each}}\n"}, "a.js", *RENAMED, "v.hbs:1"
        ),
        "page": Edit(
            SCRIPT | {"v.html": '<button onclick="settle(1)">x</button>\n'}, "a.js", *RENAMED, "v.html:1"
        ),
        "yaml": Edit(
            PYTHON | {"job.yaml": "run:\n  call: shop.pay:settle\n"}, "shop/pay.py", *RENAMED, "job.yaml:2"
        ),
        "sql": Edit(
            {
                "a.sql": "CREATE TABLE settle (id INT);\n",
                "b.go": 'package b\n\nvar q = "SELECT id FROM settle"\n',
            },
            "a.sql",
            *RENAMED,
            "b.go:3",
        ),
        "robot": Edit(
            PYTHON | {"t.robot": "*** Tasks ***\nPay\n    settle    1\n"},
            "shop/pay.py",
            *RENAMED,
            "t.robot:3",
        ),
    },
    "absent": {
        "go": Edit(
            GO | {"b/b.go": "package b\n\nvar x = m.Settle(1)\n"},
            "a.go",
            "Settle",
            "Payout",
            "b/b.go:3",
            "skip b/b.go",
        ),
        "ruby": Edit(RUBY, "a.rb", *RENAMED, "b.rb:2", "skip b.rb"),
        "php": Edit(PHP, "a.php", "int $n", "int $n, int $m", "b.php:3", "skip b.php"),
        "kotlin-lfs": Edit(KOTLIN | {"C.kt": LFS}, "A.kt", *RENAMED, "C.kt"),
        "java-lfs": Edit(JAVA | {"p/Big.java": LFS}, "p/Till.java", *RENAMED, "p/Big.java"),
        "submodule": Edit(SCRIPT, "a.js", *RENAMED, "libs/other", "link libs/other"),
        "large": Edit(
            SCRIPT | {"big.mjs": "// \n" * 700_000 + "settle(1)\n"}, "a.js", *RENAMED, "big.mjs:700001"
        ),
        "utf-16": Edit(PYTHON | {"b.ps1": "\ufeffutf-16\nsettle 1\n"}, "shop/pay.py", *RENAMED, "b.ps1:2"),
    },
}
