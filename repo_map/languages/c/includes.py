"""Which file an ``#include`` means, without a build that would say where to look."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class IncludedFiles:
    """Finds included files among those of one index."""

    def __init__(self, paths: Sequence[str], files: Iterable[int]) -> None:
        """Take the path of each file, and the files that may be included."""
        self._paths = paths
        self._files = {path: file for file, path in enumerate(paths)}
        self._by_name: dict[str, list[int]] = {}
        for file in files:
            self._by_name.setdefault(paths[file].rpartition("/")[2], []).append(file)

    def find(self, file: int, path: str) -> int | None:
        """Return the file that an include means: beside the file, else the only one whose path ends so.

        Between angles it is looked for beside no file.
        """
        if path.startswith("<"):
            return self._ending(path.strip("<>"))
        folder = self._paths[file].rpartition("/")[0]
        parts = [part for part in (folder + "/" + path if folder else path).split("/") if part != "."]
        whole: list[str] = []
        for part in parts:
            if part == ".." and whole:
                whole.pop()
            else:
                whole.append(part)
        if (known := self._files.get("/".join(whole))) is not None:
            return known
        return self._ending(path)

    def _ending(self, path: str) -> int | None:
        tail = "/".join(part for part in path.split("/") if part not in (".", ".."))
        found = [
            each
            for each in self._by_name.get(tail.rpartition("/")[2], ())
            if f"/{self._paths[each]}".endswith(f"/{tail}")
        ]
        return found[0] if len(found) == 1 else None
