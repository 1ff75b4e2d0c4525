"""What stands in a relation to what words name: as a fact where it is resolved, as likely where it is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from repo_map.graph import references
from repo_map.impact.risks import impact_of
from repo_map.impact.telling import tell_impact
from repo_map.languages.kinds import FUNCTIONS
from repo_map.relations.model import Confidence, Relation
from repo_map.relations.named_files import named_files_of
from repo_map.relations.resolve import Relations, relations_of
from repo_map.steering.targets import NamedDefinition, Target, named_by

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex
    from repo_map.relations.model import Place

_MOST_TARGETS = 4
_MOST_FILES = 5
"""Files whose users are looked for together."""

RELATED = {
    "callers": "callers of",
    "uses": "definitions used by",
    "tests": "tests of",
}


class Related(NamedTuple):
    """The definitions beside a target, each once; its line is where the relation stands, if it has one.

    A file that is named as a whole has no name and the line 0.
    """

    stated: tuple[NamedDefinition, ...]
    """By what is written: imports, scopes, types, inheritance."""
    likely: tuple[NamedDefinition, ...]
    """By their name alone, in the target's language."""


def find_related(index: RepoIndex, question: str, target: Target) -> Related:
    """Return the definitions that stand in a relation to those of a target, tests last."""
    relations = relations_of(index)
    own = rows_of(index, target)
    stated: dict[Place, int] = {}
    likely: dict[Place, int] = {}
    for place in own:
        if relations.knows(place[0]):
            for each in _relations(index, relations, question, place):
                other, line = (each.target, 0) if question == "uses" else (each.source, each.line)
                found = stated if each.confidence is Confidence.RESOLVED else likely
                found.setdefault(other, line)
        else:
            by_name = _used(index, place) if question == "uses" else _users(index, place)
            likely.update((other, 0) for other in by_name if other not in likely)
        if not stated and not likely and question != "uses":
            # A name that nothing else bears says something where nothing written does.
            name = int(index.symbols.name[int(index.symbols.file_start[place[0]]) + place[1]])
            if references.unique_definitions(index, [name]) == [place]:
                likely.update((other, 0) for other in _users(index, place))
    for other, line, confidence in _text_beside(index, question, target, own):
        (stated if confidence is Confidence.RESOLVED else likely).setdefault(other, line)
    for known in (own, stated):
        for place in known:
            likely.pop(place, None)
    for place in own:
        stated.pop(place, None)
    wanted = [_names(index, _chosen(index, question, found)) for found in (stated, likely)]
    return Related(tuple(wanted[0]), tuple(wanted[1]))


def _text_beside(
    index: RepoIndex, question: str, target: Target, places: Sequence[Place]
) -> Iterator[tuple[Place, int, Confidence]]:
    """Yield what names the files of a target, or what they and ``places``, its definitions, name.

    With each comes the line where it does, 0 where that is in the target's file. Row -1 is a whole file, or
    its top.
    """
    named = named_files_of(index)
    paths = sorted(named_by(index, target.patterns))
    files = [file for path in paths if (file := index.file_id(path)) is not None]
    files = files if len(files) <= _MOST_FILES else []
    if question == "uses":
        for place in (*places, *((file, -1) for file in files)):
            yield from ((each.target, 0, each.confidence) for each in _likely(named.used_in(place)))
        return
    for each in (each for file in files for each in _likely(named.naming(file))):
        yield each.source, each.line, each.confidence
        if question == "tests" and each.source[1] >= 0:
            for test in relations_of(index).tests_reaching(each.source):
                yield test.source, test.line, min(test.confidence, each.confidence)


def _likely(relations: Iterable[Relation]) -> Iterator[Relation]:
    return (each for each in relations if each.confidence >= Confidence.LIKELY)


def for_files(index: RepoIndex, question: str, target: Target) -> str:
    """Return the question as its target takes it: files are imported and import."""
    if question == "callers" and _is_imported(index, target):
        return "importers"
    if question == "uses" and _only_imports(index, target):
        return "imports"
    return question


def _is_imported(index: RepoIndex, target: Target) -> bool:
    """Say whether a target is files of code, which are imported and not called."""
    return bool(target.patterns) and not any(find_related(index, "callers", target))


def _only_imports(index: RepoIndex, target: Target) -> bool:
    """Say whether a target is files that import, and use nothing else that is known."""
    files = (index.file_id(path) for path in named_by(index, target.patterns))
    imports = any(file is not None and index.imports(file) for file in files)
    return imports and not any(find_related(index, "uses", target))


def tell_what_relies(index: RepoIndex, target: Target) -> str:
    """Say what breaks where the definitions of a target are changed."""
    places = rows_of(index, target)
    if not places:
        return f"`{target.words}` is not a definition; name a function or a class."
    named = ", ".join(f"`{place.name}`" for place in target.places[:_MOST_TARGETS])
    return "\n".join(
        (f"If {named} changes:", *tell_impact(index, impact_of(index, places), of_changes=False))
    )


def _relations(index: RepoIndex, relations: Relations, question: str, place: Place) -> Iterable[Relation]:
    if question == "uses":
        return relations.used_in(place, Confidence.LIKELY)
    kind = index.definitions(place[0])[place[1]].kind
    ask = relations.callers_of if kind in FUNCTIONS else relations.uses_of
    found = ask(place, Confidence.LIKELY)
    if question == "callers":
        return found or (relations.uses_of(place) if ask == relations.callers_of else ())
    return [*relations.tests_reaching(place), *found]


def _chosen(index: RepoIndex, question: str, found: dict[Place, int]) -> list[tuple[Place, int]]:
    """Return tests alone where they are asked for, and last where they are not."""
    places = list(found.items())
    if question == "tests":
        return [each for each in places if index.files.is_test(each[0][0])]
    return sorted(places, key=lambda each: index.files.is_test(each[0][0]))


def _users(index: RepoIndex, place: Place) -> Iterator[Place]:
    name = index.definitions(place[0])[place[1]].name.rpartition(".")[2]
    known = index.strings.get(name)
    if known is not None:
        yield from _alike(index, place, references.users_of(index, known))


def _used(index: RepoIndex, place: Place) -> Iterator[Place]:
    yield from _alike(index, place, references.used_by(index, place))


def _alike(index: RepoIndex, place: Place, others: Iterable[Place]) -> Iterator[Place]:
    """Yield the places in files of one language."""
    languages = index.files.language
    return (other for other in others if languages[other[0]] == languages[place[0]])


def rows_of(index: RepoIndex, target: Target) -> list[Place]:
    """Return the target's definitions as rows of the index."""
    found = []
    for path, name, line in target.places:
        file = index.file_id(path)
        if file is not None:
            rows = enumerate(index.definitions(file))
            found += [
                (file, row)
                for row, each in rows
                if each.sig_start == line and index.qualified_name(file, row) == name
            ]
    return found


def _names(index: RepoIndex, places: Iterable[tuple[Place, int]]) -> Iterator[NamedDefinition]:
    for (file, row), line in places:
        name = index.qualified_name(file, row)
        first = index.definitions(file)[row].sig_start if row >= 0 else 0
        yield NamedDefinition(index.paths[file], name, line or first)
