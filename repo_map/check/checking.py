"""The check of an edit: what it breaks and what it forgot, from the trees before and after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from repo_map.check.arguments import Arguments
from repo_map.check.copies import edited_in_one_of_two
from repo_map.check.edited_names import undefined_names
from repo_map.check.gone_names import GoneNames
from repo_map.check.overriding import Overriding
from repo_map.check.tests_to_run import tests_calling, tests_for
from repo_map.check.texts import texts_naming_gone
from repo_map.check.unread import unread_files
from repo_map.check.values import Checked
from repo_map.impact.changes import find_changes
from repo_map.impact.findings import Finding, FindingKind
from repo_map.impact.patches import Patch
from repo_map.impact.risks import places_of
from repo_map.impact.sides import Sides, sides_of
from repo_map.impact.values import Changes
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.messages import first_three, plural
from repo_map.relations.model import Place
from repo_map.relations.resolve import relations_of
from repo_map.sources.file_kinds import COPIED, is_built

if TYPE_CHECKING:
    from repo_map.history.together import ChangedTogether
    from repo_map.index.repo_index import RepoIndex

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
    changes = find_changes(sides, patch.notes)
    with (
        relations_of(sides.before.index).asking() as before,
        relations_of(sides.after.index).asking() as after,
    ):
        sides.before.read(_files(sides, is_before=True))
        sides.after.read(_files(sides, is_before=False))
        gone, arguments = GoneNames(sides), Arguments(sides)
        found = [
            *unread_files(sides),
            *gone.find(changes.gone),
            *undefined_names(sides),
            *arguments.find(),
            *Overriding(sides).find(arguments.changed()),
            *texts_naming_gone(sides, gone.places),
            *edited_in_one_of_two(sides),
        ]
        earlier = tests_calling(sides.before.index, gone.places)
        chosen = tests_for(
            sides.after.index, changed_places(sides, changes), earlier=earlier, together=together
        )
    findings = _ordered(each for each in found if not _is_built(sides, each.path))
    left_open = tuple(
        dict.fromkeys(
            (
                *patch.notes,
                *gone.left_open,
                *arguments.left_open,
                *_left_open(sides),
                *filter(None, (before.told, after.told)),
            )
        )
    )
    unclear = tuple(dict.fromkeys(gone.unclear))
    changed = tuple(dict.fromkeys(each.new or each.old for each in sides.files))
    changes = changes._replace(findings=findings, tests=chosen.command, left_open=unclear)
    return Checked(findings, left_open, unclear, changed, chosen.tests, chosen.command, changes)


def changed_places(sides: Sides, changes: Changes) -> tuple[Place, ...]:
    """Return the definitions of the tree after that the change edits or adds; files where it edits none."""
    index = sides.after.index
    found = dict.fromkeys((*places_of(index, changes), *sides.added))
    for each in sides.files:
        file = index.file_id(each.new) if each.new else None
        if file is not None and all(place[0] != file for place in found):
            found[file, -1] = None
    return tuple(found)


def _is_built(sides: Sides, path: str) -> bool:
    """Tell whether a file is what a program made of others: it is made again, and not edited."""
    file = sides.after.index.file_id(path)
    is_copied = file is not None and bool(int(sides.after.index.files.flags[file]) & int(COPIED))
    return is_copied or is_built(path)


def _files(sides: Sides, *, is_before: bool) -> list[int]:
    side = sides.before if is_before else sides.after
    paths = [each.old if is_before else each.new for each in sides.files]
    return [file for path in paths if path and (file := side.index.file_id(path)) is not None]


def _left_open(sides: Sides) -> Iterable[str]:
    """Yield why places may be missing, a sentence each."""
    unread = [each.patch.path for each in sides.read if not each.is_followed]
    if unread:
        yield f"{plural(len(unread), 'file')} of the change could not be followed: {first_three(unread)}."
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
        names = first_three(list(unknown))
        yield f"Names of {names} are not resolved: only what their text says was looked for."


def _ordered(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return each place once for each name, the surest first."""
    best: dict[tuple[str, int, str], Finding] = {}
    for each in found:
        best.setdefault((each.path, each.line, each.name.rpartition(".")[2]), each)
    return tuple(
        sorted(best.values(), key=lambda each: (not each.is_sure, _ORDER[each.kind], each.path, each.line))
    )
