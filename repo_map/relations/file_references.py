"""References to files in strings: templates, SQL queries, golden files and other paths."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from functools import cached_property
from posixpath import dirname, normpath
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from repo_map.cache import LRUCache
from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.relations.file_facts import grouped
from repo_map.relations.model import Confidence, Place, Relation, RelationKind
from repo_map.relations.text_search import nearest_files, row_at, shared_folders, units_with
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED, PATH_ONLY, is_template
from repo_map.text.terms import tokenize

if TYPE_CHECKING:
    from repo_map.index.index import Index

_MAX_CANDIDATES: Final = 4
"""Files of one name that are still told as possible."""
_MAX_CACHED: Final = 100_000
_PATH: Final = re.compile(r"[\w@+.\- /]+")
_NOT_PATH: Final = re.compile(r"[^\w@+.\- /\\]")
_SUFFIX: Final = re.compile(r"[^.]\.[A-Za-z]\w{0,9}$")
_CONSTANT: Final = re.compile(
    r"\s*(?:(?:export|public|private|static|final|const|constexpr|var|let|val|pub|String)\s+)*(\w{2,})\b[^=(]*(?:=|$)"
)
_RENDERS: Final = re.compile(r"(?i)render|templat|(?:^|\W)views?$|partial")
_RENDERING: Final = ("render", "templat", "view", "partial", "includ", "extend", "layout")
"""Terms of what names a template without its suffix."""
_MAX_STRING_CHARS: Final = 200
"""Characters of a string that names something."""
_MAX_FILE_BYTES: Final = 400_000
"""Bytes of a file whose strings are read: a larger one is data."""
_CALLEE_CHARS: Final = 80
"""Characters before a string in which its call is looked for."""
EMBEDS: Final = "//go:embed "
"""The comment by which Go reads files into a variable."""
_CALLEE: Final = re.compile(
    r"([A-Za-z_][\w.:$!?]*)(?:\s*\(\s*(?:[^()]*[,(]\s*)?(?:\w+\s*[:=]\s*)?|[ ]+(?:\w+:\s*)?)[frbu&]?$"
)
"""The function that a string is handed to: with parentheses or, as in Ruby, without."""
_QUOTED_IN_TEMPLATE: Final = re.compile(
    r"""
      (?P<tag>(?:\{%|\{\{|<%|@)[-~\#=>\s]{0,9}+
        (?:extends|includ\w*|import|from|embed|layout|render|component|template|partial|each|inherit|namespace)\b
        [^"'}>\n]{0,80}+)?
      (["'])(?P<value>[\w@+./-]{1,200})\2
    """,
    re.VERBOSE,
)
"""What a template quotes: behind the mark of a tag another template, with a suffix any file."""


class StringLiteral(NamedTuple):
    """One string of a source."""

    value: str
    """What stands between the quotes, as it is written."""
    line: int
    """1-based; of its first character."""
    callee: str
    """The function that it is handed to, as written; ``""`` where that can't be told."""
    includes: bool = False
    """Whether a template takes in what it names."""


class FileReferences:
    """References from strings to the files of an index, read on demand; get it by ``file_references_of``.

    A path that stands in a string leads to the file that ends so. It is stated as a fact where it is unique
    and says a folder, or what it is read or rendered with does; a bare name alone is likely.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._cache = LRUCache[int, tuple[Relation, ...]](_MAX_CACHED, lambda found: 1 + len(found))

    def references_in(self, file: int) -> tuple[Relation, ...]:
        """Return the files that a file names, in the order of its lines; each line names a file once."""
        found = self._cache.get(file)
        if found is None:
            found = tuple(dict.fromkeys(self._read(file)))
            self._cache.put(file, found)
        return found

    def used_in(self, place: Place) -> tuple[Relation, ...]:
        """Return the files that a definition names, what is defined inside of it included."""
        file, row = place
        if row < 0:
            return self.references_in(file)
        definition = self._index.definitions(file)[row]
        return self.references_between(file, definition.start, definition.end)

    def references_between(self, file: int, first: int, last: int) -> tuple[Relation, ...]:
        """Return the files that lines name, or the constants of their file that they use."""
        found = self.references_in(file)
        if not found:
            return ()
        lines = self._index.sources.text(file).split("\n")
        used = frozenset(tokenize("\n".join(lines[first - 1 : last])))
        definitions = self._index.definitions(file)

        def is_used(each: Relation) -> bool:
            row = each.source[1]
            is_constant = row < 0 or definitions[row].kind not in FUNCTIONS
            return first <= each.line <= last or (is_constant and _constant(lines, each.line) in used)

        return tuple(filter(is_used, found))

    def references_to(self, file: int) -> tuple[Relation, ...]:
        """Return where a file is named, in the order of the repository."""
        return tuple(
            each
            for other in self._candidate_sources(file)
            for each in self.references_in(other)
            if each.target[0] == file
        )

    # Underneath: from a string to files.

    def _read(self, file: int) -> Iterator[Relation]:
        texts = tuple(_strings_in(self._index, file))
        if not texts:
            return
        imported = {each.module for each in self._index.imports(file)}
        mentioned = {part for text in texts for part in text.value.split("/")}
        packages = [each for each in mentioned if each not in self._by_name]
        mentioned |= {part for each in packages for part in each.split(".") if part}
        for text in texts:
            if text.value in imported:
                continue
            targets, confidence = self._resolve(file, text, mentioned)
            kind = _kind(text)
            source = (file, row_at(self._index, file, text.line)) if targets else (file, -1)
            for target in targets:
                if target != file:
                    yield Relation(kind, source, (target, -1), text.line, confidence)

    def _resolve(
        self, file: int, text: StringLiteral, mentioned: Set[str]
    ) -> tuple[Sequence[int], Confidence]:
        """Return the files that a string refers to; ``mentioned`` are the path parts in its file."""
        written = _path_in(text.value)
        if not written:
            return (), Confidence.POSSIBLE
        paths = self._index.paths
        if (relative := self._ids.get(normpath(f"{dirname(paths[file])}/{written}").lstrip("/"))) is not None:
            # A bare name of code, such as ``conftest.py``, may be that of any project.
            is_bare = "/" not in written and self._is_code(relative)
            return (relative,), Confidence.LIKELY if is_bare else Confidence.RESOLVED
        path = re.sub(r"^(?:\.{0,2}/)+", "", written)
        found = self._with_path_suffix(path) if _SUFFIX.search(path) else []
        found = found or self._without_suffix(path, text)
        found = [each for each in found if each != file and self._may_read(file, each, path)]
        is_sure = "/" in path or _kind(text) is not RelationKind.FILE
        if len(found) > 1 and not is_sure:
            # A bare name that several files bear means one whose folder is mentioned, below who says it.
            found = [
                each for each in found if not self._is_code(each) and _is_below(paths[file], paths[each])
            ]
            found = [each for each in found if _folder_name(paths[each]) in mentioned]
        if len(found) != 1:
            return self._nearest(file, found)
        target = paths[found[0]]
        if is_sure or _folder_name(target) in mentioned:
            return found, Confidence.RESOLVED
        if "/" not in target or self._is_code(found[0]):
            # ``package.json``, ``setup.py``: such a name may belong to any project.
            return (), Confidence.POSSIBLE
        # What a test calls so is often what it writes.
        is_test = self._index.files.is_test(file)
        is_near = _is_below(paths[file], target) if is_test else shared_folders(paths[file], target) > 0
        return found, Confidence.LIKELY if is_near else Confidence.POSSIBLE

    def _may_read(self, file: int, target: int, path: str) -> bool:
        """Return True if a file may read another one: only tests read test data, unless the path is exact."""
        is_test = self._index.files.is_test
        return path == self._index.paths[target] or is_test(file) or not is_test(target)

    def _nearest(self, file: int, found: Sequence[int]) -> tuple[Sequence[int], Confidence]:
        """Return the file of several that stands nearest to who names it, or all where none does."""
        paths = self._index.paths
        near = [shared_folders(paths[file], paths[each]) for each in found]
        best = [each for each, shared in zip(found, near, strict=True) if shared == max(near)]
        if len(best) == 1 and max(near):
            return best, Confidence.LIKELY
        return (tuple(best) if len(best) <= _MAX_CANDIDATES else ()), Confidence.POSSIBLE

    def _with_path_suffix(self, path: str) -> list[int]:
        """Return the files whose paths end so."""
        named = self._by_name.get(path.rpartition("/")[2], ())
        return [each for each in named if f"/{self._index.paths[each]}".endswith(f"/{path}")]

    def _without_suffix(self, path: str, text: StringLiteral) -> list[int]:
        """Return the templates that a name without suffix means where something renders it."""
        if _kind(text) is RelationKind.FILE:
            return []
        folder, _, stem = f"/{path.replace('.', '/')}".rpartition("/")
        named = self._templates.get(stem, ())
        return [each for each in named if f"/{dirname(self._index.paths[each])}".endswith(folder)]

    def _is_code(self, file: int) -> bool:
        return language_named(self._index.language(file)).role is LanguageRole.CODE

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {self._index.paths[each]: each for each in self._readable}

    @cached_property
    def _readable(self) -> list[int]:
        found: list[int] = np.flatnonzero((self._index.files.flags & int(PATH_ONLY)) == 0).tolist()
        return found

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        return grouped((self._index.paths[each].rpartition("/")[2], each) for each in self._readable)

    @cached_property
    def _templates(self) -> dict[str, list[int]]:
        """Templates by name up to the first dot; a partial (``_row.erb``) without its dash too."""
        found: dict[str, list[int]] = {}
        for each in self._readable:
            if is_template(self._index.paths[each]):
                stem = self._index.paths[each].rpartition("/")[2].partition(".")[0]
                for name in {stem, stem.removeprefix("_")} - {""}:
                    found.setdefault(name, []).append(each)
        return found

    # Underneath: from a file to who may name it.

    def _candidate_sources(self, file: int) -> list[int]:
        """Return the files that hold the words of a file's name, those nearest to it if there are many."""
        index, path = self._index, self._index.paths[file]
        stem, _, suffix = path.rpartition("/")[2].partition(".")
        by_stem = units_with(index, stem)
        holders = by_stem & units_with(index, suffix)
        if is_template(path):
            # Code that renders may leave the suffix out.
            rendering = np.zeros(len(by_stem), np.bool_)
            for term in _RENDERING:
                rendering |= units_with(index, term)
            holders |= by_stem & rendering
        return nearest_files(index, holders, path)


def _path_in(value: str) -> str:
    """Return the path that a string ends with, ``""`` where it holds none."""
    value = value.replace("\\\\", "/")
    if not _PATH.fullmatch(value):
        # What stands before a path may be filled in: ``{base}/users/page.html``.
        value = _NOT_PATH.split(value)[-1]
        if not value.startswith("/"):
            return ""
    return value if re.search(r"\w\w", value) and "//" not in value else ""


def _kind(text: StringLiteral) -> RelationKind:
    if text.includes:
        return RelationKind.INCLUDE
    return RelationKind.RENDER if _RENDERS.search(text.callee) else RelationKind.FILE


def _folder_name(path: str) -> str:
    return dirname(path).rpartition("/")[2]


def _constant(lines: Sequence[str], line: int) -> str:
    """Return the name that a line at the top of a file gives to what it holds, ``""`` where it gives none.

    What Go embeds is named on the line below.
    """
    written = lines[line] if lines[line - 1].startswith(EMBEDS) and line < len(lines) else lines[line - 1]
    found = _CONSTANT.match(written)
    return found[1] if found else ""


def _is_below(path: str, other: str) -> bool:
    """Return True if a path is in the folder of another one, or below it."""
    return other.startswith(f"{dirname(path)}/".lstrip("/"))


# The strings of a source.


def _strings_in(index: Index, file: int) -> Iterator[StringLiteral]:
    """Yield the strings of a file that may be paths, in order; none of generated and very large files."""
    if (
        int(index.files.flags[file]) & int(PATH_ONLY | GENERATED_OR_VENDORED)
        or int(index.files.size[file]) > _MAX_FILE_BYTES
    ):
        return
    language = language_named(index.language(file))
    if is_template(index.paths[file]) or language.role is LanguageRole.MARKUP:
        yield from _in_template(index.sources.text(file))
    elif language.role is LanguageRole.CODE:
        yield from _in_code(index.sources.text(file), re.compile(language.literals))


def _in_code(text: str, literals: re.Pattern[str]) -> Iterator[StringLiteral]:
    """Yield the strings of code, its comments and its documentation left out."""
    line, counted = 1, 0
    for found in literals.finditer(text):
        piece, start = found[0], found.start()
        value = piece[1:-1]
        is_embedding = piece.startswith(EMBEDS)
        is_string = piece[0] in "\"'`" and piece[:3] not in ('"""', "'''") and "\n" not in value
        if not is_embedding and not (is_string and 0 < len(value) <= _MAX_STRING_CHARS):
            continue
        line += text.count("\n", counted, start)
        counted = start
        if is_embedding:
            yield from (StringLiteral(each.strip('"`'), line, "embed") for each in piece.split()[1:])
        else:
            callee = _CALLEE.search(text, max(0, start - _CALLEE_CHARS), start)
            yield StringLiteral(value, line, callee[1] if callee else "")


def _in_template(text: str) -> Iterator[StringLiteral]:
    """Yield what a template names."""
    line, counted = 1, 0
    for found in _QUOTED_IN_TEMPLATE.finditer(text):
        if found["tag"] or _SUFFIX.search(found["value"]):
            line += text.count("\n", counted, found.start())
            counted = found.start()
            yield StringLiteral(found["value"], line, "", includes=bool(found["tag"]))


def file_references_of(index: Index) -> FileReferences:
    """Return who names which file of an index, which goes with it."""
    return index.memo(FileReferences)
