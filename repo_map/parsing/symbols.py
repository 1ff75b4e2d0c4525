"""Read_symbols: bytes in, FileSymbols out (single-file components included)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from tree_sitter import Node

from repo_map.deadline import CpuDeadline, seconds_for
from repo_map.languages.grammars import GrammarMissingError, ParseError, ParseTimeoutError, load, parse
from repo_map.languages.language import LanguageRole, Structure
from repo_map.languages.registry import language_in, language_named
from repo_map.limits import DEFAULT, Limits
from repo_map.parsing.definitions import DefinitionReader, nest
from repo_map.parsing.facts_model import FileFacts
from repo_map.parsing.facts_reader import find_facts
from repo_map.parsing.markdown import read_headings
from repo_map.parsing.plain_source import read_plain_source
from repo_map.parsing.queries import MAX_DEPTH, scan
from repo_map.parsing.references import find_references
from repo_map.parsing.values import Definition, FileSymbols, Import

_DEEP: Final = MAX_DEPTH // 5
"""Definitions within one another, each at most five levels of syntax."""


def read_code(source: bytes, language: str, deadline: CpuDeadline, max_definitions: int) -> FileSymbols:
    """Read what a language's grammar and query find; a missing grammar or a timeout is reported as a problem.

    It reads a few more than ``max_definitions`` definitions or imports, so that the excess can be reported.
    """
    try:
        deadline.leave_out(lambda: load(language))
        tree = parse(source, language, deadline)
        if (known := language_named(language)).structure is Structure.BLOCKS and known.readable is not None:
            source = known.readable(source)
        reader = DefinitionReader(source, language, max_definitions)
        found = scan(source, tree, language, deadline, reader.take)
        if deadline.is_over():
            raise ParseTimeoutError(f"reading took more than {deadline.seconds:.2g} s of CPU time")
    except (GrammarMissingError, ParseError) as error:
        if isinstance(error, GrammarMissingError):
            plain = read_plain(source, language, max_definitions)
            return plain._replace(problems=(f"{error}; definitions were guessed",))
        message = (f"{error}; no symbols were read",)
        return FileSymbols(language, (), (), (), message, is_hard=isinstance(error, ParseTimeoutError))
    definitions = reader.definitions()
    nested = tuple(nest(definitions, source, language))
    return FileSymbols(
        language,
        nested,
        tuple(find_references(source[: reader.end], definitions, language)),
        tuple(find_imports(source, found.imports, language, max_definitions)),
        _too_deep(nested),
        facts=find_facts(source, tree, language, definitions, deadline),
    )


def read_plain(source: bytes, language: str, max_definitions: int) -> FileSymbols:
    """Read what seems to be definitions where there is no grammar."""
    found = read_plain_source(source, max_definitions)
    references = find_references(source, found, language)
    return FileSymbols(language, tuple(nest(found, source, language)), tuple(references), (), ())


def _too_deep(definitions: Sequence[Definition]) -> tuple[str, ...]:
    """Report definitions nested so deep that inner ones may be missing."""
    depths: list[int] = []
    for definition in definitions:
        depths.append(depths[definition.parent] + 1 if definition.parent >= 0 else 1)
    if (deepest := max(depths, default=0)) < _DEEP:
        return ()
    return (
        f"its definitions are nested {deepest:,} deep; below {MAX_DEPTH} levels of syntax they were not read",
    )


_MAX_STATEMENT_BYTES: Final = 20_000
_SPACES: Final = re.compile(r"\s{2,}+")


def find_imports(source: bytes, nodes: list[Node], language: str, max_definitions: int) -> list[Import]:
    """Read the import statements that a query found; one statement may import several modules.

    Stops once more than ``max_definitions`` modules and names are found.
    """
    reader = language_named(language).imports
    if reader is None:
        return []
    imports: list[Import] = []
    seen: set[int] = set()
    found = 0
    for node in sorted(nodes, key=lambda node: node.start_byte):
        if node.start_byte in seen:
            continue
        seen.add(node.start_byte)
        end = min(node.end_byte, node.start_byte + _MAX_STATEMENT_BYTES)
        text = source[node.start_byte : end].decode("utf-8", "replace")
        # A run of white space says that a line ends, or a word.
        for module, names in reader(_SPACES.sub(lambda run: "\n" if "\n" in run[0] else " ", text)):
            imports.append(Import(module, names, node.start_point[0] + 1))
            found += 1 + len(names)
        if found > max_definitions:
            break
    return imports


_BLOCK: Final = re.compile(rb"^<(script|style|template)\b[^>]{0,2000}+>", re.M | re.I)
_SCRIPTS: Final = "javascript"
"""What the scripts of a page are in."""
_HOLDERS: Final = frozenset({"script", "template", "style"})
_MAX_BLOCKS: Final = 50


def read_component(source: bytes, language: str, deadline: CpuDeadline, max_definitions: int) -> FileSymbols:
    """Read the elements or blocks of a file, with what its code defines and uses inside of them."""
    scripts = language_named(language).scripts
    if scripts is None:
        outer, inner = _read_blocks(source, language), read_code(source, language, deadline, max_definitions)
    else:
        outer = read_code(source, language, deadline, max_definitions)
        inner = read_code(scripts(source), _SCRIPTS, deadline, max_definitions)
    count, definitions = len(outer.definitions), list[Definition]()
    rows: dict[int, int] = {}
    """New rows, those of the elements by negative numbers."""
    blocks: list[tuple[int, Definition]] = []

    def element_at(line: int) -> int:
        return next((row for row, each in reversed(blocks) if each.start <= line <= each.end), -1)

    both = enumerate((*outer.definitions, *inner.definitions), -count)
    for at, each in sorted(both, key=lambda pair: pair[1].start):
        first = -count if at < 0 else 0
        parent = rows[each.parent + first] if each.parent >= 0 else element_at(each.start) if at >= 0 else -1
        rows[at] = len(definitions)
        if at < 0 and each.name.partition("#")[0] in _HOLDERS:
            blocks.append((rows[at], each))
        definitions.append(each._replace(parent=parent))
    script = next((row for row, each in blocks if each.name == "script"), -1)
    sites, bindings = inner.facts
    return inner._replace(
        language=language,
        definitions=tuple(definitions),
        references=tuple(each._replace(definition=rows.get(each[1], script)) for each in inner.references),
        imports=(*outer.imports, *inner.imports),
        problems=(*outer.problems, *inner.problems),
        is_hard=outer.is_hard or inner.is_hard,
        facts=FileFacts(
            tuple(each._replace(definition=rows.get(each[2], element_at(each[3]))) for each in sites),
            tuple(each._replace(definition=rows.get(each[2], element_at(each[3]))) for each in bindings),
        ),
    )


def _read_blocks(source: bytes, language: str) -> FileSymbols:
    """Find the blocks that begin a line; each ends at its last closing tag before the next block."""
    opened = list(_BLOCK.finditer(source))
    definitions: list[Definition] = []
    covered = 0
    for block in opened[:_MAX_BLOCKS]:
        if block.start() < covered:
            continue
        close = re.compile(rb"^</" + block[1] + rb"\s*>", re.M | re.I).search(source, block.end())
        if close is None:
            close = re.compile(rb"</" + block[1] + rb"\s*>", re.I).search(source, block.end())
        covered = close.end() if close else len(source.rstrip())
        first, head = (source.count(b"\n", 0, at) + 1 for at in (block.start(), block.end()))
        last = max(head, source.count(b"\n", 0, covered) + 1)
        definitions.append(
            Definition(block[1].decode().lower(), "element", -1, first, last, first, head, 0, 0)
        )
    left = len(opened) - len(opened[:_MAX_BLOCKS])
    problems = (f"{left:,} blocks after the first {_MAX_BLOCKS} were left out",) if left else ()
    return FileSymbols(language, tuple(definitions), (), (), problems)


MAX_DATA_BYTES: Final = 300_000
"""Bytes of a format that is mostly data: its keys say little, and its grammars are slow."""
_DATA: Final = frozenset({LanguageRole.DATA, LanguageRole.MARKUP})
_REFERENCES_PER_DEFINITION: Final = 10


def read_symbols(source: bytes, path: str, limits: Limits = DEFAULT) -> FileSymbols:
    """Read a file's definitions, references and imports; problems are reported, never raised."""
    language = language_in(source, path)
    if not language or not source:
        return FileSymbols(language, (), (), (), ())
    if problem := _too_big(source, language, limits):
        return FileSymbols(language, (), (), (), (problem,))
    known = language_named(language)
    if known.structure is Structure.HEADINGS:
        return _bounded(FileSymbols(language, read_headings(source), (), (), ()), limits)
    if known.structure is Structure.PLAIN:
        return _bounded(read_plain(source, language, limits.definitions), limits)
    deadline = CpuDeadline(seconds_for(len(source), limits.parse_seconds))
    is_mixed = known.structure is Structure.BLOCKS or known.scripts is not None
    read = read_component if is_mixed else read_code
    return _bounded(read(source, language, deadline, limits.definitions), limits)


def _bounded(symbols: FileSymbols, limits: Limits) -> FileSymbols:
    """Keep the first of more symbols than a file may have, and report the others."""
    max_definitions, max_rows = limits.definitions, limits.definitions * _REFERENCES_PER_DEFINITION
    problems = list(symbols.problems)
    definitions, imports = symbols.definitions[:max_definitions], symbols.imports
    references, (sites, bindings) = symbols.references, symbols.facts
    if len(symbols.definitions) > max_definitions:
        problems.append(f"more than {max_definitions:,} definitions; the first {max_definitions:,} were read")
        references = tuple(each for each in references if each.definition < max_definitions)
        sites = tuple(each for each in sites if each.definition < max_definitions)
        bindings = tuple(each for each in bindings if each.definition < max_definitions)
    if len(references) > max_rows:
        problems.append(f"more than {max_rows:,} names are used in it; the first {max_rows:,} were read")
    # A statement counts as often as it names something.
    fitting = sum(total <= max_definitions for total in accumulate(1 + len(each.names) for each in imports))
    if fitting < len(imports):
        problems.append(f"more than {max_definitions:,} imports; the first {fitting:,} were read")
    if len(sites) > max_rows or len(bindings) > max_rows:
        problems.append(
            f"more than {max_rows:,} uses and bindings of names; the first {max_rows:,} were read"
        )
    return symbols._replace(
        definitions=definitions,
        references=references[:max_rows],
        imports=imports[:fitting],
        problems=tuple(problems),
        facts=FileFacts(sites[:max_rows], bindings[:max_rows]),
    )


def _too_big(source: bytes, language: str, limits: Limits) -> str:
    """Say why a source is not worth parsing, ``""`` where it is."""
    is_data = language_named(language).role in _DATA
    largest = min(MAX_DATA_BYTES, limits.file_bytes) if is_data else limits.file_bytes
    max_line_bytes = limits.line_bytes
    if len(source) > largest:
        return f"{len(source):,} bytes are more than the {largest:,} that are parsed; no symbols were read"
    if len(source) > max_line_bytes:
        line_bytes = max(map(len, source.split(b"\n")))
        if line_bytes > max_line_bytes:
            return f"a line of {line_bytes:,} bytes is longer than {max_line_bytes:,}; no symbols were read"
    return ""
