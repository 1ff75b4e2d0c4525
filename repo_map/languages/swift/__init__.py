"""Swift."""

from __future__ import annotations

from typing import Final

from repo_map.languages.language import Language, words
from repo_map.languages.syntax import Captures, Named, dotted, plain_name, without_parameters, writing


def _namer(source: bytes, kind: str, captures: Captures) -> Named:
    """Call an extension after its type, without parameters."""
    return [(without_parameters(name), kind) for name, _ in plain_name(source, kind, captures)]


LANGUAGES: Final = (
    Language(
        name="swift",
        suffixes=(".swift",),
        grammar_module="tree_sitter_swift",
        namer=_namer,
        imports=dotted,
        writing=writing(("slashes", "block", "triple", "double"), ("\\(",), r"\\\(([^()]*+)"),
        keywords=words(
            "Any Self actor as associatedtype async await break case catch class continue convenience default"
            " defer deinit didSet do dynamic else enum extension fallthrough false fileprivate final for func"
            " get guard if import in indirect infix init inout internal is isolated lazy let mutating nil"
            " nonisolated nonmutating open operator optional override postfix precedencegroup prefix private"
            " protocol public repeat required rethrows return self set some static struct subscript super"
            " switch throw throws true try typealias unowned var weak where while willSet _ Int String Bool"
            " Double Float Void"
        ),
    ),
)
