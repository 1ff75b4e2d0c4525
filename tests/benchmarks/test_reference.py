"""Freezes of the product on a small repository, and their comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.reference import PARTS, SESSION_TASK, Lab, differences, freeze, main
from tests.support.trees import commit, git

BEFORE = {
    "price.py": "def gross(amount):\n    return amount * 2\n\n\ndef net(amount):\n    return amount\n",
    "cart.py": "import price\n\n\ndef total(a):\n    return price.gross(a)\n",
}
AFTER = {path: text.replace("gross", "with_tax") for path, text in BEFORE.items()}


def write_freeze(folder: Path, part: str, rows: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "products.json").write_text(json.dumps({part: {"commit": "abc"}}))
    lines = [json.dumps({"id": key, "value": value}) + "\n" for key, value in rows.items()]
    (folder / f"{part}.jsonl").write_text("".join(lines))
    return folder


def read_freeze(folder: Path, part: str) -> dict[str, Any]:
    rows = map(json.loads, (folder / f"{part}.jsonl").read_text("utf-8").splitlines())
    return {row["id"]: row["value"] for row in rows}


def test_differences_name_the_path_of_each_value() -> None:
    one = {"same": [1, 2], "text": "a", "list": [{"line": 1}], "gone": 1}
    other = {"same": [1, 2], "text": "b", "list": [{"line": 2}], "new": None}
    assert list(differences(one, other)) == [
        (("gone",), 1, None),
        (("list", "0", "line"), 1, 2),
        (("text",), "a", "b"),
    ]
    assert not list(differences(one, other, frozenset({"text", "line", "gone"})))


def test_compare_fails_only_if_something_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = write_freeze(tmp_path / "one", "replay", {"a": {"text": "x"}, "b": {"text": "y"}})
    other = write_freeze(tmp_path / "other", "replay", {"a": {"text": "x"}, "b": {"text": "z"}})
    assert main(["compare", str(one), str(one)]) == 0
    capsys.readouterr()
    assert main(["compare", str(one), str(other)]) == 1
    table = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["replay", "1", "1", "0", "0", "text", "1"] in table
    assert main(["compare", str(one), str(other), "--only", "check"]) == 0
    assert main(["compare", str(one), str(other), "--except", "text"]) == 0


def test_compare_fails_if_a_row_is_missing(tmp_path: Path) -> None:
    one = write_freeze(tmp_path / "one", "session", {"a": {}, "b": {}})
    other = write_freeze(tmp_path / "other", "session", {"a": {}})
    assert main(["compare", str(one), str(other)]) == 1


def test_compare_refuses_a_folder_without_a_freeze(tmp_path: Path) -> None:
    one = write_freeze(tmp_path / "one", "session", {"a": {}})
    with pytest.raises(SystemExit):
        main(["compare", str(one), str(tmp_path)])


@pytest.mark.slow
def test_freeze_records_every_part_and_repeats(tmp_path: Path) -> None:
    shop = commit(tmp_path / "shop", BEFORE)
    parent = git(shop, "rev-parse", "HEAD").strip()
    commit(shop, AFTER, message="Rename gross")
    head = git(shop, "rev-parse", "HEAD").strip()
    mirror = tmp_path / "mirrors" / "a+shop" / "repo"
    mirror.parent.mkdir(parents=True)
    git(tmp_path, "clone", "-q", "--bare", str(shop), str(mirror))
    task = {
        "id": SESSION_TASK,
        "repo": "a/shop",
        "base_commit": parent,
        "language": "Python",
        "goal": "gross counts the tax twice",
        "gold_files": ["price.py"],
        "gold_symbols": [],
        "gold_spans": [{"file": "price.py", "start": 2, "end": 2, "insert": False}],
    }
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "dev.jsonl").write_text(json.dumps(task))
    hunk = {"old": "cart.py", "path": "cart.py", "first": 4, "removed": 1, "start": 4, "added": 1}
    listed = [
        {"part": "answers", "id": SESSION_TASK},
        {"part": "relations", "repo": "a/shop", "commit": head},
        {"part": "check", "repo": "a/shop", "commit": head, "parent": parent, **hunk},
        {"part": "session", "tool": "navigate", "arguments": {}},
        {"part": "session", "tool": "step", "arguments": {"show": ["total"]}},
        {"part": "session", "tool": "step", "arguments": {"action": "forget"}},
    ]
    (tmp_path / "listed.jsonl").write_text("\n".join(map(json.dumps, listed)))

    one, other = tmp_path / "one", tmp_path / "other"
    for out, parts in ((one, PARTS), (other, ("relations", "replay"))):
        lab = Lab(out, tmp_path / "mirrors", tmp_path / "trees", tmp_path / "tasks", one / "plans")
        freeze(lab, parts, listed=tmp_path / "listed.jsonl")

    assert "def gross" in read_freeze(one, "answers")[f"{SESSION_TASK} default"]["context"]
    callers = read_freeze(one, "relations")["a/shop price.py"]["callers"]
    assert callers == {
        "price.py:1 with_tax": [["cart.py:4 total", "price.py:1 with_tax", "call", 5, 3]],
    }
    (checked,) = read_freeze(one, "check").values()
    assert (checked["found"], checked["alarms"]) == (True, [])
    assert "def gross" in read_freeze(one, "replay")[SESSION_TASK]["text"]
    assert "isError" in read_freeze(one, "session")['step {"action": "forget"} #1']
    for part in ("relations", "replay"):
        assert read_freeze(one, part) == read_freeze(other, part)
    assert main(["compare", str(one), str(one)]) == 0
