"""Commands applied: what they change in a plan, and the answers to what was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from repo_map import globs
from repo_map.lookup.names import unknown
from repo_map.lookup.requests import LookupRequestError, Request
from repo_map.messages import one_line, plural
from repo_map.outline.exclusions import excluded_by, included_paths
from repo_map.plan.model import FlightPlan
from repo_map.steering.commands import FORMS, NO_WISHES, Argument, TypedWishes, read_commands, subject_of
from repo_map.steering.plan_changes import PlanChanges
from repo_map.steering.questions import (
    QuestionContext,
    answer_about_files,
    answer_request,
    unknown_numbers,
)
from repo_map.steering.targets import (
    NamedDefinition,
    Target,
    find_target,
    find_text,
    named_by,
)

if TYPE_CHECKING:
    from repo_map.history.history import History
    from repo_map.index.index import Index

IN_FULL: Final = "In full: "
"""Begins the line about parts that are shown whole."""
_BODY, _OUTLINE, _OUT = 4, 2, 0
_MANY: Final = 5
"""Files beyond which showing a name gives it more weight instead of all of its source."""
_MAX_QUOTED: Final = 200


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
    history: History | None = None,
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
        history: Commits that are read for ``history``.
        typed: What the caller asked for in fields.
    """
    context = QuestionContext(index, plan, own or plan, history)
    steering = _Steering(context, outline or {})
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

    def __init__(self, context: QuestionContext, outline: Mapping[int, NamedDefinition]) -> None:
        self._context = context
        self._index = context.index
        self._outline = outline
        self._shown = frozenset(included_paths(context.index, context.plan))
        self.changes = PlanChanges(context.plan, context.own)
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
                self.answers.append(answer_about_files(self._context, question, target))

    def _look_up(self, question: str, request: Request) -> None:
        try:
            self.answers.append(answer_request(self._context, request, self._outline))
        except LookupRequestError as error:
            subject = subject_of(request)
            self._miss(f"{question} {subject}", str(error), subject)

    def _show_numbers(self, numbers: Sequence[int]) -> None:
        if unknown := [number for number in numbers if number not in self._outline]:
            self._miss(f"show {', '.join(map(str, unknown))}", unknown_numbers(unknown, self._outline))
        places = [self._outline[number] for number in numbers if number in self._outline]
        names = [name for target in targets_of(places) for name in self._show_whole(target).names]
        if names:
            self.lines.append(f"{IN_FULL}{', '.join(f'`{name}`' for name in names)}.")

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
            self.lines.append(f"{IN_FULL}{target.quoted}.")

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
        return bool(paths) and all(excluded_by(self._context.own, path) for path in paths)

    def _miss(self, words: str, why: str, unknown: str = "") -> None:
        self.lines.append(why)
        self.missed.append(NotUnderstood(words, unknown))


def targets_of(places: Sequence[NamedDefinition]) -> tuple[Target, ...]:
    """Return places of the outline as definitions, then files as a whole: those without a name."""
    named = Target(places=tuple(place for place in places if place.name))
    files = Target(tuple(globs.escape(place.path) for place in places if not place.name))
    return tuple(filter(None, (named, files)))
