"""What a file imports, read from the text of its import statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from tree_sitter import Node

from repo_map.parsing.values import Import

_LONGEST_STATEMENT: Final = 20_000
_MOST_TOKENS: Final = 2_000
_LONGEST_PATH: Final = 32
"""Of a name in groups within groups, each of which repeats what is around it."""
# An opening mark ends what stands before it, so that a row of them is not read from each anew.
_QUOTED: Final = re.compile(r"""["'`<]([^"'`<>\n]++)["'`>]""")
_SPACES: Final = re.compile(r"\s{2,}+")
_WORD: Final = re.compile(r"[\w$]+")
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.S)
Reader = Callable[[str, int], Iterable[Import]]


def find_imports(source: bytes, nodes: list[Node], language: str, most: int) -> list[Import]:
    """Read the import statements that a query found; one statement may import several modules.

    Stops once more than ``most`` modules and names are found.
    """
    reader = _READERS.get(language)
    if reader is None:
        return []
    imports: list[Import] = []
    seen: set[int] = set()
    found = 0
    for node in sorted(nodes, key=lambda node: node.start_byte):
        if node.start_byte in seen:
            continue
        seen.add(node.start_byte)
        text = source[node.start_byte : min(node.end_byte, node.start_byte + _LONGEST_STATEMENT)].decode(
            "utf-8", "replace"
        )
        for each in reader(_SPACES.sub(_one_space, text), node.start_point[0] + 1):
            imports.append(each)
            found += 1 + len(each.names)
        if found > most:
            break
    return imports


def _one_space(run: re.Match[str]) -> str:
    """Return what a run of white space says: that a line ends, or a word."""
    return "\n" if "\n" in run[0] else " "


def _python(text: str, line: int) -> Iterable[Import]:
    text = re.sub(r"#[^\n]*", "", text).replace("\\\n", " ").replace("(", " ").replace(")", " ")
    head, _, tail = text.partition("import ")
    if head.startswith("from"):
        module = "".join(head[4:].split())
        names = tuple(part.split()[0] for part in tail.split(",") if part.split())
        yield Import(module, names, line)
        return
    for part in tail.split(","):
        if words := part.split():
            yield Import(words[0], (), line)


def _script(text: str, line: int) -> Iterable[Import]:
    found = _QUOTED.findall(text)
    if not found:
        return
    clause = _COMMENT.sub("", text[: text.rfind(found[-1]) - 1])
    clause = re.sub(r"^\s*(?:import|export)\b|\btype\b|\bfrom\s*$|[{}*]", " ", clause.rstrip())
    names = [words[0] for part in clause.split(",") if (words := part.split()) and words[0] != "as"]
    yield Import(found[-1], tuple(names), line)


def _go(text: str, line: int) -> Iterable[Import]:
    if found := _QUOTED.search(text):
        alias = text[: found.start()].strip()
        yield Import(found[1], (alias,) if alias else (), line)


def _rust(text: str, line: int) -> Iterable[Import]:
    text = _COMMENT.sub("", text).strip().rstrip(";")
    text = re.sub(r"^(?:pub\s*(?:\([^)]*\))?\s*)?(?:use|extern\s+crate)\s+", "", text)
    yield from (Import("::".join(path[:-1]) or path[-1], path[-1:], line) for path in _use_paths(text))


def _use_paths(text: str) -> list[tuple[str, ...]]:
    """Expand ``a::{b, c::{d as e}}`` into its paths, without recursion."""
    paths: list[tuple[str, ...]] = []
    stack: list[tuple[str, ...]] = [()]
    prefix: tuple[str, ...] = ()
    skip = False
    for token in re.findall(r"[\w*]+|[{},]", text)[:_MOST_TOKENS]:
        if token == "{":
            stack.append(prefix)
        elif token in ",}":
            if len(prefix) > len(stack[-1]):
                paths.append(prefix)
            if token == "}":
                if len(stack) > 1:
                    stack.pop()
                prefix = ()
            else:
                prefix = stack[-1]
            skip = False
        elif token == "as":
            skip = True
        elif not skip:
            prefix = (*prefix, token)[:_LONGEST_PATH]
    if prefix:
        paths.append(prefix)
    return paths


def _java(text: str, line: int) -> Iterable[Import]:
    if "/" in text:
        text = _COMMENT.sub("", text)
    words = text.rstrip(";").split()[1:]
    if words and words[0] == "static":
        del words[0]
    module, _, name = "".join(words).rpartition(".")
    yield Import(module, (name,), line)


def _first_quoted(text: str, line: int) -> Iterable[Import]:
    if found := _QUOTED.search(text):
        yield Import(found[1].strip(), (), line)


def _dotted(text: str, line: int) -> Iterable[Import]:
    """Read ``import a.b.{c, d => e}``, ``using X = a.b``, ``@testable import a``."""
    text = _COMMENT.sub("", text).strip().rstrip(";")
    text = re.sub(
        r"^(?:@\w+\s+|global\s+)*(?:import|using|use)\s+(?:static\s+|function\s+|const\s+)?", "", text
    )
    text = text.rpartition("=")[2].strip() if "=>" not in text else text
    head, brace, tail = text.partition("{")
    if brace:
        names = [words[0] for part in tail.rstrip("} ").split(",") if (words := part.split())]
        yield Import(head.strip().rstrip(".\\"), tuple(names), line)
        return
    words = re.split(r"\s+as\s+|\s", text.strip())
    module, _, name = words[0].replace("\\", ".").rpartition(".")
    yield Import(module, (name,), line) if module else Import(name, (), line)


def _namespace(text: str, line: int) -> Iterable[Import]:
    """Read C#'s ``using``: the whole path is a namespace."""
    for found in _dotted(text, line):
        yield Import(".".join((found.module, *found.names)) if found.module else "", (), line)


def _php(text: str, line: int) -> Iterable[Import]:
    if text.lstrip().startswith("use"):
        for found in _dotted(text, line):
            yield Import(found.module.replace("\\", "."), found.names, line)
    else:
        yield from _first_quoted(text, line)


def _shell(text: str, line: int) -> Iterable[Import]:
    words = text.split()
    if len(words) > 1:
        yield Import(words[1].strip("\"'"), (), line)


def _elixir(text: str, line: int) -> Iterable[Import]:
    words = re.split(r"[,\s]", text.strip(), maxsplit=2)
    if len(words) < 2:
        return
    module, brace, tail = text.partition("{")
    if brace:
        names = tuple(part.strip() for part in tail.rstrip("} \n").split(",") if part.strip())
        yield Import(module.split()[-1].rstrip("."), names, line)
    else:
        yield Import(words[1], (), line)


_READERS: Final[dict[str, Reader]] = {
    "python": _python,
    "javascript": _script,
    "typescript": _script,
    "tsx": _script,
    "go": _go,
    "rust": _rust,
    "java": _java,
    "kotlin": _dotted,
    "scala": _dotted,
    "swift": _dotted,
    "csharp": _namespace,
    "php": _php,
    "bash": _shell,
    "elixir": _elixir,
    "ruby": _first_quoted,
    "lua": _first_quoted,
    "css": _first_quoted,
    "c": _first_quoted,
    "cpp": _first_quoted,
}
