"""Calls whose arguments no longer match the parameters of the function that they call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from repo_map.check.model import Finding, FindingKind
from repo_map.check.resolution import SCRIPTS
from repo_map.check.trees import TreeComparison, TreeVersion
from repo_map.languages.kinds import FUNCTIONS, TYPES
from repo_map.messages import first_three, one_line, plural
from repo_map.parsing.facts_model import CALL, Site
from repo_map.parsing.forms import (
    EITHER,
    LAMBDA,
    NAMED,
    NAMED_REST,
    PLACED,
    REST,
    CallForm,
    Form,
    ParameterForm,
)
from repo_map.relations.file_facts import FileViews
from repo_map.relations.model import Confidence, Place, RelationKind
from repo_map.relations.text_search import files_with

_OVERLOADED: Final = frozenset({"java", "kotlin", "cpp", "scala", "typescript", "tsx", "csharp"})
"""Languages in which functions of one name have different parameters."""
_LOOSE: Final = frozenset({"javascript", "jsx"})
"""Languages in which a call may omit arguments, or give more."""
_UNTYPED: Final = frozenset({"python", "ruby", "php"})
"""Languages in which an argument that reaches another parameter than before may match as well."""
_KEYWORD_ARGUMENTS: Final = frozenset({"python", "kotlin", "php", "ruby"})
_MAX_OVERLOAD_FILES: Final = 60
_MAX_VERIFIED_CALLS: Final = 6
_MAX_NEW_CALLS: Final = 400
_PLAIN_DECORATORS: Final = re.compile(
    r"@(?:\w+\.)*(?:staticmethod|classmethod|abstractmethod|override|final|contextmanager|asynccontextmanager|cache"
    r"|lru_cache(?:\(.*\))?)\s*$"
)
_CONSTRUCTORS: Final = ("__init__", "__new__", "__construct", "constructor", "initialize")
_ANY: Final = (ParameterForm("", REST, is_optional=True),)
"""The parameters of a function that takes any arguments."""
Parameters = tuple[ParameterForm, ...]


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
    required = [*positional[given:], *(each for each in parameters if each.kind == NAMED)]
    missing = [each.name for each in required if not each.is_optional and each.name not in names]
    if missing:
        return f"`{missing[0]}` is missing" if missing[0].isidentifier() else f"got only {given}"
    doubled = [each.name for each in positional[:given] if each.kind == EITHER and each.name in names]
    return f"`{doubled[0]}` is given twice" if doubled and language == "python" else ""


def same_signature(one: TreeVersion, place: Place, other: TreeVersion, other_place: Place) -> bool:
    """Return True if two functions take the same arguments, the names of positional ones aside."""
    first, second = one.forms_of(place), other.forms_of(other_place)
    if not len(first) == len(second) == 1:
        return False
    shapes = [
        [
            (PLACED if each.kind == EITHER else each.kind, each.is_optional, each.name * (each.kind == NAMED))
            for each in form.parameters
        ]
        for form in (first[0], second[0])
    ]
    return shapes[0] == shapes[1]


class SignatureChecker:
    """Finds calls that do not match: those of functions whose parameters changed, and new ones."""

    def __init__(self, trees: TreeComparison) -> None:
        self._trees = trees
        self._before, self._after = trees.before, trees.after
        self._found: dict[tuple[int, int, str], Finding] = {}
        self._parameters: dict[tuple[bool, Place], tuple[Parameters, ...]] = {}
        self._uncertain: dict[Place, dict[str, None]] = {}
        """Unchanged calls that may no longer match, by the changed function."""
        self._passed: dict[Place, dict[str, None]] = {}
        """Unchanged uses of a changed function as a value."""
        changed = list(self._find_changed())
        self.changed = [(before, after) for before, after in changed if after is not None]
        """The functions whose parameters changed, before and after."""
        self.incompatible: tuple[Place, ...] = ()
        """Those of the tree after that calls may not match which fitted before."""
        self._overload_removed = [before for before, after in changed if after is None]

    def find(self) -> tuple[Finding, ...]:
        """Return a finding for each call."""
        callers = self._before.relations.callers_of
        pairs: list[tuple[Place, Place | None]] = [*self.changed]
        pairs += ((before, None) for before in self._overload_removed)
        self._before.read([use.source[0] for before, _ in pairs for use in callers(before)])
        callers = self._after.relations.callers_of
        self._after.read([use.source[0] for _, after in self.changed for use in callers(after)])
        for before, after in pairs:
            self._check_calls(before, after)
        incompatible = [pair for pair in self.changed if not self._is_extended(*pair)]
        for before, after in incompatible:
            self._check_values(before, after)
        self.incompatible = tuple(after for _, after in incompatible)
        self._check_new_calls()
        return tuple(self._found.values())

    @property
    def limitations(self) -> Iterator[str]:
        """Calls that may no longer match, a sentence for each function."""
        for after in dict.fromkeys((*self._uncertain, *self._passed)):
            names = ", ".join(one_line(each.name) for each in self._after.forms_of(after)[0].parameters)
            now = f"`{one_line(self._after.qualified_name(after))}` now takes ({names}) "
            now += f"({self._after.location(after)})."
            if calls := list(self._uncertain.get(after, ())):
                yield f"{now} {plural(len(calls), 'unchanged call')} may not match: {first_three(calls)}."
            if values := list(self._passed.get(after, ())):
                yield f"{now} It is passed as a value at {first_three(values)}; check what calls it there."

    def _find_changed(self) -> Iterator[tuple[Place, Place | None]]:
        """Yield the functions whose parameters changed, before and after; None for a removed overload."""
        before, after = self._before, self._after
        for old, new in self._trees.matched.items():
            if before.definition(old).kind in FUNCTIONS and before.relations.knows(old[0]):
                one, other = before.forms_of(old), after.forms_of(new)
                if len(one) == len(other) == 1 and one[0].parameters != other[0].parameters:
                    yield old, new
        for old in self._trees.removed:
            is_function = before.definition(old).kind in FUNCTIONS
            if is_function and before.language(old[0]) in _OVERLOADED and self._overload_of(old) is not None:
                yield old, None

    def _overload_of(self, before: Place) -> Place | None:
        """Return the first function of the name of a removed one in its file."""
        file = self._trees.file_after(before[0])
        name = self._before.qualified_name(before)
        rows = range(len(self._after.index.definitions(file))) if file is not None else ()
        places = ((file or 0, row) for row in rows)
        return next((each for each in places if self._after.qualified_name(each) == name), None)

    def _is_extended(self, before: Place, after: Place) -> bool:
        """Return True if calls that matched before match now: only optional parameters were appended."""
        old, new = self._before.forms_of(before)[0].parameters, self._after.forms_of(after)[0].parameters
        is_script = self._after.language(after[0]) in SCRIPTS
        # What calls a function of a script may give it more than it took.
        return not is_script and new[: len(old)] == old and all(each.is_optional for each in new[len(old) :])

    # Calls of changed functions.

    def _check_calls(self, before: Place, after: Place | None) -> None:
        unchanged = self._check_unchanged_calls(before, after)
        if after is None or self._after.language(after[0]) in _LOOSE:
            # What an edited call passes in a loose language, only its author knows.
            return
        for use in self._after.relations.callers_of(after):
            file, line = use.source[0], use.line
            if (file, line) in unchanged or self._trees.line_before(file, line):
                continue
            for site in _sites_calling(self._after, file, line, after):
                for call in self._after.calls_at(file, line, site.name):
                    self._check(before, after, file, call, site, is_edited=True)

    def _check_unchanged_calls(self, before: Place, after: Place | None) -> set[tuple[int, int]]:
        """Check the calls on unchanged lines, and return their files and lines."""
        seen: set[tuple[int, int]] = set()
        target = after or self._overload_of(before)
        for use in self._before.relations.callers_of(before):
            at = self._trees.unchanged(use.source[0], use.line)
            if at is None or at in seen:
                continue
            seen.add(at)
            for site in _sites_calling(self._before, use.source[0], use.line, before):
                old = self._before.calls_at(use.source[0], use.line, site.name)
                new = self._after.calls_at(*at, site.name)
                if len(old) != len(new) or target is None:
                    continue
                is_loose = self._after.language(at[0]) in _LOOSE
                # Of a call on several lines others may be edited.
                edited = {call for was, call in zip(old, new, strict=True) if was.given != call.given}
                same = [call for call in new if call not in edited or not is_loose]
                if all(self._matches(self._before, before, each) for each in old):
                    for call in same:
                        self._check(before, target, at[0], call, site, is_edited=call in edited)
                elif is_loose and after is not None:
                    for call in same:
                        self._add_uncertain(before, after, at[0], call)
        return seen

    def _check(
        self, before: Place, after: Place, file: int, call: CallForm, site: Site, *, is_edited: bool
    ) -> None:
        language = self._after.language(file)
        if language in _LOOSE:
            error = self._reordered(before, after, call) or self._omitted(before, after, call)
        else:
            error = self._call_error(self._after, after, call)
        if error:
            self._add(after, file, call, site, error)
        elif language in _LOOSE:
            self._add_uncertain(before, after, file, call)
        elif language in _UNTYPED and not is_edited and self._is_shifted(before, after, call, language):
            self._uncertain.setdefault(after, {})[f"{self._after.index.paths[file]}:{call.line}"] = None

    def _is_shifted(self, before: Place, after: Place, call: CallForm, language: str) -> bool:
        """Return True if a positional argument reaches another parameter than before, which still exists."""
        old, new = (
            [
                each.name
                for each in _without_receiver(tree, place, tree.forms_of(place)[0].parameters, call, language)
                if each.kind in (EITHER, PLACED)
            ]
            for tree, place in ((self._before, before), (self._after, after))
        )
        return any(name in new and new.index(name) != at for at, name in enumerate(old[: call.given]))

    def _add_uncertain(self, before: Place, after: Place, file: int, call: CallForm) -> None:
        """Note a call of a loose language that may pass other arguments than the function takes now."""
        new = self._after.forms_of(after)[0].parameters
        old_names, new_names = self._names(before, after)
        same = _common_prefix(old_names, new_names)
        required = [each for each in new[len(old_names) :] if not each.is_optional and each.kind != REST]
        is_uncertain = call.given > same if same < len(old_names) else bool(required) and call.given <= same
        if old_names != new_names and (call.is_open or is_uncertain):
            self._uncertain.setdefault(after, {})[f"{self._after.index.paths[file]}:{call.line}"] = None

    def _reordered(self, before: Place, after: Place, call: CallForm) -> str:
        """Return why the arguments of a call in a loose language reach other parameters than before."""
        old, new = self._names(before, after)
        same = _common_prefix(old, new)
        if call.is_open or same == len(old) or len(old) != len(set(old)) or call.given <= same:
            return ""
        is_new = old[same] not in new and not set(new[same : same + 1]) & set(old)
        if is_new and len(new) >= len(old):
            return ""
        return f"its parameters were ({', '.join(old)}) and are ({', '.join(new)})"

    def _omitted(self, before: Place, after: Place, call: CallForm) -> str:
        """Return which new last parameter a call in a loose language omits, if it seems to be required.

        Of the calls of a function that only its file knows, none passes it, or at least half of them do.
        """
        old, new = self._names(before, after)
        added = self._after.forms_of(after)[0].parameters[len(old) : len(old) + 1]
        if new[: len(old)] != old or not added or added[0].is_optional or added[0].kind == REST:
            return ""
        if files_with(self._after.index, (self._after.name(after),)) != [after[0]]:
            return ""
        calls = [
            each
            for use in self._after.relations.callers_of(after)
            for site in _sites_calling(self._after, use.source[0], use.line, after)
            for each in self._after.calls_at(use.source[0], use.line, site.name)
        ]
        name, passing = one_line(added[0].name), sum(each.is_open or each.given > len(old) for each in calls)
        if not passing:
            return f"nothing gives `{name}`, its new parameter"
        unchanged = [each for each in (*calls, call) if self._trees.line_before(after[0], each.line)]
        varies = any(each.is_open or each.given != len(old) for each in unchanged)
        comment = rf"@param\b[^\n]*(?:\[{name}\b|=\}}\s+{name}\b)"
        if 2 * passing < len(calls) or varies or re.search(comment, self._after.index.sources.text(after[0])):
            return ""
        return f"it does not give `{name}`, as other calls do"

    def _names(self, before: Place, after: Place) -> tuple[list[str], list[str]]:
        old, new = self._before.forms_of(before)[0], self._after.forms_of(after)[0]
        return [each.name for each in old.parameters], [each.name for each in new.parameters]

    def _check_values(self, before: Place, after: Place) -> None:
        """Note where a function is passed as a value on an unchanged line."""
        for use in self._before.relations.uses_of(before, Confidence.LIKELY):
            at = self._trees.unchanged(use.source[0], use.line)
            is_exported = at is not None and "exports" in self._after.lines(at[0])[at[1] - 1]
            if at is not None and use.kind is RelationKind.VALUE and not is_exported:
                self._passed.setdefault(after, {})[f"{self._after.index.paths[at[0]]}:{at[1]}"] = None

    # New calls.

    def _check_new_calls(self) -> None:
        """Check the calls on new lines against all that they may refer to."""
        count = 0
        for each in self._trees.files:
            file = self._trees.new_file(each)
            if file is None or not self._after.relations.knows(file) or self._after.language(file) in _LOOSE:
                continue
            for call in self._after.forms(file).calls:
                if each.lines.before(call.line) or (file, call.line, call.name) in self._found:
                    continue
                count += 1
                if count > _MAX_NEW_CALLS:
                    return
                self._check_new_call(file, call)

    def _check_new_call(self, file: int, call: CallForm) -> None:
        sites = [site for site in _call_sites(self._after, file, call.line) if site.name == call.name]
        if len(sites) != 1 or len(self._after.calls_at(file, call.line, call.name)) != 1:
            return
        targets = self._after.relations.meaning(file, sites[0]).targets
        if not targets or not all(self._has_plain_signature(target) for target in targets):
            return
        errors = [self._call_error(self._after, target, call) for target in targets]
        if all(errors) and self._is_verified(targets[0]):
            self._add(targets[0], file, call, sites[0], errors[0])

    def _has_plain_signature(self, place: Place) -> bool:
        """Return True if the parameters are those in the head, whatever decorates the function."""
        if self._after.definition(place).kind not in FUNCTIONS - {"macro"}:
            return False
        is_python = self._after.language(place[0]) == "python"
        lines = _decorators(self._after, place) if is_python else ()
        return all(_PLAIN_DECORATORS.search(line.strip()) or not line.strip() for line in lines)

    def _is_verified(self, place: Place) -> bool:
        """Return True if the unchanged calls match: otherwise the signature was misread."""
        count = 0
        for use in self._after.relations.callers_of(place):
            if not self._trees.line_before(use.source[0], use.line):
                continue
            for site in _sites_calling(self._after, use.source[0], use.line, place):
                for call in self._after.calls_at(use.source[0], use.line, site.name):
                    count += 1
                    is_new = place not in self._trees.matched_before
                    if is_new and self._call_error(self._after, place, call):
                        return False
            if count >= _MAX_VERIFIED_CALLS:
                break
        return True

    # Signatures.

    def _matches(self, tree: TreeVersion, place: Place, call: CallForm) -> bool:
        return bool(self._overloads(tree, place)) and not self._call_error(tree, place, call)

    def _call_error(self, tree: TreeVersion, place: Place, call: CallForm) -> str:
        """Return why a call matches no overload of a function; ``""`` if it matches one."""
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
                own += [each.parameters for each in _forms_named(tree, tree.name(place))] or [_ANY]
            is_void = re.search(r"\(\s*void\s*\)", " ".join(tree.head(place))) is not None
            if tree.language(place[0]) == "c" and () in own and not is_void:
                own.append(_ANY)
            self._parameters[key] = tuple(own)
        return self._parameters[key]

    def _add(self, target: Place, file: int, call: CallForm, site: Site, error: str) -> None:
        name, where = self._after.qualified_name(target), self._after.location(target)
        finding = Finding(
            FindingKind.ARGUMENTS,
            self._after.index.paths[file],
            call.line,
            self._after.qualified_name((file, site.definition)),
            name,
            f"the call of `{one_line(name)}` does not fit: {error}",
            f"call it as it is at {where}",
            cause=where,
        )
        self._found.setdefault((file, call.line, call.name), finding)


def _forms_named(tree: TreeVersion, name: str) -> Iterable[Form]:
    """Return the functions of a name in languages with overloads; none if too many files have it."""
    files = dict.fromkeys(file for file, _ in tree.named(name))
    same = [file for file in files if tree.language(file) in _OVERLOADED]
    if len(same) > _MAX_OVERLOAD_FILES:
        return ()
    tree.read(same)
    return [form for file in same for form in tree.forms(file).functions if form.name == name]


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


def _common_prefix(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many items two lists have in common from the start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _call_sites(tree: TreeVersion, file: int, line: int) -> list[Site]:
    sites = tree.index.memo(FileViews)[file].sites
    return [site for site in sites if site.line == line and site.kind == CALL]


def _sites_calling(tree: TreeVersion, file: int, line: int, place: Place) -> list[Site]:
    """Return the sites of a line that call a function, or construct what it initializes."""
    name, parent = tree.name(place), tree.definition(place).parent
    owner = (place[0], parent)
    is_constructor = name in _CONSTRUCTORS or name == (tree.definition(owner).name if parent >= 0 else "")
    wanted = {place, owner} if is_constructor else {place}
    sites = _call_sites(tree, file, line)
    resolved = [site for site in sites if wanted & set(tree.relations.meaning(file, site).targets)]
    return resolved or [site for site in sites if site.name == name]
