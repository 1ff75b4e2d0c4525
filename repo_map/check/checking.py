"""The check of an edit: what it breaks and what it forgot, from the trees before and after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from repo_map.check.arguments import Arguments
from repo_map.check.copies import edited_in_one_of_two
from repo_map.check.edited_names import undefined_names
from repo_map.check.gone_names import GoneNames
from repo_map.check.overriding import Overriding
from repo_map.check.sides import Sides, sides_of
from repo_map.check.tests_to_run import tests_for
from repo_map.check.texts import texts_naming_gone
from repo_map.check.unread import unread_files
from repo_map.check.values import Checked
from repo_map.impact.changes import find_changes
from repo_map.impact.findings import Finding, FindingKind
from repo_map.impact.patches import Patch
from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.messages import counted
from repo_map.relations.model import Place
from repo_map.relations.resolve import relations_of

if TYPE_CHECKING:
    from repo_map.history.together import ChangedTogether
    from repo_map.index import RepoIndex

_ORDER: Final = {
    kind: at
    for at, kind in enumerate(
        (
            FindingKind.UNPARSED,
            FindingKind.GONE,
            FindingKind.UNDEFINED,
            FindingKind.ARGUMENTS,
            FindingKind.OVERRIDE,
            FindingKind.TEXT,
            FindingKind.COPY,
        )
    )
}


def check_changes(
    index: RepoIndex, patch: Patch, together: Callable[[], ChangedTogether | None] = lambda: None
) -> Checked:
    """Return what a patch breaks or forgot, and what to try it with; the index may have it already or not.

    Args:
        index: the tree.
        patch: the edit.
        together: gives what changed together in the tree's history; it is asked where calls and names lead to
            too few tests.
    """
    sides = sides_of(index, patch)
    with (
        relations_of(sides.before.index).asking() as before,
        relations_of(sides.after.index).asking() as after,
    ):
        sides.before.read(_files(sides, is_before=True))
        sides.after.read(_files(sides, is_before=False))
        gone, arguments = GoneNames(sides), Arguments(sides)
        found = [
            *unread_files(sides),
            *gone.find(find_changes(index, patch).gone),
            *undefined_names(sides),
            *arguments.find(),
            *Overriding(sides).find(arguments.changed()),
            *texts_naming_gone(sides, gone.places),
            *edited_in_one_of_two(sides),
        ]
    left_open = [*patch.notes, *gone.left_open, *_left_open(sides), *filter(None, (before.told, after.told))]
    changed = tuple(dict.fromkeys(each.new or each.old for each in sides.files))
    chosen = tests_for(sides.after.index, changed_places(sides), together=together)
    return Checked(
        _ordered(found), not left_open, tuple(dict.fromkeys(left_open)), changed, chosen.tests, chosen.command
    )


def changed_places(sides: Sides) -> tuple[Place, ...]:
    """Return the definitions of the tree after that the change edits or adds; files where it edits none."""
    index = sides.after.index
    found: dict[Place, None] = {}
    for each in sides.files:
        file = index.file_id(each.new) if each.new else None
        if file is None:
            continue
        rows = []
        count = index.text(file).count("\n") + 1
        new = [line for line in range(1, count + 1) if not each.lines.before(line)]
        for row, definition in enumerate(index.definitions(file)):
            if definition.kind in FUNCTIONS and any(
                definition.start <= line <= definition.end for line in new
            ):
                rows.append(row)
        found.update(((file, row), None) for row in rows or [-1])
    return tuple(found)


def _files(sides: Sides, *, is_before: bool) -> list[int]:
    side = sides.before if is_before else sides.after
    paths = [each.old if is_before else each.new for each in sides.files]
    return [file for path in paths if path and (file := side.index.file_id(path)) is not None]


def _left_open(sides: Sides) -> Iterable[str]:
    """Yield why places may be missing, a sentence each."""
    if sides.unread:
        files = counted(len(sides.unread), "file")
        yield f"{files} of the change could not be followed: {_few(sides.unread)}."
    unknown: dict[str, None] = {}
    for each in sides.files:
        path = each.new or each.old
        side = sides.after if each.new else sides.before
        file = side.index.file_id(path)
        if file is None:
            continue
        language = side.language(file)
        is_code = bool(language) and language_named(language).role is LanguageRole.CODE
        if is_code and not side.relations.knows(file):
            unknown.setdefault(language)
    if unknown:
        yield f"Names of {_few(list(unknown))} are not resolved: only what their text says was looked for."


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3:,} more"


def _ordered(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return each place once for each name, the surest first."""
    best: dict[tuple[str, int, str], Finding] = {}
    for each in found:
        best.setdefault((each.path, each.line, each.name.rpartition(".")[2]), each)
    return tuple(
        sorted(best.values(), key=lambda each: (not each.is_sure, _ORDER[each.kind], each.path, each.line))
    )
