"""Outlines: the definitions of a file with their lines, or the files of a folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from repo_map.languages.kinds import FUNCTIONS
from repo_map.lookup.locations import (
    Answer,
    Location,
    definition_at,
    has_text,
    is_left_out,
    make_page,
    nothing_excluded,
)
from repo_map.lookup.names import files_named, find_definitions, find_files
from repo_map.lookup.requests import LookupRequestError
from repo_map.messages import one_line, plural
from repo_map.text.tokens import count

if TYPE_CHECKING:
    from repo_map.index.index import Index

MAX_TOKENS: Final = 1_000
_MAX_SIGNATURE_CHARS: Final = 110


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
    lines = _lines(index, file)
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


def _lines(index: Index, file: int) -> list[tuple[int, str]]:
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
    lines = _lines(index, file)
    end = index.sources.text(file).count("\n") + 1
    head = f"{path} ({plural(end, 'line')}, {plural(len(lines), 'definition')})"
    rows = range(len(lines))
    page = make_page(rows, lambda row, _: (lines[row][1],), MAX_TOKENS, cursor=cursor, head=head)
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
    page = make_page([*folders, *own], lambda _, entry: (entry,), MAX_TOKENS, head=head)
    more = [f"… {len(page.rest)} more; name a folder of it"] if page.rest else []
    return Answer("\n".join((*page.texts, *more)), tuple(locations))
