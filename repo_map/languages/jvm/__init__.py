"""Java, Kotlin and Scala."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from repo_map.languages.language import Language, words
from repo_map.languages.syntax import (
    SCRIPT_LITERALS,
    Captures,
    Named,
    dotted,
    plain_name,
    without_comments,
    writing,
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


_INTERPOLATING: Final = writing(
    ("slashes", "block", "triple", "double", "letter"), ("$",), r"\$\{?([A-Za-z_][^{}\"$ ]*+)"
)
LANGUAGES: Final = (
    Language(
        family="jvm",
        name="java",
        suffixes=(".java",),
        grammar_module="tree_sitter_java",
        imports=_java_imports,
        writing=writing(("slashes", "block", "triple", "double", "single")),
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

JAVA_MEMBERS: Final = words(
    "accept add addAll append apply asList charAt clear close collect compare compareTo contains"
    " entrySet equals filter forEach format get getClass getName hasNext hashCode isEmpty iterator"
    " keySet length map name next of ordinal print println put remove run set size stream test"
    " toString valueOf values"
)
"""Members that types of the standard library bear."""
JAVA_PACKAGES: Final = words("java javax")
"""What the names of the standard library's packages begin with."""
JAVA_USUAL: Final = words(
    "Boolean Byte Character Class Deprecated Double Exception Float FunctionalInterface Integer"
    " Iterable Long Math Number Object Override Runnable RuntimeException SafeVarargs Short String"
    " StringBuilder SuppressWarnings System Thread Throwable Void var"
)
"""Names of ``java.lang`` that a repository hardly ever takes for itself."""
KOTLIN_MEMBERS: Final = words(
    "also any apply asList associate associateBy buffer component1 component2 compareTo contains count drop"
    " emit find first firstOrNull flatMap fold forEach groupBy hasNext indexOf invoke isBlank isEmpty"
    " isNotEmpty joinToString last let lowercase map mapNotNull minus none orEmpty plus removeAll replace run"
    " single sortedBy split startsWith endsWith substring sum take takeIf toByteArray toInt toList toLong"
    " toMap toMutableList toSet trim trimIndent uppercase use with zip"
)
"""Members and extensions that types of the standard library bear."""
KOTLIN_USUAL: Final = JAVA_USUAL | words(
    "Any Array ArrayList Boolean ByteArray Collection Comparable HashMap Int IntArray Iterable Iterator"
    " JvmField JvmName JvmOverloads JvmStatic List Map MutableList MutableMap MutableSet Nothing Pair"
    " Sequence Set Suppress Throws Unit"
)
"""Names of the standard library that are there without an import."""
