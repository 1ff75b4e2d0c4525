"""Names that new lines use and nothing defines: imports from files of the tree, and calls by a bare name."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from typing import Final

from repo_map.impact.findings import Finding, FindingKind
from repo_map.impact.risks import row_at
from repo_map.impact.sides import Sides
from repo_map.messages import one_line
from repo_map.parsing.facts_model import IMPORT, RENAMED, STAR, VALUE, Site
from repo_map.relations.file_facts import FileViews

_TOP: Final = 1_000_000
_BUILTINS: Final = frozenset(dir(builtins)) | {
    "__file__",
    "__name__",
    "reveal_type",
    "unicode",
    "xrange",
    "raw_input",
}
_WORD: Final = r"(?<![\w.]){}(?!\w)"


def undefined_names(sides: Sides) -> Iterator[Finding]:
    """Yield them, of Python's files: what a file's own lines show to be bound nowhere."""
    index = sides.after.index
    for each in sides.files:
        file = index.file_id(each.new) if each.new else None
        if file is None or sides.after.language(file) != "python":
            continue
        view = index.derived(FileViews)[file]
        text = index.text(file)
        if any(binding.kind == STAR for binding in view.bindings) or "exec(" in text or "globals()" in text:
            continue
        for call in sides.after.forms(file).calls:
            if call.receiver or each.lines.before(call.line) or call.name in _BUILTINS:
                continue
            if not _is_only_called(text, call.name):
                continue
            row = row_at(index, file, call.line)
            within = index.qualified_name(file, row) if row >= 0 else ""
            yield Finding(
                FindingKind.UNDEFINED,
                each.new,
                call.line,
                within,
                call.name,
                f"`{one_line(call.name)}` is defined nowhere in this file, and not imported",
                "import or define it",
                is_sure=True,
            )
        yield from _imports(sides, file, each.new)


def _imports(sides: Sides, file: int, path: str) -> Iterator[Finding]:
    """Yield new imports of names that a file of the tree does not have."""
    index, relations = sides.after.index, sides.after.relations
    view = index.derived(FileViews)[file]
    for binding in view.bindings:
        module, _, name = binding.value.rpartition(":")
        if binding.kind not in (IMPORT, RENAMED) or not module or not name:
            continue
        if sides.line_before(file, binding.line):
            continue
        meaning = relations.meaning(file, Site(binding.name, "", -1, _TOP, VALUE, 0))
        if meaning.targets or meaning.is_left_open:
            continue
        home = _module(sides, file, module)
        if home is None or _has(sides, home, name):
            continue
        yield Finding(
            FindingKind.UNDEFINED,
            path,
            binding.line,
            "",
            name,
            f"it imports `{one_line(name)}`, which {index.paths[home]} does not define",
            "import what is there, or define it",
            is_sure=True,
            cause=index.paths[home],
        )


def _module(sides: Sides, file: int, module: str) -> int | None:
    """Return the file of the tree that a module is: by its path, where only one ends so."""
    index = sides.after.index
    bare = module.lstrip(".")
    dots = len(module) - len(bare)
    if not dots:
        return None
    folder = index.paths[file].rpartition("/")[0]
    for _ in range(dots - 1):
        folder = folder.rpartition("/")[0]
    stem = "/".join(filter(None, (folder, bare.replace(".", "/"))))
    return index.file_id(f"{stem}.py") if bare else None


def _has(sides: Sides, file: int, name: str) -> bool:
    """Tell whether a name may be one of a module: it stands in it in any way but as a use."""
    text = sides.after.index.text(file)
    if "__getattr__" in text or "globals()" in text or "import *" in text or "setattr(" in text:
        return True
    return re.search(_WORD.format(re.escape(name)), text) is not None


def _is_only_called(text: str, name: str) -> bool:
    """Tell whether a name stands in a source as what is called by itself, and in no other way."""
    found = 0
    for match in re.finditer(_WORD.format(re.escape(name)), text):
        before = text[max(0, match.start() - 12) : match.start()]
        after = text[match.end() : match.end() + 1]
        if after != "(" or re.search(r"(?:def|class|import|as|global|nonlocal)\s+$|[\"'#]$", before):
            return False
        found += 1
    return found > 0
