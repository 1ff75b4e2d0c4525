"""Calls whose values no longer fit what the function takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from repo_map.check.fitting import is_alike, misfit
from repo_map.check.open_calls import OpenCalls, is_in_doubt
from repo_map.check.value_uses import is_wider, value_uses
from repo_map.impact.findings import Finding, FindingKind
from repo_map.impact.sides import Side, Sides
from repo_map.languages.kinds import FUNCTIONS, TYPES
from repo_map.messages import one_line
from repo_map.parsing.facts_model import CALL, Site
from repo_map.parsing.forms import EITHER, PLACED, REST, CallForm, Form, ParameterForm
from repo_map.relations.file_facts import FileViews
from repo_map.relations.model import Place
from repo_map.relations.text_search import files_with

_OVERLOADED: Final = frozenset({"java", "kotlin", "cpp", "scala", "typescript", "tsx", "csharp"})
"""Languages in which functions of one name take different values."""
_LOOSE: Final = frozenset({"javascript", "jsx"})
"""Languages in which a call may give fewer values than are taken, or more."""
_UNTYPED: Final = frozenset({"python", "ruby", "php"})
"""Languages in which a value that goes to another parameter than before may fit as well."""
_MOST_NAMESAKES: Final = 60
_PLAIN_DECORATORS: Final = re.compile(
    r"@(?:\w+\.)*(?:staticmethod|classmethod|abstractmethod|override|final|contextmanager|asynccontextmanager|cache"
    r"|lru_cache(?:\(.*\))?)\s*$"
)
_INITIALISERS: Final = ("__init__", "__new__", "__construct", "constructor", "initialize")
_MOST_TRIED: Final = 6
_MOST_NEW: Final = 400


class Arguments:
    """Finds calls that do not fit."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self._before, self._after = sides.before, sides.after
        self._found: dict[tuple[int, int, str], Finding] = {}
        self._open = OpenCalls(sides)
        self._forms: dict[tuple[bool, Place], tuple[tuple[ParameterForm, ...], ...]] = {}

    def find(self) -> tuple[Finding, ...]:
        """Return them: calls of what changed, then calls that the change wrote."""
        changed = list(self._changed())
        self._read(changed)
        for before, after in changed:
            self._calls_of(before, after)
            if after is not None:
                old, new = self._before.forms_of(before)[0], self._after.forms_of(after)[0]
                if not is_wider(old.parameters, new.parameters, self._after.language(after[0])):
                    self._open.add_value_uses(after, value_uses(self._sides, before, after))
                self._open.look(after, partial(self._is_in_doubt, before, after))
        self._new_calls()
        return tuple(self._found.values())

    @property
    def left_open(self) -> tuple[str, ...]:
        """What was found of which nothing written tells whether it fits, a sentence each."""
        return tuple(self._open.sentences())

    def changed(self) -> list[tuple[Place, Place]]:
        """Return the functions that take other values now, before and after."""
        return [(before, after) for before, after in self._changed() if after is not None]

    def _changed(self) -> Iterator[tuple[Place, Place | None]]:
        """Yield the functions that take other values now; None for an overload that is gone."""
        before, after = self._before, self._after
        for pair in self._sides.pairs:
            definition = before.index.definitions(pair.before[0])[pair.before[1]]
            if definition.kind not in FUNCTIONS or not before.relations.knows(pair.before[0]):
                continue
            one, other = before.forms_of(pair.before), after.forms_of(pair.after)
            if len(one) == len(other) == 1 and one[0].parameters != other[0].parameters:
                yield pair.before, pair.after
        for place in self._sides.gone:
            definition = before.index.definitions(place[0])[place[1]]
            if definition.kind in FUNCTIONS and before.language(place[0]) in _OVERLOADED:
                name = before.index.qualified_name(*place)
                file = self._sides.file_after(place[0])
                rows = range(len(after.index.definitions(file))) if file is not None else ()
                if file is not None and any(after.index.qualified_name(file, row) == name for row in rows):
                    yield place, None

    def _read(self, changed: Sequence[tuple[Place, Place | None]]) -> None:
        """Have all files read at once that hold calls of what changed."""
        for side, places in (
            (self._before, [before for before, _ in changed]),
            (self._after, [after for _, after in changed if after is not None]),
        ):
            side.read([each.source[0] for place in places for each in side.relations.callers_of(place)])

    def _calls_of(self, before: Place, after: Place | None) -> None:
        """Take the calls of a function that do not fit it any more."""
        seen = self._calls_that_stayed(before, after)
        if after is None or self._after.language(after[0]) in _LOOSE:
            # What an edited call gives its values to in a loose language, only its author knows.
            return
        for use in self._after.relations.callers_of(after):
            if (use.source[0], use.line) in seen or self._sides.line_before(use.source[0], use.line):
                continue
            for site in _meaning(self._after, use.source[0], use.line, after):
                for call in self._after.calls_at(use.source[0], use.line, site.name):
                    self._judge(before, after, use.source[0], call, site, is_edited=True)

    def _calls_that_stayed(self, before: Place, after: Place | None) -> set[tuple[int, int]]:
        """Take the calls on lines that stayed as they were, and return their files and lines."""
        seen: set[tuple[int, int]] = set()
        for use in self._before.relations.callers_of(before):
            file = self._sides.file_after(use.source[0])
            line = self._sides.line_after(use.source[0], use.line)
            if file is None or not line or (file, line) in seen:
                continue
            seen.add((file, line))
            for site in _meaning(self._before, use.source[0], use.line, before):
                old = self._before.calls_at(use.source[0], use.line, site.name)
                new = self._after.calls_at(file, line, site.name)
                if len(old) != len(new):
                    continue
                is_loose = self._after.language(file) in _LOOSE
                # Of a call on several lines others may be edited.
                edited = {call for was, call in zip(old, new, strict=True) if was.given != call.given}
                same = [call for call in new if call not in edited or not is_loose]
                if all(self._fits(self._before, before, each) for each in old):
                    for call in same:
                        self._judge(before, after, file, call, site, is_edited=call in edited)
                elif is_loose and after is not None:
                    for call in same:
                        self._leave_open(before, after, file, call)
        return seen

    def _judge(
        self,
        before: Place,
        after: Place | None,
        file: int,
        call: CallForm,
        site: Site,
        *,
        is_edited: bool,
    ) -> None:
        if after is None:
            after = self._namesake(before)
            if after is None:
                return
        language = self._after.language(file)
        if language in _LOOSE:
            why = self._loosely(before, after, call) or self._not_given(before, after, call)
        else:
            why = self._misfit(self._after, after, call)
        if why:
            self._take(after, file, call, site, why)
        elif language in _LOOSE:
            self._leave_open(before, after, file, call)
        elif language in _UNTYPED and not is_edited and self._is_moved(before, after, call, language):
            self._open.add_moved(after, file, call.line)

    def _is_moved(self, before: Place, after: Place, call: CallForm, language: str) -> bool:
        """Tell whether a call gives a value by its position to a parameter that has another now."""
        old, new = (
            [
                each.name
                for each in self._without_self(side, at, side.forms_of(at)[0].parameters, call, language)
                if each.kind in (EITHER, PLACED)
            ]
            for side, at in ((self._before, before), (self._after, after))
        )
        return any(name in new and new.index(name) != at for at, name in enumerate(old[: call.given]))

    def _leave_open(self, before: Place, after: Place, file: int, call: CallForm) -> None:
        if self._is_in_doubt(before, after, file, call):
            self._open.add(after, file, call.line)

    def _is_in_doubt(self, before: Place, after: Place, file: int, call: CallForm) -> bool:
        """Tell whether a call that stayed as it was may not fit any more, and is not told."""
        if (file, call.line, call.name) in self._found:
            return False
        if self._after.language(file) in _LOOSE:
            old, new = self._before.forms_of(before)[0], self._after.forms_of(after)[0]
            return is_in_doubt(old.parameters, new.parameters, call)
        return self._fits(self._before, before, call) and bool(self._misfit(self._after, after, call))

    def _namesake(self, before: Place) -> Place | None:
        file = self._sides.file_after(before[0])
        name = self._before.index.qualified_name(*before)
        rows = range(len(self._after.index.definitions(file))) if file is not None else ()
        found = [
            row for row in rows if file is not None and self._after.index.qualified_name(file, row) == name
        ]
        return (file, found[0]) if file is not None and found else None

    def _loosely(self, before: Place, after: Place, call: CallForm) -> str:
        """Return why a call gives its values to other parameters than before."""
        old = [each.name for each in self._before.forms_of(before)[0].parameters]
        new = [each.name for each in self._after.forms_of(after)[0].parameters]
        if call.is_open or new[: len(old)] == old or len(old) != len(set(old)):
            return ""
        same = next(
            (at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other),
            min(len(old), len(new)),
        )
        moved = same < len(old) and (
            old[same] in new or (same < len(new) and new[same] in old) or len(new) < len(old)
        )
        if not moved or call.given <= same:
            return ""
        return f"its parameters were ({', '.join(old)}) and are ({', '.join(new)})"

    def _not_given(self, before: Place, after: Place, given: CallForm) -> str:
        """Return what a function that its file alone knows takes at its end now, and a call does not give.

        Of the calls at least half give it, or none does, and each gives all that it took before.
        """
        old, new = (
            side.forms_of(at)[0].parameters for side, at in ((self._before, before), (self._after, after))
        )
        if [each.name for each in new[: len(old)]] != [each.name for each in old]:
            return ""
        added = new[len(old) : len(old) + 1]
        if not added or added[0].is_optional or added[0].kind == REST:
            return ""
        index, name = self._after.index, one_line(added[0].name)
        if files_with(index, (self._after.name(after),)) != [after[0]]:
            return ""
        calls = [
            call
            for use in self._after.relations.callers_of(after)
            for site in _meaning(self._after, use.source[0], use.line, after)
            for call in self._after.calls_at(use.source[0], use.line, site.name)
        ]
        giving = sum(call.is_open or call.given > len(old) for call in calls)
        if not giving:
            return f"nothing gives `{name}`, its new parameter"
        stayed = [call for call in (*calls, given) if self._sides.line_before(after[0], call.line)]
        is_rare = 2 * giving < len(calls) or any(call.is_open or call.given != len(old) for call in stayed)
        # A comment may say that it can be left out.
        if is_rare or re.search(rf"@param\b[^\n]*(?:\[{name}\b|=\}}\s+{name}\b)", index.text(after[0])):
            return ""
        return f"it does not give `{name}`, as other calls do"

    def _new_calls(self) -> None:
        """Take the calls on new lines that fit nothing that they may mean."""
        tried = 0
        for each in self._sides.files:
            file = self._after.index.file_id(each.new) if each.new else None
            if file is None or not self._after.relations.knows(file) or self._after.language(file) in _LOOSE:
                continue
            for call in self._after.forms(file).calls:
                if each.lines.before(call.line) or (file, call.line, call.name) in self._found:
                    continue
                tried += 1
                if tried > _MOST_NEW:
                    return
                self._new_call(file, call)

    def _new_call(self, file: int, call: CallForm) -> None:
        sites = [
            site
            for site in self._after.index.derived(FileViews)[file].sites
            if site.line == call.line and site.name == call.name and site.kind == CALL
        ]
        if len(sites) != 1 or len(self._after.calls_at(file, call.line, call.name)) != 1:
            return
        targets = self._after.relations.meaning(file, sites[0]).targets
        if not targets or not all(self._is_plain(target) for target in targets):
            return
        whys = [self._misfit(self._after, target, call) for target in targets]
        if all(whys) and self._is_model_right(targets[0]):
            self._take(targets[0], file, call, sites[0], whys[0])

    def _is_plain(self, place: Place) -> bool:
        """Tell whether what a definition takes is what its head says."""
        definition = self._after.index.definitions(place[0])[place[1]]
        if definition.kind not in FUNCTIONS or definition.kind == "macro":
            return False
        lines = self._after.lines_of(place)[: definition.sig_start - definition.start]
        if self._after.language(place[0]) != "python":
            return True
        return all(_PLAIN_DECORATORS.search(line.strip()) or not line.strip() for line in lines)

    def _is_model_right(self, place: Place) -> bool:
        """Tell whether calls that were there before fit: where they do not, what is read of it is wrong."""
        tried = 0
        for use in self._after.relations.callers_of(place):
            if not self._sides.line_before(use.source[0], use.line):
                continue
            for site in _meaning(self._after, use.source[0], use.line, place):
                for call in self._after.calls_at(use.source[0], use.line, site.name):
                    tried += 1
                    if self._misfit(self._after, place, call) and place not in self._sides.before_of:
                        return False
            if tried >= _MOST_TRIED:
                break
        return True

    def _fits(self, side: Side, place: Place, call: CallForm) -> bool:
        return bool(self._parameters(side, place)) and not self._misfit(side, place, call)

    def _misfit(self, side: Side, place: Place, call: CallForm) -> str:
        """Return why a call fits no function that it may mean; ``""`` where it fits one."""
        language = side.language(place[0])
        whys = []
        forms = self._parameters(side, place)
        for parameters in forms:
            taken = self._without_self(side, place, parameters, call, language)
            whys.append(misfit(taken, call, language))
        return whys[0] if whys and all(whys) else ""

    def _parameters(self, side: Side, place: Place) -> tuple[tuple[ParameterForm, ...], ...]:
        """Return what a function takes, and its overloads where its language has them; none for unknown."""
        key = (side is self._before, place)
        if key not in self._forms:
            own = [each.parameters for each in side.forms_of(place)]
            if own and side.language(place[0]) in _OVERLOADED:
                own += [each.parameters for each in self._overloads(side, place)] or [
                    (ParameterForm("", REST, is_optional=True),)
                ]
            if own and side.language(place[0]) == "c" and () in own and not self._is_void(side, place):
                own.append((ParameterForm("", REST, is_optional=True),))
            self._forms[key] = tuple(own)
        return self._forms[key]

    def _overloads(self, side: Side, place: Place) -> Iterable[Form]:
        """Return the forms of all functions of a name; none where there are too many files of it."""
        name = side.name(place)
        files = dict.fromkeys(file for file, _ in side.namesakes(name))
        same = [file for file in files if side.language(file) in _OVERLOADED]
        if len(same) > _MOST_NAMESAKES:
            return ()
        side.read(same)
        return [form for file in same for form in side.forms(file).functions if form.name == name]

    @staticmethod
    def _is_void(side: Side, place: Place) -> bool:
        return re.search(r"\(\s*void\s*\)", " ".join(side.lines_of(place))) is not None

    def _without_self(
        self, side: Side, place: Place, parameters: tuple[ParameterForm, ...], call: CallForm, language: str
    ) -> tuple[ParameterForm, ...]:
        """Return what is left to be given by a call of a method."""
        if language == "rust":
            # What stands before a dot is cut where it is long, behind a path's colons perhaps.
            is_path = call.receiver.endswith("::") and "(" not in call.receiver
            has_self = bool(parameters) and parameters[0].name in ("", "self")
            return parameters[1:] if has_self and call.receiver and not is_path else parameters
        if language != "python" or not parameters:
            return parameters
        definition = side.index.definitions(place[0])[place[1]]
        if definition.parent < 0 or side.index.definitions(place[0])[definition.parent].kind not in TYPES:
            return parameters
        lines = side.lines_of(place)
        if any("staticmethod" in line for line in lines):
            return parameters
        owner = side.index.definitions(place[0])[definition.parent].name
        is_of_class = call.receiver.rpartition(".")[2] == owner and not any(
            "classmethod" in line for line in lines
        )
        is_constructed = definition.name in ("__init__", "__new__") and call.name != definition.name
        return parameters if is_of_class and not is_constructed else parameters[1:]

    def _take(self, target: Place, file: int, call: CallForm, site: Site, why: str) -> None:
        index = self._after.index
        name = one_line(index.qualified_name(*target))
        line = index.definitions(target[0])[target[1]].sig_start
        within = index.qualified_name(file, site.definition) if site.definition >= 0 else ""
        where = f"{index.paths[target[0]]}:{line}"
        finding = Finding(
            FindingKind.ARGUMENTS,
            index.paths[file],
            call.line,
            within,
            index.qualified_name(*target),
            f"the call of `{name}` does not fit: {why}",
            f"call it as it is at {where}",
            is_sure=True,
            cause=where,
        )
        self._found.setdefault((file, call.line, call.name), finding)


def _meaning(side: Side, file: int, line: int, place: Place) -> list[Site]:
    """Return the sites of a line that call a function, or construct what it initialises."""
    definition = side.index.definitions(place[0])[place[1]]
    name = definition.name.rpartition(".")[2]
    owner = side.index.definitions(place[0])[definition.parent].name if definition.parent >= 0 else ""
    wanted = {place} | ({(place[0], definition.parent)} if name in (*_INITIALISERS, owner) else set())
    sites = [
        site for site in side.index.derived(FileViews)[file].sites if site.line == line and site.kind == CALL
    ]
    meant = [site for site in sites if wanted & set(side.relations.meaning(file, site).targets)]
    return meant or [site for site in sites if site.name == name]


def takes_alike(side: Side, one: Place, other: Side, place: Place) -> bool:
    """Tell whether two functions take the same."""
    first, second = side.forms_of(one), other.forms_of(place)
    return len(first) == len(second) == 1 and is_alike(first[0].parameters, second[0].parameters)
