"""The structure is counted as it says it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.structure import structure_of, structures, table
from tests.support.trees import write


def test_parts_floors_arrows_and_circles_are_counted() -> None:
    arrows = {
        "p.cli": frozenset({"p.engine", "p.words"}),
        "p.engine": frozenset({"p.words", "p.plan"}),
        "p.plan": frozenset({"p.engine", "p.words"}),
        "p.words": frozenset[str](),
    }
    found = structure_of("p", arrows)
    assert found == ("p", 4, 3, 6, 1, (("p.engine", "p.plan"),))
    assert table(iter([found])).splitlines() == [
        "package  parts  floors  arrows  up  circles",
        "p            4       3       6   1        1",
        "",
        "circles:",
        "p: engine, plan",
    ]


def test_imports_within_functions_are_arrows_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        tmp_path,
        {
            "made_up_house/__init__.py": "",
            "made_up_house/plan.py": "def text():\n    from made_up_house import writer\n    return writer\n",
            "made_up_house/writer.py": "from made_up_house.plan import text\n",
        },
    )
    monkeypatch.syspath_prepend(tmp_path)
    *_, house = structures(("made_up_house",))
    assert house.circles == (("made_up_house.plan", "made_up_house.writer"),)


def test_no_part_of_the_product_stands_in_a_circle() -> None:
    packages = ("repo_map", "navigator", "mcp_server", "repo_navigator")
    circles = {each.package: each.circles for each in structures(packages) if each.circles}
    # `python -m mcp_server` starts the command line, which serves.
    assert {name: found for name, found in circles.items() if name != "(whole)"} == {}
