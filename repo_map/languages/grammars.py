"""The grammar, parser and queries of each language, loaded on first use.

Grammars are C code that no check of ours makes safe: only a worker process hands them a repository's bytes.
"""

from __future__ import annotations

import ctypes
import importlib
import re
import threading
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

from tree_sitter import Language as Grammar
from tree_sitter import Parser, Point, Query, QueryError, Tree

from repo_map.deadline import CpuDeadline
from repo_map.languages.registry import language_named
from repo_map.messages import install_command

_PARSE_CHUNK: Final = 65_536
_TEXT_CHUNK: Final = 128
"""Bytes read at a time for the text of one node, as queries with predicates do."""


class GrammarMissingError(Exception):
    """The wheel that carries a language's grammar can't be imported."""


class ParseError(Exception):
    """A grammar could not read a source; the message says why."""


class ParseTimeoutError(ParseError):
    """A grammar did not finish within its deadline."""


@cache
def grammar(language: str) -> Grammar:
    """Load a language's grammar; raises ``GrammarMissingError``."""
    known = language_named(language)
    if not known.has_grammar:
        raise GrammarMissingError(f"{language} is read without a grammar")
    try:
        module = importlib.import_module(known.grammar_module)
        if known.is_extra:
            return module.get_language(known.grammar_name or language)  # type: ignore[no-any-return]
        return Grammar(_capsule(getattr(module, known.grammar_function)()))
    except (ImportError, AttributeError, ValueError, TypeError, RuntimeError) as error:
        remedy = f"run `{install_command('languages')}`"
        if not known.is_extra:
            remedy = f"install {known.grammar_module.replace('_', '-')}"
        raise GrammarMissingError(
            f"the {language} grammar can't be loaded ({error}); {remedy} to read these files"
        ) from error


def _capsule(pointer: object) -> object:
    """Return a grammar as tree-sitter takes it; older wheels give its address."""
    if not isinstance(pointer, int):
        return pointer
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(pointer, b"tree_sitter.Language", None)


_PARSERS: Final = threading.local()
"""Each thread's own parsers by language: one that two threads use at a time crashes the process."""


def parser_for(language: str) -> Parser:
    """Return this thread's parser of a language; raises ``GrammarMissingError``."""
    parsers: dict[str, Parser] = vars(_PARSERS)
    if language not in parsers:
        parsers[language] = Parser(grammar(language))
    return parsers[language]


def parse(source: bytes, language: str, deadline: CpuDeadline) -> Tree:
    """Parse bytes into a syntax tree; raises ``GrammarMissingError`` and ``ParseError``."""
    known = language_named(language)
    if known.refusal is not None and (why := known.refusal(source)):
        raise ParseError(why)
    if known.readable is not None:
        source = known.readable(source)
    parser = parser_for(language)
    chunk = _PARSE_CHUNK

    def read(offset: int, _point: Point) -> bytes:
        # Bytes, not a view: the nodes' text is read through here later, and a view would crash there.
        return source[offset : offset + chunk]

    try:
        tree = parser.parse(read, progress_callback=deadline.is_over)
    except ValueError as error:
        parser.reset()
        raise ParseTimeoutError(
            f"the {language} grammar did not finish within {deadline.seconds:.2g} s of CPU time"
        ) from error
    chunk = _TEXT_CHUNK
    return tree


def compile_query(language: str, text: str) -> Query:
    """Compile a query of tree-sitter's query language; raises ``ValueError`` that names line and column."""
    if not language_named(language).has_grammar:
        raise ValueError(f"{language or 'plain text'} has no grammar, so a query can't be run on it")
    try:
        return Query(grammar(language), text)
    except GrammarMissingError as error:
        raise ValueError(str(error)) from error
    except (QueryError, SyntaxError) as error:
        place = re.sub(
            r"row (\d+)(?:, column (\d+))?",
            lambda at: f"line {int(at[1]) + 1}" + (f", column {int(at[2]) + 1}" if at[2] else ""),
            str(error),
        )
        raise ValueError(f"not a query of the {language} grammar: {place}") from error


def query_files(language: str, name: str) -> tuple[Traversable, ...]:
    """Return the files of a language's query of a name (``symbols``).

    What the language's folder holds, all languages in it have; a subfolder, or a file
    ``symbols-<language>.scm`` in it, adds what is a language's own.
    """
    known = language_named(language)
    folder = resources.files("repo_map").joinpath("languages", known.folder)
    own = folder.joinpath(known.queries or language)
    files = (
        folder.joinpath(f"{name}.scm"),
        *(own.joinpath(f"{name}{end}.scm") for end in ("", f"-{language}")),
    )
    return tuple(each for each in files if each.is_file())


@cache
def query_named(language: str, name: str) -> Query:
    """Return a language's query of a name, one that matches nothing where the language has none.

    ``symbols`` finds definitions and imports, ``facts`` what relations are resolved from, ``signatures``
    parameters and arguments.
    """
    written = (each.read_text(encoding="utf-8") for each in query_files(language, name))
    return compile_query(language, "\n".join(written))


def load(language: str) -> None:
    """Load what reading a language takes; raises ``GrammarMissingError``."""
    parser_for(language)
    query_named(language, "symbols")
