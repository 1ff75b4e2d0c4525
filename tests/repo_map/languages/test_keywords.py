"""The words of each language that are no names."""

from __future__ import annotations

import pytest

from repo_map.languages.grammars import grammar
from repo_map.languages.registry import LANGUAGES

_SHORTEST = 4
"""Letters of a half: `into` and `typedef` are words of their own in some grammar or other."""
_NO_TOKENS = {"lua": {"tonumber", "tostring"}, "sql": {"database", "varchar", "DATABASE", "VARCHAR"}}


def _tokens(language: str) -> frozenset[str]:
    """Return the words that a grammar has by themselves: its keywords."""
    found = grammar(language)
    kinds = range(found.node_kind_count)
    return frozenset(
        kind for at in kinds if not found.node_kind_is_named(at) and (kind := found.node_kind_for_id(at))
    )


@pytest.mark.parametrize("language", [name for name, each in LANGUAGES.items() if each.keywords])
def test_no_keyword_is_two_that_a_missing_space_ran_together(language: str) -> None:
    tokens = _tokens(language)
    words = LANGUAGES[language].keywords | tokens
    joined = {
        word
        for word in LANGUAGES[language].keywords - tokens
        for cut in range(_SHORTEST, len(word) - _SHORTEST + 1)
        if word[:cut] in words and word[cut:] in words
    }
    assert joined <= _NO_TOKENS.get(language, set())


def test_the_keywords_of_a_grammar_are_no_names() -> None:
    assert {"co_await", "co_return", "co_yield"} <= _tokens("cpp") & LANGUAGES["cpp"].keywords
