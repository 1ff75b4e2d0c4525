"""Occurrences of changed names in the whole tree, and which of them no resolver accounts for.

A check is complete only if every occurrence, as a word, of a name that was removed, is no longer offered or
takes other arguments was resolved. The rest is listed: other languages, templates, strings, members of values
of unknown type, and files that are not there to be read.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.check.changes import removed_exports
from repo_map.check.git_diff import LFS_POINTER, read_absent
from repo_map.check.model import Finding, Occurrence, Unresolved
from repo_map.check.resolution import SCRIPTS, is_bound_in_text, is_builtin
from repo_map.check.trees import IMPORTS, TreeComparison
from repo_map.languages.kinds import CODE, FUNCTIONS, TYPES
from repo_map.languages.language import LanguageRole, Structure
from repo_map.languages.registry import kin_of, language_named, language_of
from repo_map.messages import first_three, plural
from repo_map.parsing.facts_model import VALUE, Site
from repo_map.relations.file_facts import grouped
from repo_map.relations.model import Place
from repo_map.relations.text_search import files_with, row_at, shared_folders
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED, FileFlag, is_bundle
from repo_map.text.units import GAP, MAX_TEXT_WINDOWS, MAX_WINDOWS

if TYPE_CHECKING:
    from repo_map.index.index import Index

_UNREAD: Final = int(GENERATED_OR_VENDORED | FileFlag.BINARY | FileFlag.TRUNCATED)
"""Flags of files that are not searched by the index."""
_MAX_LISTED: Final = 10
_MAX_FILES: Final = 400
"""Files with one name that are read, the nearest; a more frequent name is counted in the others."""
_MAX_WORD_FILES: Final = 20
"""Files with a word of a file without a resolver from which on it is no name."""
_MAX_RAW_BYTES: Final = 50_000_000
"""Of a file that is too large for the index up to which its bytes are searched."""
_SMALL_BYTES: Final = 60
"""Of a file whose only lines the index may leave out."""
_MAX_WORDS: Final = 300
"""Words of changed files without a resolver that are searched for."""
_MIN_WORD_CHARS: Final = 3
_MARKS: Final = "@$#&*"
"""What languages put before a name."""
_RECEIVER: Final = re.compile(r"([\w.]*)[!?]?(?:\.|->|::)\s*[@$#]*\Z")
_MAX_RECEIVER_CHARS: Final = 120
_MAX_OPENER_CHARS: Final = 2_000
_OWN_RECEIVERS: Final = frozenset({"self", "this", "cls", "exports", "module"})
_TYPE: Final = re.compile(r"[A-Z]\w+")
_MEMBER: Final = re.compile(r"(?:\.|->|::)\s*\Z")
_KEY: Final = re.compile(r"\s*(?:=(?!=)|:(?!:))")
_FIELD: Final = re.compile(r"\s*(?::(?![:=])|[,}=])")
_GO_FIELD: Final = re.compile(r"\s*:(?![:=])")
_CALLEE: Final = re.compile(r"([\w$]+)\s*\Z")
_EXPORTED: Final = r"\bexports?\b[^;]*(?<![\w.$]){}(?![\w$])"
_QUOTED: Final = (
    re.compile(r"[\"'`][\w$.:#/@-]*\Z"),
    re.compile(r"[\w$.:#/@-]*(?:[(\[].*?)?[\"'`]"),
)
"""What is before and after a name that a string holds as a path, or as a call."""
_COMMENT: Final = re.compile(r"\s*(?://|# |#$|/\*|\* |\*$|-- |;;|<!--|\{#|% |\"\"\")")
"""Begins a line that is a comment in most languages."""
_KEYS: Final = re.compile(r"(?m)(?:^|[{,\[])[\s\-\[]*[\"']?([A-Za-z_][\w-]*)[\"']?\s*[\]:=]")
_WORDS: Final = re.compile(r"[A-Za-z_$][\w$]*(?:-[A-Za-z_]\w*)*")
_HEAD: Final = re.compile(r"([A-Za-z_][\w-]*)\W?\s*\(")
_KEBAB: Final = frozenset({"css", "html", "clojure", "vue", "svelte"})
"""Languages whose names may have hyphens."""
_IMPLICIT: Final = frozenset(
    {"java", "kotlin", "csharp", "cpp", "scala", "swift", "groovy", "php", "ruby", "c"}
)
"""Languages in which a member is used without a receiver."""
_PROSE: Final = re.compile(
    r"(?i)(?<!CMakeLists)\.(?:md|markdown|rst|txt|adoc|log|csv|tsv|svg|po|pot)$"
    r"|(?:^|/)(?:LICEN[CS]E|COPYING|NOTICE|AUTHORS|CONTRIBUTORS|CODEOWNERS|README|CHANGE\w*|NEWS"
    r"|\.git\w+|\.editorconfig|\.mailmap|\.\w+ignore)[^/]*$"
)
"""Files in no language that mention names and use none."""
_CONFIGURATION: Final = re.compile(r"(?i)\.(?:ini|cfg|conf|properties|env\w*|lock|xml|plist)$|(?:^|/)\.env")


class ChangedName(NamedTuple):
    """A name that a change removes, no longer offers, or gives other parameters."""

    name: str
    path: str
    """The file that defines it."""
    owner: str = ""
    """The qualified name of its class; ``""`` at the top of a file."""
    place: Place | None = None
    """Its definition in the tree after; None for a removed name."""
    is_word: bool = False
    """Whether it is a word of a file without a resolver, that may be no name."""
    is_hidden: bool = False
    """Whether it is still defined, and other files can't use it any more."""

    @property
    def word(self) -> str:
        """The name without its marks."""
        return self.name.lstrip(_MARKS)


def changed_names(trees: TreeComparison, incompatible: Iterable[Place]) -> list[ChangedName]:
    """Return the names whose uses elsewhere may break, each once.

    Args:
        trees: The trees before and after the change.
        incompatible: Functions of the tree after whose old calls may not match.
    """
    tree, found = trees.after, list[ChangedName]()
    for each, file in trees.removed_files:
        stem, now = (path.rpartition("/")[2].partition(".")[0] for path in (each.old, each.new))
        if stem != now and not is_prose(trees.before.index, file):
            # Of components also as tags are written.
            tag = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", stem).lower()
            found += (ChangedName(stem, each.old), ChangedName(tag, each.old))
    for each in trees.files:
        exports = removed_exports(trees, each.old, each.new)
        found += (ChangedName(export.name, each.old, export.owner) for export in exports)
    for each in trees.files:
        found += (
            ChangedName(word, each.old, is_word=True) for word in _removed_words(trees, each.old, each.new)
        )
    for place in (*incompatible, *_changed_heads(trees)):
        if not tree.is_local(place):
            owner, _, _ = tree.qualified_name(place).rpartition(".")
            found.append(ChangedName(tree.name(place), tree.index.paths[place[0]], owner, place))
    unique = {each[:3]: each for each in reversed(found) if re.search(r"\w", each.word)}
    return list(reversed(unique.values()))


def _changed_heads(trees: TreeComparison) -> Iterator[Place]:
    """Yield the functions with another head in languages without a resolver, whose arguments may differ."""
    before, after = trees.before, trees.after
    for old, new in trees.matched.items():
        is_open = not after.relations.knows(new[0]) and after.is_function(new)
        if is_open and "".join(before.head(old)).split() != "".join(after.head(new)).split():
            yield new


def _removed_words(trees: TreeComparison, old: str, new: str) -> Iterator[str]:
    """Yield the words that only the file before has, if no resolver reads it; of data only the keys."""
    before, after = trees.before, trees.after
    trees.require_time()
    file = before.index.file_id(old) if old else None
    if file is None or before.relations.knows(file) or is_prose(before.index, file):
        return
    is_copied = int(before.index.files.flags[file]) & int(GENERATED_OR_VENDORED)
    if is_copied or re.search(r"(?:^|/)(?:\.[^/]+/|package\.json$|tsconfig[^/]*\.json$)", old):
        return  # Settings of a git host or of modules.
    now = after.index.file_id(new) if new else None
    pattern = _KEYS if is_data(old) else _WORDS
    rest = set(_WORDS.findall(after.index.sources.text(now))) if now is not None else set()
    words = dict.fromkeys(pattern.findall(before.index.sources.text(file)))
    found = [each for each in words if each not in rest]
    if pattern is _WORDS:
        # An edited line may be the head of a definition.
        lines = enumerate(before.lines(file), 1)
        edited = (text for at, text in lines if not trees.line_after(file, at))
        found += (head[1] for text in edited if (head := _HEAD.search(text)) is not None)
    yield from [each for each in dict.fromkeys(found) if len(each) >= _MIN_WORD_CHARS][:_MAX_WORDS]


def is_prose(index: Index, file: int) -> bool:
    """Return True for a file that mentions names and uses none."""
    language = index.language(file)
    if language:
        return language_named(language).role is LanguageRole.PROSE and not index.paths[file].endswith(".mdx")
    return _PROSE.search(index.paths[file]) is not None


def is_data(path: str) -> bool:
    """Return True for a file whose keys may be names and that defines nothing."""
    language = language_named(language_of(path))
    return language.role is LanguageRole.DATA if language.name else _CONFIGURATION.search(path) is not None


def find_unresolved(
    trees: TreeComparison,
    names: Sequence[ChangedName],
    findings: Collection[Finding],
) -> Unresolved:
    """Return the occurrences of changed names that nothing resolves and no finding is about.

    Args:
        trees: The trees before and after the change, with the uses that can't be judged.
        names: The changed names.
        findings: What is reported already.
    """
    return _Finder(trees, names, findings).search()


class _Finder:
    """Searches for the words of changed names, and classifies each occurrence."""

    def __init__(
        self,
        trees: TreeComparison,
        names: Sequence[ChangedName],
        findings: Collection[Finding],
    ) -> None:
        self._trees, self._tree, self._index = trees, trees.after, trees.after.index
        self._names = grouped((each.word, each) for each in names)
        self._reported = {(each.path, each.line) for each in findings}
        self._found: dict[tuple[str, str, int], tuple[int, Occurrence]] = {}
        """By word, path and line, with the rank of what it is in."""
        for call in trees.unresolved:
            if (call.path, call.line) not in self._reported:
                self._found.setdefault((call.name.lstrip(_MARKS), call.path, call.line), (-1, call))
        self._notes: list[str] = []
        self._unsearched: dict[str, None] = {}
        self._related: dict[tuple[str, str], frozenset[Place]] = {}

    def search(self) -> Unresolved:
        """Return what is found, the likeliest first."""
        if self._names:
            words = grouped((file, word) for word in self._names for file in self._files_with(word))
            for file in sorted(words):
                for word in words[file] if not self._trees.is_late() else ():
                    self._classify(file, word)
            self._search_elsewhere()
        counts = Counter(word for word, _, _ in self._found)

        def order(entry: tuple[tuple[str, str, int], tuple[int, Occurrence]]) -> tuple[object, ...]:
            (word, path, line), (rank, _) = entry
            near = max((shared_folders(each.path, path) for each in self._names.get(word, ())), default=0)
            return rank, counts[word] > _MAX_LISTED, -near, counts[word], path, line

        ordered = sorted(self._found.items(), key=order)
        if self._unsearched:
            files = plural(len(self._unsearched), "path")
            self._notes.append(f"{files} could not be searched: {first_three(list(self._unsearched))}.")
        listed = tuple(occurrence for _, (_, occurrence) in ordered[:_MAX_LISTED])
        return Unresolved(listed, len(ordered), tuple(self._notes))

    # Search.

    def _files_with(self, word: str) -> list[int]:
        """Return the files of the index that may have a word, of many the nearest."""
        index, names = self._index, self._names[word]
        number = index.strings.get(word)
        named = np.flatnonzero(index.references.name == (-1 if number is None else number))
        users = np.searchsorted(index.references.file_start, named, side="right") - 1
        chosen = np.unique(np.concatenate((files_with(index, (word,)), self._cut, users))).astype(int)
        listed = [
            file
            for file in chosen[(index.files.flags[chosen] & _UNREAD) == 0].tolist()
            if not is_prose(index, file) and not is_bundle(index.paths[file])
        ]
        home = names[0].path
        if names[0].is_word and not is_data(home) and len(listed) > _MAX_WORD_FILES:
            return []
        if len(listed) > _MAX_FILES:
            rest = plural(len(listed) - _MAX_FILES, "further file")
            self._notes.append(f"`{word}` is a frequent word and was not looked up in {rest} with it.")
            listed.sort(key=lambda file: (-shared_folders(home, index.paths[file]), file))
        return listed[:_MAX_FILES]

    @cached_property
    def _cut(self) -> NDArray[np.int64]:
        """The files of which the index may lack terms: of long texts it has those of the first lines."""
        units, sizes = self._index.units, self._index.files.size
        gaps = np.concatenate(([0], np.cumsum(units.kind == GAP)))[units.file_start]
        counts = np.diff(gaps)
        return np.flatnonzero((counts == MAX_TEXT_WINDOWS) | (counts >= MAX_WINDOWS) | (sizes < _SMALL_BYTES))

    def _search_elsewhere(self) -> None:
        """Search what is part of the tree and not in the index."""
        index, flags = self._index, self._index.files.flags
        for path, what in index.build.state.problems:
            if "symbolic link" not in what:
                self._unsearched[f"{path or 'the tree'} ({what.partition(';')[0]})"] = None
        for file in np.flatnonzero(flags & int(FileFlag.TRUNCATED)).tolist():
            read = index.build.source.at(index.build.state.listing).read(index.paths[file], _MAX_RAW_BYTES)
            self._search_bytes(index.paths[file], read.source, "not indexed")
        for file in files_with(index, ("lfs",)):
            path = index.paths[file]
            if language_of(path) and index.sources.content(file).startswith(LFS_POINTER):
                self._unsearched[f"{path} (a Git LFS pointer)"] = None
        for path, source in read_absent(index.build.source).items():
            if index.file_id(path) is None:
                self._search_bytes(path, source, "not checked out")

    def _search_bytes(self, path: str, source: bytes | None, reason: str) -> None:
        if source is None:
            self._unsearched[f"{path} ({reason})"] = None
        elif any(word.encode("utf-8", "replace") in source for word in self._names):
            text = source.decode("utf-8-sig", "replace").replace("\r\n", "\n")
            for word in self._names:
                for match in _word_pattern(word, language_of(path)).finditer(text):
                    if not _COMMENT.match(text, text.rfind("\n", 0, match.start()) + 1):
                        self._add(word, path, text.count("\n", 0, match.start()) + 1, 0, reason)

    # Classification.

    def _classify(self, file: int, word: str) -> None:
        """Add the occurrences of a word in a file that are not resolved."""
        tree, index, path = self._tree, self._index, self._index.paths[file]
        text = index.sources.text(file)
        if not (matches := list(_word_pattern(word, tree.language(file)).finditer(text))):
            return
        starts = [0, *(match.end() for match in re.finditer("\n", text))]
        code, uncommented = tree.code(file), tree.code(file, keeps_strings=True)
        defined = {each.sig_start for each in index.definitions(file) if each.name.rpartition(".")[2] == word}
        seen: set[int] = set()
        for match in matches:
            at = match.start()
            line = bisect_right(starts, at)
            is_comment = uncommented[at] == " " if uncommented else _COMMENT.match(text, starts[line - 1])
            if line in seen or (path, line) in self._reported or is_comment:
                continue
            is_code, is_defined = bool(code) and code[at] == text[at], line in defined
            for name in self._names[word]:
                may_be_intended = name.place is not None or (name.is_word and name.path == path)
                if may_be_intended and not self._trees.line_before(file, line):
                    continue  # The author of an edited line knew of the change.
                rank, reason = self._reason(name, file, at, line, is_code=is_code, is_defined=is_defined)
                if reason:
                    seen.add(line)
                    self._add(word, path, line, rank, reason)
                    break

    def _add(self, word: str, path: str, line: int, rank: int, reason: str) -> None:
        occurrence = Occurrence(self._names[word][0].name, path, line, reason)
        self._found.setdefault((word, path, line), (rank, occurrence))

    def _reason(
        self, name: ChangedName, file: int, at: int, line: int, *, is_code: bool, is_defined: bool
    ) -> tuple[int, str]:
        """Return why an occurrence is not resolved, ``""`` if it is, after the rank of such reasons."""
        path, language = self._index.paths[file], self._tree.language(file)
        is_same = _kin(path) == _kin(name.path)
        is_known, structure = self._tree.relations.knows(file), language_named(language).structure
        is_guessed = structure is Structure.PLAIN
        if is_defined and not is_guessed and (is_known or not name.owner or not is_same):
            return 0, ""
        if not is_known:
            rank = 2 if is_data(path) else 0 if is_same else 1
            return rank, f"{'text' if is_guessed else language or 'text'} is not resolved"
        if not is_code and structure is Structure.BLOCKS:
            return 0, f"in the template of {language}"
        if not is_code:
            return 2, "in a string" if self._is_used_in_string(name, file, at, line) else ""
        if is_same:
            return 0, "" if self._is_resolved_by_kin(name, file, at, line) else "its target is unknown"
        return 1, "" if self._is_resolved_by_others(name, file, at, line) else f"used from {language}"

    def _is_used_in_string(self, name: ChangedName, file: int, at: int, line: int) -> bool:
        """Return True if a string holds a name as a path, or text in another language that may use it."""
        text, home = self._index.sources.text(file), self._trees.before.index.file_id(name.path)
        is_path = _QUOTED[0].search(text, max(0, at - _MAX_RECEIVER_CHARS), at) is not None
        is_path = is_path and _QUOTED[1].match(text, at + len(name.word)) is not None
        is_resolved = home is not None and self._trees.before.relations.knows(home)
        return (
            (is_path or not is_resolved)
            # An entry of its own ``__all__``.
            and (
                self._tree.language(file) != "python"
                or all(each.name != name.word for each in self._index.definitions(file))
            )
            and not self._is_unreachable(name, file, line)
        )

    def _is_resolved_by_others(self, name: ChangedName, file: int, at: int, line: int) -> bool:
        """Return True if code in another language than that of a name means something of the tree."""
        tree, word, row = self._tree, name.word, row_at(self._index, file, line)
        is_member = _MEMBER.search(tree.code(file), max(0, at - _MAX_RECEIVER_CHARS), at) is not None
        if name.is_word and is_data(name.path) and not is_member:
            return True
        sites = tree.sites(file, line, word) or [Site(word, "", row, line, VALUE, 0)]
        is_resolved = any(tree.relations.meaning(file, site).targets for site in sites)
        return is_resolved or self._is_local(file, row, word)

    def _is_resolved_by_kin(self, name: ChangedName, file: int, at: int, line: int) -> bool:
        """Return True if code in the language of a name means something known, or can't mean the name."""
        tree, code, word = self._tree, self._tree.code(file), name.word
        language, row = tree.language(file), row_at(self._index, file, line)
        before = _RECEIVER.search(code, max(0, at - _MAX_RECEIVER_CHARS), at)
        receiver = None if before is None else before[1]
        is_inner = receiver is not None and not name.owner and language in SCRIPTS
        if self._is_unreachable(name, file, line) or (is_inner and self._is_private_to_module(name)):
            return True
        if receiver is None and name.owner and (key := self._means_field(name, file, at, line)) is not None:
            return not key
        is_key = receiver is None and not name.owner and _KEY.match(code, at + len(word)) is not None
        if is_key or not self._may_mean(name, file, receiver, row, line):
            return True
        # A call in the rules of a macro is none that the macro binds.
        around = self._code_around(file, row).replace("macro_rules!", "")
        is_bound = is_bound_in_text(around, word, language) or self._is_import(name, file, at, line)
        if receiver is None and is_bound:
            return True
        sites = tree.sites(file, line, name.name)
        dotted = (receiver or "").replace("::", ".")
        for site in sites or [Site(name.name, dotted, row, line, VALUE, 0)]:
            meaning = tree.relations.meaning(file, site)
            is_hidden = name.is_hidden and name.place is not None and file != name.place[0]
            if meaning.targets and not (is_hidden and name.place in meaning.targets):
                return bool(sites) or name.place not in meaning.targets
            if meaning.is_external and (sites or not receiver):
                return True
        is_local = not receiver and self._is_local(file, row, name.name, line)
        return is_local or self._is_fully_resolved(name)

    def _code_around(self, file: int, row: int) -> str:
        """Return the code of the outermost function around a definition, of the file without one."""
        tree, view = self._tree, self._tree.view(file)
        functions = [each for each in view.around(row) if view.definitions[each].kind in FUNCTIONS]
        if not functions:
            return tree.code(file)
        outermost = view.definitions[functions[-1]]
        return "\n".join(tree.code(file).split("\n")[outermost.start - 1 : outermost.end])

    def _is_import(self, name: ChangedName, file: int, at: int, line: int) -> bool:
        """Return True if an occurrence is part of an import, which the removal of a name is checked for."""
        opener, start = _opener(self._tree.code(file), at)
        first = self._tree.code(file).count("\n", 0, start) + 1 if opener else line
        return any(
            each.kind in IMPORTS and each.line in (line, first)
            for each in self._tree.view(file).bindings
            if each.name == name.name or re.split(r"[:.\\/]+", each.value)[-1] == name.name
        )

    def _is_local(self, file: int, row: int, word: str, line: int = 0) -> bool:
        """Return True if a function around a bare name, or its own line, binds it and does not import it."""
        view, scopes = self._tree.view(file), self._tree.scopes(file, row)
        inner = takewhile(lambda scope: view.definitions[scope].kind not in TYPES, scopes)
        bound = (each for scope in inner for each in view.bound.get((scope, word), ()))
        here = (each for each in view.bindings if each.line == line and each.name == word)
        return any(each.kind not in IMPORTS for each in (*bound, *here))

    def _is_fully_resolved(self, name: ChangedName) -> bool:
        """Return True for names of which the relations know every use in code: types, Python's at the top."""
        tree, language = self._trees.before, language_of(name.path)
        file = tree.index.file_id(name.path)
        if file is None or name.owner or name.is_hidden or not tree.relations.knows(file):
            return False
        kinds = {tree.definition(each).kind for each in tree.named(name.name) if each[0] == file} & CODE
        return bool(kinds) and (language == "python" or (language in SCRIPTS and not kinds & FUNCTIONS))

    def _may_mean(self, name: ChangedName, file: int, receiver: str | None, row: int, line: int) -> bool:
        """Return True if the text before an occurrence does not exclude a name."""
        language = self._tree.language(file)
        if receiver is None:
            return (not name.owner or language in _IMPLICIT) and not is_builtin(name.name, language)
        root, last = receiver.partition(".")[0], receiver.rpartition(".")[2]
        if root == "super" or (is_builtin(root, language) and root not in _OWN_RECEIVERS):
            return False
        related = self._related_classes(name)
        if receiver in ("self", "this", "cls") and related:
            return (file, self._tree.view(file).class_around(row)) in related
        is_type = _TYPE.fullmatch(last) is not None and language != "go"
        if not name.owner or not is_type or last in name.owner.split("."):
            return True
        return bool(related.intersection(self._tree.meaning(file, last, row, line).targets))

    def _means_field(self, name: ChangedName, file: int, at: int, line: int) -> bool | None:
        """Return whether a key or keyword may be a member, None for an occurrence that is neither.

        A keyword argument is not, if its function is known; a key is not, if its type is.
        """
        tree, code = self._tree, self._tree.code(file)
        (opener, start), end = _opener(code, at), at + len(name.word)
        is_script = tree.language(file) in SCRIPTS
        field = _FIELD if is_script or tree.language(file) == "rust" else _GO_FIELD
        is_key = opener == "{" and field.match(code, end) is not None
        if is_key and code[max(0, at - _MAX_RECEIVER_CHARS) : at].rstrip()[-1:] not in ("{", ","):
            return None
        if not is_key and not (opener == "(" and _KEY.match(code, end)):
            return None
        callee = _CALLEE.search(code, max(0, start - _MAX_RECEIVER_CHARS), start)
        if callee is None:
            return is_key and is_script
        head, row = code.count("\n", 0, callee.start()) + 1, row_at(self._index, file, line)
        sites = tree.sites(file, head, callee[1]) or [Site(callee[1], "", row, head, VALUE, 0)]
        meanings = [tree.relations.meaning(file, site) for site in sites]
        targets = {each for meaning in meanings for each in meaning.targets}
        if targets:
            return bool(targets & self._related_classes(name))
        return not any(meaning.is_external for meaning in meanings)

    def _related_classes(self, name: ChangedName) -> frozenset[Place]:
        """Return the class of a member and those above and below it; none if they are unknown."""
        key = name.path, name.owner
        if key not in self._related:
            before, relations = self._trees.before, self._tree.relations
            file, last = before.index.file_id(name.path), name.owner.rpartition(".")[2]
            named = before.named(last) if name.owner else ()
            found = set[Place]()
            for place in (self._trees.place_after(each) for each in named if each[0] == file):
                if place is not None:
                    found |= {place, *relations.classes_above(place), *relations.classes_below(place)}
            self._related[key] = frozenset(found)
        return self._related[key]

    def _is_unreachable(self, name: ChangedName, file: int, line: int) -> bool:
        """Return True if the language keeps a file from using a name."""
        path, home, language = self._index.paths[file], name.path, language_of(name.path)
        if path == home or kin_of(self._tree.language(file)) != kin_of(language):
            return False
        if language == "go":
            return name.word[:1].islower() and path.rpartition("/")[0] != home.rpartition("/")[0]
        if language in SCRIPTS and not name.owner:
            return self._is_private_to_module(name)
        is_private = name.name.startswith("#") or (language == "python" and name.name.startswith("_"))
        related = self._related_classes(name) if is_private else ()
        return bool(related) and all(place[0] != file for place in related)

    def _is_private_to_module(self, name: ChangedName) -> bool:
        tree = self._trees.before
        file = tree.index.file_id(name.path)
        code = tree.code(file) if file is not None else ""
        is_module = re.search(r"(?m)^\s*(?:import|export)\b|\brequire\(|\bexports\b", code) is not None
        return is_module and re.search(_EXPORTED.format(re.escape(name.name)), code) is None


def _kin(path: str) -> str:
    """Return what files have in common that may use each other's names; a suffix without a language."""
    language, suffix = language_of(path), path.rpartition("/")[2].rpartition(".")[2]
    is_guessed = language_named(language).structure is Structure.PLAIN
    return suffix if is_guessed else kin_of(language) or suffix


def _word_pattern(word: str, language: str) -> re.Pattern[str]:
    """Return what finds a word in a language's text."""
    inner = "\\w$" if language in SCRIPTS else "\\w-" if language in _KEBAB and "-" not in word else "\\w"
    end = inner if re.match(r"\w", word[-1]) else ""
    return re.compile(f"(?<![{inner}]){re.escape(word)}" + (f"(?![{end}])" if end else ""))


def _opener(code: str, at: int) -> tuple[str, int]:
    """Return the innermost bracket that is open at a character, and where it is; ``""`` without one."""
    depth = 0
    for place in range(at - 1, max(-1, at - _MAX_OPENER_CHARS), -1):
        if code[place] in ")]}":
            depth += 1
        elif code[place] in "([{":
            if not depth:
                return code[place], place
            depth -= 1
    return "", 0
