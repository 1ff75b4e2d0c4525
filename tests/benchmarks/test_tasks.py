"""Work trees of tasks, and files that hold no tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.tasks import Task
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
    )


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
