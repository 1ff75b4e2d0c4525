"""Feedback of any text at all is answered: what people paste, and what nobody would write."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repo_map.feedback.apply import steer
from repo_map.index import RepoIndex, build_index
from repo_map.indexing.store import Store
from repo_map.plan.model import FlightPlan
from repo_map.relevance.score import score_goal
from tests.repo_map.test_steering import FILES, GOAL
from tests.support.trees import write

FENCES = ("```", "````", "~~~", "'''", '"""', "``", "`", "''", '""', "“”", "„“", "'", '"')
PASTED = tuple(
    f"{before}{fence}{inside}{fence}{after}"
    for fence in FENCES
    for before, inside, after in (
        ("", "", ""),
        ("show ", "python\ndef dispatch():\n    return 1\n", ""),
        ("drop ", " ", " please"),
        ("I mean:\n", "\n", ""),
        ("", "dispatch", ""),
    )
)
WORDS = st.sampled_from(
    ["show", "drop", "only", "and", "not", "who calls", "tests", "router.py", "dispatch", "lines 1-2", "less"]
)
MARKS = st.sampled_from(
    [*FENCES, "\n", ". ", ", ", "? ", "(", "]", "\\", "@", "\0", "\ud83d", "\u2028", "…", "+", "-"]
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> RepoIndex:
    return build_index(write(tmp_path_factory.mktemp("pasted"), FILES), store=Store(None), workers=1)


def told(index: RepoIndex, feedback: str) -> str:
    steered = steer(index, FlightPlan(budget=2_000), score_goal(index, GOAL), feedback)
    return "\n".join((*steered.lines, steered.answer or ""))


@pytest.mark.parametrize("feedback", PASTED)
def test_pasted_code_is_answered(index: RepoIndex, feedback: str) -> None:
    told(index, feedback)


@settings(max_examples=150, deadline=None)
@given(parts=st.lists(st.one_of(WORDS, MARKS, st.text(max_size=8)), max_size=40))
def test_any_text_is_answered(index: RepoIndex, parts: list[str]) -> None:
    told(index, " ".join(parts))
    told(index, "".join(parts))


def test_what_is_too_long_to_read_says_so_and_the_rest_is_done(index: RepoIndex) -> None:
    answer = told(index, f"show {'foo ' * 200}. Drop router.py")
    assert "At most 50 sentences of 400 characters each are read" in answer
    assert "…”" in answer
    assert "router.py" in told(index, "drop router.py")


@pytest.mark.parametrize(
    "before", ["the enum", "show router.py and", "entry #7", "number 7 through 9 and 3 not"]
)
@pytest.mark.parametrize("blank", [" ", "\t", "\u00a0", " \t"])
def test_blanks_between_words_cost_nothing(index: RepoIndex, before: str, blank: str) -> None:
    long = ". ".join([f"{before}{blank * 360 if len(blank) == 1 else blank * 180} x?"] * 10)
    began = time.process_time()
    answer = told(index, long)
    assert time.process_time() - began < 2
    assert answer == told(index, ". ".join([f"{before} x?"] * 10))
