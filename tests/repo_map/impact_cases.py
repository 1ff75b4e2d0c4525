"""Small repositories, an edit of their first file that takes a name away, and what is told of its uses."""

from __future__ import annotations

LEFT = {
    "python-property": (
        {"a.py": "class A:\n    @property\n    def width(self):\n        return 1\n\n    def area(self):\n        return self.width * 2\n"},
        ("def width", "def breadth"),
        "Likely still used, by name: `A.area` (a.py:7) for `width`.",
    ),
    "python-attribute": (
        {"a.py": "class A:\n    def __init__(self):\n        self.limit = 1\n\n    def full(self):\n        return 3 > self.limit\n"},
        ("self.limit = 1", "self.most = 1"),
        "Likely still used, by name: `A.full` (a.py:6) for `limit`.",
    ),
    "python-constant": (
        {"a.py": "LIMIT = 1\n", "b.py": "import a\n\n\ndef full(n):\n    # LIMIT\n    return n > a.LIMIT, 'LIMIT', f'{a.LIMIT}'\n"},
        ("LIMIT", "MOST"),
        "Likely still used, by name: `full` (b.py:6) for `LIMIT`.",
    ),
    "python-import": (
        {"a.py": "LIMIT = 1\n", "b.py": "from a import LIMIT\n"},
        ("LIMIT", "MOST"),
        "Likely still used, by name: the top of b.py:1 for `LIMIT`.",
    ),
    "go-constant": (
        {"a.go": 'package a\n\nconst (\n\tKind = "k"\n\tOther = "o"\n)\n', "b.go": "package a\n\nfunc f(k string) bool {\n\treturn k == Kind\n}\n"},
        ("\tKind =", "\tSort ="),
        "Likely still used, by name: `f` (b.go:4) for `Kind`.",
    ),
    "go-field": (
        {"a.go": "package a\n\ntype T struct {\n\tName string\n\tAge int\n}\n", "b.go": "package a\n\nfunc f(t T) string {\n\treturn t.Name\n}\n"},
        ("\tName string", "\tTitle string"),
        "Likely still used, by name: `f` (b.go:4) for `Name`.",
    ),
    "typescript-enum-member": (
        {"a.ts": "export enum Color {\n  Red = 1,\n  Green = 2,\n}\n", "b.ts": "import { Color } from './a';\nexport function f() {\n  return Color.Red;\n}\n"},
        ("Red =", "Rot ="),
        "Likely still used, by name: `f` (b.ts:3) for `Red`.",
    ),
    "typescript-type": (
        {"a.ts": "export type Id = string;\n", "b.ts": "import { Id } from './a';\nexport function f(id: Id): void {}\n"},
        ("type Id", "type Key"),
        "`f` (b.ts:2) for `Id`",
    ),
    "java-enum-member": (
        {"A.java": "package p;\nenum A {\n    RED,\n    GREEN;\n}\n", "B.java": "package p;\nclass B {\n    A f() {\n        return A.RED;\n    }\n}\n"},
        ("    RED,", "    ROT,"),
        "Likely still used, by name: `B.f` (B.java:4) for `RED`.",
    ),
    "rust-field": (
        {"a.rs": "pub struct S {\n    pub name: u8,\n}\n\npub fn f(s: S) -> u8 {\n    s.name\n}\n"},
        ("pub name", "pub title"),
        "Likely still used, by name: `f` (a.rs:6) for `name`.",
    ),
    "c-macro": (
        {"a.h": "#define LIMIT 3\n", "b.c": '#include "a.h"\nint f(int n) {\n    return n > LIMIT;\n}\n'},
        ("LIMIT", "MOST"),
        "Likely still used, by name: `f` (b.c:3) for `LIMIT`.",
    ),
    "csharp-property": (
        {"A.cs": "class A {\n    public int Width { get; set; }\n    int F() {\n        return Width;\n    }\n}\n"},
        ("int Width", "int Breadth"),
        "Likely still used, by name: `A.F` (A.cs:4) for `Width`.",
    ),
}  # fmt: skip
