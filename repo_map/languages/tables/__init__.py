"""Languages whose names are not resolved: a record each, for most with a table of their syntax.

A row of ``_query`` is ``kind node name body``: the kind of definition, its node types with commas between,
the field that names it or, after a dot, the child, and likewise its body; ``-`` for none, ``head`` if the
signature ends with the name. Any other line is a pattern of tree-sitter's query language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Final

from repo_map.languages.javascript.components import page_code
from repo_map.languages.language import (
    EXTRA_GRAMMARS,
    HASH_COMMENTS,
    DocComments,
    Found,
    Language,
    LanguageRole,
    SharedSuffix,
    Structure,
    words,
)
from repo_map.languages.syntax import (
    C_LITERALS,
    DASH_LITERALS,
    HASH_LITERALS,
    LISP_LITERALS,
    MAX_NAME_CHARS,
    SCRIPT_LITERALS,
    Captures,
    Named,
    bare_name,
    bounded,
    dotted,
    first_quoted,
    plain_name,
    text_of,
    without_parameters,
    writing,
)

_ROW: Final = re.compile(r"(\w+) +(\S+) +(\S+) +(\S+)")


def _query(rows: str) -> str:
    """Return the patterns of a table's rows."""
    return "\n".join(_pattern(row.strip()) for row in rows.strip().split("\n"))


def _pattern(row: str) -> str:
    if (columns := _ROW.fullmatch(row)) is None:
        return row
    kind, nodes, name, body = columns.groups()
    inner = f"{_child(name)} @name" + {"-": "", "head": " @head"}.get(body, f" {_child(body)}? @body")
    return "\n".join(f"({node} {inner}) @{kind}" for node in nodes.split(","))


def _child(column: str) -> str:
    return f"({column[1:]})" if column.startswith(".") else f"{column}: (_)"


Imports = Iterable[tuple[str, tuple[str, ...]]]


def _second_word(text: str) -> Imports:
    """Read ``source lib.sh``, ``. lib.sh``, ``include a.mk``, ``include(a.cmake)``."""
    named = re.split(r"[\s()]+", text.strip())
    if len(named) > 1:
        yield named[1].strip("\"'"), ()


def _using(text: str) -> Imports:
    """Read C#'s ``using``: the whole path is a namespace."""
    for module, names in dotted(text):
        yield ".".join((module, *names)) if module else "", ()


def _haskell_import(text: str) -> Imports:
    """Read ``import qualified Data.Map as M``, ``import Data.List (sort)``."""
    found = re.match(r"import\s+(?:safe\s+)?(?:qualified\s+)?(?:\"[^\"]*\"\s+)?([\w.']+)", text)
    if found:
        yield found[1], ()


def _clojure_namespace(text: str) -> Imports:
    """Read the namespaces that ``(:require [a.b :as c] [d.e])`` and ``(:use …)`` list."""
    for clause in re.findall(r"\(:(?:require|use)\b([^()]*)", text):
        for module in re.findall(r"(?:^|[\s\[])([a-zA-Z][\w.*+!?-]*)(?=[\s\]]|$)", clause):
            if "." in module:
                yield module, ()


def _block_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name a block of HCL by its type and labels: ``resource.aws_s3_bucket.main``."""
    name = ".".join(text_of(source, node).strip('"') for node in captures.get("name", ()))
    return [(name, kind)] if bounded(name) else []


def _haskell_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name an instance of Haskell by its class and types, and an operator without parentheses."""
    named = plain_name(source, kind, captures)
    return [(" ".join(name.strip("()") for name, _ in named), kind)] if named else []


def _dot_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Write ``Cart:add`` as ``Cart.add``."""
    return [(name.replace(":", "."), kind) for name, kind in plain_name(source, kind, captures)]


def _type_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Call an extension after its type, without parameters."""
    return [(without_parameters(name), kind) for name, _ in plain_name(source, kind, captures)]


def _unscoped_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Write ``script:Get-Box`` as ``Get-Box``, ``$Width`` as ``Width``."""
    return [(name.rpartition(":")[2], kind) for name, _ in bare_name(source, kind, captures)]


_MAX_YAML_DEPTH: Final = 200
"""Levels; the scanner of tree-sitter-yaml 0.7 writes 4 bytes for each into a buffer of 1,024."""


def _too_deep(source: bytes) -> str:
    if (depth := max_levels(source)) > _MAX_YAML_DEPTH:
        return f"its blocks may be nested {depth:,} deep, more than {_MAX_YAML_DEPTH}"
    return ""


def max_levels(source: bytes) -> int:
    """Return a number of levels that no block is deeper than, 0 where no line is far enough in to matter.

    Blocks within one another begin at different places of their lines. So the places are counted, and not
    what lies between them: comments, blank lines and texts of many lines end no block, or only seem to.
    """
    # To YAML a lone carriage return ends a line as well; the other separators of Unicode do not.
    source = source.replace(b"\r", b"\n")
    far_in, line_start = _patterns()
    if far_in.search(source) is None:
        return 0
    places: set[tuple[int, bool]] = set()
    for start in {line[0] for line in line_start.finditer(source)}:
        places.update((at, True) for at, byte in enumerate(start) if byte in b"-?:")
        places.add((len(start), False))
    return len(places)


@cache
def _patterns() -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return what tells a line that is far in, and what reads the marks at the start of one."""
    # A column holds two levels at most: a key, and the list below it at the same indentation.
    far_in = re.compile(rb"^[ \t?:-]{%d}" % (_MAX_YAML_DEPTH // 2), re.M)
    return far_in, re.compile(rb"^[ \t]*(?:[-?:][ \t]+)*[-?:]?", re.M)


_MAX_DOC_LINES: Final = 400
"""Lines."""


def _clause_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Call a clause by its head, without arguments and guard."""
    if not (nodes := captures.get("name")):
        return []
    name = text_of(source, nodes[0])
    if name.startswith('"'):
        return [(name.strip('"')[:MAX_NAME_CHARS], kind)]
    head = re.match(r"[\w.!?]+", name)
    return [(head[0] if head else name.partition(" when ")[0][:MAX_NAME_CHARS], kind)]


def _elixir_docs(source: bytes) -> Callable[[Found], tuple[int, int]]:
    """Find ``@doc`` before a signature, or ``@moduledoc`` after it."""
    lines = source.removeprefix(b"\xef\xbb\xbf").split(b"\n")

    def attribute(item: Found) -> tuple[int, int]:
        for row in (*range(item.start, item.sig_start), item.sig_end + 1):
            line = lines[row].strip() if row < len(lines) else b""
            if line.startswith((b"@doc ", b"@moduledoc ")) and not line.endswith(b"false"):
                last = row
                if line.count(b'"""') == 1:
                    below = range(row + 1, min(row + _MAX_DOC_LINES, len(lines)))
                    last = next((r for r in below if b'"""' in lines[r]), row)
                return row + 1, last + 1
        return 0, 0

    return attribute


def _alias(text: str) -> Imports:
    """Read ``alias A.{B, C}``, ``import A``, ``use A, option: 1``."""
    named = re.split(r"[,\s]", text.strip(), maxsplit=2)
    if len(named) < 2:
        return
    module, brace, tail = text.partition("{")
    if brace:
        names = tuple(part.strip() for part in tail.rstrip("} \n").split(",") if part.strip())
        yield module.split()[-1].rstrip("."), names
    else:
        yield named[1], ()


def _element(source: bytes, kind: str, captures: Captures) -> Named:
    """Name ``main#cart`` by tag and id, a heading by its text."""
    if kind == "heading":
        parts = re.sub(r"<[^>]*>", " ", text_of(source, captures["heading"][0])).split()
        return [(" ".join(parts)[:MAX_NAME_CHARS], kind)] if parts else []
    return [("#".join(text_of(source, node) for node in captures["name"])[:MAX_NAME_CHARS], kind)]


def _rule(source: bytes, kind: str, captures: Captures) -> Named:
    """Name a style rule by its whole head."""
    name = " ".join(text_of(source, node) for node in captures.get("name", ()))
    return [(name[:MAX_NAME_CHARS], kind)] if name else []


_HASH: Final = r"(?<![^\s;])#[^\n]*+"
_LUA_BLOCK: Final = r"(?:--)?\[\[[^\]]*+(?:\](?!\])[^\]]*+)*(?:\]\])?"
_VERBATIM: Final = r'@"[^"]*+(?:""[^"]*+)*"?'
_HASKELL_BLOCK: Final = r"\{-[^-]*+(?:-(?!\})[^-]*+)*(?:-\})?"
_POWERSHELL_BLOCK: Final = r"<#[^#]*+(?:#(?!>)[^#]*+)*(?:#>)?"
_DASHED: Final = r"([A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff-]*+)"
_LISP: Final = r"([A-Za-z_*+!?<>=&%\x80-\U0010ffff-][\w*+!?<>='&%\x80-\U0010ffff-]*+)"
_PRIMED: Final = r"([A-Za-z_\x80-\U0010ffff][\w'\x80-\U0010ffff]*+)"
_COMMON: Final = words(
    "and as async await bool break case catch class const continue default do double else end enum export"
    " extends false final finally fn for from function if import in int interface is let module new nil not"
    " null of or override private protected public return self set static string struct super switch then"
    " this throw true try type uint var void where while with yield"
)
"""Words that no language here means as a name of a repository."""
_SQL_WORDS: Final = (
    "add all alter and any as asc begin between bigint boolean by cascade case char check column commit"
    " constraint create cross database date decimal declare default delete desc distinct drop else end"
    " exists false float for foreign from full function group having if in index inner insert int integer"
    " into is join key language left like limit not null numeric offset on or order outer primary"
    " procedure references replace return returns right rollback schema select serial set table text then"
    " timestamp to trigger true union unique update using values varchar view when where with"
)

_PLAIN: Final = (
    "adb ads agda ahk apex asm awk bas bat bzl clp cls cob coffee cr cue d dhall do el elm erl f f90 f95"
    " fbs fish for fs fsi fsx gd glsl gradle groovy hlsl hrl hx jl jsonnet lean lisp lsp metal ml mli nim"
    " nims nix odin pas pde pl pm pony pp purs r raku re rego rkt s scm sml st star sv svh tcl thrift tla v"
    " vala vb vbs vhd vhdl vim vy wgsl xq"
)
"""Suffixes of source that no grammar reads."""

LANGUAGES: Final = (
    Language(
        name="json",
        role=LanguageRole.DATA,
        suffixes=(".json", ".jsonc", ".json5", ".webmanifest"),
        unspoken_suffixes=(".jsonc", ".json5", ".webmanifest"),
        grammar_module="tree_sitter_json",
        namer=bare_name,
        token_factor=1.05,
    ),
    Language(
        name="yaml",
        role=LanguageRole.DATA,
        suffixes=(".yml", ".yaml"),
        filenames=(".clang-format", ".clang-tidy"),
        grammar_module="tree_sitter_yaml",
        refusal=_too_deep,
        namer=bare_name,
        doc_comments=HASH_COMMENTS,
        literals=HASH_LITERALS,
        token_factor=1.05,
    ),
    Language(
        name="toml",
        role=LanguageRole.DATA,
        suffixes=(".toml",),
        filenames=("cargo.lock", "poetry.lock", "uv.lock", "pipfile"),
        grammar_module="tree_sitter_toml",
        namer=bare_name,
        doc_comments=HASH_COMMENTS,
        literals=HASH_LITERALS,
    ),
    Language(
        name="elixir",
        suffixes=(".ex", ".exs"),
        interpreters=("elixir",),
        grammar_module="tree_sitter_elixir",
        namer=_clause_name,
        doc_comments=HASH_COMMENTS,
        docs=_elixir_docs,
        imports=_alias,
        writing=writing(("hash", "triple", "double_lines", "single"), ("#{",), "hash_braces"),
        keywords=words(
            "after alias and case catch cond def defdelegate defexception defguard defimpl defmacro defmacrop"
            " defmodule defp defprotocol defstruct do else end false fn for if import in nil not or quote"
            " raise receive require rescue super throw true try unless unquote use when with __MODULE__"
            " is_nil"
        ),
        literals=HASH_LITERALS,
    ),
    Language(
        name="markdown",
        role=LanguageRole.PROSE,
        suffixes=(".md", ".markdown", ".mdx", ".mdown"),
        unspoken_suffixes=(".markdown", ".mdx", ".mdown"),
        structure=Structure.HEADINGS,
    ),
    Language(
        name="html",
        role=LanguageRole.MARKUP,
        suffixes=(".html", ".htm", ".xhtml"),
        unspoken_suffixes=(".htm", ".xhtml"),
        grammar_module="tree_sitter_html",
        scripts=page_code,
        namer=_element,
    ),
    Language(
        name="css",
        role=LanguageRole.MARKUP,
        suffixes=(".css", ".scss", ".less"),
        unspoken_suffixes=(".less",),
        grammar_module="tree_sitter_css",
        namer=_rule,
        imports=first_quoted,
        literals=SCRIPT_LITERALS,
    ),
    Language(
        name="bash",
        suffixes=(".sh", ".bash", ".zsh", ".ksh", ".bats", ".ebuild"),
        unspoken_suffixes=(".bash", ".zsh", ".ksh", ".bats", ".ebuild"),
        filenames=(".bashrc", ".bash_profile", ".profile", ".zshrc", "pkgbuild"),
        interpreters=("bash", "zsh", "sh", "ksh"),
        grammar_module="tree_sitter_bash",
        doc_comments=HASH_COMMENTS,
        imports=_second_word,
        writing=writing((_HASH, "quoted")),
        keywords=words(
            "alias break case continue declare do done echo elif else esac eval exec exit export fi for"
            " function getopts if in let local printf read readonly return select set shift source test then"
            " time trap true false typeset unset until while cd"
        ),
        literals=HASH_LITERALS,
        symbols=_query("""
    function function_definition name body
    (program (variable_assignment name: (variable_name) @name value: (_)? @body) @constant)
    (program (declaration_command (variable_assignment name: (variable_name) @name)) @constant)
    (command name: (command_name (word) @callee) . argument: (_)
      (#any-of? @callee "source" ".")) @import
"""),
    ),
    Language(
        name="csharp",
        suffixes=(".cs", ".csx"),
        unspoken_suffixes=(".csx",),
        spoken=("c#",),
        grammar_module="tree_sitter_c_sharp",
        imports=_using,
        writing=writing(
            ("slashes", "block", _VERBATIM, "double", "letter"), ('$"',), r"\{([A-Za-z_][^{}:\"]*+)"
        ),
        keywords=words(
            "abstract add alias and as async await base bool break byte case catch char checked class const"
            " continue decimal default delegate do double dynamic else enum event explicit extern false"
            " finally fixed float for foreach from get global goto group if implicit in init int interface"
            " internal into is join let lock long nameof namespace new not null object operator or orderby"
            " out override params partial private protected public readonly record ref remove required return"
            " sbyte sealed select set short sizeof stackalloc static string struct switch this throw true try"
            " typeof uint ulong unchecked unsafe ushort using value var virtual void volatile when where"
            " while with yield region endregion"
        ),
        symbols=_query("""
    class class_declaration name body
    class record_declaration name body
    struct struct_declaration name body
    interface interface_declaration name body
    enum enum_declaration name body
    module namespace_declaration name body
    type delegate_declaration name -
    [
      (method_declaration name: (_) @name body: (_)? @body)
      (constructor_declaration name: (_) @name body: (_)? @body)
      (destructor_declaration name: (_) @name body: (_)? @body)
      (operator_declaration operator: _ @name body: (_)? @body)
      (conversion_operator_declaration type: (_) @name body: (_)? @body)
      (indexer_declaration "this" @name accessors: (_)? @body)
    ] @method
    function local_function_statement name body
    (field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
    (event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
    (event_declaration name: (_) @name accessors: (_)? @body) @field
    (property_declaration name: (_) @name accessors: (_)? @body) @field
    constant enum_member_declaration name -
    (using_directive) @import
"""),
    ),
    Language(
        name="hcl",
        role=LanguageRole.DECLARATIONS,
        suffixes=(".tf", ".hcl", ".tfvars", ".nomad"),
        unspoken_suffixes=(".tfvars", ".nomad"),
        grammar_module="tree_sitter_hcl",
        namer=_block_name,
        doc_comments=DocComments((*HASH_COMMENTS.line, b"//")),
        writing=writing(("hash", "slashes", "block", "double"), ("${",), "dollar_braces"),
        keywords=words(
            "true false null for in if var local each self count data resource variable output module"
            " provider terraform locals string number bool list map object any"
        ),
        literals=HASH_LITERALS,
        symbols=_query("""
    (config_file (body (block . (identifier) @name . (string_lit)* @name (body)? @body) @module))
    (config_file (body (block (body (attribute . (identifier) @name (expression) @body) @field))))
    (config_file (body (block (body
      (block . (identifier) @name . (string_lit)* @name (body)? @body) @field))))
    (config_file (body (attribute . (identifier) @name (expression) @body) @constant))
"""),
    ),
    Language(
        name="lua",
        suffixes=(".lua", ".rockspec"),
        unspoken_suffixes=(".rockspec",),
        interpreters=("lua",),
        grammar_module="tree_sitter_lua",
        namer=_dot_name,
        doc_comments=DocComments((b"--",), blocks=False),
        imports=first_quoted,
        writing=writing((_LUA_BLOCK, "dashes", "double", "single")),
        keywords=words(
            "and break do else elseif end false for function goto if in local nil not or repeat return self"
            " then true until while ipairs pairs require tostring tonumber type print"
        ),
        literals=DASH_LITERALS,
        symbols=_query("""
    function function_declaration name body
    (assignment_statement (variable_list . name: (_) @name)
      (expression_list . value: (function_definition body: (_)? @body))) @function
    (table_constructor (field name: (_) @name value: (function_definition body: (_)? @body)) @function)
    (chunk (variable_declaration (assignment_statement (variable_list . name: (identifier) @name)
      (expression_list . value: (_) @body))) @constant)
    (variable_declaration . (assignment_statement) @wrapped .) @wrapper
    (function_call name: (identifier) @callee arguments: (arguments . (string))
      (#eq? @callee "require")) @import
"""),
    ),
    Language(
        name="sql",
        role=LanguageRole.DECLARATIONS,
        suffixes=(".sql", ".ddl", ".dml", ".pgsql"),
        unspoken_suffixes=(".ddl", ".dml", ".pgsql"),
        grammar_module="tree_sitter_sql",
        namer=bare_name,
        doc_comments=DocComments((b"--",)),
        writing=writing(("dashes", "block", "quoted")),
        keywords=words(_SQL_WORDS, _SQL_WORDS.upper()),
        literals=DASH_LITERALS,
        symbols=_query("""
    (create_table (object_reference) @name (column_definitions) @body) @table
    (create_table (object_reference) @name) @table
    (create_view (object_reference) @name (create_query) @body) @table
    (create_materialized_view (object_reference) @name) @table
    field column_definition name -
    (create_function (object_reference) @name (function_body) @body) @function
    (create_procedure . (_) . (_) . (object_reference) @name) @function
    (create_procedure (object_reference) @name (procedure_body) @body) @function
    (create_trigger . (_) . (_) . (object_reference) @name) @function
    (create_type (object_reference) @name) @type
    (create_index column: (_) @name) @key
    (create_schema (identifier) @name) @module
"""),
    ),
    Language(
        name="swift",
        suffixes=(".swift",),
        grammar_module="tree_sitter_swift",
        namer=_type_name,
        imports=dotted,
        writing=writing(("slashes", "block", "triple", "double"), ("\\(",), r"\\\(([^()]*+)"),
        keywords=words(
            "Any Self actor as associatedtype async await break case catch class continue convenience default"
            " defer deinit didSet do dynamic else enum extension fallthrough false fileprivate final for func"
            " get guard if import in indirect infix init inout internal is isolated lazy let mutating nil"
            " nonisolated nonmutating open operator optional override postfix precedencegroup prefix private"
            " protocol public repeat required rethrows return self set some static struct subscript super"
            " switch throw throws true try typealias unowned var weak where while willSet _ Int String Bool"
            " Double Float Void"
        ),
        symbols=_query("""
    (class_declaration "class" name: (_) @name body: (_) @body) @class
    (class_declaration "actor" name: (_) @name body: (_) @body) @class
    (class_declaration "struct" name: (_) @name body: (_) @body) @struct
    (class_declaration "enum" name: (_) @name body: (_) @body) @enum
    (class_declaration "extension" name: (_) @name body: (_) @body) @impl
    interface protocol_declaration name body
    (function_declaration name: (simple_identifier) @name body: (_)? @body) @function
    (protocol_function_declaration name: (simple_identifier) @name) @method
    (init_declaration "init" @name body: (_)? @body) @method
    (deinit_declaration "deinit" @name body: (_)? @body) @method
    (subscript_declaration "subscript" @name (computed_property)? @body) @method
    (class_body (property_declaration name: (pattern bound_identifier: (_) @name) [
      value: (_) @body
      computed_value: (_) @body
    ]?) @field)
    (enum_class_body (property_declaration name: (pattern bound_identifier: (_) @name)
      computed_value: (_)? @body) @field)
    (protocol_property_declaration name: (pattern bound_identifier: (_) @name)) @field
    (source_file (property_declaration name: (pattern bound_identifier: (_) @name)
      value: (_)? @body) @constant)
    (enum_entry name: (simple_identifier) @name) @constant
    (typealias_declaration name: (type_identifier) @name) @type
    (import_declaration) @import
"""),
    ),
    Language(
        name="dart",
        suffixes=(".dart",),
        grammar_module="tree_sitter_dart",
        imports=first_quoted,
        writing=writing(
            ("slashes", "block", "triple", "triple_single", "double", "single"), ("${",), "dollar_braces"
        ),
        keywords=_COMMON,
        literals=SCRIPT_LITERALS,
        symbols=_query("""
    class class_definition name body
    enum enum_declaration name body
    impl extension_declaration name body
    (mixin_declaration . (mixin) . (identifier) @name (class_body) @body) @trait
    (type_alias . (type_identifier) @name) @type
    (program ((function_signature name: (_) @name) @function . (function_body) @body))
    (program ((getter_signature name: (_) @name) @function . (function_body) @body))
    ((method_signature (_ name: (_) @name)) @method . (function_body) @body)
    ((method_signature (operator_signature (binary_operator) @name)) @method . (function_body) @body)
    ((method_signature (factory_constructor_signature . (identifier) . (identifier)? @name)) @method
      . (function_body) @body)
    (declaration (function_signature name: (_) @name)) @method
    (declaration (getter_signature name: (_) @name)) @method
    (declaration (constructor_signature name: (_) @name .)) @method
    (declaration (constructor_signature name: (_) @name . (formal_parameter_list))) @method
    (declaration (initialized_identifier_list (initialized_identifier . (identifier) @name))) @field
    (declaration (static_final_declaration_list (static_final_declaration . (identifier) @name))) @field
    (program (static_final_declaration_list (static_final_declaration . (identifier) @name) @constant))
    (program (initialized_identifier_list (initialized_identifier . (identifier) @name) @constant))
    (enum_constant name: (_) @name) @constant
    (annotation) @attribute
    (import_or_export) @import
"""),
    ),
    Language(
        name="solidity",
        suffixes=(".sol",),
        grammar_module="tree_sitter_solidity",
        imports=first_quoted,
        writing=writing(("slashes", "block", "double", "single")),
        keywords=_COMMON,
        literals=SCRIPT_LITERALS,
        symbols=_query("""
    class contract_declaration,library_declaration name body
    interface interface_declaration name body
    struct struct_declaration name body
    enum enum_declaration name body
    function function_definition,modifier_definition name body
    type error_declaration,user_defined_type_definition,event_definition name -
    field state_variable_declaration,struct_member name -
    constant constant_variable_declaration name -
    (constructor_definition "constructor" @name body: (_)? @body) @method
    (fallback_receive_definition ["receive" "fallback"] @name body: (_)? @body) @method
    (enum_value) @constant @name
    (import_directive) @import
"""),
    ),
    Language(
        name="zig",
        suffixes=(".zig", ".zon"),
        unspoken_suffixes=(".zon",),
        grammar_module="tree_sitter_zig",
        namer=bare_name,
        imports=first_quoted,
        writing=writing(("slashes", r"\\\\[^\n]*+", "double", "letter")),
        keywords=_COMMON,
        symbols=_query("""
    function function_declaration name body
    (test_declaration . (_) @name (block) @body) @function
    (variable_declaration . (identifier) @name (struct_declaration) @body) @struct
    (variable_declaration . (identifier) @name (union_declaration) @body) @struct
    (variable_declaration . (identifier) @name (opaque_declaration) @body) @struct
    (variable_declaration . (identifier) @name (enum_declaration) @body) @enum
    (variable_declaration . (identifier) @name (error_set_declaration) @body) @enum
    (source_file (variable_declaration . (identifier) @name) @constant)
    (struct_declaration (variable_declaration . (identifier) @name) @constant)
    field container_field name -
    (variable_declaration (builtin_function (builtin_identifier) @callee (arguments (string)))
      (#eq? @callee "@import")) @import
"""),
    ),
    Language(
        name="haskell",
        suffixes=(".hs", ".hs-boot"),
        unspoken_suffixes=(".hs-boot",),
        interpreters=("runhaskell",),
        grammar_module="tree_sitter_haskell",
        is_indented=True,
        merges_clauses=True,
        namer=_haskell_name,
        doc_comments=DocComments((b"--",), blocks=False),
        imports=_haskell_import,
        writing=writing((r"--[^\n]*+", _HASKELL_BLOCK, "double", "letter"), identifier=_PRIMED),
        keywords=_COMMON,
        literals=DASH_LITERALS,
        symbols=_query("""
    struct data_type,newtype name constructors
    class class name declarations
    type type_synonym,type_family name -
    (instance name: (_) @name patterns: (_) @name declarations: (_)? @body) @impl
    ([(function name: (_) @name match: (_) @body) (bind name: (_) @name match: (_) @body)
      (function (infix operator: (_) @name) match: (_) @body) (signature name: (_) @name)] @function @global)
    (data_constructor (_ name: (constructor) @name)) @constant
    (field name: (field_name) @name) @field
    (import) @import
"""),
    ),
    Language(
        name="clojure",
        suffixes=(".clj", ".cljs", ".cljc", ".bb", ".edn"),
        unspoken_suffixes=(".bb", ".edn"),
        interpreters=("bb",),
        grammar_module=EXTRA_GRAMMARS,
        doc_comments=DocComments((b";",), blocks=False),
        imports=_clojure_namespace,
        writing=writing((r";[^\n]*+", r"\\\w++", "double_lines"), identifier=_LISP),
        keywords=_COMMON,
        literals=LISP_LITERALS,
        symbols=_query("""
    (list_lit . (sym_lit name: (_) @callee) . (sym_lit name: (_) @name) @head
      (#any-of? @callee "defn" "defn-" "defmulti" "defmethod" "deftest" "defspec")) @function
    (list_lit . (sym_lit name: (_) @callee) . (sym_lit name: (_) @name) @head
      (#eq? @callee "defmacro")) @macro
    (list_lit . (sym_lit name: (_) @callee) . (sym_lit name: (_) @name) @head
      (#any-of? @callee "defprotocol" "definterface")) @interface
    (list_lit . (sym_lit name: (_) @callee) . (sym_lit name: (_) @name) @head
      (#any-of? @callee "defrecord" "deftype")) @class
    (list_lit . (sym_lit name: (_) @callee) . [(sym_lit name: (_) @name) (kwd_lit name: (_) @name)]
      (#any-of? @callee "def" "defonce" "defstate")) @constant
    (list_lit . (sym_lit name: (_) @callee) (#eq? @callee "ns")) @import
"""),
    ),
    Language(
        name="objc",
        suffixes=(".m", ".mm"),
        unspoken_suffixes=(".m", ".mm"),
        shared_suffixes=(SharedSuffix(".h", rb"^@(?:interface|protocol|class|import)\b"),),
        spoken=("objective-c", "objective c"),
        grammar_module=EXTRA_GRAMMARS,
        imports=first_quoted,
        writing=writing(("slashes", "block", "double", "letter")),
        keywords=_COMMON,
        symbols=_query("""
    ([(class_interface . (identifier) @name @head) (class_implementation . (identifier) @name @head)] @class)
    (protocol_declaration . (identifier) @name @head) @interface
    (method_definition (method_type) . (identifier) @name (compound_statement) @body) @method
    (method_declaration (method_type) . (identifier) @name) @method
    (property_declaration (struct_declaration (struct_declarator (identifier) @name))) @field
    (property_declaration (struct_declaration
      (struct_declarator (pointer_declarator (identifier) @name)))) @field
    (function_definition declarator: (function_declarator declarator: (identifier) @name)
      body: (_) @body) @function
    (function_definition declarator: (pointer_declarator
      (function_declarator declarator: (identifier) @name)) body: (_) @body) @function
    (enum_specifier name: (_) @name body: (_) @body) @enum
    (struct_specifier name: (_) @name body: (_) @body) @struct
    (type_definition declarator: (type_identifier) @name) @type
    constant preproc_def,enumerator name -
    macro preproc_function_def name value
    [(preproc_include) (module_import)] @import
"""),
    ),
    Language(
        name="powershell",
        suffixes=(".ps1", ".psm1", ".psd1"),
        unspoken_suffixes=(".psd1",),
        interpreters=("pwsh",),
        grammar_module="tree_sitter_powershell",
        namer=_unscoped_name,
        doc_comments=HASH_COMMENTS,
        imports=_second_word,
        writing=writing((_POWERSHELL_BLOCK, _HASH, "double", "quoted"), identifier=_DASHED),
        keywords=_COMMON,
        literals=HASH_LITERALS,
        symbols=_query("""
    function function_statement .function_name .script_block
    (class_statement . (simple_name) @name @head) @class
    (enum_statement . (simple_name) @name @head) @enum
    method class_method_definition .simple_name .script_block
    field class_property_definition .variable -
    constant enum_member .simple_name -
    (command command_name: (command_name) @callee command_elements: (command_elements . (_) .
      (array_literal_expression (unary_expression (string_literal) @name @head)))
      (#any-of? @callee "Describe" "Context" "It")) @function
    (command command_name: (command_name) @callee
      (#eq? @callee "Import-Module")) @import
    (command (command_invokation_operator) . (command_name_expr)) @import
"""),
    ),
    Language(
        name="graphql",
        role=LanguageRole.DECLARATIONS,
        suffixes=(".graphql", ".gql", ".graphqls"),
        unspoken_suffixes=(".gql", ".graphqls"),
        grammar_module=EXTRA_GRAMMARS,
        doc_comments=HASH_COMMENTS,
        writing=writing(("hash", "triple", "double")),
        keywords=_COMMON,
        literals=HASH_LITERALS,
        symbols=_query("""
    struct object_type_definition,object_type_extension .name .fields_definition
    struct input_object_type_definition .name .input_fields_definition
    interface interface_type_definition,interface_type_extension .name .fields_definition
    enum enum_type_definition .name .enum_values_definition
    type union_type_definition,scalar_type_definition,directive_definition .name -
    function operation_definition .name .selection_set
    function fragment_definition .fragment_name .selection_set
    field field_definition .name -
    (input_fields_definition (input_value_definition . (name) @name) @field)
    (enum_value_definition (enum_value) @name) @constant
"""),
    ),
    Language(
        name="protobuf",
        role=LanguageRole.DECLARATIONS,
        suffixes=(".proto",),
        spoken=("protocol buffers", "proto", "protobufs"),
        grammar_module=EXTRA_GRAMMARS,
        grammar_name="proto",
        imports=first_quoted,
        writing=writing(("slashes", "block", "double", "single")),
        keywords=_COMMON,
        literals=C_LITERALS,
        symbols=_query("""
    struct message .message_name .message_body
    enum enum .enum_name .enum_body
    interface service .service_name head
    method rpc .rpc_name -
    field field,map_field,oneof_field .identifier -
    constant enum_field .identifier -
    (import) @import
"""),
    ),
    Language(
        name="make",
        role=LanguageRole.DECLARATIONS,
        suffixes=(".mk", ".mak"),
        filenames=("makefile", "gnumakefile"),
        spoken=("makefile",),
        grammar_module="tree_sitter_make",
        doc_comments=HASH_COMMENTS,
        imports=_second_word,
        writing=writing(("hash",), identifier=_DASHED),
        literals=HASH_LITERALS,
        symbols=_query("""
    ((rule (targets (word) @name) (recipe)? @body) @function (#not-match? @name "^[.]|%"))
    constant variable_assignment name value
    macro define_directive name value
    (include_directive) @import
"""),
    ),
    Language(
        name="cmake",
        role=LanguageRole.DECLARATIONS,
        suffixes=(".cmake",),
        filenames=("cmakelists.txt",),
        grammar_module=EXTRA_GRAMMARS,
        doc_comments=HASH_COMMENTS,
        imports=_second_word,
        writing=writing(("hash",)),
        literals=HASH_LITERALS,
        symbols=_query("""
    (function_def (function_command (argument_list . (argument) @name)) (body)? @body) @function
    (macro_def (macro_command (argument_list . (argument) @name)) (body)? @body) @macro
    ((normal_command (identifier) @callee (argument_list . (argument) @name)) @constant
      (#match? @callee "^(?i:set|option)$"))
    ((normal_command (identifier) @callee (argument_list . (argument) @name)) @type
      (#match? @callee "^(?i:add_(?:library|executable|custom_target))$"))
    ((normal_command (identifier) @callee) @import (#match? @callee "^(?i:include|add_subdirectory)$"))
"""),
    ),
    Language(
        name="dockerfile",
        role=LanguageRole.DECLARATIONS,
        suffixes=(".dockerfile", ".containerfile"),
        filenames=("dockerfile", "containerfile"),
        spoken=("docker", "containerfile"),
        grammar_module="tree_sitter_containerfile",
        doc_comments=HASH_COMMENTS,
        writing=writing(("hash",)),
        literals=HASH_LITERALS,
        symbols=_query("""
    module from_instruction as -
    constant arg_pair,env_pair name -
"""),
    ),
    Language(
        name="other",
        suffixes=tuple(f".{each}" for each in re.split(" ", _PLAIN)),
        unspoken_suffixes=tuple(f".{each}" for each in re.findall(r"\b\w\w?\b", _PLAIN)),
        structure=Structure.PLAIN,
        doc_comments=DocComments((b"#", b"//", b"--", b";", b"%", b"'")),
        writing=writing(("slashes", "hash", "double")),
        keywords=_COMMON,
        literals=HASH_LITERALS,
    ),
)
