"""How shell commands of agents are understood."""

from __future__ import annotations

import pytest

from benchmarks.replay.looking import Kind, Reader
from benchmarks.replay.patch import edited_by
from benchmarks.replay.placing import Spot
from benchmarks.replay.runs import Call
from repo_navigator.hooks.shell import simple_commands
from tests.benchmarks.replay.conftest import FILES, PATCH, TAX

PATHS = frozenset(FILES)
LINES = TAX.split("\n")


def reader() -> Reader:
    return Reader(PATHS, FILES.__getitem__)


def shown(command: str, output: str) -> list[int]:
    step = reader().step(Call(command, output, 0, 0, 0))
    assert step.kind is Kind.LOOK
    assert {spot.path for spot in step.shown} <= {"shop/tax.py"}
    return [spot.line for spot in step.shown]


@pytest.mark.parametrize(
    ("command", "output", "lines"),
    [
        ("cat shop/tax.py", TAX, [1, 4, 5, 8, 9, 10]),
        ("sed -n '4,5p' shop/tax.py", "\n".join(LINES[3:5]), [4, 5]),
        ("head -n 1 ./shop/tax.py", LINES[0], [1]),
        ("cd shop && tail -n 2 tax.py", "\n".join(LINES[8:10]), [9, 10]),
        (
            "cat /testbed/shop/tax.py | grep -n RATES",
            '1:RATES = {"no": 25}\n5:    return RATES[country]',
            [1, 5],
        ),
        (
            "grep -n -A1 'def r' shop/tax.py",
            f"4:{LINES[3]}\n5-{LINES[4]}\n--\n8:{LINES[7]}\n9-{LINES[8]}",
            [4, 5, 8, 9],
        ),
        ("grep -rn cents shop", f"shop/tax.py:9:{LINES[8]}\nshop/tax.py:10:{LINES[9]}", [9, 10]),
        ("grep -r 'def rate' .", f"./shop/tax.py:{LINES[3]}", [4]),
        ("nl -ba shop/tax.py | sed -n '7,8p'", f"     7\t\n     8\t{LINES[7]}", [8]),
        ("git show HEAD:shop/tax.py | head -1", f"{LINES[0]}", [1]),
        ("python -c \"print(open('shop/tax.py').read())\"", TAX, [1, 4, 5, 8, 9, 10]),
        (
            "python3 - <<'EOF'\nfor line in open('shop/tax.py'):\n    print(line)\nEOF",
            TAX,
            [1, 4, 5, 8, 9, 10],
        ),
        ("ls shop 2>/dev/null", "tax.py", []),
    ],
)
def test_the_lines_that_a_look_up_shows_are_found(command: str, output: str, lines: list[int]) -> None:
    assert shown(command, output) == lines


@pytest.mark.parametrize(
    "command",
    [
        "sed -i 's/a/b/' shop/tax.py",
        "cat <<'EOF' > shop/tax.py\nx = 1\nEOF",
        "echo 'x = 1' >> shop/tax.py",
        "git checkout shop/tax.py",
        "mv /tmp/new.py shop/tax.py",
        "python - <<EOF\ntext = open('shop/tax.py').read()\nopen('shop/tax.py', 'w').write(text)\nEOF",
        "patch -p1 shop/tax.py < fix.diff",
    ],
)
def test_what_changes_a_file_of_the_tree_is_an_edit(command: str) -> None:
    step = reader().step(Call(command, "", 0, 0, 0))
    assert (step.kind, step.edited) == (Kind.EDIT, ("shop/tax.py",))


def test_a_script_that_edits_is_an_edit_where_it_is_run() -> None:
    understands = reader()
    code = "with open('shop/tax.py', 'w') as file:\n    file.write('x')"
    written = understands.step(Call(f"cat > fix.py <<'EOF'\n{code}\nEOF", "", 0, 0, 0))
    assert written.kind is Kind.OTHER
    assert understands.step(Call("python3 fix.py", "", 0, 0, 0)).edited == ("shop/tax.py",)


@pytest.mark.parametrize(
    "command", ["python -m pytest -q", "rm fix.py", "cat <<'EOF' > try.py\nprint(1)\nEOF", "pip list | head"]
)
def test_what_neither_looks_nor_edits_is_something_else(command: str) -> None:
    assert reader().step(Call(command, TAX, 0, 0, 0)).kind is Kind.OTHER


@pytest.mark.parametrize("command", ["", "echo 'no end", "cat <<EOF\nno end"])
def test_a_command_that_cannot_be_taken_apart_is_unread(command: str) -> None:
    assert reader().step(Call(command, "", 0, 0, 0)).kind is Kind.UNREAD


def test_quotes_comments_and_redirections_are_told_apart() -> None:
    parts = simple_commands(
        'grep "a \\"b\\" | c" x.py 2>/dev/null | head -n 2 > out.txt # and so on\nls&&pwd'
    )
    assert parts is not None
    assert [part.words for part in parts] == [
        ("grep", 'a "b" | c', "x.py"),
        ("head", "-n", "2"),
        ("ls",),
        ("pwd",),
    ]
    assert [part.writes for part in parts] == [("/dev/null",), ("out.txt",), (), ()]


def test_a_patch_touches_what_it_removes_and_what_stands_around_what_it_adds() -> None:
    assert edited_by(PATCH, PATHS).lines == {Spot("shop/tax.py", 10)}
    hunk = " def rate_of(country):\n+    check(country)\n     return RATES[country]\n"
    added = f"--- a/shop/tax.py\n+++ b/shop/tax.py\n@@ -4,2 +4,3 @@\n{hunk}"
    new = "--- /dev/null\n+++ b/try.py\n@@ -0,0 +1 @@\n+x = 1\n"
    edited = edited_by(new + added, PATHS)
    assert edited.files == {"shop/tax.py"}
    assert edited.lines == {Spot("shop/tax.py", 4), Spot("shop/tax.py", 5)}
