"""Sentences as people and models write them: understood, or honestly not, and never wrong."""

from __future__ import annotations

import re

import pytest

from repo_map.feedback.apply import steer
from repo_map.feedback.operations import OF_FILES, TAKES_AWAY, WORDS
from repo_map.feedback.table import TABLE
from repo_map.index import RepoIndex, build_index
from repo_map.indexing.store import Store
from repo_map.relevance.score import score_goal
from repo_map.text.tokens import count
from tests.repo_map.feedback.corpus import REPOSITORIES, counts, heard, plan_of, read
from tests.repo_map.feedback.repository import GOAL, make
from tests.support.trees import write


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> RepoIndex:
    root = make(tmp_path_factory.mktemp("corpus"))
    return build_index(root, store=Store(None), workers=1)


@pytest.fixture(scope="module")
def indexes(index: RepoIndex, tmp_path_factory: pytest.TempPathFactory) -> dict[str, RepoIndex]:
    others = {
        name: build_index(write(tmp_path_factory.mktemp(name), spoken.files), store=Store(None), workers=1)
        for name, spoken in REPOSITORIES.items()
        if name != "shop"
    }
    return {"shop": index, **others}


def test_every_sentence_of_the_corpus_does_what_it_says(indexes: dict[str, RepoIndex]) -> None:
    _, failed = counts(indexes, read("corpus.txt"))
    assert not failed, "\n".join(failed)


def test_an_answer_takes_at_most_two_hundred_tokens(index: RepoIndex) -> None:
    relevance = score_goal(index, GOAL)
    questions = [
        each
        for each in read("corpus.txt")
        if each.repository == "shop" and each.wishes and each.wishes[0].split(" ")[0].endswith("?")
    ]
    assert len(questions) > 40
    for question in questions:
        answer = heard(index, question.words, relevance).answer
        assert answer, question.words
        assert count(answer) <= 200, question.words


def test_several_questions_are_answered_within_the_same_bounds(index: RepoIndex) -> None:
    words = (
        ". ".join(
            f"why is src/shop/{name}.py here? where is {name}" for name in ("auth", "retry", "sessions")
        )
        * 4
    )
    assert count(heard(index, words).answer) <= 200


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.operation}{'?' * row.is_question}")
def test_each_example_of_the_table_means_what_the_table_says(index: RepoIndex, row: object) -> None:
    for example in row.examples:  # type: ignore[attr-defined]
        found = heard(index, example)
        assert [(wish.operation, wish.is_question) for wish in found.wishes] == [
            (row.operation, row.is_question)  # type: ignore[attr-defined]
        ], example
        assert not found.not_understood


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.operation}{'?' * row.is_question}")
def test_what_is_offered_to_who_was_not_understood_is_understood(index: RepoIndex, row: object) -> None:
    say = row.say.replace("{}", "merge_cookies")  # type: ignore[attr-defined]
    if row.operation in ("search", *OF_FILES):  # type: ignore[attr-defined]
        say = row.say.replace("{}", "src/shop/retry.py")  # type: ignore[attr-defined]
    assert not heard(index, say).not_understood, say


def test_the_commits_of_a_file_are_told_with_their_day(index: RepoIndex) -> None:
    from repo_map.history.history import read_history

    relevance, history = score_goal(index, GOAL), read_history(index.place.parts[0].root, store=Store(None))
    answer = steer(index, plan_of(), relevance, "who changed retry.py last?", history=history).answer
    assert answer.startswith("`src/shop/retry.py`, last commits: ")
    assert "“Let a retry give up”; " in answer


@pytest.mark.parametrize(
    ("name", "understood", "wrong"), [("corpus_unseen.txt", (129, 140), 5), ("corpus_fresh.txt", (57, 59), 1)]
)
def test_sentences_that_no_form_was_written_for_come_to_what_the_page_says(
    indexes: dict[str, RepoIndex], name: str, understood: tuple[int, int], wrong: int
) -> None:
    # The figures are those of `docs/steering.md`.
    counted, failed = counts(indexes, read(name))
    assert counted.total() == understood[1]
    assert counted["wrong"] <= wrong, "\n".join(failed)
    assert counted["understood"] >= understood[0], "\n".join(failed)


def test_sentences_that_a_larger_grammar_understood_take_nothing_away_that_was_not_wished(
    indexes: dict[str, RepoIndex],
) -> None:
    # The page counts them: rules that understood these sentences alone were taken out again.
    sentences = read("corpus_not_understood.txt")
    assert len(sentences) == 43
    for sentence in sentences:
        found = heard(indexes[sentence.repository], sentence.words, repository=sentence.repository)
        taken = {wish.text for wish in found.wishes if wish.operation in TAKES_AWAY}
        assert taken <= set(sentence.wishes), sentence.words
        assert found.not_understood or len(found.wishes) == len(sentence.wishes), sentence.words


@pytest.mark.parametrize(
    ("words", "heard_as"),
    [
        ("show src/shop/auth.py. It crashes on Windows, sadly.", ["whole src/shop/auth.py"]),
        ("Retry.backoff is where it fails, show it", ["whole Retry.backoff"]),
        ("show Session.send, I need it", ["whole Session.send"]),
    ],
)
def test_what_is_said_by_the_way_is_no_wish(index: RepoIndex, words: str, heard_as: list[str]) -> None:
    found = heard(index, words)
    assert [wish.text for wish in found.wishes] == heard_as
    assert not found.not_understood


@pytest.mark.parametrize(
    ("words", "heard_as"),
    [
        ("If Session.send is tested, drop the tests", []),
        ("Unless it is used elsewhere, drop src/shop/utils.py", []),
        ("What does Session.send use? Drop them.", ["uses? Session.send"]),
        ("Who calls slug? List those in tests.", ["callers? slug"]),
        ("Show the function right after Session.send", []),
        ("Show callers of callers of slug", []),
        ("show the class that Session.send belongs to", []),
        ("show Session without close", []),
        ("That should be enough, except that I need Invoice.total.", []),
        ("remove everything src/shop/sessions.py", []),
        ("show 3 except 3", []),
        ("drop in docs/", []),
        ("leave out docs/ and examples/ was a mistake", []),
        ("I have already read src/shop/auth.py", []),
    ],
)
def test_what_could_be_done_wrongly_is_refused(index: RepoIndex, words: str, heard_as: list[str]) -> None:
    found = heard(index, words)
    assert [wish.text for wish in found.wishes] == heard_as
    assert found.not_understood
    assert not found.changes


@pytest.mark.parametrize(
    ("words", "heard_as", "missed", "withheld"),
    [
        # What is clear is done, unless it takes something away or the other half may narrow it.
        ("Show retry.py and show the moon", ["whole src/shop/retry.py"], "show the moon", ()),
        ("Drop the docs and show the moon", [], "show the moon", ("Drop the docs",)),
        ("Show retry.py but only if it is small", [], "only if it is small", ("Show retry.py",)),
        # Beside a sentence that is not understood nothing is taken away, and what only adds is done.
        (
            "Show retry.py. Drop the docs. Sing a song",
            ["whole src/shop/retry.py"],
            "Sing a song",
            ("Drop the docs",),
        ),
        ("Who calls slug? Sing a song", ["callers? slug"], "Sing a song", ()),
        # Beside words that may take back what was said, nothing is changed.
        ("Show retry.py. Actually, don't.", [], "don't", ("Show retry.py",)),
    ],
)
def test_what_is_clear_is_done_and_the_rest_is_told(
    index: RepoIndex, words: str, heard_as: list[str], missed: str, withheld: tuple[str, ...]
) -> None:
    found = heard(index, words)
    assert [wish.text for wish in found.wishes] == heard_as
    assert [each.words for each in found.not_understood] == [missed]
    assert found.not_understood[0].withheld == withheld
    assert all(f"“{each}”" in found.lines[-1] for each in (missed, *withheld))


@pytest.mark.parametrize(
    "word", ["unless it is used", "except on Fridays", "half", "instead", "second", "later", "the other one"]
)
@pytest.mark.parametrize(
    "wish",
    [
        "drop src/shop/utils.py",
        "only src/shop",
        "less of src/shop/auth.py",
        "use 3000 tokens",
        "finish",
        "undo",
    ],
)
def test_no_word_beside_a_wish_goes_unread(index: RepoIndex, wish: str, word: str) -> None:
    for words in (f"{wish} {word}", f"{wish}, {word}", f"{word} {wish}"):
        found = heard(index, words)
        assert not found.changes, words
        assert found.not_understood, words


def test_no_form_leaves_words_unread() -> None:
    # What a form leaves open is `<aside>`, which lets nothing pass that narrows, or what it is about.
    for row in TABLE:
        for form in (*row.forms, *WORDS.values()):
            read = re.sub(r"\(\?[=!](?:[^()]|\([^()]*\))*\)", "", form)
            assert not re.search(r"\.[+*]|\\[WS]", read), (row.operation, form)


def test_what_takes_away_is_told_apart_from_what_adds() -> None:
    assert {"out", "only", "less", "outline", "budget", "finish", "undo"} == {
        str(each) for each in TAKES_AWAY
    }
