"""What a reranker is taught and measured by: texts, hard negatives, lists, and the figures made of them."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from types import ModuleType

import msgspec
import numpy as np
import pytest

from benchmarks.tasks import GoldSpan, GoldSymbol, Task
from repo_map.index import build_index
from repo_map.indexing.store import Store
from repo_map.relevance.model import default_weights
from repo_map.relevance.score import score_goal
from tests.support.trees import commit, git, write
from training import measure_reranker, unit_lists
from training.encoder_texts import goal_text, unit_text
from training.hard_negatives import examples_of
from training.text_pairs import TextPair, read_repository
from training.unit_lists import in_turn, read_lists

_WORDS = ("router", "cache", "login", "mail", "report", "upload")


def _sources() -> dict[str, str]:
    return {
        f"src/{name}.py": f"def open_{name}(path):\n    return {name}.open(path)\n\n\ndef end():\n    pass\n"
        for name in _WORDS
    }


def _task(word: str, commit_id: str) -> Task:
    gold = GoldSymbol(f"src/{word}.py", "end", "function", 5, 6, 5, "end")
    return Task(
        id=word,
        repo=f"owner/{word}",
        base_commit=commit_id,
        language="Python",
        goal=f"The {word} opens the wrong path",
        gold_files=[gold.file],
        gold_symbols=[gold],
        gold_spans=[GoldSpan(gold.file, 6, 6, insert=False)],
    )


def test_an_encoder_reads_words_and_neither_marks_nor_code_blocks() -> None:
    goal = "Fix `HTTPServer.sendAll`\n<!-- template -->\n```\nx = 1\n```\nIt hangs."
    assert goal_text(goal) == "Fix HTTP Server send All It hangs."
    text = unit_text("src/http/server.py", "HTTPServer.send_all", 'def send_all(self):\n    """Send."""')
    assert text == "http server. HTTP Server send all. def send all self Send."


def test_the_text_of_a_pull_request_stands_before_that_of_its_commits(tmp_path: Path) -> None:
    root = commit(tmp_path / "repository", {"code.py": "def one():\n    pass\n\n\ndef two():\n    pass\n"})
    git(root, "checkout", "-q", "-b", "branch")
    (root / "code.py").write_text("def one():\n    return 1\n\n\ndef two():\n    pass\n")
    git(root, "commit", "-qam", "Return a number here")
    git(root, "checkout", "-q", "main")
    text = "Merge pull request #1 from a/branch\n\nCounting gives nothing at all"
    git(root, "merge", "-q", "--no-ff", "-m", text, "branch")
    [pair] = read_repository(root, most=10)
    assert pair.goal == "Counting gives nothing at all Return a number here"
    assert [text.split(".")[1].strip() for text in pair.changed] == ["one"]
    assert [text.split(".")[1].strip() for text in pair.neighbours] == ["two"]


def test_hard_negatives_share_words_with_the_goal_and_are_of_no_changed_function() -> None:
    pairs = [
        TextPair("1", "python", "login fails", ["login form"], ["logout form"]),
        TextPair("2", "python", "slow query", ["query rows"], ["login page", "draw box"]),
    ]
    first, _ = examples_of(pairs, 2, random.Random(0))
    assert first.changed == "login form"
    assert first.others == ("logout form", "login page")


def test_tasks_of_all_repositories_come_before_a_second_of_any() -> None:
    tasks = [("kind", _task(word, "")) for word in ("mail", "mail", "cache")]
    assert [task.repo for _, task in in_turn(tasks)] == ["owner/mail", "owner/cache", "owner/mail"]


def test_a_reranker_moves_units_and_their_chances(tmp_path: Path) -> None:
    index = build_index(write(tmp_path, _sources()), store=Store(None), workers=1)
    weights = default_weights()
    before = score_goal(index, "The cache opens the wrong path", weights=weights)
    last = before.units[-1]
    after = measure_reranker.reranked(before, {(last.path, last.start): 99.0}, weights)
    assert (after.units[0].path, after.units[0].start) == (last.path, last.start)
    assert after.units[0].chance > last.chance
    assert [unit.path for unit in after.units[1:]] == [unit.path for unit in before.units[:-1]]


def test_a_reranker_that_knows_the_answer_is_measured_as_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = []
    for word in _WORDS:
        mirror = commit(tmp_path / "mirrors" / f"owner+{word}", _sources())
        made.append(_task(word, git(mirror, "rev-parse", "HEAD").strip()))
    (tmp_path / "tasks").write_bytes(b"\n".join(msgspec.json.encode(task) for task in made))
    weights = {task.repo: default_weights() for task in made}
    (tmp_path / "weights").write_bytes(msgspec.json.encode(weights))

    def run(tool: ModuleType, *names: str, **more: object) -> str:
        options = {name: tmp_path / name for name in ("tasks", "mirrors", "trees", *names)} | more
        arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        monkeypatch.setattr(sys, "argv", [tool.__name__, *arguments])
        tool.main()
        return capsys.readouterr().out

    run(unit_lists, out=tmp_path / "lists")
    known = {
        each.id: np.array([[float(unit.gold)] for unit in each.units], np.float32)
        for each in read_lists(tmp_path / "lists")
    }
    np.savez(tmp_path / "scores.npz", **known)  # type: ignore[arg-type]
    knowing = f"knowing={tmp_path / 'scores.npz'}"
    printed = run(measure_reranker, "lists", "weights", "journal", scores=knowing)
    lines = [[cell.strip() for cell in line.split("|")] for line in printed.splitlines()]
    plain, gained = (dict(zip(lines[0], lines[row], strict=True)) for row in (2, 3))
    assert float(gained["MRR"].split()[0]) > 0.2
    assert float(gained["loss"].split()[0]) < -0.5
    assert float(plain["body@4k"]) == 1.0
    assert gained["body@4k"] == "+0.000 (+0.000 to +0.000)"
    journal = (tmp_path / "journal").read_bytes()
    assert run(measure_reranker, "lists", "weights", "journal", scores=knowing) == printed
    assert (tmp_path / "journal").read_bytes() == journal


def test_lists_are_made_of_the_tree_before_the_fix_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = commit(tmp_path / "mirrors" / "owner+mail", _sources())
    task = _task("mail", git(mirror, "rev-parse", "HEAD").strip())
    (tmp_path / "tasks.jsonl").write_bytes(msgspec.json.encode(task))
    folders = {"tasks": "tasks.jsonl", "mirrors": "mirrors", "trees": "trees", "out": "lists"}
    arguments = [part for name, path in folders.items() for part in (f"--{name}", str(tmp_path / path))]
    monkeypatch.setattr(sys, "argv", ["unit_lists", *arguments, "--units", "5"])
    unit_lists.main()
    [made] = read_lists(tmp_path / "lists")
    assert len(made.units) == 5
    assert made.units[0].source == "def open_mail(path):\n    return mail.open(path)"
    assert [unit.name for unit in made.units if unit.gold] == ["end"]
