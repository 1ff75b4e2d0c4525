"""Which language a path is in, and its grammar, parser and queries, each loaded on first use."""

from __future__ import annotations

import importlib
import re
import threading
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

from tree_sitter import Language, Parser, Point, Query, QueryError, Tree

from repo_map.parsing.deadline import Deadline
from repo_map.parsing.yaml_depth import DEEPEST_YAML, yaml_depth


class LanguageSpec(NamedTuple):
    """How one language is told from a path, and where its grammar is."""

    suffixes: tuple[str, ...]
    """Lower-case ends of file names, the dot included."""
    module: str = ""
    """Import name of the wheel that carries the grammar; empty for a language that needs none."""
    function: str = "language"
    """The function of that module that gives the grammar."""
    filenames: tuple[str, ...] = ()
    """Whole file names, in lower case."""
    queries: str = ""
    """Folder below ``queries/``, where it is not the language's own name."""


LANGUAGES: Final[dict[str, LanguageSpec]] = {
    "python": LanguageSpec(
        (".py", ".pyi", ".pyw"), "tree_sitter_python", filenames=("sconstruct", "wscript")
    ),
    "javascript": LanguageSpec((".js", ".mjs", ".cjs", ".jsx"), "tree_sitter_javascript"),
    "typescript": LanguageSpec((".ts", ".mts", ".cts"), "tree_sitter_typescript", "language_typescript"),
    "tsx": LanguageSpec((".tsx",), "tree_sitter_typescript", "language_tsx", queries="typescript"),
    "go": LanguageSpec((".go",), "tree_sitter_go"),
    "rust": LanguageSpec((".rs",), "tree_sitter_rust"),
    "java": LanguageSpec((".java",), "tree_sitter_java"),
    "c": LanguageSpec((".c", ".h"), "tree_sitter_c"),
    "cpp": LanguageSpec(
        (
            ".cpp",
            ".cc",
            ".cxx",
            ".c++",
            ".hpp",
            ".hh",
            ".hxx",
            ".h++",
            ".ipp",
            ".tpp",
            ".inl",
            ".cu",
            ".cuh",
            ".ino",
        ),
        "tree_sitter_cpp",
    ),
    "kotlin": LanguageSpec((".kt", ".kts"), "tree_sitter_kotlin"),
    "scala": LanguageSpec((".scala", ".sc", ".sbt"), "tree_sitter_scala"),
    "csharp": LanguageSpec((".cs", ".csx"), "tree_sitter_c_sharp"),
    "ruby": LanguageSpec(
        (".rb", ".rake", ".gemspec", ".ru", ".podspec"),
        "tree_sitter_ruby",
        filenames=("gemfile", "rakefile", "vagrantfile", "podfile", "guardfile", "capfile", "brewfile"),
    ),
    "php": LanguageSpec((".php", ".phtml", ".php5"), "tree_sitter_php", "language_php"),
    "swift": LanguageSpec((".swift",), "tree_sitter_swift"),
    "bash": LanguageSpec(
        (".sh", ".bash", ".zsh", ".ksh", ".bats", ".ebuild"),
        "tree_sitter_bash",
        filenames=(".bashrc", ".bash_profile", ".profile", ".zshrc", "pkgbuild"),
    ),
    "lua": LanguageSpec((".lua", ".rockspec"), "tree_sitter_lua"),
    "elixir": LanguageSpec((".ex", ".exs"), "tree_sitter_elixir"),
    "hcl": LanguageSpec((".tf", ".hcl", ".tfvars", ".nomad"), "tree_sitter_hcl"),
    "sql": LanguageSpec((".sql", ".ddl", ".dml", ".pgsql"), "tree_sitter_sql"),
    "html": LanguageSpec((".html", ".htm", ".xhtml"), "tree_sitter_html"),
    "css": LanguageSpec((".css", ".scss", ".less"), "tree_sitter_css"),
    "vue": LanguageSpec((".vue",)),
    "svelte": LanguageSpec((".svelte",), "tree_sitter_svelte"),
    "yaml": LanguageSpec((".yml", ".yaml"), "tree_sitter_yaml", filenames=(".clang-format", ".clang-tidy")),
    "toml": LanguageSpec(
        (".toml",), "tree_sitter_toml", filenames=("cargo.lock", "poetry.lock", "uv.lock", "pipfile")
    ),
    "json": LanguageSpec((".json", ".jsonc", ".json5", ".webmanifest"), "tree_sitter_json"),
    "markdown": LanguageSpec((".md", ".markdown", ".mdx", ".mdown")),
}
"""Every language with definitions, by the name that maps and reports show."""

_BY_SUFFIX: Final = {suffix: name for name, spec in LANGUAGES.items() for suffix in spec.suffixes}
_BY_FILENAME: Final = {filename: name for name, spec in LANGUAGES.items() for filename in spec.filenames}


_PARSE_CHUNK: Final = 65_536
_TEXT_CHUNK: Final = 128
"""Bytes read at a time for the text of one node, as queries with predicates do."""


_HEAD: Final = 20_000
"""Bytes at the start of a header that tell C++ from C."""
_CPP_HEADER: Final = re.compile(
    rb"^[ \t]*(?:template[ \t]*<|namespace\b|(?:public|private|protected)[ \t]*:|using[ \t]+\w"
    rb"|class[ \t]+\w[\w \t]*[:{]|class[ \t]+\w+;)|\w::\w",
    re.M,
)
_SHEBANG: Final = re.compile(rb"#![^\n]{0,60}?\b(bash|zsh|sh|ksh|python|node|ruby|lua|php|elixir)[\d.]*\b")
_INTERPRETERS: Final = {
    "bash": "bash",
    "zsh": "bash",
    "sh": "bash",
    "ksh": "bash",
    "python": "python",
    "node": "javascript",
    "ruby": "ruby",
    "lua": "lua",
    "php": "php",
    "elixir": "elixir",
}


class GrammarMissingError(Exception):
    """The wheel that carries a language's grammar can't be imported."""


class ParseError(Exception):
    """A grammar could not read a source; the message says why."""


class ParseTimeoutError(ParseError):
    """A grammar did not finish within its deadline."""


class TooDeepError(ParseError):
    """A source is nested deeper than its grammar can stand."""


def language_of(path: str) -> str:
    """Return the language that a path's name says, ``""`` where there is none."""
    name = path.rpartition("/")[2].lower()
    if found := _BY_FILENAME.get(name):
        return found
    return _BY_SUFFIX.get(name[name.rfind(".") :], "") if "." in name else ""


def language_in(source: bytes, path: str) -> str:
    """Return the language of a file's contents: its path's, but for C++ headers and scripts."""
    language = language_of(path)
    if language == "c" and path.lower().endswith(".h"):
        return "cpp" if _CPP_HEADER.search(source, 0, _HEAD) else "c"
    if not language and source.startswith(b"#!"):
        interpreter = _SHEBANG.match(source)
        return _INTERPRETERS.get(interpreter[1].decode(), "") if interpreter else ""
    return language


@cache
def grammar(language: str) -> Language:
    """Load a language's grammar; raises ``GrammarMissingError``."""
    spec = LANGUAGES[language]
    if not spec.module:
        raise GrammarMissingError(f"{language} is read without a grammar")
    try:
        module = importlib.import_module(spec.module)
        return Language(getattr(module, spec.function)())
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        wheel = spec.module.replace("_", "-")
        raise GrammarMissingError(
            f"the {language} grammar can't be loaded ({error}); install {wheel} to read these files"
        ) from error


class _Parsers(threading.local):
    """Each thread's own parsers: one that two threads use at a time crashes the process."""

    def __init__(self) -> None:
        self.by_language: dict[str, Parser] = {}


_PARSERS: Final = _Parsers()


def parser_for(language: str) -> Parser:
    """Return this thread's parser of a language; raises ``GrammarMissingError``."""
    if language not in _PARSERS.by_language:
        _PARSERS.by_language[language] = Parser(grammar(language))
    return _PARSERS.by_language[language]


def parse(source: bytes, language: str, deadline: Deadline) -> Tree:
    """Parse bytes into a syntax tree; raises ``GrammarMissingError`` and ``ParseError``."""
    if language == "yaml" and (depth := yaml_depth(source)) > DEEPEST_YAML:
        raise TooDeepError(f"its blocks are nested {depth:,} deep, more than {DEEPEST_YAML}")
    parser = parser_for(language)
    chunk = _PARSE_CHUNK

    def read(offset: int, _point: Point) -> bytes:
        # Bytes, not a view: the nodes' text is read through here later, and a view would crash there.
        return source[offset : offset + chunk]

    try:
        tree = parser.parse(read, progress_callback=deadline.is_over)
    except ValueError as error:
        parser.reset()
        deadline.complain()
        raise ParseTimeoutError(
            f"the {language} grammar did not finish within {deadline.seconds:g} s of CPU time"
        ) from error
    chunk = _TEXT_CHUNK
    return tree


def compile_query(language: str, text: str) -> Query:
    """Compile a query of tree-sitter's query language; raises ``ValueError`` that names line and column."""
    if not LANGUAGES.get(language, LanguageSpec(())).module:
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


@cache
def symbol_query(language: str) -> Query:
    """Return the query for definitions and imports, ``queries/<language>/symbols.scm``."""
    folder = LANGUAGES[language].queries or language
    text = resources.files("repo_map").joinpath("queries", folder, "symbols.scm").read_text(encoding="utf-8")
    return compile_query(language, text)
