"""Follow-ups on the command line: words that go on with a stored navigation, and what they print."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from navigator.settings import DEFAULT_TOKEN_BUDGET, FIRST_ANSWER
from tests.repo_navigator import running
from tests.support.errors import refusal_of_command
from tests.support.maps import HEADER
from tests.support.trees import commit, git

GOAL = "The discount on an apple must never make its price negative"


def ran(capfd: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> tuple[str, str]:
    """Run a command and return what it printed on stdout and on stderr, the latter on one line."""
    out, err = running.ran(capfd, *arguments, code=code)
    return out, " ".join(err.split())


def opened(shop: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """Open a navigation and return its id."""
    return str(running.navigate(capfd, shop, GOAL)["navigation_id"])


def test_show_takes_numbers_names_and_paths_and_is_undone(
    shop: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    key = opened(shop, capfd)
    context, message = ran(capfd, "show", "shop/mail.py", "--id", key)
    assert "def send_reminder" in context
    assert "`shop/mail.py`" in message
    assert "def send_reminder" not in ran(capfd, "show", "--drop", "shop/mail.py", "--all")[0]
    assert "def send_reminder" in ran(capfd, "show", "--undo", "--all")[0]
    found = json.loads(ran(capfd, "show", "1", "send_receipt", "--json")[0])
    assert found["understood"]
    assert refusal_of_command(["show"], capfd).code == "invalid_request"


def test_a_number_of_the_outline_prints_that_place_though_it_is_larger_than_the_room(
    shop: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    steps = (f"    price = price + {number} * price // {number + 3}" for number in range(120))
    text = "\n".join(["def priced(price):", *steps, "    return price", ""])
    (shop / "shop/prices.py").write_text((shop / "shop/prices.py").read_text() + "\n\n" + text)
    asked = ("navigate", shop, f"{GOAL}; see priced", "--tokens", 400)
    _, message = ran(capfd, *asked)
    number = re.search(r"(\d+)\*? priced ", message)
    assert number
    context, _ = ran(capfd, "show", number[1])
    assert context.count("    price = price + ") > 5


def test_what_was_printed_before_is_printed_again_by_its_number_or_name(
    shop: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    key = opened(shop, capfd)
    _, message = ran(capfd, "context", "--id", key)
    number = re.search(r"(\d+)\*? discount ", message)
    assert number
    for wanted in (number[1], number[1], "discount"):
        context, message = ran(capfd, "show", wanted)
        assert "def discount" in context
        assert "Nothing is new" not in message
    assert "Cart" in ran(capfd, "context", key, "--id", key)[0]
    assert refusal_of_command(["context", key, "--id", "other"], capfd).code == "invalid_request"


@pytest.mark.parametrize("wanted", [["99"], ["no_such_name"], ["--drop", "no_such_name"]])
def test_a_number_or_name_that_there_is_not_is_bad_input(
    shop: Path, capfd: pytest.CaptureFixture[str], wanted: list[str]
) -> None:
    opened(shop, capfd)
    context, message = ran(capfd, "show", *wanted, code=2)
    assert context == ""
    assert wanted[-1] in message
    assert refusal_of_command(["show", *wanted], capfd).code == "invalid_request"
    context, message = ran(capfd, "show", "shop/mail.py", *wanted, code=2)
    assert "def send_reminder" in context
    assert wanted[-1] in message


def test_without_an_id_the_latest_navigation_of_this_folder_is_meant(
    shop: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = opened(shop, capfd)
    other = tmp_path / "other"
    other.mkdir()
    (other / "other.py").write_text("def other():\n    return 1\n")
    ran(capfd, "navigate", other, "what other returns", "-q")
    monkeypatch.chdir(shop / "shop")
    context, message = ran(capfd, "show", "shop/mail.py")
    assert context.startswith(f"{HEADER} shop/mail.py")
    assert key in message
    assert "shop/prices.py:6-8 price_of" in ran(capfd, "show", "--feedback", "who calls discount?")[0]


def test_a_follow_up_prints_what_is_new_alone_and_says_where_the_whole_is(
    shop: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    key = opened(shop, capfd)
    before = ran(capfd, "context")[0]
    new, message = ran(capfd, "show", "--feedback", "show shop/mail.py")
    assert new.startswith(f"{HEADER} shop/mail.py")
    assert "shop/prices.py" not in new
    assert f"repo-navigator context {key}" in message
    whole = ran(capfd, "show", "--feedback", "show shop/cart.py", "--all")[0]
    assert f"{HEADER} shop/mail.py" in whole
    assert f"{HEADER} shop/cart.py" in whole
    assert len(whole) > len(before)
    nothing, message = ran(capfd, "show", "--feedback", "drop shop/mail.py")
    assert nothing == ""
    assert "no longer shown: shop/mail.py" in message


def test_a_follow_up_as_an_object_has_the_whole_and_what_is_new(
    shop: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    opened(shop, capfd)
    step = json.loads(ran(capfd, "context", "--json")[0])["total_iterations"]
    ran(capfd, "show", "--json", "--feedback", "show shop/mail.py", "-o", tmp_path / "new.json")
    found = json.loads((tmp_path / "new.json").read_text("utf-8"))
    assert found["context_delta"].startswith(f"{HEADER} shop/mail.py")
    assert found["context_delta"] in found["context"]
    assert (found["since_step"], found["removed"]) == (step, [])
    assert found["delta_tokens"] < found["tokens"]
    ran(capfd, "show", "--feedback", "undo", "-o", tmp_path / "new.txt")
    assert (tmp_path / "new.txt").read_text("utf-8") == ""


@pytest.mark.parametrize(
    ("words", "not_understood"),
    [
        ("who calls discount?", []),
        (
            "who calls nosuchfunction?",
            [{"words": "callers nosuchfunction", "unknown_name": "nosuchfunction"}],
        ),
    ],
)
def test_whether_words_were_understood_is_told_as_data(
    shop: Path, capfd: pytest.CaptureFixture[str], words: str, not_understood: list[dict[str, Any]]
) -> None:
    key = opened(shop, capfd)
    answer = json.loads(ran(capfd, "show", "--id", key, "--json", "--feedback", words)[0])
    assert (answer["understood"], answer["not_understood"]) == (not not_understood, not_understood)
    assert json.loads(ran(capfd, "context", key, "--json")[0])["understood"] is None


def test_a_stored_navigation_is_read_and_gone_on_with(
    shop: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = running.navigate(capfd, shop, GOAL)
    key = made["navigation_id"]
    context, message = ran(capfd, "context")
    assert context.rstrip() == made["context"].rstrip()
    assert message.rstrip().endswith(key)
    assert ran(capfd, "context", key, "--plan")[0].rstrip() == made["flight_plan_yaml"].rstrip()
    again = json.loads(ran(capfd, "show", "--id", key, "--json", "--feedback", "drop shop/prices.py")[0])
    assert again["navigation_id"] == key
    assert "shop/prices.py" not in {file["path"] for file in again["files"]}
    file = tmp_path / "plan.yaml"
    assert ran(capfd, "context", "--plan", "-o", file)[0] == ""
    assert file.read_text("utf-8").rstrip() == again["flight_plan_yaml"].rstrip()


def test_a_note_is_printed_once_in_a_navigation_and_a_first_answer_names_its_own_limit(
    shop: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    git(commit(shop, {}), "clone", "-q", "--shared", str(shop), str(tmp_path / "clone"))
    _, first = ran(capfd, "navigate", tmp_path / "clone", GOAL)
    assert "Note: " in first
    assert f" of {FIRST_ANSWER:,} tokens, " in first
    _, later = ran(capfd, "show", "shop/mail.py")
    assert "Note: " not in later
    assert f" of {DEFAULT_TOKEN_BUDGET:,} tokens, " in later
    assert "Note: " in ran(capfd, "show", "shop/cart.py", "--all")[1]
