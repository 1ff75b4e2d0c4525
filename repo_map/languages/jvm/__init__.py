"""Java, Kotlin and Scala."""

from __future__ import annotations

from collections.abc import Iterable

from repo_map.languages.syntax import Captures, Named, plain_name, without_comments


def java_imports(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    if "/" in text:
        text = without_comments(text)
    named = text.rstrip(";").split()[1:]
    if named and named[0] == "static":
        del named[0]
    module, _, name = "".join(named).rpartition(".")
    yield module, (name,)


def kotlin_namer(source: bytes, kind: str, captures: Captures) -> Named:
    """Call a companion object without a name ``Companion``."""
    return [
        ("Companion" if name == "companion" else name, kind) for name, _ in plain_name(source, kind, captures)
    ]
