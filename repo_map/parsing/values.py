"""The values that one source file is read into."""

from __future__ import annotations

from typing import NamedTuple

from repo_map.languages.registry import language_in
from repo_map.parsing.facts_model import NO_FACTS, FileFacts


class LineRange(NamedTuple):
    """Lines of a file, 1-based and inclusive."""

    first: int
    last: int


class Definition(NamedTuple):
    """One definition or heading; every line number is 1-based and inclusive."""

    name: str
    """The leaf name (``dispatch``), or a heading's text. A member that stands outside its owner's lines
    carries the owner with it: a Go method is ``Router.Serve``, C++'s ``A::f`` is ``A.f``."""
    kind: str
    """One of ``languages.kinds.KINDS``."""
    parent: int
    """Index of the enclosing definition in the same file, -1 at the top; its lines contain this one's."""
    start: int
    """First line: decorators, annotations and ``export``/``template`` wrappers included, comments not."""
    end: int
    sig_start: int
    """First line of the signature proper (``def …``), after decorators."""
    sig_end: int
    """Last line of the signature: a multi-line parameter list is part of it, the body is not."""
    doc_start: int
    """First line of the docstring or of the comment block attached above, 0 where there is none."""
    doc_end: int


class Reference(NamedTuple):
    """A name used in a file."""

    name: str
    definition: int
    """Index of the innermost enclosing definition, -1 at the top."""
    count: int  # type: ignore[assignment]


class Import(NamedTuple):
    """One imported module or header."""

    module: str
    names: tuple[str, ...]
    line: int


class FileSymbols(NamedTuple):
    """Everything the index needs to know of one file's syntax."""

    language: str
    """A key of ``registry.LANGUAGES``, or ``""`` for text without a grammar."""
    definitions: tuple[Definition, ...]
    """In source order; a parent comes before its children."""
    references: tuple[Reference, ...]
    imports: tuple[Import, ...]
    problems: tuple[str, ...]
    """What was left out and why, in words; empty for a file that was read whole."""
    is_hard: bool = False
    """Whether its grammar did not finish in time."""
    facts: FileFacts = NO_FACTS


def without_symbols(source: bytes, path: str, why: str) -> FileSymbols:
    """Return what is known of a source that no grammar reads, and why none does."""
    language = language_in(source, path)
    return FileSymbols(language, (), (), (), (why,) if language else ())
