"""Servers and command lines share a data folder and a cache."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.safety.crowd import crowd


@pytest.mark.slow
def test_servers_and_command_lines_at_once_lose_and_damage_nothing(tmp_path: Path) -> None:
    tally = asyncio.run(crowd(tmp_path, stdio=1, http=1, commands=1, rounds=1))
    assert len(tally.steps) + tally.refused == 3
    assert len(tally.opened) == 2
    assert tally.commands == 1
