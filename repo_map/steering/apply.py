"""Commands applied: what they change in a plan, and the answers to what was asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from repo_map import globs
from repo_map.history import HistoryError, file_commits
from repo_map.lookup.locations import unknown
from repo_map.lookup.operations import answer as look_up
from repo_map.lookup.requests import LookupRequestError, Read, References, Request
from repo_map.messages import one_line, plural
from repo_map.outline.exclusions import excluded_by, included_paths
from repo_map.plan.model import FlightPlan
from repo_map.relations.resolve import relations_of
from repo_map.steering.commands import FORMS, NO_WISHES, Argument, TypedWishes, read_commands, subject_of
from repo_map.steering.targets import NamedDefinition, Target, find_target, find_text, named_by

if TYPE_CHECKING:
    from repo_map.index.index import Index

_MAX_FILES: Final = 3
_MAX_COMMITS: Final = 8
_MAX_NAMED: Final = 20
"""Begins the line about parts that are shown whole."""
_BODY, _OUTLINE, _OUT = 4, 2, 0
_MANY: Final = 5
"""Files beyond which showing a name gives it more weight instead of all of its source."""
_MAX_QUOTED: Final = 200


class PlanChanges:
    """Collects rules and boosts; later wishes win over earlier ones."""

    def __init__(self, plan: FlightPlan, own: FlightPlan) -> None:
        """Start from the whole plan, of which the user asked for ``own``."""
        self._rules: dict[str, dict[str, Any]] = {}
        self._boosts: dict[str, float] = {}
        self._known = {rule.pattern for rule in plan.verbosity}
        self._excluded = {rule.pattern for rule in own.verbosity if rule.level == 0}
        heaviest = max((boost.weight for boost in plan.focus.paths), default=1.0) if plan.focus else 1.0
        self._weight = heaviest + 1.0

    def set_level(self, target: Target, level: int) -> None:
        """Put what a target names at a level."""
        for pattern in target.patterns:
            self._rules.pop(pattern, None)
            self._rules[pattern] = {"pattern": pattern, "level": level, "sections": None}
        for place in target.places:
            self._set_part(place.path, {"pattern": globs.escape(place.name), "level": level})
        for span in target.spans:
            self._set_part(span.path, {"lines": f"{span.first}-{span.last}", "level": level})

    def _set_part(self, path: str, section: dict[str, Any]) -> None:
        pattern = globs.escape(path)
        rule = self._rules.setdefault(pattern, {"pattern": pattern, "sections": []})
        if pattern not in self._known or pattern in self._excluded:
            rule.setdefault("level", 1)
        part = {name: value for name, value in section.items() if name != "level"}
        others = [each for each in rule["sections"] or () if not part.items() <= each.items()]
        rule["sections"] = [*others, section]

    def restore(self, target: Target) -> bool:
        """Take back that files were left out; say whether any were."""
        found = [pattern for pattern in _patterns(target) if pattern in self._excluded]
        for pattern in found:
            self._rules[pattern] = {"pattern": pattern, "level": None}
        return bool(found)

    def boost(self, target: Target) -> None:
        """Make what a target names weigh more than anything so far."""
        for pattern in _patterns(target):
            self._boosts[pattern] = self._weight

    def updates(self) -> dict[str, Any]:
        """Return the partial plan."""
        found: dict[str, Any] = {}
        if self._boosts:
            paths = [{"pattern": pattern, "weight": weight} for pattern, weight in self._boosts.items()]
            found["focus"] = {"paths": paths}
        if self._rules:
            found["verbosity"] = list(self._rules.values())
        return found


def _patterns(target: Target) -> tuple[str, ...]:
    return target.patterns or tuple(map(globs.escape, target.paths))


def _named(target: str, outline: Mapping[int, NamedDefinition]) -> str:
    """Return a target with an entry's path and name in the place of its number."""
    if not target.isdecimal() or len(target) > 4:
        return target
    entry = outline.get(int(target))
    if entry is None:
        raise LookupRequestError(unknown_numbers((target,), outline))
    return f"{entry.path}:{entry.name}" if entry.name else entry.path


def unknown_numbers(unknown: Iterable[int | str], outline: Mapping[int, NamedDefinition]) -> str:
    """Return the sentence that the outline has no such numbers."""
    asked = ", ".join(map(str, unknown))
    if not outline:
        return f"There was no outline to take `{asked}` from; name what you want to see."
    return f"The outline has no {asked}: its numbers go from {min(outline)} to {max(outline)}."


def _imports(index: Index, path: str) -> str:
    file = index.file_id(path)
    if file is None or not index.imports(file):
        return f"`{one_line(path)}` imports nothing."
    ours: dict[int, str] = {}
    for each in relations_of(index).imports_of(file):
        ours.setdefault(each.line, index.paths[each.target[0]])
    texts = (
        f"{one_line(each.module)}{f' → {one_line(ours[each.line])}' if each.line in ours else ''}:{each.line}"
        for each in index.imports(file)
    )
    return f"`{one_line(path)}` imports {_listed(texts)}"


def _importers(index: Index, path: str) -> str:
    file = index.file_id(path)
    found = relations_of(index).importers_of(file) if file is not None else ()
    texts = [f"{one_line(index.paths[each.source[0]])}:{each.line}" for each in found]
    if not texts:
        return f"No file is known to import `{one_line(path)}`."
    return f"`{one_line(path)}` is imported in {_listed(texts)}"


def _commits(path: str, index: Index) -> str:
    try:
        commits = file_commits(index.build.source, path, _MAX_COMMITS)
    except HistoryError as error:
        return str(error)
    if not commits:
        return f"No commit changed `{one_line(path)}`."
    texts = "; ".join(f"{each.day or 'no date'} “{one_line(each.subject)}”" for each in commits)
    return f"`{one_line(path)}`, last commits: {texts}."


def _listed(texts: Iterable[str]) -> str:
    entries = list(texts)
    more = f" and {len(entries) - _MAX_NAMED} more" if len(entries) > _MAX_NAMED else ""
    return f"{', '.join(entries[:_MAX_NAMED])}{more}."


class NotUnderstood(NamedTuple):
    """A command that changes nothing."""

    words: str
    unknown: str = ""
    """The name in it that nothing has, where the command itself is understood."""


class Steering(NamedTuple):
    """What a caller's commands come to."""

    updates: Mapping[str, Any]
    """A partial plan for ``apply_update``."""
    answer: str
    """The answers to what was asked, empty where nothing was."""
    lines: tuple[str, ...]
    """A sentence for each change, and for each command that was not understood."""
    not_understood: tuple[NotUnderstood, ...] = ()
    undo: int = 0
    """Changes to take back before all else; ``UNDO_ALL`` for all."""
    finish: bool = False
    """The context is accepted."""
    asks_for_more: bool = False
    """Whether the planner is to choose what is shown in addition."""


def steer(
    index: Index,
    plan: FlightPlan,
    text: str,
    *,
    own: FlightPlan | None = None,
    outline: Mapping[int, NamedDefinition] | None = None,
    typed: TypedWishes = NO_WISHES,
) -> Steering:
    """Carry out typed wishes, then the commands of a text.

    A text of which any part is not understood changes nothing; the lines then list the forms that are.

    Args:
        index: The repository.
        plan: The plan that is changed.
        text: Commands as ``read_commands`` reads them; ``""`` for none.
        own: The part of the plan that the user asked for, by default all of it.
        outline: Definitions of the outline, by number.
        typed: What the caller asked for in fields.
    """
    steering = _Steering(index, plan, own or plan, outline or {})
    commands = read_commands(text, steering.is_name)
    steering.carry_out(typed)
    if commands.unread:
        words = one_line(text)
        words = words if len(words) <= _MAX_QUOTED else f"{words[: _MAX_QUOTED - 1].rstrip()}…"
        steering.lines.append(f"Not understood, so it changes nothing: “{words}”. {FORMS}")
        steering.missed += [NotUnderstood(each) for each in commands.unread]
        commands = commands._replace(typed=NO_WISHES, undo=0, finish=False, budget=None)
    steering.carry_out(commands.typed)
    updates = steering.changes.updates()
    if commands.budget is not None:
        updates |= {"budget": commands.budget} if commands.budget != plan.budget else {}
        steering.lines.append(f"The budget is {plural(commands.budget, 'token')} now.")
    return Steering(
        updates,
        "\n".join(steering.answers),
        tuple(steering.lines),
        tuple(steering.missed),
        commands.undo,
        commands.finish,
        steering.asks_for_more,
    )


class _Steering:
    """Collects what wishes change and answer."""

    def __init__(
        self,
        index: Index,
        plan: FlightPlan,
        own: FlightPlan,
        outline: Mapping[int, NamedDefinition],
    ) -> None:
        self._index = index
        self._own = own
        self._outline = outline
        self._shown = frozenset(included_paths(index, plan))
        self.changes = PlanChanges(plan, own)
        self.answers: list[str] = []
        self.lines: list[str] = []
        self.missed: list[NotUnderstood] = []
        self.asks_for_more = False

    def is_name(self, text: str) -> bool:
        """Return True if a text names a file, a folder, a definition, or quotes a text of the repository."""
        return bool(self._named(text))

    def carry_out(self, typed: TypedWishes) -> None:
        """Carry out wishes; an unknown name is reported, and leaves the others as they are."""
        self._show_numbers(tuple(dict.fromkeys(each for each in typed.show if isinstance(each, int))))
        for name in dict.fromkeys(each for each in typed.show if isinstance(each, str)):
            if target := self._target("show", name):
                self._show(target)
        for about in dict.fromkeys(typed.drop):
            if target := self._target("drop", about):
                self.changes.set_level(target, _OUT)
                self.lines.append(f"Left out: {target.quoted}.")
        for question, asked in dict.fromkeys(typed.ask):
            if not isinstance(asked, int | str):
                self._look_up(question, asked)
            elif target := self._target(question, asked):
                self.answers.append(self._answer_about_files(question, target))

    def _look_up(self, question: str, request: Request) -> None:
        """Answer a lookup, in which numbers mean entries of the outline."""
        try:
            match request:
                case Read():
                    targets = tuple(_named(each, self._outline) for each in request.targets)
                    request = replace(request, targets=targets)
                case References():
                    request = replace(request, symbol=_named(request.symbol, self._outline))
            found = look_up(self._index, request, self._shown, self._is_excluded)
            self.answers.append(found.text)
        except LookupRequestError as error:
            subject = subject_of(request)
            self._miss(f"{question} {subject}", str(error), subject)

    def _is_excluded(self, path: str) -> bool:
        return bool(excluded_by(self._own, path))

    def _answer_about_files(self, question: str, target: Target) -> str:
        """Return the commits that changed the files of a target, what these import, or what imports them."""
        paths = list(target.paths) or sorted(named_by(self._index, target.patterns))
        lines = []
        for path in paths[:_MAX_FILES]:
            if question == "history":
                lines.append(_commits(path, self._index))
            else:
                lines.append((_imports if question == "imports" else _importers)(self._index, path))
        if len(paths) > _MAX_FILES:
            lines.append(f"{plural(len(paths) - _MAX_FILES, 'more file')} not listed; name one.")
        return "\n".join(lines) or f"{target.quoted} is no file."

    def _show_numbers(self, numbers: Sequence[int]) -> None:
        if unknown := [number for number in numbers if number not in self._outline]:
            self._miss(f"show {', '.join(map(str, unknown))}", unknown_numbers(unknown, self._outline))
        places = [self._outline[number] for number in numbers if number in self._outline]
        names = [name for target in targets_of(places) for name in self._show_whole(target).names]
        if names:
            self.lines.append(f"Shown: {', '.join(f'`{name}`' for name in names)}.")

    def _show(self, target: Target) -> None:
        """Show a target; one that the user left out comes back."""
        is_wide = len(named_by(self._index, target.patterns)) > _MANY
        if self._is_left_out(target):
            self.asks_for_more = True
            restored = self.changes.restore(target)
            if not (restored and is_wide):
                self.changes.set_level(target, _OUTLINE if is_wide else _BODY)
            self.lines.append(f"Back: {target.quoted}.")
        elif is_wide:
            self.asks_for_more = True
            self.changes.boost(target)
            self.lines.append(f"More weight on {target.quoted}.")
        else:
            self._show_whole(target)
            self.lines.append(f"Shown: {target.quoted}.")

    def _show_whole(self, target: Target) -> Target:
        around_it = target.with_surroundings(self._index)
        self.changes.boost(around_it)
        self.changes.set_level(around_it, _BODY)
        return target

    def _target(self, field: str, about: Argument) -> Target | None:
        """Return what an argument means; None, and a line that says why, where it means nothing."""
        if isinstance(about, int):
            found = [self._outline[about]] if about in self._outline else []
            targets = targets_of(found)
            if targets:
                return targets[0]
            self._miss(f"{field} {about}", unknown_numbers((about,), self._outline), str(about))
            return None
        # Options, settings, routes and error codes are names that only texts have.
        target = self._named(about) or find_text(self._index, about, self._shown)
        if target:
            return target
        self._miss(f"{field} {about}", unknown(self._index, about), about)
        return None

    def _named(self, name: str) -> Target:
        """Return what a name means; of several definitions of it those in shown files, if there are any."""
        if self._index.file_id(name) is not None:
            return Target((globs.escape(name),))
        quoted = name[0] in "\"“'`" and name[-1] in "\"”'`" and len(name) > 2 if name else False
        bare = name[1:-1] if quoted else name
        target = find_target(self._index, bare).among(self._shown)
        return find_text(self._index, bare, self._shown) if not target and quoted else target

    def _is_left_out(self, target: Target) -> bool:
        paths = named_by(self._index, target.patterns) | set(target.paths)
        return bool(paths) and all(map(self._is_excluded, paths))

    def _miss(self, words: str, why: str, unknown: str = "") -> None:
        self.lines.append(why)
        self.missed.append(NotUnderstood(words, unknown))


def targets_of(places: Sequence[NamedDefinition]) -> tuple[Target, ...]:
    """Return places of the outline as definitions, then files as a whole: those without a name."""
    named = Target(places=tuple(place for place in places if place.name))
    files = Target(tuple(globs.escape(place.path) for place in places if not place.name))
    return tuple(filter(None, (named, files)))
