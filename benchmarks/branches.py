"""What an index costs on the way to another commit and back, beside an index from nothing.

    python -m benchmarks.branches MIRROR COMMIT [EDITS]

``MIRROR`` is a folder of git, whose current commit is gone back to. On the other one the six largest sources
are edited and indexed ``EDITS`` times (none). Each index is made by a process of its own, and has to be the
same as the one from nothing, in all columns.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.agents.report import markdown
from benchmarks.git import run_git
from repo_map.index import ignore_progress
from repo_map.indexing.schema import to_arrays
from repo_map.indexing.store import Store
from repo_map.indexing.updating import update
from repo_map.languages.registry import language_of
from repo_map.limits import USUAL
from repo_map.worktree.folders import folder_tree
from repo_map.worktree.tree import Tree

_EDITED = 6
_BUILD = "import sys; from benchmarks.branches import tell_index; tell_index(*sys.argv[1:])"


class Cost(NamedTuple):
    """What one index took."""

    files: int
    parsed: int
    """Files."""
    megabytes: float
    """Of what was parsed."""
    digest: str
    """Of all columns."""
    processor: float
    """Seconds of the process and its workers."""


def main(arguments: Sequence[str]) -> None:
    """Go there and back, and print a line about each index."""
    mirror, edits = Path(arguments[0]).resolve(), int((*arguments, "0")[2])
    commits = {step: _ask(mirror, at) for step, at in (("first", "HEAD"), ("other", arguments[1]))}
    head = ("index", "files", "parsed", "MB", "CPU s", "from nothing, CPU s")
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        tree, cache = Path(folder, "tree"), Path(folder, "cache")
        run_git(Path(folder), "init", "-q", str(tree))
        objects = _ask(mirror, "--path-format=absolute", "--git-path", "objects")
        (tree / ".git/objects/info/alternates").write_text(f"{objects}\n")
        rows = []
        for step in ("first", "other", *(f"edit {number + 1}" for number in range(edits)), "first", "other"):
            if step.startswith("edit"):
                _edit(tree, step)
            else:
                run_git(tree, "checkout", "-q", "-f", commits[step], timeout_s=600)
            cost, cold = _cost(tree, cache), _cost(tree, None)
            if cost.digest != cold.digest:
                raise SystemExit(f"`{step}`: the index differs from one that is made from nothing.")
            cells = (f"{cost.files:,}", f"{cost.parsed:,}", f"{cost.megabytes:.2f}")
            rows.append((step, *cells, f"{cost.processor:.2f}", f"{cold.processor:.2f}"))
            print(step, cost.processor, file=sys.stderr, flush=True)
    print(markdown([head, *rows]))


def _ask(mirror: Path, *arguments: str) -> str:
    return run_git(mirror, "rev-parse", *arguments).decode().strip()


def tell_index(root: str, cache: str = "") -> None:
    """Index a tree, and print what was parsed for it and the digest of all columns."""
    state = update(
        Tree(folder_tree(Path(root))), None, Store(Path(cache) if cache else None), 1, ignore_progress
    )
    whole = hashlib.sha256()
    for name, array in to_arrays(state.tables).items():
        whole.update(f"{name} {array.dtype.str} {array.shape}\n".encode() + array.tobytes())
    print(json.dumps([len(state.tables), state.parsed, state.parsed_bytes / 1e6, whole.hexdigest()]))


def _cost(tree: Path, cache: Path | None) -> Cost:
    command = [sys.executable, "-c", _BUILD, str(tree), *([str(cache)] if cache else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"The index of `{tree}` ended with {process.returncode}.")
    files, parsed, megabytes, digest = json.loads(told)
    return Cost(files, parsed, megabytes, digest, used.ru_utime + used.ru_stime)


def _edit(tree: Path, words: str) -> None:
    """Change the largest sources."""
    sources = [
        tree / path for path in folder_tree(tree).list(None, USUAL.files, int).paths if language_of(path)
    ]
    for path in sorted(sources, key=lambda each: (-each.stat().st_size, each))[:_EDITED]:
        path.write_bytes(path.read_bytes() + f"\n{words}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1:])
