"""Questions in everyday words: the thesaurus leads to the words of identifiers."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from repo_map.ranking.score import score_goal
from repo_map.ranking.thesaurus import related_terms
from tests.support.maps import index_of

CLIENT = {
    "client/redirects.py": "def follow_redirect(response):\n    return response.headers\n",
    "client/places.py": "def make_place(response):\n    return response.headers\n",
    "client/redact.py": "def redact_text(response):\n    return response.headers\n",
    "client/retries.py": "def attempt_again(response):\n    return response.headers\n",
}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is done if we are sent on elsewhere?", "follow_redirect"),
        ("How are secrets blotted out?", "redact_text"),
    ],
)
def test_a_question_in_everyday_words_finds_the_definition(question: str, answer: str) -> None:
    assert score_goal(index_of(CLIENT), question).units[0].name == answer


def test_expressions_that_agree_on_a_term_add_up() -> None:
    one, both = related_terms("slow sender"), related_terms("slow sender, no later than")
    assert 0 < one["timeout"] < both["timeout"] < 1


def test_text_without_known_words_has_no_related_terms() -> None:
    assert related_terms("") == {}
    assert related_terms("qwzx 12 語") == {}


def test_each_line_has_words_of_identifiers_and_expressions() -> None:
    text = resources.files("repo_map.ranking").joinpath("thesaurus.txt").read_text("ascii")
    lines = text.splitlines()
    assert lines == sorted(set(lines))
    line = re.compile(r"[a-z0-9]+( [a-z0-9]+)* \| [a-z0-9]+([- ][a-z0-9]+)*(, [a-z0-9]+([- ][a-z0-9]+)*)*")
    assert [each for each in lines if not line.fullmatch(each)] == []
