"""Java, Kotlin and Scala."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from repo_map.languages.language import Language, Reach, words
from repo_map.languages.names import Captures, Named, plain_name
from repo_map.languages.statements import dotted, without_comments
from repo_map.languages.writing import (
    BLOCK,
    DOUBLE,
    LETTER,
    SCRIPT_LITERALS,
    SINGLE,
    SLASHES,
    TRIPLE,
    Writing,
)


def _java_imports(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    if "/" in text:
        text = without_comments(text)
    named = text.rstrip(";").split()[1:]
    if named and named[0] == "static":
        del named[0]
    module, _, name = "".join(named).rpartition(".")
    yield module, (name,)


def _kotlin_namer(source: bytes, kind: str, captures: Captures) -> Named:
    """Call a companion object without a name ``Companion``."""
    return [
        ("Companion" if name == "companion" else name, kind) for name, _ in plain_name(source, kind, captures)
    ]


_INTERPOLATING: Final = Writing(
    (SLASHES, BLOCK, TRIPLE, DOUBLE, LETTER), ("$",), r"\$\{?([A-Za-z_][^{}\"$ ]*+)"
)
LANGUAGES: Final = (
    Language(
        family="jvm",
        name="java",
        suffixes=(".java",),
        grammar_module="tree_sitter_java",
        reach=Reach(
            1,
            (
                b"@Override",
                b"class ",
                b"public ",
                b"protected ",
                b"private ",
                b"interface ",
                b"enum ",
                b"record ",
            ),
        ),
        imports=_java_imports,
        writing=Writing((SLASHES, BLOCK, TRIPLE, DOUBLE, SINGLE)),
        keywords=words(
            "abstract assert boolean break byte case catch char class const continue default do double"
            " else enum extends final finally float for goto if implements import instanceof int"
            " interface long native new package private protected public record return sealed permits"
            " short static strictfp super switch synchronized this throw throws transient try var void"
            " volatile while yield true false null"
        ),
        token_factor=0.94,
    ),
    Language(
        family="jvm",
        name="kotlin",
        suffixes=(".kt", ".kts"),
        unspoken_suffixes=(".kts",),
        grammar_module="tree_sitter_kotlin",
        namer=_kotlin_namer,
        imports=dotted,
        writing=_INTERPOLATING,
        keywords=words(
            "abstract actual annotation as break by catch class companion const constructor continue"
            " crossinline data delegate do dynamic else enum expect external false final finally for fun get"
            " if import in infix init inline inner interface internal is it lateinit null object open"
            " operator out override package private protected public reified return sealed set super suspend"
            " tailrec this throw true try typealias val value var vararg when where while Int Long String"
            " Boolean Unit Any Double Float Char Byte Short"
        ),
    ),
    Language(
        name="scala",
        suffixes=(".scala", ".sc", ".sbt"),
        unspoken_suffixes=(".sc", ".sbt"),
        grammar_module="tree_sitter_scala",
        is_indented=True,
        imports=dotted,
        writing=_INTERPOLATING,
        keywords=words(
            "abstract case catch class def do else enum extends extension false final finally for forSome"
            " given if implicit import inline lazy match new null object opaque override package private"
            " protected return sealed super then this throw trait true try type using val var while with"
            " yield _ Int Long String Boolean Unit Any AnyRef Double Float Char Byte Short Nothing"
        ),
        literals=SCRIPT_LITERALS,
    ),
)
