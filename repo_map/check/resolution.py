"""Whether a name means anything in a tree: builtins, what binds it in a source, and relations."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from typing import Final

from repo_map.check.model import Finding, FindingKind
from repo_map.check.trees import WORD, TreeComparison, TreeVersion
from repo_map.languages.registry import vocabulary
from repo_map.messages import one_line
from repo_map.parsing.facts_model import CALL, IMPORT, RENAMED, STAR
from repo_map.relations.text_search import files_with

SCRIPTS: Final = frozenset({"javascript", "jsx", "typescript", "tsx"})
CLOSED: Final = SCRIPTS | {"python", "go"}
"""Languages in which a bare name that no line binds is a builtin, or a mistake."""
_BUILTINS: Final = {
    "python": {*dir(builtins), "__file__", "__name__", "reveal_type", "unicode", "xrange", "raw_input"},
    "go": vocabulary("go", "functions", "types"),
    "rust": vocabulary("rust", "builtins", "usual"),
    "java": frozenset({"this", "super"}),
    **dict.fromkeys(SCRIPTS, vocabulary("javascript", "globals", "hosts")),
}
_SCRIPT_BINDS: Final = (
    r"\b(?:const|let|var|function\*?|class|type|interface|enum|as)\s+{0}\b(?!\$)|{1}(?<![\w.$]){0}\s*=(?!=)"
    r"|\b(?:const|let|var)\s*[{{\[][^=;]*(?<![\w.$]){0}\b(?!\$)[^=;]*[}}\]]\s*="
    r"|\bimport\b[^;'\"]*(?<![\w.$]){0}\b(?!\$)[^;'\"]*\bfrom\b"
    r"|(?<!\bif )(?<!\bwhile )(?<!\bswitch )\([^()]*{1}(?<![\w.$]){0}\b(?!\$)[^()]*\)"
    r"\s*(?::[^(){{}}=]*)?(?:=>|{{)"
)
"""What binds a bare name in a script: declarations, destructuring, imports, parameters."""
_RUST_BINDS: Final = (
    r"\b(?:let|for|mut|ref|use|mod)\s+{0}\b|\b{0}\s*:(?!:)|\|[^|\n]*\b{0}\b[^|\n]*\||\b{0}!|macro_rules!"
    r"|[(,{{]\s*{0}\s*(?:,[^()]*)?[)}}]\s*(?:=>|=(?!=)|if\b)"
)
_PROTOTYPE: Final = (
    r"(?m)^(?!\s*(?:return|else|case|goto|#|/|\*))(?:[A-Z_]+[ \t]*\([^();{{}}\n]*\)(?:[\w \t*]*[\s*])?"
    r"|[A-Za-z_][\w \t*]*[\s*])({})\s*\(([^;{{}}]*?)\)(?:\s*\w+(?:\([^;{{}}]*\))?){{0,3}}\s*;"
)
_BINDS_ANY: Final = {
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
_AUTO_IMPORTS: Final = re.compile(r"(?:^|/)(?:nuxt\.config\.[cm]?[jt]s|auto-imports\.d\.ts)$")
"""Files beside scripts whose imports a build adds."""
_MAX_OTHERS: Final = 40
"""Files with an undefined name that are searched for whether they use it as a global."""
_MODULE: Final = re.compile(r"^\s*(?:import|export)\b|\brequire\(", re.M)
_DEFINES: Final = re.compile(
    r"\b(?:def|class|import|as|global|nonlocal|fn|func|fun|function|use|struct|type|macro)\s+$"
)


def is_builtin(name: str, language: str) -> bool:
    """Return True for a name that a language, or its usual test runner, has without an import."""
    return name in _BUILTINS.get(language, ())


def is_bound_in_text(text: str, name: str, language: str) -> bool:
    """Return True if the text of a script or Rust source binds a bare name, perhaps in an inner scope."""
    if language == "rust":
        return re.search(_RUST_BINDS.format(re.escape(name)), text) is not None
    if language not in SCRIPTS:
        return False
    # A type follows a colon, and so does a destructured name.
    not_a_type = r"(?<!:)(?<!: )(?<![|&] )" if name[:1].isupper() else ""
    return re.search(_SCRIPT_BINDS.format(re.escape(name), not_a_type), text) is not None


def find_prototypes(tree: TreeVersion, name: str) -> Iterator[tuple[int, int, int]]:
    """Yield file, line and number of parameters of a C function's prototypes; -1 if they are not written.

    They are found as text: a header with macros can't be parsed as a whole.
    """
    pattern = re.compile(_PROTOTYPE.format(re.escape(name)))
    for file in files_with(tree.index, (name,)):
        text = tree.index.sources.text(file) if tree.language(file) in ("c", "cpp") else ""
        for found in pattern.finditer(text):
            parameters = re.sub(r"/\*.*?\*/|//[^\n]*", "", found[2], flags=re.S).strip()
            while (flat := re.sub(r"\([^()]*\)", "", parameters)) != parameters:
                parameters = flat
            count = 0 if parameters == "void" else parameters.count(",") + 1
            yield file, text.count("\n", 0, found.start(1)) + 1, count if parameters else -1


def undefined_names(trees: TreeComparison) -> Iterator[Finding]:
    """Yield the calls and imports on new lines that are bound nowhere."""
    for _, file in trees.new_files:
        if trees.after.forms(file).errors or not trees.after.relations.knows(file):
            continue
        language = trees.after.language(file)
        if language in _BINDS_ANY and not _may_bind_any(trees, file, language):
            yield from _calls(trees, file, language)
        if language in _PROVIDES_ANY:
            yield from _imports(trees, file, language)


def _may_bind_any(trees: TreeComparison, file: int, language: str) -> bool:
    index, bindings = trees.after.index, trees.after.view(file).bindings
    text, path = index.sources.text(file), index.paths[file]
    configs = (each for each in index.paths if language in SCRIPTS and _AUTO_IMPORTS.search(each))
    return (
        (language in SCRIPTS and _MODULE.search(text) is None)
        or any(path.startswith(each.rpartition("/")[0]) for each in configs)
        or re.search(_BINDS_ANY[language], text) is not None
        or any(each.kind == STAR for each in bindings)
    )


def _calls(trees: TreeComparison, file: int, language: str) -> Iterator[Finding]:
    tree = trees.after
    bound = {binding.name for binding in tree.view(file).bindings}
    for call in tree.forms(file).calls:
        trees.require_time()
        line, name = call.line, call.name
        is_known = call.receiver or name in bound or is_builtin(name, language) or not name.isidentifier()
        if is_known or trees.line_before(file, line):
            continue
        sites = (site for site in tree.sites(file, line, name) if site.kind == CALL and not site.object)
        meanings = (tree.relations.meaning(file, site) for site in sites)
        if (
            not any(each.targets or each.is_external or each.is_left_open for each in meanings)
            and all(_is_only_called(tree.code(each), name) for each in _scope(trees, file, name))
            and not (language in SCRIPTS and _is_global(trees, file, name))
        ):
            where = {"go": "package", "java": "tree"}.get(language, "file")
            message = f"`{one_line(name)}` is defined nowhere in this {where}, and not imported"
            texts = message, "import or define it"
            yield tree.finding(FindingKind.UNDEFINED_NAME, file, line, name, texts)


def _is_global(trees: TreeComparison, file: int, name: str) -> bool:
    """Return True if another file of scripts called a bare name before the change and bound it nowhere."""
    tree, called = trees.before, re.compile(rf"(?<![\w.$]){re.escape(name)}\(")
    for other in files_with(tree.index, (name,))[:_MAX_OTHERS]:
        is_other = tree.index.paths[other] != trees.after.index.paths[file]
        if is_other and tree.language(other) in SCRIPTS and called.search(tree.code(other)):
            view = tree.view(other)
            names = {each.name for each in view.bindings} | {each.name for each in view.definitions}
            if name not in names and not is_bound_in_text(tree.code(other), name, tree.language(other)):
                return True
    return False


def _scope(trees: TreeComparison, file: int, name: str) -> Iterator[int]:
    """Yield the files in which a bare name of a file may be bound."""
    index, language = trees.after.index, trees.after.language(file)
    folder = index.paths[file].rpartition("/")[0]
    yield file
    for each in files_with(index, (name,)) if language in ("go", "java") else ():
        if language == "java" or index.paths[each].rpartition("/")[0] == folder:
            yield each


def _imports(trees: TreeComparison, file: int, language: str) -> Iterator[Finding]:
    """Yield new imports of names that a file of the repository does not have."""
    tree, paths = trees.after, trees.after.index.paths
    for binding in tree.view(file).bindings:
        module, _, name = binding.value.rpartition(":")
        if binding.kind not in (IMPORT, RENAMED) or not module or name in ("", "default", "*"):
            continue
        meaning = tree.meaning(file, binding.name)
        is_known = meaning.targets or meaning.is_left_open or meaning.is_external
        if is_known or trees.line_before(file, binding.line):
            continue
        imports = tree.relations.imports_of(file)
        homes = list(dict.fromkeys(each.target[0] for each in imports if each.line == binding.line))
        # All that it leads to has to have the module's last name in its path.
        last = re.split(r"[./]", re.sub(r"\.[cm]?[jt]sx?$", "", module))[-1]
        is_certain = last and all(
            re.search(rf"(?:^|/){re.escape(last)}(?:[./]|$)", paths[home]) for home in homes
        )
        # ``from package import name`` may import a module.
        is_module = re.compile(rf"(?:^|/){re.escape(name)}(?:/__init__)?\.py$").search
        provided = rf"{_PROVIDES_ANY[language]}|{WORD.format(re.escape(name))}"
        if (
            homes
            and is_certain
            and not any(
                is_module(paths[home]) or re.search(provided, tree.index.sources.text(home)) for home in homes
            )
        ):
            home = paths[homes[0]]
            message = f"it imports `{one_line(name)}`, which {home} does not define"
            texts, kind = (message, "import what is there, or define it"), FindingKind.UNDEFINED_NAME
            yield tree.finding(kind, file, binding.line, name, texts, cause=home)


def _is_only_called(text: str, name: str) -> bool:
    """Return True if a bare name occurs in a source in calls only."""
    for match in re.finditer(WORD.format(re.escape(name)), text):
        before = text[max(0, match.start() - 12) : match.start()]
        is_call = text[match.end() : match.end() + 1] == "(" and not _DEFINES.search(before)
        if not before.endswith(".") and not is_call:
            return False
    return True
