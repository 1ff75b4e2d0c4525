"""The replay through its command: what was read, what a packet holds and replaces, and what that changes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from benchmarks.__main__ import main
from tests.benchmarks.replay.conftest import MAIL, PATCH, TAX, Bench, Turn

NUMBERED = "".join(f"{number:>6}\t{line}\n" for number, line in enumerate(TAX.split("\n")[:-1], 1))
EDIT = "sed -i 's/round(cents)/round(cents * 100)/' shop/tax.py"
TURNS = [
    Turn("ls shop", "mail.py\ntax.py\n"),
    Turn("grep -rn round_tax .", "./shop/tax.py:8:def round_tax(amount, country):\n"),
    Turn("nl -ba shop/tax.py | sed -n '1,10p'", NUMBERED),
    Turn(EDIT),
    Turn("cat shop/tax.py", TAX.replace("(cents)", "(cents * 100)")),
    Turn("python -m pytest -q", "1 passed\n"),
]


def rows(bench: Bench, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, dict[str, Any]]:
    assert main(bench.arguments("--tokens", "4000", "--json", *more)) == 0
    said: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["rows"]
    return {row["system"]: row for row in said}


def test_a_run_is_told_by_what_was_read_before_its_first_edit(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.add_run(TURNS)
    facts = rows(bench, capsys)["nothing"]["facts"]
    assert (facts["calls"], facts["commands"], facts["read"], facts["look_ups"]) == (6, 6, 6, 4)
    assert (facts["before_first_edit"], facts["files_before_first_edit"]) == (3, 1)
    assert facts["tokens_before_first_edit"] == 3_000
    assert facts["edits_seen"]
    assert facts["usd_billed"] == 0.25


def test_a_packet_that_holds_every_line_replaces_the_look_up_and_no_look_at_the_agents_own_work(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.add_run(TURNS)
    row = rows(bench, capsys)["answer as sent"]
    assert (row["first_lines"], row["first_held"]) == (6, 6)
    assert (row["edited_files"], row["edited_files_held"]) == (1, 1)
    assert (row["edited_lines"], row["edited_lines_held"]) == (1, 1)
    assert row["strict_dropped"] == row["generous_dropped"] == 2
    for turns, dropped in (
        ([Turn("cat shop/tax.py", TAX)], 1),
        ([Turn(EDIT), Turn("cat shop/tax.py", TAX)], 0),
    ):
        bench.add_run(turns)
        assert rows(bench, capsys)["answer as sent"]["strict_dropped"] == dropped


def test_the_price_of_a_packet_is_paid_at_every_later_call(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.add_run([Turn("python -m pytest -q"), Turn("cat setup.cfg"), Turn("python -m pytest -q")])
    found = rows(bench, capsys, "--prices", "10,1,100")
    as_it_was, packet = found["nothing"], found["answer as sent"]
    # Three prompts of 1,000, 2,000 and 3,000 tokens, each 1,000 of them new, and three answers of 100.
    assert as_it_was["usd"] == pytest.approx((3 * 10_000 + 1_000 + 2_000 + 3 * 10_000) / 1e6)
    assert as_it_was["usd_recorded"] == pytest.approx((6_000 * 10 + 3 * 10_000) / 1e6)
    assert as_it_was["strict_usd"] == as_it_was["usd"]
    more = packet["strict_usd"] - as_it_was["strict_usd"]
    assert more == pytest.approx(packet["tokens"] * (10 + 1 + 1) / 1e6)


def test_a_dropped_look_up_takes_its_answer_and_its_output_out_of_the_run(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.add_run([Turn("cat shop/tax.py", TAX), Turn("python -m pytest -q"), Turn("python -m pytest -q")])
    row = rows(bench, capsys, "--prices", "10,1,100")["answer as sent"]
    assert row["strict_dropped"] == 1
    prompts = [1_000 + row["tokens"], 2_000 + row["tokens"]]
    expected = prompts[0] * 10 + prompts[0] * 1 + 1_000 * 10 + 2 * 100 * 100
    assert row["strict_usd"] == pytest.approx(expected / 1e6)


def test_half_a_look_up_and_a_search_are_replaced_by_the_generous_rule_alone(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.add_run(
        [
            Turn("find . -name 'tax*'", "./shop/tax.py\n"),
            Turn("cat shop/tax.py && cat setup.cfg", TAX + "[tool]\nname = shop\n"),
            Turn(EDIT),
        ]
    )
    row = rows(bench, capsys)["answer as sent"]
    assert (row["strict_dropped"], row["generous_dropped"]) == (0, 2)


def test_the_report_says_what_a_replay_cannot_see_and_goes_on_where_it_was(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.add_run(TURNS)
    figure = bench.folder / "figure.svg"
    assert main(bench.arguments("--tokens", "1000,4000", "--figure", str(figure))) == 0
    first = capsys.readouterr()
    assert first.out.startswith("A replay can't see whether a task would have been solved")
    assert "| answer as sent | 4,000 | 1 |" in first.out
    assert "Dearer with answer as sent at 4,000 (strict): " in first.out
    assert "ada__shop-1: 5 asked" in first.err
    words = [each.text for each in ET.fromstring(figure.read_text()).iter("{http://www.w3.org/2000/svg}text")]
    assert {"answer as sent (1 tasks)", "tokens of the packet"} <= set(words)
    lines = (bench.folder / "out" / "rows.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["system"] for line in lines].count("answer as sent") == 2
    kept = bench.folder / "out" / "rows.jsonl"
    drawn = bench.folder / "drawn.svg"
    assert main(["replay", "--rows", str(kept), "--figure", str(drawn)]) == 0
    assert capsys.readouterr().out == first.out
    assert drawn.read_text() == figure.read_text()
    assert main(bench.arguments("--tokens", "1000,4000")) == 0
    again = capsys.readouterr()
    assert again.out == first.out
    assert "ada__shop-1: 0 asked" in again.err


def test_a_task_whose_commit_is_not_there_is_left_out_and_told(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.add_run(TURNS)
    bench.tasks.write_text(bench.tasks.read_text().replace("ada/shop", "ada/none"))
    assert main(bench.arguments()) == 0
    said = capsys.readouterr()
    assert "ada__shop-1 is left out: No mirror of `ada/none`" in said.err
    assert "There is nothing to replay" in said.out


def test_what_is_known_is_reported_without_asking_and_the_most_that_can_be_saved_is_told(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.add_run(TURNS)
    found = rows(bench, capsys, "--known")
    assert set(found) == {"nothing", "all it read"}
    assert found["all it read"]["strict_dropped"] == 3
    assert not (bench.folder / "trees").exists()


def test_a_folder_without_runs_and_a_broken_run_are_told_in_a_sentence(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(bench.arguments()) == 2
    assert "There is no run in `" in capsys.readouterr().err
    bench.add_run(TURNS)
    (file,) = bench.runs.rglob("*.traj.json")
    file.write_text('{"info": {}}')
    assert main(bench.arguments("--tokens", "300")) == 2
    assert "ada__shop-1.traj.json` can't be read (KeyError: 'messages')." in capsys.readouterr().err


def test_what_is_missing_and_rows_that_are_none_are_told(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BENCH_MIRROR", raising=False)
    assert main(["replay", str(bench.tasks), "--runs", str(bench.runs)]) == 2
    assert "Say also --out, --mirrors (or BENCH_MIRROR); or --rows FILE" in capsys.readouterr().err
    assert main(["replay", "--rows", str(bench.tasks)]) == 2
    assert "The rows can't be read from `" in capsys.readouterr().err


def test_an_aider_that_fails_is_told_with_its_own_words(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    bench.add_run(TURNS)
    assert main(bench.arguments("--tokens", "300", "--aider", sys.executable)) == 2
    said = capsys.readouterr().err
    assert "aider made no map of ada__shop-1: " in said
    assert "aider" in said.splitlines()[-1]


def test_lines_of_other_files_are_not_taken_for_what_was_read(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.add_run([Turn("cat shop/mail.py", MAIL), Turn("python shop/tax.py", TAX), Turn(EDIT)])
    row = rows(bench, capsys, "--baselines")["BM25 functions"]
    assert row["first_lines"] == 2


# With hooks.


def test_a_hook_is_paid_where_it_speaks_and_what_it_names_replaces_later_searches_alone(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    turns = [
        Turn("grep -rn roundTax ."),
        Turn("find . -name 'tax*'", "./shop/tax.py\n"),
        Turn("find . -name 'mail*'", "./shop/mail.py\n"),
        Turn("grep -rn 'amount, country' .", "./shop/tax.py:8:def round_tax(amount, country):\n"),
        Turn("cat shop/tax.py", TAX),
        Turn(EDIT),
        Turn("python -m pytest -q", "1 passed\n"),
    ]
    bench.add_run(turns)
    found = rows(bench, capsys)
    spoken = found["hooks, searches"]
    assert spoken["tokens"] > 0
    assert (spoken["strict_dropped"], spoken["generous_dropped"]) == (0, 2)
    # It is written for the second call, and read by the five that follow.
    more = spoken["strict_usd"] - spoken["usd"]
    assert more == pytest.approx(spoken["tokens"] * (2 + 5 * 0.2) / 1e6)
    crawled = found["hooks, crawl"]
    assert crawled["tokens"] > 0
    assert (crawled["strict_dropped"], crawled["generous_dropped"]) == (0, 1)
    assert found["hooks, start"]["tokens"] > 0
    assert found["hooks, all"]["tokens"] == sum(
        found[f"hooks, {each}"]["tokens"] for each in ("searches", "crawl", "start", "edits")
    )
    assert main(["hooks", "--rows", str(bench.folder / "out" / "said.jsonl")]) == 0
    said = capsys.readouterr().out
    assert "1 runs of 1 tasks" in said
    assert "| search | 4 searches | 1 (25 %) |" in said
    assert "| search: nothing found |" in said


def test_a_goal_that_names_its_place_is_not_answered_at_a_crawl(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.tasks.write_text(bench.tasks.read_text().replace("of a cart", "in shop/tax.py"))
    bench.add_run(TURNS)
    assert rows(bench, capsys)["hooks, crawl"]["tokens"] == 0


def test_what_an_edit_breaks_is_told_behind_it_and_taken_back_in_the_tree(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    patch = PATCH.replace(
        " def round_tax(amount, country):", "-def round_tax(amount, country):\n+def round_tax((:"
    )
    bench.add_run([Turn(EDIT), Turn("ls"), Turn("python -m pytest -q")], patch)
    assert rows(bench, capsys)["hooks, edits"]["tokens"] > 0
    (tree,) = (bench.folder / "trees" / "ada__shop").glob("*/shop/tax.py")
    assert tree.read_text() == TAX


def _add_swe_agent_run(bench: Bench, turns: list[tuple[str, str]], sent: int) -> None:
    file = bench.runs / "an-agent" / "trajs" / "ada__shop-1.traj"
    file.parent.mkdir(parents=True)
    history = [
        {"role": "system", "content": "You work."},
        {"role": "user", "content": "ISSUE:\nround_tax rounds wrongly\n\nINSTRUCTIONS:\nDo."},
        {"role": "assistant", "content": "So."},
    ]
    steps = [{"action": action, "observation": output, "response": "So."} for action, output in turns]
    usage = {"tokens_sent": sent, "api_calls": len(steps), "instance_cost": 1.0}
    info = {"submission": PATCH, "model_stats": usage}
    file.write_text(json.dumps({"history": history, "trajectory": steps, "info": info}))


def test_a_run_of_swe_agent_is_read_as_a_shells_and_priced_by_what_it_says_it_sent(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    window = "".join(f"{number}:{line}\n" for number, line in enumerate(TAX.split("\n")[:-1], 1))
    opened = f"[File: /ada__shop/shop/tax.py (9 lines total)]\n{window}"
    _add_swe_agent_run(
        bench,
        [
            ('search_dir "roundTax"', 'No matches found for "roundTax" in /ada__shop'),
            ('find_file "tax.py"', 'Found 1 matches for "tax.py" in /ada__shop:\n/ada__shop/shop/tax.py'),
            ('open "shop/tax.py"', opened),
            ("edit 9:9\n    return 1\nend_of_edit", opened),
            *[("ls -a", "shop\n")] * 8,
            ("submit", ""),
        ],
        90_000,
    )
    found = rows(bench, capsys)
    facts = found["nothing"]["facts"]
    assert (facts["calls"], facts["before_first_edit"], facts["files_before_first_edit"]) == (13, 3, 1)
    assert facts["edits_seen"]
    assert found["nothing"]["agent"] == "an-agent"
    # Nothing was read from a cache then: all that was sent is paid as written.
    assert found["nothing"]["usd_recorded"] == pytest.approx(90_000 * 2 / 1e6, rel=0.1)
    assert found["nothing"]["usd"] < found["nothing"]["usd_recorded"]
    spoken = found["hooks, searches"]
    assert (spoken["tokens"] > 0, spoken["generous_dropped"]) == (True, 1)
    # Five outputs later it is left out of the prompts.
    more = spoken["strict_recorded_usd"] - found["nothing"]["usd_recorded"]
    assert more == pytest.approx(5 * spoken["tokens"] * 2 / 1e6)
