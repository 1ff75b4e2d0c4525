"""Names that languages and their usual test runners give to every file."""

from __future__ import annotations

import builtins
import re
from typing import Final

from repo_map.languages.builtin_names import GO_FUNCTIONS, GO_TYPES, RUST_BUILTINS, RUST_USUAL, SCRIPT_GLOBALS
from repo_map.languages.language import words

SCRIPTS: Final = frozenset({"javascript", "jsx", "typescript", "tsx"})
CLOSED: Final = SCRIPTS | {"python", "go"}
"""Languages in which a bare name that no line binds is one of the language, or a mistake."""

_PYTHON: Final = frozenset(dir(builtins)) | {
    "__file__",
    "__name__",
    "reveal_type",
    "unicode",
    "xrange",
    "raw_input",
}
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
_BINDS: Final = (
    r"\b(?:const|let|var|function\*?|class|type|interface|enum|as)\s+{0}\b(?!\$)|{1}(?<![\w.$]){0}\s*=(?!=)"
    r"|\b(?:const|let|var)\s*[{{\[][^=;]*(?<![\w.$]){0}\b(?!\$)[^=;]*[}}\]]\s*="
    r"|\bimport\b[^;'\"]*(?<![\w.$]){0}\b(?!\$)[^;'\"]*\bfrom\b"
    r"|(?<!\bif )(?<!\bwhile )(?<!\bswitch )\([^()]*{1}(?<![\w.$]){0}\b(?!\$)[^()]*\)"
    r"\s*(?::[^(){{}}=]*)?(?:=>|{{)"
)
"""What binds a bare name in a script: declarations, what is taken apart, imports, parameters."""
_MODULE: Final = re.compile(r"^\s*(?:import|export)\b|\brequire\(|\bexports\b", re.M)
_GIVES: Final = r"\bexports?\b[^;]*(?<![\w.$]){}(?![\w$])"
_GIVEN: Final = {
    "python": _PYTHON,
    "go": GO_FUNCTIONS | GO_TYPES,
    "rust": RUST_BUILTINS | RUST_USUAL,
    "java": frozenset({"this", "super"}),
}


def is_given(name: str, language: str) -> bool:
    """Tell whether a language has a name without an import, or a usual runner of its tests has."""
    return name in (_SCRIPTS if language in SCRIPTS else _GIVEN.get(language, frozenset()))


def is_bound_in_script(text: str, name: str) -> bool:
    """Tell whether a script binds a bare name, in a scope of its own perhaps."""
    # A type stands behind a colon, and so does what is taken apart by another name.
    behind = r"(?<!:)(?<!: )(?<![|&] )" if name[:1].isupper() else ""
    return re.search(_BINDS.format(re.escape(name), behind), text) is not None


def is_module(text: str) -> bool:
    """Tell whether a script is a module: what others do not import of it, they do not see."""
    return _MODULE.search(text) is not None


def is_own_of_script(text: str, name: str) -> bool:
    """Tell whether a name at the top of a script is one that no other file sees."""
    return is_module(text) and re.search(_GIVES.format(re.escape(name)), text) is None
