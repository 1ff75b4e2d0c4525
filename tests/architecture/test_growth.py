"""Growth is seen, and what must not grow does not."""

from __future__ import annotations

from tests.architecture.growth import (
    copies_of_the_mark,
    deep_classes,
    large_rooms,
    names_borne_twice,
    sizes,
    with_one_importer,
)
from tests.architecture.walks import WALKS, walk, walks


def test_no_name_of_a_class_is_borne_twice() -> None:
    assert names_borne_twice() == {}


def test_no_class_inherits_through_more_than_two_others_of_the_product() -> None:
    assert deep_classes() == []


def test_no_room_holds_more_files_than_a_reader_keeps_apart() -> None:
    assert large_rooms() == []


def test_the_form_of_a_packet_is_spelt_by_its_owner_alone() -> None:
    assert copies_of_the_mark() == []


def test_the_gates_see_what_they_look_for() -> None:
    assert {"repo_map", "repo_map.plan", "navigator.steps"} <= {each.package for each in sizes()}
    assert any(module.startswith("repo_map.") for module, _ in with_one_importer())
    assert deep_classes(deepest=1)
    assert large_rooms(most=5)


def test_a_walk_follows_a_parameter_through_the_calls_that_pass_it() -> None:
    assert len(walks()) == len(WALKS), "a beginning was renamed: mend WALKS"
    found = walk("tests.architecture.walks", "walk", "module")
    assert found is None, "only the product is walked"
    drawn = walk("repo_map.drawing.draw", "draw_map", "plan")
    assert drawn is not None
    assert drawn.stays > drawn.rooms > 1
