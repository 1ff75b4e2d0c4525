"""Check a change: what it breaks, from the trees before and after it, and which tests to run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from repo_map.check.affected_tests import select_calling_tests, select_tests
from repo_map.check.changes import find_changes, shown_path
from repo_map.check.impact import changed_definitions
from repo_map.check.model import Changes, CheckReport, Finding, FindingKind
from repo_map.check.occurrences import ChangedName, changed_names, find_unresolved, is_data, is_prose
from repo_map.check.offered import OfferedNames
from repo_map.check.patch import Patch
from repo_map.check.references import RemovedReferences
from repo_map.check.resolution import undefined_names
from repo_map.check.signatures import SignatureChecker
from repo_map.check.traits import changed_traits, misused_traits
from repo_map.check.trees import ChangedFile, CheckTimeoutError, TreeComparison, TreeVersion, compare_trees
from repo_map.languages.language import Structure
from repo_map.languages.registry import language_named
from repo_map.messages import first_three, plural
from repo_map.relations.model import Place
from repo_map.relations.resolve import relations_of
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED, is_build_output, is_bundle

if TYPE_CHECKING:
    from repo_map.index.index import Index

_ORDER: Final = {kind: at for at, kind in enumerate(FindingKind)}
_EXACT_GRAMMARS: Final = frozenset(
    {"python", "go", "java", "rust", "json", "javascript", "typescript", "tsx", "php", "ruby"}
)
"""Languages whose grammars parse all valid source; new files of others are not judged."""
_JSON: Final = (".json", ".jsonc", ".json5")
_JSON_COMMENT: Final = re.compile(r"(?m)^\s*(?://|/\*)|,\s*[}\]]")
"""Comments and trailing commas, as many tools read them; such a file is not judged."""
_TYPED: Final = frozenset({"go", "rust", "java", "kotlin", "csharp", "c", "cpp", "typescript", "tsx"})
"""Languages whose compilers compare types."""
_MODIFIERS: Final = re.compile(
    r"\b(?:export|default|public|protected|private|internal|pub(?:\([^)]*\))?|static|final|abstract|override"
    r"|virtual|get|set|async|unsafe|inline|extern|open|suspend)\b"
)
"""Words of a head that are no types: what matters of them is checked apart."""
_GROUPED: Final = re.compile(r"(\$\d+),(\$\d+)([^,)$]+)")
_LATE: Final = "The change is too large to check all of it in time; check it in parts."
_BRACKETS: Final = ("()", "{}", "[]")
_MERGE_MARKER: Final = re.compile(r"<{7} \S|>{7} \S")


def check_changes(index: Index, patch: Patch) -> CheckReport:
    """Return what a patch breaks, and the tests to run; the index may have it already or not.

    Args:
        index: The tree.
        patch: The change.
    """
    trees = compare_trees(index, patch)
    changes = find_changes(trees, patch.notes)
    before, after = trees.before, trees.after
    with (
        relations_of(before.index).asking() as question,
        relations_of(after.index).asking() as question_after,
    ):
        before.read([file for each in trees.files if (file := trees.old_file(each)) is not None])
        after.read([file for _, file in trees.new_files])
        references, signatures = RemovedReferences(trees), SignatureChecker(trees)
        offered, traits = OfferedNames(trees), changed_traits(trees)
        found: list[Finding] = []
        names: list[ChangedName] = []
        with suppress(CheckTimeoutError):
            for step in (
                syntax_errors(trees),
                references.find(),
                offered.find(),
                undefined_names(trees),
                signatures.find(),
                misused_traits(trees, traits),
                signatures.find_overrides(),
            ):
                found.extend(step)
        findings = _ordered(each for each in found if not _is_generated(after.index, each.path))
        with suppress(CheckTimeoutError):
            names = changed_names(trees, (*signatures.incompatible, *(each.after for each in traits)))
        unresolved = find_unresolved(trees, [*names, *offered.hidden], findings)
        unresolved = unresolved._replace(notes=(*_unreadable(trees), *unresolved.notes))
        removed = [each for each in references.removed if not before.is_local(each)]
        earlier = select_calling_tests(before.index, removed)
        places = changed_places(trees, changes)
        selection = select_tests(after.index, places, earlier=earlier)
    late = _LATE if trees.is_late() else ""
    unread_names = (question.limitation, question_after.limitation)
    told = (late, *trees.limitations, _changed_types(trees, findings), *unread_names)
    limitations = tuple(dict.fromkeys(filter(None, told)))
    changes = changes._replace(
        findings=findings, tests=selection.command, limitations=(*limitations, *unresolved.sentences)
    )
    if unread := [shown_path(each.patch.path) for each in trees.patched if each.changed is None]:
        files = f"{plural(len(unread), 'file')} of the change"
        limitations = (*limitations, f"{files} could not be followed: {first_three(unread)}.")
    limitations = (*patch.notes, *limitations)
    changed = tuple(dict.fromkeys(each.new or each.old for each in trees.files))
    return CheckReport(
        findings, limitations, unresolved, changed, selection.tests, selection.command, changes
    )


def _changed_types(trees: TreeComparison, findings: Sequence[Finding]) -> str:
    """Return a sentence on definitions whose types changed, and that no finding is about; or ``""``."""
    before, after = trees.before, trees.after
    known = {each.cause for each in findings}
    names = [
        f"`{after.qualified_name(new)}` ({after.location(new)})"
        for old, new in trees.matched.items()
        if after.language(new[0]) in _TYPED
        # Few heads change: only these are read closely.
        and _head_lines(before, old) != _head_lines(after, new)
        and after.location(new) not in known
        and after.relations.knows(new[0])
        and _parameter_counts(before, old) == _parameter_counts(after, new)
        and _types(before, old) != _types(after, new)
    ]
    sentence = f"Types are not compared: those of {first_three(names)} changed; compile to check them."
    return sentence if names else ""


def _head_lines(tree: TreeVersion, place: Place) -> list[str]:
    definition = tree.definition(place)
    return tree.lines(place[0])[definition.sig_start - 1 : definition.sig_end]


def _parameter_counts(tree: TreeVersion, place: Place) -> list[int]:
    return [len(form.parameters) for form in tree.forms_of(place)]


def _types(tree: TreeVersion, place: Place) -> str:
    """Return the head of a definition without modifiers, names of parameters, comments and white space.

    The head of a function ends at its first brace; that of one line without braces counts nothing.
    """
    definition = tree.definition(place)
    lines = tree.code(place[0]).split("\n")[definition.sig_start - 1 : definition.sig_end]
    text = _MODIFIERS.sub("", "\n".join(lines))
    if tree.is_function(place):
        text, brace, _ = text.partition("{")
        if not brace and definition.sig_end == definition.end:
            return ""
    for form in tree.forms_of(place):
        for number, parameter in enumerate(form.parameters):
            if parameter.name.isidentifier():
                text = re.sub(rf"\b{parameter.name}\b", f"${number}", text)
    text = "".join(text.split())
    # In Go the type of the last of several parameters is that of all.
    while tree.language(place[0]) == "go" and (grouped := _GROUPED.sub(r"\1\3,\2\3", text)) != text:
        text = grouped
    return text.rstrip("{;")


def changed_places(trees: TreeComparison, changes: Changes) -> tuple[Place, ...]:
    """Return the edited and added definitions of the tree after; row -1 for files without one."""
    found = dict.fromkeys((*changed_definitions(trees.after.index, changes), *trees.added))
    for _, file in trees.new_files:
        if all(place[0] != file for place in found):
            found[file, -1] = None
    return tuple(found)


def _is_generated(index: Index, path: str) -> bool:
    """Return True for a file that a program made of others: it is made again, and not edited."""
    file = index.file_id(path)
    flags = int(index.files.flags[file]) if file is not None else 0
    return is_bundle(path) or bool(flags & int(GENERATED_OR_VENDORED))


def _unreadable(trees: TreeComparison) -> Iterator[str]:
    """Yield what of the changed files is not resolved, and not parsed, a sentence each."""
    unresolved, unparsed = dict[str, None](), dict[str, None]()
    for each in trees.files:
        tree, path = trees.after if each.new else trees.before, each.new or each.old
        file = tree.index.file_id(path)
        if file is None or is_prose(tree.index, file) or is_data(path):
            continue
        language = language_named(tree.language(file))
        if not tree.relations.knows(file):
            is_named = language.name and language.structure is not Structure.PLAIN
            unresolved.setdefault(language.name if is_named else f"`{shown_path(path)}`")
        elif not (forms := tree.forms(file)).is_read or (language.name in _EXACT_GRAMMARS and forms.errors):
            unparsed.setdefault(f"`{shown_path(path)}`")
    if unresolved:
        yield f"Names of {first_three(list(unresolved))} are not resolved."
    if unparsed:
        yield f"Not all of {first_three(list(unparsed))} can be parsed."


def _ordered(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings by kind, one for each line and name."""
    best: dict[tuple[str, int, str], Finding] = {}
    for each in found:
        best.setdefault((each.path, each.line, each.name.rpartition(".")[2]), each)
    return tuple(sorted(best.values(), key=lambda each: (_ORDER[each.kind], each.path, each.line)))


def syntax_errors(trees: TreeComparison) -> Iterator[Finding]:
    """Yield the first line of each edited file that can't be parsed, if all could be before."""
    for each, file in trees.new_files:
        lines = enumerate(trees.after.lines(file), 1)
        marked = (at for at, line in lines if _MERGE_MARKER.match(line) and at not in each.lines.before)
        if line := next(marked, 0):
            message, action = "it contains merge markers", "resolve the conflict"
        else:
            line = _first_error(trees, each, file)
            message, action = "it does not parse from here on", "fix the syntax"
        if line:
            yield trees.after.finding(FindingKind.UNPARSED, file, line, "", (message, action))


def _first_error(trees: TreeComparison, changed: ChangedFile, file: int) -> int:
    """Return the first line that the change made invalid, 0 without one."""
    errors, text = trees.after.forms(file).errors, trees.after.index.sources.text(file)
    old = trees.old_file(changed)
    is_exact = trees.after.language(file) in _EXACT_GRAMMARS
    if (
        not errors
        # Markup between the code of a component is read loosely.
        or language_named(trees.after.language(file)).structure is Structure.BLOCKS
        or (old is None and (not is_exact or is_build_output(changed.new)))
        or (changed.new.endswith(_JSON) and _JSON_COMMENT.search(text) is not None)
    ):
        return 0
    if old is not None:
        forms, before = trees.before.forms(old), trees.before.index.sources.text(old)
        # With macros the grammar may fail on valid source: open brackets decide.
        sides = [[text.count(one) - text.count(other) for one, other in _BRACKETS] for text in (before, text)]
        if forms.errors or not forms.is_read or (not is_exact and sides[0] == sides[1]):
            return 0
    return errors[0]
