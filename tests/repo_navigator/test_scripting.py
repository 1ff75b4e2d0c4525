"""What scripts rely on: arguments in any order, exit codes, and checks that nothing unknown passes."""

from __future__ import annotations

import json
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from repo_navigator.main import main
from repo_navigator.map_main import main as map_main
from repo_navigator.terminal import DRIFTED
from tests.repo_navigator.running import navigate
from tests.support.trees import commit, write

GOAL = "The total of a cart is wrong"


@pytest.mark.parametrize(
    "arguments",
    [
        ("{repo}", "--since", "HEAD", GOAL),
        ("--since", "HEAD", "{repo}", GOAL),
        ("{repo}", "--tokens", "300", GOAL),
        ("-q", "{repo}", "--tokens=300", "--json", GOAL),
        ("{repo}", "--fill", "-qo", "{out}", GOAL),
        ("{repo}", "--json", "--", GOAL),
    ],
)
def test_a_goal_may_stand_behind_any_flag(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    commit(shop, {})
    out = tmp_path / "packet.txt"
    assert main(["navigate", *(each.format(repo=shop, out=out) for each in arguments)]) == 0
    printed = capsys.readouterr().out
    assert "total" in (printed or out.read_text())


def test_one_argument_with_words_is_the_goal_for_the_folder_one_stands_in(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(shop, {})
    monkeypatch.chdir(shop)
    assert navigate(capsys, GOAL)["files"][0]["path"] == "shop/cart.py"
    assert main(["navigate", "nowhere"]) == 3
    assert main(["navigate", "."]) == 2
    monkeypatch.chdir(shop.parent)
    assert main(["navigate", GOAL]) == 3


@pytest.mark.parametrize("text", ["", "null\n", "# nothing\n", "~"])
def test_a_plan_that_is_missing_is_refused(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    stdin = TextIOWrapper(BytesIO(text.encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    assert main(["replay", "-", str(shop)]) == 2
    assert capsys.readouterr().out == ""
    (shop / "plan.yaml").write_text(text)
    assert main(["navigate", str(shop), GOAL, "--plan", str(shop / "plan.yaml")]) == 2
    assert map_main(["generate", str(shop), "-C", str(shop / "plan.yaml")]) == 2
    (shop / "plan.yaml").write_text("{}")
    assert main(["replay", str(shop / "plan.yaml"), str(shop), "-q"]) == 0


def test_a_replay_fails_on_drift_where_it_is_asked_to(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, out = tmp_path / "plan.yaml", tmp_path / "packet.txt"
    navigate(capsys, shop, "--goal", GOAL, "--save-plan", plan)
    again = ["replay", str(plan), str(shop), "--fail-on-drift", "-q", "-o", str(out)]
    assert main(again) == 0
    assert capsys.readouterr() == ("", "")
    assert "def total" in out.read_text()
    (shop / "README.md").write_text("# Another title\n")
    assert main(again) == 0
    (shop / "shop" / "cart.py").write_text("LINES = {}\n")
    assert main(again) == DRIFTED
    assert main(["replay", str(plan), str(shop)]) == 0


@pytest.mark.parametrize(
    "plan",
    [
        "verbosity:\n- {pattern: shop/crat.py, level: 4}\n",
        "verbosity:\n- {pattern: '**', level: 4}\ntree: {fingerprint: '00'}\n",
    ],
)
def test_drift_that_is_not_known_passes_no_check(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], plan: str
) -> None:
    (tmp_path / "plan.yaml").write_text(plan)
    assert main(["replay", str(tmp_path / "plan.yaml"), str(shop), "--json", "--fail-on-drift"]) == DRIFTED
    drift = json.loads(capsys.readouterr().out)["drift"]
    assert (drift["status"], drift["files"]) == ("unknown", None)
    assert drift["unmatched"] == (["shop/crat.py"] if "crat" in plan else [])


def test_a_plan_of_another_repository_draws_nothing_and_says_so(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.yaml"
    navigate(capsys, shop, "--goal", GOAL, "--save-plan", plan)
    other = write(tmp_path / "other", {"zoo.txt": "a\n"})
    assert main(["replay", str(plan), str(other)]) == 0
    assert "note: " in capsys.readouterr().err
    assert main(["replay", str(plan), str(other), "--fail-on-drift"]) == DRIFTED
