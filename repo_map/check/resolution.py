"""Resolve after a change what referred to a removed definition before it, and find names in sources."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from repo_map.check.trees import TreeComparison, TreeVersion
from repo_map.languages.go import GO_FUNCTIONS, GO_TYPES
from repo_map.languages.javascript import SCRIPT_GLOBALS
from repo_map.languages.kinds import FUNCTIONS, TYPES
from repo_map.languages.language import words
from repo_map.languages.registry import language_named
from repo_map.languages.rust import RUST_BUILTINS, RUST_USUAL
from repo_map.languages.syntax import NUMBER, Writing
from repo_map.parsing.facts_model import IMPORT, RENAMED, STAR, Site
from repo_map.relations.file_facts import FileViews
from repo_map.relations.model import Place
from repo_map.relations.text_search import files_with

SCRIPTS: Final = frozenset({"javascript", "jsx", "typescript", "tsx"})
CLOSED: Final = SCRIPTS | {"python", "go"}
"""Languages in which a bare name that no line binds is a builtin, or a mistake."""
WORD: Final = r"(?<![\w$]){}(?![\w$])"
"""A whole word."""
_PYTHON: Final = frozenset(dir(builtins)) | words("__file__ __name__ reveal_type unicode xrange raw_input")
_SCRIPTS: Final = SCRIPT_GLOBALS | words(
    "AbortController Blob File FormData Headers Request Response TextDecoder TextEncoder WebSocket"
    " Worker addEventListener after afterAll afterEach alert atob before beforeAll beforeEach btoa"
    " cancelAnimationFrame clearImmediate clearInterval clearTimeout confirm context crypto decodeURI"
    " decodeURIComponent describe dispatchEvent encodeURI encodeURIComponent escape eval expect"
    " fdescribe fetch fit getComputedStyle getSelection globalThis import importScripts isFinite isNaN"
    " it jest matchMedia parseFloat parseInt performance postMessage print prompt queueMicrotask"
    " removeEventListener reportError requestAnimationFrame requestIdleCallback require scrollTo"
    " setImmediate setInterval setTimeout setup specify structuredClone suite super teardown test"
    " unescape vi xdescribe xit __dirname __filename"
)
_BUILTINS: Final = {
    "python": _PYTHON,
    "go": GO_FUNCTIONS | GO_TYPES,
    "rust": RUST_BUILTINS | RUST_USUAL,
    "java": frozenset({"this", "super"}),
    **dict.fromkeys(SCRIPTS, _SCRIPTS),
}
_BINDS: Final = (
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
_MEMBER_ACCESS: Final = re.compile(r"(?:(?<!\.\.)\.|::|->)\s*\Z")
_KEY: Final = re.compile(r"\s*(?:=(?!=)|:)")
"""Follows the name of a keyword argument, or a key."""
_TYPE_PARAMETER: Final = r"[<,]\s*(?:const\s+|in\s+|out\s+)*{}\s*(?:=(?![=>])|extends\b|:)"
_OWN_RECEIVERS: Final = frozenset({"self", "this", "cls", "super()"})
_DYNAMIC: Final = r"__getattr|__call\b|method_missing|\bProxy\b|instance_variable|\bdefine_method\b"
_PROVIDED: Final = r"(?:\.|@|\b(?:var|val|let|const|attr_\w+)\b.*){}\s*(?::[^=]+)?(?:=[^=]|$)"
"""What gives an object a member in another way: a field, an assignment."""


def is_builtin(name: str, language: str) -> bool:
    """Return True for a name that a language, or its usual test runner, has without an import."""
    return name in _BUILTINS.get(language, ())


def find_name(text: str, name: str, language: str) -> Iterator[int]:
    """Yield the offsets of a name in a source; code within strings counts, comments do not.

    Args:
        text: The source.
        name: An identifier with its sigil (``@``, ``$``, ``#``), if it has one.
        language: Of the source; in a text of no language nothing is found.
    """
    writing = language_named(language).writing
    bare = name.lstrip("@$#")
    if writing is None or bare not in text:
        return
    sigil = name[: len(name) - len(bare)]
    for match in _lexer(writing).finditer(text):
        if match[1] is None:
            found = _in_string(writing, match, bare)
        else:
            found = iter([match.start(1)] if match[1] == bare else [])
        yield from (at for at in found if text[at - len(sigil) : at] == sigil)


@cache
def _lexer(writing: Writing) -> re.Pattern[str]:
    identifier = writing.identifier + (r"(?![\"'])" if writing.prefixed else "")
    return re.compile("|".join((identifier, *writing.skipped, NUMBER)), re.DOTALL | re.ASCII)


def _in_string(writing: Writing, literal: re.Match[str], name: str) -> Iterator[int]:
    """Yield the offsets of a name in the code within a string."""
    around = literal.string[max(0, literal.start() - 2) : literal.end()]
    if literal[0][0] in "\"'`" and any(marker in around for marker in writing.markers):
        for code in re.compile(writing.inside, re.DOTALL | re.ASCII).finditer(literal[0]):
            for match in re.compile(writing.identifier, re.DOTALL | re.ASCII).finditer(code[1]):
                if match[1] == name:
                    yield literal.start() + code.start(1) + match.start(1)


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


class PostChangeResolver:
    """Decides whether what named a removed definition names anything after the change."""

    def __init__(self, trees: TreeComparison) -> None:
        self._trees = trees
        self._before, self._after = trees.before, trees.after

    def is_broken(self, removed: Place, file: int, site: Site) -> bool:
        """Return True if a site refers to nothing now; a mere declaration counts for nothing."""
        name = self._before.name(removed)
        if site.name != name and name in re.findall(r"[\w$]+", site.object):
            # The removed name is the receiver: a file may still have it from a re-export.
            receiver = Site(name, "", *site[2:])
            if self._after.relations.meaning(file, receiver).targets:
                return False
        meaning = self._after.relations.meaning(file, site)
        if self._is_type_parameter(file, site.name):
            return False
        if not site.object and self._is_bound(removed, file, site):
            return False
        if meaning.targets:
            return all(map(self._after.is_prototype, meaning.targets)) and not self.has_body(removed)
        if meaning.is_external and self._is_external_now(removed, file, site):
            return False
        if site.object and (self._is_open_class(removed) or self._may_have_changed(removed, file, site)):
            return False
        return not meaning.is_left_open and not self._has_module_getattr(removed)

    def unbound_lines(self, file: int, name: str) -> list[int]:
        """Return the lines of a bare name that refers to nothing in a file, if its language shows that."""
        language, text = self._after.language(file), self._after.index.sources.text(file)
        is_closed = language in CLOSED or (language == "rust" and name.islower())
        if not is_closed or is_builtin(name, language) or self._is_type_parameter(file, name):
            return []
        view = self._after.index.memo(FileViews)[file]
        is_bound = any(
            each.name == name or (each.kind == STAR and view.scope(each.definition) < 0)
            for each in view.bindings
        )
        is_site = any(site.name == name and not site.object for site in view.sites)
        is_defined = any(each.name == name for each in view.definitions)
        if is_bound or is_site or is_defined or is_bound_in_text(text, name, language):
            return []
        found = (
            text.count("\n", 0, at) + 1
            for at in find_name(text, name, language)
            if not _MEMBER_ACCESS.search(text, text.rfind("\n", 0, at) + 1, at)
            and (not _KEY.match(text, at + len(name)) or self._is_written_type(file, text, at))
        )
        return list(dict.fromkeys(found))

    def _is_written_type(self, file: int, text: str, at: int) -> bool:
        """Return True for a type annotation: ``const made: Maker = …``."""
        is_typed = self._after.language(file) in ("typescript", "tsx")
        return is_typed and text[at].isupper() and text[max(0, at - 2) : at].rstrip()[-1:] in (":", "|", "&")

    def has_body(self, removed: Place) -> bool:
        """Return True if anything of the name still has a body in the tree."""
        return not all(map(self._after.is_prototype, self._after.named(self._before.name(removed))))

    def _is_type_parameter(self, file: int, name: str) -> bool:
        """Return True if a file has type parameters of a name, which few readers of facts record."""
        if self._after.language(file) == "python":
            return False
        pattern = _TYPE_PARAMETER.format(re.escape(name))
        return re.search(pattern, self._after.index.sources.text(file)) is not None

    def _is_bound(self, removed: Place, file: int, site: Site) -> bool:
        """Return True if a scope around a bare name binds it; few readers record parameters."""
        view = self._after.index.memo(FileViews)[file]
        if any(
            each.name == site.name and not self._trees.line_before(file, each.line) for each in view.bindings
        ):
            # The binding was edited, so it shows whether it is right.
            return True
        row = view.scope(site.definition)
        while row >= 0:
            inner = view.bound.get((row, site.name), ())
            if view.definitions[row].kind in FUNCTIONS and any(each.line < site.line for each in inner):
                return True
            row = view.outer(row)
        parameter = rf"\([^()]*(?<![\w.$]){re.escape(site.name)}\b[^()]*\)\s*(?:=>|\{{)"
        is_local = self._before.is_local(removed)
        return is_local and re.search(parameter, self._after.index.sources.text(file)) is not None

    def _may_have_changed(self, removed: Place, file: int, site: Site) -> bool:
        """Return True if a receiver may be of another class now."""
        owner_before = self._owner(removed)
        if owner_before is None or site.object in _OWN_RECEIVERS:
            return False
        names = re.findall(r"[\w$]+", site.object)
        owner = self._trees.place_after(owner_before)
        if owner is None:
            # With its class removed, what names the class is reported, and no object that has its name.
            is_class = self._before.name(owner_before) in names
            return not is_class or self._is_bound(removed, file, Site(names[0], "", *site[2:]))
        if is_instance(self._after, file, site, owner):
            return False
        view = self._after.index.memo(FileViews)[file]
        scopes = (view.scope(site.definition), -1)
        return any(
            each.name in names[:1]
            and not self._trees.line_before(file, each.line)
            and view.scope(each.definition) in scopes
            for each in view.bindings
        )

    def _owner(self, removed: Place) -> Place | None:
        """Return the class of a member in the tree before; Go's methods are outside of their type."""
        index, (file, row) = self._before.index, removed
        if (parent := index.definitions(file)[row].parent) >= 0:
            return file, parent
        name = index.qualified_name(file, row).rpartition(".")[0]
        folder = index.paths[file].rpartition("/")[0]
        types = (each for each in self._before.named(name) if self._before.definition(each).kind in TYPES)
        return next((each for each in types if index.paths[each[0]].rpartition("/")[0] == folder), None)

    def _has_module_getattr(self, removed: Place) -> bool:
        """Return True if a ``__getattr__`` of a Python module provides the name."""
        quoted = re.compile(rf"[\"']{re.escape(self._before.name(removed))}[\"']")
        return any(
            quoted.search(self._after.index.sources.text(place[0])) is not None
            for place in self._after.named("__getattr__")
            if self._after.definition(place).parent < 0
        )

    def _is_external_now(self, removed: Place, file: int, site: Site) -> bool:
        """Return True if a name means a builtin or another package now."""
        home = self._trees.file_after(removed[0])
        if home is None:
            return False
        views = self._after.index.memo(FileViews)
        if any(
            binding.name == site.name
            and binding.kind in (IMPORT, RENAMED)
            and not self._trees.line_before(each, binding.line)
            for each in (file, home)
            for binding in views[each].bindings
        ):
            return True
        if site.object:
            return False
        language = self._after.language(file)
        if language == "java" and self._before.definition(removed).kind in TYPES:
            # A class that is neither imported nor in the package is nothing, without a star import.
            return any(binding.kind == STAR for binding in views[file].bindings)
        return language not in CLOSED or is_builtin(site.name, language)

    def _is_open_class(self, removed: Place) -> bool:
        """Return True if the class of a removed member may provide it in another way."""
        parent = self._before.definition(removed).parent
        owner = self._trees.matched.get((removed[0], parent)) if parent >= 0 else None
        if owner is None:
            return False
        text, name = self._after.text_of(owner), re.escape(self._before.name(removed))
        return re.search(rf"{_DYNAMIC}|(?m:{_PROVIDED.format(name)})", text) is not None


def is_bound_in_text(text: str, name: str, language: str) -> bool:
    """Return True if the text of a script or Rust source binds a bare name, perhaps in an inner scope."""
    if language == "rust":
        return re.search(_RUST_BINDS.format(re.escape(name)), text) is not None
    if language not in SCRIPTS:
        return False
    # A type follows a colon, and so does a destructured name.
    not_a_type = r"(?<!:)(?<!: )(?<![|&] )" if name[:1].isupper() else ""
    return re.search(_BINDS.format(re.escape(name), not_a_type), text) is not None


def is_instance(tree: TreeVersion, file: int, site: Site, owner: Place) -> bool:
    """Return True if the receiver of a site is of a class, judged by another method of the class."""
    prefix = f"{tree.qualified_name(owner)}."
    for row, each in enumerate(tree.index.definitions(owner[0])):
        place = owner[0], row
        if each.kind in FUNCTIONS and tree.qualified_name(place).startswith(prefix):
            probe = site._replace(name=tree.name(place))
            if place in tree.relations.meaning(file, probe).targets:
                return True
    return False
