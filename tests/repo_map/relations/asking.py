"""Small trees of files, and what is asked of their relations."""

from __future__ import annotations

from pathlib import Path

from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.relations.model import Confidence, Place, Relation
from repo_map.relations.resolve import relations_of

Files = dict[str, str]


def index_of(root: Path, files: Files) -> Index:
    """Write files below a folder and index it."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return build_index(root, store=Store(None), workers=1)


def place_of(index: Index, name: str) -> Place:
    """Return the first definition that ``path:Qualified.name`` names."""
    path, _, qualified = name.partition(":")
    file = index.paths.index(path)
    return next(
        (file, row)
        for row in range(len(index.definitions(file)))
        if index.qualified_name(file, row) == qualified
    )


def lines_of(index: Index, relations: tuple[Relation, ...]) -> list[str]:
    """Return where relations stand, as ``path:line``."""
    return [f"{index.paths[each.source[0]]}:{each.line}" for each in relations]


def callers(root: Path, files: Files, name: str, least: Confidence = Confidence.RESOLVED) -> list[str]:
    """Return the lines that call a definition."""
    index = index_of(root, files)
    return lines_of(index, relations_of(index).callers_of(place_of(index, name), least))


def uses(root: Path, files: Files, name: str) -> list[str]:
    """Return the lines that use a definition, calls included."""
    index = index_of(root, files)
    return lines_of(index, relations_of(index).uses_of(place_of(index, name)))
