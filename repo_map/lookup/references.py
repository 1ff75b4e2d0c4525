"""References: who calls, uses, reads, writes, overrides, implements or tests a symbol, and what it calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import re2

from repo_map.languages.kinds import FUNCTIONS, TEXT, TYPES
from repo_map.languages.registry import kin_of
from repo_map.lookup.locations import (
    Answer,
    FileLocations,
    Location,
    TextBudget,
    definition_at,
    describe,
    find_definitions,
    find_files,
    listed_elsewhere,
    listed_files,
    numbered,
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


def find_references(
    index: Index, request: References, is_excluded: Callable[[str], bool] | None = None
) -> Answer:
    """Return what stands in a relation to a symbol: what is resolved first, then what its name alone says.

    Raises:
        LookupRequestError: the kind or the cursor is none, or nothing has the symbol's name.
    """
    if request.kind not in KINDS:
        raise LookupRequestError(f"`kind` is `{one_line(request.kind)}`; give one of {', '.join(KINDS)}.")
    if request.cursor and not (request.cursor.isascii() and request.cursor.isdigit()):
        raise LookupRequestError(
            f"`cursor` is `{one_line(request.cursor)}`; send the one that the answer gave."
        )
    places = resolve_symbol(index, request.symbol)
    if request.kind == "definition":
        return _definitions(index, request, places, is_excluded)
    with relations_of(index).asking() as question:
        entries = list(_FINDERS[request.kind](index, request, places))
        further = []
        if request.kind == "callers" and not entries and (entries := list(_uses(index, request, places))):
            further.append("Nothing calls it by its name; these are its other uses.")
        incomplete = question.limitation
    if not places and not entries:
        raise LookupRequestError(unknown(index, request.symbol))
    wants_tests = request.include_tests or request.kind == "tests"
    selected, tests = [], 0
    for entry in _merged(entries):
        path = index.paths[entry.location.file]
        if is_excluded and is_excluded(path):
            continue
        if index.files.is_test(entry.location.file) and not wants_tests:
            tests += 1
        else:
            selected.append(entry)
    selected.sort(key=lambda entry: (not entry.is_resolved, trust(index, entry.location.file)))
    if tests:
        further.append(f"Left out: {tests} in tests (include_tests: true).")
    further += filter(None, [incomplete])
    return _rendered(index, request, places, selected, further)


def resolve_symbol(index: Index, symbol: str) -> list[Place]:
    """Return the definitions of a name, ``path:name`` or ``path:line``; of a path its file, as row -1."""
    written = symbol.strip()
    path, colon, rest = written.rpartition(":")
    if colon and not path.endswith(":"):
        try:
            files = set(find_files(index, path))
        except LookupRequestError:
            files = set()
        if files:
            line = re.match(r"L?(\d+)", rest)
            if line is not None:
                file = min(files)
                row = FileLocations(index, file).row_at(int(line[1]))
                return [(file, row)] if row >= 0 else []
            return [place for place in find_definitions(index, rest) if place[0] in files]
    found = re.fullmatch(r"(\S+) \(([^()]+)\)", written)
    if found is not None:
        return resolve_symbol(index, f"{found[2]}:{found[1]}")
    found_definitions = find_definitions(index, written)
    if found_definitions or not ("." in written or "/" in written):
        return found_definitions
    try:
        files = set(find_files(index, written))
    except LookupRequestError:
        return []
    return [(files.pop(), -1)] if len(files) == 1 else []


def _definitions(
    index: Index,
    request: References,
    places: Sequence[Place],
    is_excluded: Callable[[str], bool] | None,
) -> Answer:
    if is_excluded:
        places = [place for place in places if not is_excluded(index.paths[place[0]])]
    if not places:
        entries = _merged(_by_name(index, _leaf(request.symbol), places))
        if is_excluded:
            entries = [each for each in entries if not is_excluded(index.paths[each.location.file])]
        if not entries:
            raise LookupRequestError(unknown(index, request.symbol))
        locations = [entry.location for entry in entries]
        where = listed_elsewhere(index, locations)
        text = f"`{one_line(request.symbol)}` is no definition; it occurs in {where}."
        return Answer(text, tuple(locations[:4]))
    first = int(request.cursor or 0)
    budget = TextBudget(MAX_TOKENS)
    found = []
    for place in places[first : first + MAX_ENTRIES]:
        location = definition_at(index, place)
        definition = index.definitions(place[0])[place[1]]
        lines = index.sources.text(place[0]).split("\n")
        head = lines[definition.sig_start - 1] if definition.sig_start <= len(lines) else ""
        if not budget.add(f"{describe(index, location)}\n{numbered(definition.sig_start, head)}"):
            break
        found.append(location)
    left = len(places) - first - len(found)
    cursor = str(first + len(found)) if left else ""
    rest = [f'{plural(left, "more definition")}; continue with cursor "{cursor}".'] if left else []
    return Answer("\n".join((*budget.parts, *rest)), tuple(found), cursor)


def _leaf(symbol: str) -> str:
    """Return the last name of what is written: ``addName`` of ``_symbols.addName``."""
    text = re.sub(r" \([^()]*\)$", "", symbol.strip())
    return plain_name(text.rpartition(":")[2] if "::" not in text else text).rpartition(".")[2]


def _callers(index: Index, request: References, places: Sequence[Place]) -> Iterator[_Entry]:
    relations = relations_of(index)
    for place in places[:_MAX_SYMBOLS]:
        yield from _of_file(index, place)
        if place[1] >= 0 and relations.knows(place[0]):
            is_function = index.definitions(place[0])[place[1]].kind in (*FUNCTIONS, *TYPES)
            ask = relations.callers_of if is_function else relations.uses_of
            found = ask(place, Confidence.LIKELY)
            yield from _sources(index, found)
    yield from _by_name(index, _leaf(request.symbol), places, after=_CALLED if places else "")


def _uses(index: Index, request: References, places: Sequence[Place]) -> Iterator[_Entry]:
    relations = relations_of(index)
    for place in places[:_MAX_SYMBOLS]:
        yield from _of_file(index, place)
        if place[1] >= 0:
            yield from _sources(index, relations.uses_of(place, Confidence.LIKELY))
    yield from _by_name(index, _leaf(request.symbol), places)


def _callees(index: Index, request: References, places: Sequence[Place]) -> Iterator[_Entry]:
    relations = relations_of(index)
    for place in places[:_MAX_SYMBOLS]:
        named = [
            each for each in file_references_of(index).used_in(place) if each.confidence >= Confidence.LIKELY
        ]
        for each in (*named, *(relations.imports_of(place[0]) if place[1] < 0 else ())):
            yield _Entry(definition_at(index, each.target), (), each.confidence is Confidence.RESOLVED)
        if place[1] < 0:
            continue
        for each in relations.used_in(place, Confidence.LIKELY):
            if each.target[1] >= 0 and each.kind in _USED:
                is_resolved = each.confidence is Confidence.RESOLVED
                yield _Entry(definition_at(index, each.target), (), is_resolved)
        if not relations.knows(place[0]):
            yield from _called_by_name(index, place)


def _called_by_name(index: Index, place: Place) -> Iterator[_Entry]:
    """Yield the definitions of names that are called in a definition of a language without a resolver."""
    definition = index.definitions(place[0])[place[1]]
    body = index.sources.text(place[0]).split("\n")[definition.start - 1 : definition.end]
    names = dict.fromkeys(re.findall(r"\b([A-Za-z_]\w{2,})\s*\(", "\n".join(body)))
    for name in names:
        found = [each for each in find_definitions(index, name) if each != place]
        if len(found) == 1:
            yield _Entry(definition_at(index, found[0]), (), is_resolved=False)


def _accesses(*, writes: bool) -> Callable[[Index, References, Sequence[Place]], Iterator[_Entry]]:
    def find(index: Index, request: References, places: Sequence[Place]) -> Iterator[_Entry]:
        name = _leaf(request.symbol)
        writer = _written(name)
        for entry in _uses(index, request, places):
            lines = index.sources.text(entry.location.file).split("\n")
            written = {line for line in entry.lines if writer.search(lines[line - 1][:_MAX_LINE_CHARS])}
            chosen = tuple(line for line in entry.lines if (line in written) == writes)
            if chosen:
                yield entry._replace(lines=chosen)

    return find


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


def _overrides(index: Index, _request: References, places: Sequence[Place]) -> Iterator[_Entry]:
    relations = relations_of(index)
    for place in places[:_MAX_SYMBOLS]:
        for each in relations.overrides_of(place):
            yield _Entry(definition_at(index, each.target), (), is_resolved=True)
        for each in relations.overridden_by(place):
            yield _Entry(definition_at(index, each.source), (), is_resolved=True)


def _implementations(index: Index, request: References, places: Sequence[Place]) -> Iterator[_Entry]:
    relations = relations_of(index)
    for place in places[:_MAX_SYMBOLS]:
        kind = index.definitions(place[0])[place[1]].kind if place[1] >= 0 else ""
        if kind in FUNCTIONS:
            yield from _overrides(index, request, [place])
            continue
        for other in (*relations.classes_above(place), *relations.classes_below(place)):
            yield _Entry(definition_at(index, other), (), is_resolved=True)


def _tests(index: Index, request: References, places: Sequence[Place]) -> Iterator[_Entry]:
    relations = relations_of(index)
    for place in places[:_MAX_SYMBOLS]:
        if place[1] >= 0:
            yield from _sources(index, relations.tests_reaching(place))
        for entry in _of_file(index, place):
            yield entry
            if entry.location.row >= 0:
                source = (entry.location.file, entry.location.row)
                yield from _sources(index, relations.tests_reaching(source))
    for entry in _by_name(index, _leaf(request.symbol), places):
        if index.files.is_test(entry.location.file):
            yield entry


def _similar(index: Index, request: References, places: Sequence[Place]) -> Iterator[_Entry]:
    """Yield what has the same name, error code or string key in another file."""
    leaf = _leaf(request.symbol)
    own = {place[0] for place in places[:1]}
    for place in find_definitions(index, leaf):
        if place[0] not in own and place not in places[:1]:
            yield _Entry(definition_at(index, place), (), is_resolved=True)
    if not places:
        yield from _by_name(index, leaf, places)


def _of_file(index: Index, place: Place) -> Iterator[_Entry]:
    """Yield what names or imports a file, where a whole file is meant."""
    if place[1] >= 0:
        return
    naming = (
        each
        for each in file_references_of(index).references_to(place[0])
        if each.confidence >= Confidence.LIKELY
    )
    yield from _sources(index, naming)
    yield from _sources(index, relations_of(index).importers_of(place[0]))


def _sources(index: Index, relations: Iterable[Relation]) -> Iterator[_Entry]:
    for each in relations:
        location = definition_at(index, each.source)
        if each.source[1] < 0:
            location = FileLocations(index, each.source[0]).at(each.line)
        yield _Entry(location, (each.line,), each.confidence is Confidence.RESOLVED)


def _by_name(index: Index, name: str, places: Sequence[Place], after: str = "") -> Iterator[_Entry]:
    """Yield the occurrences of a name in code, which nothing resolved."""
    if not _WORD.fullmatch(name) or len(name) < 2 or any(row < 0 for _, row in places):
        return
    relations = relations_of(index)
    kinds = {index.definitions(file)[row].kind for file, row in places if row >= 0}
    is_followed = bool(places) and all(relations.knows(file) for file, _ in places) and not kinds & TEXT
    pattern = rf"\b{re2.escape(name)}\b{after}"
    seen = 0
    kin = {kin_of(index.language(file)) for file, _ in places}
    for file, lines in hits_of(index, pattern):
        is_other = bool(kin) and kin_of(index.language(file)) not in kin
        if is_other or trust(index, file) == 2 or (is_followed and len(places) > 1):
            continue
        locations = FileLocations(index, file)
        imported = {each.line for each in index.imports(file)}
        # A namesake's definition is no use of this one.
        declared = {each.sig_start for each in index.definitions(file) if places and each.name == name}
        for line in lines:
            location = locations.at(line)
            is_import = not location.kind and location.first in imported
            if is_import or line in declared:
                continue
            seen += 1
            if seen > _MAX_SCANNED:
                return
            yield _Entry(location, (line,), is_resolved=False)


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
            found[key] = known._replace(lines=lines, is_resolved=known.is_resolved or entry.is_resolved)
    return list(found.values())


def _rendered(
    index: Index,
    request: References,
    places: Sequence[Place],
    entries: Sequence[_Entry],
    further: Sequence[str],
) -> Answer:
    first = int(request.cursor or 0)
    what = f"{request.kind} of `{one_line(request.symbol)}`"
    budget = TextBudget(MAX_TOKENS)
    shown: list[Location] = []
    is_marked = False
    waiting = entries[first : first + MAX_ENTRIES]
    for entry in waiting:
        parts = [describe(index, entry.location)]
        if not entry.is_resolved and not is_marked and request.kind != "similar":
            parts.insert(0, "By name only, not resolved:")
            is_marked = True
        lines = index.sources.text(entry.location.file).split("\n")
        parts += [numbered(line, lines[line - 1]) for line in entry.lines[:_MAX_LINES]]
        if len(entry.lines) > _MAX_LINES:
            parts.append(f"      … {plural(len(entry.lines) - _MAX_LINES, 'more line')}")
        if not budget.add("\n".join(parts)):
            break
        shown.append(entry.location)
    rest = entries[first + len(shown) :]
    cursor = str(first + len(shown)) if rest else ""
    notes = []
    if not entries:
        notes.append(f"No {what} found.")
    if rest:
        files = listed_files(index, (entry.location.file for entry in rest))
        notes.append(f'{len(rest)} more in {files}; continue with cursor "{cursor}".')
    if len(places) > _MAX_SYMBOLS:
        others = [definition_at(index, place) for place in places[_MAX_SYMBOLS:]]
        notes.append(
            f"{len(places)} definitions have this name; the first {_MAX_SYMBOLS} were followed. Others:"
            f" {listed_elsewhere(index, others)}. Give `path:name` for one of them."
        )
    return Answer("\n".join((*budget.parts, *notes, *further)), tuple(shown), cursor)


_FINDERS: Final[dict[str, Callable[[Index, References, Sequence[Place]], Iterator[_Entry]]]] = {
    "callers": _callers,
    "callees": _callees,
    "uses": _uses,
    "readers": _accesses(writes=False),
    "writers": _accesses(writes=True),
    "overrides": _overrides,
    "implementations": _implementations,
    "tests": _tests,
    "similar": _similar,
}
