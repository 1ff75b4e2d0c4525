"""How a unit is joined to the likeliest ones, in words: who calls it, what it calls or overrides, where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from repo_map.messages import one_line
from repo_map.ranking.call_edges import Link
from repo_map.ranking.corpus import Candidates
from repo_map.relations.file_facts import CLASSES
from repo_map.relations.model import Confidence, Place, Relation, RelationKind
from repo_map.relations.resolve import relations_of

_LONGEST_PART: Final = 40
"""Characters of each of the last two parts of a name."""
_VERBS: Final = {
    RelationKind.CALL: ("calls", "called by"),
    RelationKind.DECORATOR: ("decorated with", "decorates"),
    RelationKind.OVERRIDE: ("overrides", "overridden by"),
}
_CONSTRUCTS: Final = ("constructs", "constructed by")


class Joined:
    """Tells of each unit the first of the likely units that it is joined to."""

    def __init__(self, candidates: Candidates, links: Iterable[Link], seeds: Sequence[int]) -> None:
        """Choose for each unit: a fact before what is likely, then the likeliest unit at the other end.

        ``seeds`` are the rows of the likely units, best first; none is explained by one behind it.
        """
        self._candidates = candidates
        place = {row: at for at, row in enumerate(seeds)}
        best: dict[int, tuple[tuple[bool, int], Link]] = {}
        for each in links:
            if place[each.seed] < place.get(each.other, len(place)):
                key = (each.relation.confidence < Confidence.RESOLVED, place[each.seed])
                if each.other not in best or key < best[each.other][0]:
                    best[each.other] = (key, each)
        self._best = {row: link for row, (_, link) in best.items()}

    def of_unit(self, row: int) -> str:
        """Return the words, ``""`` for a unit that is joined to none: ``called by `Cart.pay`, cart.py:9``."""
        link = self._best.get(row)
        if link is None:
            return ""
        relation = link.relation
        likely = "likely " if relation.confidence < Confidence.RESOLVED else ""
        verb = self._verbs(relation)[0 if link.from_other else 1]
        told = relation.target if link.from_other else relation.source
        return f"{likely}{verb} `{self._name(told)}`, {self._where(link, told)}"

    def is_resolved(self, row: int) -> bool:
        """Tell whether names of a unit's language are resolved, so that one alone says nothing."""
        candidates = self._candidates
        file = int(candidates.files[candidates.file_row[row]])
        return relations_of(candidates.corpus.index).knows(file)

    def _verbs(self, relation: Relation) -> tuple[str, str]:
        file, row = relation.target
        is_class = self._candidates.corpus.index.definitions(file)[row].kind in CLASSES
        return _CONSTRUCTS if is_class and relation.kind is RelationKind.CALL else _VERBS[relation.kind]

    def _name(self, place: Place) -> str:
        parts = one_line(self._candidates.corpus.index.qualified_name(*place)).replace("`", "").split(".")
        # A constructor that bears the name of its class is that name.
        return ".".join(dict.fromkeys(part[:_LONGEST_PART] for part in parts[-2:]))

    def _where(self, link: Link, told: Place) -> str:
        """Return the line of the call, or of the method that overrides or is overridden, with its file."""
        relation, index = link.relation, self._candidates.corpus.index
        if relation.kind is RelationKind.OVERRIDE:
            file, line = told[0], index.definitions(told[0])[told[1]].sig_start
        else:
            file, line = relation.source[0], relation.line
        own = relation.source if link.from_other else relation.target
        return f"line {line}" if file == own[0] else f"{self._file(file)}:{line}"

    def _file(self, file: int) -> str:
        """Return a file's name, with its folder where others have that name."""
        corpus = self._candidates.corpus
        path = corpus.index.paths[file]
        name = path.rpartition("/")[2]
        is_shared = len(corpus.files_of_name[name.lower()]) > 1
        return one_line("/".join(path.split("/")[-2:]) if is_shared else name)
