"""Small sources whose names are hard to follow: ladders, circles, chains and crowds, in every family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

Files = dict[str, str]

_DEEP: Final = 22
"""Levels of what branches at each: two to that power are four million ways."""
_LONG: Final = 500
_MANY: Final = 200


def _lines(make: Callable[[int], str], count: int = _MANY) -> str:
    return "".join(f"{make(at)}\n" for at in range(count))


def _levels(line: str, last: str, *, is_circle: bool) -> str:
    """Return a line for ``a`` and ``b`` of each level; ``{i}`` is its number, ``{n}`` that of the next one.

    The last level is ``last``, or leads back to the first one.
    """
    told = [
        line.replace("{x}", which).replace("{i}", str(at)).replace("{n}", str((at + 1) % _DEEP))
        for at in range(_DEEP if is_circle else _DEEP - 1)
        for which in "ab"
    ]
    ends = [] if is_circle else [last.replace("{x}", which).replace("{i}", str(_DEEP - 1)) for which in "ab"]
    return "\n".join([*told, *ends]) + "\n"


_END: Final = "class End:\n    def foo(self): return 1\n"
_LADDERS: Final = {
    # What a level gives by its body or by what it is bound to, then what the last one gives, and a use.
    "python functions": (
        "a.py",
        f"{_END}%sdef use(): return a0(1).foo()\n",
        "def {x}{i}(x): return a{n}(x) if x else b{n}(x)",
        "def {x}{i}(x): return End()",
    ),
    "python properties": (
        "a.py",
        f"{_END}class Q:\n%sdef use(): return Q().a0.foo()\n",
        "    @property\n    def {x}{i}(self): return self.a{n} or self.b{n}",
        "    @property\n    def {x}{i}(self): return End()",
    ),
    "python nested lists": (
        "a.py",
        f"{_END}%sdef use():\n    for x in a0: x.foo()\n",
        "{x}{i} = " + "[" * 11 + "a{n}, b{n}" + "]" * 11,
        "{x}{i} = [End()]",
    ),
    "javascript functions": (
        "a.js",
        "class End { foo() {} }\n%sfunction use() { a0(1).foo(); }\n",
        "function {x}{i}(x) { return x ? a{n}(x) : b{n}(x); }",
        "function {x}{i}(x) { return new End(); }",
    ),
    "typescript types": (
        "a.ts",
        "class End { foo() {} }\n%sfunction use(q: a0) { q.foo(); }\n",
        "type {x}{i} = a{n} | b{n};",
        "type {x}{i} = End;",
    ),
    "kotlin functions": (
        "A.kt",
        "class End { fun foo() = 1 }\nclass A {\n%s}\nfun use(q: A) { q.a0(true).foo() }\n",
        "  fun {x}{i}(x: Boolean) = if (x) a{n}(x) else b{n}(x)",
        "  fun {x}{i}(x: Boolean) = End()",
    ),
    "kotlin extensions": (
        "A.kt",
        "class End { fun foo() = 1 }\n%sfun use(q: End) { q.a0().foo() }\n",
        "fun End.{x}{i}() = if (x) this.a{n}() else this.b{n}()",
        "fun End.{x}{i}() = End()",
    ),
    "java locals": (
        "A.java",
        "class End { End foo() { return this; } }\nclass A { void use(boolean x) {\n%s  a0.foo(); } }\n",
        "  var {x}{i} = x ? a{n}.foo() : b{n}.foo();",
        "  var {x}{i} = new End();",
    ),
    "java overloads": (
        "A.java",
        "class End { End foo() { return this; } End foo(int a) { return this; } }\nclass A {\n"
        "%s  void use(End q) { a0(q, q).foo(); } }\n",
        "  End {x}{i}(End p, End q) { return a{n}(b{n}(p, q), a{n}(p, q)); }\n"
        "  A {x}{i}(End p, A q) { return a{n}(b{n}(p, q), a{n}(p, q)); }",
        "  End {x}{i}(End p, End q) { return p; }",
    ),
    "php locals": (
        "a.php",
        "<?php\nclass End { function foo() {} }\nfunction use_it($x) {\n%s  $a0->foo();\n}\n",
        "  ${x}{i} = $x ? $a{n} : $b{n};",
        "  ${x}{i} = new End();",
    ),
    "ruby methods": (
        "a.rb",
        "class End\n  def foo\n  end\nend\nclass Q\n%s  def go\n    a0.foo\n  end\nend\n",
        "  def {x}{i}\n    x ? a{n} : b{n}\n  end",
        "  def {x}{i}\n    End.new\n  end",
    ),
    "go types": (
        "a.go",
        "package a\ntype End struct{}\nfunc (e End) foo() {}\n%sfunc use(q a0) { q.foo() }\n",
        "type {x}{i} struct { a{n}; b{n} }",
        "type {x}{i} struct { End }",
    ),
    "c++ autos": (
        "a.cpp",
        "struct End { void foo(); };\n%svoid use() { a0(1).foo(); }\n",
        "auto {x}{i}(int x) { return x ? a{n}(x) : b{n}(x); }",
        "End {x}{i}(int x) { return End(); }",
    ),
    "c types": (
        "a.c",
        "struct End { int foo; };\n%svoid foo(a0 *q) { }\nvoid use(a0 *q) { foo(q->p->p->p); }\n",
        "typedef struct {x}{i}_ { struct a{n}_ *p; b{n} *q; } {x}{i};",
        "typedef struct {x}{i}_ { struct End *p; } {x}{i};",
    ),
    "rust types": (
        "a.rs",
        "struct End;\nimpl End { fn foo(&self) {} }\n%sfn using(q: a0) { q.foo(); }\n",
        "type {x}{i} = Either<a{n}, b{n}>;",
        "type {x}{i} = End;",
    ),
}
"""File, source around the levels, a level, the last level."""

_BASES: Final = {
    "python": ("a.py", "class {x}{i}(a{n}, b{n}): pass", "class {x}{i}:\n    def foo(self): pass", "python"),
    "typescript": (
        "a.ts",
        "interface {x}{i} extends a{n}, b{n} {}",
        "interface {x}{i} { foo(): void }",
        "ts",
    ),
    "java": ("A.java", "interface {x}{i} extends a{n}, b{n} {}", "interface {x}{i} { void foo(); }", "java"),
    "kotlin": ("A.kt", "interface {x}{i} : a{n}, b{n}", "interface {x}{i} { fun foo() }", "kotlin"),
    "php": (
        "a.php",
        "interface {x}{i} extends a{n}, b{n} {}",
        "interface {x}{i} { function foo(); }",
        "php",
    ),
    "ruby": (
        "a.rb",
        "module A{x}{i}\n  include Aa{n}\n  include Ab{n}\nend",
        "module A{x}{i}\n  def foo\n  end\nend",
        "ruby",
    ),
    "go": ("a.go", "type {x}{i} interface { a{n}; b{n} }", "type {x}{i} interface { foo() }", "go"),
    "c++": ("a.cpp", "struct {x}{i} : a{n}, b{n} {};", "struct {x}{i} { void foo(); };", "c++"),
    "rust": ("a.rs", "trait {x}{i}: a{n} + b{n} {}", "trait {x}{i} { fn foo(&self); }", "rust"),
}
_HEADS: Final = {"php": "<?php\n", "go": "package a\n"}
_USES: Final = {
    "python": "class Mine(a0):\n    def go(self, q: a0): q.foo(); self.foo(); super().foo()\n",
    "ts": "class Mine implements a0 { go(q: a0) { q.foo(); this.foo(); } }\n",
    "java": "class Mine implements a0 { void go(a0 q) { q.foo(); foo(); super.foo(); } }\n",
    "kotlin": "class Mine : a0 { fun go(q: a0) { q.foo(); foo(); super.foo() } }\n",
    "php": "class Mine implements a0 { function go(a0 $q) { $q->foo(); $this->foo(); parent::foo(); } }\n",
    "ruby": "class Mine\n  include Aa0\n  def go\n    foo\n    self.foo\n  end\nend\n",
    "go": "func use(q a0) { q.foo() }\n",
    "c++": "struct Mine : a0 { void go(a0 q) { q.foo(); foo(); } };\n",
    "rust": "fn using(q: &dyn a0) { q.foo(); }\nfn other<T: a0>(q: T) { q.foo(); }\n",
}


def _ladders() -> dict[str, Files]:
    found: dict[str, Files] = {}
    for name, (path, around, line, last) in _LADDERS.items():
        for is_circle, kind in ((False, "ladder"), (True, "circle")):
            text = around % _levels(line, last, is_circle=is_circle)
            found[f"{kind} of {name}"] = {path: text}
    for name, (path, line, last, language) in _BASES.items():
        for is_circle, kind in ((False, "ladder"), (True, "circle")):
            text = _levels(line, last, is_circle=is_circle) + _USES[language]
            found[f"{kind} of {name} bases"] = {path: _HEADS.get(language, "") + text}
    return found


_PAIRS: Final = {
    "kotlin": (
        "A.kt",
        "typealias A = B\ntypealias B = A\nfun foo(q: A) { q.foo(); q().foo(); for (x in q) x.foo() }\n",
    ),
    "c": ("a.c", "typedef B A;\ntypedef A B;\nvoid foo(A *q) { q->foo(); q[0].foo(); }\n"),
}


def _chains() -> dict[str, Files]:
    found = {f"pair of {name}": {path: text} for name, (path, text) in _PAIRS.items()}
    calls = ".foo()" * 8_000
    for name, path, text in (
        ("python", "a.py", f"class A:\n    def foo(self): return self\ndef use(): A(){calls}\n"),
        ("typescript", "a.ts", f"class A {{ foo() {{ return this; }} }}\nnew A(){calls};\n"),
        ("java", "A.java", f"class A {{ A foo() {{ return this; }} void use() {{ new A(){calls}; }} }}\n"),
        ("kotlin", "A.kt", f"class A {{ fun foo() = this }}\nfun use() {{ A(){calls} }}\n"),
        ("rust", "a.rs", f"struct A;\nimpl A {{ fn foo(self) -> A {{ A }} }}\nfn go(a: A) {{ a{calls}; }}\n"),
    ):
        found[f"chain of {name} calls"] = {path: text}
    for name, path, line, last in (
        ("python", "a.py", "class C{i}(C{n}): pass", "class C{n}:\n    def foo(self): C0().foo()"),
        (
            "java",
            "A.java",
            "class C{i} extends C{n} {{}}",
            "class C{n} {{ void foo() {{ new C0().foo(); }} }}",
        ),
        ("kotlin", "A.kt", "open class C{i} : C{n}()", "open class C{n} {{ fun foo() {{ C0().foo() }} }}"),
        ("c++", "a.cpp", "struct C{i} : C{n} {{}};", "struct C{n} {{ void foo() {{ C0 q; q.foo(); }} }};"),
        ("ruby", "a.rb", "class C{i} < C{n}\nend", "class C{n}\n  def foo\n    C0.new.foo\n  end\nend"),
    ):
        text = (
            "".join(line.format(i=at, n=at + 1) + "\n" for at in range(_LONG)) + last.format(n=_LONG) + "\n"
        )
        found[f"chain of {name} bases"] = {path: text}
    deep = "A<" * 4_000 + "int" + ">" * 4_000
    for name, path, text in (
        (
            "java",
            "A.java",
            f"class A<T> {{ T foo() {{ return null; }} void use({deep} q) {{ q{'.foo()' * 40}; }} }}\n",
        ),
        (
            "c++",
            "a.cpp",
            f"template <class T> struct A {{ T foo(); }};\nvoid use({deep} q) {{ q.foo().foo(); }}\n",
        ),
        (
            "rust",
            "a.rs",
            f"struct A<T>(T);\nimpl<T> A<T> {{ fn foo(self) -> T {{ self.0 }} }}\nfn go(q: {deep}) {{\n"
            "  q.foo().foo(); }\n",
        ),
        (
            "typescript",
            "a.ts",
            f"class A<T> {{ foo(): T {{ return null; }} }}\nfunction use(q: {deep}) {{ q.foo().foo(); }}\n",
        ),
    ):
        found[f"chain of {name} generics"] = {path: text}
    stars = 15
    for name, path, line, more in (
        ("python", "m{i}.py", "from m{j} import *", "def foo(): return foo() or bar().foo()\n"),
        ("typescript", "m{i}.ts", "export * from './m{j}';", "export function foo() { bar().foo(); }\n"),
        ("rust", "src/m{i}.rs", "pub use crate::m{j}::*;", "pub fn foo() { bar().foo(); foo(); }\n"),
        ("c", "m{i}.h", '#include "m{j}.h"', "static inline void foo(void) { foo(); bar(); }\n"),
    ):
        all_of_them = "".join(f"{line.format(j=at)}\n" for at in range(stars))
        files = {path.format(i=at): all_of_them + more for at in range(stars)}
        manifest = {
            "Cargo.toml": '[package]\nname = "a"\n',
            "src/lib.rs": _lines(lambda at: f"mod m{at};", stars),
        }
        found[f"circle of {name} imports"] = files | (manifest if name == "rust" else {})
    return found


def _crowds() -> dict[str, Files]:
    nested = "foo(" * 12 + "q" + ")" * 12
    return {
        "crowd of python namesakes": {
            "a.py": _lines(lambda at: f"class C{at}:\n    def foo(self): self.bar.foo(); q.foo()")
        },
        "crowd of python narrowings": {
            "a.py": "class A:\n    def foo(self): pass\ndef use(q):\n"
            + _lines(lambda _: "    if isinstance(q, A): q.foo()")
        },
        "crowd of python subclasses": {
            "a.py": "class A:\n    def __init__(self): pass\n    def foo(self): pass\n"
            + _lines(lambda at: f"class C{at}(A):\n    def foo(self): super().foo(); C{at}().foo()")
        },
        "crowd of java overloads": {
            "A.java": "class A {\n"
            + _lines(lambda at: f"  T{at} foo(T{at} a) {{ return a; }}", 50)
            + _lines(lambda at: f"  void u{at}(T{at} q) {{ {nested}; }}", 20)
            + "}\n"
            + _lines(lambda at: f"class T{at} {{}}", 50)
        },
        "crowd of kotlin extensions": {
            "A.kt": _lines(lambda at: f"fun T{at}.foo() = this\nfun u{at}(q: T{at}) {{ q.foo() }}", 80)
        },
        "crowd of kotlin receivers": {
            "A.kt": "class A { fun foo() = 1 }\nfun use(q: A) {\n"
            + "with(q) { " * 300
            + "foo()"
            + " }" * 300
            + "\n}\n"
        },
        "crowd of c++ namesakes": {
            "a.cpp": _lines(
                lambda at: (
                    f"struct C{at} {{ void foo(int); }};\nvoid C{at}::foo(int x) {{ foo(x); q.foo(x); }}"
                )
            )
        },
        "crowd of c functions": {
            f"m{at}.c": "static void bar(void) { }\nvoid foo(void) { bar(); foo(); }\n" for at in range(50)
        },
        "crowd of rust namesakes": {
            "a.rs": _lines(
                lambda at: f"struct C{at};\nimpl C{at} {{ fn foo(&self) {{ self.foo(); q.foo(); }} }}"
            )
        },
        "crowd of ruby openings": {
            "a.rb": _lines(lambda _: "class C\n  def foo\n    self.foo\n    @q = C.new\n  end\nend")
        },
    }


INVOLVED: Final = _ladders() | _chains() | _crowds()
"""By what they are, trees whose definitions of `foo` are asked about.

Every one takes exponential or quadratic time where nothing ends it.
"""
