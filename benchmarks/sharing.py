"""What servers save that share what they parsed: CPU seconds, files parsed and bytes stored.

``python -m benchmarks sharing REPOSITORY`` clones a repository into a temporary folder, opens it as servers
of a team would, each a process of its own with an empty cache folder, and prints a table. Shared objects lie
in a bucket that moto serves on loopback; the seconds are the CPU time of the process that opens, its workers
and git, interpreter and imports left out.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

BUCKET: Final = "measured"
APART: Final = 1_000
"""Commits between the two branches, along first parents."""


class Opening(NamedTuple):
    """One server's first look at a tree."""

    files: int
    parsed: int
    open_s: float
    """CPU seconds until the tree can be navigated."""
    share_s: float
    """CPU seconds spent afterwards, beside the answer, to share what is new."""
    stored: int
    """Bytes that were added to the bucket."""


def opened(root: Path, cache: Path, *, shares: bool) -> Opening:
    """Open a tree in a process of its own, whose cache folder is ``cache``."""
    command = [sys.executable, "-m", "benchmarks.sharing", "--open", str(root), str(cache), str(int(shares))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Opening(*json.loads(done.stdout))


def _open_here(root: Path, cache: Path, shares: bool) -> Opening:
    import numpy as np  # noqa: PLC0415 - in the process that opens

    from navigator.stores.buckets.opening import open_bucket  # noqa: PLC0415 - in the process that opens
    from navigator.stores.buckets.shared_objects import BucketObjects  # noqa: PLC0415 - in the process that opens
    from navigator.stores.store_address import BucketAddress  # noqa: PLC0415 - in the process that opens
    from repo_map.index import build_index  # noqa: PLC0415 - in the process that opens
    from repo_map.indexing.shared_objects import Sharing  # noqa: PLC0415 - in the process that opens
    from repo_map.indexing.store import Store  # noqa: PLC0415 - in the process that opens
    from repo_map.indexing.workers import end_idle  # noqa: PLC0415 - in the process that opens
    from repo_map.limits import USUAL  # noqa: PLC0415 - in the process that opens

    np.zeros(1)
    # A server has its client before it is asked for a repository.
    bucket = open_bucket(BucketAddress(BUCKET, "team/"))
    sharing = Sharing(BucketObjects(bucket)) if shares else None
    before = _cpu_s()
    index = build_index(root, store=Store(cache, USUAL, sharing))
    end_idle()
    between = _cpu_s()
    shared = index.share()
    return Opening(len(index), index.parsed_files, between - before, _cpu_s() - between, shared.bytes)


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


@contextmanager
def bucket() -> Iterator[None]:
    """Serve a bucket on loopback, for this process and those that it starts."""
    import boto3  # noqa: PLC0415 - of the development environment
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 - of the development environment

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    os.environ.update(
        AWS_ACCESS_KEY_ID="measured",
        AWS_SECRET_ACCESS_KEY="measured-only",
        AWS_DEFAULT_REGION="us-east-1",
        AWS_ENDPOINT_URL_S3=f"http://{host}:{port}",
        AWS_EC2_METADATA_DISABLED="true",
    )
    try:
        boto3.client("s3").create_bucket(Bucket=BUCKET)
        yield
    finally:
        server.stop()


def measure(repository: str, work: Path, rounds: int) -> Iterator[tuple[str, list[Opening]]]:
    """Yield what is opened, and what it cost in each round."""
    trees = {name: work / name for name in ("first", "clone")}
    for folder in trees.values():
        _git(work, "clone", "-q", "--no-hardlinks", repository, str(folder))
    trees["branch"] = work / "branch"
    commit = _git(trees["first"], "log", "-1", "--first-parent", f"--skip={APART}", "--format=%H")
    if not commit:
        raise SystemExit(f"`{repository}` has fewer than {APART:,} commits.")
    _git(trees["first"], "worktree", "add", "-q", str(trees["branch"]), commit)
    openings = (
        ("cold, sharing nothing", "first", False),
        ("cold, the first of a team", "first", True),
        ("second server", "first", True),
        ("second server, its own clone", "clone", True),
        (f"branch, {APART:,} commits apart", "branch", True),
        ("second server, that branch", "branch", True),
        ("that branch cold, sharing nothing", "branch", False),
    )
    found: dict[str, list[Opening]] = {}
    for _ in range(rounds):
        with bucket():
            for name, tree, shares in openings:
                cache = work / "cache"
                found.setdefault(name, []).append(opened(trees[tree], cache, shares=shares))
                shutil.rmtree(cache)
    yield from found.items()


def _git(folder: Path, *arguments: str) -> str:
    # What a file of odd encoding can't be checked out as is told on stderr, and matters to nobody here.
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)
    return done.stdout.decode().strip()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the measurement takes."""
    parser.add_argument("repository", help="a folder or an address that git can clone")
    parser.add_argument("--rounds", type=int, default=1, help="how often each is opened; medians are told")


def run(arguments: argparse.Namespace) -> int:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory() as work:
        rows = list(measure(arguments.repository, Path(work), arguments.rounds))
    cold = median(each.open_s for each in rows[0][1])
    print("| opened | files | parsed | CPU s | of cold | then, to share | bytes stored |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, openings in rows:
        seconds, share = (median(each[column] for each in openings) for column in (2, 3))
        first = openings[0]
        print(
            f"| {name} | {first.files:,} | {first.parsed:,} | {seconds:.2f} | {seconds / cold:.0%} "
            f"| {share:.2f} | {first.stored:,} |"
        )
    return 0


if __name__ == "__main__" and sys.argv[1:2] == ["--open"]:
    print(json.dumps(_open_here(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4] == "1")))
