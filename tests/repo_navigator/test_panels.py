"""What a terminal shows of a navigation: each thing once, and numbers that can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from repo_navigator.main import main
from tests.support.maps import HEADER


def test_the_end_of_a_navigation_names_what_was_left_out_once_and_counts_no_calls_that_cost_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    body = "".join(f"    total += price({number}) * {number}\n" for number in range(300))
    (tmp_path / "discount.py").write_text(f"def discount(total):\n{body}    return total\n")
    for number in range(30):
        (tmp_path / f"other_{number}.py").write_text(f"def unrelated_{number}():\n    return {number}\n")
    plan = tmp_path / "plan.yaml"
    plan.write_text("budget: 6000\nverbosity: [{pattern: 'other_*', level: 0}]\n")
    goal = ("--goal", "why is discount so slow")
    assert main(["navigate", str(tmp_path), *goal, "--plan", str(plan), "--verbose"]) == 0
    message = capfd.readouterr().err
    end = message.rpartition("· done ·")[2]
    assert end.count("31 files") == 1, "the plan's own file is no evidence"
    assert "model call" not in end
    assert "discount.py  source, 3," in message.rpartition("· done ·")[0]
    assert not re.search(r"\d{4,} tokens", end)


def test_a_note_that_holds_for_every_step_is_told_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    (tmp_path / "discount.py").write_text("def discount():\n    return 1\n")
    plan = tmp_path.parent / "plan.yaml"
    plan.write_text("verbosity: [{pattern: 'nowhere/**', level: 4}]\n")
    assert main(["navigate", str(tmp_path), "--goal", "the discount", "--plan", str(plan)]) == 0
    assert capfd.readouterr().err.count("No file matches `nowhere/**`.") == 1


def test_a_navigation_ends_with_how_sure_it_is_and_what_can_be_added_below_the_context(
    shop: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["navigate", str(shop), "the discount on an apple", "--tokens", "200"]) == 0
    _, message = capfd.readouterr()
    assert 'repo-navigator context --feedback "1, 3"' in message
    assert re.search(r"^1\*? \w+ \d+-\d+$", message, re.MULTILINE), message
    last = message.rstrip().splitlines()[-1]
    assert re.fullmatch(r"\d+ of 200 tokens, \d files?, \d steps?, \$0\.00, [\d.]+ s  nav-\w+", last)


def test_quiet_leaves_the_context_alone(shop: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["navigate", str(shop), "the discount on an apple", "-q"]) == 0
    assert main(["context", "-q"]) == 0
    out, err = capfd.readouterr()
    assert out.count(f"{HEADER} shop/prices.py") == 2
    assert err == ""
