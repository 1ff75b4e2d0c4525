"""Python's names mean what Python says they mean, and nothing is told of those that mean something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.index.build import refresh_index
from repo_map.relations.model import Confidence
from repo_map.relations.resolve import relations_of
from tests.repo_map.relations.asking import Files, callers, index_of, lines_of, place_of, uses

SHAPES = """\
class Shape:
    def area(self):
        return self.side() ** 2

    def side(self):
        return 1


class Square(Shape):
    def side(self):
        return super().side() + 2

    @classmethod
    def unit(cls):
        return cls()

    @property
    def outline(self):
        return Square()

    def __enter__(self):
        return self
"""

CALLED: dict[str, tuple[Files, str, list[str]]] = {
    "a module below a folder that is put on the path": (
        {
            "libs/alpha/core/ship.py": "def send(): pass\n",
            "app/sell.py": "from alpha.core.ship import send\nsend()\n",
            "app/other.py": "from core.ship import send\nsend()\n",
        },
        "libs/alpha/core/ship.py:send",
        ["app/sell.py:2"],
    ),
    "no method of what the other branch binds": (
        {
            "a.py": (
                "class Jar:\n    def set(self): pass\n\ndef use(jar, kind):\n"
                "    if kind == 1:\n        jar = Jar()\n        jar.set()\n"
                "    elif jar.set():\n        jar.set()\n"
                "    else:\n        for _ in kind:\n            jar.set()\n"
                "    jar.set()\n"
            )
        },
        "a.py:Jar.set",
        ["a.py:7", "a.py:13"],
    ),
    "the method of what each branch binds": (
        {
            "a.py": (
                "class A:\n    def go(self): pass\n\nclass B:\n    def go(self): pass\n\ndef use(x):\n"
                "    if x:\n        y = A()\n        y.go()\n    else:\n        y = B()\n        y.go()\n"
            )
        },
        "a.py:A.go",
        ["a.py:10"],
    ),
    "a function of an imported module": (
        {"a.py": "def f(): pass\n", "b.py": "import a\na.f()\n"},
        "a.py:f",
        ["b.py:2"],
    ),
    "a function imported by name, and under another name": (
        {"a.py": "def f(): pass\n", "b.py": "from a import f\nf()\n", "c.py": "from a import f as g\ng()\n"},
        "a.py:f",
        ["b.py:2", "c.py:2"],
    ),
    "no namesake that is imported from elsewhere": (
        {"a.py": "def f(): pass\n", "b.py": "from other import f\nf()\n", "c.py": "def f(): pass\nf()\n"},
        "a.py:f",
        [],
    ),
    "a relative import in a package": (
        {
            "p/__init__.py": "",
            "p/a.py": "def f(): pass\n",
            "p/q/__init__.py": "",
            "p/q/b.py": "from ..a import f\nf()\n",
        },
        "p/a.py:f",
        ["p/q/b.py:2"],
    ),
    "a name that a package hands on": (
        {"p/__init__.py": "from .a import f\n", "p/a.py": "def f(): pass\n", "b.py": "import p\np.f()\n"},
        "p/a.py:f",
        ["b.py:2"],
    ),
    "a name that a star hands on": (
        {
            "p/__init__.py": "from .a import *\n",
            "p/a.py": "def f(): pass\n",
            "b.py": "from p import *\nf()\n",
        },
        "p/a.py:f",
        ["b.py:2"],
    ),
    "a package below src": (
        {
            "src/p/__init__.py": "",
            "src/p/a.py": "def f(): pass\n",
            "tests/test_a.py": "from p.a import f\nf()\n",
        },
        "src/p/a.py:f",
        ["tests/test_a.py:2"],
    ),
    "a module of a package without an init": (
        {"p/a.py": "def f(): pass\n", "b.py": "from p import a\na.f()\n"},
        "p/a.py:f",
        ["b.py:2"],
    ),
    "no module of the standard library": (
        {
            "p/__init__.py": "",
            "p/logging.py": "def info(): pass\n",
            "p/b.py": "import logging\nlogging.info()\n",
        },
        "p/logging.py:info",
        [],
    ),
    "an import for the type checker, or where another fails": (
        {
            "a.py": "def f(): pass\n",
            "b.py": "try:\n    from fast import f\nexcept ImportError:\n    from a import f\nf()\n",
        },
        "a.py:f",
        ["b.py:5"],
    ),
    "no parameter that hides it": (
        {"a.py": "def f(): pass\ndef g(f):\n    f()\ndef h():\n    f = 1\n    f()\n"},
        "a.py:f",
        [],
    ),
    "no builtin of its name": ({"a.py": "def open(): pass\n", "b.py": "open()\n"}, "a.py:open", []),
    "no method of a text": (
        {
            "a.py": "class Cup:\n    def strip(self): pass\n",
            "b.py": "def g(text: str):\n    text.strip()\n    'x'.strip()\n",
        },
        "a.py:Cup.strip",
        [],
    ),
    "no function of its name in another language": (
        {"a.c": "int strip(char *s) { return 0; }\n", "b.py": "def g(s):\n    s.strip()\n    strip(s)\n"},
        "a.c:strip",
        [],
    ),
    "the own object's method": ({"a.py": SHAPES}, "a.py:Shape.side", ["a.py:3", "a.py:11"]),
    "an object by its constructor": (
        {"a.py": SHAPES, "b.py": "from a import Square\ns = Square()\ns.area()\nSquare().area()\n"},
        "a.py:Shape.area",
        ["b.py:3", "b.py:4"],
    ),
    "an object by its written type": (
        {
            "a.py": SHAPES,
            "b.py": "from a import Square\nfrom typing import Optional\n"
            "def g(s: Square, t: 'Optional[Square]', u: list[Square] | None):\n"
            "    s.area()\n    t.area()\n    for each in u:\n        each.area()\n"
            "    return [x.area() for x in u]\n",
        },
        "a.py:Shape.area",
        ["b.py:4", "b.py:5", "b.py:7", "b.py:8"],
    ),
    "an object by its field": (
        {
            "a.py": SHAPES,
            "b.py": "from a import Square\nclass Box:\n    lid: Square\n"
            "    def __init__(self, side: Square):\n"
            "        self.side = side\n    def go(self):\n        self.side.area()\n"
            "        self.lid.area()\n",
        },
        "a.py:Shape.area",
        ["b.py:7", "b.py:8"],
    ),
    "an object by what a function returns": (
        {
            "a.py": SHAPES,
            "b.py": "from a import Square\ndef make() -> Square: ...\ndef guess():\n    return make()\n"
            "make().area()\nguess().area()\nSquare.unit().area()\nSquare().outline.area()\n",
        },
        "a.py:Shape.area",
        ["b.py:5", "b.py:6", "b.py:7", "b.py:8"],
    ),
    "an object that a context gives": (
        {
            "a.py": SHAPES,
            "b.py": "from contextlib import contextmanager\nfrom a import Square\n@contextmanager\n"
            "def opened():\n"
            "    yield Square()\nwith opened() as s:\n    s.area()\nwith Square() as t:\n    t.area()\n",
        },
        "a.py:Shape.area",
        ["b.py:7", "b.py:9"],
    ),
    "an object whose class was checked": (
        {
            "a.py": SHAPES,
            "b.py": "from a import Square\ndef g(x):\n    if isinstance(x, Square):\n        x.area()\n"
            "    x.area()\n",
        },
        "a.py:Shape.area",
        ["b.py:4"],
    ),
    "what a name was bound to last": (
        {
            "a.py": SHAPES,
            "b.py": "from a import Square\nfrom c import Other\nx = Other()\nx.area()\nx = Square()\n"
            "x.area()\n",
            "c.py": "class Other:\n    def area(self): pass\n",
        },
        "a.py:Shape.area",
        ["b.py:6"],
    ),
    "the first of two bases": (
        {
            "a.py": "class A:\n    def go(self): pass\nclass B:\n    def go(self): pass\n"
            "class C(A, B): pass\nC().go()\n"
        },
        "a.py:B.go",
        [],
    ),
    "a base in another file, under another name": (
        {
            "a.py": SHAPES,
            "b.py": "import a as shapes\nclass Wide(shapes.Square):\n    def go(self):\n"
            "        return self.area()\n",
        },
        "a.py:Shape.area",
        ["b.py:4"],
    ),
    "nothing, where a base is unknown and may have it": (
        {
            "a.py": "import other\nclass A(other.Base):\n    def go(self):\n        self.area()\n"
            "def area(): pass\n"
        },
        "a.py:area",
        [],
    ),
    "the construction of a class, and of one that inherits it": (
        {
            "a.py": "class A:\n    def __init__(self): pass\nclass B(A): pass\nclass C(A):\n"
            "    def __init__(self):\n        super().__init__()\nA()\nB()\nC()\n"
        },
        "a.py:A.__init__",
        ["a.py:6", "a.py:7", "a.py:8"],
    ),
    "a nested function, and not its namesake outside": (
        {"a.py": "def f(): pass\ndef g():\n    def f(): pass\n    f()\nf()\n"},
        "a.py:g.f",
        ["a.py:4"],
    ),
    "a decorated function": (
        {"a.py": "import functools\n@functools.cache\ndef f(): pass\nf()\n"},
        "a.py:f",
        ["a.py:4"],
    ),
    "a decorator": ({"a.py": "def deco(f): return f\n@deco\ndef g(): pass\n"}, "a.py:deco", ["a.py:2"]),
}


@pytest.mark.parametrize(("files", "name", "expected"), CALLED.values(), ids=CALLED)
def test_callers_are_told_of(tmp_path: Path, files: Files, name: str, expected: list[str]) -> None:
    assert callers(tmp_path, files, name) == expected


USED: dict[str, tuple[Files, str, list[str]]] = {
    "a written type, a base, a check, and a name before a dot": (
        {
            "a.py": "class A:\n    RED = 1\n",
            "b.py": "from a import A\ndef f(x: 'A') -> list[A]: ...\nclass B(A): pass\n"
            "isinstance(1, A)\nA.RED\nprint(A.RED)\n",
        },
        "a.py:A",
        ["b.py:2", "b.py:3", "b.py:4", "b.py:6"],
    ),
    "a function that is handed on": (
        {"a.py": "def f(): pass\n", "b.py": "from a import f\nrun(f)\nx = {'f': f}\n"},
        "a.py:f",
        ["b.py:2", "b.py:3"],
    ),
    "a caught exception": (
        {
            "a.py": "class E(Exception): pass\n",
            "b.py": "from a import E\ntry:\n    pass\nexcept E as e:\n    raise E\n",
        },
        "a.py:E",
        ["b.py:4", "b.py:5"],
    ),
}


@pytest.mark.parametrize(("files", "name", "expected"), USED.values(), ids=USED)
def test_uses_are_told_of(tmp_path: Path, files: Files, name: str, expected: list[str]) -> None:
    assert uses(tmp_path, files, name) == expected


def test_a_receiver_that_nothing_says_of_is_likely_the_only_method_and_possibly_one_of_two(
    tmp_path: Path,
) -> None:
    files = {"a.py": "class Cup:\n    def refill(self): pass\n", "b.py": "def g(x):\n    x.refill()\n"}
    assert callers(tmp_path, files, "a.py:Cup.refill") == []
    assert callers(tmp_path, files, "a.py:Cup.refill", Confidence.LIKELY) == ["b.py:2"]
    files["a.py"] += "class Mug:\n    def refill(self): pass\n"
    assert callers(tmp_path, files, "a.py:Cup.refill", Confidence.LIKELY) == []
    assert callers(tmp_path, files, "a.py:Cup.refill", Confidence.POSSIBLE) == ["b.py:2"]


def test_overrides_are_found_both_ways(tmp_path: Path) -> None:
    index = index_of(
        tmp_path, {"a.py": SHAPES, "b.py": "import a\nclass Wide(a.Square):\n    def side(self): pass\n"}
    )
    relations = relations_of(index)
    below = relations.overridden_by(place_of(index, "a.py:Shape.side"))
    assert lines_of(index, below) == ["a.py:10", "b.py:3"]
    above = relations.overrides_of(place_of(index, "b.py:Wide.side"))
    assert [index.qualified_name(*each.target) for each in above] == ["Square.side", "Shape.side"]
    extending = relations.implementations_of(place_of(index, "a.py:Shape"))
    assert [index.qualified_name(*each.source) for each in extending] == ["Square"]


def test_what_a_function_calls_is_told_in_its_order(tmp_path: Path) -> None:
    files = {"a.py": "def f(): pass\ndef g(): pass\ndef h():\n    g()\n    len('')\n    f()\n"}
    index = index_of(tmp_path, files)
    called = relations_of(index).calls_in(place_of(index, "a.py:h"))
    assert [(index.qualified_name(*each.target), each.line) for each in called] == [("g", 4), ("f", 6)]


def test_relations_follow_an_edit(tmp_path: Path) -> None:
    index = index_of(
        tmp_path, {"a.py": "def f(): pass\n", "b.py": "from a import f\n", "c.py": "from a import f\nf()\n"}
    )
    assert lines_of(index, relations_of(index).callers_of(place_of(index, "a.py:f"))) == ["c.py:2"]
    (tmp_path / "b.py").write_text("from a import f\n\nf()\n")
    (tmp_path / "c.py").unlink()
    fresh = refresh_index(index)
    assert lines_of(fresh, relations_of(fresh).callers_of(place_of(fresh, "a.py:f"))) == ["b.py:3"]


def test_what_stands_in_a_tuple_a_set_or_an_alias_of_types_is_used(tmp_path: Path) -> None:
    files = {
        "a.py": "class A: pass\nclass B: pass\n",
        "b.py": (
            "from a import A, B\n"
            "Both = Union[A, B]\n"
            "def t(x, d):\n"
            "    if isinstance(x, (A, B)):\n"
            "        return {A}\n"
            "    try: pass\n"
            "    except (A, B): pass\n"
        ),
    }
    assert uses(tmp_path, files, "a.py:A") == ["b.py:2", "b.py:4", "b.py:5", "b.py:7"]
    assert len(index_of(tmp_path, files).sites.name) == 7
