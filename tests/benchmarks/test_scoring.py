"""Scores of answers, work trees of tasks, and files that hold no tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks.__main__ import main
from benchmarks.scoring import Answer, Place, score
from benchmarks.tasks import GoldSpan, GoldSymbol, Task
from benchmarks.trees import MirrorNotFoundError, files_at_head, find_mirror, materialise
from tests.support.trees import commit, git

TAX = """RATES = {"no": 25}


def rate_of(country):
    return RATES[country]


def round_tax(amount, country):
    cents = amount * rate_of(country)
    return round(cents) / 100
"""
FILES = {
    "shop/tax.py": TAX,
    "shop/mail.py": "def send(to):\n    return deliver(to)\n",
    "README.md": "# Shop\n",
}
PATHS = frozenset(FILES)


@pytest.fixture
def mirrors(tmp_path: Path) -> Path:
    folder = tmp_path / "mirrors"
    commit(folder / "ada+shop", FILES)
    return folder


@pytest.fixture
def task(mirrors: Path) -> Task:
    return Task(
        id="ada__shop-1",
        repo="ada/shop",
        base_commit=git(mirrors / "ada+shop", "rev-parse", "HEAD").strip(),
        language="Python",
        goal="round_tax rounds the tax of a cart wrongly",
        gold_files=["shop/tax.py"],
        gold_symbols=[GoldSymbol("shop/tax.py", "round_tax", "function", 8, 10, 8, "round_tax")],
        gold_spans=[GoldSpan("shop/tax.py", 9, 9, insert=False)],
    )


def scored(task: Task, context: str, ranked: list[str]) -> dict[str, float]:
    return score(task, Answer(context, ranked), FILES.__getitem__)


def test_a_context_with_the_whole_function_scores_in_full(task: Task) -> None:
    context = f"shop/tax.py\n⋮ 8\n{TAX[TAX.index('def round_tax') :]}"
    measures = scored(task, context, ["shop/tax.py"])
    assert {measures[name] for name in ("Acc@1", "body", "reach", "span")} == {1}


def test_line_numbers_and_indentation_do_not_matter(task: Task) -> None:
    numbered = "\n".join(f"{number:>5} | {line}" for number, line in enumerate(TAX.split("\n"), 1))
    assert scored(task, f"shop/tax.py\n{numbered}", [])["body"] == 1


def test_an_elided_function_is_no_body(task: Task) -> None:
    context = "shop/tax.py\ndef round_tax(amount, country):\n⋮\n    return round(cents) / 100\n"
    measures = scored(task, context, ["shop/mail.py", "shop/tax.py"])
    assert measures["body"] == measures["span"] == 0
    assert (measures["Acc@1"], measures["Acc@3"]) == (0, 1)


def test_what_an_outline_offers_is_within_reach_for_its_price(task: Task) -> None:
    menu, read = [Place("shop/mail.py", 1, 2), Place("shop/tax.py", 8, 10)], FILES.__getitem__
    offered = score(task, Answer("shop/mail.py\n", [], menu, 30), read)
    assert (offered["body"], offered["reach"]) == (0, 1)
    assert offered["tokens"] == score(task, Answer("shop/mail.py\n", []), read)["tokens"] + 30
    assert score(task, Answer("shop/mail.py\n", [], menu[:1], 30), read)["reach"] == 0


def test_a_work_tree_holds_the_commit_and_its_ancestors_alone(
    mirrors: Path, task: Task, tmp_path: Path
) -> None:
    commit(mirrors / "ada+shop", {"later.py": "x = 1\n"})
    tree = materialise(task.repo, task.base_commit, mirrors, tmp_path / "trees")
    assert files_at_head(tree) == PATHS
    assert (tree / "shop/tax.py").read_text() == TAX
    assert not git(tree, "status", "--porcelain")
    assert materialise(task.repo, task.base_commit, tmp_path / "nowhere", tmp_path / "trees") == tree


def test_a_missing_mirror_is_named(tmp_path: Path) -> None:
    with pytest.raises(MirrorNotFoundError, match=r"No mirror of `ada/shop` in .*: none of ada\+shop"):
        find_mirror("ada/shop", tmp_path)


@pytest.mark.parametrize("text", [None, "{}\n", '{"id": 1}\n', "no json\n"])
def test_what_is_no_file_of_tasks_is_told_in_a_sentence(
    text: str | None, mirrors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        (tmp_path / "tasks.jsonl").write_text(text)
    arguments = ["answer", str(tmp_path / "tasks.jsonl"), "--mirrors", str(mirrors)]
    assert main(arguments) == 2
    message = capsys.readouterr().err
    assert "tasks.jsonl`" in message
    assert "unexpectedly" not in message
    assert message.count("\n") == 1


def _published() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "scored.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize("answer", _published()["answers"], ids=lambda answer: answer["what"])
def test_figures_agree_with_those_of_the_tasks_own_scorer(answer: dict[str, Any]) -> None:
    """The expected figures were computed by the scorer that came with the tasks, on the same answers."""
    published = _published()
    task = msgspec.convert(published["task"], Task)
    files: dict[str, str] = published["files"]
    measures = score(task, Answer(answer["context"], answer["ranked"]), files.__getitem__)
    assert {name: measures[name] for name in answer["measures"]} == pytest.approx(answer["measures"])
