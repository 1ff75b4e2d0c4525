"""Summarize a change by names: edited definitions, removed names, and what could not be followed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Final, NamedTuple

from repo_map.check.model import MAX_WORDS_CHARS, ChangedPart, Changes, RemovedName
from repo_map.check.patch import FilePatch
from repo_map.check.trees import ChangedFile, PatchedFile, TreeComparison, TreeVersion
from repo_map.languages.kinds import CODE, CONTAINERS, FUNCTIONS, MEMBERS
from repo_map.languages.registry import language_named
from repo_map.messages import first_three, one_line
from repo_map.parsing.facts_model import ASSIGNED, DECLARED, FIELD, FIELD_TYPE
from repo_map.relations.file_facts import grouped
from repo_map.relations.model import Place
from repo_map.relations.text_search import row_at
from repo_map.secrets.masking import mask_text

MAX_PARTS: Final = 120
"""Definitions and runs of lines that count as changed."""
MAX_REMOVED: Final = 60
_MAX_NAME_CHARS: Final = 120
_MIN_SIMILARITY: Final = 0.6
"""Similarity of two bodies, 0 to 1, from which on one replaces the other under a new name."""
_MAX_COMPARED_CHARS: Final = 2_000
_MAX_COMPARED: Final = 200
"""Added definitions that may replace a removed one."""


class ExportedName(NamedTuple):
    """A name that other code can use: a definition, a field, a name bound at the top of a file or class."""

    name: str
    owner: str
    """The qualified name of its class, ``""`` at the top of a file."""
    line: int
    """1-based."""
    row: int = -1
    """Of its definition; -1 without one."""


def find_changes(trees: TreeComparison, notes: Sequence[str] = ()) -> Changes:
    """Return what a patch changes, by the lines of the tree as it is.

    Args:
        trees: The trees before and after the patch.
        notes: What could not be read of the patch.
    """
    parts: dict[tuple[str, str, int], ChangedPart] = {}
    removed: dict[tuple[str, str, str], RemovedName] = {}
    words: list[str] = []
    for each in trees.patched:
        if each.changed is None:
            continue
        for part in _changed_parts(trees, each.changed, each.patch):
            parts.setdefault((part.path, part.name, part.first), part)
        for name in _find_removed(trees, each.patch):
            removed.setdefault((each.patch.old, name.owner, name.name), name)
        words += (line[1:] for hunk in each.patch.hunks for line in hunk.lines if line[0] != " ")
    noted = grouped(note for each in trees.patched for note in _notes(each))
    own = [f"{note}: {first_three([f'`{path}`' for path in paths])}." for note, paths in noted.items()]
    if len(parts) > MAX_PARTS or len(removed) > MAX_REMOVED:
        own.append(f"The change is large: of its parts the first {MAX_PARTS} were followed.")
    return Changes(
        tuple(parts.values())[:MAX_PARTS],
        tuple(removed.values())[:MAX_REMOVED],
        (*notes, *own),
        words="\n".join(words)[:MAX_WORDS_CHARS] if parts or removed else "",
    )


def _notes(patched: PatchedFile) -> Iterator[tuple[str, str]]:
    """Yield what is done to a file besides its lines, or why it is not followed, and its path."""
    patch, shown, is_here = patched.patch, shown_path(patched.patch.path), patched.file is not None
    if patch.is_binary:
        yield "Binary, or not read, so not followed", shown
    elif not patch.new or not patch.old:
        yield "New" if patch.new else "Deleted", shown
    elif not is_here:
        yield "Not in this repository, so not followed", shown
    if patch.old and patch.new and patch.old != patch.new:
        yield "Renamed", f"{shown_path(patch.old)} to {shown}"
    if patched.changed is None and is_here and not patch.is_binary:
        yield "The patch does not apply to the files as they are, so not followed", shown


def _find_removed(trees: TreeComparison, patch: FilePatch) -> Iterator[RemovedName]:
    """Yield the names that only the file before exports."""
    after, file = trees.after, trees.before.index.file_id(patch.old)
    for each in removed_exports(trees, patch.old, patch.new):
        now = find_replacement(trees, (file or 0, each.row)) if each.row >= 0 else None
        replacement = f"in `{shown_path(after.index.paths[now[0]])}`" if now is not None else ""
        if now is not None and after.name(now) != each.name:
            replacement = f"`{after.name(now)}`"
        yield RemovedName(shown_path(patch.old), each.name, replacement, each.owner)


def removed_exports(trees: TreeComparison, old: str, new: str) -> Iterator[ExportedName]:
    """Yield the names that only a file before the change exports, by its paths before and after."""
    before, file = trees.before, trees.before.index.file_id(old) if old else None
    for each in _removed_names(exported_names(before, old), exported_names(trees.after, new)):
        # Where its line is unchanged: of long lists not every name is read.
        if file is not None and (each.owner or not trees.line_after(file, each.line)):
            yield each


def find_replacement(trees: TreeComparison, removed: Place) -> Place | None:
    """Return the added definition that replaces a removed one: of its name, or much like it in its file."""
    if removed in trees.replacements:
        return trees.replacements[removed]
    before, after, name = trees.before, trees.after, trees.before.name(removed)
    is_function = before.is_function(removed)
    same_kind = [each for each in trees.added if (after.is_function(each)) == is_function]
    moved = [each for each in same_kind if after.name(each) == name]
    body, home = before.text_of(removed).replace(name, "")[:_MAX_COMPARED_CHARS], trees.file_after(removed[0])
    best, found = _MIN_SIMILARITY, moved[0] if len(moved) == 1 else None
    for each in [place for place in same_kind if place[0] == home and not moved][:_MAX_COMPARED]:
        text = after.text_of(each).replace(after.name(each), "")[:_MAX_COMPARED_CHARS]
        ratio = 1.0 if body == text else SequenceMatcher(None, body, text, autojunk=False).ratio()
        if ratio >= best:
            best, found = ratio, each
    trees.replacements[removed] = found
    return found


def exported_names(tree: TreeVersion, path: str) -> tuple[ExportedName, ...]:
    """Return the names of a file that other code can use, in source order, each once."""
    file = tree.index.file_id(path) if path else None
    if file is None:
        return ()
    view = tree.view(file)
    definitions = view.definitions
    found: dict[tuple[str, str], ExportedName] = {}

    def is_local(row: int) -> bool:
        return view.innermost(row, FUNCTIONS) >= 0

    for each in view.bindings:
        owner = tree.qualified_name((file, view.innermost(each.definition, CONTAINERS)))
        is_top = each.kind in (ASSIGNED, DECLARED) and not is_local(each.definition)
        if is_top or (each.kind in (FIELD, FIELD_TYPE) and owner):
            found[owner, each.name] = ExportedName(each.name, owner, each.line)
    # A definition gives the line of a name more exactly than a binding.
    for row, definition in enumerate(definitions):
        if definition.kind in CODE | MEMBERS | {"table"} and not is_local(definition.parent):
            owner, _, name = tree.qualified_name((file, row)).rpartition(".")
            found[owner, name] = ExportedName(name, owner, definition.sig_start, row)
    usable = (each for each in found.values() if each.name.strip("_") and len(each.name) <= _MAX_NAME_CHARS)
    return tuple(sorted(usable, key=lambda each: (each.line, each.owner, each.name)))


def _removed_names(before: Sequence[ExportedName], after: Sequence[ExportedName]) -> Iterator[ExportedName]:
    """Yield the names that only the file before has; one that moves to another owner is not removed."""
    old, new = ({(each.owner, each.name) for each in side} for side in (before, after))
    owners = {f"{owner}.{name}" if owner else name for owner, name in new}
    names, coming = {name for _, name in new}, {name for owner, name in new - old}
    for each in before:
        # The same name elsewhere in the file is no replacement if both had their own owner before.
        is_another = each.owner in owners and each.name not in coming
        if (each.owner, each.name) not in new and (each.name not in names or is_another):
            yield each


def _changed_parts(trees: TreeComparison, changed: ChangedFile, patch: FilePatch) -> Iterator[ChangedPart]:
    """Yield the definitions around changed lines of the file as it is, then its other changed lines."""
    is_applied = changed.is_applied
    tree, mark = (trees.after, "-") if is_applied else (trees.before, "+")
    file = trees.new_file(changed) if is_applied else trees.old_file(changed)
    if file is None:
        return
    other = changed.lines.before if is_applied else changed.lines.after
    lines, view = tree.lines(file), tree.view(file)
    is_indented = language_named(tree.language(file)).is_indented
    moved = {"".join(text.split()) for text in patch.marked(mark) if not is_indented}
    edited = [
        at
        for at, text in enumerate(lines, 1)
        if at not in other and "".join(text.split()) not in moved | {""}
    ]
    # Between these lines the other tree has some more.
    gaps = [at for at in other if at + 1 in other and other[at + 1] != other[at] + 1]
    rows, outside = set[int](), list[int]()
    for at, last in (*((at, at) for at in edited), *((at, at + 1) for at in gaps)):
        around = (
            row
            for row in view.around(row_at(tree.index, file, at))
            if view.definitions[row].kind in CODE | MEMBERS
            and view.definitions[row].end >= last
            and not tree.is_local((file, row))
        )
        row = next(around, -1)
        if row >= 0:
            rows.add(row)
        elif at == last:
            outside.append(at)
    path = tree.index.paths[file]
    for row in sorted(rows):
        definition = view.definitions[row]
        yield ChangedPart(path, tree.qualified_name((file, row)), definition.start, definition.end)
    for _, run in groupby(enumerate(outside), lambda pair: pair[1] - pair[0]):
        numbers = [at for _, at in run]
        yield ChangedPart(path, "", numbers[0], numbers[-1])


def shown_path(path: str) -> str:
    """Return a path of a patch as it is safe to report."""
    return shorten(one_line(mask_text(path)), _MAX_NAME_CHARS)


def shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
