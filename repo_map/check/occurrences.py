"""Occurrences of removed and changed names that nothing resolves, by a search for whole words in code."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from repo_map.arrays import distinct
from repo_map.check.model import Finding, RemovedName
from repo_map.check.resolution import SCRIPTS, is_bound_in_text, is_builtin
from repo_map.check.trees import WORD, TreeComparison, TreeVersion
from repo_map.languages.kinds import CODE, FUNCTIONS, TYPES
from repo_map.languages.registry import kin_of, language_of
from repo_map.messages import first_three, one_line
from repo_map.parsing.facts_model import VALUE, Site
from repo_map.relations.model import Place
from repo_map.relations.text_search import row_at
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED, is_bundle

_MIN_NAME_CHARS: Final = 3
_MAX_FILES: Final = 400
"""Files with a name that are searched, the nearest."""
_MAX_NAMES: Final = 60
_RECEIVER: Final = re.compile(r"([\w.]*)[!?]?(?:\.|->|::)\s*[@$#]*\Z")
_MAX_RECEIVER_CHARS: Final = 120
_OWN_RECEIVERS: Final = frozenset({"self", "this", "exports", "module"})
_TYPE: Final = re.compile(r"[A-Z]\w+")
_KEY: Final = re.compile(r"\s*(?:=(?!=)|:(?!:))")
_EXPORTED: Final = r"\bexports?\b[^;]*(?<![\w.$]){}(?![\w$])"
_IMPLICIT: Final = frozenset(
    {"java", "kotlin", "csharp", "cpp", "scala", "swift", "groovy", "php", "ruby", "c"}
)
"""Languages in which a member is used without a receiver."""


class ChangedName(NamedTuple):
    """A name that a change removes, or whose old calls may not match."""

    path: str
    """The file that defines it."""
    name: str
    owner: str
    """The qualified name of its class; ``""`` at the top of a file."""
    place: Place | None = None
    """Its definition in the tree after; None for a removed name."""


class Occurrence(NamedTuple):
    """A place in the tree after where a changed name occurs and nothing resolves it."""

    name: str
    path: str
    line: int


def changed_names(
    trees: TreeComparison, removed: Sequence[RemovedName], incompatible: Sequence[Place]
) -> list[ChangedName]:
    """Return the changed names of which the relations may not know every use, each once.

    Args:
        trees: The trees before and after the change.
        removed: Names that the change removes.
        incompatible: Functions of the tree after whose old calls may not match.
    """
    tree = trees.after
    found: dict[tuple[str, str], ChangedName] = {}
    for each in removed:
        name = ChangedName(each.path, each.name, each.owner)
        if not _is_fully_resolved(trees, name):
            found.setdefault((name.name, name.owner), name)
    for place in incompatible:
        owner, _, last = tree.qualified_name(place).rpartition(".")
        if owner and not tree.is_local(place):
            found.setdefault((last, owner), ChangedName(tree.index.paths[place[0]], last, owner, place))
    return list(found.values())


def find_unresolved(
    trees: TreeComparison, names: Sequence[ChangedName], findings: Collection[Finding]
) -> Iterator[Occurrence]:
    """Yield the occurrences of changed names that nothing resolves and no finding is about."""
    reported = {(each.path, each.line) for each in findings}
    for name in names[:_MAX_NAMES]:
        for file in _files_naming(trees, name):
            path = trees.after.index.paths[file]
            for line in _unresolved_lines(trees, file, name):
                if (path, line) not in reported:
                    yield Occurrence(name.name, path, line)


def describe_unresolved(occurrences: Iterable[Occurrence]) -> Iterator[str]:
    """Yield a sentence for each name."""
    places: dict[str, list[str]] = {}
    for each in occurrences:
        places.setdefault(each.name, []).append(f"{each.path}:{each.line}")
    for name, found in places.items():
        yield f"`{one_line(name)}` also occurs at {first_three(list(dict.fromkeys(found)))}; not resolved."


def _is_fully_resolved(trees: TreeComparison, name: ChangedName) -> bool:
    """Return True for names of which the relations know every use: types, and the top of a Python file."""
    tree, language = trees.before, language_of(name.path)
    file = tree.index.file_id(name.path)
    if file is None or name.owner or not tree.relations.knows(file):
        return False
    kinds = {tree.definition(each).kind for each in tree.named(name.name) if each[0] == file} & CODE
    return bool(kinds) and (language == "python" or (language in SCRIPTS and not kinds & FUNCTIONS))


def _files_naming(trees: TreeComparison, name: ChangedName) -> list[int]:
    """Return the files of a language family with a name in code, the nearest to its file first."""
    index, bare = trees.after.index, name.name.lstrip("@$#")
    number, family = index.strings.get(bare), kin_of(language_of(name.path))
    if number is None or len(bare) < _MIN_NAME_CHARS or not family:
        return []
    rows = np.flatnonzero(index.references.name == number)
    files = distinct(np.searchsorted(index.references.file_start, rows, side="right") - 1).tolist()
    folder = name.path.rpartition("/")[0]
    is_private = _is_private(trees.before, name)

    def distance(file: int) -> tuple[bool, bool, str]:
        path = index.paths[file]
        return path != name.path, path.rpartition("/")[0] != folder, path

    def is_searched(file: int) -> bool:
        path, is_copied = index.paths[file], bool(int(index.files.flags[file]) & int(GENERATED_OR_VENDORED))
        is_visible = not is_private or path == name.path
        return kin_of(index.language(file)) == family and is_visible and not (is_copied or is_bundle(path))

    return sorted(filter(is_searched, files), key=distance)[:_MAX_FILES]


def _is_private(tree: TreeVersion, name: ChangedName) -> bool:
    """Return True for a name at the top of a script that its file does not export."""
    file = tree.index.file_id(name.path)
    if file is None or name.owner or tree.language(file) not in SCRIPTS:
        return False
    code = tree.code(file)
    is_module = re.search(r"(?m)^\s*(?:import|export)\b|\brequire\(|\bexports\b", code) is not None
    return is_module and re.search(_EXPORTED.format(re.escape(name.name)), code) is None


def _unresolved_lines(trees: TreeComparison, file: int, name: ChangedName) -> list[int]:
    """Return the unchanged lines of a file with an occurrence of a name that nothing resolves."""
    tree, language = trees.after, trees.after.language(file)
    code, bare = tree.code(file), name.name.lstrip("@$#")
    lines = {each.sig_start for each in tree.index.definitions(file) if each.name.rpartition(".")[2] == bare}
    found: list[int] = []
    for match in re.finditer(WORD.format(re.escape(name.name)), code):
        at, line = match.start(), code.count("\n", 0, match.start()) + 1
        if line in lines or not trees.line_before(file, line):
            continue
        before = _RECEIVER.search(code, max(0, at - _MAX_RECEIVER_CHARS), at)
        receiver = None if before is None else before[1]
        is_key = receiver is None and not name.owner and _KEY.match(code, match.end()) is not None
        if is_key or not _may_mean(language, receiver, name) or is_bound_in_text(code, bare, language):
            continue
        site = Site(
            name.name, (receiver or "").replace("::", "."), row_at(tree.index, file, line), line, VALUE, 0
        )
        if not _is_resolved(tree, file, site, name.place):
            found.append(line)
            lines.add(line)
    return found


def _may_mean(language: str, receiver: str | None, name: ChangedName) -> bool:
    """Return True if the text before an occurrence does not exclude a name."""
    if receiver is None:
        return (not name.owner or language in _IMPLICIT) and not is_builtin(name.name, language)
    root = receiver.partition(".")[0]
    if root == "super" or (is_builtin(root, language) and root not in _OWN_RECEIVERS):
        return False
    last = receiver.rpartition(".")[2]
    is_type = _TYPE.fullmatch(last) is not None and language != "go"
    return not name.owner or not is_type or last == name.owner.rpartition(".")[2]


def _is_resolved(tree: TreeVersion, file: int, occurrence: Site, place: Place | None) -> bool:
    """Return True if an occurrence refers to something known, a local of its function included.

    A changed function itself counts as unknown where its use is no site, and its arguments were not checked.
    """
    name, receiver, row, line, *_ = occurrence
    view, relations = tree.view(file), tree.relations
    sites = [each for each in view.sites if each.line == line and each.name == name]
    for site in sites or [occurrence]:
        meaning = relations.meaning(file, site)
        if meaning.targets or (meaning.is_external and (sites or not receiver)):
            return bool(sites) or place not in meaning.targets
    scope = -1 if receiver else view.scope(row)
    while scope >= 0 and view.definitions[scope].kind not in TYPES:
        if view.bound.get((scope, name)):
            return True
        scope = view.outer(scope)
    return not receiver and any(each.line == line and each.name == name for each in view.bindings)
