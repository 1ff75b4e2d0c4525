"""Chances that are learned from tasks, told as a table and written beside the weights."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from repo_map.ranking.model import default_weights
from tests.training.test_learning import WORDS, rows_of
from training import learn_chance, learn_surety
from training.calibration import brier, by_fold, fit_signals, table
from training.signal_rows import save_rows


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    for word in WORDS:
        save_rows(rows_of(tmp_path_factory.mktemp(word), word), folder / f"{word}.npz")
    return folder


@pytest.mark.parametrize(
    ("command", "parts", "heading"),
    [
        (learn_surety, {"surety"}, "said               tasks  mean   right"),
        (learn_chance, {"chance"}, "said               units  mean   right"),
    ],
)
def test_a_learned_part_is_written_and_the_others_stay(
    command: ModuleType,
    parts: set[str],
    heading: str,
    *,
    rows: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    weights = tmp_path / "weights.json"
    shipped = default_weights()._asdict()
    weights.write_text(json.dumps(shipped), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["", "--rows", str(rows), "--weights", str(weights), "--write"])
    command.main()
    assert heading in capsys.readouterr().out.splitlines()
    written = json.loads(weights.read_text(encoding="utf-8"))
    assert set(written) == set(shipped) | parts
    assert {name for name in written if written[name] != shipped.get(name)} <= parts


def test_what_is_seen_more_often_is_said_to_be_likelier() -> None:
    seen = [{"bias": 1.0, "seen": float(place % 2)} for place in range(40)]
    right = np.array([place % 2 == 1 and place > 9 for place in range(40)])
    assert fit_signals(seen, right)["seen"] > 0


def test_a_table_tells_bands_that_hold_something() -> None:
    said, right = np.array([0.1, 0.1, 0.9]), np.array([False, True, True])
    assert table("tasks", said, right, (0.0, 0.5, 0.8)) == [
        "said               tasks  mean   right",
        "0.00 to 0.50           2  0.100  0.500",
        "0.80 to 1.00           1  0.900  1.000",
    ]
    assert table("tasks", said, right, {"no": 0.0, "yes": 0.5})[1].startswith("no ")
    assert brier(said, right) == pytest.approx((0.01 + 0.81 + 0.01) / 3)


def test_a_repository_is_judged_by_what_was_learned_from_the_others() -> None:
    examples = [learn_surety.Example(repo, {"bias": 1.0}, True) for repo in "abc"]
    learned = by_fold(
        examples, {"a": 0, "b": 1, "c": 1}, lambda some: "".join(sorted(each.repo for each in some))
    )
    assert learned == {"a": "bc", "b": "a", "c": "a"}
