"""Who is central, and how a focus moves it."""

from __future__ import annotations

import numpy as np

from repo_map.graph.pagerank import rank
from repo_map.index.index import Index
from repo_map.plan.model import Focus, PathBoost, SymbolBoost
from tests.support.maps import index_of

USED = {
    "core.py": "def compute_total(values):\n    return sum(values)\n\n\ndef unused_helper():\n    pass\n",
    "a.py": "from core import compute_total\n\n\ndef run_alpha():\n    return compute_total([1])\n",
    "b.py": "from core import compute_total\n\n\ndef run_beta():\n    return compute_total([2])\n",
    "other.py": "def lonely_function():\n    pass\n",
    "tests/test_core.py": "from core import compute_total\n\n\ndef test_it():\n    compute_total([])\n",
}


def share(index: Index, path: str, focus: Focus | None = None) -> float:
    file_id = index.file_id(path)
    assert file_id is not None
    return float(rank(index, focus)[file_id])


def test_what_many_files_use_ranks_first() -> None:
    index = index_of(USED)
    assert index.paths[int(np.argmax(rank(index)))] == "core.py"


def test_ranks_are_shares_of_one() -> None:
    assert np.isclose(rank(index_of(USED)).sum(), 1)


def test_tests_are_where_fewer_readers_start() -> None:
    index = index_of(USED)
    assert share(index, "tests/test_core.py") < share(index, "other.py")


def test_a_focus_on_a_path_lifts_it_and_what_it_uses() -> None:
    index = index_of(USED)
    focus = Focus(paths=(PathBoost(pattern="other.py", weight=2),))
    assert share(index, "other.py", focus) > share(index, "a.py", focus)
    assert share(index, "other.py", focus) > share(index, "other.py")


def test_a_focus_on_a_symbol_lifts_the_files_that_define_it() -> None:
    index = index_of(USED)
    for name in ("lonely_function", "lonely*"):
        focus = Focus(symbols=(SymbolBoost(name=name),))
        assert share(index, "other.py", focus) > share(index, "other.py")


def test_a_focus_that_names_nothing_changes_nothing() -> None:
    index = index_of(USED)
    focus = Focus(paths=(PathBoost(pattern="zzz/**"),), symbols=(SymbolBoost(name="zzz"),))
    assert np.array_equal(rank(index, focus), rank(index))


def test_a_repository_without_references_ranks_evenly() -> None:
    ranks = rank(index_of({"a.txt": "x\n", "b.txt": "y\n"}))
    assert ranks[0] == ranks[1]


def test_an_empty_repository_has_no_ranks() -> None:
    assert rank(index_of({})).shape == (0,)
