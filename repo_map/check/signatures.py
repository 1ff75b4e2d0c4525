"""Calls, overrides and implementations that no longer match the parameters of a function."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from repo_map.check.model import Finding, FindingKind
from repo_map.check.resolution import SCRIPTS, find_prototypes, is_builtin
from repo_map.check.trees import TreeComparison, TreeVersion
from repo_map.languages.kinds import FUNCTIONS, TYPES
from repo_map.messages import one_line, plural
from repo_map.parsing.facts_model import CALL, IMPORT, INHERITS, RENAMED
from repo_map.parsing.forms import (
    EITHER,
    LAMBDA,
    NAMED,
    NAMED_REST,
    PLACED,
    REST,
    CallForm,
    ParameterForm,
)
from repo_map.relations.model import Confidence, Place, RelationKind

_OVERLOADED: Final = frozenset({"java", "kotlin", "cpp", "scala", "typescript", "tsx", "csharp"})
"""Languages in which functions of one name have different parameters."""
_LOOSE: Final = frozenset({"javascript", "jsx", "vue", "svelte"})
"""Languages in which a call may omit arguments, or give more."""
_UNTYPED: Final = _LOOSE | {"python", "ruby", "php"}
"""Languages in which an argument that reaches another parameter than before may match as well."""
_KEYWORD_ARGUMENTS: Final = frozenset({"python", "kotlin", "php", "ruby"})
_MAX_OVERLOAD_FILES: Final = 60
_PLAIN_DECORATORS: Final = re.compile(
    r"@(?:\w+\.)*(?:staticmethod|classmethod|abstractmethod|override|final|contextmanager|asynccontextmanager|cache"
    r"|lru_cache(?:\(.*\))?)\s*$"
)
_ANY: Final = (ParameterForm("", REST, is_optional=True),)
"""The parameters of a function that takes any arguments."""
Parameters = tuple[ParameterForm, ...]
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


def call_error(parameters: Sequence[ParameterForm], call: CallForm, language: str) -> str:
    """Return why a call does not match some parameters, in a few words; ``""`` if it does, or may."""
    names, given = list(call.names), call.given
    if language == "ruby" and names and not any(each.kind in (NAMED, NAMED_REST) for each in parameters):
        # They make one hash, the last argument.
        names, given = [], given + 1
    positional = [each for each in parameters if each.kind in (EITHER, PLACED)]
    if LAMBDA in names and parameters:
        names = [*(each for each in names if each != LAMBDA), parameters[-1].name]
    if names and language in _KEYWORD_ARGUMENTS:
        kinds = (EITHER, NAMED, REST) if language == "kotlin" else (EITHER, NAMED)
        known = {each.name for each in parameters if each.kind in kinds}
        unknown = [each for each in names if each not in known]
        if unknown and not any(each.kind == NAMED_REST for each in parameters):
            return f"it takes no `{unknown[0]}`"
    if call.is_open:
        return ""
    if given > len(positional) and not any(each.kind == REST for each in parameters):
        return f"expected {plural(len(positional), 'argument')}, got {given}"
    if language in _LOOSE:
        return ""
    required = [*positional[given:], *(each for each in parameters if each.kind == NAMED)]
    missing = [each.name for each in required if not each.is_optional and each.name not in names]
    if missing:
        return f"`{missing[0]}` is missing" if missing[0].isidentifier() else f"got only {given}"
    doubled = [each.name for each in positional[:given] if each.kind == EITHER and each.name in names]
    return f"`{doubled[0]}` is given twice" if doubled and language == "python" else ""


def _same_signature(one: TreeVersion, place: Place, other: TreeVersion, other_place: Place) -> bool:
    """Return True if two functions take the same arguments, the names of positional ones aside."""
    shapes = [
        [
            (PLACED if each.kind == EITHER else each.kind, each.is_optional, each.name * (each.kind == NAMED))
            for each in form.parameters
        ]
        for form in (*one.forms_of(place), *other.forms_of(other_place))
    ]
    return len(shapes) == 2 and shapes[0] == shapes[1]


class SignatureChecker:
    """Finds calls that do not match: those of functions whose parameters changed, and new ones."""

    def __init__(self, trees: TreeComparison) -> None:
        self._trees = trees
        self._before, self._after = trees.before, trees.after
        self._parameters: dict[tuple[bool, Place], tuple[Parameters, ...]] = {}
        self.changed = [
            (old, new) for old, new, one, other in trees.changed_forms() if one.parameters != other.parameters
        ]
        """The functions whose parameters changed, before and after."""
        self.incompatible = [new for old, new in self.changed if not self._is_extended(old, new)]
        """Those of the tree after that calls may not match which fitted before."""
        self._compatible = {new for old, new in self.changed if self._takes_the_same(old, new)}
        """Those that fit all calls that fitted before, whatever these spread."""

    def find(self) -> Iterator[Finding]:
        pairs = [*self.changed, *self._removed_overloads()]
        for tree, places in (
            (self._before, [before for before, _ in pairs]),
            (self._after, [after for _, after in self.changed]),
        ):
            tree.read([use.source[0] for place in places for use in tree.relations.callers_of(place)])
        for before, after in pairs:
            self._trees.require_time()
            yield from self._check_unchanged_calls(before, after)
        for before, after in self.changed:
            yield from self._check_edited_calls(after)
            if after in self.incompatible:
                self._check_values(before, after)
        yield from self._check_new_calls()

    def _removed_overloads(self) -> Iterator[tuple[Place, Place]]:
        """Yield the functions of which only overloads are left, each with the first of them in its file."""
        after = self._after
        for old in self._trees.removed:
            file, name = self._trees.file_after(old[0]), self._before.qualified_name(old)
            if self._before.language(old[0]) in _OVERLOADED and self._before.forms_of(old):
                left = (each for each in after.named(self._before.name(old)) if each[0] == file)
                named = (each for each in left if after.qualified_name(each) == name)
                yield from ((old, each) for each in islice(filter(after.is_function, named), 1))

    def _is_extended(self, before: Place, after: Place) -> bool:
        """Return True if calls that matched before match now: only optional parameters were appended."""
        old, new = self._before.forms_of(before)[0].parameters, self._after.forms_of(after)[0].parameters
        is_script = self._after.language(after[0]) in SCRIPTS
        # What calls a function of a script may give it more than it took.
        return not is_script and new[: len(old)] == old and all(each.is_optional for each in new[len(old) :])

    def _takes_the_same(self, before: Place, after: Place) -> bool:
        """Return True if calls with spread arguments match as before."""
        if after not in self.incompatible:
            return True
        has_names = self._after.language(after[0]) in _UNTYPED | _KEYWORD_ARGUMENTS
        return not has_names and _same_signature(self._before, before, self._after, after)

    # Calls of changed functions.

    def _check_edited_calls(self, after: Place) -> Iterator[Finding]:
        for file, line, calls in self._calls_of(self._after, after):
            if not self._trees.line_before(file, line):
                if not calls:
                    self._leave_open(after, file, line, "its arguments are not read")
                for call in calls:
                    yield from self._check(after, file, call, is_edited=True)

    def _check_unchanged_calls(self, before: Place, after: Place) -> Iterator[Finding]:
        for old_file, old_line, old in self._calls_of(self._before, before):
            at = self._trees.unchanged(old_file, old_line)
            if at is None:
                continue
            language = self._after.language(at[0])
            new = self._calls_at(self._after, *at, old[0].name) if old else ()
            if not old or len(old) != len(new):
                self._leave_open(after, *at, "its arguments are not read")
                continue
            if any(self._call_error(self._before, before, call) for call in old):
                self._leave_open(after, *at, "it did not fit the old parameters as written")
                continue
            for was, now in zip(old, new, strict=True):
                call = self._counted_by(before, was, now)
                # Of a call on several lines others may be edited.
                is_edited = was.given != now.given
                wrong = list(self._check(after, at[0], call, is_edited=is_edited))
                yield from wrong
                is_followed = language in _UNTYPED and not (wrong or is_edited or call.is_open)
                if is_followed and self._is_uncertain(before, after, call, language):
                    self._trees.leave_open(
                        after, at[0], call.line, f"may not fit {self._after.parameters_of(after)}"
                    )

    def _check(self, after: Place, file: int, call: CallForm, *, is_edited: bool) -> Iterator[Finding]:
        """Yield a finding for a call that a function does not take."""
        # What an edited call passes in a loose language, only its author knows.
        is_free = is_edited and self._after.language(file) in _LOOSE
        if error := "" if is_free else self._call_error(self._after, after, call):
            yield self._misfit(after, file, call, error)
        elif call.is_open:
            self._leave_open(after, file, call.line, "its number of arguments is unknown")

    def _leave_open(self, after: Place, file: int, line: int, reason: str) -> None:
        """Note a call that can't be judged, unless what fitted before fits now."""
        if after not in self._compatible:
            self._trees.leave_open(after, file, line, reason)

    def _counted_by(self, before: Place, was: CallForm, call: CallForm) -> CallForm:
        """Return an unchanged call of another call's results with the number that fitted before."""
        parameters = self._before.forms_of(before)[0].parameters
        is_same = was.inner is not None and call.inner is not None and was.inner[0] == call.inner[0]
        if not (is_same and call.is_open) or any(each.kind == REST for each in parameters):
            return call
        return call._replace(given=len(parameters), is_open=False)

    def _calls_of(self, tree: TreeVersion, place: Place) -> Iterator[tuple[int, int, Sequence[CallForm]]]:
        """Yield file, line and calls of each line that calls a function, or constructs what it sets up."""
        name, owner = tree.name(place), (place[0], tree.definition(place).parent)
        is_named_like_class = owner[1] >= 0 and name == tree.definition(owner).name
        wanted = {place, *tree.relations.constructed_by(place), *((owner,) if is_named_like_class else ())}
        for use in tree.relations.callers_of(place):
            file, line = use.source[0], use.line
            sites = [site for site in tree.view(file).sites_by_line.get(line, ()) if site.kind == CALL]
            resolved = [site for site in sites if wanted & set(tree.relations.meaning(file, site).targets)]
            names = [site.name for site in resolved or sites if resolved or site.name == name]
            # A decorator is no call as it is written.
            for called in names or [name]:
                yield file, line, self._calls_at(tree, file, line, called)

    def _calls_at(self, tree: TreeVersion, file: int, line: int, name: str) -> list[CallForm]:
        return [self._counted(tree, file, call) for call in tree.calls_at(file, line, name)]

    @staticmethod
    def _counted(tree: TreeVersion, file: int, call: CallForm) -> CallForm:
        """Return a call of another call's results with their number, if it is known."""
        if call.inner is None:
            return call
        name, line = call.inner
        sites = [site for site in tree.sites(file, line, name) if site.kind == CALL]
        targets = {each for site in sites for each in tree.relations.meaning(file, site).targets}
        counts = {_count_results(tree, each) for each in targets}
        if not targets and is_builtin(name, tree.language(file)) and not any(each.object for each in sites):
            counts = {1}
        count = counts.pop() if len(counts) == 1 else 0
        return call._replace(given=count, is_open=False) if count else call

    def _is_uncertain(self, before: Place, after: Place, call: CallForm, language: str) -> bool:
        """Return True if a call may pass other arguments than the function takes now.

        A positional argument reaches another parameter than before, which still exists, or in a loose
        language a new parameter is omitted.
        """
        old, new = (
            [
                each
                for each in _without_receiver(tree, place, tree.forms_of(place)[0].parameters, call, language)
                if each.kind in (EITHER, PLACED)
            ]
            for tree, place in ((self._before, before), (self._after, after))
        )
        old_names, names = [each.name for each in old], [each.name for each in new]
        if any(name in names and names.index(name) != at for at, name in enumerate(old_names[: call.given])):
            return True
        added = [each for each in new[call.given :] if not each.is_optional and each.name not in old_names]
        return language in _LOOSE and bool(added)

    def _check_values(self, before: Place, after: Place) -> None:
        """Note where a function is passed as a value on an unchanged line."""
        for use in self._before.relations.uses_of(before, Confidence.LIKELY):
            at = self._trees.unchanged(use.source[0], use.line)
            is_exported = at is not None and "exports" in self._after.lines(at[0])[at[1] - 1]
            if at is not None and use.kind is RelationKind.VALUE and not is_exported:
                self._trees.leave_open(after, *at, f"a value; takes {self._after.parameters_of(after)} now")

    # New calls.

    def _check_new_calls(self) -> Iterator[Finding]:
        """Check the calls on new lines against all that they may refer to."""
        tree = self._after
        for changed, file in self._trees.new_files:
            is_checked = tree.relations.knows(file) and tree.language(file) not in _LOOSE
            bindings = tree.view(file).bindings
            imported = {each.name for each in bindings if each.kind in (IMPORT, RENAMED)}
            for written in tree.forms(file).calls if is_checked else ():
                if written.line in changed.lines.before:
                    continue
                call = self._counted(tree, file, written)
                self._trees.require_time()
                sites = [site for site in tree.sites(file, call.line, call.name) if site.kind == CALL]
                if len(sites) != 1 or len(tree.calls_at(file, call.line, call.name)) != 1:
                    continue
                targets = tree.relations.meaning(file, sites[0]).targets
                if call.name in imported and any(each[0] == file for each in targets):
                    continue  # A definition in one callback shadows an import that is called in another.
                errors = [
                    self._call_error(tree, each, call) if self._has_plain_signature(each) else ""
                    for each in targets
                ]
                if errors and all(errors):
                    yield self._misfit(targets[0], file, call, errors[0])

    def _has_plain_signature(self, place: Place) -> bool:
        """Return True if the parameters are those in the head, whatever decorates the function."""
        is_python = self._after.language(place[0]) == "python"
        decorators = _decorators(self._after, place) if is_python else ()
        is_plain = all(_PLAIN_DECORATORS.search(line.strip()) or not line.strip() for line in decorators)
        return is_plain and self._after.definition(place).kind in FUNCTIONS - {"macro"}

    # Signatures.

    def _call_error(self, tree: TreeVersion, place: Place, call: CallForm) -> str:
        """Return why a call matches no overload of a function; ``""`` if it matches one, or may."""
        language = tree.language(place[0])
        errors = [
            call_error(_without_receiver(tree, place, parameters, call, language), call, language)
            for parameters in self._overloads(tree, place)
        ]
        return errors[0] if errors and all(errors) else ""

    def _overloads(self, tree: TreeVersion, place: Place) -> tuple[Parameters, ...]:
        """Return the parameters of a function and of its overloads; none if they are unknown."""
        key = (tree is self._before, place)
        if key not in self._parameters:
            own = [each.parameters for each in tree.forms_of(place)]
            if own and tree.language(place[0]) in _OVERLOADED:
                name = tree.name(place)
                files = [each for each, _ in tree.named(name) if tree.language(each) in _OVERLOADED]
                files = list(dict.fromkeys(files)) if len(set(files)) <= _MAX_OVERLOAD_FILES else []
                tree.read(files)
                forms = (form for each in files for form in tree.forms(each).functions)
                own += [form.parameters for form in forms if form.name == name] or [_ANY]
            is_void = re.search(r"\(\s*void\s*\)", " ".join(tree.head(place))) is not None
            if tree.language(place[0]) == "c" and () in own and not is_void:
                own.append(_ANY)
            self._parameters[key] = tuple(own)
        return self._parameters[key]

    def _misfit(self, target: Place, file: int, call: CallForm, error: str) -> Finding:
        name, where = self._after.qualified_name(target), self._after.location(target)
        message = f"the call of `{one_line(name)}` does not fit: {error}"
        kind, texts = FindingKind.ARGUMENTS, (message, f"call it as it is at {where}")
        return self._after.finding(kind, file, call.line, name, texts, cause=where)

    # Overrides, implementations and prototypes.

    def find_overrides(self) -> Iterator[Finding]:
        """Yield overrides, implementations and prototypes with the old signature."""
        for before, after in self.changed:
            self._trees.require_time()
            yield from self._of_changed(before, after)
            yield from self._prototypes(after)
        for place in self._trees.removed:
            self._trees.require_time()
            yield from self._of_removed(place)
        for place in self._trees.added:
            self._trees.require_time()
            yield from self._missing_implementations(place)

    def _of_changed(self, before: Place, after: Place) -> Iterator[Finding]:
        name = one_line(self._after.qualified_name(after))
        message = f"it overrides `{name}` and still has its old parameters"
        for override, _ in self._overrides_before(before):
            was_same = _same_signature(self._before, before, self._after, override)
            if was_same and not _same_signature(self._after, after, self._after, override):
                yield self._finding(override, after, message)

    def _of_removed(self, place: Place) -> Iterator[Finding]:
        """Yield methods marked as overriding that override nothing now."""
        message = f"it overrides `{one_line(self._before.qualified_name(place))}`, which was removed"
        if not self._before.is_function(place) or self._before.definition(place).parent < 0:
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
        message = "it declares a function whose parameters changed"
        for file, line, parameters in find_prototypes(tree, tree.name(changed)):
            if parameters not in (-1, count) and self._trees.line_before(file, line):
                yield self._finding((file, -1), changed, message)._replace(line=line)

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
        above = one_line(tree.qualified_name(owner))
        message = f"it implements `{above}` and lacks its new `{one_line(name)}`"
        for each in tree.relations.implementations_of(owner):
            below = tree.definition(each.source)
            if (
                each.confidence is Confidence.RESOLVED
                and below.kind in ("class", "struct", "enum", "impl")
                and self._trees.line_before(each.source[0], below.sig_start)
                and not self._has_in_head(each.source, _ABSTRACT)
                and not self._implements(each.source, name)
            ):
                yield self._finding(each.source, place, message)

    def _implements(self, place: Place, name: str) -> bool:
        """Return True if a class has, inherits or may inherit a method, or its file names it elsewhere."""
        tree = self._after
        for file, owner in tree.relations.classes_above(place):
            for row in tree.view(file).members.get((owner, name), ()):
                text, is_function = tree.text_of((file, row)), tree.is_function((file, row))
                has_body = "{" in text or tree.language(file) == "python"
                if is_function and has_body and not re.search(_ABSTRACT_METHOD, text):
                    return True
        return name in tree.index.sources.text(place[0]) or self._has_external_base(place)

    def _has_in_head(self, place: Place, pattern: re.Pattern[str]) -> bool:
        return pattern.search("\n".join(self._after.head(place))) is not None

    def _has_external_base(self, owner: Place) -> bool:
        """Return True if a class, or one above, extends something outside of the repository, or unknown."""
        relations = self._after.relations
        for place in (owner, *relations.classes_above(owner)):
            view = self._after.view(place[0])
            count = sum(
                view.class_around(each.definition) == place[1]
                and each.value.rpartition(".")[2].partition("[")[0] not in _WITHOUT_METHODS
                for each in view.bindings
                if each.kind == INHERITS
            )
            if count > len(relations.classes_above(place)):
                return True
        return False

    def _finding(self, place: Place, cause: Place, message: str) -> Finding:
        tree = self._after
        where = tree.location(cause) if cause != place else ""
        line = tree.definition(place).sig_start if place[1] >= 0 else 1
        action = f"change its signature to match {where}" if where else "rename or drop it"
        name = tree.qualified_name(cause)
        return tree.finding(FindingKind.OVERRIDE, place[0], line, name, (message, action), cause=where)


def _without_receiver(
    tree: TreeVersion, place: Place, parameters: Parameters, call: CallForm, language: str
) -> Parameters:
    """Return the parameters that the arguments of a call are for: without ``self``, mostly."""
    if language == "rust":
        # A long receiver is cut, perhaps after the colons of a path.
        is_path = call.receiver.endswith("::") and "(" not in call.receiver
        has_self = bool(parameters) and parameters[0].name in ("", "self")
        return parameters[1:] if has_self and call.receiver and not is_path else parameters
    definition = tree.definition(place)
    owner = (place[0], definition.parent)
    if language != "python" or definition.parent < 0 or tree.definition(owner).kind not in TYPES:
        return parameters
    decorators = [line.strip().rpartition(".")[2].lstrip("@") for line in _decorators(tree, place)]
    if "staticmethod" in decorators:
        return parameters
    is_on_class = call.receiver.rpartition(".")[2] == tree.definition(owner).name
    is_constructed = definition.name in ("__init__", "__new__") and call.name != definition.name
    is_function = is_on_class and "classmethod" not in decorators and not is_constructed
    return parameters if is_function else parameters[1:]


def _decorators(tree: TreeVersion, place: Place) -> list[str]:
    """Return the lines before the line of a definition's name."""
    definition = tree.definition(place)
    return tree.head(place)[: definition.sig_start - definition.start]


def _count_results(tree: TreeVersion, place: Place) -> int:
    """Return how many values a call of a definition returns; 0 if that is unknown."""
    if tree.definition(place).kind in TYPES:
        return 1  # A conversion.
    forms = tree.forms_of(place) if tree.is_function(place) else ()
    counts = {next((int(each) for each in form.traits if each.isdigit()), 1) for form in forms}
    return counts.pop() if len(counts) == 1 else 0
