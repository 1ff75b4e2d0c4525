"""Navigations on the command line: said in fewer words, gone on with in a conversation, read again later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.repo_navigator.running import navigate, ran

GOAL = "The discount on an apple must never make its price negative"


def test_a_stored_navigation_is_read_and_gone_on_with(
    shop: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = navigate(capfd, shop, GOAL)
    key = made["navigation_id"]
    context, message = ran(capfd, "context")
    assert context.rstrip() == made["context"].rstrip()
    assert message.rstrip().endswith(key)
    assert ran(capfd, "context", key, "--plan")[0].rstrip() == made["flight_plan_yaml"].rstrip()
    again = json.loads(ran(capfd, "context", key, "--json", "--feedback", "drop shop/prices.py")[0])
    assert again["navigation_id"] == key
    assert "shop/prices.py" not in {file["path"] for file in again["files"]}
    file = tmp_path / "plan.yaml"
    assert ran(capfd, "context", "--plan", "-o", file)[0] == ""
    assert file.read_text("utf-8").rstrip() == again["flight_plan_yaml"].rstrip()


def test_the_context_goes_to_a_file(shop: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "context.txt"
    assert ran(capfd, "navigate", shop, GOAL, "-o", file)[0] == ""
    assert "def discount" in file.read_text("utf-8")
    assert "no/file" in ran(capfd, "navigate", shop, GOAL, "-o", tmp_path / "no" / "file", code=2)[1]
