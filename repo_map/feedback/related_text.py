"""Text beside code: who names a file, which tests reach it, and what files a definition names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from repo_map.feedback.names import Target, named_by
from repo_map.feedback.operations import Operation
from repo_map.relations.model import Confidence, Place, Relation
from repo_map.relations.named_files import named_files_of
from repo_map.relations.resolve import relations_of

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

_MOST_FILES = 5
"""Files whose users are looked for together."""


class Beside(NamedTuple):
    """A place at the other end of a relation."""

    place: Place
    """Row -1 for a whole file, or for its top."""
    line: int
    """Where the relation stands in the place's file; 0 where it stands in the file that was asked about."""
    is_sure: bool
    """Whether it may be stated as a fact."""


def text_beside(
    index: RepoIndex, operation: Operation, target: Target, places: Sequence[Place]
) -> Iterator[Beside]:
    """Yield what names the files of a target and ``places``, its definitions, or what these name."""
    named = named_files_of(index)
    paths = sorted(named_by(index, target.patterns))
    files = [file for path in paths if (file := index.file_id(path)) is not None]
    files = files if len(files) <= _MOST_FILES else []
    if operation is Operation.USES:
        for place in (*places, *((file, -1) for file in files)):
            yield from (_beside(each, each.target, 0) for each in named.used_in(place) if _is_told(each))
        return
    for each in (each for file in files for each in named.naming(file) if _is_told(each)):
        yield _beside(each, each.source, each.line)
        if operation is Operation.TESTS and each.source[1] >= 0:
            for test in relations_of(index).tests_reaching(each.source):
                sure = min(test.confidence, each.confidence)
                yield _beside(test._replace(confidence=sure), test.source, test.line)


def _is_told(relation: Relation) -> bool:
    return relation.confidence >= Confidence.LIKELY


def _beside(relation: Relation, place: Place, line: int) -> Beside:
    return Beside(place, line, relation.confidence is Confidence.RESOLVED)
