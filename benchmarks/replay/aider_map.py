"""Draws aider's repository map; run by a Python that has aider-chat (0.86), which is not needed otherwise.

Reads one JSON object from standard input (``root``, ``goal``, ``paths``, ``budgets``) and prints one: budget
→ map. What the goal mentions is found as aider does it for a message: words that are paths or unique base
names, identifiers, and files whose stem is an identifier of five letters or more.
"""

from __future__ import annotations

import collections
import json
import re
import sys
from pathlib import Path, PurePosixPath
from typing import Any


def main() -> None:
    """Draw a map for each budget from one ranking."""
    import aider.repomap as module  # type: ignore[import-not-found]  # noqa: PLC0415 - of the other Python
    import tiktoken  # type: ignore[import-not-found]  # noqa: PLC0415 - as above

    asked = json.load(sys.stdin)
    encoding = tiktoken.get_encoding("cl100k_base")
    root, paths = Path(asked["root"]), asked["paths"]
    files = [str(root / path) for path in paths]
    mentioned, words = mentions(asked["goal"], paths)

    class Model:
        """What the map needs of a model."""

        def token_count(self, text: str) -> int:
            """Count tokens as all systems here are counted."""
            return len(encoding.encode(text, disallowed_special=()))

    class Quiet:
        """What the map needs of a terminal."""

        def read_text(self, path: str, silent: bool = False) -> str | None:
            """Read a file, None where it can't be read."""
            try:
                return Path(path).read_text("utf-8", errors="replace")
            except OSError:
                return None

        def tool_output(self, *_: Any, **__: Any) -> None:
            """Say nothing."""

        tool_warning = tool_error = tool_output

    drawer = module.RepoMap(map_tokens=max(asked["budgets"]), root=str(root), main_model=Model(), io=Quiet())
    ranked = drawer.get_ranked_tags([], files, mentioned, words)
    drawer.get_ranked_tags = lambda *_, **__: ranked
    maps = {
        budget: drawer.get_ranked_tags_map_uncached([], files, budget, mentioned, words) or ""
        for budget in asked["budgets"]
    }
    print("\n" + json.dumps(maps))


def mentions(goal: str, paths: list[str]) -> tuple[set[str], set[str]]:
    """Return the files and the identifiers that a goal mentions."""
    words = {word.rstrip(",.!;:?").strip("\"'`*_") for word in goal.split()}
    names: dict[str, set[str]] = collections.defaultdict(set)
    stems: dict[str, set[str]] = collections.defaultdict(set)
    for path in paths:
        names[PurePosixPath(path).name].add(path)
        stems[PurePosixPath(path).stem.lower()].add(path)
    found = {path for path in paths if path in words}
    for name, holders in names.items():
        if len(holders) == 1 and name in words and re.search(r"[._-]", name):
            found |= holders
    identifiers = set(re.split(r"\W+", goal))
    for identifier in identifiers:
        if len(identifier) >= 5:
            found |= stems.get(identifier.lower(), set())
    return found, identifiers


if __name__ == "__main__":
    main()
