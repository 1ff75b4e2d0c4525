"""JavaScript's and TypeScript's names mean what the languages say they mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.relations.resolve import relations_of
from tests.repo_map.relations.asking import Files, callers, index_of, lines_of, place_of, uses

SHAPES = """\
export class Shape {
  area(): number { return this.side() ** 2 }
  side(): number { return 1 }
}
export default class Square extends Shape {
  side(): number { return super.side() + 2 }
  static unit(): Square { return new Square() }
  get outline(): Square { return new Square() }
}
"""

CALLED: dict[str, tuple[Files, str, list[str]]] = {
    "a function imported by name, under another, and with its module": (
        {
            "a.ts": "export function f() {}\n",
            "b.ts": "import { f } from './a'\nf()\n",
            "c.ts": "import { f as g } from './a.js'\ng()\n",
            "d.ts": "import * as a from './a'\na.f()\n",
        },
        "a.ts:f",
        ["b.ts:2", "c.ts:2", "d.ts:2"],
    ),
    "no namesake that is imported from elsewhere": (
        {"a.ts": "export function f() {}\n", "b.ts": "import { f } from 'other'\nf()\n"},
        "a.ts:f",
        [],
    ),
    "a function that a barrel hands on, by name, by star, under another name": (
        {
            "lib/a.ts": "export const f = () => 1\n",
            "lib/index.ts": "export { f } from './a'\nexport { f as g } from './a'\n",
            "all.ts": "export * from './lib'\n",
            "b.ts": "import { f, g } from './lib'\nf()\ng()\n",
            "c.ts": "import { f } from './all'\nf()\n",
        },
        "lib/a.ts:f",
        ["b.ts:2", "b.ts:3", "c.ts:2"],
    ),
    "what a module gives by default": (
        {"a.ts": SHAPES, "b.ts": "import Box from './a'\nconst b = new Box()\nb.area()\n"},
        "a.ts:Shape.area",
        ["b.ts:3"],
    ),
    "a path that tsconfig.json maps, comments in it": (
        {
            "tsconfig.json": '{ // settings\n"compilerOptions": {"baseUrl": ".", '
            '"paths": {"@/*": ["src/*"]},}}\n',
            "src/a.ts": "export function f() {}\n",
            "app/b.ts": "import { f } from '@/a'\nf()\n",
        },
        "src/a.ts:f",
        ["app/b.ts:2"],
    ),
    "a package of the same repository": (
        {
            "packages/core/package.json": '{"name": "@us/core", "main": "dist/index.js"}',
            "packages/core/src/index.ts": "export function f() {}\n",
            "packages/app/b.ts": "import { f } from '@us/core'\nf()\n",
        },
        "packages/core/src/index.ts:f",
        ["packages/app/b.ts:2"],
    ),
    "what require gives": (
        {
            "a.js": "function f() {}\nmodule.exports = { f, g: f }\n",
            "b.js": "const { f } = require('./a')\nf()\nconst a = require('./a')\na.f()\na.g()\n",
        },
        "a.js:f",
        ["b.js:2", "b.js:4", "b.js:5"],
    ),
    "a module that is a function": (
        {
            "a.js": "module.exports = make\nfunction make() {}\n",
            "b.js": "const build = require('./a')\nbuild()\n",
        },
        "a.js:make",
        ["b.js:2"],
    ),
    "a method that is assigned to an object": (
        {
            "a.js": "var app = exports = module.exports = {}\napp.use = function use() { this.go() }\n"
            "app.go = function () {}\n"
        },
        "a.js:app.go",
        ["a.js:2"],
    ),
    "a method of an object literal": (
        {
            "a.ts": "export const api = {\n  get() { return 1 },\n}\n",
            "b.ts": "import { api } from './a'\napi.get()\n",
        },
        "a.ts:api.get",
        ["b.ts:2"],
    ),
    "the own object's method, and its base's": ({"a.ts": SHAPES}, "a.ts:Shape.side", ["a.ts:2", "a.ts:6"]),
    "an object by its written type": (
        {
            "a.ts": SHAPES,
            "b.ts": "import type { Shape } from './a'\nfunction g(s: Shape, t?: Shape | null, u: Shape[]) {\n"
            "  s.area()\n  t?.area()\n  t!.area()\n  for (const each of u) each.area()\n"
            "  u.map((x) => x.area())\n}\n",
        },
        "a.ts:Shape.area",
        ["b.ts:3", "b.ts:4", "b.ts:5", "b.ts:6", "b.ts:7"],
    ),
    "an object by its field, written in the class or in its constructor": (
        {
            "a.ts": SHAPES,
            "b.ts": "import { Shape } from './a'\nclass Box {\n  lid = new Shape()\n"
            "  constructor(private side: Shape) {}\n"
            "  go() { this.lid.area(); this.side.area() }\n}\n",
        },
        "a.ts:Shape.area",
        ["b.ts:5"],
    ),
    "an object by what a function returns, awaited or not": (
        {
            "a.ts": SHAPES,
            "b.ts": "import Square, { Shape } from './a'\n"
            "async function make(): Promise<Shape> { return new Shape() }\n"
            "const guess = () => make()\nasync function go() {\n  (await make()).area()\n"
            "  const s = await guess()\n"
            "  s.area()\n  Square.unit().area()\n  new Square().outline.area()\n}\n",
        },
        "a.ts:Shape.area",
        ["b.ts:5", "b.ts:7", "b.ts:8", "b.ts:9"],
    ),
    "an object in a map": (
        {
            "a.ts": SHAPES,
            "b.ts": "import { Shape } from './a'\nconst known: Map<string, Shape> = new Map()\n"
            "known.get('a')?.area()\n",
        },
        "a.ts:Shape.area",
        ["b.ts:3"],
    ),
    "no parameter that hides it": (
        {"a.ts": "function f() {}\nfunction g(f: () => void) { f() }\nconst h = (f) => f()\n"},
        "a.ts:f",
        [],
    ),
    "no method of a text": (
        {"a.ts": "class Cup { trim() {} }\n", "b.ts": "function g(s: string) { s.trim() }\n"},
        "a.ts:Cup.trim",
        [],
    ),
    "no global of its name": (
        {"a.ts": "export function fetch() {}\n", "b.ts": "fetch('x')\n"},
        "a.ts:fetch",
        [],
    ),
    "no function of its name in another language": (
        {"a.py": "def f(): pass\n", "b.ts": "import { f } from './a'\nf()\n"},
        "a.py:f",
        [],
    ),
    "the construction of a class": (
        {
            "a.ts": "export class A { constructor() {} }\n",
            "b.ts": "import { A } from './a'\nnew A()\nclass B extends A {\n  constructor() { super() }\n}\n",
        },
        "a.ts:A.constructor",
        ["b.ts:2", "b.ts:4"],
    ),
    "a method of a returned object type": (
        {
            "a.ts": "export class Job { work() {} }\n"
            "export function make(): {\n  go(): Job\n  last: Job\n} { return null! }\n",
            "b.ts": "import { make } from './a'\nmake().go().work()\nconst m = make()\nm.last.work()\n",
        },
        "a.ts:Job.work",
        ["b.ts:2", "b.ts:4"],
    ),
    "a method of a returned object type itself": (
        {
            "a.ts": "export function make(): {\n  go(): void\n} { return null! }\n"
            "function other(): { go(): void } {}\n",
            "b.ts": "import { make } from './a'\nmake().go()\n",
        },
        "a.ts:make.go",
        ["b.ts:2"],
    ),
    "a callback, optional or not": (
        {
            "a.ts": "export interface Opts {\n  done?: (x: number) => void\n  size: number\n}\n"
            "function run(o: Opts) {\n  o.done?.(1)\n  if (o.done) o.done(2)\n  o.size(3)\n}\n"
        },
        "a.ts:Opts.done",
        ["a.ts:6", "a.ts:7"],
    ),
    "a component": (
        {
            "a.tsx": "export function Box() { return null }\n",
            "b.tsx": "import { Box } from './a'\nexport const x = () => <Box />\n",
        },
        "a.tsx:Box",
        ["b.tsx:2"],
    ),
}


@pytest.mark.parametrize(("files", "name", "expected"), CALLED.values(), ids=CALLED)
def test_callers_are_told_of(tmp_path: Path, files: Files, name: str, expected: list[str]) -> None:
    assert callers(tmp_path, files, name) == expected


def test_types_are_used_where_they_are_written(tmp_path: Path) -> None:
    files = {
        "a.ts": "export interface A { x: number }\nexport type B = A | null\n",
        "b.ts": "import type { A } from './a'\nclass C implements A { x = 1 }\nlet y: Array<A> = z as A[]\n",
    }
    assert uses(tmp_path, files, "a.ts:A") == ["a.ts:2", "b.ts:2", "b.ts:3"]


def test_an_interface_is_implemented(tmp_path: Path) -> None:
    files = {
        "a.ts": "export interface A { go(): void }\n",
        "b.ts": "import { A } from './a'\nclass B implements A {\n  go() {}\n}\n"
        "function g(a: A) { a.go() }\n",
    }
    index = index_of(tmp_path, files)
    relations = relations_of(index)
    assert lines_of(index, relations.implementations_of(place_of(index, "a.ts:A"))) == ["b.ts:2"]
    assert lines_of(index, relations.overridden_by(place_of(index, "a.ts:A.go"))) == ["b.ts:3"]
    assert lines_of(index, relations.callers_of(place_of(index, "a.ts:A.go"))) == ["b.ts:5"]


def test_a_package_is_ours_only_where_it_is_not_taken_as_published(tmp_path: Path) -> None:
    use = "import { make } from 'store'\nmake()\n"
    files = {
        "tsconfig.json": '{"compilerOptions": {"paths": {"store": ["./packages/store/index.js"]}}}',
        "package.json": '{"name": "root", "workspaces": [".", "packages/*"]}',
        "packages/store/package.json": '{"name": "store", "main": "index.js"}',
        "packages/store/index.js": "export function make() {}\n",
        "packages/app/package.json": '{"name": "app", "dependencies": {"store": "^2.0.0"}}',
        "packages/app/use.js": use,
        "examples/old/package.json": '{"name": "old", "dependencies": {"store": "^1.0.0"}}',
        "examples/old/use.js": use,
        "examples/new/package.json": '{"name": "new", "dependencies": {"store": "file:../store"}}',
        "examples/new/use.js": use,
        "tests/use.js": use,
    }
    assert callers(tmp_path, files, "packages/store/index.js:make") == [
        "examples/new/use.js:2",
        "packages/app/use.js:2",
        "tests/use.js:2",
    ]
