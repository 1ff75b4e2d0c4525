"""References: who calls, uses, reads, writes, overrides, implements or tests a symbol, and what it calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import re2

from repo_map.languages.kinds import FUNCTIONS, TEXT, TYPES
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import kin_of, language_named
from repo_map.lookup.locations import (
    Answer,
    FileLocations,
    Location,
    definition_at,
    describe,
    find_definitions,
    find_symbol,
    listed_elsewhere,
    listed_files,
    make_page,
    nothing_excluded,
    numbered,
    parse_name,
    plain_name,
    trust,
    unknown,
)
from repo_map.lookup.requests import KINDS, LookupRequestError, References
from repo_map.lookup.search import hits_of
from repo_map.messages import one_line, plural
from repo_map.relations.file_references import file_references_of
from repo_map.relations.model import Confidence, Relation, RelationKind
from repo_map.relations.resolve import relations_of

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.relations.model import Place

MAX_ENTRIES: Final = 40
MAX_TOKENS: Final = 2_000
_MAX_SYMBOLS: Final = 4
"""Definitions of one name that are followed together."""
_MAX_LINES: Final = 4
"""Lines listed of one entry."""
_MAX_LINE_CHARS: Final = 1_000
"""Characters of a line in which an assignment is looked for."""
_MAX_SCANNED: Final = 4_000
"""Occurrences of a name that are looked at."""
_USED: Final = (RelationKind.CALL, RelationKind.VALUE, RelationKind.TYPE)
_CALLED: Final = r"\s*(?:\(|<|!|::|\{|$)"
"""What follows a name that is called, constructed or instantiated."""
_WORD: Final = re.compile(r"[\w$-]+")


class _Entry(NamedTuple):
    """A definition or statement that refers to the symbol, or that it refers to."""

    location: Location
    lines: tuple[int, ...]
    is_resolved: bool
    is_text: bool = False
    """Whether only strings and comments name it there."""


def find_references(
    index: Index, request: References, is_excluded: Callable[[str], bool] = nothing_excluded
) -> Answer:
    """Return what stands in a relation to a symbol: what is resolved first, then what its name alone says.

    Raises:
        LookupRequestError: the kind or the cursor is none, or nothing has the symbol's name.
    """
    kind = request.kind
    if kind not in KINDS:
        raise LookupRequestError(f"`kind` is `{one_line(kind)}`; give one of {', '.join(KINDS)}.")
    further: list[str] = []
    with relations_of(index).asking() as question:
        finder = _Finder(index, request.symbol)
        entries = list(_FINDERS[kind](finder))
        if kind == "callers" and not entries and (entries := list(finder.uses())):
            further.append("Nothing calls it by its name; these are its other uses.")
        incomplete = question.limitation
    entries = [each for each in _merged(entries) if not is_excluded(index.paths[each.location.file])]
    if not entries and (not finder.places or kind == "definition"):
        raise LookupRequestError(unknown(index, request.symbol))
    if kind == "definition" and not finder.places:
        where = listed_elsewhere(index, [each.location for each in entries])
        text = f"`{one_line(request.symbol)}` is no definition; it occurs in {where}."
        return Answer(text, tuple(each.location for each in entries[:4]))
    tests = [each for each in entries if index.files.is_test(each.location.file)]
    if tests and not request.include_tests and kind not in ("tests", "definition"):
        further.append(f"Left out: {len(tests)} in tests (include_tests: true).")
        entries = [each for each in entries if each not in tests]
    entries.sort(key=lambda entry: (not entry.is_resolved, entry.is_text, trust(index, entry.location.file)))
    others = finder.places[_MAX_SYMBOLS:] if kind != "definition" else ()
    if others:
        where = listed_elsewhere(index, [definition_at(index, place) for place in others])
        count = len(finder.places)
        further.insert(
            0,
            f"{count} definitions have this name; the first {_MAX_SYMBOLS} were followed. Others:"
            f" {where}. Give `path:name` for one of them.",
        )
    return _rendered(index, request, entries, [*further, *filter(None, [incomplete])])


class _Finder:
    """Finds what refers to a symbol, or what it refers to."""

    def __init__(self, index: Index, symbol: str) -> None:
        self._index = index
        self._relations = relations_of(index)
        self.places = find_symbol(index, symbol.strip())
        """The definitions of the symbol; of a file its row is -1."""
        self._followed = self.places[:_MAX_SYMBOLS]
        name = parse_name(index, symbol.strip()).name
        if not name and self.places and self.places[0][1] >= 0:
            name = index.qualified_name(*self.places[0])
        self._name = plain_name(name).rpartition(".")[2]

    def callers(self) -> Iterator[_Entry]:
        for place in self._followed:
            yield from self._of_file(place)
            if place[1] >= 0 and self._relations.knows(place[0]):
                is_called = self._kind(place) in (*FUNCTIONS, *TYPES)
                ask = self._relations.callers_of if is_called else self._relations.uses_of
                yield from self._sources(ask(place, Confidence.LIKELY))
        yield from self._by_name(after=_CALLED if self.places else "")

    def uses(self) -> Iterator[_Entry]:
        for place in self._followed:
            yield from self._of_file(place)
            if place[1] >= 0:
                yield from self._sources(self._relations.uses_of(place, Confidence.LIKELY))
        yield from self._by_name()

    def readers(self) -> Iterator[_Entry]:
        return self._accesses(writes=False)

    def writers(self) -> Iterator[_Entry]:
        return self._accesses(writes=True)

    def _accesses(self, *, writes: bool) -> Iterator[_Entry]:
        writer = _written(self._name)
        for entry in self.uses():
            lines = self._index.sources.text(entry.location.file).split("\n")
            chosen = [
                line
                for line in entry.lines
                if (writer.search(lines[line - 1][:_MAX_LINE_CHARS]) is not None) == writes
            ]
            if chosen:
                yield entry._replace(lines=tuple(chosen))

    def callees(self) -> Iterator[_Entry]:
        for place in self._followed:
            named = file_references_of(self._index).used_in(place)
            found = [each for each in named if each.confidence >= Confidence.LIKELY]
            if place[1] < 0:
                found += self._relations.imports_of(place[0])
            else:
                used = self._relations.used_in(place, Confidence.LIKELY)
                found += (each for each in used if each.target[1] >= 0 and each.kind in _USED)
            for each in found:
                yield self._entry(each.target, is_resolved=each.confidence is Confidence.RESOLVED)
            if place[1] >= 0 and not self._relations.knows(place[0]):
                yield from self._called_by_name(place)

    def _called_by_name(self, place: Place) -> Iterator[_Entry]:
        """Yield the definitions of names that are called in a definition of a language without a resolver."""
        definition = self._index.definitions(place[0])[place[1]]
        body = self._index.sources.text(place[0]).split("\n")[definition.start - 1 : definition.end]
        for name in dict.fromkeys(re.findall(r"\b([A-Za-z_]\w{2,})\s*\(", "\n".join(body))):
            found = [each for each in find_definitions(self._index, name) if each != place]
            if len(found) == 1:
                yield self._entry(found[0], is_resolved=False)

    def overrides(self) -> Iterator[_Entry]:
        for place in self._followed:
            yield from self._overrides_of(place)

    def _overrides_of(self, place: Place) -> Iterator[_Entry]:
        for each in self._relations.overrides_of(place):
            yield self._entry(each.target)
        for each in self._relations.overridden_by(place):
            yield self._entry(each.source)

    def implementations(self) -> Iterator[_Entry]:
        for place in self._followed:
            if self._kind(place) in FUNCTIONS:
                yield from self._overrides_of(place)
            else:
                yield from map(self._entry, self._relations.classes_above(place))
                yield from map(self._entry, self._relations.classes_below(place))

    def tests(self) -> Iterator[_Entry]:
        reaching = self._relations.tests_reaching
        for place in self._followed:
            if place[1] >= 0:
                yield from self._sources(reaching(place))
            for entry in self._of_file(place):
                yield entry
                if entry.location.row >= 0:
                    yield from self._sources(reaching((entry.location.file, entry.location.row)))
        yield from (each for each in self._by_name() if self._index.files.is_test(each.location.file))

    def similar(self) -> Iterator[_Entry]:
        """Yield what has the same name, error code or string key in another file."""
        own = {place[0] for place in self.places[:1]}
        found = find_definitions(self._index, self._name)
        yield from (self._entry(place) for place in found if place[0] not in own)
        if not self.places:
            yield from self._by_name()

    def definition(self) -> Iterator[_Entry]:
        for place in self.places:
            location = definition_at(self._index, place)
            line = self._index.definitions(place[0])[place[1]].sig_start if place[1] >= 0 else 1
            yield _Entry(location, (line,), is_resolved=True)
        if not self.places:
            yield from self._by_name()

    def _kind(self, place: Place) -> str:
        return self._index.definitions(place[0])[place[1]].kind if place[1] >= 0 else ""

    def _entry(self, place: Place, *, is_resolved: bool = True) -> _Entry:
        return _Entry(definition_at(self._index, place), (), is_resolved)

    def _of_file(self, place: Place) -> Iterator[_Entry]:
        """Yield what names or imports a file, where a whole file is meant."""
        if place[1] < 0:
            naming = file_references_of(self._index).references_to(place[0])
            yield from self._sources(each for each in naming if each.confidence >= Confidence.LIKELY)
            yield from self._sources(self._relations.importers_of(place[0]))

    def _sources(self, relations: Iterable[Relation]) -> Iterator[_Entry]:
        for each in relations:
            location = definition_at(self._index, each.source)
            if each.source[1] < 0:
                location = FileLocations(self._index, each.source[0]).at(each.line)
            yield _Entry(location, (each.line,), each.confidence is Confidence.RESOLVED)

    def _by_name(self, after: str = "") -> Iterator[_Entry]:
        """Yield the occurrences of the name in code, which nothing resolved."""
        index, name, places = self._index, self._name, self.places
        if not _WORD.fullmatch(name) or len(name) < 2 or any(row < 0 for _, row in places):
            return
        is_known = all(self._relations.knows(file) for file, _ in places)
        if len(places) > 1 and is_known and not any(self._kind(place) in TEXT for place in places):
            return
        seen = 0
        kin = {kin_of(index.language(file)) for file, _ in places}
        for file, lines in hits_of(index, rf"\b{re2.escape(name)}\b{after}"):
            if (kin and kin_of(index.language(file)) not in kin) or trust(index, file) == 2:
                continue
            locations = FileLocations(index, file)
            imported = {each.line for each in index.imports(file)}
            # A namesake's definition is no use of this one.
            declared = {each.sig_start for each in index.definitions(file) if places and each.name == name}
            in_code = _lines_in_code(index, file, name)
            for line in lines:
                location = locations.at(line)
                is_import = not location.kind and location.first in imported
                if is_import or line in declared:
                    continue
                seen += 1
                if seen > _MAX_SCANNED:
                    return
                yield _Entry(location, (line,), is_resolved=False, is_text=line not in in_code)


_FINDERS: Final[Mapping[str, Callable[[_Finder], Iterator[_Entry]]]] = {
    kind: getattr(_Finder, kind) for kind in KINDS
}


def _lines_in_code(index: Index, file: int, name: str) -> set[int]:
    """Return the lines of a file that name something outside of strings and comments."""
    language = language_named(index.language(file))
    text = index.sources.text(file)
    if language.role is LanguageRole.CODE:
        text = re.sub(language.literals, lambda found: "\n" * found[0].count("\n"), text)
    word = re.compile(rf"(?<![\w$-]){re.escape(name)}(?![\w$-])")
    return {number for number, line in enumerate(text.split("\n"), 1) if name in line and word.search(line)}


def _written(name: str) -> re.Pattern[str]:
    """Return the pattern of a line that assigns a name: ``=`` and its like, ``++``, a field's value."""
    word = re.escape(name)
    assigned = (
        rf"\b{word}\b[\"'\]]*\s*(?:\[[^\]]*\]\s*)?(?::\s*[\w.<>\[\], |]+)?"
        r"(?:[-+*/%|&^?:]|<<|>>|\|\||&&|\?\?)?=(?![=>])"
    )
    stepped = rf"\b{word}\b\s*(?:\+\+|--)|(?:\+\+|--)\s*[\w.>-]*\b{word}\b"
    field = rf"[{{(,]\s*\.?{word}\s*[:=](?![:=])|^\s*{word}:\s"
    return re.compile(f"{assigned}|{stepped}|{field}")


def _merged(entries: Iterable[_Entry]) -> list[_Entry]:
    """Return each location once with all its lines; what is resolved of it counts."""
    found: dict[tuple[int, int, int], _Entry] = {}
    resolved: set[tuple[int, int]] = set()
    for entry in entries:
        key = entry.location[:3]
        known = found.get(key)
        if entry.is_resolved:
            resolved.update((entry.location.file, line) for line in entry.lines)
        if known is None:
            if not entry.is_resolved:
                left = tuple(line for line in entry.lines if (entry.location.file, line) not in resolved)
                if entry.lines and not left:
                    continue
            found[key] = entry
        else:
            lines = tuple(sorted({*known.lines, *entry.lines}))
            found[key] = known._replace(
                lines=lines,
                is_resolved=known.is_resolved or entry.is_resolved,
                is_text=known.is_text and entry.is_text,
            )
    return list(found.values())


def _rendered(index: Index, request: References, entries: Sequence[_Entry], further: Sequence[str]) -> Answer:
    first = int(request.cursor) if request.cursor.isdigit() else 0

    def heading(entry: _Entry) -> str:
        if entry.is_resolved or request.kind in ("similar", "definition"):
            return ""
        return "In strings and comments:" if entry.is_text else "By name only, not resolved:"

    def forms(at: int, entry: _Entry) -> tuple[str]:
        parts = [describe(index, entry.location)]
        head = heading(entry)
        if head and (at == first or heading(entries[at - 1]) != head):
            parts.insert(0, head)
        lines = index.sources.text(entry.location.file).split("\n")
        parts += [numbered(line, lines[line - 1]) for line in entry.lines[:_MAX_LINES]]
        if len(entry.lines) > _MAX_LINES:
            parts.append(f"      … {plural(len(entry.lines) - _MAX_LINES, 'more line')}")
        return ("\n".join(parts),)

    page = make_page(entries, forms, MAX_TOKENS, cursor=request.cursor, limit=MAX_ENTRIES)
    notes = [] if entries else [f"No {request.kind} of `{one_line(request.symbol)}` found."]
    if page.rest:
        files = listed_files(index, (entry.location.file for entry in page.rest))
        notes.append(f"{len(page.rest)} more in {files}; {page.continued}.")
    locations = tuple(entry.location for entry in page.shown)
    return Answer("\n".join((*page.texts, *notes, *further)), locations, page.cursor)
