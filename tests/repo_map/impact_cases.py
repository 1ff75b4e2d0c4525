"""Small repositories, an edit of their first file that takes a name away, and what is told of its uses."""

from __future__ import annotations

LEFT = {
    "python-property": (
        {"a.py": "class A:\n    @property\n    def width(self):\n        return 1\n\n    def area(self):\n        return self.width * 2\n"},
        ("def width", "def breadth"),
        "a.py:7 in `A.area`: likely, by its name: `width` is now `",
    ),
    "python-attribute": (
        {"a.py": "class A:\n    def __init__(self):\n        self.limit = 1\n\n    def full(self):\n        return 3 > self.limit\n"},
        ("self.limit = 1", "self.most = 1"),
        "a.py:6 in `A.full`: likely, by its name: `limit` is now `",
    ),
    "python-constant": (
        {"a.py": "LIMIT = 1\n", "b.py": "import a\n\n\ndef full(n):\n    # LIMIT\n    return n > a.LIMIT, 'LIMIT', f'{a.LIMIT}'\n"},
        ("LIMIT", "MOST"),
        "b.py:6 in `full`: likely, by its name: `LIMIT` is now `",
    ),
    "python-import": (
        {"a.py": "LIMIT = 1\n", "b.py": "from a import LIMIT\n"},
        ("LIMIT", "MOST"),
        "b.py:1: likely, by its name: `LIMIT` is now `",
    ),
    "go-function-as-a-value": (
        {"a.go": "package a\n\nfunc net() int { return 1 }\n", "b.go": "package a\n\nvar taken = []any{net}\n"},
        ("func net", "func gross"),
        "b.go:3 in `taken`: likely, by its name: `net` is now `",
    ),
    "c-function-as-a-value": (
        {"a.h": "int net(int a);\n", "b.c": '#include "a.h"\nint run(int (*f)(int));\nint g(void) {\n    return run(net);\n}\n'},
        ("net", "gross"),
        "b.c:4 in `g`: likely, by its name: `net` is now `",
    ),
    "rust-function-as-a-value": (
        {"a.rs": "pub fn net(a: u8) -> u8 {\n    a\n}\n\npub fn f(v: Vec<u8>) -> Vec<u8> {\n    v.into_iter().map(net).collect()\n}\n"},
        ("fn net", "fn gross"),
        "a.rs:6 in `f`: likely, by its name: `net` is now `",
    ),
    "ruby-method-in-its-class": (
        {"a.rb": "class A\n  def net\n    1\n  end\n\n  def total\n    net + 1\n  end\nend\n"},
        ("def net", "def gross"),
        "a.rb:7 in `A.total`: likely, by its name: `net` is now `",
    ),
    "go-constant": (
        {"a.go": 'package a\n\nconst (\n\tKind = "k"\n\tOther = "o"\n)\n', "b.go": "package a\n\nfunc f(k string) bool {\n\treturn k == Kind\n}\n"},
        ("\tKind =", "\tSort ="),
        "b.go:4 in `f`: likely, by its name: `Kind` is now `",
    ),
    "go-field": (
        {"a.go": "package a\n\ntype T struct {\n\tName string\n\tAge int\n}\n", "b.go": "package a\n\nfunc f(t T) string {\n\treturn t.Name\n}\n"},
        ("\tName string", "\tTitle string"),
        "b.go:4 in `f`: likely, by its name: `Name` is now `",
    ),
    "typescript-enum-member": (
        {"a.ts": "export enum Color {\n  Red = 1,\n  Green = 2,\n}\n", "b.ts": "import { Color } from './a';\nexport function f() {\n  return Color.Red;\n}\n"},
        ("Red =", "Rot ="),
        "b.ts:3 in `f`: likely, by its name: `Red` is now `",
    ),
    "typescript-type": (
        {"a.ts": "export type Id = string;\n", "b.ts": "import { Id } from './a';\nexport function f(id: Id): void {}\n"},
        ("type Id", "type Key"),
        "b.ts:1: `Id` is now `Key` (also line 2)",
    ),
    "java-enum-member": (
        {"A.java": "package p;\nenum A {\n    RED,\n    GREEN;\n}\n", "B.java": "package p;\nclass B {\n    A f() {\n        return A.RED;\n    }\n}\n"},
        ("    RED,", "    ROT,"),
        "B.java:4 in `B.f`: likely, by its name: `RED` is now `",
    ),
    "rust-field": (
        {"a.rs": "pub struct S {\n    pub name: u8,\n}\n\npub fn f(s: S) -> u8 {\n    s.name\n}\n"},
        ("pub name", "pub title"),
        "a.rs:6 in `f`: likely, by its name: `name` is now `",
    ),
    "c-macro": (
        {"a.h": "#define LIMIT 3\n", "b.c": '#include "a.h"\nint f(int n) {\n    return n > LIMIT;\n}\n'},
        ("LIMIT", "MOST"),
        "b.c:3 in `f`: likely, by its name: `LIMIT` is now `",
    ),
    "csharp-property": (
        {"A.cs": "class A {\n    public int Width { get; set; }\n    int F() {\n        return Width;\n    }\n}\n"},
        ("int Width", "int Breadth"),
        "A.cs:4 in `A.F`: likely, by its name: `Width` is now `",
    ),
}  # fmt: skip
