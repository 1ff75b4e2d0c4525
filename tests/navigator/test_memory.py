"""A process holds what it works on, and nothing of what it has closed."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakSet

import pytest

from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from navigator.workspaces.workspace import Workspace
from repo_map.index.index import Index
from repo_map.limits import DEFAULT

REPOSITORIES = 8
PLAN = {
    "custom_queries": [{"pattern": "**/*.py", "query": "(function_definition) @all", "level": 4}],
    "focus": {"symbols": [{"name": "only_here", "weight": 2}]},
    "verbosity": [{"pattern": "nowhere/**", "level": 3}, {"pattern": "src/**", "level": 4}],
}


def plant(folder: Path, number: int) -> Path:
    """Write a small repository that no other is equal to."""
    (folder / "src").mkdir(parents=True)
    (folder / "src/only.py").write_text(f"def only_here():\n    return elsewhere() + {number}\n")
    (folder / "src/other.py").write_text("def elsewhere():\n    return 1\n")
    return folder


def _living() -> list[Index | Workspace]:
    return [each for each in gc.get_objects() if isinstance(each, Index | Workspace)]


@contextmanager
def counting() -> Iterator[Callable[[], int]]:
    """Yield what counts the indexes and workspaces that came to life since, and that somebody refers to.

    Without the collector: only what nobody refers to any more is freed.
    """
    gc.collect()
    before = WeakSet(_living())
    gc.disable()
    try:
        yield lambda: sum(each not in before for each in _living())
    finally:
        gc.enable()


def mapped_below(folder: Path) -> set[str]:
    """Return the files below ``folder`` that this process has mapped into memory or holds open."""
    mapped = {
        line.split(maxsplit=5)[5].strip()
        for line in Path("/proc/self/maps").read_text().splitlines()
        if line.count(" ") >= 5 and "/" in line
    }
    opened = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            opened.add(str(descriptor.readlink()))
        except OSError:  # That of the listing itself.
            continue
    return {name for name in mapped | opened if name.startswith(f"{folder}/")}


async def navigate(navigator: Navigator, folder: Path) -> str:
    """Fly one navigation the way of models, of words and of plans."""
    navigation_id = await navigator.open(NavigationRequest("what is only_here", folder, mode="interactive"))
    await navigator.step(navigation_id)
    await navigator.step(navigation_id, feedback="show src/other.py")
    await navigator.step(navigation_id, updates=PLAN)
    await navigator.context(navigation_id, since_step=1)
    return navigation_id


@pytest.mark.anyio
async def test_who_has_closed_all_repositories_holds_none_of_their_indexes(tmp_path: Path) -> None:
    settings = NavigatorSettings(data_dir=tmp_path / "data", cache_dir=tmp_path / "cache", workers=1)
    with counting() as alive:
        navigator = Navigator(settings)
        for number in range(REPOSITORIES):
            await navigate(navigator, plant(tmp_path / f"r{number}", number))
        assert alive() > REPOSITORIES
        await navigator.aclose()
        assert alive() == 0
    if sys.platform == "linux":
        gc.collect()
        assert mapped_below(tmp_path) == set()


@pytest.mark.anyio
async def test_an_index_that_had_to_go_is_freed_although_its_navigation_lives_on(tmp_path: Path) -> None:
    settings = NavigatorSettings(
        cache_dir=tmp_path / "cache", workers=1, limits=DEFAULT._replace(memory_mb=40)
    )
    navigator = Navigator(settings)
    with counting() as alive:
        flights = [await navigate(navigator, plant(tmp_path / f"r{number}", number)) for number in range(4)]
        assert alive() == 2  # The latest index and its workspace.
        if sys.platform == "linux":
            assert len(mapped_below(tmp_path / "cache/snapshots")) == 1
        for flight in flights:
            assert (await navigator.step(flight, drop=["src/other.py"])).step_number == 4
        assert alive() == 2
    await navigator.aclose()
