"""Names on new lines that nothing defines: imports from files of the repository, and calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from repo_map.check.model import Finding, FindingKind
from repo_map.check.resolution import SCRIPTS, is_builtin
from repo_map.check.trees import WORD, TreeComparison
from repo_map.messages import one_line
from repo_map.parsing.facts_model import CALL, IMPORT, RENAMED, STAR, VALUE, Binding, Site
from repo_map.relations.text_search import files_with, row_at

_END: Final = 1_000_000
_DYNAMIC: Final = {
    "python": r"\bexec\(|globals\(\)",
    "go": r'import "C"|//go:generate|//go:linkname',
    "rust": r"\binclude!|macro_rules!",
    "java": r"\blombok\b|new\s+[\w.<>, ]+\([^;{}]*\)\s*\{",
    **dict.fromkeys(SCRIPTS, r"\bwith\s*\(|\beval\(|\bdeclare\b|/\*\s*global"),
}
"""What in a file may bind a bare name in another way, by language; of other languages nothing is reported."""
_PROVIDES_ANY: Final = {
    "python": r"__getattr__|globals\(\)|import \*|setattr\(",
    **dict.fromkeys(SCRIPTS, r"export\s*\*|module\.exports|exports\[|Object\.assign\("),
}
"""What in a module may provide any name, for languages whose imports name a file and a name of it."""
_MODULE: Final = re.compile(r"^\s*(?:import|export)\b|\brequire\(", re.M)
_DEFINES: Final = re.compile(
    r"\b(?:def|class|import|as|global|nonlocal|fn|func|fun|function|use|struct|type|macro)\s+$"
)


def undefined_names(trees: TreeComparison) -> Iterator[Finding]:
    """Yield the calls and imports on new lines that are bound nowhere."""
    for _, file in trees.new_files:
        if trees.after.forms(file).errors or not trees.after.relations.knows(file):
            continue
        language = trees.after.language(file)
        if language in _DYNAMIC and not _may_bind_any(trees, file, language):
            yield from _calls(trees, file, language)
        if language in _PROVIDES_ANY:
            yield from _imports(trees, file, language)


def _may_bind_any(trees: TreeComparison, file: int, language: str) -> bool:
    text = trees.after.index.sources.text(file)
    if language in SCRIPTS and _MODULE.search(text) is None:
        return True
    bindings = trees.after.view(file).bindings
    return re.search(_DYNAMIC[language], text) is not None or any(each.kind == STAR for each in bindings)


def _calls(trees: TreeComparison, file: int, language: str) -> Iterator[Finding]:
    """Yield calls of undefined bare names."""
    tree = trees.after
    bound = {binding.name for binding in tree.view(file).bindings}
    for call in tree.forms(file).calls:
        is_known = call.receiver or call.name in bound or is_builtin(call.name, language)
        if is_known or trees.line_before(file, call.line) or not call.name.isidentifier():
            continue
        if not _is_unresolved(trees, file, call.name, call.line):
            continue
        if not all(_is_only_called(tree.code(each), call.name) for each in _scope(trees, file, call.name)):
            continue
        where = {"go": "package", "java": "tree"}.get(language, "file")
        message = f"`{one_line(call.name)}` is defined nowhere in this {where}, and not imported"
        place = file, row_at(tree.index, file, call.line)
        yield tree.finding(
            FindingKind.UNDEFINED_NAME, place, call.line, call.name, (message, "import or define it")
        )


def _is_unresolved(trees: TreeComparison, file: int, name: str, line: int) -> bool:
    """Return True if the relations know no target of a call, and did not give up on it."""
    meanings = [
        trees.after.relations.meaning(file, site)
        for site in trees.after.view(file).sites
        if site.line == line and site.name == name and site.kind == CALL and not site.object
    ]
    return not any(each.targets or each.is_external or each.is_left_open for each in meanings)


def _scope(trees: TreeComparison, file: int, name: str) -> Iterable[int]:
    """Return the files in which a bare name of a file may be bound."""
    index, language = trees.after.index, trees.after.language(file)
    folder = index.paths[file].rpartition("/")[0]
    return {file} | {
        each
        for each in (files_with(index, (name,)) if language in ("go", "java") else ())
        if language == "java" or index.paths[each].rpartition("/")[0] == folder
    }


def _imports(trees: TreeComparison, file: int, language: str) -> Iterator[Finding]:
    """Yield new imports of names that a file of the repository does not have."""
    index, relations = trees.after.index, trees.after.relations
    for binding in trees.after.view(file).bindings:
        module, _, name = binding.value.rpartition(":")
        if binding.kind not in (IMPORT, RENAMED) or not module or not name or name in ("default", "*"):
            continue
        if trees.line_before(file, binding.line):
            continue
        meaning = relations.meaning(file, Site(binding.name, "", -1, _END, VALUE, 0))
        if meaning.targets or meaning.is_left_open or meaning.is_external:
            continue
        homes = _imported_files(trees, file, binding, module)
        # ``from package import name`` may import a module.
        is_module = language == "python" and any(_module_name(index.paths[home]) == name for home in homes)
        provided = rf"{_PROVIDES_ANY[language]}|{WORD.format(re.escape(name))}"
        texts = [index.sources.text(home) for home in homes]
        if homes and not is_module and not any(re.search(provided, text) for text in texts):
            home = index.paths[homes[0]]
            message = f"it imports `{one_line(name)}`, which {home} does not define"
            action = "import what is there, or define it"
            kind = FindingKind.UNDEFINED_NAME
            yield trees.after.finding(kind, (file, -1), binding.line, name, (message, action), cause=home)


def _imported_files(trees: TreeComparison, file: int, binding: Binding, module: str) -> list[int]:
    """Return the files that an import leads to if all of them have the module's last name, else none."""
    paths = trees.after.index.paths
    last = re.split(r"[./]", re.sub(r"\.[cm]?[jt]sx?$", "", module))[-1]
    imports = trees.after.relations.imports_of(file)
    found = list(dict.fromkeys(each.target[0] for each in imports if each.line == binding.line))
    is_certain = all(
        any(step == last or step.startswith(f"{last}.") for step in paths[home].split("/")) for home in found
    )
    return found if last and is_certain else []


def _module_name(path: str) -> str:
    return path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2]


def _is_only_called(text: str, name: str) -> bool:
    """Return True if a bare name occurs in a source in calls only."""
    for match in re.finditer(WORD.format(re.escape(name)), text):
        before = text[max(0, match.start() - 12) : match.start()]
        is_call = text[match.end() : match.end() + 1] == "(" and not _DEFINES.search(before)
        if not before.endswith(".") and not is_call:
            return False
    return True
