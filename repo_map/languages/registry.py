"""Language record and the lookup by path, content and spoken name."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


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


def _words(*texts: str) -> frozenset[str]:
    return frozenset(" ".join(texts).split())


_C_WORDS: Final = (
    "auto break case char const continue default do double else enum extern float for goto if"
    " inline int long register return short signed sizeof static struct switch typedef union"
    " unsigned void volatile while bool true false NULL define undef ifdef ifndef endif elif"
    " include pragma defined"
)
_SCRIPT_WORDS: Final = (
    "async await break case catch class const continue debugger default delete do else export"
    " extends false finally for from function get if import in instanceof let new null of return"
    " set static super switch this throw true try typeof undefined var void while with yield as"
)
_TYPE_WORDS: Final = (
    "abstract any asserts boolean bigint declare enum implements infer interface is keyof"
    " module namespace never number object override private protected public readonly satisfies"
    " string symbol type unique unknown"
)
_SQL_WORDS: Final = (
    "add all alter and any as asc begin between bigint boolean by cascade case char check column commit"
    " constraint create cross database date decimal declare default delete desc distinct drop else end"
    " exists false float for foreign from full function group having if in index inner insert int integer"
    " into is join key language left like limit not null numeric offset on or order outer primary"
    " procedure references replace return returns right rollback schema select serial set table text then"
    " timestamp to trigger true union unique update using values varchar view when where with"
)
KEYWORDS: Final[dict[str, frozenset[str]]] = {
    "python": _words(
        "and as assert async await break class continue def del elif else except False finally for"
        " from global if import in is lambda None nonlocal not or pass raise return True try while"
        " with yield self cls match case"
    ),
    "javascript": _words(_SCRIPT_WORDS),
    "typescript": _words(_SCRIPT_WORDS, _TYPE_WORDS),
    "tsx": _words(_SCRIPT_WORDS, _TYPE_WORDS),
    "go": _words(
        "break case chan const continue default defer else fallthrough for func go goto if import"
        " interface map package range return select struct switch type var nil true false string int"
        " bool byte error any int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr float32"
        " float64 rune make len append cap copy delete panic recover new"
    ),
    "rust": _words(
        "as async await break const continue crate dyn else enum extern false fn for if impl in let"
        " loop match mod move mut pub ref return self Self static struct super trait true type"
        " unsafe use where while u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool"
        " char str macro_rules"
    ),
    "java": _words(
        "abstract assert boolean break byte case catch char class const continue default do double"
        " else enum extends final finally float for goto if implements import instanceof int"
        " interface long native new package private protected public record return sealed permits"
        " short static strictfp super switch synchronized this throw throws transient try var void"
        " volatile while yield true false null"
    ),
    "c": _words(_C_WORDS),
    "cpp": _words(
        _C_WORDS,
        " alignas alignof and asm catch class concept const_cast consteval constexpr constinit co_await"
        " co_return co_yield decltype delete dynamic_cast explicit export final friend mutable"
        " namespace new noexcept not nullptr operator or override private protected public"
        " reinterpret_cast requires static_assert static_cast template this thread_local throw try"
        " typeid typename using virtual wchar_t xor std size_t",
    ),
    "kotlin": _words(
        "abstract actual annotation as break by catch class companion const constructor continue"
        " crossinline data delegate do dynamic else enum expect external false final finally for fun get"
        " if import in infix init inline inner interface internal is it lateinit null object open operator"
        " out override package private protected public reified return sealed set super suspend tailrec"
        " this throw true try typealias val value var vararg when where while Int Long String Boolean Unit"
        " Any Double Float Char Byte Short"
    ),
    "scala": _words(
        "abstract case catch class def do else enum extends extension false final finally for forSome"
        " given if implicit import inline lazy match new null object opaque override package private"
        " protected return sealed super then this throw trait true try type using val var while with yield"
        " _ Int Long String Boolean Unit Any AnyRef Double Float Char Byte Short Nothing"
    ),
    "csharp": _words(
        "abstract add alias and as async await base bool break byte case catch char checked class const"
        " continue decimal default delegate do double dynamic else enum event explicit extern false"
        " finally fixed float for foreach from get global goto group if implicit in init int interface"
        " internal into is join let lock long nameof namespace new not null object operator or orderby out"
        " override params partial private protected public readonly record ref remove required return"
        " sbyte sealed select set short sizeof stackalloc static string struct switch this throw true try"
        " typeof uint ulong unchecked unsafe ushort using value var virtual void volatile when where while"
        " with yield region endregion"
    ),
    "ruby": _words(
        "BEGIN END alias and attr_accessor attr_reader attr_writer begin break case class def defined do"
        " else elsif end ensure extend false for if in include lambda loop module next nil not or prepend"
        " private proc protected public puts raise redo require require_relative rescue retry return self"
        " super then true undef unless until when while yield __FILE__ __method__"
    ),
    "php": _words(
        "abstract and array as bool break callable case catch class clone const continue declare default"
        " do echo else elseif empty enddeclare endfor endforeach endif endswitch endwhile enum exit"
        " extends false final finally float fn for foreach function global goto if implements include"
        " include_once instanceof insteadof int interface isset iterable list match mixed namespace never"
        " new null object or parent php print private protected public readonly require require_once"
        " return self static string strict_types switch this throw trait true try unset use var void while"
        " xor yield"
    ),
    "swift": _words(
        "Any Self actor as associatedtype async await break case catch class continue convenience default"
        " defer deinit didSet do dynamic else enum extension fallthrough false fileprivate final for func"
        " get guard if import in indirect infix init inout internal is isolated lazy let mutating nil"
        " nonisolated nonmutating open operator optional override postfix precedencegroup prefix private"
        " protocol public repeat required rethrows return self set some static struct subscript super"
        " switch throw throws true try typealias unowned var weak where while willSet _ Int String Bool"
        " Double Float Void"
    ),
    "bash": _words(
        "alias break case continue declare do done echo elif else esac eval exec exit export fi for"
        " function getopts if in let local printf read readonly return select set shift source test then"
        " time trap true false typeset unset until while cd"
    ),
    "lua": _words(
        "and break do else elseif end false for function goto if in local nil not or repeat return self"
        " then true until while ipairs pairs require tostring tonumber type print"
    ),
    "elixir": _words(
        "after alias and case catch cond def defdelegate defexception defguard defimpl defmacro defmacrop"
        " defmodule defp defprotocol defstruct do else end false fn for if import in nil not or quote"
        " raise receive require rescue super throw true try unless unquote use when with __MODULE__ is_nil"
    ),
    "hcl": _words(
        "true false null for in if var local each self count data resource variable output module"
        " provider terraform locals string number bool list map object any"
    ),
    "sql": _words(_SQL_WORDS, _SQL_WORDS.upper()),
}
