"""Search and read, for the selector that finds its way with tools."""

from __future__ import annotations

import re
from pathlib import Path

from repo_map.index import RepoIndex
from repo_map.worktree.file_kinds import FileFlag, flags_of_path

_MOST_HITS = 40
_MOST_LINES = 200
_MOST_FILES = 200


class SearchTools:
    """``find_files``, ``grep`` and ``read_file`` over the files of one repository."""

    def __init__(self, index: RepoIndex) -> None:
        self._index = index

    def find_files(self, name_contains: str = "") -> str:
        """List the files whose path contains a text; all of them for an empty one."""
        paths = [path for path in self._index.paths if name_contains.lower() in path.lower()]
        more = f"\n… {len(paths) - _MOST_FILES} more" if len(paths) > _MOST_FILES else ""
        return "\n".join(paths[:_MOST_FILES]) + more or "No file's path contains that."

    def grep(self, pattern: str) -> str:
        """Search all files but tests for a regular expression, in any case; gives path:line: text."""
        try:
            wanted = re.compile(pattern, re.IGNORECASE)
        except re.error as error:
            return f"`{pattern}` is no regular expression: {error}."
        hits: list[str] = []
        for number, path in enumerate(self._index.paths):
            if flags_of_path(path) & FileFlag.TEST:
                continue
            for row, line in enumerate(self._index.text(number).splitlines(), 1):
                if wanted.search(line):
                    hits.append(f"{path}:{row}: {line.strip()[:160]}")
        more = f"\n… {len(hits) - _MOST_HITS} more" if len(hits) > _MOST_HITS else ""
        return "\n".join(hits[:_MOST_HITS]) + more or "No line matches."

    def read_file(self, path: str, first_line: int = 1) -> str:
        """Read up to 200 lines of a file from a line on."""
        number = self._index.file_id(path)
        if number is None:
            near = [known for known in self._index.paths if Path(known).name == Path(path).name]
            return f"There is no file {path}." + (f" Did you mean {near[0]}?" if near else "")
        lines = self._index.text(number).splitlines()
        start = max(first_line, 1) - 1
        rest = len(lines) - start - _MOST_LINES
        more = f"\n… {rest} more lines" if rest > 0 else ""
        return "\n".join(lines[start : start + _MOST_LINES]) + more
