"""Modules that are imported in bulk: what is put off meanwhile, and that nobody notices."""

from __future__ import annotations

import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pydantic
import pytest
from pydantic import BaseModel, ValidationError

from mcp_server.imports import large_imports, models_built_on_first_use


def _is_built(model: type[BaseModel]) -> bool:
    return model.__pydantic_complete__


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_after_large_imports_as_it_was_before(*, collects: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        with large_imports():
            assert not gc.isenabled()
        assert gc.isenabled() == collects
    finally:
        (gc.enable if before else gc.disable)()


def test_a_model_that_is_defined_meanwhile_is_built_when_it_is_used() -> None:
    with models_built_on_first_use():

        class Point(BaseModel):
            x: int

    class After(BaseModel):
        x: int

    assert (_is_built(Point), _is_built(After)) == (False, True)
    with pytest.raises(ValidationError):
        Point.model_validate({"x": "no number"})
    assert Point(x=1).model_dump() == {"x": 1}
    assert _is_built(Point)


def test_many_threads_may_use_a_model_for_the_first_time_at_once() -> None:
    with models_built_on_first_use():

        class Leaf(BaseModel):
            name: str
            numbers: dict[str, list[int]] = {}

        class Tree(BaseModel):
            leaves: list[Leaf] = []
            best: Leaf | None = None

    with ThreadPoolExecutor(16) as threads:
        made = threads.map(lambda n: Tree(leaves=[Leaf(name=str(n))], best=Leaf(name="b")), range(64))
        assert [tree.leaves[0].name for tree in made] == [str(n) for n in range(64)]


def test_an_error_leaves_the_usual_way_behind() -> None:
    with pytest.raises(ImportError), models_built_on_first_use():
        raise ImportError

    class After(BaseModel):
        x: int

    assert _is_built(After)


@pytest.mark.parametrize("version", ["2.12.5", "2.14.2", "2.14.0b1"])
def test_models_are_built_at_once_where_threads_could_meet_a_half_built_one(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pydantic, "VERSION", version)
    with models_built_on_first_use():

        class Point(BaseModel):
            x: int

    assert _is_built(Point)


def test_a_server_builds_few_of_the_models_of_its_libraries() -> None:
    script = (
        "import sys\n"
        "from repo_navigator.main import main\n"
        "try: main(['serve', '--help'])\n"
        "except SystemExit: pass\n"
        "from mcp_types import ListRootsResult\n"
        "print(ListRootsResult.__pydantic_complete__, ListRootsResult(roots=[]).roots)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False []"
