"""Methods that override or implement one that is another now."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from repo_map.check.arguments import takes_alike
from repo_map.check.prototypes import prototypes_of
from repo_map.impact.findings import Finding, FindingKind
from repo_map.impact.sides import Sides
from repo_map.languages.kinds import FUNCTIONS
from repo_map.messages import one_line
from repo_map.parsing.facts_model import BASE_OF
from repo_map.relations.file_facts import FileViews
from repo_map.relations.model import Confidence, Place

_MARKED: Final = re.compile(r"@Override\b|\boverride\b|#\[\\?Override\]")
_ABSTRACT_METHOD: Final = re.compile(r"@(?:abc\.)?abstractmethod\b")
_ABSTRACT: Final = re.compile(r"\babstract\b")
_WITHOUT_METHODS: Final = frozenset({"ABC", "Generic", "Protocol", "object"})
"""Bases of Python's that give a class no method of its own."""
_OVERLOADED: Final = frozenset({"java", "kotlin", "cpp", "csharp"})


class Overriding:
    """Finds overriders and implementers that kept the old form."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides

    def find(self, changed: Sequence[tuple[Place, Place]]) -> Iterator[Finding]:
        """Yield them; ``changed`` are the functions that take other values now, before and after."""
        for before, after in changed:
            yield from self._of_changed(before, after)
            yield from self._declared(after)
        for place in self._sides.gone:
            yield from self._of_gone(place)
        for place in self._sides.added:
            yield from self._lacking(place)

    def _of_changed(self, before: Place, after: Place) -> Iterator[Finding]:
        sides = self._sides
        name = one_line(sides.after.index.qualified_name(*after))
        for each in sides.before.relations.overridden_by(before):
            below = sides.now(each.source)
            if below is None:
                continue
            if each.confidence is not Confidence.RESOLVED and not self._head(below, _MARKED):
                continue
            kept = takes_alike(sides.before, before, sides.after, below)
            if kept and not takes_alike(sides.after, after, sides.after, below):
                yield self._finding(below, after, f"it overrides `{name}` and still has its old parameters")

    def _declared(self, changed: Place) -> Iterator[Finding]:
        """Yield the prototypes of a function in C that take another number of values than it does."""
        sides, side = self._sides, self._sides.after
        bodies = [each for each in side.namesakes(side.name(changed)) if not side.is_declaration(each)]
        if side.language(changed[0]) != "c" or bodies != [changed]:
            return
        (form,) = side.forms_of(changed)
        cause = self._where(changed)
        for each in prototypes_of(side, side.name(changed)):
            # Without any, it may take whatever it is given.
            if each.taken not in (-1, len(form.parameters)) and sides.line_before(each.file, each.line):
                name = side.index.qualified_name(*changed)
                told = "it declares a function whose parameters changed"
                yield self._told((each.file, each.line), "", name, told, cause)

    def _of_gone(self, place: Place) -> Iterator[Finding]:
        """Yield methods that say that they override, and override nothing now."""
        sides = self._sides
        definition = sides.before.index.definitions(place[0])[place[1]]
        if (
            definition.kind not in FUNCTIONS
            or definition.parent < 0
            or not sides.before.relations.knows(place[0])
        ):
            return
        for each in sides.before.relations.overridden_by(place):
            below = sides.now(each.source)
            if below is None or each.confidence is not Confidence.RESOLVED:
                continue
            if self._head(below, _MARKED) and not sides.after.relations.overrides_of(below):
                if self._has_outside_base(below):
                    continue
                name = one_line(sides.before.index.qualified_name(*place))
                yield self._finding(below, below, f"it overrides `{name}`, which is gone")

    def _lacking(self, place: Place) -> Iterator[Finding]:
        """Yield classes that implement an interface and lack the method that it got."""
        sides, index = self._sides, self._sides.after.index
        file, row = place
        definition = index.definitions(file)[row]
        if definition.kind not in FUNCTIONS or definition.parent < 0:
            return
        owner = (file, definition.parent)
        if owner not in sides.before_of or not self._is_required(place, owner):
            return
        name = sides.after.name(place)
        for each in sides.after.relations.implementations_of(owner):
            below = each.source
            if each.confidence is not Confidence.RESOLVED or below not in self._concrete([below]):
                continue
            line = sides.line_before(below[0], index.definitions(below[0])[below[1]].sig_start)
            if not line or self._has(below, name):
                continue
            told = one_line(index.qualified_name(*owner))
            told = f"it implements `{told}` and lacks its new `{one_line(name)}`"
            yield self._finding(below, place, told)

    def _is_required(self, place: Place, owner: Place) -> bool:
        """Tell whether a member has no body that implementers would inherit."""
        sides = self._sides
        language = sides.after.language(place[0])
        kind = sides.after.index.definitions(owner[0])[owner[1]].kind
        text = "\n".join(sides.after.lines_of(place, whole=True))
        if (language in ("java", "php") and kind == "interface") or (language == "rust" and kind == "trait"):
            return "{" not in text and text.rstrip().endswith(";")
        if language in ("typescript", "tsx", "kotlin") and kind == "interface":
            return not re.search(r"\?\s*[(<:]|\{\s*$|(?<![=!<>])=(?![=>])", text)
        return language == "python" and _ABSTRACT_METHOD.search(text) is not None

    def _has(self, place: Place, name: str) -> bool:
        relations, index = self._sides.after.relations, self._sides.after.index
        for file, row in (place, *relations.classes_above(place)):
            for at, each in enumerate(index.definitions(file)):
                is_member = each.parent == row or (
                    each.parent >= 0 and index.definitions(file)[each.parent].kind == "impl"
                )
                is_named = each.name.rpartition(".")[2] == name and each.kind in FUNCTIONS
                if is_member and is_named and self._is_bodied((file, at)):
                    return True
        text = index.text(place[0])
        return name in text or self._has_outside_base_of(place)

    def _is_bodied(self, place: Place) -> bool:
        text = "\n".join(self._sides.after.lines_of(place, whole=True))
        is_python = self._sides.after.language(place[0]) == "python"
        return _ABSTRACT_METHOD.search(text) is None if is_python else "{" in text or " = " in text

    def _concrete(self, places: Sequence[Place]) -> list[Place]:
        return [
            place
            for place in places
            if not self._head(place, _ABSTRACT)
            and self._sides.after.index.definitions(place[0])[place[1]].kind
            in ("class", "struct", "enum", "impl")
        ]

    def _head(self, place: Place, pattern: re.Pattern[str]) -> bool:
        return pattern.search("\n".join(self._sides.after.lines_of(place))) is not None

    def _has_outside_base(self, method: Place) -> bool:
        parent = self._sides.after.index.definitions(method[0])[method[1]].parent
        return parent < 0 or self._has_outside_base_of((method[0], parent))

    def _has_outside_base_of(self, owner: Place) -> bool:
        """Tell whether a class extends something that is not ours, or that is not known."""
        relations, index = self._sides.after.relations, self._sides.after.index
        for place in (owner, *relations.classes_above(owner)):
            view = index.derived(FileViews)[place[0]]
            written = [
                each
                for each in view.bindings
                if each.kind == BASE_OF
                and view.class_around(each.definition) == place[1]
                and each.value.rpartition(".")[2].partition("[")[0] not in _WITHOUT_METHODS
            ]
            if len(written) > len(relations.classes_above(place)):
                return True
        return False

    def _finding(self, place: Place, cause: Place, told: str) -> Finding:
        index = self._sides.after.index
        line = index.definitions(place[0])[place[1]].sig_start
        where = self._where(cause) if cause != place else ""
        within, name = index.qualified_name(*place), index.qualified_name(*cause)
        return self._told((place[0], line), within, name, told, where)

    def _where(self, place: Place) -> str:
        index = self._sides.after.index
        return f"{index.paths[place[0]]}:{index.definitions(place[0])[place[1]].sig_start}"

    def _told(self, at: tuple[int, int], within: str, name: str, told: str, cause: str) -> Finding:
        action = f"bring it in line with {cause}" if cause else "rename or drop it"
        path, kind = self._sides.after.index.paths[at[0]], FindingKind.OVERRIDE
        return Finding(kind, path, at[1], within, name, told, action, is_sure=True, cause=cause)
