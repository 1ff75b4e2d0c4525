"""Budgets of answers and contexts, cursors, and where a page ends."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.responses import (
    Answer,
    Cursor,
    decode_cursor,
    map_token_budget_in,
    page_end,
    response_token_budget_for,
)
from navigator.settings import MIN_TOKEN_BUDGET
from repo_map.text.tokens import count
from tests.support.errors import refused


@given(st.integers(MIN_TOKEN_BUDGET, 200_000))
def test_the_map_has_most_of_the_answer_and_never_all_of_it(response_token_budget: int) -> None:
    assert response_token_budget * 0.2 < map_token_budget_in(response_token_budget) < response_token_budget


@given(st.integers(1, 200_000), st.integers(MIN_TOKEN_BUDGET, 200_000))
def test_answers_have_room_for_the_map_and_grow_only_for_it(map_token_budget: int, minimum: int) -> None:
    found = response_token_budget_for(map_token_budget, minimum)
    assert map_token_budget_in(found) >= map_token_budget
    assert found == minimum or (found > minimum and map_token_budget_in(minimum) < map_token_budget)


# The first count loads the vocabularies.
@settings(deadline=None)
@given(st.text())
def test_an_answer_is_as_large_as_its_costliest_form(text: str) -> None:
    answer = Answer(text, {"context": text})
    forms = [text, json.dumps({"context": text}), json.dumps({"context": text}, ensure_ascii=False)]
    assert answer.size == max(map(count, forms))


@given(st.integers(0, 999), st.none() | st.integers(0, 999), st.integers(0, 10**9))
def test_a_cursor_survives_the_wire(step: int, since_step: int | None, offset: int) -> None:
    cursor = Cursor(step, since_step, offset)
    assert decode_cursor(cursor.encode()) == cursor


@pytest.mark.parametrize("text", ["", "ü", "nonsense", "WzEsMl0", "e30", "WzEsIngiLDNd"])
def test_a_cursor_of_another_shape_is_refused(text: str) -> None:
    with refused("invalid_argument", "cursor"):
        decode_cursor(text)


CONTEXT = "a.py\n1\n2\nb.py\n3\n4\nc.py\n5\n6\n"
FILES = (0, 9, 18)


@pytest.mark.parametrize(
    ("start", "room", "guess", "rest"),
    [
        pytest.param(0, 19, 0.8, "c.py\n5\n6\n", id="before a file"),
        pytest.param(0, 7, 0.3, CONTEXT[7:], id="between the lines of a file larger than a page"),
        pytest.param(9, 99, 0.1, "", id="with the text"),
    ],
)
def test_a_page_ends(start: int, room: int, guess: float, rest: str) -> None:
    assert CONTEXT[page_end(CONTEXT, start, FILES, lambda end: end <= room, guess) :] == rest


@given(
    st.lists(st.text("ab\n", max_size=8), max_size=12),
    st.integers(1, 30),
    st.floats(0.05, 1.5),
    st.lists(st.integers(0, 40)),
)
def test_pages_cover_the_text_without_gap_or_end(
    lines: list[str], room: int, guess: float, files: list[int]
) -> None:
    text = "\n".join(lines)
    starts = sorted(start for start in set(files) if start <= len(text))
    start, pages = 0, []
    while start < len(text):
        first = start
        end = page_end(text, first, starts, lambda end, first=first: end - first <= room, guess)  # type: ignore[misc]
        assert end > start
        pages.append(text[start:end])
        start = end
    assert "".join(pages) == text
