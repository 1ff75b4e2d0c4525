"""``repo-navigator hook``: a fact beside the assistant's own work, or nothing, and 0 whatever comes in."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mcp_server.settings import read_settings
from repo_map.index import build_index
from repo_map.indexing.store import user_store
from repo_map.text import tokens
from repo_navigator.hooks import background, sessions
from repo_navigator.hooks.facts import facts_of
from repo_navigator.hooks.likely_places import LikelyPlace, kept
from repo_navigator.hooks.names import NameTable, names_file
from repo_navigator.hooks.program import heard
from tests.support.hooks import FILES, TASK, grepped, make_shop, message, ran, said
from tests.support.trees import commit


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository whose names are written down."""
    return make_shop(tmp_path / "shop-repository")


MANY = "\n".join(f"shop/orders.py:{line}:    return discounted_total(cart)" for line in range(5, 45))


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


@pytest.mark.parametrize(
    "line",
    [
        "grep -n 'def lowest_price' shop/orders.py",
        "cat shop/orders.py | head -50 | grep -n 'def lowest_price'",
        "nl -ba shop/orders.py | grep -A 20 'class PriceList'",
    ],
)
def test_a_declaration_that_is_expected_in_another_file_is_told_where_it_is(line: str, shop: Path) -> None:
    assert " shop/pricing.py:" in grepped(shop, line)


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
            {"pattern": "lib/**/ledger_book.py"},
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
        ("grep -n 'def discountedTotal' shop/orders.py", ""),
        ("cat shop/orders.py | grep -A 9 'def lowest_price' | grep fruit", ""),
        ("grep -rn discountedTotal . | grep -v shop", ""),
        ("grep -rn lowest_price tests/", ""),
        ("find src -name 'orders.py' -o -name 'pricing.py'", ""),
        ("grep -rn lowest_price built/html", ""),
        ("grep -rn ledger shop/deep", ""),
        ("find src -name ledger_book", ""),
        ("grep -rn Decimal.discount_total .", ""),
        ("grep -rn discounted_total tests", MANY),
        ("grep -n discounted_total shop/orders.py", MANY),
        ("grep -rn discounted_total .", "\n".join([MANY] * 6)),
        ("grep -rn LEDGER_OF_ALL .", MANY),
        ("grep -rnF 'discount_total == 3' .", ""),
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


def test_a_place_is_told_once_in_a_session_however_it_is_looked_for(shop: Path) -> None:
    assert "shop/pricing.py:6" in grepped(shop, "grep -rn discountedTotal .")
    assert grepped(shop, "grep -rn discounted_total .", MANY) == ""
    assert grepped(shop, "grep -rn lowestPrice .")


def test_a_name_that_a_search_found_before_is_not_missed_in_another_folder(shop: Path) -> None:
    assert (
        grepped(shop, "grep -rn discounted_total .", "shop/orders.py:5:    return discounted_total(cart)")
        == ""
    )
    assert grepped(shop, "grep -rn discounted_total shop/deep") == ""


def test_who_has_opened_a_file_of_the_repository_is_told_of_names_that_do_not_exist_alone(shop: Path) -> None:
    assert _reads(shop, "notes-of-its-own.txt") == ""
    assert _reads(shop, "shop/orders.py") == ""
    assert grepped(shop, "grep -rn discounted_total .", MANY) == ""
    assert grepped(shop, "find src -name ledger_book.py") == ""
    assert "shop/pricing.py:2" in grepped(shop, "grep -rn lowestPrice .")


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
            root,
            "run_shell_command",
            {"command": "grep -rn discount_total ."},
            {
                "llmContent": "<untrusted_context>\nOutput: (empty)\nExit Code: 1\nProcess Group PGID: 7\n"
                "</untrusted_context>",
                "returnDisplay": "Command exited with code: 1",
            },
        ),
        "hook_event_name": "AfterTool",
        "timestamp": "2026-11-01T00:00:00Z",
        "transcript_path": "/nowhere",
    },
    "Gemini CLI's grep": lambda root: {
        **message(
            root,
            "grep_search",
            {"pattern": "discount_total"},
            {
                "llmContent": 'No matches found for pattern "discount_total" in the workspace directory '
                '(filter: "*.py").'
            },
        ),
        "hook_event_name": "AfterTool",
    },
    "Copilot CLI": lambda root: {
        "hook_event_name": "PostToolUse",
        "session_id": "s",
        "timestamp": "2026-11-01T00:00:00Z",
        "cwd": str(root),
        "tool_name": "Bash",
        "tool_input": {"command": "grep -rn discount_total ."},
        "tool_result": {
            "result_type": "success",
            "text_result_for_llm": "\n<shellId: 0 completed with exit code 1>",
        },
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


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "<untrusted_context>\nOutput: {}\nProcess Group PGID: 7\n</untrusted_context>",
        "{}\n<shellId: 0 completed with exit code 0>",
    ],
    ids=["nothing", "Gemini CLI", "Copilot CLI"],
)
def test_what_a_host_puts_around_an_output_counts_for_no_line(around: str, shop: Path) -> None:
    lines = MANY.split("\n")
    for number, told in ((29, False), (30, True)):
        output = around.format("\n".join(lines[:number]))
        assert bool(grepped(shop, "grep -rn discounted_total .", output)) == told


def test_copilot_is_told_of_a_session_in_its_own_form(shop: Path, no_background: list[str]) -> None:
    told = {**message(shop, "", {}, source="new"), "hook_event_name": "SessionStart", "timestamp": "now"}
    answer = json.loads(heard("start", json.dumps(told).encode(), os.environ))
    assert "code: shop/" in answer["additionalContext"]


def test_what_hooks_said_before_is_no_part_of_a_prompt(shop: Path, no_background: list[str]) -> None:
    said_before = (
        "<hook_context>Repo Navigator, on this repository:\ntests/test_pricing.py</hook_context>\n\n"
    )
    said(message(shop, "", {}, prompt=said_before + TASK), "prompt")
    assert no_background == [TASK]


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


PLACE = LikelyPlace("shop/pricing.py", "discounted_total", 6, 7)


def _places_wait(root: Path, *places: LikelyPlace) -> None:
    sessions.answer_file(
        sessions.session_file(Path(os.environ["REPO_NAVIGATOR_DATA"]), "s", root)
    ).write_bytes(kept(places or (PLACE,)))


def _reads(root: Path, path: str) -> str:
    return said(message(root, "Read", {"file_path": str(root / path)}, {"file": {}}))


def test_the_third_look_without_an_edit_is_told_the_likely_places_once(
    shop: Path, no_background: list[str]
) -> None:
    said(message(shop, "", {}, prompt=TASK), "prompt")
    assert no_background == [TASK]
    _places_wait(shop)
    texts = [_reads(shop, path) for path in ("a.py", "b.py", "c.py", "d.py", "e.py")]
    assert [bool(text) for text in texts] == [False, False, True, False, False]
    assert "shop/pricing.py\n6-7 discounted_total" in texts[2]


@pytest.mark.parametrize("tool", ["Read", "Edit"])
def test_who_has_opened_a_file_of_the_repository_is_told_none(
    tool: str, shop: Path, no_background: list[str]
) -> None:
    said(message(shop, "", {}, prompt=TASK), "prompt")
    _places_wait(shop)
    said(message(shop, tool, {"file_path": str(shop / "shop/orders.py")}))
    assert [_reads(shop, path) for path in ("a.py", "b.py", "c.py")] == ["", "", ""]


def test_a_likely_place_is_told_where_it_stands_now_or_not_at_all(
    shop: Path, no_background: list[str]
) -> None:
    said(message(shop, "", {}, prompt=TASK), "prompt")
    _places_wait(shop, PLACE, LikelyPlace("shop/gone.py", "gone", 1, 2))
    file = shop / "shop/pricing.py"
    file.write_text(f"# New.\n\n{file.read_text()}")
    text = [_reads(shop, path) for path in ("a.py", "b.py", "c.py")][2]
    assert "8-9 discounted_total" in text
    assert "gone" not in text


def test_likely_places_keep_within_their_tokens(shop: Path, no_background: list[str]) -> None:
    said(message(shop, "", {}, prompt=TASK), "prompt")
    _places_wait(shop, *(PLACE._replace(first=number, last=number) for number in range(6, 200)))
    text = [_reads(shop, path) for path in ("a.py", "b.py", "c.py")][2]
    assert 0 < tokens.count(text, "cl100k") <= 400


@pytest.mark.parametrize("broken", [b"", b"{}", b"[1]", b'[["a.py", "a", "x", 2]]', b"[" * 5_000, b"\xff"])
def test_places_that_can_not_be_read_are_not_told(
    broken: bytes, shop: Path, no_background: list[str]
) -> None:
    said(message(shop, "", {}, prompt=TASK), "prompt")
    _places_wait(shop)
    sessions.answer_file(
        sessions.session_file(Path(os.environ["REPO_NAVIGATOR_DATA"]), "s", shop)
    ).write_bytes(broken)
    assert [_reads(shop, path) for path in ("a.py", "b.py", "c.py")] == ["", "", ""]


def test_who_edits_does_not_crawl(shop: Path, no_background: list[str]) -> None:
    said(message(shop, "", {}, prompt=TASK), "prompt")
    _places_wait(shop)
    for path in ("a.py", "b.py"):
        assert _reads(shop, path) == ""
    said(message(shop, "Edit", {"file_path": str(shop / "a.py")}))
    assert [_reads(shop, path) for path in ("c.py", "d.py")] == ["", ""]


def test_a_new_prompt_lets_go_of_the_places_for_the_last(shop: Path, no_background: list[str]) -> None:
    said(message(shop, "", {}, prompt=TASK), "prompt")
    _places_wait(shop)
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


FACTS = {
    "code and tests below one folder": (
        {"core/src/main/a/App.java": "class App {}\n", "core/src/test/a/AppTest.java": "class AppTest {}\n"},
        ("code: core/src/main/ (", "tests: core/src/test/ ("),
        (),
    ),
    "examples beside the product": (
        {"lib/a.js": "function a() {}\n", "examples/big.js": "function b() {}\n" * 50},
        ("code: lib/ (",),
        ("examples/",),
    ),
    "what tests share beside them": (
        {
            "package.json": '{"devDependencies": {"vitest": "1"}, "scripts": {"test": "vitest"}}\n',
            "src/tests/x.ts": "export const x = 1\n",
            "src/tests/longer.test.ts": "import { test } from 'vitest'\ntest('a', () => {})\n",
        },
        ("one file of tests runs by: npx vitest run src/tests/longer.test.ts",),
        (),
    ),
    "a runner that knows no files": (
        {
            "CMakeLists.txt": "project(a)\nenable_testing()\nadd_subdirectory(tests)\n",
            "src/a.c": "int a(void) { return 1; }\n",
            "tests/test_a.c": "int main(void) { return 0; }\n",
            "tests/test_b.c": "int main(void) { return 0; }\n",
            "configure.ac": "AC_INIT([a], [1])\n",
        },
        ("set-up: CMakeLists.txt, configure.ac",),
        ("one file of tests",),
    ),
}


@pytest.mark.parametrize(("files", "told", "untold"), FACTS.values(), ids=FACTS)
def test_facts_tell_apart_what_lies_close(
    files: Mapping[str, str], told: Sequence[str], untold: Sequence[str], tmp_path: Path
) -> None:
    commit(tmp_path / "repository", files)
    text = "\n".join(facts_of(build_index(tmp_path / "repository")))
    assert [each for each in told if each not in text] == []
    assert [each for each in untold if each in text] == []


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


def test_the_background_writes_names_and_the_likely_places_of_a_goal(shop: Path) -> None:
    cache = user_store().folder
    assert cache is not None
    names_file(cache, shop).unlink()
    session = sessions.session_file(Path(os.environ["REPO_NAVIGATOR_DATA"]), "s", shop)
    background.work(shop, session, "the total of a cart must never be negative", read_settings(os.environ))
    assert "discounted_total" in sessions.answer_file(session).read_text()
    assert "shop/pricing.py:6" in grepped(shop, "grep -rn discount_total .")


def test_a_goal_that_names_its_place_has_no_likely_places(shop: Path) -> None:
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


# The program.


def test_a_hook_prints_one_line_of_json_and_ends_with_0(shop: Path) -> None:
    printed = ran("tool", message(shop, "Bash", {"command": "grep -rn discount_total ."}))
    assert printed.count(b"\n") == 1
    assert "shop/pricing.py:6" in json.loads(printed)["hookSpecificOutput"]["additionalContext"]


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
