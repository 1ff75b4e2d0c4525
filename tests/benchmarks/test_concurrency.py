"""The load measurement in small: what it promises holds for a few navigations as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.concurrency import fly


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.slow
@pytest.mark.anyio
async def test_navigations_at_once_do_not_mix_and_a_kill_loses_no_answered_step(tmp_path: Path) -> None:
    load = await fly(tmp_path, 6)
    assert load.mixed == 0
    assert load.lost == []
    assert load.answered_before_kill >= 3
    assert len(load.step_seconds) == 6
    assert load.ratio == pytest.approx(load.p95 / sorted(load.alone_seconds)[len(load.alone_seconds) // 2])
