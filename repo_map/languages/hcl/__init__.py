"""HCL: Terraform and what is written like it."""

from __future__ import annotations

from typing import Final

from repo_map.languages.language import HASH_COMMENTS, DocComments, Language, LanguageRole, words
from repo_map.languages.syntax import HASH_LITERALS, Captures, Named, bounded, text_of, writing


def _namer(source: bytes, kind: str, captures: Captures) -> Named:
    """Name a block by its type and labels: ``resource.aws_s3_bucket.main``."""
    name = ".".join(text_of(source, node).strip('"') for node in captures.get("name", ()))
    return [(name, kind)] if bounded(name) else []


LANGUAGES: Final = (
    Language(
        name="hcl",
        role=LanguageRole.DECLARATIONS,
        suffixes=(".tf", ".hcl", ".tfvars", ".nomad"),
        unspoken_suffixes=(".tfvars", ".nomad"),
        grammar_module="tree_sitter_hcl",
        namer=_namer,
        doc_comments=DocComments((*HASH_COMMENTS.line, b"//")),
        writing=writing(("hash", "slashes", "block", "double"), ("${",), "dollar_braces"),
        keywords=words(
            "true false null for in if var local each self count data resource variable output module"
            " provider terraform locals string number bool list map object any"
        ),
        literals=HASH_LITERALS,
    ),
)
