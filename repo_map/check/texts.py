"""Text that names what is gone: paths of files in strings, and names in documents."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from repo_map.impact.findings import Finding, FindingKind
from repo_map.impact.sides import Sides
from repo_map.messages import one_line
from repo_map.relations.model import Confidence, Place, Relation
from repo_map.relations.named_files import named_files_of
from repo_map.relations.text_search import files_with
from repo_map.sources.file_kinds import tells_of_today

_TELLING: Final = re.compile(r"_|[a-z][A-Z]|\d")
"""What a name has that no word of a language has."""
_LEAST: Final = 5
_MOST_NAMES: Final = 60


def texts_naming_gone(sides: Sides, told: Sequence[Place]) -> Iterator[Finding]:
    """Yield the places; ``told`` are the definitions that are gone."""
    yield from _files(sides)
    yield from _documents(sides, told)


def _files(sides: Sides) -> Iterator[Finding]:
    """Yield strings that name a file which is gone or renamed."""
    for each in sides.files:
        if not each.old or each.old == each.new:
            continue
        before = sides.before.index.file_id(each.old)
        if before is None:
            continue
        now = f"name {each.new}" if each.new else "take it out, or bring the file back"
        for use in named_files_of(sides.before.index).naming(before):
            if use.confidence is Confidence.RESOLVED and (at := _stayed(sides, use)):
                name = each.old.rpartition("/")[2]
                if name in sides.after.line(*at):
                    why = f"it is {one_line(each.new)} now" if each.new else "it is gone"
                    yield _finding(
                        sides, at, each.old, f"it names the file {one_line(each.old)}, and {why}", now
                    )


def _documents(sides: Sides, gone: Sequence[Place]) -> Iterator[Finding]:
    """Yield lines of documents that name a definition which is gone, by a name that is no word."""
    after, before = sides.after.index, sides.before.index
    names: dict[str, Place] = {}
    for place in gone:
        name = sides.before.name(place)
        is_defined = bool(sides.after.namesakes(name))
        if (
            len(name) >= _LEAST
            and _TELLING.search(name.strip("_"))
            and not is_defined
            and not name.startswith("_")
        ):
            names.setdefault(name, place)
    if not names or len(names) > _MOST_NAMES:
        return
    all_gone = frozenset(gone)
    pattern = re.compile(rf"(?<![\w$-])(?:{'|'.join(map(re.escape, names))})(?![\w$-])")
    for file in files_with(after, tuple(names)):
        if not tells_of_today(after.paths[file]):
            continue
        text = after.text(file)
        if pattern.search(text) is None:
            continue
        named = {name for name, place in names.items() if _is_of_named(sides, place, all_gone, text)}
        for line, written in enumerate(text.split("\n"), 1):
            for found in pattern.finditer(written):
                if found[0] not in named:
                    continue
                place = names[found[0]]
                home = before.paths[place[0]]
                told = f"it names `{one_line(before.qualified_name(*place))}`, which is gone from {home}"
                yield _finding(
                    sides, (file, line), before.qualified_name(*place), told, "write what is there now"
                )


def _is_of_named(sides: Sides, place: Place, gone: Collection[Place], text: str) -> bool:
    """Tell whether a text may mean a definition: of a member that went with its class, it names that too."""
    index, (file, row) = sides.before.index, place
    owner = index.definitions(file)[row].parent
    return (file, owner) not in gone or sides.before.name((file, owner)) in text


def _stayed(sides: Sides, use: Relation) -> tuple[int, int] | None:
    """Return where a use stands now; None where its line was edited."""
    file = sides.file_after(use.source[0])
    line = sides.line_after(use.source[0], use.line)
    return (file, line) if file is not None and line else None


def _finding(sides: Sides, at: tuple[int, int], name: str, message: str, action: str) -> Finding:
    path = sides.after.index.paths[at[0]]
    return Finding(FindingKind.TEXT, path, at[1], "", name, message, action, is_sure=True)
