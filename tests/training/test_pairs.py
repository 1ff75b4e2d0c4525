"""Pairs to learn from: what a message says without giving the place away, and what its commit changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.trees import git
from training.messages import goal_of
from training.pairs import read_repository

_SOURCE = """\
def authenticate(user, password):
    return check_credentials(user, password)


def draw_rectangle(width, height):
    return Polygon(width, height)
"""


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
