"""What a check tells of an edit: all that it breaks or forgot, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.check.checking import check_changes
from repo_map.check.values import Checked
from repo_map.impact.git_changes import read_changes
from repo_map.impact.patches import read_patch
from repo_map.index.repo_index import build_index
from repo_map.index.store import Store
from tests.repo_map.check.edit_cases import CASES, Case
from tests.support.trees import commit, git


def edited(root: Path, case: Case) -> Path:
    commit(root, case.files)
    for path, edit in case.edits.items():
        target = root / path
        if edit is None:
            target.unlink()
        else:
            old, new = edit
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(target.read_text().replace(old, new) if old else new)
    return root


def checked(root: Path) -> Checked:
    index = build_index(root, store=Store(None), workers=1)
    return check_changes(index, read_changes(index, "worktree")[1])


def told(found: Checked) -> tuple[str, ...]:
    return tuple(f"{each.path}:{each.line} {each.kind} {each.message}" for each in found.findings)


@pytest.mark.parametrize("name", sorted(CASES))
def test_an_edit_is_told_what_it_breaks(tmp_path: Path, name: str) -> None:
    found = checked(edited(tmp_path, CASES[name]))
    assert told(found) == CASES[name].told
    assert all(each.is_sure for each in found.findings)
    assert (*found.left_open, *found.unclear) == CASES[name].left_open
    assert found.complete is not bool(CASES[name].left_open)


@pytest.mark.parametrize("name", ["python-renamed", "java-overload", "go", "python-module-deleted", "rust"])
def test_a_patch_that_is_not_applied_is_told_the_same(tmp_path: Path, name: str) -> None:
    root = edited(tmp_path, CASES[name])
    patch = git(root, "diff", "HEAD")
    git(root, "checkout", "-q", ".")
    index = build_index(root, store=Store(None), workers=1)
    assert told(check_changes(index, read_patch(patch))) == CASES[name].told


def test_what_stands_behind_exports_in_its_own_file_is_likely_meant(tmp_path: Path) -> None:
    source = (
        "exports.gross = function (a) {\n  return a\n}\n\nexports.all = (many) => many.map(exports.gross)\n"
    )
    case = Case({"price.js": source}, {"price.js": ("exports.gross =", "exports.withTax =")}, ())
    (only,) = checked(edited(tmp_path, case)).findings
    assert (only.path, only.line, only.is_sure) == ("price.js", 5, False)


def test_a_new_name_that_takes_other_values_is_told_with_them(tmp_path: Path) -> None:
    files = {
        "price.py": "def gross(amount):\n    return amount\n",
        "cart.py": "from price import gross\n\n\ndef total():\n    return gross(1)\n",
    }
    case = Case(files, {"price.py": ("def gross(amount)", "def with_tax(amount, rate)")}, ())
    found = checked(edited(tmp_path, case)).findings
    assert {each.action for each in found} == {"use `with_tax`, which takes (amount, rate)"}


def test_a_method_by_a_name_of_two_words_is_likely_meant_in_the_file_that_had_it(tmp_path: Path) -> None:
    source = "pub struct Alive;\n\nimpl Alive {\n    fn poll_event(&self) -> u8 {\n        1\n    }\n}\n\npub fn run(each: other::Projected) -> u8 {\n    each.alive().as_pin_mut().poll_event()\n}\n"
    files = {"Cargo.toml": '[package]\nname = "a"\n', "src/lib.rs": source}
    found = checked(edited(tmp_path, Case(files, {"src/lib.rs": ("fn poll_event", "fn poll_data")}, ())))
    assert [(each.line, each.is_sure) for each in found.findings] == [(10, False)]


def test_a_template_of_a_namespace_is_seen_where_its_header_is_included_by_angles(tmp_path: Path) -> None:
    files = {
        "README.md": "# shop\n",
        "include/shop/price.h": "#pragma once\nnamespace shop {\ntemplate <class T>\nstruct is_price {};\n}\n",
        "include/shop/cart.h": "#pragma once\n#include <shop/price.h>\nnamespace shop {\ntemplate <class T, int = is_price<const T &>::value>\nvoid add(T each);\n}\n",
    }
    edits = {"include/shop/price.h": ("template <class T>\nstruct is_price {};\n", "")}
    (only,) = checked(edited(tmp_path, Case(files, edits, ()))).findings
    assert (only.path, only.line) == ("include/shop/cart.h", 4)


def test_a_method_is_likely_meant_on_an_object_of_its_class_whatever_that_extends(tmp_path: Path) -> None:
    files = {
        "socket.ts": "import { EventEmitter } from 'events';\n\nexport class Socket extends EventEmitter {\n  raise() {\n    return 1;\n  }\n\n  close() {\n    return 2;\n  }\n}\n",
        "server.ts": "import { Socket } from './socket';\n\nexport function up(one: Socket) {\n  one.emit('up');\n  return one.raise();\n}\n",
    }
    found = checked(edited(tmp_path, Case(files, {"socket.ts": ("raise()", "_raise()")}, ()))).findings
    assert [(each.path, each.line) for each in found] == [("server.ts", 5)]
