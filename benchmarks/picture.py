"""Bytes and seconds of the map's picture: ``python -m benchmarks.picture [FOLDER …] [--synthetic FILES]``."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from benchmarks.synthetic import write_synthetic_tree
from navigator.navigator import Navigator
from navigator.picture.page import saved_page
from navigator.picture.text import as_json
from navigator.settings import NavigationRequest, NavigatorSettings

_GOAL = "where is the limit of a request checked before it is sent?"
_TIMES = 5


async def measure(root: Path) -> str:
    """Return a line of figures of one tree, after a navigation of it: the best of a few times."""
    navigator = Navigator(NavigatorSettings(data_dir=None, use_cache=False))
    try:
        navigation_id = await navigator.open(NavigationRequest(_GOAL, root))
        await navigator.run(navigation_id)
        await navigator.picture(navigation_id)
        seconds = []
        for _ in range(_TIMES):
            started = time.perf_counter()
            data = await navigator.picture(navigation_id)
            seconds.append(time.perf_counter() - started)
    finally:
        await navigator.aclose()
    tree = data["tree"]
    json_bytes, page_bytes = (len(text.encode()) for text in (as_json(data), saved_page(data)))
    return (
        f"{root.name}: {tree['files'][0]:,} files, {len(tree['names']):,} nodes, data {json_bytes:,} bytes, "
        f"page {page_bytes:,}; {min(seconds):.3f} s"
    )


def main() -> None:
    """Print a line for each tree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", metavar="FOLDER", nargs="*", type=Path)
    parser.add_argument("--synthetic", metavar="FILES", type=int)
    options = parser.parse_args()
    for folder in options.folders:
        print(asyncio.run(measure(folder.resolve())))
    if options.synthetic:
        with tempfile.TemporaryDirectory() as scratch:
            root = write_synthetic_tree(Path(scratch) / "synthetic", options.synthetic)
            print(asyncio.run(measure(root)))


if __name__ == "__main__":
    main()
