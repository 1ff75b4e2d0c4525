"""Calls of functions that take other values now, of which nothing that is written tells whether they fit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from repo_map.impact.sides import Side, Sides
from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.registry import kin_of
from repo_map.messages import first_three, one_line, plural
from repo_map.parsing.facts_model import Site
from repo_map.parsing.forms import REST, CallForm, ParameterForm
from repo_map.relations.file_facts import FileViews
from repo_map.relations.model import Place

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex

_OWN: Final = frozenset({"self", "this", "cls", "super", "super()"})
_CALLED: Final = r"((?<![\w.])[A-Z]\w+)?(?:\.|->|::)\s*{}(?=\s*(?:\(|::<))"
_TYPE: Final = re.compile(r"[A-Z]\w+")
_MOST_SEEN: Final = 400
"""Files that bear the name and are looked at, the nearest."""
_MOST_READ: Final = 40
"""Of these, files whose calls are parsed; the others are counted."""


class OpenCalls:
    """Collects them, and tells of them in sentences."""

    def __init__(self, sides: Sides) -> None:
        self._sides, self._after = sides, sides.after
        self._loose: dict[Place, dict[tuple[int, int], None]] = {}
        self._moved: dict[Place, dict[tuple[int, int], None]] = {}
        self._value_uses: dict[Place, dict[tuple[int, int], None]] = {}
        self._unresolved: dict[Place, dict[tuple[int, int], None]] = {}
        self._unread: dict[Place, int] = {}

    def add(self, after: Place, file: int, line: int) -> None:
        """Take a call that its language lets leave values out."""
        self._loose.setdefault(after, {})[file, line] = None

    def add_moved(self, after: Place, file: int, line: int) -> None:
        """Take a call that fits, and whose values reach other parameters than before."""
        self._moved.setdefault(after, {})[file, line] = None

    def add_value_uses(self, after: Place, lines: Iterable[tuple[int, int]]) -> None:
        """Take the uses of a function as a value: what calls it then, and with what, is not looked for."""
        if found := dict.fromkeys(lines):
            self._value_uses[after] = found

    def look(self, after: Place, is_in_doubt: Callable[[int, CallForm], bool]) -> None:
        """Take the calls of a method on what nothing resolves, on lines that stayed as they were."""
        side, name = self._after, self._after.name(after)
        owner = side.index.qualified_name(*after).rpartition(".")[0]
        if not owner:
            return
        family = kin_of(side.language(after[0]))
        named = (each for each in files_naming(side.index, name) if kin_of(side.language(each)) == family)
        files = sorted(named, key=lambda each: nearness(side, after[0], each))
        lines = {file: self._unresolved_lines(file, name, owner) for file in files[:_MOST_SEEN]}
        doubtful = [file for file in lines if lines[file]]
        side.read(doubtful[:_MOST_READ])
        for file in doubtful[:_MOST_READ]:
            for call in side.forms(file).calls:
                is_meant = call.name == name and call.line in lines[file] and call.receiver
                if (
                    is_meant
                    and may_be_of(call.receiver, owner, side.language(file))
                    and is_in_doubt(file, call)
                ):
                    self._unresolved.setdefault(after, {})[file, call.line] = None
        if unread := len(doubtful[_MOST_READ:]) + len(files[_MOST_SEEN:]):
            self._unread[after] = unread

    def sentences(self) -> Iterator[str]:
        """Yield what is left open, a sentence for each function and reason."""
        for after, lines in self._loose.items():
            yield f"{self._stayed(after, lines)}: {self._takes(after)}, and a call may leave values out."
        for after, lines in self._moved.items():
            yield f"{self._stayed(after, lines)}: {self._takes(after)}, and values reach other parameters."
        for after, lines in self._value_uses.items():
            name = one_line(self._after.index.qualified_name(*after))
            where = first_three(nearest(self._after, after[0], lines))
            yield (
                f"`{name}` is passed as a value ({where}): {self._takes(after)}; "
                "check that its caller gives the new arguments."
            )
        for after, lines in self._unresolved.items():
            yield f"{self._stayed(after, lines)} on what nothing resolves: {self._takes(after)}."
        for after, count in self._unread.items():
            name = one_line(self._after.index.qualified_name(*after))
            yield f"{plural(count, 'further file')} may call `{name}`: {self._takes(after)}."

    def _stayed(self, after: Place, lines: Iterable[tuple[int, int]]) -> str:
        near = nearest(self._after, after[0], lines)
        verb = "stays as it was" if len(near) == 1 else "stay as they were"
        calls = plural(len(near), "call")
        return (
            f"{calls} of `{one_line(self._after.index.qualified_name(*after))}` ({first_three(near)}) {verb}"
        )

    def _takes(self, after: Place) -> str:
        index = self._after.index
        taken = ", ".join(each.name for each in self._after.forms_of(after)[0].parameters)
        where = f"{index.paths[after[0]]}:{index.definitions(after[0])[after[1]].sig_start}"
        return f"it takes ({one_line(taken)}) now ({where})"

    def _unresolved_lines(self, file: int, name: str, owner: str) -> set[int]:
        """Return the lines that stayed as they were, where nothing resolves a call behind a dot."""
        index, relations = self._after.index, self._after.relations
        text, language = index.text(file), self._after.language(file)
        called = re.finditer(_CALLED.format(re.escape(name)), text)
        lines = {
            text.count("\n", 0, each.end()) + 1
            for each in called
            if may_be_of(each[1] or "", owner, language)
        }
        lines = {line for line in lines if self._sides.line_before(file, line)}
        for site in index.derived(FileViews)[file].sites if lines else ():
            if site.line in lines and site.name == name:
                meaning = relations.meaning(file, site)
                if meaning.targets or meaning.is_external:
                    lines.discard(site.line)
        return lines


def is_in_doubt(before: tuple[ParameterForm, ...], after: tuple[ParameterForm, ...], call: CallForm) -> bool:
    """Tell whether a call that stayed may mean something else, where calls may leave values out."""
    old, new = [each.name for each in before], [each.name for each in after]
    if old == new:
        return False
    if call.is_open:
        return True
    pairs = enumerate(zip(old, new, strict=False))
    same = next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))
    if same < len(old):
        return call.given > same
    is_asked = any(not each.is_optional and each.kind != REST for each in after[len(old) :])
    return is_asked and call.given <= len(old)


def may_be_of(receiver: str, owner: str, language: str) -> bool:
    """Tell whether what stands before a dot may be an object of a class, as far as its text says."""
    if receiver in _OWN:
        return False
    last = receiver.removesuffix("::").rpartition("::")[2]
    is_type = _TYPE.fullmatch(last) is not None and language != "go"
    return last == owner.rpartition(".")[2] or not (is_type or receiver.endswith("::"))


def is_object_of(side: Side, file: int, site: Site, owner: Place) -> bool:
    """Tell whether what stands before a site's dot is of a class, as another method of it tells."""
    index = side.index
    beside = f"{index.qualified_name(*owner)}."
    for row, each in enumerate(index.definitions(owner[0])):
        if each.kind in FUNCTIONS and index.qualified_name(owner[0], row).startswith(beside):
            probe = site._replace(name=side.name((owner[0], row)))
            if (owner[0], row) in side.relations.meaning(file, probe).targets:
                return True
    return False


def nearest(side: Side, home: int | None, lines: Iterable[tuple[int, int]]) -> list[str]:
    """Return places, ``path:line``, those of a file first, then those of its folder."""
    ordered = sorted(lines, key=lambda at: (nearness(side, home, at[0]), at[1]))
    return [f"{side.index.paths[file]}:{line}" for file, line in ordered]


def nearness(side: Side, home: int | None, file: int) -> tuple[bool, bool, str]:
    """Return what orders files by how near they are to one."""
    paths = side.index.paths
    folder = paths[home].rpartition("/")[0] if home is not None else ""
    return file != home, paths[file].rpartition("/")[0] != folder, paths[file]


def files_naming(index: RepoIndex, name: str) -> Counter[int]:
    """Return how often each file of code bears a name, its definitions aside."""
    table, number = index.references, index.strings.get(name)
    if number is None:
        return Counter()
    rows = np.flatnonzero(table.name == number)
    files = (np.searchsorted(table.file_start, rows, side="right") - 1).tolist()
    counts: Counter[int] = Counter()
    for file, count in zip(files, table.count[rows].tolist(), strict=True):
        counts[file] += count
    return counts
