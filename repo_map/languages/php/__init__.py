"""PHP."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from repo_map.languages.language import HASH_COMMENTS, DocComments, Language, words
from repo_map.languages.syntax import SCRIPT_LITERALS, bare_name, dotted, first_quoted, writing


def _imports(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    if text.lstrip().startswith("use"):
        for module, names in dotted(text):
            yield module.replace("\\", "."), names
    else:
        yield from first_quoted(text)


LANGUAGES: Final = (
    Language(
        family="php",
        name="php",
        suffixes=(".php", ".phtml", ".php5"),
        unspoken_suffixes=(".phtml", ".php5"),
        interpreters=("php",),
        grammar_module="tree_sitter_php",
        grammar_function="language_php",
        namer=bare_name,
        doc_comments=DocComments((*HASH_COMMENTS.line, b"//")),
        imports=_imports,
        writing=writing(
            ("slashes", r"#(?!\[)[^\n]*+", "block", "double_lines", "single_lines"), ('"',), r"\$(\w++)"
        ),
        keywords=words(
            "abstract and array as bool break callable case catch class clone const continue declare default"
            " do echo else elseif empty enddeclare endfor endforeach endif endswitch endwhile enum exit"
            " extends false final finally float fn for foreach function global goto if implements include"
            " include_once instanceof insteadof int interface isset iterable list match mixed namespace never"
            " new null object or parent php print private protected public readonly require require_once"
            " return self static string strict_types switch this throw trait true try unset use var void"
            " while xor yield"
        ),
        literals=SCRIPT_LITERALS,
    ),
)

PHP_MEMBERS: Final = words(
    "add all call close count current execute fetch format get getCode getMessage has key map next offsetGet"
    " prepare push query remove rewind set toArray valid"
)
"""Members that types of the standard library, and collections of any kind, bear."""
