"""Names that new lines use and nothing defines: imports from files of the tree, and calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from repo_map.check.bare_names import SCRIPTS, is_given
from repo_map.impact.findings import Finding, FindingKind
from repo_map.impact.sides import Sides
from repo_map.messages import one_line
from repo_map.parsing.facts_model import CALL, IMPORT, RENAMED, STAR, VALUE, Binding, Site
from repo_map.relations.file_facts import FileViews
from repo_map.relations.text_search import files_with, row_at

_TOP: Final = 1_000_000
_WORD: Final = r"(?<![\w$]){}(?![\w$])"
_OPEN: Final = {
    "python": r"\bexec\(|globals\(\)",
    "go": r'import "C"|//go:generate|//go:linkname',
    "rust": r"\binclude!|macro_rules!",
    "java": r"\blombok\b|new\s+[\w.<>, ]+\([^;{}]*\)\s*\{",
}
"""What a file has in which a bare name may be bound by what is not written there."""
_SCRIPT_OPEN: Final = r"\bwith\s*\(|\beval\(|\bdeclare\b|/\*\s*global"
_BARE: Final = frozenset(_OPEN) | SCRIPTS
"""Languages in which what a bare name means is written in its file, its package or its classes."""
_OF_HOMES: Final = SCRIPTS | {"python"}
"""Languages whose imports name a file, and what they take of it."""
_GIVES_ALL: Final = {
    "python": r"__getattr__|globals\(\)|import \*|setattr\(",
    "script": r"export\s*\*|module\.exports|exports\[|Object\.assign\(",
}
_MODULE: Final = re.compile(r"^\s*(?:import|export)\b|\brequire\(", re.M)
_DEFINES: Final = re.compile(
    r"\b(?:def|class|import|as|global|nonlocal|fn|func|fun|function|use|struct|type|macro)\s+$|[\"'#`]$"
)


def undefined_names(sides: Sides) -> Iterator[Finding]:
    """Yield them: what the lines of the edited files show to be bound nowhere."""
    index = sides.after.index
    for each in sides.files:
        file = index.file_id(each.new) if each.new else None
        if file is None or sides.after.forms(file).errors or not sides.after.relations.knows(file):
            continue
        language = sides.after.language(file)
        if language in _BARE and not _is_open(sides, file, language):
            yield from _calls(sides, file, language)
        if language in _OF_HOMES:
            yield from _imports(sides, file, language)


def _is_open(sides: Sides, file: int, language: str) -> bool:
    """Tell whether names of a file may be bound elsewhere than its language's rules say."""
    text = sides.after.index.text(file)
    if language in SCRIPTS and _MODULE.search(text) is None:
        return True
    view = sides.after.index.derived(FileViews)[file]
    is_open = re.search(_OPEN.get(language, _SCRIPT_OPEN), text) is not None
    return is_open or any(binding.kind == STAR for binding in view.bindings)


def _calls(sides: Sides, file: int, language: str) -> Iterator[Finding]:
    """Yield calls by a bare name."""
    index = sides.after.index
    bound = {binding.name for binding in index.derived(FileViews)[file].bindings}
    for call in sides.after.forms(file).calls:
        if call.receiver or sides.line_before(file, call.line) or is_given(call.name, language):
            continue
        if call.name in bound or not call.name.isidentifier():
            continue
        if not _is_unknown(sides, file, call.name, call.line):
            continue
        if not all(_is_only_called(text, call.name) for text in _scope(sides, file, call.name, language)):
            continue
        where = {"go": "package", "java": "tree"}.get(language, "file")
        row = row_at(index, file, call.line)
        yield Finding(
            FindingKind.UNDEFINED,
            index.paths[file],
            call.line,
            index.qualified_name(file, row) if row >= 0 else "",
            call.name,
            f"`{one_line(call.name)}` is defined nowhere in this {where}, and not imported",
            "import or define it",
            is_sure=True,
        )


def _is_unknown(sides: Sides, file: int, name: str, line: int) -> bool:
    """Tell whether relations know nothing that a call means, without having left it open."""
    sites = [
        site
        for site in sides.after.index.derived(FileViews)[file].sites
        if site.line == line and site.name == name and site.kind == CALL and not site.object
    ]
    meanings = [sides.after.relations.meaning(file, site) for site in sites]
    return not any(each.targets or each.is_external or each.is_left_open for each in meanings)


def _scope(sides: Sides, file: int, name: str, language: str) -> Iterable[str]:
    """Yield the sources in which a bare name of a file may be bound."""
    index = sides.after.index
    if language not in ("go", "java"):
        return [index.text(file)]
    folder = index.paths[file].rpartition("/")[0]
    return [
        index.text(each)
        for each in {*files_with(index, (name,)), file}
        if language == "java" or index.paths[each].rpartition("/")[0] == folder
    ]


def _imports(sides: Sides, file: int, language: str) -> Iterator[Finding]:
    """Yield new imports of names that a file of the tree does not have."""
    index, relations = sides.after.index, sides.after.relations
    for binding in index.derived(FileViews)[file].bindings:
        module, _, name = binding.value.rpartition(":")
        if binding.kind not in (IMPORT, RENAMED) or not module or not name or name in ("default", "*"):
            continue
        if sides.line_before(file, binding.line):
            continue
        meaning = relations.meaning(file, Site(binding.name, "", -1, _TOP, VALUE, 0))
        if meaning.targets or meaning.is_left_open or meaning.is_external:
            continue
        homes = _homes(sides, file, binding, module)
        if language == "python" and any(_is_module(index.paths[home], name) for home in homes):
            continue
        if not homes or any(_has(index.text(home), name, language) for home in homes):
            continue
        yield Finding(
            FindingKind.UNDEFINED,
            index.paths[file],
            binding.line,
            "",
            name,
            f"it imports `{one_line(name)}`, which {index.paths[homes[0]]} does not define",
            "import what is there, or define it",
            is_sure=True,
            cause=index.paths[homes[0]],
        )


def _homes(sides: Sides, file: int, binding: Binding, module: str) -> list[int]:
    """Return the files that an import leads to, where all of them bear the module's last name."""
    index = sides.after.index
    last = re.split(r"[./]", re.sub(r"\.[cm]?[jt]sx?$", "", module))[-1]
    found = dict.fromkeys(
        each.target[0] for each in sides.after.relations.imports_of(file) if each.line == binding.line
    )
    is_meant = [
        home
        for home in found
        if any(step == last or step.startswith(f"{last}.") for step in index.paths[home].split("/"))
    ]
    return is_meant if last and len(is_meant) == len(found) else []


def _is_module(path: str, name: str) -> bool:
    """Tell whether a file is the module that `from package import name` takes whole."""
    steps = path.removesuffix("/__init__.py").removesuffix(".py").split("/")
    return steps[-1] == name


def _has(text: str, name: str, language: str) -> bool:
    """Tell whether a name may be one of a module: it stands in it, or the module may give any."""
    gives_all = _GIVES_ALL["script" if language in SCRIPTS else language]
    return (
        re.search(gives_all, text) is not None or re.search(_WORD.format(re.escape(name)), text) is not None
    )


def _is_only_called(text: str, name: str) -> bool:
    """Tell whether a name stands in a source as what is called by itself, and in no other way."""
    for match in re.finditer(_WORD.format(re.escape(name)), text):
        before = text[max(0, match.start() - 12) : match.start()]
        if before.endswith("."):
            continue
        if text[match.end() : match.end() + 1] != "(" or _DEFINES.search(before):
            return False
    return True
