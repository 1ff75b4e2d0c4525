"""Read source and outlines: definitions, ranges of lines, files and folders, in few tokens."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.languages.kinds import CONTAINERS, FUNCTIONS
from repo_map.lookup.locations import (
    Answer,
    FileLocations,
    Location,
    definition_at,
    describe,
    files_named,
    find_definitions,
    find_file,
    find_files,
    has_text,
    is_left_out,
    listed_elsewhere,
    make_page,
    nothing_excluded,
    numbered,
    parse_name,
    unknown,
)
from repo_map.lookup.requests import LookupRequestError, Read, Search
from repo_map.lookup.search import search
from repo_map.messages import first_three, one_line, plural, printable
from repo_map.text.tokens import count

if TYPE_CHECKING:
    from repo_map.index.index import Index

_MAX_OUTLINE_TOKENS: Final = 1_000
_MAX_SIGNATURE_CHARS: Final = 110
MAX_TARGETS: Final = 4
MAX_TOKENS: Final = 3_000
"""Tokens of one call, shared between its targets (the design's NAVIGATOR page, section 2)."""
_SAME_NAME: Final = 3
"""Definitions of one name that are read; the others are named."""
_SMALL_FILE_LINES: Final = 120
"""Lines of a file or a class that is read whole."""
_SMALL_FILE_TOKENS: Final = 2_400
"""Tokens of a longer file that is read whole all the same: with line numbers it fills a call."""
_MAX_LISTED: Final = 12
"""Definitions of some lines that are named."""
_OUTLINE_TOKENS: Final = 600
_HEAD_LINES: Final = 30
"""Lines of a longer one that are read, before its outline."""
_MAX_LITERAL_CHARS: Final = 120
"""Characters of a line in a text or a table, once the room is short."""
_LONG_DOC_LINES: Final = 6


def outline(
    index: Index, path: str, cursor: str = "", is_excluded: Callable[[str], bool] = nothing_excluded
) -> Answer:
    """Return the definitions of the file, or the files of the folder, that a path names.

    Args:
        index: what is outlined.
        path: a file, a folder, ``""`` for the root, or a name, whose file is meant.
        cursor: what an earlier answer gave to continue it.
        is_excluded: tells of a path that the user left it out.

    Raises:
        LookupRequestError: nothing has that path, or the user left it out.
    """
    shown = [file for file, each in enumerate(index.paths) if not is_excluded(each)]
    wanted = path.strip().removeprefix("./").strip("/")
    if not wanted:
        return _folder(index, "", shown)
    folder = _folder_named(index, wanted)
    if folder:
        inside = [file for file in shown if index.paths[file].startswith(f"{folder}/")]
        return _folder(index, folder, inside)
    named = files_named(index, wanted) or [file for file, _ in find_definitions(index, wanted)]
    file = (named or find_files(index, wanted))[0]
    if is_excluded(index.paths[file]):
        raise LookupRequestError("You left out this file; show it to outline it.")
    return _file(index, file, cursor)


def _folder_named(index: Index, wanted: str) -> str:
    """Return the folder with a path or, where it is only one, with an end of a path; ``""`` for none."""
    if any(path.startswith(f"{wanted}/") for path in index.paths):
        return wanted
    found = {path[: at + 1 + len(wanted)] for path in index.paths if (at := path.find(f"/{wanted}/")) >= 0}
    return found.pop() if len(found) == 1 else ""


def outline_lines(index: Index, file: int, tokens: int, below: int = -1) -> list[str]:
    """Return a line for each definition of a file, or below one of its rows, as deep as the tokens allow."""
    lines = _entries(index, file)
    if below >= 0:
        definitions, inside = index.definitions(file), {below}
        for row in range(below + 1, len(definitions)):
            if definitions[row].parent in inside:
                inside.add(row)
        lines = [lines[row] for row in sorted(inside - {below})]
    for deepest in (99, 1, 0):
        chosen = [line for depth, line in lines if depth <= deepest]
        if count("\n".join(chosen)) <= tokens:
            return chosen
    page = make_page(chosen, lambda _, line: (line,), tokens - 20)
    return [*page.texts, f"… {plural(len(page.rest), 'more definition')}"]


def _entries(index: Index, file: int) -> list[tuple[int, str]]:
    """Return the depth and the line of each definition: range, then the first line of its signature."""
    source = index.sources.text(file).split("\n")
    depths: list[int] = []
    found = []
    for row, each in enumerate(index.definitions(file)):
        depth = depths[each.parent] + 1 if each.parent >= 0 else 0
        depths.append(depth)
        parent = index.definitions(file)[each.parent] if each.parent >= 0 else None
        if parent is not None and parent.kind in FUNCTIONS:
            depth += 1
        text = source[each.sig_start - 1].strip() if each.sig_start <= len(source) else ""
        text = text or index.qualified_name(file, row)
        if len(text) > _MAX_SIGNATURE_CHARS:
            text = f"{text[:_MAX_SIGNATURE_CHARS]}…"
        lines = f"{each.start}" if each.start == each.end else f"{each.start}-{each.end}"
        found.append((depth, f"{'  ' * depth}{lines} {one_line(text)}"))
    return found


def _file(index: Index, file: int, cursor: str) -> Answer:
    path = one_line(index.paths[file])
    if not has_text(index, file):
        return Answer(f"{path} has only its path here: it is binary, a link, or over the size limit.")
    lines = _entries(index, file)
    end = index.sources.text(file).count("\n") + 1
    head = f"{path} ({plural(end, 'line')}, {plural(len(lines), 'definition')})"
    rows = range(len(lines))
    page = make_page(rows, lambda row, _: (lines[row][1],), _MAX_OUTLINE_TOKENS, cursor=cursor, head=head)
    locations = tuple(definition_at(index, (file, row)) for row in page.shown)
    more = [f"… {plural(len(page.rest), 'more definition')}; {page.continued}"] if page.rest else []
    return Answer("\n".join((*page.texts, *more)), locations, page.cursor)


def _folder(index: Index, folder: str, files: list[int]) -> Answer:
    """Return the files directly in a folder with their definitions, and its folders with their files."""
    prefix = f"{folder}/" if folder else ""
    starts = index.symbols.file_start
    own: list[str] = []
    below: dict[str, int] = {}
    locations = []
    for file in files:
        path = index.paths[file]
        name, slash, _ = path[len(prefix) :].partition("/")
        if slash:
            below[f"{prefix}{name}/"] = below.get(f"{prefix}{name}/", 0) + 1
            continue
        number = int(starts[file + 1]) - int(starts[file])
        left_out = " (generated or vendored)" if is_left_out(index, file) else ""
        own.append(f"{one_line(path)} {plural(number, 'definition')}{left_out}")
        locations.append(Location(file, 1, max(1, int(index.files.lines[file]))))
    folders = [f"{one_line(name)} {plural(number, 'file')}" for name, number in sorted(below.items())]
    head = f"{one_line(folder) or 'Repository'}: {plural(len(files), 'file')}"
    page = make_page([*folders, *own], lambda _, entry: (entry,), _MAX_OUTLINE_TOKENS, head=head)
    more = [f"… {len(page.rest)} more; name a folder of it"] if page.rest else []
    return Answer("\n".join((*page.texts, *more)), tuple(locations))


class _Part(NamedTuple):
    """Lines to show, below a header."""

    header: str
    location: Location
    """What is answered with it."""
    first: int
    last: int
    notes: tuple[str, ...] = ()
    inside: str = ""
    """The definitions in it, named where the room is not short."""


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
    for target in targets:
        try:
            parts += _resolve(index, target, tuple(near))
        except LookupRequestError as error:
            failed.append(str(error))
    parts = [part for part in parts if not is_excluded(index.paths[part.location.file])]
    if not parts:
        raise LookupRequestError(" ".join(failed) or "You left out these files; show one to read it.")
    texts = _fitted(index, parts, tokens, numbers=request.line_numbers)
    return Answer("\n\n".join((*texts, *failed)), tuple(part.location for part in parts))


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
    return [part.location for part in _resolve(index, target, tuple(near))[:1]]


def _resolve(index: Index, target: str, near: Sequence[str]) -> list[_Part]:
    name, files, lines = parse_name(index, target)
    if lines is not None:
        if len(files) > 1:
            where = first_three([one_line(index.paths[file]) for file in files])
            raise LookupRequestError(f"`{one_line(target)}` may be in {where}; give the whole path.")
        return [_lines(index, files[0], *lines, target)]
    file = None if files else find_file(index, target)
    if file is not None:
        return [_whole_file(index, file)]
    found = [definition_at(index, place) for place in find_definitions(index, name, near)]
    if files:
        if within := [each for each in found if each.file in files]:
            return _definitions(index, within, ())
        return [_by_text(index, name, index.paths[min(files)])]
    if found:
        return _definitions(index, found[:_SAME_NAME], found[_SAME_NAME:])
    return [_by_text(index, target, "")]


def _lines(index: Index, file: int, first: int, last: int, target: str) -> _Part:
    path, end = one_line(index.paths[file]), index.sources.text(file).count("\n") + 1
    if not 1 <= first <= last or first > end:
        raise LookupRequestError(f"`{one_line(target)}` names no lines: {path} has {plural(end, 'line')}.")
    last = min(last, end)
    around = FileLocations(index, file).at(first)
    within = f" in {describe(index, around)}" if around.name and around.first < first else ""
    inside = [
        f"{each.name.rpartition('.')[2]} {each.start}-{each.end}"
        for each in index.definitions(file)
        if first <= each.start <= last
    ]
    named = f"Definitions: {one_line(', '.join(inside[:_MAX_LISTED]))}" if len(inside) > 1 else ""
    location = Location(file, first, last, around.name, around.kind)
    return _Part(f"{path}:{first}-{last}{within}", location, first, last, inside=named)


def _definitions(index: Index, found: Sequence[Location], others: Sequence[Location]) -> list[_Part]:
    parts = []
    for each in found:
        first = min(index.definitions(each.file)[each.row].doc_start or each.first, each.first)
        part = _Part(describe(index, each), each, first, each.last)
        if each.kind in CONTAINERS and each.last - first > _SMALL_FILE_LINES:
            part = part._replace(
                header=f"{part.header}, its beginning and its members",
                last=first + _HEAD_LINES,
                notes=tuple(outline_lines(index, each.file, _OUTLINE_TOKENS, below=each.row)),
            )
        parts.append(part)
    if others:
        leaf = found[0].name.rpartition(".")[2]
        note = f"`{one_line(leaf)}` is also defined in {listed_elsewhere(index, others)}."
        parts[-1] = parts[-1]._replace(notes=(*parts[-1].notes, note))
    return parts


def _by_text(index: Index, name: str, path: str) -> _Part:
    """Return the place of a name that is no definition: a setting, a field, an option, a string."""
    searches = (Search(name, literal=True, paths=path), Search(name, literal=True, include_tests=True))
    found = next(
        (each for request in searches if len(name) > 2 and (each := search(index, request).locations)), ()
    )
    if not found:
        raise LookupRequestError(unknown(index, name))
    best = found[0]
    note = f"`{one_line(name)}` is no definition; it occurs in {listed_elsewhere(index, found)}."
    last = min(best.last, best.first + _SMALL_FILE_LINES)
    return _Part(describe(index, best), best, best.first, last, (note,))


def _whole_file(index: Index, file: int) -> _Part:
    path = one_line(index.paths[file])
    if not has_text(index, file):
        raise LookupRequestError(
            f"{path} has only its path here: it is binary, a link, or over the size limit."
        )
    text = index.sources.text(file)
    end = text.count("\n") + 1
    if end <= _SMALL_FILE_LINES or count(text) <= _SMALL_FILE_TOKENS:
        return _Part(f"{path} ({plural(end, 'line')})", Location(file, 1, end), 1, end)
    header = f"{path} ({end} lines), its outline and its beginning"
    outline = tuple(outline_lines(index, file, _OUTLINE_TOKENS))
    return _Part(header, Location(file, 1, _HEAD_LINES), 1, _HEAD_LINES, outline)


def _fitted(index: Index, parts: Sequence[_Part], tokens: int, *, numbers: bool) -> list[str]:
    """Return the texts of the parts; what one leaves of its share of the tokens goes to the others."""
    whole = [_text(index, part, numbers=numbers) for part in parts]
    if sum(map(count, whole)) <= tokens:
        return whole
    short = [_text(index, part, numbers=numbers, is_short=True) for part in parts]
    sizes = [count(text) for text in short]
    left = tokens - len(parts)
    # From the smallest on: what it does not need is shared by those that are cut.
    for position, at in enumerate(sorted(range(len(parts)), key=lambda at: sizes[at])):
        share = left // (len(parts) - position)
        if count(whole[at]) > share:
            is_fitting = sizes[at] <= share
            whole[at] = short[at] if is_fitting else _cut(index, parts[at], share, numbers=numbers)
        left -= count(whole[at])
    return whole


def _text(
    index: Index, part: _Part, *, numbers: bool, is_short: bool = False, last: int | None = None
) -> str:
    file = part.location.file
    source = index.sources.text(file).split("\n")
    end = part.last if last is None else last
    docs = ((each.doc_start, each.doc_end) for each in index.definitions(file) if each.doc_start)
    hidden = {
        first + 2: last
        for first, last in docs
        if is_short and part.first <= first and first + _LONG_DOC_LINES <= last <= part.last
    }
    """First line of each long documentation that is left out, and the line after it."""
    shown: list[str] = []
    number = part.first
    while number <= min(end, len(source)):
        line = source[number - 1]
        if number in hidden:
            count_hidden = plural(hidden[number] - number, "line")
            shown.append(f"{'      ' if numbers else ''}… {count_hidden} of documentation")
            number = hidden[number]
            continue
        if is_short and len(line) > _MAX_LITERAL_CHARS:
            line = f"{line[:_MAX_LITERAL_CHARS]}…"
        shown.append(numbered(number, line) if numbers else printable(line.rstrip()))
        number += 1
    if end < part.last:
        shown.append(f"… continue with {one_line(index.paths[file])}:{end + 1}-{part.last}")
    inside = [part.inside] if part.inside and not is_short else []
    return "\n".join((part.header, *shown, *part.notes, *inside))


def _cut(index: Index, part: _Part, tokens: int, *, numbers: bool) -> str:
    """Return a part with documentation and long lines shortened, cut at its end to some tokens."""

    def until(last: int) -> str:
        return _text(index, part, numbers=numbers, is_short=True, last=last)

    lines = range(part.first, max(part.last, part.first + 1))
    # As many lines as fit, at least one.
    fitting = bisect_right(lines, tokens, lo=1, key=lambda last: count(until(last)))
    return until(lines[fitting - 1])
