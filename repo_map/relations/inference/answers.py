"""What every resolver that follows values has: the index, the views of its files, and the guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from repo_map.relations.file_facts import FileViews
from repo_map.relations.memo import Memo
from repo_map.relations.values import MOST_VALUES, Value, Values

if TYPE_CHECKING:
    from repo_map.index import RepoIndex


class Answers:
    """Reads one index."""

    def __init__(self, index: RepoIndex) -> None:
        self.index = index
        self.views = index.derived(FileViews)
        self.memo = Memo()

    def _all(self, values: Values, make: Callable[[Value], Values]) -> Values:
        return tuple(dict.fromkeys(each for value in values for each in make(value)))[:MOST_VALUES]
