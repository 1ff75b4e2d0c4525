"""Ruby."""

from __future__ import annotations

from typing import Final

from repo_map.languages.language import HASH_COMMENTS, Language, words
from repo_map.languages.syntax import HASH_LITERALS, bare_name, first_quoted, writing

LANGUAGES: Final = (
    Language(
        family="ruby",
        name="ruby",
        suffixes=(".rb", ".rake", ".gemspec", ".ru", ".podspec"),
        unspoken_suffixes=(".rake", ".gemspec", ".ru", ".podspec"),
        filenames=("gemfile", "rakefile", "vagrantfile", "podfile", "guardfile", "capfile", "brewfile"),
        interpreters=("ruby",),
        grammar_module="tree_sitter_ruby",
        namer=bare_name,
        doc_comments=HASH_COMMENTS,
        imports=first_quoted,
        writing=writing(("hash", "double_lines", "single_lines"), ("#{",), "hash_braces"),
        keywords=words(
            "BEGIN END alias and attr_accessor attr_reader attr_writer begin break case class def defined do"
            " else elsif end ensure extend false for if in include lambda loop module next nil not or prepend"
            " private proc protected public puts raise redo require require_relative rescue retry return self"
            " super then true undef unless until when while yield __FILE__ __method__"
        ),
        literals=HASH_LITERALS,
    ),
)

RUBY_MEMBERS: Final = words(
    "add all any call class clear close count delete each each_with_index empty? fetch find first flatten"
    " freeze get include? inspect is_a? join key? keys last length map match merge name new next nil? path"
    " pop print push puts read reject select set shift size sort split start_with? strip sub tap to_a to_h"
    " to_s to_sym type update value values write"
)
"""Members that types of the standard library bear."""
