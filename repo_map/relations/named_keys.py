"""Keys: the settings and messages of data files that code asks for by their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.relations.model import Confidence, Place, Relation, RelationKind
from repo_map.relations.strings import Strings, Text
from repo_map.relations.text_search import nearest_files, row_at, units_with
from repo_map.worktree.file_kinds import COPIED, FileFlag

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

_KEY: Final = re.compile(r"[A-Za-z_][\w-]*(?:[.:/][\w-]+)*")
_ASKS: Final = re.compile(
    r"(?i)setting|config|conf\b|env|option|propert|param|preference|feature|flag"
    r"|(?:^|\W)(?:t|tr|trans|translate|gettext|ngettext|i18n|message|msg|__)$"
)
"""What a function, with what it is a member of, is called that looks a key up."""
_MOST_HOLDERS: Final = 4


class NamedKeys:
    """Who asks for which key of an index's data files, read as it is asked; get it by ``named_keys_of``.

    A key of several parts (``retry.max``) that one data file holds is stated as a fact where a lookup asks
    for it; a single word, or one of several holders, is likely or possible.
    """

    def __init__(self, index: RepoIndex) -> None:
        self._index = index
        self._strings = index.derived(Strings)

    def used_in(self, place: Place) -> tuple[Relation, ...]:
        """Return the keys that a definition asks for, in the order of its lines."""
        file, row = place
        definitions = self._index.definitions(file)
        first, last = (definitions[row].start, definitions[row].end) if row >= 0 else (1, 1 << 30)
        return tuple(dict.fromkeys(each for each in self._asked_in(file) if first <= each.line <= last))

    def using(self, place: Place) -> tuple[Relation, ...]:
        """Return where a key of a data file is asked for, in the order of the repository."""
        name = self._index.qualified_name(*place)
        if place not in self._holders.get(name, ()):
            return ()
        files = nearest_files(self._index, units_with(self._index, name), self._index.paths[place[0]])
        return tuple(each for file in files for each in self._asked_in(file) if each.target == place)

    def _asked_in(self, file: int) -> Iterator[Relation]:
        for text in self._strings[file]:
            targets, confidence = self._meant(text)
            if targets:
                source = (file, row_at(self._index, file, text.line))
                for target in targets:
                    if target[0] != file:
                        yield Relation(RelationKind.KEY, source, target, text.line, confidence)

    def _meant(self, text: Text) -> tuple[tuple[Place, ...], Confidence]:
        nothing: tuple[tuple[Place, ...], Confidence] = ((), Confidence.POSSIBLE)
        if _KEY.fullmatch(text.value) is None or not _ASKS.search(text.callee):
            return nothing
        key = re.sub("[:/]", ".", text.value)
        holders = self._holders.get(key, ())
        if not holders or len(holders) > _MOST_HOLDERS:
            return nothing
        if len(holders) > 1:
            return holders, Confidence.POSSIBLE
        return holders, Confidence.RESOLVED if "." in key else Confidence.LIKELY

    @cached_property
    def _holders(self) -> dict[str, tuple[Place, ...]]:
        """The definitions of each key in the data files that somebody writes, tests' data aside."""
        index = self._index
        is_data = np.array(
            [language_named(name).role is LanguageRole.DATA for name in index.languages], np.bool_
        )
        wanted = is_data[index.files.language] & ((index.files.flags & int(COPIED | FileFlag.TEST)) == 0)
        found: dict[str, list[Place]] = {}
        for file in np.flatnonzero(wanted).tolist():
            for row in range(len(index.definitions(file))):
                found.setdefault(index.qualified_name(file, row), []).append((file, row))
        return {name: tuple(places) for name, places in found.items()}


def named_keys_of(index: RepoIndex) -> NamedKeys:
    """Return who asks for which key of an index, which goes with it."""
    return index.derived(NamedKeys)
