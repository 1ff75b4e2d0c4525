"""A stamped plan on the same tree, and on another."""

from __future__ import annotations

from pathlib import Path

from repo_map.index.build import build_index
from repo_map.index.store import Store
from repo_map.outline.draw import draw_map
from repo_map.outline.replay import replay, stamp
from repo_map.plan.model import FlightPlan
from repo_map.plan.yaml import format_plan, parse_plan
from tests.support.trees import write

FILES = {"a.py": "def alpha():\n    pass\n", "b.py": "def beta():\n    pass\n", "notes.txt": "x\n"}


def stamped(root: Path) -> tuple[str, str]:
    """Draw a tree, and return the map and the stamped plan as YAML."""
    index = build_index(root, store=Store(None), workers=1)
    plan = FlightPlan(budget=500)
    drawn = draw_map(index, plan)
    return drawn.text, format_plan(stamp(index, plan, drawn))


def again(root: Path, yaml: str) -> tuple[str, str, list[tuple[str, str]]]:
    drawn, drift = replay(build_index(root, store=Store(None), workers=1), parse_plan(yaml))
    return drawn.text, drift.describe(), [tuple(file) for file in drift.files]  # type: ignore[misc]


def test_the_same_tree_gives_the_same_bytes_and_no_drift(tmp_path: Path) -> None:
    text, yaml = stamped(write(tmp_path / "one", FILES))
    same, sentence, files = again(write(tmp_path / "two", FILES), yaml)
    assert same == text
    assert sentence == "Nothing changed since the plan was made."
    assert files == []


def test_drift_is_told_file_by_file(tmp_path: Path) -> None:
    root = write(tmp_path, FILES)
    _, yaml = stamped(root)
    write(root, {"a.py": "def alpha_two():\n    pass\n", "c.py": "def gamma():\n    pass\n"})
    (root / "b.py").unlink()
    _, sentence, files = again(root, yaml)
    assert files == [("a.py", "changed"), ("b.py", "removed"), ("c.py", "shown anew")]
    assert sentence == (
        "The tree changed since the plan was made; of the files in the map: "
        "1 changed, 1 removed, 1 shown anew."
    )


def test_a_change_elsewhere_is_told_as_such(tmp_path: Path) -> None:
    root = write(tmp_path, FILES)
    _, yaml = stamped(root)
    write(root, {"notes.txt": "y\n"})
    assert again(root, yaml)[1:] == (
        "The tree changed since the plan was made, but no file in the map did.",
        [],
    )


def test_a_plan_without_a_stamp_says_that_drift_is_unknown(tmp_path: Path) -> None:
    _, sentence, files = again(write(tmp_path, FILES), "budget: 500")
    assert sentence == "The plan does not say what tree it was made on, so drift can't be determined."
    assert files == []
