"""Runs that tell each call of a tool: what hooks say of their searches and crawls, through the command."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.__main__ import main
from tests.benchmarks.replay.conftest import Bench

LINE = f"\n{'=' * 120}\n"
EDIT = "find_and_replace_code", "file_path: shop/tax.py\nfind: cents\nreplace: round(cents)", "Done."


def written(*calls: tuple[str, str, str], goal: str = "round_tax rounds the tax of a cart wrongly") -> str:
    """Return a run as Rovo Dev's are published."""
    parts = [f"USER PROMPT:\nDo:\n\n<problem_statement>\n{goal}\n</problem_statement>"]
    for tool, given, printed in calls:
        output = f"{printed[:500]}..."
        parts += [f"TOOL CALL ({tool})\n{given}\n", f"TOOL RETURN ({tool})\n```\n{output}\n```"]
    return LINE.join(parts)


def said(bench: Bench, run: str, name: str = "ada__shop-1") -> list[dict[str, Any]]:
    """Judge a run and return the rows."""
    (bench.runs / name).write_text(run)
    rows = bench.folder / "said.jsonl"
    rows.unlink(missing_ok=True)
    assert main(
        [
            *("hooks", str(bench.tasks), "--runs", str(bench.runs), "--rows", str(rows), "--json"),
            *("--mirrors", str(bench.mirrors), "--trees", str(bench.folder / "trees")),
        ]
    ) == 0  # fmt: skip
    return [json.loads(line) for line in rows.read_text().splitlines()]


def test_what_is_said_of_a_search_is_judged_by_the_file_that_is_opened_later(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    missed = (
        "grep",
        "content_pattern: roundTax\npath_glob: '**/*.py'",
        "No matches found for pattern 'roundTax'.",
    )
    (search,) = said(bench, written(missed, ("open_files", "file_paths:\n- shop/tax.py", "[...]"), EDIT))
    assert (search["event"], search["kind"]) == ("search", "nothing found")
    assert (search["next_file"], search["later_file"], search["edited_file"]) == (True, True, True)
    (search,) = said(bench, written(missed, ("open_files", "file_paths:\n- shop/mail.py", "[...]")))
    assert not search.get("later_file")
    assert "1 of 1 (100 %)" in capsys.readouterr().out


def test_a_search_that_was_published_in_part_is_made_again_in_the_tree(bench: Bench) -> None:
    (cut,) = said(bench, written(("grep", "content_pattern: country", "x" * 500)))
    assert cut["found"] == 4
    (cut,) = said(
        bench, written(("bash", "command: cd /workspace && grep -rn country shop | head -2", "x" * 500))
    )
    assert cut["found"] == 2


def test_an_agent_that_finds_no_way_is_told_the_likely_places(bench: Bench) -> None:
    looks = [("bash", f"command: cd /workspace && grep -rn nothing{at} docs", "") for at in range(3)]
    bench.tasks.write_text(bench.tasks.read_text().replace("round_tax rounds the tax", "the tax is wrong"))
    rows = said(bench, written(*looks, ("inspect_code", "file_path: shop/tax.py", "def"), EDIT))
    (crawl,) = [row for row in rows if row["event"] == "crawl"]
    assert (crawl["at"], crawl["later_file"]) == (2, True)


def test_runs_in_json_are_read_and_their_own_root_is_the_tree(bench: Bench) -> None:
    entries = [
        {"type": "llm_call", "task_prompt": [{"role": "user", "content": "Fix.\n## Issue\nTax is wrong"}]},
        {
            "type": "tool_call",
            "tool": "grep_search",
            "arguments": {"pattern": "roundTax", "dirPath": "/code/ada/shop/shop"},
            "result": "No matches found",
        },
        {
            "type": "tool_call",
            "tool": "bash_execute",
            "arguments": {"command": "cat tax.py", "working_dir": "/code/ada/shop/shop"},
            "result": {"stdout": "RATES", "stderr": ""},
        },
    ]
    (search,) = said(bench, json.dumps({"trajectory": entries}), "ada__shop-1.json")
    assert (search["kind"], search["next_file"]) == ("nothing found", True)


def test_a_run_that_is_none_is_told_of(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    (bench.runs / "ada__shop-1.json").write_text("{")
    rows = ("--rows", str(bench.folder / "said.jsonl"), "--mirrors", str(bench.mirrors))
    trees = ("--trees", str(bench.folder / "trees"))
    assert main(["hooks", str(bench.tasks), "--runs", str(bench.runs), *rows, *trees]) != 0
    assert "can't be read" in capsys.readouterr().err
    assert main(["hooks", str(bench.tasks), *rows]) != 0
    assert "--runs" in capsys.readouterr().err
