"""Changes lead from the map that was told to the map that was drawn, exactly."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from navigator.planner.prompt import MARK, DrawnMap, MapChanges, changes_between
from repo_map.outline.blocks import MapText

PATHS = ("a.py", "b/c.py", "d.py", "e/f/g.py")
LINES = st.lists(st.sampled_from(["def f():", "    return 1", "", "⋮ 12", "class G:", "x = 2"]), max_size=12)
FILES = st.dictionaries(st.sampled_from(PATHS), LINES)


def drawn(files: dict[str, list[str]], step: int, closing: str = "") -> DrawnMap:
    blocks = {path: "\n".join([path, *lines, "\n"]) for path, lines in files.items()}
    return DrawnMap(step, MapText(blocks, closing), sum(map(len, blocks.values())))


def blocks_of(drawn: DrawnMap) -> dict[str, str]:
    return {path: block.rstrip() for path, block in drawn.map_text.files.items()}


def applied(one: DrawnMap, changes: MapChanges) -> dict[str, str]:
    """Do what a model is asked to do: make the current map out of what it was told."""
    found = {path: block for path, block in blocks_of(one).items() if path not in changes.removed}
    message = sorted(path for path in PATHS if f"\n\n{path}\n" in f"\n\n{changes.files}\n")
    for path, block in MapText.parse(f"{changes.files}\n", message).files.items():
        lines = found.get(path, "").split("\n")[1:]
        made, at = [path], 0
        for line in block.split("\n")[1:]:
            if not line.startswith(MARK):
                made.append(line)
                continue
            number, kind = line.removeprefix(f"{MARK} ").split(" ")[:2]
            if kind == "as":
                made += lines[at : at + int(number)]
            at += int(number)
        found[path] = "\n".join(made).rstrip()
    return found


@given(FILES, FILES)
def test_what_was_told_and_what_has_changed_make_the_current_map(
    before: dict[str, list[str]], after: dict[str, list[str]]
) -> None:
    one, other = drawn(before, 1), drawn(dict(sorted(after.items())), 2)
    assert applied(one, changes_between(one, other)) == blocks_of(other)


def test_a_line_that_is_added_to_a_long_file_is_told_alone() -> None:
    lines = [f"line {number} of a file that is rather long" for number in range(400)]
    one, other = drawn({"a.py": lines}, 1), drawn({"a.py": [*lines[:200], "new", *lines[200:]]}, 2)
    changes = changes_between(one, other)
    assert changes.files.split("\n") == [
        "a.py",
        "@@ 200 as before, to: line 199 of a file that is rather long",
        "new",
        "@@ 200 as before, to: line 399 of a file that is rather long",
    ]


def test_another_number_of_files_left_out_is_told_without_the_last_file() -> None:
    files = {"a.py": ["x = 1"], "d.py": ["def f():", "    return 1"]}
    one = drawn(files, 1, "⋮ 12 more files: 12 under lib/\n")
    other = drawn({**files, "a.py": ["x = 2"]}, 2, "⋮ 11 more files: 11 under lib/\n")
    changes = changes_between(one, other)
    assert changes.files == "a.py\nx = 2\n\n⋮ 11 more files: 11 under lib/"
    assert changes.removed == ()
