"""Read source: definitions, ranges of lines and files, with numbers, in a shared number of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.languages.kinds import CONTAINERS
from repo_map.lookup.locations import (
    Answer,
    FileLocations,
    Location,
    definition_at,
    describe,
    has_text,
    listed_elsewhere,
    nothing_excluded,
    numbered,
)
from repo_map.lookup.names import find_definitions, find_file, parse_name, unknown
from repo_map.lookup.outline import outline_lines
from repo_map.lookup.requests import LookupRequestError, Read, Search
from repo_map.lookup.search import search
from repo_map.messages import first_three, one_line, plural, printable
from repo_map.text.tokens import count

if TYPE_CHECKING:
    from repo_map.index.index import Index

MAX_TARGETS: Final = 4
MAX_TOKENS: Final = 3_000
"""Tokens of one call, shared between its targets (the design's NAVIGATOR page, section 2)."""
_SAME_NAME: Final = 3
"""Definitions of one name that are read; the others are named."""
_SMALL_FILE_LINES: Final = 120
"""Lines of a file or a class that is read whole."""
_HEAD_LINES: Final = 30
"""Lines of a longer one that are read, before its outline."""
_MAX_LITERAL_CHARS: Final = 120
"""Characters of a line in a text or a table, once the room is short."""
_LONG_DOC_LINES: Final = 6


class _Part(NamedTuple):
    """Lines to show, below a header."""

    header: str
    file: int
    first: int
    last: int
    docs: tuple[tuple[int, int], ...] = ()
    """Documentation within, as first and last line: shortened first."""
    notes: tuple[str, ...] = ()


def read(
    index: Index,
    request: Read,
    near: Iterable[str] = (),
    is_excluded: Callable[[str], bool] = nothing_excluded,
    tokens: int = MAX_TOKENS,
) -> Answer:
    """Return the source of the targets.

    Args:
        index: what to read from.
        request: the targets.
        near: paths shown before; of several definitions of a name the one nearest to them comes first.
        is_excluded: tells of a path that the user left it out.
        tokens: what the answer may take.

    Raises:
        LookupRequestError: there are no targets or too many, or none of them exists.
    """
    targets = [target.strip() for target in request.targets if target.strip()]
    if not targets:
        raise LookupRequestError(
            "`targets` is empty; give `path:first-last`, a name, `path:name`, or a path."
        )
    if len(targets) > MAX_TARGETS:
        raise LookupRequestError(f"`targets` has {len(targets)} entries; the maximum is {MAX_TARGETS}.")
    parts: list[_Part] = []
    failed: list[str] = []
    locations: list[Location] = []
    for target in targets:
        try:
            found, where = _resolve(index, target, tuple(near))
        except LookupRequestError as error:
            failed.append(str(error))
            continue
        parts += (part for part in found if not is_excluded(index.paths[part.file]))
        locations += where
    if not parts:
        raise LookupRequestError(" ".join(failed) or "You left out these files; show one to read it.")
    texts = _fitted(index, parts, tokens, numbers=request.line_numbers)
    return Answer("\n\n".join((*texts, *failed)), tuple(locations))


def resolve_target(index: Index, target: str, near: Iterable[str] = ()) -> list[Location]:
    """Return the locations that a target names: lines, a file, or the definitions of a name, at most one.

    Args:
        index: where to look.
        target: ``path:first-last``, ``path:name``, a name, or a path.
        near: paths; of several definitions of a name the nearest to them is meant.

    Raises:
        LookupRequestError: it names nothing; says which names are nearest.
    """
    file = find_file(index, target)
    if file is not None and has_text(index, file):
        return [Location(file, 1, max(1, int(index.files.lines[file])))]
    return _resolve(index, target, tuple(near))[1][:1]


def _resolve(index: Index, target: str, near: Sequence[str]) -> tuple[list[_Part], list[Location]]:
    name, files, lines = parse_name(index, target)
    if lines is not None:
        if len(files) > 1:
            where = first_three([one_line(index.paths[file]) for file in files])
            raise LookupRequestError(f"`{one_line(target)}` may be in {where}; give the whole path.")
        return _lines(index, files[0], *lines, target)
    file = None if files else find_file(index, target)
    if file is not None:
        return _whole_file(index, file)
    found = [definition_at(index, place) for place in find_definitions(index, name, near)]
    if files:
        if within := [each for each in found if each.file in files]:
            return _definitions(index, within, ())
        return _by_text(index, name, index.paths[min(files)])
    if found:
        return _definitions(index, found[:_SAME_NAME], found[_SAME_NAME:])
    return _by_text(index, target, "")


def _lines(index: Index, file: int, first: int, last: int, target: str) -> tuple[list[_Part], list[Location]]:
    end = index.sources.text(file).count("\n") + 1
    if not 1 <= first <= last or first > end:
        raise LookupRequestError(
            f"`{one_line(target)}` names no lines: {one_line(index.paths[file])} has {plural(end, 'line')}."
        )
    last = min(last, end)
    inside = [
        definition_at(index, (file, row))
        for row, each in enumerate(index.definitions(file))
        if first <= each.start <= last
    ]
    around = FileLocations(index, file).at(first)
    header = f"{one_line(index.paths[file])}:{first}-{last}"
    if around.name and around.first < first:
        header += f" in {describe(index, around)}"
    notes: tuple[str, ...] = ()
    if len(inside) > 1:
        ranges = ", ".join(f"{each.name.rpartition('.')[2]} {each.first}-{each.last}" for each in inside[:12])
        notes = (f"Definitions: {one_line(ranges)}",)
    part = _Part(header, file, first, last, _docs(index, file, first, last), notes)
    return [part], [Location(file, first, last, around.name, around.kind)]


def _definitions(
    index: Index, found: Sequence[Location], others: Sequence[Location]
) -> tuple[list[_Part], list[Location]]:
    parts = []
    for each in found:
        definition = index.definitions(each.file)[each.row]
        first = min(definition.doc_start or each.first, each.first)
        header, last = describe(index, each), each.last
        notes: tuple[str, ...] = ()
        if each.kind in CONTAINERS and last - first > _SMALL_FILE_LINES:
            last = first + _HEAD_LINES
            header += ", its beginning and its members"
            notes = tuple(outline_lines(index, each.file, 600, below=each.row))
        docs = _docs(index, each.file, first, last)
        parts.append(_Part(header, each.file, first, last, docs, notes))
    if others:
        leaf = found[0].name.rpartition(".")[2]
        note = f"`{one_line(leaf)}` is also defined in {listed_elsewhere(index, others)}."
        parts[-1] = parts[-1]._replace(notes=(*parts[-1].notes, note))
    return parts, list(found)


def _by_text(index: Index, name: str, path: str) -> tuple[list[_Part], list[Location]]:
    """Return the places of a name that is no definition: a setting, a field, an option, a string."""
    if len(name) < 3:
        raise LookupRequestError(unknown(index, name))
    request = Search(name, literal=True, paths=path)
    found = (
        search(index, request).locations
        or search(index, Search(name, literal=True, include_tests=True)).locations
    )
    if not found:
        raise LookupRequestError(unknown(index, name))
    best = found[0]
    last = min(best.last, best.first + _SMALL_FILE_LINES)
    note = f"`{one_line(name)}` is no definition; it occurs in {listed_elsewhere(index, found)}."
    part = _Part(describe(index, best), best.file, best.first, last, (), (note,))
    return [part], [best]


def _whole_file(index: Index, file: int) -> tuple[list[_Part], list[Location]]:
    path = one_line(index.paths[file])
    if not has_text(index, file):
        raise LookupRequestError(
            f"{path} has only its path here: it is binary, a link, or over the size limit."
        )
    end = index.sources.text(file).count("\n") + 1
    if end <= _SMALL_FILE_LINES:
        part = _Part(f"{path} ({plural(end, 'line')})", file, 1, end, _docs(index, file, 1, end))
        return [part], [Location(file, 1, end)]
    outline = outline_lines(index, file, tokens=600)
    beginning = _Part(
        f"{path} ({end} lines), its outline and its beginning",
        file,
        1,
        30,
        _docs(index, file, 1, 30),
        tuple(outline),
    )
    return [beginning], [Location(file, 1, _HEAD_LINES)]


def _docs(index: Index, file: int, first: int, last: int) -> tuple[tuple[int, int], ...]:
    return tuple(
        (each.doc_start, each.doc_end)
        for each in index.definitions(file)
        if each.doc_start and first <= each.doc_start and each.doc_end <= last
    )


def _fitted(index: Index, parts: Sequence[_Part], tokens: int, *, numbers: bool) -> list[str]:
    """Return the texts of the parts; what one leaves of its share of the tokens goes to the others."""
    whole = [_text(index, part, numbers=numbers) for part in parts]
    sizes = [count(text) for text in whole]
    left, shares = tokens, [0] * len(parts)
    waiting = sorted(range(len(parts)), key=lambda at: sizes[at])
    for position, at in enumerate(waiting):
        shares[at] = min(sizes[at], left // (len(waiting) - position))
        left -= shares[at]
    return [
        whole[at] if sizes[at] <= shares[at] else _cut(index, part, shares[at], numbers=numbers)
        for at, part in enumerate(parts)
    ]


def _text(
    index: Index, part: _Part, *, numbers: bool, is_short: bool = False, last: int | None = None
) -> str:
    source = index.sources.text(part.file).split("\n")
    shown: list[str] = []
    end = part.last if last is None else last
    docs = [doc for doc in part.docs if doc[1] - doc[0] >= _LONG_DOC_LINES] if is_short else []
    number = part.first
    while number <= min(end, len(source)):
        line = source[number - 1]
        doc = next((each for each in docs if each[0] + 2 <= number < each[1]), None)
        if doc is not None:
            shown.append(
                f"{'' if not numbers else '      '}… {plural(doc[1] - number, 'line')} of documentation"
            )
            number = doc[1]
            continue
        if is_short and len(line) > _MAX_LITERAL_CHARS:
            line = f"{line[:_MAX_LITERAL_CHARS]}…"
        shown.append(numbered(number, line) if numbers else printable(line.rstrip()))
        number += 1
    if end < part.last:
        path = one_line(index.paths[part.file])
        shown.append(f"… continue with {path}:{end + 1}-{part.last}")
    return "\n".join((part.header, *shown, *part.notes))


def _cut(index: Index, part: _Part, tokens: int, *, numbers: bool) -> str:
    """Return a part with documentation and long lines shortened, then cut at its end, in some tokens."""
    text = _text(index, part, numbers=numbers, is_short=True)
    if count(text) <= tokens:
        return text
    low, high = part.first, part.last - 1
    while low < high:
        middle = (low + high + 1) // 2
        if count(_text(index, part, numbers=numbers, is_short=True, last=middle)) <= tokens:
            low = middle
        else:
            high = middle - 1
    return _text(index, part, numbers=numbers, is_short=True, last=low)
