"""Bash and the shells that are written like it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from repo_map.languages.language import HASH_COMMENTS, Language, words
from repo_map.languages.syntax import HASH_LITERALS, writing

_HASH: Final = r"(?<![^\s;])#[^\n]*+"


def _imports(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Read ``source lib.sh`` and ``. lib.sh``."""
    named = text.split()
    if len(named) > 1:
        yield named[1].strip("\"'"), ()


LANGUAGES: Final = (
    Language(
        name="bash",
        suffixes=(".sh", ".bash", ".zsh", ".ksh", ".bats", ".ebuild"),
        unspoken_suffixes=(".bash", ".zsh", ".ksh", ".bats", ".ebuild"),
        filenames=(".bashrc", ".bash_profile", ".profile", ".zshrc", "pkgbuild"),
        interpreters=("bash", "zsh", "sh", "ksh"),
        grammar_module="tree_sitter_bash",
        doc_comments=HASH_COMMENTS,
        imports=_imports,
        writing=writing((_HASH, "quoted")),
        keywords=words(
            "alias break case continue declare do done echo elif else esac eval exec exit export fi for"
            " function getopts if in let local printf read readonly return select set shift source test then"
            " time trap true false typeset unset until while cd"
        ),
        literals=HASH_LITERALS,
    ),
)
