"""What the index says of who uses a definition: by name, as before, and as it is resolved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from repo_map.graph.references import Place, users_of
from repo_map.index import RepoIndex
from repo_map.relations.model import Confidence
from repo_map.relations.resolve import relations_of


class Site(NamedTuple):
    """A place where a definition is used."""

    file: int
    line: int
    """From 1."""


def users_by_name(index: RepoIndex, place: Place) -> set[Place]:
    """Return the definitions that mention the last part of a definition's name: the old answer."""
    file, row = place
    name = index.strings.get(index.definitions(file)[row].name.rpartition(".")[2])
    return set() if name is None else set(users_of(index, name))


def sites_stated(index: RepoIndex, place: Place, least: Confidence = Confidence.RESOLVED) -> Iterator[Site]:
    """Yield each place where a definition is used: as facts, or what is at least so sure."""
    for use in relations_of(index).uses_of(place, least):
        yield Site(use.source[0], use.line)
