"""The estimate of the time that parsing still takes."""

from __future__ import annotations

import pytest

from repo_map.index.progress import RemainingTime


@pytest.mark.parametrize(
    ("seconds", "done", "words"),
    [
        (1.9, 500, ""),
        (4.0, 49, ""),
        (4.0, 250, ", about 12 s left"),
        (10.0, 990, ", about 1 s left"),
        (60.0, 200, ", about 4 min left"),
        (60.0, 1_000, ""),
    ],
)
def test_remaining_time_is_extrapolated(seconds: float, done: int, words: str) -> None:
    now = 100.0
    remaining = RemainingTime(lambda: now)
    assert remaining.words(0, 1_000) == ""
    now += seconds
    assert remaining.words(done, 1_000) == words
