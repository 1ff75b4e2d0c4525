"""``repo-navigator hook``: a fact beside the assistant's own work, or nothing, and 0 whatever comes in."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mcp_server.settings import read_settings
from repo_map.index import RepoIndex, build_index
from repo_map.indexing.store import user_store
from repo_map.text import tokens
from repo_navigator.hooks import background, sessions
from repo_navigator.hooks.edit_check import check_edits
from repo_navigator.hooks.facts import facts_of
from repo_navigator.hooks.names import NameTable, names_file
from repo_navigator.hooks.names_writer import write_names
from repo_navigator.hooks.program import EVENTS, heard
from repo_navigator.hooks.run import run_hook
from repo_navigator.hooks.wording import FRAME_OF_FINDINGS, findings_text
from repo_navigator.main import main
from tests.support.trees import commit, write

TASK = "the discount on an apple must never be negative"
FILES = {
    "shop/pricing.py": (
        "class PriceList:\n"
        "    def lowest_price(self, fruit):\n        return 1\n\n\n"
        "def discounted_total(cart):\n    return sum(cart) - 1\n"
    ),
    "shop/orders.py": (
        "from shop.pricing import discounted_total\n\n\n"
        "def place_order(cart):\n    return discounted_total(cart)\n\n\n"
        + "".join(
            f"def order_{number}(cart):\n    return discounted_total(cart) + {number}\n\n\n"
            for number in range(12)
        )
    ),
    "shop/deep/ledger_book.py": "LEDGER = {}\n",
    "tests/test_pricing.py": (
        "from shop.pricing import discounted_total\n\n\ndef test_total():\n    assert discounted_total([2])\n"
    ),
    "pyproject.toml": "[project]\nname = 'shop'\n[tool.pytest.ini_options]\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository whose names are written down."""
    root = (tmp_path / "shop-repository").resolve()
    commit(root, FILES)
    _write_names(root)
    return root


def _write_names(root: Path) -> None:
    index = build_index(root)
    cache = user_store().folder
    assert cache is not None
    write_names(index, cache, root, {"facts": facts_of(index), "tree": index.fingerprint}, seconds=5)


def message(
    root: Path, tool: str, given: Mapping[str, Any], response: Any = "", **more: Any
) -> dict[str, Any]:
    """Return what Claude Code tells a hook after a tool call."""
    told = {"hook_event_name": "PostToolUse", "session_id": "s", "cwd": str(root)}
    return {**told, "tool_name": tool, "tool_input": given, "tool_response": response, **more}


def said(told: Mapping[str, Any], event: str = "tool") -> str:
    """Return what the host's model reads, empty where the hook stays silent."""
    printed = heard(event, json.dumps(told).encode(), os.environ)
    return str(json.loads(printed)["hookSpecificOutput"]["additionalContext"]) if printed else ""


def grepped(root: Path, line: str, output: str = "", **more: Any) -> str:
    return said(message(root, "Bash", {"command": line}, {"stdout": output, "stderr": ""}, **more))


MANY = "\n".join(f"shop/orders.py:{line}:    return discounted_total(cart)" for line in range(5, 25))


# After a search.


def test_a_search_without_a_hit_is_told_the_nearest_names(shop: Path) -> None:
    text = grepped(shop, "grep -rn discount_total .")
    assert "discounted_total (function) shop/pricing.py:6" in text
    assert text.startswith("Repo Navigator: ")
    assert "<<<repository text\n" in text
    assert len(text) <= 400


@pytest.mark.parametrize(
    "line",
    [
        "grep -rn 'discountedTotal' .",
        'rg "discountedTotal\\b"',
        "git grep -n discountedTotal -- .",
        "cd shop && grep -rn 'def discountedTotal' . | head -20",
        "ugrep -r --include='*.py' -e discountedTotal .",
        "timeout 5 grep -rn -A 3 discountedTotal . 2>/dev/null",
        "find . -name '*.py' -exec grep -n discountedTotal {} +",
        "bash -lc 'grep -rn discountedTotal .'",
        "grep -rnE 'discountedTotal\\(' . ; true",
    ],
)
def test_a_search_is_understood_in_whichever_way_it_is_written(line: str, shop: Path) -> None:
    assert "shop/pricing.py:6" in grepped(shop, line)


def test_a_name_that_stands_elsewhere_is_told_where(shop: Path) -> None:
    text = grepped(shop, "grep -rn lowest_price shop/deep")
    assert "PriceList.lowest_price (method) shop/pricing.py:2" in text


def test_a_name_with_many_hits_is_told_its_definition_and_what_calls_it(shop: Path) -> None:
    text = grepped(shop, "grep -rn discounted_total .", MANY)
    assert "shop/pricing.py:6" in text
    assert "14 calls of it: shop/orders.py:5 in place_order" in text
    assert len(text) <= 400


def test_a_file_that_is_not_found_is_told_where_one_of_its_name_is(shop: Path) -> None:
    assert "shop/deep/ledger_book.py" in grepped(shop, "find src -name ledger_book.py")
    assert "shop/deep/ledger_book.py" in said(
        message(
            shop,
            "Glob",
            {"pattern": "lib/**/ledger_book.*"},
            {"filenames": [], "numFiles": 0},
            session_id="t",
        )
    )


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("grep -rn discounted_total .", "shop/pricing.py:6:def discounted_total(cart):"),
        ("grep -rn 'nothing.*like[ab]+this' .", ""),
        ("grep -rnc discountedTotal .", ""),
        ("grep -rn zzqqxxyy .", ""),
        ("grep -rn discountedTotal /usr/lib", ""),
        ("ps aux | grep discountedTotal", ""),
        ("grep -n lowest_price shop/orders.py", ""),
        ("grep -rn lowest_price tests/", ""),
        ("grep -rn ledger shop/deep", ""),
        ("make test", ""),
        ("git commit -m 'grep discountedTotal'", ""),
        ("grep -rn 'unclosed .", ""),
    ],
)
def test_whatever_else_is_searched_is_left_alone(line: str, output: str, shop: Path) -> None:
    assert grepped(shop, line, output) == ""


def test_nothing_is_said_twice_in_a_session(shop: Path) -> None:
    assert grepped(shop, "grep -rn discount_total .")
    assert grepped(shop, "grep -rn discount_total .") == ""
    assert grepped(shop, "grep -rn discount_total .", session_id="another")


def test_who_has_read_the_file_is_not_told_of_it(shop: Path) -> None:
    assert _reads(shop, "shop/pricing.py") == ""
    assert grepped(shop, "grep -rn discount_total .") == ""


def test_a_definition_that_moved_since_is_told_where_it_stands_now(shop: Path) -> None:
    file = shop / "shop/pricing.py"
    file.write_text("import math\n\n\n" + file.read_text())
    assert "shop/pricing.py:9" in grepped(shop, "grep -rn discount_total .")


def test_a_definition_that_is_gone_is_not_told(shop: Path) -> None:
    (shop / "shop/pricing.py").unlink()
    assert grepped(shop, "grep -rn discount_total .") == ""


def test_names_of_another_repository_are_not_believed(shop: Path, tmp_path: Path) -> None:
    cache = user_store().folder
    assert cache is not None
    other = tmp_path / "other"
    commit(other, FILES)
    names_file(cache, other.resolve()).write_bytes(names_file(cache, shop).read_bytes())
    assert NameTable.open(cache, other.resolve()) is None


@pytest.mark.parametrize("cut", [0, 1, 8, 16, 100, 2_000])
def test_a_damaged_file_of_names_is_none(cut: int, shop: Path) -> None:
    cache = user_store().folder
    assert cache is not None
    file = names_file(cache, shop)
    file.write_bytes(file.read_bytes()[:cut])
    assert grepped(shop, "grep -rn discount_total .") == ""


def test_a_folder_outside_of_what_may_be_read_is_answered_with_nothing(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPO_NAVIGATOR_ALLOW", str(tmp_path / "elsewhere"))
    assert grepped(shop, "grep -rn discount_total .") == ""
    monkeypatch.setenv("REPO_NAVIGATOR_ALLOW", str(tmp_path))
    assert grepped(shop, "grep -rn discount_total .")


# Each host's own wire.

WIRES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "Claude Code": lambda root: message(
        root,
        "Bash",
        {"command": "grep -rn discount_total ."},
        {"stdout": "", "stderr": "", "interrupted": False},
    ),
    "Claude Code's Grep": lambda root: message(
        root,
        "Grep",
        {"pattern": "discount_total"},
        {"mode": "content", "content": "", "numLines": 0, "filenames": []},
    ),
    "Claude Code, failed": lambda root: {
        **message(root, "Bash", {"command": "grep -rn discount_total ."}),
        "hook_event_name": "PostToolUseFailure",
        "error": "",
    },
    "Codex": lambda root: message(
        root, "Bash", {"command": "rg -n discount_total"}, "", turn_id="1", model="m"
    ),
    "Gemini CLI": lambda root: {
        **message(
            root, "search_file_content", {"pattern": "discount_total"}, {"llmContent": "No matches found"}
        ),
        "hook_event_name": "AfterTool",
    },
    "Copilot CLI": lambda root: {
        "hook_event_name": "PostToolUse",
        "session_id": "s",
        "timestamp": "2026-11-01T00:00:00Z",
        "cwd": str(root),
        "tool_name": "bash",
        "tool_input": {"command": "grep -rn discount_total ."},
        "tool_result": {"result_type": "success", "text_result_for_llm": ""},
    },
    "VS Code": lambda root: {
        "hookEventName": "PostToolUse",
        "sessionId": "s",
        "cwd": str(root),
        "tool_name": "run_in_terminal",
        "tool_input": {"command": "grep -rn discount_total ."},
        "tool_response": "",
    },
}


@pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)
def test_each_host_is_understood_and_answered_in_its_own_form(
    wire: Callable[[Path], dict[str, Any]], shop: Path
) -> None:
    told = wire(shop)
    answer = json.loads(heard("tool", json.dumps(told).encode(), os.environ))
    nested = answer["hookSpecificOutput"]
    assert nested["hookEventName"] == (told.get("hook_event_name") or told["hookEventName"])
    assert "shop/pricing.py:6" in nested["additionalContext"]
    assert ("additionalContext" in answer) == ("tool_result" in told)


def test_cursor_is_answered_in_its_own_form(shop: Path) -> None:
    told = {
        "conversation_id": "s",
        "cursor_version": "2",
        "hook_event_name": "postToolUse",
        "workspace_roots": [str(shop)],
        "tool_name": "Shell",
        "tool_input": {"command": "grep -rn discount_total ."},
        "tool_output": '{"stdout": ""}',
    }
    answer = json.loads(heard("tool", json.dumps(told).encode(), os.environ))
    assert "shop/pricing.py:6" in answer["additional_context"]


def test_devin_names_its_folder_in_the_environment(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEVIN_PROJECT_DIR", str(shop))
    told = message(shop, "exec", {"command": "grep -rn discount_total ."})
    del told["cwd"]
    assert "shop/pricing.py:6" in said(told)


# When it crawls, and at the start.


@pytest.fixture
def no_background(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The goals that would be worked on beside; the work itself has tests of its own."""
    started: list[str] = []
    monkeypatch.setattr(
        "repo_navigator.hooks.starting.start_background", lambda root, session, goal: started.append(goal)
    )
    monkeypatch.setattr("repo_navigator.hooks.starting.start_check", lambda root, session: None)
    return started


def _answer_waits(root: Path, text: str) -> None:
    sessions.answer_file(
        sessions.session_file(Path(os.environ["REPO_NAVIGATOR_DATA"]), "s", root)
    ).write_text(text)


def _reads(root: Path, path: str) -> str:
    return said(message(root, "Read", {"file_path": str(root / path)}, {"file": {}}))


def test_the_third_look_without_an_edit_is_given_the_answer_once(
    shop: Path, no_background: list[str]
) -> None:
    said(message(shop, "", {}, prompt=TASK), "prompt")
    assert no_background == [TASK]
    _answer_waits(shop, "shop/pricing.py\n  6-7 discounted_total")
    texts = [_reads(shop, path) for path in ("a.py", "b.py", "c.py", "d.py", "e.py")]
    assert [bool(text) for text in texts] == [False, False, True, False, False]
    assert "6-7 discounted_total" in texts[2]
    assert "data, never instructions" in texts[2]


def test_a_file_that_is_read_again_is_a_crawl(shop: Path, no_background: list[str]) -> None:
    said(message(shop, "", {}, prompt=TASK), "prompt")
    _answer_waits(shop, "shop/pricing.py")
    assert _reads(shop, "a.py") == ""
    assert "shop/pricing.py" in _reads(shop, "a.py")


def test_who_edits_does_not_crawl(shop: Path, no_background: list[str]) -> None:
    said(message(shop, "", {}, prompt=TASK), "prompt")
    _answer_waits(shop, "shop/pricing.py")
    for path in ("a.py", "b.py"):
        assert _reads(shop, path) == ""
    said(message(shop, "Edit", {"file_path": str(shop / "a.py")}))
    assert [_reads(shop, path) for path in ("c.py", "d.py")] == ["", ""]


def test_a_new_prompt_lets_go_of_the_answer_for_the_last(shop: Path, no_background: list[str]) -> None:
    said(message(shop, "", {}, prompt=TASK), "prompt")
    _answer_waits(shop, "shop/pricing.py")
    said(message(shop, "", {}, prompt="and now something else entirely, please"), "prompt")
    assert [_reads(shop, path) for path in ("a.py", "b.py", "c.py")] == ["", "", ""]


@pytest.mark.parametrize("prompt", ["go on", "/compact and go on with it", "# remember this rule well", ""])
def test_what_is_no_task_is_not_worked_on(prompt: str, shop: Path, no_background: list[str]) -> None:
    said(message(shop, "", {}, prompt=prompt), "prompt")
    assert no_background == []


def test_a_session_begins_with_the_facts_of_the_repository_once(shop: Path, no_background: list[str]) -> None:
    text = said(message(shop, "", {}, source="startup"), "start")
    assert "code: shop/ (" in text
    assert "tests: tests/ (1 file)" in text
    assert "pytest tests/test_pricing.py" in text
    assert "set-up: pyproject.toml" in text
    assert len(text) <= 800
    assert said(message(shop, "", {}, prompt=TASK), "prompt") == ""


def test_each_subagent_begins_with_the_facts_as_it_has_read_nothing(
    shop: Path, no_background: list[str]
) -> None:
    first = said(message(shop, "", {}, source="startup"), "start")
    begun = message(shop, "", {}, hook_event_name="SubagentStart", agent_id="a", agent_type="Explore")
    assert [said(begun, "start"), said({**begun, "agent_id": "b"}, "start")] == [first, first]
    printed = json.loads(heard("start", json.dumps(begun).encode(), os.environ))
    assert printed["hookSpecificOutput"]["hookEventName"] == "SubagentStart"
    assert len(no_background) == 1


# What is worked out beside.


def test_the_background_writes_names_and_the_answer_for_a_goal(shop: Path) -> None:
    cache = user_store().folder
    assert cache is not None
    names_file(cache, shop).unlink()
    session = sessions.session_file(Path(os.environ["REPO_NAVIGATOR_DATA"]), "s", shop)
    background.work(shop, session, "the total of a cart must never be negative", read_settings(os.environ))
    assert "discounted_total" in sessions.answer_file(session).read_text()
    assert "shop/pricing.py:6" in grepped(shop, "grep -rn discount_total .")


def test_a_goal_that_names_its_place_is_not_answered(shop: Path) -> None:
    session = sessions.session_file(Path(os.environ["REPO_NAVIGATOR_DATA"]), "s", shop)
    background.work(shop, session, "in shop/pricing.py the total is negative", read_settings(os.environ))
    assert not sessions.answer_file(session).exists()


def test_the_background_reads_no_folder_that_may_not_be_read(shop: Path, tmp_path: Path) -> None:
    cache = user_store().folder
    assert cache is not None
    names_file(cache, shop).unlink()
    settings = read_settings({**os.environ, "REPO_NAVIGATOR_ALLOW": str(tmp_path / "elsewhere")})
    with pytest.raises(Exception, match="outside the folders"):
        background.work(shop, tmp_path / "s.json", TASK, settings)
    assert not names_file(cache, shop).exists()


@pytest.mark.slow
def test_a_prompt_starts_the_background_as_a_process_of_its_own(shop: Path) -> None:
    cache = user_store().folder
    assert cache is not None
    names_file(cache, shop).unlink()
    assert ran("prompt", message(shop, "", {}, prompt="the total of a cart must never be negative")) == b""
    ends = time.monotonic() + 120
    while not names_file(cache, shop).exists() and time.monotonic() < ends:
        time.sleep(0.2)
    assert names_file(cache, shop).exists()


# After an edit.

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
    assert text.startswith("Repo Navigator, of the code after the last edit:\n<<<repository text\n")
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
    text = grepped(shop, "find src -name ledger_book.py")
    assert NOT_FITTING in text
    assert "shop/deep/ledger_book.py" in text


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


# Whatever comes in.

VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -1.5,
        10**400,
        "",
        " ",
        "\0",
        "\ud800",
        "\x1b[2J",
        "x" * 100_000,
        [],
        {},
        [[]],
        [None],
        {"": {}},
    ),
    *(
        ["a", 1, {"b": [2]}],
        {"command": 1},
        {"command": ["grep", 7]},
        {"stdout": {"stdout": {"stdout": {"stdout": {}}}}},
    ),
)
FIELDS = (
    "hook_event_name",
    "session_id",
    "cwd",
    "prompt",
    "tool_name",
    "tool_input",
    "tool_response",
    "workspace_roots",
)
RAW = (
    *(
        b"",
        b" \n\t ",
        b"where is it",
        b"\xef\xbb\xbf",
        b'{"prompt": "\xff\xfe"}',
        b'{"cwd": "/tmp',
        b"{}{}",
        b"null",
        b"true",
    ),
    *(
        b"17",
        b'"x"',
        b"[]",
        b"{}",
        bytes(100_000),
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
    ),
    *(
        b"9" * 100_000,
        b'{"cwd": NaN}',
        b'{"cwd": 1e999999999}',
        b'{"tool_response": "' + b"a " * 5_000_000 + b'"}',
    ),
    *(b'{"prompt": "\\x00"}', b'{"prompt": "\\u12', json.dumps({str(n): n for n in range(10_000)}).encode()),
)
FOLDERS = (
    *(
        "\0",
        "{}\0",
        "{}\ud800",
        "{}\x1b[2J",
        "{}\n",
        "",
        "  ",
        "/nowhere",
        "/dev/null",
        "/dev/null/x",
        "/" + "x" * 5_000,
    ),
    *(
        "/x" * 50_000,
        "../" * 50_000,
        "//evil.example/share",
        "\\\\evil.example\\share",
        "file://evil/etc",
        "file://[",
        "/",
    ),
    *(
        "https://evil.example",
        "~nobody-of-this-name/x",
        "/dev/fd/0",
        "/proc/self/fd",
        "relative/folder",
        "{}/missing/below",
    ),
)
LINES = (
    *(
        "grep",
        "grep -",
        "grep --",
        "grep -e",
        "grep -A",
        "rg -g",
        "grep ''",
        'grep "" .',
        "grep -rn '(' .",
        "grep -rn '[' .",
    ),
    *(
        "grep -rn '*' .",
        "grep -rn '\\' .",
        "grep -rn '\\\\' .",
        "find",
        "find .",
        "find . -name",
        "find -name '' .",
        "find . -exec",
    ),
    *(
        "find . -name '[' ",
        "find . -name '***'",
        "git grep",
        "git",
        "git grep -e",
        "cd",
        "cd && grep x",
        "cd '' ; grep x .",
        "|",
    ),
    *(
        "|| grep x",
        "; ; ;",
        "grep x <<EOF\nfoo",
        "grep x <<EOF\nfoo\nEOF",
        "cat <<'E'\n$(grep x)\nE",
        "$(grep -rn foo .)",
        "`grep`",
    ),
    *(
        "grep 'foo",
        'grep "foo',
        "grep foo\\",
        "grep \ud800 .",
        "grep foo\0 .",
        "grep " + "a" * 50_000,
        "grep " + "a|" * 5_000,
    ),
    *(
        "grep -rn " + "(" * 3_000 + " .",
        "sed -n",
        "sed -i",
        "cat",
        "cat /dev/zero",
        "xargs grep",
        "env grep",
        "timeout grep foo",
    ),
    *(
        "bash -c",
        "bash -c 'bash -c \"bash -c grep\"'",
        "sh -c ''",
        "tee",
        "patch",
        "> /etc/passwd",
        ">",
        "<",
        "2>&1",
        "&",
        "grep x >",
    ),
    *(
        "FOO=bar",
        "FOO=bar grep thing_here .",
        "grep -rn 'a{1,99999999}' .",
        "grep -rnE '(a+)+$' .",
        "grep -f patterns .",
        "grep -v foo .",
    ),
    *(
        "rg --files",
        "rg -e foo -e bar",
        "rg foo ~",
        "rg foo ~nobody",
        "rg foo ../../../../..",
        "rg foo //server/share",
        "fd",
        "fd -e py",
    ),
    *(
        "ag thing",
        "ack thing",
        "zgrep thing x.gz",
        "ls | grep foo | wc -l",
        "grep -c foo x",
        "awk '/foo/' x",
        "\n\n\n",
        "#comment",
        "! grep x",
    ),
    *(
        "grep discount_total " + "shop " * 3_000,
        "grep -rn '" + "\\|".join(f"name_{n}" for n in range(500)) + "' .",
        "time",
        "nice -n",
    ),
)


def _odd_messages(root: Path) -> Iterator[bytes]:
    """Yield 200 messages and more that no host should send, but might."""
    yield from RAW
    usual = message(root, "Bash", {"command": "grep -rn discount_total ."}, prompt=TASK)
    for field in FIELDS:
        for value in VALUES:
            yield json.dumps({**usual, field: value}).encode()
    for folder in FOLDERS:
        yield json.dumps({**usual, "cwd": folder.replace("{}", str(root))}).encode()
    for line in LINES:
        yield json.dumps({**usual, "tool_input": {"command": line}}).encode()
    for line in LINES[:20]:
        yield json.dumps(
            {**usual, "tool_name": "Grep", "tool_input": {"pattern": line, "path": line}}
        ).encode()
        yield json.dumps({**usual, "tool_name": "Glob", "tool_input": {"pattern": line}}).encode()


@pytest.mark.parametrize("event", [*EVENTS, "odd", ""])
def test_no_message_is_a_failure(event: str, shop: Path, no_background: list[str]) -> None:
    messages = list(_odd_messages(shop))
    assert len(messages) >= 200
    for number, told in enumerate(messages):
        begins = time.process_time()
        printed = heard(event, told, os.environ)
        assert time.process_time() - begins < 2, (number, told[:200])
        if printed:
            assert json.loads(printed)["hookSpecificOutput"]["additionalContext"]


def ran(event: str, told: object, **options: Any) -> bytes:
    """Run a hook in a process of its own, which has to end with 0, and return what it prints."""
    given = told if isinstance(told, bytes) else json.dumps(told).encode()
    command = [sys.executable, "-m", "repo_navigator.main", "hook", event]
    run = subprocess.run(command, check=False, input=given, timeout=60, capture_output=True, **options)
    assert (run.returncode, run.stderr) == (0, b"")
    return run.stdout


def test_a_hook_prints_one_line_of_json_and_ends_with_0(shop: Path) -> None:
    printed = ran("tool", message(shop, "Bash", {"command": "grep -rn discount_total ."}))
    assert printed.count(b"\n") == 1
    assert "shop/pricing.py:6" in json.loads(printed)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("arguments", [[], ["--verbose"], ["tool", "more"], ["nothing"]])
def test_a_wrong_command_line_ends_with_0(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{}")))
    assert main(["hook", *arguments]) == 0


def test_a_stdin_that_never_ends_is_left_in_time() -> None:
    reading, writing = os.pipe()
    command = (
        "import sys; from repo_navigator.hooks.run import run_hook; run_hook('tool', ends=True, seconds=0.5)"
    )
    try:
        run = subprocess.run(
            [sys.executable, "-c", command], check=False, stdin=reading, timeout=60, capture_output=True
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert (run.returncode, run.stdout) == (0, b"")


@pytest.mark.parametrize("folder", ["cache", "data"])
def test_folders_that_can_not_be_written_are_no_failure(
    folder: str,
    shop: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(f"REPO_NAVIGATOR_{folder.upper()}", str(tmp_path / "file"))
    told = json.dumps(message(shop, "Bash", {"command": "grep -rn discount_total ."}))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(told.encode())))
    assert run_hook("tool", ends=False) == 0
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    "kept", [b"", b"{", b"[]", b"null", b"[" * 100_000, b'{"looks": "x", "said": 3, "reads": [1]}']
)
def test_what_is_remembered_may_be_damaged(kept: bytes, shop: Path) -> None:
    file = sessions.session_file(Path(os.environ["REPO_NAVIGATOR_DATA"]), "s", shop)
    file.parent.mkdir(parents=True)
    file.write_bytes(kept)
    assert grepped(shop, "grep -rn discount_total .")


def test_hooks_at_the_same_time_count_every_look(shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "sessions" / "one.json"

    def look(number: int) -> None:
        for _ in range(200):
            try:
                with sessions.remembered(file) as session:
                    session.note_look((f"{number}.py",))
            except BlockingIOError:
                continue
            return

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(look, range(40)))
    assert json.loads(file.read_text())["looks"] == 40


def test_old_sessions_are_removed(shop: Path) -> None:
    file = sessions.session_file(Path(os.environ["REPO_NAVIGATOR_DATA"]), "old", shop)
    file.parent.mkdir(parents=True)
    for path in (file, sessions.answer_file(file)):
        path.write_text("{}")
        os.utime(path, (1, 1))
    grepped(shop, "grep -rn discount_total .")
    assert not file.exists()
    assert not sessions.answer_file(file).exists()
