"""Questions about text that code names: who uses a template, what a function reads, which tests reach it."""

from __future__ import annotations

import pytest

from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.plan.model import FlightPlan
from repo_map.steering.apply import steer
from tests.support.trees import write

FILES = {
    "app/views.py": (
        "from app.data import rows\n\n\n"
        "def users_page(users):\n    return render_template('users/page.html', users=rows(users))\n"
    ),
    "app/data.py": "def rows(users):\n    return run('queries/rows.sql', users)\n",
    "app/queries/rows.sql": "select 1;\n",
    "app/templates/users/page.html": "{% extends 'base.html' %}\n",
    "app/templates/base.html": "<html></html>\n",
    "tests/test_views.py": (
        "from app.views import users_page\n\n\n"
        "def test_users_page():\n    assert users_page([]) == open('golden/page.txt').read()\n"
    ),
    "tests/golden/page.txt": "<html></html>\n",
    "app/legacy.rb": "def legacy_page\n  render 'users/page'\nend\n",
}

ASKED = {
    "who uses templates/users/page.html?": ("app/legacy.rb:1-3 legacy_page", "app/views.py:4-5 users_page"),
    "what does users_page use?": ("app/data.py:1-2 rows", "app/templates/users/page.html:1"),
    "what does legacy_page use?": ("app/templates/users/page.html:1",),
    "what does templates/users/page.html use?": ("app/templates/base.html:1",),
    "who uses base.html?": ("app/templates/users/page.html:1",),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return build_index(write(tmp_path_factory.mktemp("shop"), FILES), store=Store(None), workers=1)


@pytest.mark.parametrize(("question", "answer"), ASKED.items(), ids=ASKED)
def test_a_question_about_text_that_code_names(index: Index, question: str, answer: tuple[str, ...]) -> None:
    steered = steer(index, FlightPlan(budget=2_000), question)
    assert all(each in steered.answer for each in answer)
    assert not steered.updates


@pytest.mark.parametrize("path", ["templates/users/page.html", "golden/page.txt", "queries/rows.sql"])
def test_the_tests_that_reach_text_are_found(index: Index, path: str) -> None:
    steered = steer(index, FlightPlan(budget=2_000), f"tests for {path}")
    assert "tests/test_views.py" in steered.answer
