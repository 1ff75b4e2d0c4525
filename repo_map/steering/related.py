"""What stands beside a target: its callers, what it uses, its tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from repo_map import relations
from repo_map.steering.phrases import Wish
from repo_map.steering.targets import Place, Target, find_places
from repo_map.worktree.file_flags import FileFlag

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

RELATED = {Wish.CALLERS: "callers of", Wish.USES: "definitions used by", Wish.TESTS: "tests of"}


def find_related(index: RepoIndex, wish: Wish, target: Target) -> tuple[Place, ...]:
    """Return the definitions that stand in a relation to those of a target, each once, best first.

    References are by name: callers of ``Router.dispatch`` are those that mention ``dispatch``.
    """
    found = _used(index, target) if wish is Wish.USES else _users(index, target)
    places = [place for place in dict.fromkeys(found) if place not in _rows_of(index, target)]
    if wish is Wish.TESTS:
        places = [place for place in places if _is_test(index, place[0])]
    else:
        places.sort(key=lambda place: _is_test(index, place[0]))
    return tuple(_named(index, places))


def namesakes(index: RepoIndex, target: Target) -> str:
    """Say how many definitions bear the target's name where it is not one: their callers look alike."""
    for name in dict.fromkeys(place.name.rpartition(".")[2] for place in target.places):
        count = len(find_places(index, name))
        if count > len(target.places):
            return f" (by name; {count} definitions are called `{name}`)"
    return ""


def _users(index: RepoIndex, target: Target) -> Iterator[relations.Place]:
    names = dict.fromkeys(place.name.rpartition(".")[2] for place in target.places)
    for name in names:
        known = index.strings.get(name)
        if known is not None:
            yield from relations.users_of(index, known)


def _used(index: RepoIndex, target: Target) -> Iterator[relations.Place]:
    for place in _rows_of(index, target):
        yield from relations.used_by(index, place)


def _rows_of(index: RepoIndex, target: Target) -> list[relations.Place]:
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


def _is_test(index: RepoIndex, file: int) -> bool:
    return bool(int(index.files.flags[file]) & int(FileFlag.TEST))


def _named(index: RepoIndex, places: Iterable[relations.Place]) -> Iterator[Place]:
    for file, row in places:
        line = index.definitions(file)[row].sig_start
        yield Place(index.paths[file], index.qualified_name(file, row), line)
