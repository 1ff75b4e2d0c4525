"""What a terminal shows of a navigation: each thing once, and numbers that can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from repo_navigator.main import main
from tests.support.maps import HEADER


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
