"""What a next step could show in more detail, each with what it would add to the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from navigator.state.reports import Candidate
from repo_map import globs
from repo_map.messages import one_line
from repo_map.outline.costs import file_level_costs
from repo_map.outline.render_cache import RenderCache, Style
from repo_map.outline.sections import Section, Shape
from repo_map.outline.source import own_lines
from repo_map.text.tokens import DEFAULT_ENCODING

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex
    from repo_map.outline.draw import RepoMap
    from repo_map.ranking.score import Relevance


MAX_FILES = 8
MAX_UNITS = 8
_HOPELESS = 2
"""Times the budget: a level that is estimated to take more is not offered, as no step could take it."""


def candidates(index: RepoIndex, relevance: Relevance, drawn: RepoMap) -> tuple[Candidate, ...]:
    """Return the most relevant files and definitions that the map does not show whole, best first of each."""
    prices = Prices(index, drawn)
    return (*_files(index, relevance, drawn, prices), *_units(index, relevance, drawn, prices))


class Prices:
    """What a map would grow by if one file were shown differently, counted on the text that is drawn then."""

    def __init__(self, index: RepoIndex, drawn: RepoMap) -> None:
        self._cache = RenderCache(index, Style(DEFAULT_ENCODING))
        self._estimates = file_level_costs(index)
        self._most = _HOPELESS * drawn.budget
        self._drawn = drawn

    def of_levels(self, path: str, file_id: int, above: int) -> dict[int, int]:
        """Return what each level of the whole file above ``above`` adds, where it adds anything."""
        levels = [level for level in range(max(above + 1, 2), 5) if self._is_near(file_id, level)]
        block = self._drawn.block(path)
        why = "" if block is None else block.shape.why
        return self._adding({level: self._added(path, file_id, Shape(level, why=why)) for level in levels})

    def of_whole(self, path: str, file_id: int) -> int:
        """Return what the whole source of a file adds, 0 where that is nothing or far too much."""
        block = self._drawn.block(path)
        shape = Shape(4, why="" if block is None else block.shape.why)
        return max(self._added(path, file_id, shape), 0) if self._is_near(file_id, 4) else 0

    def of_part(self, path: str, file_id: int, name: str) -> dict[int, int]:
        """Return what the source of the definitions of a name adds, by its level."""
        block = self._drawn.block(path)
        shape = Shape(1) if block is None else block.shape
        part = Section(globs.escape(name), "", 4)
        others = tuple(section for section in shape.sections if section.pattern != part.pattern)
        return self._adding({4: self._added(path, file_id, shape._replace(sections=(*others, part)))})

    def _is_near(self, file_id: int, level: int) -> bool:
        return bool(self._estimates[file_id, level] <= self._most)

    def _added(self, path: str, file_id: int, shape: Shape) -> int:
        block = self._drawn.block(path)
        return max(self._cache.draw(file_id, shape).counts) - (0 if block is None else block.tokens)

    @staticmethod
    def _adding(prices: dict[int, int]) -> dict[int, int]:
        return {level: price for level, price in prices.items() if price > 0}


def _files(index: RepoIndex, relevance: Relevance, drawn: RepoMap, prices: Prices) -> list[Candidate]:
    found: list[Candidate] = []
    for file in relevance.files:
        if len(found) == MAX_FILES:
            break
        file_id = index.file_id(file.path)
        level = drawn.level_of(file.path)
        if file_id is None or level == 4:
            continue
        if offered := prices.of_levels(file.path, file_id, level):
            found.append(
                Candidate(
                    path=file.path, level=level, reasons=tuple(map(one_line, file.reasons)), prices=offered
                )
            )
    return found


def _units(index: RepoIndex, relevance: Relevance, drawn: RepoMap, prices: Prices) -> list[Candidate]:
    found: list[Candidate] = []
    for unit in relevance.units:
        if len(found) == MAX_UNITS:
            break
        file_id = index.file_id(unit.path)
        if file_id is None or not unit.name:
            continue
        if drawn.shows(unit.path, own_lines(index, unit)):
            continue
        if not (offered := prices.of_part(unit.path, file_id, unit.name)):
            continue
        found.append(
            Candidate(
                path=unit.path,
                symbol=one_line(unit.name),
                lines=f"{unit.start}-{unit.end}",
                level=drawn.level_of(unit.path),
                reasons=tuple(map(one_line, unit.reasons)),
                prices=offered,
            )
        )
    return found
