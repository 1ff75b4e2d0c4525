"""Text that likely code names: told with who names it, and raised where the goal asks for its kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.relations.file_references import file_references_of
from repo_map.relations.model import Confidence, Relation, RelationKind
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED, is_template
from repo_map.text.terms import terms_of, tokenize

if TYPE_CHECKING:
    from repo_map.index.index import Index

_VERBS: Final = {RelationKind.RENDER: "rendered by", RelationKind.INCLUDE: "taken in by"}
_TEMPLATE: Final = "template page html view layout markup"
_TEST_DATA: Final = "fixture golden snapshot"
_CALLED: Final = {
    ".sql": "query queries",
    ".graphql": "query queries schema",
    ".scm": "query queries",
    ".css": "style stylesheet",
    ".scss": "style stylesheet",
    ".po": "translation message",
}
"""What users call files of a suffix beside the suffix itself."""


class NamedText(NamedTuple):
    """A file of text, and who names it."""

    file: int
    piece: int
    """Which of the pieces of code names it, by its position."""
    why: str
    """``rendered by `users_page` in line 31``."""


def named_text(index: Index, pieces: Iterable[tuple[int, int, int]]) -> Iterator[NamedText]:
    """Yield the files of text that pieces of code name, in their order.

    A piece is a file with the first and the last of its lines. What is no more than possible is left out, and
    so is what nobody writes by hand.
    """
    named = file_references_of(index)
    for at, (file, first, last) in enumerate(pieces):
        for each in named.references_between(file, first, last):
            if each.confidence >= Confidence.LIKELY and _is_text(index, each):
                yield NamedText(each.target[0], at, _why(index, each))


def asks_for(index: Index, terms: frozenset[str], file: int) -> bool:
    """Tell whether the terms of a goal say the kind of a file of text: its template, the SQL, a fixture."""
    path = index.paths[file]
    suffixes = path.rpartition("/")[2].lower().split(".")[1:]
    called = [*suffixes, *(_CALLED.get(f".{suffix}", "") for suffix in suffixes)]
    if is_template(path):
        called.append(_TEMPLATE)
    if index.files.is_test(file):
        called.append(_TEST_DATA)
    return not terms.isdisjoint(term for word in tokenize(" ".join(called)) for term in terms_of(word))


def _is_text(index: Index, relation: Relation) -> bool:
    file = relation.target[0]
    role = language_named(index.language(file)).role
    is_written = role is not LanguageRole.CODE or is_template(index.paths[file])
    return is_written and not int(index.files.flags[file]) & int(GENERATED_OR_VENDORED)


def _why(index: Index, relation: Relation) -> str:
    file, row = relation.source
    who = index.qualified_name(file, row) if row >= 0 else index.paths[file]
    likely = "" if relation.confidence is Confidence.RESOLVED else "likely "
    return f"{likely}{_VERBS.get(relation.kind, 'named by')} `{who}` in line {relation.line}"
