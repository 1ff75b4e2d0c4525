"""The estimate of the time that parsing still takes."""

from __future__ import annotations

from repo_map.index.progress import RemainingTime


def test_remaining_time_is_extrapolated() -> None:
    now = 100.0
    remaining = RemainingTime(lambda: now)
    assert remaining.words(0, 1_000) == ""
    now = 104.0
    assert remaining.words(250, 1_000) == ", about 12 s left"
    now = 110.0
    assert remaining.words(990, 1_000) == ", about 1 s left"
    assert remaining.words(1_000, 1_000) == ""


def test_remaining_time_of_long_work_is_in_minutes() -> None:
    now = 0.0
    remaining = RemainingTime(lambda: now)
    remaining.words(0, 100)
    now = 60.0
    assert remaining.words(20, 100) == ", about 4 min left"


def test_remaining_time_is_empty_at_the_start() -> None:
    now = 0.0
    remaining = RemainingTime(lambda: now)
    remaining.words(0, 10_000)
    now = 1.9
    assert remaining.words(5_000, 10_000) == ""
    now = 30.0
    assert remaining.words(499, 10_000) == ""
    assert remaining.words(500, 10_000) != ""
