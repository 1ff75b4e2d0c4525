"""``repo-navigator view`` as a shell runs it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from repo_navigator.main import main

GOAL = "The discount on an apple must never make its price negative"


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'id="picture">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_view_draws_a_navigation_into_a_file_or_on_stdout(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "map.html"
    assert main(["navigate", str(shop), GOAL, "--json"]) == 0
    known = json.loads(capsys.readouterr().out)["navigation_id"]
    assert main(["view", known, "--html", str(page)]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"{known}: ")
    assert data_of(page.read_text("utf-8"))["navigation_id"] == known
    assert main(["view"]) == 0
    assert capsys.readouterr().out == page.read_text("utf-8")


def test_a_plan_has_a_picture_without_goal_and_menu(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.yaml"
    assert main(["navigate", str(shop), GOAL, "--save-plan", str(plan)]) == 0
    capsys.readouterr()
    assert main(["view", str(plan), str(shop)]) == 0
    data = data_of(capsys.readouterr().out)
    assert (data["navigation_id"], data["goal"], data["turns"]) == ("", "", [])
    paths = [file["path"] for file in data["files"]]
    places = {(paths[place["file"]], place["name"]): place for place in data["places"]}
    assert (
        places["shop/prices.py", "discount"]["number"],
        places["shop/prices.py", "discount"]["tokens"],
    ) == (0, 0)
    assert data["notes"] == []


def test_a_plan_on_another_tree_says_so(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.yaml"
    assert main(["navigate", str(shop), GOAL, "--save-plan", str(plan)]) == 0
    (shop / "shop/new.py").write_text("x = 1\n")
    capsys.readouterr()
    assert main(["view", str(plan), str(shop)]) == 0
    assert len(data_of(capsys.readouterr().out)["notes"]) == 1


@pytest.mark.parametrize(
    "line", ["nav-000000000000000000000000", "missing.yaml .", ".", "nav-0 --html missing/map.html"]
)
def test_what_can_not_be_drawn_is_refused(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["view", *line.split()]) == 2
    assert capsys.readouterr().err.count("\n") == 1
