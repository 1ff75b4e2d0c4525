"""A first look at a large tree: what is read of it, and that the whole index is the same after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.index.build import build_index, refresh_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.outline.draw import draw_map
from repo_map.outline.replay import replay, stamp
from repo_map.plan.yaml import format_plan, parse_plan
from repo_map.ranking.first_look import MAX_FILES, first_look
from repo_map.ranking.score import score_goal
from repo_map.sources.source import folder_source
from tests.support.large_trees import GOAL, large_tree
from tests.support.maps import pack_places
from tests.support.secrets import KINDS
from tests.support.trees import tables_digest, write

NO_STORE = Store(None)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    keys = f'def parcel_postage_account():\n    """Customs surcharge."""\n    return "{KINDS["AWS key"]}"\n'
    return large_tree(tmp_path_factory.mktemp("large"), keys=keys)


def look_at(root: Path, goal: str = GOAL, store: Store = NO_STORE) -> Index | None:
    return first_look(folder_source(root), goal, store=store)


@pytest.fixture(scope="module")
def look(tree: Path) -> Index:
    found = look_at(tree)
    assert found is not None
    return found


def test_the_files_in_which_the_goals_words_stand_are_read_and_the_others_are_listed(look: Index) -> None:
    assert 3 <= look.build.partial_files <= MAX_FILES
    assert len(look) > 1_500
    for path in ("shop/postage.py", "shop/customs.py"):
        file = look.paths.index(path)
        assert look.definitions(file)
    assert {file.path for file in score_goal(look, GOAL).files[:2]} == {"shop/postage.py", "shop/customs.py"}


def test_nothing_of_a_file_that_was_not_read_is_shown(look: Index) -> None:
    unread = look.paths.index("fill/part3/thing333.py")
    assert look.sources.content(unread) == b""
    assert not look.definitions(unread)


def test_secrets_are_masked_at_a_first_look(look: Index) -> None:
    file = look.paths.index("keys.py")
    assert look.sources.secrets(file)
    assert KINDS["AWS key"].encode() not in look.sources.content(file)


def test_a_first_look_is_the_same_each_time(tree: Path, look: Index) -> None:
    again = look_at(tree)
    assert again is not None
    assert tables_digest(again) == tables_digest(look)


def test_the_whole_index_is_the_same_whether_or_not_a_first_look_came_before(
    tree: Path, look: Index, tmp_path: Path
) -> None:
    whole, store = build_index(tree, store=NO_STORE), Store(tmp_path / "cache")
    seen = look_at(tree, store=store)
    assert seen is not None
    after = refresh_index(seen)
    assert tables_digest(after) == tables_digest(whole) == tables_digest(refresh_index(look))
    assert after.build.state.parsed == len(after) - look.build.partial_files
    assert not after.build.state.unsaved
    assert seen.build.state.unsaved
    assert seen.fingerprint != after.fingerprint


def test_a_plan_says_that_a_first_look_made_it_and_replays_to_the_same_bytes(look: Index) -> None:
    plan = pack_places(look, score_goal(look, GOAL), 1_000)
    drawn = draw_map(look, plan)
    kept = parse_plan(format_plan(stamp(look, plan, drawn)))
    assert kept.tree is not None
    assert kept.tree.first_look == look.build.partial_files
    again, drift = replay(refresh_index(look), kept)
    assert again.text == drawn.text
    assert "parcel_postage" in again.text
    assert drift.is_none
    assert drift.describe() == ("The plan was made by a first look; no file in the map has changed since.")


def test_an_edit_between_the_first_look_and_the_whole_index_is_seen(tmp_path: Path) -> None:
    root = large_tree(tmp_path)
    look = look_at(root)
    assert look is not None
    write(root, {"shop/postage.py": "def parcel_postage_of_today():\n    return 4\n"})
    after = refresh_index(look)
    assert tables_digest(after) == tables_digest(build_index(root, store=NO_STORE))
    file = after.paths.index("shop/postage.py")
    assert [each.name for each in after.definitions(file)] == ["parcel_postage_of_today"]


def test_no_first_look_is_taken_where_it_saves_nothing(tree: Path, tmp_path: Path) -> None:
    small = write(tmp_path / "small", {"a.py": "def parcel_postage():\n    return 1\n"})
    assert look_at(small) is None
    assert look_at(tree, goal="zzyzx qwrtp") is None
    store = Store(tmp_path / "cache")
    build_index(tree, store=store)
    assert look_at(tree, store=store) is None


def test_a_file_that_the_goal_names_by_its_path_is_read(tree: Path) -> None:
    look = look_at(tree, goal="Rename what fill/part7/thing777.py defines")
    assert look is not None
    file = look.paths.index("fill/part7/thing777.py")
    assert look.definitions(file)
