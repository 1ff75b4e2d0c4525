"""The outline: an outline of the likeliest places by number, for whoever reads it to choose from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from navigator.planner.answer_size import MOST_OUTLINE
from navigator.planner.candidates import Prices
from navigator.planner.related_definitions import beside_of
from navigator.state.reports import OutlineEntry
from repo_map.messages import one_line
from repo_map.outline.exclusions import excluded_by
from repo_map.outline.listing import list_places
from repo_map.outline.source import own_lines
from repo_map.outline.why import brief_reason
from repo_map.ranking.named_text import named_text

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex
    from repo_map.outline.draw import RepoMap
    from repo_map.outline.listing import ListedFile
    from repo_map.plan.model import FlightPlan
    from repo_map.ranking.score import Relevance, ScoredUnit


_MOST_TEXTS: Final = 1
"""Likewise files of text that shown code names."""
_SURE: Final = 0.45
"""Chance from which on a place is marked: in 480 tasks, by weights of other repositories, 97 first places
have it, and the fix edits .70 of them."""
_SHOWN_UNITS: Final = 120
_LONGEST_HEAD: Final = 48
"""Characters of a name with the telling part of its signature."""
_WHOLE_FILE: Final = "whole file"
_SELF = re.compile(r"\( ?(?:self|cls|&(?:'\w+ )?(?:mut )?self|mut self)(?:, |(?= ?\)))")


def build_outline(
    index: RepoIndex,
    relevance: Relevance,
    drawn: RepoMap,
    own: FlightPlan | None = None,
    *,
    room: int = MOST_OUTLINE,
    related: int = 3,
) -> tuple[OutlineEntry, ...]:
    """Return the likeliest places of a goal as an outline of about ``room`` tokens, numbered from 1.

    Beside the likeliest definitions stand ``related`` others at most that ``drawn`` shows to matter: what
    shown code calls, what calls or overrides it, and the text that it names. What ``own``, the user's part of
    the plan, leaves out is no part of it.
    """
    listed = list_places(index, relevance, room)
    shown = _shown(index, relevance, drawn)
    maker = _Places(index, drawn)
    places = [place for file in listed for place in maker.of_file(file)]
    places += maker.beside(shown, places, own, related)
    return tuple(place.model_copy(update={"number": at}) for at, place in enumerate(_grouped(places), 1))


def _grouped(places: Sequence[OutlineEntry]) -> list[OutlineEntry]:
    """Return places with those of a file together, in its order; how many more it has stands at its last."""
    by_path: dict[str, list[OutlineEntry]] = {}
    for place in places:
        by_path.setdefault(place.path, []).append(place)
    found: list[OutlineEntry] = []
    for own in by_path.values():
        own.sort(key=lambda place: place.first)
        more = max(place.more for place in own)
        found += [place.model_copy(update={"more": 0}) for place in own[:-1]]
        found.append(own[-1].model_copy(update={"more": more}))
    return found


class _Places:
    """Makes places of definitions, with what each would add to a map."""

    def __init__(self, index: RepoIndex, drawn: RepoMap) -> None:
        self._index = index
        self._drawn = drawn
        self._prices = Prices(index, drawn)

    def of_file(self, file: ListedFile) -> Iterator[OutlineEntry]:
        """Yield the places of a file; one for the whole of a file that is told alone."""
        for place, (unit, twin) in enumerate(zip(file.places, file.twins, strict=True), 1):
            more = file.more if place == len(file.places) else 0
            also = f"{twin.path}:{twin.first}-{twin.last}" if twin is not None else ""
            yield self._of(unit).model_copy(update={"more": more, "also": also})
        if not file.places and (whole := self._whole_file(file.path, "")) is not None:
            yield whole.model_copy(update={"more": file.more})

    def beside(
        self,
        shown: Sequence[tuple[int, int, int]],
        places: Sequence[OutlineEntry],
        own: FlightPlan | None,
        related: int,
    ) -> list[OutlineEntry]:
        """Return what stands beside shown code and is not among ``places``."""
        listed = {(place.path, place.name) for place in places}
        found = [
            self._of(each.unit).model_copy(update={"why": each.why})
            for key, each in beside_of(self._index, shown, own).items()
            if key not in listed
        ]
        found = [place for place in found if place.tokens][:related]
        texts: dict[str, OutlineEntry] = {}
        for text in named_text(self._index, shown):
            path = self._index.paths[text.file]
            is_known = path in texts or any(path == place.path for place in places)
            if len(texts) == _MOST_TEXTS or is_known or (own is not None and excluded_by(own, path)):
                continue
            if (place := self._whole_file(path, text.why)) is not None and place.tokens:
                texts[path] = place
        return [*found, *texts.values()]

    def _of(self, unit: ScoredUnit) -> OutlineEntry:
        file = self._file(unit.path)
        is_shown = self._drawn.shows(unit.path, own_lines(self._index, unit))
        return OutlineEntry(
            number=0,
            path=unit.path,
            name=one_line(unit.name),
            first=unit.start,
            last=unit.end,
            head=_head(self._index, file, unit),
            why=brief_reason(unit.reasons),
            tokens=0 if is_shown else self._prices.of_part(unit.path, file, unit.name).get(4, 0),
            is_sure=unit.chance >= _SURE,
        )

    def _whole_file(self, path: str, why: str) -> OutlineEntry | None:
        file, level = self._file(path), self._drawn.level_of(path)
        price = self._prices.of_whole(path, file) if level < 4 else 0
        last = max(int(self._index.files.lines[file]), 1)
        return OutlineEntry(
            number=0, path=path, name="", first=1, last=last, head=_WHOLE_FILE, why=why, tokens=price
        )

    def _file(self, path: str) -> int:
        file = self._index.file_id(path)
        assert file is not None
        return file


def _shown(index: RepoIndex, relevance: Relevance, drawn: RepoMap) -> list[tuple[int, int, int]]:
    """Return the file, the first and the last line of each unit that the map shows whole."""
    found = []
    for unit in relevance.units[:_SHOWN_UNITS]:
        file_id, block = index.file_id(unit.path), drawn.block(unit.path)
        if file_id is not None and block is not None and block.shows(own_lines(index, unit)):
            found.append((file_id, unit.start, unit.end))
    return found


def _head(index: RepoIndex, file_id: int, unit: ScoredUnit) -> str:
    """Return a unit's qualified name with its parameters, on one line."""
    leaf = unit.name.rpartition(".")[2]
    for definition in index.definitions(file_id):
        if unit.start <= definition.sig_start <= unit.end and definition.name == leaf:
            lines = index.text(file_id).split("\n")[definition.sig_start - 1 : definition.sig_end]
            _, _, rest = " ".join(" ".join(lines).split()).partition(leaf)
            call, closing, _ = (
                rest.rpartition(")") if rest.startswith(("(", "<", "[", " (")) else ("", "", "")
            )
            signature = _SELF.sub("(", call + closing, count=1).replace("( ", "(").replace(", )", ")")
            return _cut(one_line(unit.name + signature), _LONGEST_HEAD)
    return _cut(one_line(unit.name), _LONGEST_HEAD)


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[: characters - 1].rstrip()}…"
