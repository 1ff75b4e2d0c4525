"""The record of what is known of one language."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Final, NamedTuple

from repo_map.languages.syntax import LITERALS, Captures, Named, Writing, plain_name

Namer = Callable[[bytes, str, Captures], Named]
"""Source, kind and captures of a match → what it is called; no name, no definition."""
ImportReader = Callable[[str], Iterable[tuple[str, tuple[str, ...]]]]
"""Text of an import statement, its runs of white space made one space or line feed → (module, names)."""


class Found(NamedTuple):
    """A definition before it is nested: byte range with its wrappers, and 0-based rows."""

    start_byte: int
    minus_end_byte: int
    """Negative, so that sorting puts the enclosing one of two that begin together first."""
    name: str
    kind: str
    start: int
    end: int
    sig_start: int
    sig_end: int
    body_byte: int
    """Where the body starts, -1 where there is none."""
    is_global: bool = False
    """Whether it is a definition only outside of functions."""


DocFinder = Callable[[bytes], Callable[[Found], tuple[int, int]]]
"""Source → what tells a find's documentation, as first and last line (1-based), (0, 0) without any."""


class LanguageRole(StrEnum):
    """What a language is written for; relevance looks for code first."""

    CODE = "code"
    DECLARATIONS = "declarations"
    """Infrastructure and schemas: no program, and more than data."""
    MARKUP = "markup"
    DATA = "data"
    PROSE = "prose"


class Structure(StrEnum):
    """How a file's definitions are found."""

    GRAMMAR = "grammar"
    """By the language's grammar and its query ``symbols.scm``."""
    BLOCKS = "blocks"
    """The ``<script>``, ``<style>`` and ``<template>`` that begin a line."""
    HEADINGS = "headings"
    """Markdown's."""
    PLAIN = "plain"
    """By the words that begin a line, in source that no grammar reads."""


class SharedSuffix(NamedTuple):
    """A suffix of another language that is this one's where the beginning of a file tells so."""

    suffix: str
    pattern: bytes
    """What is found in such a beginning; of many lines."""


EXTRA_GRAMMARS: Final = "semble_grammars"
"""The wheel of many grammars that the extra ``languages`` installs."""


class Language(NamedTuple):
    """All that is known of one language: a table of ``languages.toml``, where what is left out is as here.

    Functions are named there as the folder's package or ``syntax`` calls them. Patterns are text and compiled
    on use: every process reads all records, and few read every language.
    """

    name: str
    """As maps, reports and the index show it, in lower case; empty for text in no language."""
    role: LanguageRole = LanguageRole.CODE

    suffixes: tuple[str, ...] = ()
    """Lower-case ends of file names, the dot included; none is another language's."""
    unspoken_suffixes: tuple[str, ...] = ()
    """Suffixes ignored when looking for file names in a goal: rare, or also host name endings (``.ru``)."""
    filenames: tuple[str, ...] = ()
    """Whole file names, in lower case."""
    interpreters: tuple[str, ...] = ()
    """Programs that a first line ``#!`` runs scripts with, without version numbers."""
    shared_suffixes: tuple[SharedSuffix, ...] = ()
    spoken: tuple[str, ...] = ()
    """What users call it besides its name, in lower case."""

    grammar_module: str = ""
    """Import name of the wheel that carries the grammar; empty for a language that needs none."""
    grammar_function: str = "language"
    """The function of that module that gives the grammar."""
    grammar_name: str = ""
    """The language's name in a wheel of many grammars, where it is another one."""
    merges_clauses: bool = False
    """Whether neighbouring definitions of one name are one: the equations of a function in Haskell."""
    refusal: Callable[[bytes], str] | None = None
    """Says why a source would crash the grammar, empty where it would not."""
    readable: Callable[[bytes], bytes] | None = None
    """Returns a source as the grammar can read it, every byte at its place; None for one that reads all."""
    structure: Structure = Structure.GRAMMAR
    scripts: Callable[[bytes], bytes] | None = None
    """Returns the JavaScript in a source, every byte at its place; its definitions stand in the elements."""
    folder: str = ""
    """Its folder in ``repo_map/languages``; set by the registry."""
    queries: str = ""
    """Subfolder of its own queries, where it is not the language's name."""
    family: str = ""
    """The folder with the reader of its facts and the resolver of its names; ``""`` where names are not
    resolved."""
    has_overloads: bool = False
    """Whether one name is several functions, which what they are given tells apart."""
    is_indented: bool = False
    """Whether the white space that a line of code begins with means something."""
    is_guessed: bool = False
    """Whether what its names mean is likely at best: too much of it is left to what is not resolved."""

    namer: Namer = plain_name
    doc_comments: tuple[bytes, ...] = (b"//",)
    """What a line of a comment begins with that documents what stands right below; none in Python."""
    has_block_comments: bool = True
    """Whether ``/* … */`` is such a comment, where there are any."""
    docs: DocFinder | None = None
    """Finds documentation that is no comment above; asked before the comments."""
    imports: ImportReader | None = None
    """None where nothing is imported by name."""

    writing: Writing | None = None
    """How identifiers are separated from comments and strings; None for what refers to nothing."""
    keywords: frozenset[str] = frozenset()
    """Words, and names of what is built in, that refer to nothing in a repository: text, or names of lists in
    ``[words]``."""
    literals: str = LITERALS["c"]
    """Pattern, in one group, of comments and strings where units tell documentation and strings from code; in
    the table a key of ``LITERALS``.

    Coarser than ``writing``: the learnt weights of relevance count on what it finds.
    """
    token_factor: float = 1.0
    """Tokens per estimated token, counted over source in this language."""

    @property
    def spoken_suffixes(self) -> tuple[str, ...]:
        """The suffixes that make a word of a goal a file's name."""
        return tuple(suffix for suffix in self.suffixes if suffix not in self.unspoken_suffixes)

    @property
    def has_grammar(self) -> bool:
        """Whether a grammar is shipped for it, so that queries can be run on it."""
        return bool(self.grammar_module)

    @property
    def is_extra(self) -> bool:
        """Whether its grammar is in the wheel of the extra ``languages``."""
        return self.grammar_module == EXTRA_GRAMMARS


def words(*texts: str) -> frozenset[str]:
    """Return the words of texts, for ``keywords``."""
    return frozenset(" ".join(texts).split())
