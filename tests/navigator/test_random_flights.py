"""Whatever models charge, miscount, refuse or leave unanswered, limits hold and no answered step is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.random_flights import fly


@pytest.mark.anyio
async def test_random_flights_from_the_front_door_are_sound(tmp_path: Path) -> None:
    flights = [await fly(seed, tmp_path / str(seed)) for seed in range(12)]
    assert [seed for seed, flight in enumerate(flights) if not flight.sound] == []
    assert sum(len(flight.answered) - 1 for flight in flights) > 12
