"""Text that code names: the templates, queries, golden files and other files whose paths stand in strings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from posixpath import dirname, normpath
from typing import TYPE_CHECKING, Final

import numpy as np

from repo_map.cache import LRUCache
from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.relations.model import Confidence, Place, Relation, RelationKind
from repo_map.relations.strings import EMBEDS, Strings, Text
from repo_map.relations.text_search import nearest_files, row_at, shared_folders, units_with
from repo_map.sources.file_kinds import PATH_ONLY, is_template
from repo_map.text.terms import terms_of, tokenize

if TYPE_CHECKING:
    from repo_map.index.index import Index

_MOST_CANDIDATES: Final = 4
"""Files of one name that are still told as possible."""
_MOST_KEPT: Final = 100_000
_PATH: Final = re.compile(r"[\w@+.\- /]+")
_NOT_PATH: Final = re.compile(r"[^\w@+.\- /\\]")
_SUFFIX: Final = re.compile(r"[^.]\.[A-Za-z]\w{0,9}$")
_CONSTANT: Final = re.compile(
    r"\s*(?:(?:export|public|private|static|final|const|constexpr|var|let|val|pub|String)\s+)*(\w{2,})\b[^=(]*(?:=|$)"
)
_RENDERS: Final = re.compile(r"(?i)render|templat|(?:^|\W)views?$|partial")
_RENDERING: Final = ("render", "templat", "view", "partial", "includ", "extend", "layout")
"""Terms of what names a template without its suffix."""


class NamedFiles:
    """Who names which file of an index, read from the sources as it is asked; get it by ``named_files_of``.

    A path that stands in a string leads to the file that ends so. It is stated as a fact where it is unique
    and says a folder, or what it is read or rendered with does; a bare name alone is likely.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._strings = index.memo(Strings)
        self._kept = LRUCache[int, tuple[Relation, ...]](_MOST_KEPT, lambda found: 1 + len(found))

    def named_in(self, file: int) -> tuple[Relation, ...]:
        """Return the files that a file names, in the order of its lines; each line names a file once."""
        found = self._kept.get(file)
        if found is None:
            found = tuple(dict.fromkeys(self._read(file)))
            self._kept.put(file, found)
        return found

    def used_in(self, place: Place) -> tuple[Relation, ...]:
        """Return the files that a definition names, what is defined inside of it included."""
        file, row = place
        if row < 0:
            return self.named_in(file)
        definition = self._index.definitions(file)[row]
        return self.named_between(file, definition.start, definition.end)

    def named_between(self, file: int, first: int, last: int) -> tuple[Relation, ...]:
        """Return the files that lines name, or the constants of their file that they use."""
        found = self.named_in(file)
        if not found:
            return ()
        lines = self._index.sources.text(file).split("\n")
        used = frozenset(tokenize("\n".join(lines[first - 1 : last])))
        return tuple(
            each
            for each in found
            if first <= each.line <= last
            or (not self._is_in_function(each.source) and _constant(lines, each.line) in used)
        )

    def naming(self, file: int) -> tuple[Relation, ...]:
        """Return where a file is named, in the order of the repository."""
        return tuple(
            each for other in self._may_name(file) for each in self.named_in(other) if each.target[0] == file
        )

    # Underneath: from a string to files.

    def _read(self, file: int) -> Iterator[Relation]:
        texts = self._strings[file]
        if not texts:
            return
        imported = {each.module for each in self._index.imports(file)}
        said = frozenset(part for text in texts for part in text.value.split("/"))
        for text in texts:
            if text.value in imported:
                continue
            targets, confidence = self._meant(file, text, said)
            kind = _kind(text)
            source = (file, row_at(self._index, file, text.line)) if targets else (file, -1)
            for target in targets:
                if target != file:
                    yield Relation(kind, source, (target, -1), text.line, confidence)

    def _meant(self, file: int, text: Text, said: frozenset[str]) -> tuple[Sequence[int], Confidence]:
        """Return the files that a string of a file means; ``said`` are all parts of paths in its strings."""
        written = _path_in(text.value)
        if not written:
            return (), Confidence.POSSIBLE
        paths = self._index.paths
        if (beside := self._ids.get(normpath(f"{dirname(paths[file])}/{written}"))) is not None:
            # A bare name of code, such as ``conftest.py``, may be that of any project.
            is_bare = "/" not in written and self._is_code(beside)
            return (beside,), Confidence.LIKELY if is_bare else Confidence.RESOLVED
        path = re.sub(r"^(?:\.{0,2}/)+", "", written)
        found = self._ending(path) if _SUFFIX.search(path) else []
        found = found or self._without_suffix(path, text)
        found = [each for each in found if each != file and self._may_read(file, each, path)]
        joined = self._joined(found, path, text.folders)
        is_sure = bool(joined) or "/" in path or _kind(text) is not RelationKind.FILE
        found = joined or found
        if len(found) == 1:
            return self._only(file, found[0], said, is_sure=is_sure)
        if len(found) > 1 and not is_sure:
            # A bare name that several files bear means one whose folder is said, below who says it.
            found = [each for each in found if self._is_said_below(file, each, said)]
        return self._nearest(file, found) if found else ((), Confidence.POSSIBLE)

    def _only(
        self, file: int, target: int, said: frozenset[str], *, is_sure: bool
    ) -> tuple[Sequence[int], Confidence]:
        """Return the one file of a name, unless the name may be that of any project's file."""
        path = self._index.paths[target]
        if is_sure or _folder_name(path) in said:
            return (target,), Confidence.RESOLVED
        if "/" not in path or self._is_code(target):
            # ``package.json``, ``setup.py``: what bears such a name may be anybody's.
            return (), Confidence.POSSIBLE
        own = self._index.paths[file]
        # What a test calls so is often what it writes.
        is_near = _is_below(own, path) if self._index.files.is_test(file) else shared_folders(own, path) > 0
        return (target,), Confidence.LIKELY if is_near else Confidence.POSSIBLE

    def _is_said_below(self, file: int, target: int, said: frozenset[str]) -> bool:
        path = self._index.paths[target]
        is_below = _is_below(self._index.paths[file], path)
        return is_below and _folder_name(path) in said and not self._is_code(target)

    def _may_read(self, file: int, target: int, path: str) -> bool:
        """Tell whether a file may read another one: a test's data only tests do, unless it says so."""
        return (
            path == self._index.paths[target]
            or self._index.files.is_test(file)
            or not self._index.files.is_test(target)
        )

    def _nearest(self, file: int, found: Sequence[int]) -> tuple[Sequence[int], Confidence]:
        """Return the file of several that stands nearest to who names it, or all where none does."""
        paths = self._index.paths
        near = [shared_folders(paths[file], paths[each]) for each in found]
        best = [each for each, shared in zip(found, near, strict=True) if shared == max(near)]
        if len(best) == 1 and max(near):
            return best, Confidence.LIKELY
        return (tuple(best) if len(best) <= _MOST_CANDIDATES else ()), Confidence.POSSIBLE

    def _joined(self, found: Iterable[int], path: str, folders: Sequence[str]) -> list[int]:
        """Return those of some files that stand in the folder which is said right before their name."""
        if not folders:
            return []
        last = folders[-1].strip("/")
        wanted = {last, last.replace(".", "/")} - {""}
        tails = tuple(f"/{folder}/" for folder in sorted(wanted))
        before = [(each, f"/{self._index.paths[each]}") for each in found]
        return [each for each, whole in before if whole[: whole.rfind(path)].endswith(tails)]

    def _ending(self, path: str) -> list[int]:
        """Return the files whose paths end so."""
        named = self._by_name.get(path.rpartition("/")[2], ())
        return [each for each in named if f"/{self._index.paths[each]}".endswith(f"/{path}")]

    def _without_suffix(self, path: str, text: Text) -> list[int]:
        """Return what a name without suffix means where the function that it is handed to says its kind.

        ``render("users/page")`` means a template, ``load_query("find_user")`` a file called ``.sql`` below
        ``queries``.
        """
        if not text.callee and not text.includes:
            return []
        renders = _kind(text) is not RelationKind.FILE
        whole = path.replace(".", "/") if renders else path
        folder, _, stem = whole.rpartition("/")
        if not stem or " " in stem:
            return []
        said = frozenset(term for word in tokenize(text.callee)[-1:] for term in terms_of(word))
        found = []
        for each in self._by_stem.get(stem, ()):
            other = self._index.paths[each]
            if folder and not f"/{dirname(other)}".endswith(f"/{folder}"):
                continue
            if is_template(other) if renders else self._is_kind(each, said):
                found.append(each)
        return found

    def _is_kind(self, file: int, said: frozenset[str]) -> bool:
        """Tell whether terms say the kind of a file, by its suffix or its folder."""
        path = self._index.paths[file]
        either = (_folder_name(path), *path.rpartition("/")[2].split(".")[1:])
        kinds = {term for word in either for term in terms_of(word)[:1]}
        return self._role(file) is not LanguageRole.PROSE and not said.isdisjoint(kinds)

    def _is_in_function(self, place: Place) -> bool:
        return place[1] >= 0 and self._index.definitions(place[0])[place[1]].kind in FUNCTIONS

    def _is_code(self, file: int) -> bool:
        return self._role(file) is LanguageRole.CODE

    def _role(self, file: int) -> LanguageRole:
        index = self._index
        return language_named(index.language(file)).role

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {self._index.paths[each]: each for each in self._readable}

    @cached_property
    def _readable(self) -> list[int]:
        found: list[int] = np.flatnonzero((self._index.files.flags & int(PATH_ONLY)) == 0).tolist()
        return found

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for each in self._readable:
            found.setdefault(self._index.paths[each].rpartition("/")[2], []).append(each)
        return found

    @cached_property
    def _by_stem(self) -> dict[str, list[int]]:
        """What is no code by its name up to the first dot; a partial (``_row.erb``) without its dash too."""
        found: dict[str, list[int]] = {}
        for each in self._readable:
            if not self._is_code(each) or is_template(self._index.paths[each]):
                stem = self._index.paths[each].rpartition("/")[2].partition(".")[0]
                for name in {stem, stem.removeprefix("_")} - {""}:
                    found.setdefault(name, []).append(each)
        return found

    # Underneath: from a file to who may name it.

    def _may_name(self, file: int) -> list[int]:
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
        elif suffix:
            # So may what reads it, where its folder or its suffix says the kind.
            holders |= by_stem & units_with(index, _folder_name(path))
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


def _kind(text: Text) -> RelationKind:
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
    """Tell whether a path is in the folder of another one, or below it."""
    return other.startswith(f"{dirname(path)}/".lstrip("/"))


def named_files_of(index: Index) -> NamedFiles:
    """Return who names which file of an index, which goes with it."""
    return index.memo(NamedFiles)
