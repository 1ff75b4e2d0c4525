"""A tree folded to what a picture has room for: nothing gets lost, and what matters stays in sight."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from navigator.picture.folded_tree import (
    FILE,
    FOLDER,
    REST,
    FoldedTree,
    MeasuredFiles,
    fold,
    fold_index,
)
from repo_map.index.build import build_index
from repo_map.index.store import Store
from tests.support.trees import folded_paths, write

STEPS = st.sampled_from(["a", "b", "cc", "d-1", "<b>"])
TREES = st.lists(
    st.tuples(st.lists(STEPS, max_size=4), st.integers(0, 9), st.integers(1, 5_000), st.integers(0, 4)),
    min_size=1,
    max_size=60,
    unique_by=lambda file: ("/".join(file[0]), file[1]),
)
Tree = list[tuple[list[str], int, int, int]]


def measured(tree: Tree) -> MeasuredFiles:
    files = sorted(
        ("/".join((*folders, f"f{number}.py")), tokens, level) for folders, number, tokens, level in tree
    )
    paths, tokens, levels = zip(*files, strict=True)
    column = np.array(tokens, np.int64)
    return MeasuredFiles(paths, column, np.maximum(column // 2, 1), np.array(levels, np.int64))


def paths(outline: FoldedTree) -> list[str]:
    return folded_paths(outline.names, outline.parents)


def leaves(outline: FoldedTree) -> list[int]:
    return [at for at, kind in enumerate(outline.kinds) if kind != FOLDER]


@settings(deadline=None)
@given(TREES, st.integers(1, 40), st.data())
def test_every_file_is_counted_once_and_those_kept_stand_alone(
    tree: Tree, most: int, data: st.DataObject
) -> None:
    files = measured(tree)
    kept = data.draw(st.sets(st.integers(0, len(files.paths) - 1), max_size=5))
    folder = data.draw(st.sampled_from(["", *sorted({path.rpartition("/")[0] for path in files.paths})]))
    outline = fold(files, kept, most, folder)
    for column, total in (
        (outline.tokens, files.tokens.sum()),
        (outline.areas, files.areas.sum()),
        (outline.files, len(files.paths)),
    ):
        assert sum(column[at] for at in leaves(outline)) == column[0] == total
    assert max(outline.levels) == outline.levels[0] == files.levels.max()
    alone = {path for path, kind in zip(paths(outline), outline.kinds, strict=True) if kind == FILE}
    assert {files.paths[each] for each in kept} <= alone <= set(files.paths)
    for at, parent in enumerate(outline.parents[1:], 1):
        assert parent < at
        assert outline.kinds[parent] == FOLDER


@settings(deadline=None)
@given(TREES, st.integers(3, 40))
def test_a_tree_takes_no_more_nodes_than_there_is_room_for(tree: Tree, most: int) -> None:
    assert len(fold(measured(tree), (), most).names) <= most


def test_folders_that_hold_one_folder_alone_are_one_node_and_small_files_share_one() -> None:
    tree: Tree = [(["a", "b", "cc"], number, 1_000 if number < 2 else 1, number % 2) for number in range(9)]
    outline = fold(measured(tree), (), 10)
    assert outline.names == ("", "a/b/cc", "f0.py", "f1.py", "")
    assert outline.kinds == (FOLDER, FOLDER, FILE, FILE, REST)
    assert outline.files == (9, 9, 1, 1, 7)
    assert paths(outline)[2] == "a/b/cc/f0.py"


def test_prose_data_and_copies_take_a_tenth_of_the_room_of_code(tmp_path: Path) -> None:
    words = "word and another\n" * 200
    write(
        tmp_path,
        {"code.py": "x = 1\n" * 200, "text.md": words, "vendor/copy.py": "x = 1\n" * 200, "data.json": "[1]"},
    )
    index = build_index(tmp_path, store=Store(None))
    outline = fold_index(index, {"text.md": 3}, index.paths)
    found = {
        path: (area, tokens, level)
        for path, area, tokens, level in zip(
            paths(outline), outline.areas, outline.tokens, outline.levels, strict=True
        )
    }
    area, tokens, _ = found["code.py"]
    assert area == tokens > 400
    area, tokens, level = found["text.md"]
    assert (area, level) == (tokens // 10, 3)
    area, tokens, _ = found["vendor/copy.py"]
    assert area == tokens // 10
