"""CPU time and outcome of reading trees in one process: parsing, words, units, facts, secrets, prices.

    python -m benchmarks.extraction TREE...

Two versions read the same where their digests agree: each is of all columns, 200 files at a time. Under
``perf stat -e instructions:u`` what else the machine does counts for nothing.
"""

from __future__ import annotations

import gc
import hashlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from repo_map.indexing.extraction import extract
from repo_map.indexing.schema import to_arrays
from repo_map.limits import USUAL
from repo_map.parsing.symbols import read_symbols
from repo_map.worktree.folders import folder_tree
from repo_map.worktree.tree import Tree

_CHUNK_FILES = 200


def main(arguments: Sequence[str]) -> None:
    """Read every tree that is named and print a line about each."""
    gc.disable()  # As workers do.
    print("| tree | files | MB | CPU s | digest |\n|---|---|---|---|---|")
    for argument in arguments:
        root = Path(argument).resolve()
        tree = Tree(folder_tree(root))
        listing = tree.list(None, lambda: None)
        read = tree.at(listing).read
        whole = hashlib.sha256()
        started = time.process_time()
        for first in range(0, len(listing.paths), _CHUNK_FILES):
            chunk = map(read, listing.paths[first : first + _CHUNK_FILES])
            for name, array in to_arrays(extract(chunk, USUAL, read_symbols)).items():
                whole.update(f"{name} {array.dtype.str} {array.shape}\n".encode() + array.tobytes())
        taken = time.process_time() - started
        size = int(listing.states[:, 0].sum()) / 1e6
        files, digest = len(listing.paths), whole.hexdigest()[:16]
        print(f"| {root.name} | {files:,} | {size:.1f} | {taken:.2f} | {digest} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
