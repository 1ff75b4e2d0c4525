"""What growth is seen by: lines, modules, rooms, names borne twice, inheritance, the packet's format.

``python -m tests.architecture.structure`` prints it; what must not grow is held by ``test_growth``.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import grimp

from tests.architecture.source_tree import PRODUCT, ROOT, modules

MOST_FILES = 30
"""Files of a room that a reader can keep apart."""
DEEPEST = 3
"""Classes of the product from one that inherits to the first, both counted."""
SMALL = 60
"""Lines of a module that could stand in the only one that imports it."""
MARK = "■"
"""What a packet's header begins with."""
MARK_OWNERS = frozenset(
    {"repo_map/drawing/rendering.py", "tests/support/maps.py", "tests/architecture/growth.py"}
)


class Size(NamedTuple):
    """How much a package holds."""

    package: str
    modules: int
    lines: int


class ClassName(NamedTuple):
    """Where a class is defined."""

    module: str
    name: str


def sizes() -> Iterator[Size]:
    """Yield the size of every package of the product, then of every room in it."""
    counts: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for module in modules().values():
        parts = module.name.split(".")
        is_package = module.path.name == "__init__.py"
        for depth in range(1, len(parts) + is_package):
            counts[".".join(parts[:depth])] += 1
            lines[".".join(parts[:depth])] += module.lines
    yield from (Size(name, counts[name], lines[name]) for name in sorted(counts))


def large_rooms(most: int = MOST_FILES) -> list[tuple[str, int]]:
    """Return each folder of the product with more files than ``most``, ``__init__`` left out."""
    files = Counter(
        str(module.path.parent.relative_to(ROOT))
        for module in modules().values()
        if module.path.name != "__init__.py"
    )
    return sorted((folder, count) for folder, count in files.items() if count > most)


def with_one_importer() -> list[tuple[str, str]]:
    """Return each module that one module alone imports, with that module."""
    graph = grimp.build_graph(*PRODUCT, cache_dir=None)
    found = (
        (name, graph.find_modules_that_directly_import(name)) for name in modules() if name in graph.modules
    )
    return [(name, next(iter(importers))) for name, importers in found if len(importers) == 1]


def names_borne_twice() -> Mapping[str, tuple[str, ...]]:
    """Return the public classes of the product that share a name, with their modules."""
    borne: defaultdict[str, list[str]] = defaultdict(list)
    for defined in _classes():
        if not defined.name.startswith("_"):
            borne[defined.name].append(defined.module)
    return {name: tuple(found) for name, found in sorted(borne.items()) if len(found) > 1}


def deep_classes(deepest: int = DEEPEST) -> list[tuple[int, ClassName]]:
    """Return each class whose chain of the product's own classes is longer than ``deepest``."""
    classes = _classes()
    depths = {each: _depth(each, classes, frozenset()) for each in classes}
    return sorted((depth, each) for each, depth in depths.items() if depth > deepest)


def deepest_class() -> tuple[int, ClassName]:
    """Return the longest chain of classes."""
    classes = _classes()
    return max((_depth(each, classes, frozenset()), each) for each in classes)


def copies_of_the_mark() -> list[str]:
    """Return the files that spell the packet's header without owning it; goldens and documents are data."""
    found = chain.from_iterable(
        (ROOT / name).rglob("*.py") for name in (*PRODUCT, "tests", "benchmarks", "training")
    )
    named = ((str(path.relative_to(ROOT)), path) for path in sorted(found))
    return [
        name
        for name, path in named
        if name not in MARK_OWNERS and not _is_data(path) and MARK in path.read_text(encoding="utf-8")
    ]


def _is_data(path: Path) -> bool:
    return re.search(r"/(?:data|tasks)/", path.as_posix()) is not None


def _classes() -> dict[ClassName, tuple[ClassName, ...]]:
    """Return each class at the top of a module, with those of the product that it inherits from."""
    defined = {
        ClassName(module.name, node.name): (module, node)
        for module in modules().values()
        for node in module.tree.body
        if isinstance(node, ast.ClassDef)
    }
    return {
        each: tuple(
            base
            for text in map(_name_of, node.bases)
            if (base := _base(text, module.name, module.tree, defined))
        )
        for each, (module, node) in defined.items()
    }


def _name_of(base: ast.expr) -> str:
    return ast.unparse(base.value if isinstance(base, ast.Subscript) else base)


def _base(text: str, module: str, tree: ast.Module, defined: Mapping[ClassName, object]) -> ClassName | None:
    if (own := ClassName(module, text)) in defined:
        return own
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == text and (
                    found := ClassName(node.module or "", alias.name)
                ) in defined:
                    return found
    return None


def _depth(
    each: ClassName, classes: Mapping[ClassName, tuple[ClassName, ...]], above: frozenset[ClassName]
) -> int:
    bases = (base for base in classes[each] if base not in above)
    return 1 + max((_depth(base, classes, above | {each}) for base in bases), default=0)
