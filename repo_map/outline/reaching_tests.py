"""The tests that reach chosen code, with the fixtures that they need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from repo_map.languages.kinds import FUNCTIONS
from repo_map.outline.beside import MOST_SITES
from repo_map.parsing.values import Definition
from repo_map.relations.model import Place
from repo_map.relations.resolve import relations_of
from repo_map.sources.file_kinds import FileFlag, subject_stem

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.outline.pieces import PieceReader

_MOST_TESTS: Final = 40
_LONGEST_TEST: Final = 60
_MOST_FOLDERS: Final = 4
_WORD: Final = re.compile(r"\w+")


class TestPart(NamedTuple):
    """Lines of a test file that test something, or prepare a test; 1-based and inclusive."""

    path: str
    first: int
    last: int
    head: int
    """The line that names it."""
    is_fixture: bool = False
    tested: Place | None = None
    """The definition that it tests."""


def tests_of(reader: PieceReader, places: Sequence[Place]) -> Iterator[TestPart]:
    """Yield the tests that reach some definitions, nearest first, each behind the fixtures that it needs.

    Where no relation leads to any, those of a test file of the same name that speak of the definition.
    """
    seen: set[tuple[str, int]] = set()
    for place in places:
        for part in (*_reaching(reader.index, place), *_named(reader, place)):
            for each in (*_fixtures(reader, part), part):
                if (each.path, each.first) not in seen:
                    seen.add((each.path, each.first))
                    yield each._replace(tested=place)


def _leaf(index: Index, place: Place) -> str:
    return index.definitions(place[0])[place[1]].name.rpartition(".")[2]


def _reaching(index: Index, place: Place) -> Iterator[TestPart]:
    relations = relations_of(index)
    if not relations.knows(place[0]) or relations.occurrence_count(place) > MOST_SITES:
        return
    for each in relations.tests_reaching(place, 1)[:_MOST_TESTS]:
        file, row = each.source
        definition = _outermost_function(index.definitions(file), row)
        if definition is not None:
            yield _part(index, file, definition)


def _outermost_function(definitions: Sequence[Definition], row: int) -> Definition | None:
    """Return the test that a definition is or stands in: what is defined in it says little alone."""
    found: Definition | None = None
    while row >= 0:
        found = definitions[row] if definitions[row].kind in FUNCTIONS else found
        row = definitions[row].parent
    return found


def _part(index: Index, file: int, definition: Definition) -> TestPart:
    return TestPart(index.paths[file], definition.start, definition.end, definition.sig_start)


def _named(reader: PieceReader, place: Place) -> Iterator[TestPart]:
    """Yield the tests in files named after the definition's that speak of it."""
    index = reader.index
    name = _leaf(index, place)
    is_named = re.compile(rf"\b{re.escape(name)}\b|(?i:test_?{re.escape(name)})").search
    for file in _test_files(index, place[0]):
        source = reader.file(index.paths[file])
        if name not in source.text:
            continue
        covered = 0
        for number, line in enumerate(source.lines, 1):
            if number <= covered or not is_named(line) or number in source.import_lines:
                continue
            inner = [
                each
                for each in source.definitions
                if each.kind in FUNCTIONS and each.start <= number <= each.end
            ]
            if inner:
                part = _part(index, file, inner[0])
            else:
                around = source.statements.around(number, _LONGEST_TEST)
                if around is None:
                    continue
                part = TestPart(source.path, around.first, around.last, around.start)
            covered = part.last
            yield part


def _test_files(index: Index, file: int) -> list[int]:
    """Return the test files that bear a file's name, the nearest first."""
    path = index.paths[file]
    subject = subject_stem(path)
    ids = np.flatnonzero(index.files.flags & int(FileFlag.TEST)).tolist() if subject else []
    same = [each for each in ids if subject_stem(index.paths[each]) == subject and each != file]
    return sorted(same, key=lambda each: (-_shared(index.paths[each], path), index.paths[each]))[
        :_MOST_FOLDERS
    ]


def _shared(one: str, other: str) -> int:
    return len(set(one.split("/")[:-1]) & set(other.split("/")[:-1]))


def _fixtures(reader: PieceReader, part: TestPart) -> Iterator[TestPart]:
    """Yield the fixtures that a test's parameters name, in its file or in a ``conftest.py`` above."""
    if not part.path.endswith(".py"):
        return
    index, source = reader.index, reader.file(part.path)
    wanted = set(_WORD.findall(source.lines[part.head - 1].partition("(")[2]))
    for path in _with_conftests(part.path):
        file = index.file_id(path)
        if file is None or not wanted:
            continue
        lines = reader.file(path).lines
        for each in index.definitions(file):
            if each.name in wanted and each.start < each.sig_start and "fixture" in lines[each.start - 1]:
                wanted.discard(each.name)
                yield _part(index, file, each)._replace(is_fixture=True)


def _with_conftests(path: str) -> Iterable[str]:
    folders = path.split("/")[:-1]
    above = ("/".join([*folders[:count], "conftest.py"]) for count in range(len(folders), -1, -1))
    return [path, *above]
