"""How likely each unit is part of the work, and what a dump of versions adds to that: nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.ranking.score import score_goal
from tests.support.trees import write

GOAL = "The total of an invoice is rounded wrongly"
DUMP = """
INSTALLED VERSIONS
------------------
commit: 1a2b3c
python: 3.11.4.final.0
OS: Linux
pandas: 2.1.0
numpy : 1.26.0
mailer: 4.2.1
queue : 1.0.3
sqlalchemy: None
"""


@pytest.fixture
def index(tmp_path: Path) -> Index:
    files = {
        "invoice.py": "".join(
            f"def total_{n}(invoice):\n    return round(sum(invoice), {n})\n\n\n" for n in range(30)
        ),
        "mailer.py": "def mailer(queue):\n    return queue.pop()\n",
        "numpy_pandas.py": "def pandas(numpy):\n    return numpy.python\n",
    }
    return build_index(write(tmp_path, files), workers=1)


def test_a_chance_is_between_nothing_and_certainty_for_every_unit(index: Index) -> None:
    chances = [unit.chance for unit in score_goal(index, GOAL).units]
    assert len(chances) > 20
    assert all(0 < chance < 1 for chance in chances)


def test_a_dump_of_versions_weighs_nothing(index: Index) -> None:
    bare, with_dump = score_goal(index, GOAL), score_goal(index, f"{GOAL}\n{DUMP}")
    assert with_dump.units == bare.units
    assert with_dump.files == bare.files


def test_lines_of_names_and_values_that_are_no_versions_keep_their_weight(index: Index) -> None:
    settings = "mailer: broken\nqueue: empty\npandas: slow\nnumpy: odd\npython: yes\nhost: local\n"
    assert score_goal(index, f"{GOAL}\n\n{settings}").units != score_goal(index, GOAL).units
