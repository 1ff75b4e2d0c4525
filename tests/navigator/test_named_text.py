"""Text that shown code names: a place of the outline, and part of the packet where the goal asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from navigator.planner.outline import build_outline
from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.outline.draw import draw_map
from repo_map.plan.model import FlightPlan
from repo_map.plan.update import apply_update
from repo_map.ranking.score import score_goal
from repo_map.steering.apply import steer
from repo_map.steering.targets import NamedDefinition
from tests.support.trees import write

FILES = {
    "app/views.py": (
        "def users_page(users):\n    greeting = 'hello'\n"
        "    return render_template('users/page.html', users=users, greeting=greeting)\n\n\n"
        "def shops_page(shops):\n    return render_template('shops/page.html', shops=shops)\n"
    ),
    "app/templates/users/page.html": "<h1>{{ greeting }}</h1>\n<ul>{% for u in users %}{% endfor %}</ul>\n",
    "app/templates/shops/page.html": "<h1>Shops</h1>\n",
    "app/sums.py": "def total(values):\n    return sum(values)\n",
    "app/dates.py": "def today():\n    return 1\n",
}
TEMPLATE = "app/templates/users/page.html"
WHY = "rendered by `users_page` in line 3"


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return build_index(write(tmp_path, FILES), store=Store(None), workers=1)


def only_views() -> FlightPlan:
    rules = [
        {"pattern": "**", "level": 0},
        {"pattern": "app/views.py", "level": 1, "sections": [{"pattern": "users_page", "level": 4}]},
    ]
    return FlightPlan.model_validate({"budget": 2_000, "verbosity": rules})


def test_the_outline_offers_the_template_of_a_shown_function(index: Index) -> None:
    relevance = score_goal(index, "`users_page` greets nobody")
    drawn = draw_map(index, only_views())
    (place,) = (each for each in build_outline(index, relevance, drawn) if not each.name)
    assert (place.path, place.first, place.last, place.why) == (TEMPLATE, 1, 2, WHY)
    assert place.head == "whole file"
    # Its number shows it, at the price that it was offered at.
    outline = {place.number: NamedDefinition(place.path, place.name, place.first)}
    steered = steer(index, only_views(), f"show {place.number}", outline=outline)
    assert steered.lines == (f"In full: `{TEMPLATE}`.",)
    shown = draw_map(index, apply_update(only_views(), steered.updates).plan)
    block = shown.block(TEMPLATE)
    assert block is not None
    assert block.tokens == place.tokens
    assert "{{ greeting }}" in shown.text
    assert not any(each.path == TEMPLATE for each in build_outline(index, relevance, shown))


def test_the_outline_offers_nothing_that_the_user_left_out(index: Index) -> None:
    relevance = score_goal(index, "`users_page` greets nobody")
    own = FlightPlan.model_validate({"verbosity": [{"pattern": "**/*.html", "level": 0}]})
    outline = build_outline(index, relevance, draw_map(index, only_views()), own)
    assert all(place.name for place in outline)
