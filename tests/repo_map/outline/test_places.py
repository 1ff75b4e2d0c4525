"""Places of a goal: what is listed, in which order, and with which lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.outline.excerpt import excerpt
from repo_map.outline.places import list_places, rank_places
from repo_map.ranking.score import ScoredUnit, score_goal
from repo_map.text.units import GAP
from tests.support.trees import write

SHIPPING = '''"""Shipping."""

import os

CARRIERS = {
    "post": 3,
    "courier": 9,
}


class Parcel:
    """A parcel."""

    def weigh(self):
        return 1


# How a parcel is sent, and what
# the carrier takes for it.
@cached
def ship_parcel(parcel, carrier):
    rate = CARRIERS[carrier]
    return rate * parcel.weigh()
'''


def indexed(root: Path, **files: str) -> Index:
    named = {path.replace("__", "/") + ".py": text for path, text in files.items()}
    return build_index(write(root, named), workers=1)


def test_a_definition_goes_from_its_first_decorator_to_its_last_line(tmp_path: Path) -> None:
    index = indexed(tmp_path, shop__shipping=SHIPPING)
    places = {place.name: place for place in rank_places(index, score_goal(index, "ship_parcel of a Parcel"))}
    assert (places["ship_parcel"].first, places["ship_parcel"].last) == (20, 23)
    assert (places["Parcel"].first, places["Parcel"].last) == (11, 15)


def test_a_likely_table_is_a_place_of_its_own(tmp_path: Path) -> None:
    index = indexed(tmp_path, shop__shipping=SHIPPING)
    relevance = score_goal(index, "add another carrier to the carriers")
    likely = ScoredUnit("shop/shipping.py", 1, 10, "", GAP, 0.0, (), 0.9)
    ranked = rank_places(index, relevance._replace(units=(likely, *relevance.units)))
    assert (ranked[0].name, ranked[0].first, ranked[0].last) == ("CARRIERS", 5, 8)


@pytest.mark.parametrize(
    ("goal", "is_listed"), [("ship_parcel is slow", False), ("fix the tests of it", True)]
)
def test_tests_are_listed_only_where_the_goal_is_about_them(
    tmp_path: Path, goal: str, is_listed: bool
) -> None:
    test = "def test_ship_parcel_is_slow():\n    assert ship_parcel(1, 'post')\n"
    index = indexed(tmp_path, shop__shipping=SHIPPING, tests__test_shipping=test)
    paths = {place.path for place in rank_places(index, score_goal(index, goal))}
    assert ("tests/test_shipping.py" in paths) is is_listed


def test_no_file_takes_all_lines_of_an_outline(tmp_path: Path) -> None:
    many = "".join(f"def tariff_{n}(item):\n    return {n} * item\n\n\n" for n in range(40))
    index = indexed(tmp_path, one=many, two="def tariff_rest(item):\n    return item\n")
    relevance = score_goal(index, "the tariff of an item is wrong")
    listed = list_places(index, relevance, rank_places(index, relevance))
    assert sum(place.path == "one.py" for place in listed) <= 8
    assert "two.py" in {place.path for place in listed}


def test_neighbours_of_one_shape_are_listed_as_one_with_the_lines_of_all(tmp_path: Path) -> None:
    verbs = ("get", "post", "put", "head")
    methods = "".join(
        f"    def {verb}(self, url):\n        return self.send('{verb}', url)\n\n" for verb in verbs
    )
    other = "    def send_request_url(self, verb, url):\n        return verb + url\n"
    index = indexed(tmp_path, client=f"class Client:\n{methods}{other}")
    relevance = score_goal(index, "a url with a fragment is sent")
    listed = list_places(index, relevance, rank_places(index, relevance))
    (one,) = (place for place in listed if place.name.rpartition(".")[2] in verbs)
    assert one.also.startswith("like ")
    assert one.also.endswith(" 2-12")
    assert "Client.send_request_url" in {place.name for place in listed}
    named = score_goal(index, "Client.get of a url")
    assert "Client.get" in {place.name for place in list_places(index, named, rank_places(index, named))}


LONG = ["def run(state, coupon):", *(f"    step_{n}(state)" for n in range(200)), "    return state"]


def test_an_excerpt_has_the_head_and_whole_statements_around_what_the_goal_says() -> None:
    lines = [*LONG]
    lines[100:103] = ["    if coupon:", "        apply_discount(state)", "        log(state)"]
    found = excerpt(lines, (1, 1), len(lines), {"discount": 1.0}, room=400)
    shown = [lines[at - 1] for first, last in found for at in range(first, last + 1)]
    assert found[0] == (1, 1)
    assert {"    if coupon:", "        apply_discount(state)", "        log(state)"} <= {*shown}
    assert sum(map(len, shown)) < 400


def test_an_excerpt_without_a_word_of_the_goal_is_the_beginning_and_one_without_room_is_none() -> None:
    assert excerpt(LONG, (1, 1), len(LONG), {}, room=200)[0][0] == 1
    with_word = [*LONG[:150], "    discount(state, " + "x, " * 200 + ")", *LONG[150:]]
    assert excerpt(with_word, (1, 1), len(with_word), {"discount": 1.0}, room=200) == []
