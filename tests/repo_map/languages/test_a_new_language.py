"""A language is added by one folder: what it says then holds everywhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.trees import write

PACKAGE = Path(__file__).parents[3] / "repo_map"
RECORD = """
[[language]]
name = "arrow"
suffixes = [".arrow"]
filenames = ["arrowfile"]
interpreters = ["arrowrun"]
spoken = ["arrowlang"]
grammar_module = "tree_sitter_python"
namer = "namer"
doc_comments = ["# "]
has_block_comments = false
imports = "read_import"
writing.skipped = ["hash", "double"]
keywords = "def class return import"
literals = "hash"
"""
FUNCTIONS = '''
"""Arrow: a language that nobody writes."""

from repo_map.languages.syntax import plain_name


def namer(source, kind, captures):
    named = plain_name(source, kind, captures)
    return [(name.upper() if kind == "macro" else name, kind) for name, kind in named]


def read_import(text):
    yield text.removeprefix("import ").strip(), ()
'''
QUERY = """
((function_definition name: (identifier) @name body: (block) @body) @function (#not-match? @name "^m_"))
((function_definition name: (identifier) @name body: (block) @body) @macro (#match? @name "^m_"))
(class_definition name: (identifier) @name body: (block) @body) @class
(import_statement) @import
"""
BOW = """import quiver

# Shoots at a mark.
# Far.
def shoot(mark):
    "a draw in a string"
    return draw(mark)  # release in a comment


class Bow:
    def draw(self, mark):
        return nock(mark)


def m_twice(each):
    shoot(each)
    return shoot(each)
"""
PROGRAM = """
import json, sys
from pathlib import Path
from repo_map.outline.draw import draw_map
from repo_map.steering.targets import find_target
from repo_map.index.build import build_index
from repo_map.plan.yaml import parse_plan
from repo_map.ranking.corpus import Corpus
from repo_map.ranking.goal import parse_goal
import repo_map

index = build_index(Path(sys.argv[1]))
file = index.file_id("src/bow.arrow")
table, units = index.references, index.units
rows = range(*table.file_start[file : file + 2].tolist())
print(json.dumps({
    "package": repo_map.__file__,
    "languages": [index.languages[int(each)] for each in index.files.language],
    "definitions": [tuple(each) for each in index.definitions(file)],
    "references": [[index.strings[int(table.name[row])], int(table.definition[row])] for row in rows],
    "imports": [each.module for each in index.imports(file)],
    "units": [
        [int(units.start[row]), int(units.end[row]), int(units.definition[row]), int(units.kind[row])]
        for row in range(*units.file_start[file : file + 2].tolist())
    ],
    "problems": [str(each) for each in index.problems],
    "is_code": Corpus(index).is_code.tolist(),
    "named": find_target(index, "arrowlang").patterns,
    "mentioned": parse_goal("The string slips in bow.arrow and in bow.spear").paths,
    "map": draw_map(index, parse_plan(sys.argv[2])).text,
}))
"""


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what a copy of the engine, with the folder of one language more, reads of a tree."""
    place = tmp_path_factory.mktemp("new_language")
    engine = place / "engine" / "repo_map"
    shutil.copytree(PACKAGE, engine, ignore=shutil.ignore_patterns("__pycache__"))
    folder = engine / "languages" / "arrow"
    write(folder, {"languages.toml": RECORD, "__init__.py": FUNCTIONS, "symbols.scm": QUERY})
    tree = write(
        place / "tree", {"Arrowfile": BOW, "run": f"#!/usr/bin/arrowrun2\n{BOW}", "src/bow.arrow": BOW}
    )
    plan = "budget: 2000\nverbosity:\n- {pattern: 'src/**', level: 3}\n- {pattern: '*', level: 1}\n"
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, str(tree), plan],
        env=os.environ | {"PYTHONPATH": str(engine.parent), "REPO_NAVIGATOR_CACHE": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert Path(found["package"]).is_relative_to(place)
    assert found["problems"] == []
    return found


def test_its_files_are_told_by_name_suffix_and_first_line(read: dict[str, Any]) -> None:
    assert read["languages"] == ["arrow", "arrow", "arrow"]


def test_its_definitions_have_kinds_names_parents_and_documentation(read: dict[str, Any]) -> None:
    assert [
        (name, kind, parent, *doc) for name, kind, parent, *_, a, b in read["definitions"] for doc in [(a, b)]
    ] == [
        ("shoot", "function", -1, 3, 4),
        ("Bow", "class", -1, 0, 0),
        ("draw", "method", 1, 0, 0),
        ("M_TWICE", "macro", -1, 0, 0),
    ]


def test_its_references_and_imports_are_read_outside_comments_and_strings(read: dict[str, Any]) -> None:
    assert ["draw", 0] in read["references"]
    assert ["nock", 2] in read["references"]
    assert not {"release", "string", "def", "return"} & {name for name, _ in read["references"]}
    assert read["imports"] == ["quiver"]


def test_its_functions_and_classes_are_units(read: dict[str, Any]) -> None:
    function, class_header = 0, 1
    assert [[3, 7, 0, function], [10, 10, 1, class_header], [11, 12, 2, function], [15, 17, 3, function]] == [
        unit for unit in read["units"] if unit[2] >= 0
    ]


def test_relevance_takes_it_for_code_and_users_may_name_it_and_its_files(read: dict[str, Any]) -> None:
    assert read["is_code"] == [True, True, True]
    assert read["named"] == ["**/*.arrow"]
    assert read["mentioned"] == ["bow.arrow"]


def test_a_map_shows_its_interface(read: dict[str, Any]) -> None:
    assert "# Shoots at a mark.\n# Far.\ndef shoot(mark):\n" in read["map"]
    assert "class Bow:\n    def draw(self, mark):\n" in read["map"]
    assert "nock" not in read["map"]
