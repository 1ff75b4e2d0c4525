"""What a hook says of an assistant's edits: what the check finds, once, beside the next call."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from mcp_server.settings import read_settings
from repo_map.index import RepoIndex
from repo_map.text import tokens
from repo_navigator.hooks import sessions
from repo_navigator.hooks.edit_check import check_edits
from repo_navigator.hooks.wording import FRAME_OF_FINDINGS, findings_text
from tests.support.hooks import FILES, grepped, make_shop, message, ran, said
from tests.support.trees import write


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository whose names are written down."""
    return make_shop(tmp_path / "shop-repository")


NOT_FITTING = "`discounted_total` is now `reduced_total`"


def _edit(root: Path, files: Mapping[str, str], **more: Any) -> str:
    """Edit files as an assistant's own tool does, one call each, and return what its model reads beside."""
    texts = []
    for path, text in files.items():
        (root / path).write_text(text)
        texts.append(said(message(root, "Edit", {"file_path": str(root / path)}, {"filePath": path}, **more)))
    return "".join(texts)


def _session(root: Path, session: str = "s") -> Path:
    return sessions.session_file(Path(os.environ["REPO_NAVIGATOR_DATA"]), session, root)


def _check(root: Path, session: str = "s") -> None:
    check_edits(root, _session(root, session), read_settings(os.environ))


def _runs_tests(root: Path, **more: Any) -> str:
    return grepped(root, "make test", "", **more)


RENAMED = {"shop/pricing.py": FILES["shop/pricing.py"].replace("discounted_total", "reduced_total")}


def test_what_an_edit_breaks_is_told_beside_the_next_call_once(shop: Path, no_background: list[str]) -> None:
    assert _edit(shop, RENAMED) == ""
    assert _runs_tests(shop) == ""
    _check(shop)
    text = _runs_tests(shop)
    assert text.startswith("Repo Navigator, on the code after the last edit:\n<<<repository text\n")
    assert f"shop/orders.py:1: {NOT_FITTING}" in text
    assert f"tests/test_pricing.py:1: {NOT_FITTING}" in text
    assert tokens.count(text) <= 200
    assert _runs_tests(shop) == ""
    _check(shop)
    assert _runs_tests(shop) == ""


def test_findings_are_facts_and_no_orders(shop: Path, no_background: list[str]) -> None:
    _edit(shop, RENAMED)
    _check(shop)
    assert "; use" not in _runs_tests(shop)


def test_findings_stand_beside_what_is_told_of_a_search(shop: Path, no_background: list[str]) -> None:
    _edit(shop, RENAMED)
    _check(shop)
    text = grepped(shop, "grep -rn placeOrder .")
    assert NOT_FITTING in text
    assert "place_order (function) shop/orders.py" in text


def test_findings_stay_below_200_tokens_and_the_rest_is_counted(shop: Path, no_background: list[str]) -> None:
    uses = "from shop.pricing import discounted_total\n\n\ndef use():\n    return discounted_total([1])\n"
    write(shop, {f"shop/a_rather_long_name_of_a_module_{number}.py": uses for number in range(20)})
    _edit(shop, RENAMED)
    _check(shop)
    text = _runs_tests(shop)
    assert 120 < tokens.count(text) <= 200
    assert re.search(r"\n\d+ more findings: repo-navigator check\Z", text)


@pytest.mark.parametrize("more", [0, 1, 12_345])
def test_what_stands_around_findings_fits_in_its_tokens(more: int) -> None:
    assert tokens.count(findings_text([""], more)) <= FRAME_OF_FINDINGS


def test_an_edit_that_breaks_nothing_is_told_nothing(shop: Path, no_background: list[str]) -> None:
    _edit(shop, {"shop/pricing.py": FILES["shop/pricing.py"].replace("return 1", "return 2")})
    _check(shop)
    assert not sessions.findings_file(_session(shop)).exists()
    assert _runs_tests(shop) == ""


def test_what_a_later_edit_mends_is_not_told(shop: Path, no_background: list[str]) -> None:
    _edit(shop, RENAMED)
    _check(shop)
    mended = ("shop/orders.py", "tests/test_pricing.py")
    _edit(shop, {path: FILES[path].replace("discounted_total", "reduced_total") for path in mended})
    assert _runs_tests(shop) == ""
    _check(shop)
    assert _runs_tests(shop) == ""


def test_what_somebody_else_mended_is_not_told(shop: Path, no_background: list[str]) -> None:
    _edit(shop, RENAMED)
    _check(shop)
    (shop / "shop/pricing.py").write_text(FILES["shop/pricing.py"])
    assert _runs_tests(shop) == ""


def test_what_was_broken_before_the_session_is_not_told(shop: Path, no_background: list[str]) -> None:
    write(shop, RENAMED)
    _edit(shop, {"shop/deep/ledger_book.py": "LEDGER = {1: 2}\n"})
    _check(shop)
    assert _runs_tests(shop) == ""


def test_an_edit_outside_of_the_repository_is_not_checked(
    shop: Path, tmp_path: Path, no_background: list[str]
) -> None:
    said(message(shop, "Edit", {"file_path": str(tmp_path / "notes.txt")}))
    assert sessions.session_at(_session(shop)).edits == 0


def test_what_a_check_that_is_not_complete_may_be_wrong_about_is_not_told(
    shop: Path, no_background: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of a change of more files than are read, what seems gone may stand in one of the others.
    monkeypatch.setattr("repo_map.impact.git_changes.MOST_FILES", 1)
    _edit(shop, {**RENAMED, "tests/test_pricing.py": FILES["tests/test_pricing.py"] + "\n\nBOOK = {}\n"})
    _check(shop)
    assert _runs_tests(shop) == ""


def test_of_a_file_that_no_longer_parses_only_that_is_told(shop: Path, no_background: list[str]) -> None:
    broken = FILES["shop/pricing.py"].replace("discounted_total(cart):", "reduced_total(cart:")
    _edit(shop, {"shop/pricing.py": broken})
    _check(shop)
    text = _runs_tests(shop)
    assert "shop/pricing.py:6: it does not parse from here on" in text
    assert "discounted_total" not in text


def test_of_checks_at_the_same_time_only_one_runs(shop: Path, no_background: list[str]) -> None:
    _edit(shop, RENAMED)
    with sessions.checking(_session(shop)):
        _check(shop)
    assert _runs_tests(shop) == ""
    _check(shop)
    assert NOT_FITTING in _runs_tests(shop)


def test_an_edit_during_a_check_is_checked_by_it(
    shop: Path, no_background: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    edits = iter([RENAMED])

    def refreshed(index: RepoIndex) -> RepoIndex:
        for files in edits:
            _edit(shop, files)
        return refresh(index)

    refresh = RepoIndex.refresh
    monkeypatch.setattr(RepoIndex, "refresh", refreshed)
    _edit(shop, {"shop/deep/ledger_book.py": "LEDGER = {1: 2}\n"})
    _check(shop)
    assert NOT_FITTING in _runs_tests(shop)


@pytest.mark.parametrize(
    "kept",
    [
        b"",
        b"{",
        b"[]",
        b"[1, [[1]], [], []]",
        b'[1, [["x", 1, "y"]], ["\\u0000"], [0]]',
        b"[1, 2, [7], 3]",
        b"[" * 100_000,
    ],
)
def test_findings_may_be_damaged(kept: bytes, shop: Path, no_background: list[str]) -> None:
    _edit(shop, RENAMED)
    sessions.findings_file(_session(shop)).write_bytes(kept)
    assert _runs_tests(shop) == ""


EDITS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "Claude Code": lambda root: message(root, "Edit", {"file_path": str(root / "shop/pricing.py")}),
    "Codex": lambda root: message(
        root,
        "apply_patch",
        {"command": "*** Begin Patch\n*** Update File: shop/pricing.py\n@@\n-x\n+y\n*** End Patch"},
    ),
    "Gemini CLI": lambda root: {
        **message(root, "replace", {"file_path": str(root / "shop/pricing.py")}),
        "hook_event_name": "AfterTool",
    },
    "VS Code": lambda root: {
        "hookEventName": "PostToolUse",
        "sessionId": "s",
        "cwd": str(root),
        "tool_name": "replace_string_in_file",
        "tool_input": {"filePath": str(root / "shop/pricing.py")},
    },
    "a shell": lambda root: message(
        root, "Bash", {"command": "cd shop && sed -i 's/discounted/reduced/' pricing.py"}
    ),
    "git": lambda root: message(root, "Bash", {"command": "git apply change.patch"}),
}


@pytest.mark.parametrize("wire", EDITS.values(), ids=EDITS)
def test_an_edit_is_understood_from_each_host(
    wire: Callable[[Path], dict[str, Any]], shop: Path, no_background: list[str]
) -> None:
    write(shop, RENAMED)
    assert said(wire(shop)) == ""
    _check(shop)
    assert NOT_FITTING in _runs_tests(shop)


@pytest.mark.slow
def test_edits_in_a_row_are_checked_by_a_process_of_its_own(shop: Path) -> None:
    write(shop, RENAMED)
    for path in ("shop/orders.py", "shop/deep/ledger_book.py", "shop/pricing.py"):
        assert ran("tool", message(shop, "Edit", {"file_path": str(shop / path)})) == b""
    ends = time.monotonic() + 120
    while not sessions.findings_file(_session(shop)).exists() and time.monotonic() < ends:
        time.sleep(0.2)
    printed = ran("tool", message(shop, "Bash", {"command": "make test"}, {"stdout": ""}))
    assert NOT_FITTING in json.loads(printed)["hookSpecificOutput"]["additionalContext"]
