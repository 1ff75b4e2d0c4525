"""Methods that override, implement or declare a function whose signature changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from repo_map.check.model import Finding, FindingKind
from repo_map.check.resolution import find_prototypes
from repo_map.check.signatures import same_signature
from repo_map.check.trees import TreeComparison
from repo_map.languages.kinds import FUNCTIONS
from repo_map.messages import one_line
from repo_map.parsing.facts_model import INHERITS
from repo_map.relations.model import Confidence, Place

_MARKED: Final = re.compile(r"@Override\b|\boverride\b|#\[\\?Override\]")
_ABSTRACT_METHOD: Final = r"@(?:abc\.)?abstractmethod\b"
_ABSTRACT: Final = re.compile(r"\babstract\b")
_BARE: Final = r"(?s)\A[^{]*;\s*\Z"
_NOT_OPTIONAL: Final = r"(?s)\A(?!.*(?:\?\s*[(<:]|\{\s*\Z|(?<![=!<>])=(?![=>])))"
_REQUIRED: Final = {
    **dict.fromkeys(("java", "php"), ("interface", _BARE)),
    "rust": ("trait", _BARE),
    **dict.fromkeys(("typescript", "tsx", "kotlin"), ("interface", _NOT_OPTIONAL)),
    "python": ("class", _ABSTRACT_METHOD),
}
"""Kind of the owner, and pattern of a member without a body that implementations inherit, by language."""
_WITHOUT_METHODS: Final = frozenset({"ABC", "Generic", "Protocol", "object"})
"""Python's bases that give a class no method."""


class OverrideChecker:
    """Finds overrides, implementations and prototypes with the old signature."""

    def __init__(self, trees: TreeComparison) -> None:
        self._trees = trees
        self._before, self._after = trees.before, trees.after

    def find(self, changed: Sequence[tuple[Place, Place]]) -> Iterator[Finding]:
        """Yield them; ``changed`` are the functions whose parameters changed, before and after."""
        for before, after in changed:
            yield from self._of_changed(before, after)
            yield from self._prototypes(after)
        for place in self._trees.removed:
            yield from self._of_removed(place)
        for place in self._trees.added:
            yield from self._missing_implementations(place)

    def _of_changed(self, before: Place, after: Place) -> Iterator[Finding]:
        message = (
            f"it overrides `{one_line(self._after.qualified_name(after))}` and still has its old parameters"
        )
        for override, _ in self._overrides_before(before):
            was_same = same_signature(self._before, before, self._after, override)
            if was_same and not same_signature(self._after, after, self._after, override):
                yield self._finding(override, after, message)

    def _of_removed(self, place: Place) -> Iterator[Finding]:
        """Yield methods marked as overriding that override nothing now."""
        message = f"it overrides `{one_line(self._before.qualified_name(place))}`, which was removed"
        if self._before.definition(place).kind not in FUNCTIONS or self._before.definition(place).parent < 0:
            return
        for override, is_marked in self._overrides_before(place):
            owner = (override[0], self._after.definition(override).parent)
            is_lost = is_marked and owner[1] >= 0 and not self._after.relations.overrides_of(override)
            if is_lost and not self._has_external_base(owner):
                yield self._finding(override, override, message)

    def _overrides_before(self, place: Place) -> Iterator[tuple[Place, bool]]:
        """Yield what overrode a method, as it is now, and whether it is marked so; guesses have to be."""
        for each in self._before.relations.overridden_by(place):
            override = self._trees.place_after(each.source)
            if override is not None:
                is_marked = self._has_in_head(override, _MARKED)
                if is_marked or each.confidence is Confidence.RESOLVED:
                    yield override, is_marked

    def _prototypes(self, changed: Place) -> Iterator[Finding]:
        """Yield the prototypes of a C function that take another number of arguments."""
        tree = self._after
        bodies = [each for each in tree.named(tree.name(changed)) if not tree.is_prototype(each)]
        if tree.language(changed[0]) != "c" or bodies != [changed]:
            return
        count = len(tree.forms_of(changed)[0].parameters)
        for file, line, parameters in find_prototypes(tree, tree.name(changed)):
            if parameters not in (-1, count) and self._trees.line_before(file, line):
                finding = self._finding(
                    (file, -1), changed, "it declares a function whose parameters changed"
                )
                yield finding._replace(line=line)

    def _missing_implementations(self, place: Place) -> Iterator[Finding]:
        """Yield classes that implement an interface and lack its new method."""
        tree, definition = self._after, self._after.definition(place)
        owner = (place[0], definition.parent)
        if definition.kind not in FUNCTIONS or owner not in self._trees.matched_before:
            return
        kind, required = _REQUIRED.get(tree.language(place[0]), ("", ""))
        if tree.definition(owner).kind != kind or not re.search(required, tree.text_of(place)):
            return
        name = tree.name(place)
        message = (
            f"it implements `{one_line(tree.qualified_name(owner))}` and lacks its new `{one_line(name)}`"
        )
        for each in tree.relations.implementations_of(owner):
            below = each.source
            is_class = tree.definition(below).kind in ("class", "struct", "enum", "impl")
            is_sure = is_class and each.confidence is Confidence.RESOLVED
            is_unchanged = self._trees.line_before(below[0], tree.definition(below).sig_start)
            is_concrete = is_sure and is_unchanged and not self._has_in_head(below, _ABSTRACT)
            if is_concrete and not self._implements(below, name):
                yield self._finding(below, place, message)

    def _implements(self, place: Place, name: str) -> bool:
        """Return True if a class has, inherits or may inherit a method, or its file names it elsewhere."""
        tree = self._after
        for owner in tree.relations.classes_above(place):
            for row, each in enumerate(tree.index.definitions(owner[0])):
                if each.parent == owner[1] and each.kind in FUNCTIONS and tree.name((owner[0], row)) == name:
                    text = tree.text_of((owner[0], row))
                    if not re.search(_ABSTRACT_METHOD, text) and (
                        "{" in text or tree.language(owner[0]) == "python"
                    ):
                        return True
        return name in tree.index.sources.text(place[0]) or self._has_external_base(place)

    def _has_in_head(self, place: Place, pattern: re.Pattern[str]) -> bool:
        return pattern.search("\n".join(self._after.head(place))) is not None

    def _has_external_base(self, owner: Place) -> bool:
        """Return True if a class, or one above, extends something outside of the repository, or unknown."""
        relations = self._after.relations
        for place in (owner, *relations.classes_above(owner)):
            view = self._after.view(place[0])
            bases = [
                each
                for each in view.bindings
                if each.kind == INHERITS
                and view.class_around(each.definition) == place[1]
                and each.value.rpartition(".")[2].partition("[")[0] not in _WITHOUT_METHODS
            ]
            if len(bases) > len(relations.classes_above(place)):
                return True
        return False

    def _finding(self, place: Place, cause: Place, message: str) -> Finding:
        tree = self._after
        where = tree.location(cause) if cause != place else ""
        line = tree.definition(place).sig_start if place[1] >= 0 else 1
        action = f"change its signature to match {where}" if where else "rename or drop it"
        name = tree.qualified_name(cause)
        return tree.finding(FindingKind.OVERRIDE, place, line, name, (message, action), cause=where)
