"""What still uses names that are gone, by name: everything that is written so and means nothing else."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from repo_map.impact.occurrences import find_name
from repo_map.impact.values import ChangedPart, GoneName
from repo_map.languages.kinds import FUNCTIONS, TEXT
from repo_map.languages.registry import language_named, language_of
from repo_map.parsing.facts_model import ASSIGNED, DECLARED, IMPORT, NARROWED, RENAMED, VALUE, Site
from repo_map.relations.file_facts import FileViews, sites_at
from repo_map.relations.model import Confidence, Meaning, Place
from repo_map.relations.resolve import Relations, relations_of

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

_MOST_SITES: Final = 500
"""Uses of a name that is gone; of one that stands more often only the number is told."""
_OF_FOLDERS: Final = frozenset({"__init__", "index", "mod"})
"""Names of files that stand for their folder."""
_PARTS = re.compile(r"[./:\\]+")
_SUFFIX = re.compile(r"\.(?:[cm]?[jt]sx?|h|hh|hpp|hxx|py)$")
_OWN_RECEIVERS: Final = frozenset({"", "self", "this", "cls"})
_RECEIVER = re.compile(r"([\w.]*)[!?]?(?:\.|->|::)\s*[@$#]*\Z")
_LONGEST_RECEIVER: Final = 120
_LOCAL: Final = frozenset({ASSIGNED, DECLARED, NARROWED})
_IMPORTS: Final = frozenset({IMPORT, RENAMED})


class Risk(NamedTuple):
    """A place that relies on what is changed."""

    place: Place
    """The definition that holds it; row -1 is the file's top."""
    line: int
    """1-based, in its file."""
    target: str
    """The name of what it relies on, qualified."""
    confidence: Confidence


class Unclear(NamedTuple):
    """A name that is gone, and stands where nothing written says which of its namesakes is meant."""

    name: str
    times: int
    path: str
    """Of the first such place."""
    line: int
    """1-based; 0 where the places were only counted."""


class ByName(NamedTuple):
    """What is found of names that are gone."""

    uses: tuple[Risk, ...]
    unclear: tuple[Unclear, ...]


def uses_of_gone(index: RepoIndex, gone: Sequence[GoneName], rewritten: Sequence[ChangedPart]) -> ByName:
    """Return the uses of names that no definition stands for any more, comments and strings aside.

    Args:
        index: the tree.
        gone: the names.
        rewritten: what the change touches; where a name that is gone still has its definition, the change is
            not made yet, and what stands in those lines is not counted.
    """
    uses: list[Risk] = []
    unclear: list[Unclear] = []
    for each in gone:
        found = _Search(index, each, rewritten)
        found.run()
        uses += found.uses
        if found.unclear:
            file, line = found.unclear[0]
            unclear.append(Unclear(each.name, found.unclear_count, index.paths[file], line))
    return ByName(tuple(uses), tuple(unclear))


class _Use(NamedTuple):
    """Where a name stands."""

    file: int
    row: int
    """Of the innermost definition around it, -1 at the top."""
    line: int
    receiver: str | None
    """What stands before its dot; None where no dot does."""


class _Search:
    """The uses of one name."""

    def __init__(self, index: RepoIndex, gone: GoneName, rewritten: Sequence[ChangedPart]) -> None:
        self._index = index
        self._gone = gone
        self._relations: Relations = relations_of(index)
        self._views = index.derived(FileViews)
        self._home = index.file_id(gone.path)
        self._language = language_of(gone.path)
        if self._home is not None:
            self._language = index.languages[int(index.files.language[self._home])]
        self._family = _kin(self._language)
        self._rewritten = rewritten if self._is_still_here() else ()
        self.uses: list[Risk] = []
        self.unclear: list[tuple[int, int]] = []
        """Files and lines of the places whose meaning is open."""
        self.unclear_count = 0

    def run(self) -> None:
        """Look for the name in every file of its language's kin that bears it."""
        counts = self._counts()
        if not counts:
            return
        if sum(counts.values()) > _MOST_SITES:
            self.unclear.append((min(counts), 0))
            self.unclear_count = sum(counts.values())
            return
        is_defined = self._is_defined()
        for file in sorted(counts):
            found = [each for each in self._uses_in(file) if not self._is_rewritten(each)]
            imports = self._imported(file, found)
            told = [self._take(each, is_defined=is_defined) for each in found if each not in imports]
            # An import breaks as well; where the name is used besides, the use says so.
            if not any(told):
                for each in imports:
                    self._take(each, is_defined=is_defined)

    def _counts(self) -> dict[int, int]:
        """Return how often each file of the kin bears the name, its definitions aside."""
        index = self._index
        number = index.strings.get(self._gone.name.lstrip("@$#"))
        if number is None or not self._family:
            return {}
        table = index.references
        rows = np.flatnonzero(table.name == number)
        files = np.searchsorted(table.file_start, rows, side="right") - 1
        counts: dict[int, int] = {}
        for file, count in zip(files.tolist(), table.count[rows].tolist(), strict=True):
            if _kin(index.languages[int(index.files.language[file])]) == self._family:
                counts[file] = counts.get(file, 0) + count
        return counts

    def _uses_in(self, file: int) -> Iterator[_Use]:
        index = self._index
        text = index.text(file)
        definitions = index.definitions(file)
        bare = self._gone.name.lstrip("@$#")
        starts = [at for at, letter in enumerate(text) if letter == "\n"]
        defined = {each.sig_start for each in definitions if each.name.rpartition(".")[2] == bare}
        for at in find_name(text, self._gone.name, index.languages[int(index.files.language[file])]):
            line = bisect_right(starts, at - 1) + 1
            if line in defined:
                defined.discard(line)
                continue
            row = max(
                (row for row, each in enumerate(definitions) if each.start <= line <= each.end),
                key=lambda row: (definitions[row].start, row),
                default=-1,
            )
            before = _RECEIVER.search(text, max(0, at - _LONGEST_RECEIVER), at)
            yield _Use(file, row, line, None if before is None else before[1])

    def _take(self, use: _Use, *, is_defined: bool) -> bool:
        """Take a use where it may mean what is gone, and tell whether it was taken."""
        meanings = list(self._meanings(use))
        if any(each.targets for each in meanings) or (use.receiver is None and self._is_local(use)):
            return False
        if any(each.is_outside for each in meanings):
            is_of_gone_file = self._home is None and _imports(self._index, use.file, self._gone.path)
            if is_defined or not is_of_gone_file:
                return False
        is_near = self._is_near(use)
        is_resolved = is_near and self._sites(use) and self._relations.surest(use.file) is Confidence.RESOLVED
        if is_near or not is_defined:
            sure = Confidence.RESOLVED if is_resolved else Confidence.LIKELY
            self.uses.append(Risk((use.file, use.row), use.line, self._gone.name, sure))
            return True
        self.unclear.append((use.file, use.line))
        self.unclear_count += 1
        return False

    def _is_near(self, use: _Use) -> bool:
        """Tell whether a use stands by itself, or behind ``self``, where what is gone was to be seen so."""
        if (use.receiver or "") not in _OWN_RECEIVERS or use.file not in self._near():
            return False
        if not use.receiver:
            return not self._gone.owner or use.file == self._home
        at = use.row
        while at >= 0 and self._gone.owner:
            if self._index.qualified_name(use.file, at) == self._gone.owner:
                return True
            at = self._index.definitions(use.file)[at].parent
        return not self._gone.owner

    def _near(self) -> set[int]:
        if self._home is None:
            return set()
        return {each.source[0] for each in self._relations.importers_of(self._home)} | {self._home}

    def _sites(self, use: _Use) -> list[Site]:
        """Return what is known as a use of the name in a line."""
        index, table = self._index, self._index.sites
        number = index.strings.get(self._gone.name)
        start, end = int(table.file_start[use.file]), int(table.file_start[use.file + 1])
        here = (table.name[start:end] == number) & (table.line[start:end] == use.line)
        return sites_at(index, start + np.flatnonzero(here))

    def _meanings(self, use: _Use) -> Iterator[Meaning]:
        """Yield what the name means there, as far as what is written says so."""
        sites = self._sites(use)
        yield from (self._relations.meaning(use.file, each) for each in sites)
        if not sites and self._relations.knows(use.file):
            site = Site(self._gone.name, use.receiver or "", use.row, use.line, VALUE, 0)
            meaning = self._relations.meaning(use.file, site)
            # Fields that are only read are no sites, and most families know nothing of them.
            yield meaning if use.receiver is None else meaning._replace(is_outside=False)

    def _is_local(self, use: _Use) -> bool:
        """Tell whether a name by itself is one of the function's around it."""
        view = self._views[use.file]
        row = view.scope(use.row)
        while row >= 0:
            bound = view.bound.get((row, self._gone.name), ())
            if view.definitions[row].kind in FUNCTIONS and any(each.kind in _LOCAL for each in bound):
                return True
            row = view.outer(row)
        return False

    def _imported(self, file: int, uses: Sequence[_Use]) -> list[_Use]:
        """Return those of the uses that are imports: the first from where each import begins."""
        name = self._gone.name
        lines = [
            each.line for each in self._views[file].bindings if each.kind in _IMPORTS and each.name == name
        ]
        firsts = {min((use.line for use in uses if use.line >= line), default=0) for line in lines}
        return [use for use in uses if use.line in firsts and not self._sites(use)]

    def _is_still_here(self) -> bool:
        """Tell whether the tree has the definition that the change takes away."""
        return bool(self._definitions_here())

    def _definitions_here(self) -> list[int]:
        if self._home is None:
            return []
        name = f"{self._gone.owner}.{self._gone.name}" if self._gone.owner else self._gone.name
        rows = range(len(self._index.definitions(self._home)))
        return [row for row in rows if self._index.qualified_name(self._home, row) == name]

    def _is_defined(self) -> bool:
        """Tell whether something else of the kin bears the name."""
        index, table = self._index, self._index.symbols
        number = index.strings.get(self._gone.name)
        own = {(self._home, row) for row in self._definitions_here()}
        for row in np.flatnonzero(table.name == number).tolist() if number is not None else ():
            file = int(np.searchsorted(table.file_start, row, side="right")) - 1
            is_kin = _kin(index.languages[int(index.files.language[file])]) == self._family
            is_code = index.kinds[int(table.kind[row])] not in TEXT
            if is_kin and is_code and (file, row - int(table.file_start[file])) not in own:
                return True
        return False

    def _is_rewritten(self, use: _Use) -> bool:
        path = self._index.paths[use.file]
        return any(each.path == path and each.first <= use.line <= each.last for each in self._rewritten)


def _kin(language: str) -> str:
    """Return what languages have in common whose files may use each other's names."""
    return language_named(language).family or language if language else ""


def _imports(index: RepoIndex, file: int, path: str) -> bool:
    """Tell whether a file imports a module by the name that a file which is gone had."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    wanted = folder.rpartition("/")[2] if stem in _OF_FOLDERS else stem
    return any(_PARTS.split(_SUFFIX.sub("", each.module))[-1] == wanted for each in index.imports(file))
