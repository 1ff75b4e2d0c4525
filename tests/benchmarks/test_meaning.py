"""The embedding: its file, how near it says that code is to a goal, and the pairs it learns from."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks.meaning.embedding import Embedding, EmbeddingFileError, Side, read_embedding, write_embedding
from benchmarks.meaning.messages import goal_of
from benchmarks.meaning.pairs import read_repository
from benchmarks.meaning.pieces import Pieces, learn_merges, read_merges, write_merges
from benchmarks.meaning.similarity import similarity
from repo_map.index import RepoIndex, build_index
from repo_map.indexing.store import Store
from repo_map.indexing.vocabulary import StringTable
from repo_map.relevance.corpus import Corpus
from repo_map.relevance.goal import parse_goal
from repo_map.relevance.terms import terms_of

_SOURCE = """\
def authenticate(user, password):
    return check_credentials(user, password)


def draw_rectangle(width, height):
    return Polygon(width, height)
"""
_MEANINGS = {"login": 0, "authenticate": 0, "credentials": 0, "draw": 1, "polygon": 1, "shape": 1}


@pytest.fixture(scope="module")
def embedding() -> Embedding:
    """Two meanings, one dimension each: signing in, and drawing."""
    meanings = {terms_of(word)[0].encode(): axis for word, axis in _MEANINGS.items()}
    terms = StringTable.of_sorted_bytes(sorted(meanings))
    vectors = np.zeros((len(terms), 2), np.int8)
    for row, term in enumerate(terms.iter_bytes()):
        vectors[row, meanings[term]] = 100
    ones = np.ones(len(terms), np.float32)
    side = Side(vectors, ones / 100, ones, np.ones(5, np.float32), power=0.5, rarity=1.0)
    return Embedding(terms, side, side)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> RepoIndex:
    root = tmp_path_factory.mktemp("repository")
    (root / "code.py").write_text(_SOURCE)
    return build_index(root, store=Store(None), workers=1)


def near(index: RepoIndex, goal: str, embedding: Embedding) -> list[float]:
    units = np.arange(len(index.units.start))
    return similarity(Corpus(index), parse_goal(goal), units, embedding).tolist()


def test_code_is_near_a_goal_that_shares_its_meaning_and_none_of_its_words(
    index: RepoIndex, embedding: Embedding
) -> None:
    signing_in, drawing = near(index, "The login is broken", embedding)
    assert signing_in > 0.5
    assert drawing == 0.0


def test_a_goal_of_unknown_words_is_near_nothing(index: RepoIndex, embedding: Embedding) -> None:
    assert near(index, "Zwölf Boxkämpfer", embedding) == [0.0, 0.0]


def test_no_units_have_no_similarities(index: RepoIndex, embedding: Embedding) -> None:
    assert not len(similarity(Corpus(index), parse_goal("login"), np.zeros(0, np.int64), embedding))


def test_an_empty_repository_is_near_nothing(tmp_path: Path, embedding: Embedding) -> None:
    index = build_index(tmp_path, store=Store(None), workers=1)
    assert near(index, "login", embedding) == []


def test_an_embedding_survives_its_file(index: RepoIndex, embedding: Embedding) -> None:
    content = write_embedding(embedding)
    again = read_embedding(content)
    assert list(again.terms) == list(embedding.terms)
    assert near(index, "login to draw a shape", again) == near(index, "login to draw a shape", embedding)
    assert write_embedding(again) == content


def test_a_file_that_is_no_embedding_is_named(embedding: Embedding) -> None:
    with pytest.raises(EmbeddingFileError, match="no embedding of this version"):
        read_embedding(b"something else")
    with pytest.raises(EmbeddingFileError, match="cut short"):
        read_embedding(write_embedding(embedding)[:-100])


@pytest.mark.parametrize(
    ("message", "goal"),
    [
        ("Fix #12: crash in src/auth/login.py at sign in (#13)", ": crash in   at sign in"),
        ("Add a login form\n\nSigned-off-by: A <a@example.com>\nCloses #9", "Add a login form"),
        ("Bump requests from 1.0 to 2.0", ""),
        ("Merge branch 'main'", ""),
        ("wip", ""),
    ],
)
def test_a_message_becomes_a_goal_without_what_gives_the_place_away(message: str, goal: str) -> None:
    assert goal_of(message) == goal


def test_pairs_hold_what_a_commit_changed_and_neighbours_that_it_left(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q")
    (root / "code.py").write_text(_SOURCE)
    git(root, "add", ".")
    git(root, "commit", "-qm", "Start")
    (root / "code.py").write_text(_SOURCE.replace("user, password)\n\n", "user, password or None)\n\n"))
    git(root, "commit", "-qam", "Let users log in without a password")
    pairs = read_repository(root, most=10)
    terms = list(pairs.terms)
    first, last = pairs.unit_start[pairs.changed[0] : pairs.changed[0] + 2]
    assert "authent" in {terms[row] for row in pairs.unit_term[first:last]}
    assert len(pairs.changed) == 1
    assert len(pairs.neighbour) == 1
    assert "password" in {terms[row] for row in pairs.goal_term}


def git(root: Path, *arguments: str) -> None:
    name = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    subprocess.run(["git", "-C", str(root), *name, *arguments], check=True, capture_output=True)


def test_merges_join_what_stands_together_most_and_letters_decide_between_equals() -> None:
    assert learn_merges({"lower": 5, "low": 5, "newer": 3}, 3) == [("l", "o"), ("lo", "w"), ("e", "r")]
    assert learn_merges({"ba": 1, "dc": 1}, 9) == [("b", "a"), ("d", "c")]


def test_a_word_that_no_repository_taught_is_read_in_pieces(tmp_path: Path) -> None:
    counts = {"token": 9, "refresh": 9, "cache": 5}
    write_merges(learn_merges(counts, 100), tmp_path / "merges.txt")
    pieces = Pieces(read_merges(tmp_path / "merges.txt"))
    assert pieces.split("refreshtoken") == ("refresh", "token")
    assert pieces.split("tokenx") == ("token",), "one letter beside a longer piece says nothing"
    assert pieces.split("zz") == ("z", "z")
    assert {"token", "refresh", "cache"} <= set(pieces.vocabulary)


def test_no_merges_are_read_where_none_were_learned(tmp_path: Path) -> None:
    assert read_merges(tmp_path / "merges.txt") == []
