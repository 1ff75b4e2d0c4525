"""What a patch changes of an index, by name: small enough to keep, and true when the patch is forgotten."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from repo_map.impact.gone import Defined, Difference, defined_in, difference
from repo_map.impact.patches import FilePatch, Hunk, Patch
from repo_map.impact.placing import Placed, PlacedFile, Touched
from repo_map.impact.respacing import without_respaced
from repo_map.impact.sides import other_side
from repo_map.impact.values import MOST_WORDS, ChangedPart, Changes, GoneName
from repo_map.languages.kinds import CODE, FUNCTIONS, MEMBERS, TYPES
from repo_map.messages import counted, one_line
from repo_map.relations.file_facts import FileViews
from repo_map.secrets.masking import mask_text
from repo_map.worktree.repository import top_of

if TYPE_CHECKING:
    from repo_map.index import RepoIndex
    from repo_map.parsing.values import Definition

MOST_PARTS: Final = 120
"""Definitions and stretches of lines that count as changed."""
MOST_GONE: Final = 60
MOST_READ: Final = 60
"""Files whose other side is parsed; of further ones the removed lines tell what they define."""
_LONGEST_READ: Final = 2_000_000
_MOST_NAMED: Final = 3
_LONGEST_NAME: Final = 120
_LEAST_HEADER: Final = 8
"""Characters of a hunk's header below which it names no definition."""
_DEFINED = re.compile(
    r"^\s*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z]+\))?"
    r"|unsafe|const|extern|inline|virtual|override|open|sealed|data|declare|suspend|partial|readonly|local)\s+)*"
    r"(?:(?:def|class|func|fn|fun|function\*?|struct|interface|trait|enum|type|module|macro_rules!|defp?|sub)\s+"
    r"(?:\([^()]*\)\s*)?(?:self\.)?)(?P<name>[^\W\d]\w*)"
)
"""A line that defines what its keyword says."""
_MEMBER = re.compile(
    r"^\s*(?!(?:return|if|for|while|switch|catch|else|new|throw|await|yield|assert|do|case|elif|with|in|not)\b)"
    r"(?:[\w<>\[\],.?&*:@]+\s+){0,8}[&*]*(?:\w+::){0,3}(?P<name>[^\W\d]\w*)\s*"
    # A call that is given text or a function looks alike.
    r"\((?!.*(?:[\"'`]|=>|\bfunction\b))[^;]*\{\s*$"
)
"""A line that begins a function as Java, C and their kin write it."""


def find_changes(index: RepoIndex, patch: Patch) -> Changes:
    """Return what a patch changes of an index, whether the tree has it already or not."""
    reader = _Reader(index)
    for each in patch.files:
        reader.take(each)
    return reader.result(patch.notes)


class _Reader:
    """Collects what the files of a patch come to."""

    def __init__(self, index: RepoIndex) -> None:
        self._index = index
        self._parts: dict[tuple[str, str, int], ChangedPart] = {}
        self._gone: dict[tuple[str, str], GoneName] = {}
        self._added: dict[str, str] = {}
        """Names that added lines define, each with the file."""
        self._told: dict[str, list[str]] = {}
        self._unplaced: dict[str, int] = {}
        self._respaced: dict[str, int] = {}
        """Lines of files in which white space alone differs."""
        self._words: list[str] = []
        self._reads = 0

    def result(self, notes: Sequence[str]) -> Changes:
        """Return what was collected."""
        parts = tuple(self._parts.values())
        gone = tuple(
            each._replace(successor=f"in `{self._added[each.name]}`") if each.name in self._added else each
            for each in self._gone.values()
        )
        told = [f"{what}: {_listed(paths)}." for what, paths in self._told.items()]
        if self._respaced:
            lines = counted(sum(self._respaced.values()), "line")
            told.append(
                f"White space alone differs, so not followed: {lines} of {_listed(list(self._respaced))}."
            )
        if self._unplaced:
            hunks = sum(self._unplaced.values())
            files = _listed(list(self._unplaced))
            told.append(f"Not found in the files as they are, so not followed: {_counted(hunks)} of {files}.")
        if len(parts) > MOST_PARTS or len(gone) > MOST_GONE:
            told.append(f"The change is large: of its parts the first {MOST_PARTS} were followed.")
        words = "\n".join(self._words)[:MOST_WORDS] if parts or gone else ""
        return Changes(parts[:MOST_PARTS], gone[:MOST_GONE], (*notes, *told), words=words)

    def take(self, patch: FilePatch) -> None:
        """Take in what is done to one file."""
        file = self._file(patch.new)
        file = self._file(patch.old) if file is None else file
        self._tell_kind(patch, is_here=file is not None)
        if patch.is_binary:
            return
        if file is None:
            if not patch.new:
                self._find_gone(patch, None, ())
            return
        self._find_gone(patch, file, self._place(patch, file))

    def _place(self, patch: FilePatch, file: int) -> list[Placed | None]:
        """Take the definitions that hunks touch, and return where each hunk lies."""
        path = self._index.paths[file]
        language = self._index.languages[int(self._index.files.language[file])]
        lines = PlacedFile(self._index.text(file).split("\n"))
        places, respaced = [], 0
        for hunk in patch.hunks:
            marked = without_respaced(hunk.lines, language)
            respaced += _marks(hunk.lines) - _marks(marked)
            self._words += (line[1:] for line in marked if line[0] != " ")
            placed = lines.place(hunk, marked)
            places.append(placed)
            if placed is not None:
                for touched in placed.touched:
                    self._touch(file, touched)
            elif not self._by_header(file, hunk):
                self._unplaced[path] = self._unplaced.get(path, 0) + 1
        if respaced:
            self._respaced[path] = respaced // 2
        return places

    def _tell_kind(self, patch: FilePatch, *, is_here: bool) -> None:
        """Note what is done to a file beside the change of its lines."""
        shown = _shown(patch.path)
        if patch.is_binary:
            self._tell("Binary, or not read, so not followed", shown)
        elif not patch.new:
            self._tell("Deleted by the patch" if is_here else "Deleted", shown)
        elif not patch.old:
            self._tell("New" if is_here else "New in the patch, and not here yet", shown)
        elif not is_here:
            self._tell("Not in this repository, so not followed", shown)
        if patch.old and patch.new and patch.old != patch.new:
            self._tell("Renamed", f"{_shown(patch.old)} to {shown}")

    def _file(self, path: str) -> int | None:
        """Return the file that a patch means: a patch names it from the repository's root, or from below."""
        index = self._index
        for each in (path, path.removeprefix(self._prefix)):
            if (found := index.file_id(each)) is not None:
                return found
        if "/" not in path or path.startswith("/"):
            return None
        ends = [at for at, known in enumerate(index.paths) if known.endswith(f"/{path}")]
        return ends[0] if len(ends) == 1 else None

    @cached_property
    def _prefix(self) -> str:
        """The folder of the index within its repository, with a slash at its end."""
        first, *others = self._index.place.parts
        if others:
            return ""
        root = first.root
        top = top_of(root)
        return f"{root.relative_to(top).as_posix()}/" if top is not None and top != root else ""

    def _touch(self, file: int, touched: Touched) -> None:
        definitions = self._index.definitions(file)
        rows = list(_rows_touched(definitions, touched, self._index.text(file).split("\n")))
        for row in rows:
            self._add(file, row, definitions[row])
        if not rows and not touched.is_between:
            path = self._index.paths[file]
            key = (path, "", touched.first)
            self._parts.setdefault(key, ChangedPart(path, "", touched.first, touched.last))

    def _add(self, file: int, row: int, definition: Definition, *, is_sure: bool = True) -> None:
        path, name = self._index.paths[file], self._index.qualified_name(file, row)
        part = ChangedPart(path, name, definition.start, definition.end, is_sure)
        known = self._parts.get((path, name, definition.start))
        if known is None or (is_sure and not known.is_sure):
            self._parts[path, name, definition.start] = part

    def _by_header(self, file: int, hunk: Hunk) -> bool:
        """Take the one definition that a hunk's header is the beginning of."""
        header = hunk.header.rstrip()
        if len(header) < _LEAST_HEADER:
            return False
        lines = self._index.text(file).split("\n")
        rows = [
            row
            for row, each in enumerate(self._index.definitions(file))
            if each.kind in CODE and lines[each.sig_start - 1].strip().startswith(header)
        ]
        if len(rows) == 1:
            self._add(file, rows[0], self._index.definitions(file)[rows[0]], is_sure=False)
        return len(rows) == 1

    def _find_gone(self, patch: FilePatch, file: int | None, places: Sequence[Placed | None]) -> None:
        """Take the names that one side of a file defines and the other does not."""
        found = self._difference(patch, file, places)
        if found is None:
            self._find_gone_by_lines(patch, () if file is None else self._index.definitions(file))
            return
        self._added.update((each.name, _shown(patch.path)) for each in found.added)
        successors: dict[Defined, str] = {}
        for hunk in patch.hunks:
            removed, added = ({line.strip() for line in hunk.marked(mark)} for mark in "-+")
            going = [each for each in found.gone if each.text in removed]
            coming = [each for each in found.added if each.text in added]
            if len(going) == len(coming) == 1:
                successors[going[0]] = f"`{coming[0].name}`"
        for each in found.gone:
            gone = GoneName(_shown(patch.old), each.name, successors.get(each, ""), each.owner)
            self._gone.setdefault((patch.old, each.qualified), gone)

    def _difference(
        self, patch: FilePatch, file: int | None, places: Sequence[Placed | None]
    ) -> Difference | None:
        """Return what a patch takes from the names of a file and adds to them, by its grammar.

        None where the side that is not in the tree does not follow from the hunks, or was not read.
        """
        if not any(hunk.marked("-") for hunk in patch.hunks) and patch.new:
            return Difference((), () if file is None or patch.old else self._here(file))
        if file is None:
            text = "\n".join(line for hunk in patch.hunks for line in hunk.marked("-"))
            before = self._read(text, patch.old)
            return None if before is None else difference(before, ())
        if not patch.new:
            return difference(self._here(file), ())
        other = other_side(self._index.text(file), patch, places)
        if other is None:
            return None
        there = self._read(other.text, patch.old if other.is_before else patch.new)
        if there is None:
            return None
        here = self._here(file)
        return difference(there, here) if other.is_before else difference(here, there)

    def _here(self, file: int) -> tuple[Defined, ...]:
        """Return the names that a file of the index defines."""
        bindings = self._index.derived(FileViews)[file].bindings
        return defined_in(self._index.definitions(file), bindings, self._index.text(file))

    def _read(self, text: str, path: str) -> tuple[Defined, ...] | None:
        """Return the names that a source defines which is not in the tree; None where it was not read."""
        from repo_map.indexing.workers import read_source  # noqa: PLC0415 - a new file needs no process to parse in

        if self._reads >= MOST_READ or len(text) > _LONGEST_READ:
            return None
        self._reads += 1
        symbols = read_source(text.encode("utf-8", "replace"), path, self._index.limits)
        if symbols.problems and not symbols.definitions:
            return None
        return defined_in(symbols.definitions, symbols.facts.bindings, text)

    def _find_gone_by_lines(self, patch: FilePatch, definitions: Iterable[Definition]) -> None:
        """Take the names that removed lines define by their look, and neither added lines nor the file."""
        added = [list(_defined(hunk.marked("+"))) for hunk in patch.hunks]
        kept = {name for names in added for name in names}
        before = {name for hunk in patch.hunks for name in _defined(hunk.marked("-"))}
        taken = {name for name in before if name not in kept and name not in self._still(patch, definitions)}
        self._added.update((name, _shown(patch.path)) for name in sorted(kept) if name not in before)
        for hunk, coming in zip(patch.hunks, added, strict=True):
            going = [name for name in _defined(hunk.marked("-")) if name in taken]
            new = [name for name in coming if name not in before]
            for name in dict.fromkeys(going):
                successor = f"`{new[0]}`" if len(going) == len(new) == 1 else ""
                self._gone.setdefault((patch.old, name), GoneName(_shown(patch.old), name, successor))

    def _still(self, patch: FilePatch, definitions: Iterable[Definition]) -> frozenset[str]:
        """Return the names that a file still defines, where the patch is in it already."""
        removed = {line.rstrip() for hunk in patch.hunks for line in hunk.marked("-")}
        file = self._file(patch.new or patch.old)
        if file is None:
            return frozenset()
        lines = self._index.text(file).split("\n")
        return frozenset(
            each.name.rpartition(".")[2]
            for each in definitions
            # One whose line the patch removes is there only until it is applied.
            if lines[each.sig_start - 1].rstrip() not in removed
        )

    def _tell(self, what: str, path: str) -> None:
        self._told.setdefault(what, []).append(path)


def _rows_touched(definitions: Sequence[Definition], touched: Touched, lines: Sequence[str]) -> Iterator[int]:
    """Yield the definitions whose own lines are touched: functions, else what stands right around."""
    functions = [
        row
        for row, each in enumerate(definitions)
        if each.kind in FUNCTIONS and not _is_within_function(definitions, row)
    ]
    found = [row for row in functions if _holds(definitions[row], touched, lines)]
    yield from found
    covered = [(definitions[row].start, definitions[row].end) for row in found]
    if any(first <= touched.first and touched.last <= last for first, last in covered):
        return
    others = [
        row
        for row, each in enumerate(definitions)
        if each.kind in CODE | MEMBERS
        and each.kind not in FUNCTIONS
        and each.start <= touched.first
        and touched.last <= each.end
        and not _is_within_function(definitions, row)
    ]
    if others and not found:
        yield min(others, key=lambda row: (definitions[row].end - definitions[row].start, row))
    if not found and not touched.is_between:
        yield from (
            row
            for row, each in enumerate(definitions)
            if each.kind in TYPES | MEMBERS
            and touched.first <= each.start
            and each.end <= touched.last
            and row not in others
            and not _is_within_function(definitions, row)
        )


def _holds(definition: Definition, touched: Touched, lines: Sequence[str]) -> bool:
    if not touched.is_between:
        return definition.start <= touched.last and touched.first <= definition.end
    if definition.start <= touched.first and touched.last <= definition.end:
        return True
    # What comes in behind a function's last line belongs to it where it is indented as its body is.
    head = lines[definition.sig_start - 1]
    return touched.first == definition.end and touched.indent > len(head) - len(head.lstrip())


def _is_within_function(definitions: Sequence[Definition], row: int) -> bool:
    parent = definitions[row].parent
    while parent >= 0:
        if definitions[parent].kind in FUNCTIONS:
            return True
        parent = definitions[parent].parent
    return False


def _defined(lines: Iterable[str]) -> Iterator[str]:
    """Yield the names that lines define."""
    for line in lines:
        found = _DEFINED.match(line[:1_000]) or _MEMBER.match(line[:400])
        if found is not None and len(found["name"]) <= _LONGEST_NAME:
            yield found["name"]


def _marks(lines: Sequence[str]) -> int:
    """Return how many lines of a hunk are removed or added."""
    return sum(line[0] != " " for line in lines)


def _shown(path: str) -> str:
    """Return a path that somebody else wrote, as it may be told."""
    told = one_line(mask_text(path))
    return told if len(told) <= _LONGEST_NAME else f"{told[: _LONGEST_NAME - 1]}…"


def _listed(paths: Sequence[str]) -> str:
    named = ", ".join(f"`{path}`" for path in paths[:_MOST_NAMED])
    return named if len(paths) <= _MOST_NAMED else f"{named} and {len(paths) - _MOST_NAMED:,} more"


def _counted(hunks: int) -> str:
    return counted(hunks, "change")
