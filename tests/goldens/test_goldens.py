"""Maps, packets, plans, schemas and help texts are what they were.

What is changed on purpose is written anew by ``python -m tests.goldens``, and its difference is read.
"""

from __future__ import annotations

import sys

import pytest

from tests.goldens.capture import DATA, captures

NAMES = sorted(path.relative_to(DATA).as_posix() for path in DATA.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def today(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return captures(tmp_path_factory.mktemp("goldens"))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_printed_is_what_was_printed(name: str, today: dict[str, str]) -> None:
    if name.startswith("help/") and sys.version_info >= (3, 13):
        pytest.skip("from Python 3.13 on argparse writes the value of a flag with two names once")
    assert today[name] == (DATA / name).read_text(encoding="utf-8")


def test_no_text_is_new(today: dict[str, str]) -> None:
    assert sorted(today) == NAMES
