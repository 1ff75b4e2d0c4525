"""Snapshots of what the product prints; ``python -m tests.goldens`` updates them."""

from __future__ import annotations

import sys

import pytest

from tests.goldens.capture import DATA, captures

NAMES = sorted(path.name for path in DATA.iterdir())


@pytest.fixture(scope="module")
def today(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return captures(tmp_path_factory.mktemp("goldens"))


@pytest.mark.parametrize("name", NAMES)
def test_output_equals_its_snapshot(name: str, today: dict[str, str]) -> None:
    if name == "help.txt" and sys.version_info >= (3, 13):
        pytest.skip("from Python 3.13 on argparse writes the value of a flag with two names once")
    assert today[name] == (DATA / name).read_text(encoding="utf-8")


def test_every_output_has_a_snapshot(today: dict[str, str]) -> None:
    assert sorted(today) == NAMES
