"""Learning weights from lists of candidates, small enough to check by hand."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from repo_map.ranking.score import default_weights, score_goal
from tests.support.trees import commit
from training import learn

SOURCE = "def reduce_price(order):\n    return order\n\n\ndef send_mail(order):\n    return order\n"


def test_fit_raises_the_weight_of_what_tells_gold_from_the_rest() -> None:
    tells = np.array([1.0, 0.0, 0.0, 0.0])
    noise = np.array([0.0, 1.0, 0.0, 1.0])
    lists = learn.make_lists([({"tells": tells, "noise": noise}, tells > 0)] * 3, ["tells", "noise"])
    tells_weight, noise_weight = learn.fit(lists, np.zeros(2), 1.0, 0.01)
    assert tells_weight > 0 > noise_weight


def test_fit_stays_near_the_prior_where_its_price_is_high() -> None:
    gold = np.array([True, False])
    lists = learn.make_lists([({"a": gold.astype(float)}, gold)], ["a"])
    assert learn.fit(lists, np.array([0.5]), 1.0, 1e4)[0] == pytest.approx(0.5, abs=0.05)


def test_fit_logistic_gives_a_higher_chance_to_what_is_right_more_often() -> None:
    seen = [{"bias": 1.0, "seen": float(place % 2)} for place in range(40)]
    assert learn.fit_logistic(seen, [place % 2 == 1 and place > 9 for place in range(40)])["seen"] > 0


def test_learned_weights_are_written_and_usable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mirror = commit(
        tmp_path / "mirrors" / "ada+shop",
        {"shop.py": SOURCE, "mail.py": "def send(order):\n    return order\n"},
    )
    head = (mirror / ".git" / "refs" / "heads").rglob("*")
    identity = next(path for path in head if path.is_file()).read_text().strip()
    symbol = {"file": "shop.py", "name": "reduce_price", "kind": "function", "start": 1, "end": 2}
    task = {
        "id": "a",
        "repo": "ada/shop",
        "base_commit": identity,
        "goal": "The price of an order is wrong",
        "names": ["reduce_price"],
        "gold_symbols": [{**symbol, "sig_line": 1, "leaf": "reduce_price"}],
    }
    tasks, written = tmp_path / "tasks.jsonl", tmp_path / "weights.json"
    tasks.write_text(json.dumps(task) + "\n")
    folders = [f"--{each}={tmp_path / each}" for each in ("mirrors", "trees", "store")]
    monkeypatch.setattr(sys, "argv", ["", str(tasks), *folders, f"--write={written}"])
    learn.main()
    weights = {kind: learn.Weights(**own) for kind, own in json.loads(written.read_text()).items()}
    assert weights.keys() == default_weights().keys()
    for kind, own in weights.items():
        assert own.definition.keys() == default_weights()[kind].definition.keys()
    index = learn.build_index(mirror, store=learn.Store(None), workers=1)
    assert score_goal(index, task["goal"], weights=weights).units[0].name == "reduce_price"
