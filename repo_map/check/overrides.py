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
from repo_map.relations.file_facts import FileViews
from repo_map.relations.model import Confidence, Place

_MARKED: Final = re.compile(r"@Override\b|\boverride\b|#\[\\?Override\]")
_ABSTRACT_METHOD: Final = re.compile(r"@(?:abc\.)?abstractmethod\b")
_ABSTRACT: Final = re.compile(r"\babstract\b")
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
        name = one_line(self._after.qualified_name(after))
        for each in self._before.relations.overridden_by(before):
            override = self._trees.place_after(each.source)
            if override is None:
                continue
            if each.confidence is not Confidence.RESOLVED and not self._has_in_head(override, _MARKED):
                continue
            was_same = same_signature(self._before, before, self._after, override)
            if was_same and not same_signature(self._after, after, self._after, override):
                message = f"it overrides `{name}` and still has its old parameters"
                yield self._finding(override, after, message)

    def _prototypes(self, changed: Place) -> Iterator[Finding]:
        """Yield the prototypes of a C function that take another number of arguments."""
        tree = self._after
        bodies = [each for each in tree.named(tree.name(changed)) if not tree.is_prototype(each)]
        if tree.language(changed[0]) != "c" or bodies != [changed]:
            return
        count = len(tree.forms_of(changed)[0].parameters)
        for file, line, parameters in find_prototypes(tree, tree.name(changed)):
            if parameters not in (-1, count) and self._trees.line_before(file, line):
                finding = self._finding(changed, changed, "it declares a function whose parameters changed")
                where = tree.location(changed)
                yield finding._replace(
                    path=tree.index.paths[file],
                    line=line,
                    within="",
                    action=f"change its signature to match {where}",
                    cause=where,
                )

    def _of_removed(self, place: Place) -> Iterator[Finding]:
        """Yield methods marked as overriding that override nothing now."""
        definition = self._before.definition(place)
        is_method = definition.kind in FUNCTIONS and definition.parent >= 0
        if not is_method or not self._before.relations.knows(place[0]):
            return
        for each in self._before.relations.overridden_by(place):
            override = self._trees.place_after(each.source)
            if override is None or each.confidence is not Confidence.RESOLVED:
                continue
            is_marked = self._has_in_head(override, _MARKED)
            if is_marked and not self._after.relations.overrides_of(override):
                owner = (override[0], self._after.definition(override).parent)
                if owner[1] >= 0 and not self._has_external_base(owner):
                    name = one_line(self._before.qualified_name(place))
                    yield self._finding(override, override, f"it overrides `{name}`, which was removed")

    def _missing_implementations(self, place: Place) -> Iterator[Finding]:
        """Yield classes that implement an interface and lack its new method."""
        tree, definition = self._after, self._after.definition(place)
        owner = (place[0], definition.parent)
        if definition.kind not in FUNCTIONS or owner not in self._trees.matched_before:
            return
        if not self._is_required(place, owner):
            return
        message = f"it implements `{one_line(tree.qualified_name(owner))}` and lacks its new `"
        message += f"{one_line(tree.name(place))}`"
        for each in tree.relations.implementations_of(owner):
            below = each.source
            is_class = tree.definition(below).kind in ("class", "struct", "enum", "impl")
            if (
                each.confidence is not Confidence.RESOLVED
                or not is_class
                or self._has_in_head(below, _ABSTRACT)
            ):
                continue
            is_unchanged = self._trees.line_before(below[0], tree.definition(below).sig_start)
            if is_unchanged and not self._implements(below, tree.name(place)):
                yield self._finding(below, place, message)

    def _is_required(self, place: Place, owner: Place) -> bool:
        """Return True if a member has no body that implementations inherit."""
        language, kind = self._after.language(place[0]), self._after.definition(owner).kind
        text = self._after.text_of(place)
        if (language in ("java", "php") and kind == "interface") or (language == "rust" and kind == "trait"):
            return "{" not in text and text.rstrip().endswith(";")
        if language in ("typescript", "tsx", "kotlin") and kind == "interface":
            return not re.search(r"\?\s*[(<:]|\{\s*$|(?<![=!<>])=(?![=>])", text)
        return language == "python" and _ABSTRACT_METHOD.search(text) is not None

    def _implements(self, place: Place, name: str) -> bool:
        tree = self._after
        for file, row in (place, *tree.relations.classes_above(place)):
            for at, each in enumerate(tree.index.definitions(file)):
                parent = each.parent
                is_member = parent == row or (parent >= 0 and tree.definition((file, parent)).kind == "impl")
                if is_member and each.kind in FUNCTIONS and tree.name((file, at)) == name:
                    text = tree.text_of((file, at))
                    is_python = tree.language(file) == "python"
                    if _ABSTRACT_METHOD.search(text) is None if is_python else "{" in text or " = " in text:
                        return True
        return name in tree.index.sources.text(place[0]) or self._has_external_base(place)

    def _has_in_head(self, place: Place, pattern: re.Pattern[str]) -> bool:
        return pattern.search("\n".join(self._after.head(place))) is not None

    def _has_external_base(self, owner: Place) -> bool:
        """Return True if a class, or one above, extends something outside of the repository, or unknown."""
        relations = self._after.relations
        for place in (owner, *relations.classes_above(owner)):
            view = self._after.index.memo(FileViews)[place[0]]
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
        return Finding(
            FindingKind.OVERRIDE,
            tree.index.paths[place[0]],
            tree.definition(place).sig_start,
            tree.qualified_name(place),
            tree.qualified_name(cause),
            message,
            f"change its signature to match {where}" if where else "rename or drop it",
            cause=where,
        )
