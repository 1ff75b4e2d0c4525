"""Which columns an index has, whose rows they are, and whose ids they hold."""

from __future__ import annotations

from typing import NamedTuple


class Column(NamedTuple):
    """What splicing and storing need to know of one array."""

    name: str
    """Group and field: ``symbols.name``."""
    dtype: str
    space: str
    """Whose rows it has."""
    vocabulary: str = ""
    """Whose ids it holds, if any."""
    width: int = 1


class Space(NamedTuple):
    """A kind of row, and the column of offsets that says which of them belong to a row of its parent."""

    name: str
    parent: str
    offsets: str


VOCABULARIES = ("languages", "kinds", "strings", "terms", "messages")
SPACES = (
    Space("symbols", "files", "symbols.file_start"),
    Space("references", "files", "references.file_start"),
    Space("imports", "files", "imports.file_start"),
    Space("import_names", "imports", "imports.name_start"),
    Space("units", "files", "units.file_start"),
    Space("postings", "units", "postings.unit_start"),
    Space("notes", "files", "notes.file_start"),
)
COLUMNS = (
    Column("files.size", "<i8", "files"),
    Column("files.lines", "<i4", "files"),
    Column("files.language", "|u1", "files", "languages"),
    Column("files.flags", "|u1", "files"),
    Column("files.digest", "|u1", "files", width=16),
    Column("symbols.name", "<i4", "symbols", "strings"),
    Column("symbols.kind", "|u1", "symbols", "kinds"),
    *(
        Column(f"symbols.{field}", "<i4", "symbols")
        for field in ("parent", "start", "end", "sig_start", "sig_end", "doc_start", "doc_end")
    ),
    Column("references.name", "<i4", "references", "strings"),
    Column("references.definition", "<i4", "references"),
    Column("references.count", "<i4", "references"),
    Column("imports.module", "<i4", "imports", "strings"),
    Column("imports.line", "<i4", "imports"),
    Column("imports.name", "<i4", "import_names", "strings"),
    Column("units.start", "<i4", "units"),
    Column("units.end", "<i4", "units"),
    Column("units.definition", "<i4", "units"),
    Column("units.kind", "|u1", "units"),
    Column("units.length", "<i4", "units"),
    Column("postings.term", "<i4", "postings", "terms"),
    Column("postings.field", "|u1", "postings"),
    Column("postings.count", "|u1", "postings"),
    Column("costs.levels", "<i4", "files", width=5),
    Column("costs.definitions", "<i4", "symbols", width=3),
    Column("notes.message", "<i4", "notes", "messages"),
)
