"""C#."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from repo_map.languages.language import Language, words
from repo_map.languages.syntax import dotted, writing

_VERBATIM: Final = r'@"[^"]*+(?:""[^"]*+)*"?'


def _imports(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Read ``using``: the whole path is a namespace."""
    for module, names in dotted(text):
        yield ".".join((module, *names)) if module else "", ()


LANGUAGES: Final = (
    Language(
        name="csharp",
        suffixes=(".cs", ".csx"),
        unspoken_suffixes=(".csx",),
        spoken=("c#",),
        grammar_module="tree_sitter_c_sharp",
        imports=_imports,
        writing=writing(
            ("slashes", "block", _VERBATIM, "double", "letter"), ('$"',), r"\{([A-Za-z_][^{}:\"]*+)"
        ),
        keywords=words(
            "abstract add alias and as async await base bool break byte case catch char checked class const"
            " continue decimal default delegate do double dynamic else enum event explicit extern false"
            " finally fixed float for foreach from get global goto group if implicit in init int interface"
            " internal into is join let lock long nameof namespace new not null object operator or orderby"
            " out override params partial private protected public readonly record ref remove required return"
            " sbyte sealed select set short sizeof stackalloc static string struct switch this throw true try"
            " typeof uint ulong unchecked unsafe ushort using value var virtual void volatile when where"
            " while with yield region endregion"
        ),
    ),
)
