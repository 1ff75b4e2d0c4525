"""A worker process that is stopped, or that hangs without taking CPU time, keeps nobody waiting for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from repo_map.errors import FlightPlanError
from repo_map.index import worker_pool
from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.outline.draw import draw_map
from repo_map.plan.model import FlightPlan
from tests.support.trees import write

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no process can be stopped there")
FILES = {"a.py": "def first(): ...\n", "stop.py": "def second(): ...\n", "z.py": "def third(): ...\n"}
FILES |= {"stop.lua": "function fourth() end\n"}
STOPS = """
import os, signal, sys

def stop_at(event, arguments):
    if event == {event!r} and {name!r} in str(arguments[0]) and {worker!r} in sys.orig_argv:
        os.kill(os.getpid(), signal.SIGSTOP)

sys.addaudithook(stop_at)
"""
QUERY = FlightPlan.model_validate({"custom_queries": [{"pattern": "**", "query": "(identifier) @x"}]})


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait seconds where one waits a minute, for workers that nobody else has used."""
    monkeypatch.setattr(worker_pool, "CLOCK_PER_CPU", 0.1)
    worker_pool.close_idle()


def put_stop(folder: Path, monkeypatch: pytest.MonkeyPatch, event: str, name: str) -> None:
    """Have each worker stop itself at an event that Python tells of."""
    code = STOPS.format(event=event, name=name, worker="repo_map.index.worker")
    write(folder, {"sitecustomize.py": code})
    monkeypatch.setenv("PYTHONPATH", str(folder))


def built(root: Path) -> Index:
    return build_index(root, store=Store(None), workers=1)


def children() -> list[int]:
    """Return the numbers of the processes that this one has started."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True)
    rows = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    return [int(pid) for pid, parent, args in rows if parent == str(os.getpid()) and "worker" in args]


def test_an_idle_worker_that_somebody_stops_is_replaced(tmp_path: Path) -> None:
    root = write(tmp_path, FILES)
    whole = [item.name for item in built(root).definitions(0)]
    for process_id in children():
        os.kill(process_id, signal.SIGSTOP)
    again = built(root)
    assert [item.name for item in again.definitions(0)] == whole == ["first"]
    assert again.problems == ()


def test_a_query_whose_worker_is_stopped_is_asked_again(tmp_path: Path) -> None:
    index = built(write(tmp_path, FILES))
    for process_id in children():
        os.kill(process_id, signal.SIGSTOP)
    assert "def first" in draw_map(index, QUERY).text


SILENT = "the process that read it was stopped, or did not respond for 1.5 s; no symbols were read"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("opened", "path", "why"),
    [
        ("tree_sitter_lua", "stop.lua", SILENT),
        ("stop.py", "stop.py", f"{SILENT}; listed by path only"),
    ],
)
def test_a_file_at_which_workers_hang_is_read_without_its_grammar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: str, path: str, why: str
) -> None:
    root = write(tmp_path / "root", FILES)
    put_stop(tmp_path / "site", monkeypatch, "open", opened)
    index = built(root)
    assert [(problem.path, problem.what) for problem in index.problems] == [(path, why)]
    assert "third" in draw_map(index, FlightPlan()).text


@pytest.mark.slow
def test_a_query_at_which_workers_hang_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = built(write(tmp_path / "root", FILES))
    worker_pool.close_idle()
    put_stop(tmp_path / "site", monkeypatch, "open", "tree_sitter_python")
    with pytest.raises(FlightPlanError) as message:
        draw_map(index, QUERY)
    assert "was stopped, or did not respond for 1.5 s; try again" in str(message.value)
    monkeypatch.delenv("PYTHONPATH")
    assert "def first" in draw_map(index, QUERY).text


def test_workers_that_hang_at_their_start_are_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "_START_TIMEOUT_S", 1.0)
    put_stop(tmp_path / "site", monkeypatch, "import", "repo_map.parsing.symbols")
    index = built(write(tmp_path / "root", FILES))
    assert "a worker process did not start within 1 s" in index.problems[0].what
