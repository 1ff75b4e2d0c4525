"""``python -m benchmarks repository-choice``: which of many repositories is a goal about, and how soon?

With files of tasks, each task's goal is asked of summaries of all their repositories, and of those that are
named besides, as their mirrors have them today. Without, as many small repositories as are asked for are made
and fetched, and a server that keeps them is asked for goals without a repository.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from time import perf_counter, process_time
from typing import Any, Final

import anyio
from mcp import Client

from benchmarks.git import run_git
from benchmarks.synthetic import write_synthetic_tree
from benchmarks.tasks import read_tasks
from benchmarks.trees import find_mirror, materialise
from mcp_server.app import build_server
from mcp_server.settings import Settings
from navigator.workspaces.catalogue import Catalogue, RepositoryEntry
from navigator.workspaces.clones import sync
from repo_map.repository_choice.ranking import likeliest
from repo_map.repository_choice.summary import Summary, read_summary, summarize
from repo_map.worktree.commits import CommitTree
from repo_map.worktree.git import HEAD
from repo_map.worktree.tree import Tree

_FILES: Final = 20
_WHO: Final = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the measurement takes."""
    parser.add_argument("tasks", nargs="*", type=Path, help="files of tasks")
    parser.add_argument("--mirrors", type=Path, help="folder of the mirrors of their repositories")
    parser.add_argument("--beside", default="", help="owner/name of further repositories, by commas")
    parser.add_argument("--made", type=int, default=200, help="small repositories that are made")


def run(options: argparse.Namespace) -> int:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory() as work:
        catalogue = Catalogue(Path(work) / "repositories.yaml", Path(work) / "data")
        if options.tasks:
            _judge(options, Path(work))
        else:
            _time(options.made, Path(work), catalogue)
    return 0


def _judge(options: argparse.Namespace, work: Path) -> None:
    tasks = [task for file in options.tasks for task in read_tasks(file)]
    summaries: dict[str, Summary] = {}
    for repo in dict.fromkeys([*(task.repo for task in tasks), *filter(None, options.beside.split(","))]):
        head = run_git(find_mirror(repo, options.mirrors), "rev-parse", HEAD).decode().strip()
        clone = materialise(repo, head, options.mirrors, work)
        summary = summarize(Tree(CommitTree(clone, HEAD)), _name(repo), None)
        summaries |= {} if summary is None else {_name(repo): summary}
    print(f"| goals over {len(summaries)} repositories | first | among those chosen | chosen |")
    print("|---|---:|---:|---:|")
    for how, pattern in (("as they are", "(?!)"), ("without the repository's name", "{}")):
        first, among, chosen = list[bool](), list[bool](), list[int]()
        for task in tasks:
            own = re.escape(task.repo.partition("/")[2].partition("-")[0])
            goal = re.sub(pattern.format(own), "it", task.goal, flags=re.IGNORECASE)
            names = [each.name for each in likeliest(goal, summaries)]
            first.append(names[:1] == [_name(task.repo)])
            among.append(_name(task.repo) in names)
            chosen.append(len(names))
        print(f"| {len(tasks)} {how} | {mean(first):.3f} | {mean(among):.3f} | {mean(chosen):.2f} |")


def _time(number: int, work: Path, catalogue: Catalogue) -> None:
    chance, markers = random.Random(0), []
    for at in range(number):
        origin = write_synthetic_tree(work / f"origins/r{at}", _FILES + at % 7)
        markers.append(f"settle_{chance.getrandbits(40):x}")
        (origin / "own.py").write_text(f"def {markers[-1]}(ledger):\n    return ledger\n", encoding="utf-8")
        run_git(origin, "init", "-q", "-b", "main")
        run_git(origin, "add", "-A")
        run_git(origin, *_WHO, "commit", "-q", "-m", "All")
        catalogue.add(f"r{at}", RepositoryEntry(address=origin.as_uri()))
    _fetch(catalogue)
    settings = Settings(
        repositories=catalogue.file, data_dir=catalogue.clones.parent, cache_dir=work / "cache"
    )
    anyio.run(_ask, settings, work, chance.sample(markers, 20))


async def _ask(settings: Settings, work: Path, markers: list[str]) -> None:
    seconds: list[tuple[float, float]] = []
    async with Client(build_server(settings, working_folder=work)) as client:
        await client.call_tool("navigate", {"goal": "warm up", "repo_path": "r0"})
        for marker in markers:
            begun, cpu = perf_counter(), process_time()
            found: Any = await client.call_tool("navigate", {"goal": f"Why does {marker} lose its ledger?"})
            seconds.append((perf_counter() - begun, process_time() - cpu))
            assert marker in str(found.structured_content), found
    for what, values in zip(("wall", "CPU of the server"), zip(*seconds, strict=True), strict=True):
        print(f"navigate without a repository, {what}: {median(values):.2f} s, longest {max(values):.2f} s")


def _fetch(catalogue: Catalogue) -> None:
    begun = process_time()
    if not sync(catalogue, (), lambda done: print(done.failed) if done.failed else None):
        raise SystemExit(1)
    sizes = [len(summary.rows) * summary.rows.itemsize for _, summary in _summaries(catalogue)]
    print(
        f"{len(sizes)} summaries: {median(sizes) / 1000:.0f} kB, largest {max(sizes) / 1000:.0f} kB; "
        f"{(process_time() - begun) / len(sizes):.2f} s of CPU each"
    )


def _summaries(catalogue: Catalogue) -> Iterator[tuple[str, Summary]]:
    for name in catalogue.entries():
        if (summary := read_summary(catalogue.clones / name / "summary")) is not None:
            yield name, summary


def _name(repo: str) -> str:
    """Return what a catalogue would call a repository: the last part, as people do."""
    return repo.partition("/")[2]
