"""What a picture shows of a navigation, or of a plan: one object of bounded size, ready for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from navigator.picture.map_outline import MOST_NODES, outline_of
from navigator.picture.parts import PicturedParts, parts_of, reasons_of
from navigator.picture.related import Part, links_between
from navigator.picture.source import source_chunks
from navigator.picture.text import PictureData, as_json, clipped
from repo_map.impact.findings import BROKEN, Finding
from repo_map.impact.values import NOTHING, Changes
from repo_map.outline.why import brief_reason
from repo_map.parsing.values import LineRange

if TYPE_CHECKING:
    from navigator.state.reports import Candidate, CutReport, FileReport, MenuPlace, TurnReport
    from repo_map.index.repo_index import RepoIndex
    from repo_map.outline.draw import RepoMap
    from repo_map.ranking.score import Relevance

MOST_BYTES: Final = 64_000
"""Of a picture's data as JSON."""
VERSION: Final = 2
_FOR_TREE: Final = 16_000
"""Bytes that are left for the tree at least."""
_FOR_SOURCE: Final = 28_000
"""Bytes of source at most."""
_BESIDE_FAULTS: Final = 6
"""Lines before and after one that a change breaks; ``page/panels.js`` shows as many."""
_LEAST_NODES: Final = 8
_LONGEST_NAME: Final = 120
"""Characters of a node's name."""
_MOST_REASONS: Final = 3


class Room(NamedTuple):
    """How much of each thing is told."""

    files: int
    """Files that are told by more than their place in the tree."""
    parts: int
    """Stretches of lines of a file."""
    places: int
    """Definitions that are shown or listed."""
    turns: int
    sentences: int
    words: int
    """Characters of a sentence."""
    reason: int
    """Characters of a reason or a name."""
    path: int
    """Characters of a path."""


_ROOMS: Final = (
    Room(60, 12, 80, 30, 8, 400, 160, 480),
    Room(30, 6, 40, 20, 6, 200, 100, 320),
    Room(15, 4, 20, 10, 4, 120, 60, 160),
    Room(6, 2, 10, 6, 3, 60, 40, 80),
)
"""The largest first; texts that a page has to escape take six bytes a character."""


class Subject(NamedTuple):
    """What a picture is of."""

    repository: str
    """The name of its folder."""
    navigation_id: str = ""
    """``""`` for a plan."""
    goal: str = ""
    status: str = ""
    ended: str = ""
    spent_usd: float = 0.0
    limit_usd: float = 0.0
    notes: tuple[str, ...] = ()


class Shown(NamedTuple):
    """What a map shows, and what it means for the goal."""

    files: Sequence[FileReport]
    """In map order."""
    tokens: int
    token_budget: int
    drawn: RepoMap | None
    """The map, where it can be drawn of the tree as it is now."""
    relevance: Relevance | None = None
    menu: Sequence[MenuPlace] = ()
    candidates: Sequence[Candidate] = ()
    cuts: Sequence[CutReport] = ()
    sureness: str = ""
    impact: Sequence[str] = ()
    tests: str = ""
    changes: Changes = NOTHING
    findings: Sequence[Finding] = ()
    left_out: int = 0


def picture_data(
    index: RepoIndex,
    subject: Subject,
    shown: Shown,
    turns: Sequence[TurnReport] = (),
    within: str = "",
) -> PictureData:
    """Return the data of a picture, at most ``MOST_BYTES`` of JSON; the same input gives the same bytes.

    Args:
        index: the tree.
        subject: what is shown.
        shown: its map.
        turns: the steps that led there, oldest first.
        within: the folder that most of the tree is for; the whole tree where there is no such folder.
    """
    data: PictureData = {}
    for room in _ROOMS:
        data = _Describer(room, index, shown).describe(subject, turns)
        if _bytes(data) <= MOST_BYTES - _FOR_TREE:
            break
    data = {**data, "source": _source(index, shown, data)}
    kept = [*(file["path"] for file in data["files"]), *(each["path"] for each in data["deeper"])]
    levels = {file.path: file.level for file in shown.files}
    if not any(path.startswith(f"{within}/") for path in index.paths):
        within = ""
    most_bytes = MOST_BYTES - _bytes({**data, "within": within, "tree": {}})
    within, tree = _tree(index, levels, kept, within, most_bytes)
    return {**data, "within": within, "tree": tree}


def _source(index: RepoIndex, shown: Shown, data: PictureData) -> list[dict[str, Any]]:
    """Return the lines of faults and those that are shown, then what is listed, in the answer's order."""
    if shown.drawn is None:
        return []
    paths = [file["path"] for file in data["files"]]
    wanted = [
        *((paths[each["file"]], _around(each["line"])) for each in data["findings"]),
        *((file["path"], LineRange(*each)) for file in data["files"] for each in file["shown"]),
        *((paths[place["file"]], LineRange(*place["lines"])) for place in data["places"] if place["name"]),
    ]
    room = MOST_BYTES - _FOR_TREE - _bytes(data)
    return source_chunks(index, wanted, min(room, _FOR_SOURCE))


def _around(line: int) -> LineRange:
    return LineRange(max(line - _BESIDE_FAULTS, 1), line + _BESIDE_FAULTS)


def _bytes(data: Mapping[str, Any]) -> int:
    return len(as_json(dict(data)).encode())


def _tree(
    index: RepoIndex, levels: Mapping[str, int], kept: Sequence[str], within: str, most_bytes: int
) -> tuple[str, dict[str, Any]]:
    """Return the folder that most of the tree is for, and the folded tree as columns.

    It has as many nodes as there are bytes for.
    """
    nodes = MOST_NODES
    while True:
        outline = outline_of(index, levels, kept, nodes, within)
        columns: dict[str, Any] = {
            "names": [clipped(name, _LONGEST_NAME) for name in outline.names],
            **{
                name: list(getattr(outline, name))
                for name in ("parents", "kinds", "tokens", "areas", "files", "levels")
            },
        }
        size = _bytes(columns)
        if size <= most_bytes:
            return within, columns
        if nodes <= _LEAST_NODES:
            # Long names of many files that are kept: those named last go first, then the folder.
            kept, within = kept[: len(kept) // 2], within if kept else ""
        nodes = max(min(nodes * most_bytes // size, nodes * 3 // 4), _LEAST_NODES)


class _Describer:
    """Puts everything but the source and the tree into words and numbers, as far as there is room."""

    def __init__(self, room: Room, index: RepoIndex, shown: Shown) -> None:
        self._room = room
        self._index = index
        self._shown = shown
        self._reasons = reasons_of(shown.relevance)
        self._files = {file.path: file for file in shown.files}

    def describe(self, subject: Subject, turns: Sequence[TurnReport]) -> PictureData:
        room, shown = self._room, self._shown
        paths = self._paths()
        told = paths[: room.files]
        numbers = {path: at for at, path in enumerate(told)}
        parts = {path: self._parts(path) for path in told}
        places = [
            *(self._place(numbers[each.path], each) for each in shown.menu if each.path in numbers),
            *self._unlisted(numbers, parts),
        ]
        named = [Part(told[place["file"]], place["name"], *place["lines"]) for place in places[: room.places]]
        return {
            "v": VERSION,
            **self._subject(subject),
            "tokens": shown.tokens,
            "token_budget": shown.token_budget,
            "sure": clipped(shown.sureness, room.words),
            "impact": self._sentences(shown.impact),
            "tests": clipped(shown.tests, room.words),
            "left_out": shown.left_out,
            "files": [self._file(path, parts[path]) for path in told],
            "files_more": len(paths) - len(told),
            "places": [self._clipped(place) for place in places[: room.places]],
            "places_more": max(len(places) - room.places, 0),
            "links": [
                list(each) for each in ([] if shown.drawn is None else links_between(self._index, named))
            ],
            "changed": [
                [numbers[part.path], part.first, part.last]
                for part in shown.changes.parts
                if part.path in numbers
            ],
            "findings": [self._finding(numbers, each) for each in shown.findings if each.path in numbers],
            "deeper": [self._deeper(each) for each in shown.candidates if not each.symbol],
            "cuts": [self._cut(each) for each in shown.cuts[: room.places]],
            **self._steps(turns),
        }

    def _paths(self) -> list[str]:
        """Return the files of the answer: those that are listed, those that are shown, those of a change."""
        shown = self._shown
        return list(
            dict.fromkeys(
                (
                    *(each.path for each in shown.menu),
                    *(file.path for file in shown.files if file.level > 1),
                    *(each.path for each in shown.findings),
                    *(part.path for part in shown.changes.parts),
                )
            )
        )

    def _parts(self, path: str) -> PicturedParts:
        drawn = self._shown.drawn
        block = None if drawn is None else drawn.block(path)
        return PicturedParts((), ()) if block is None else parts_of(self._index, block, self._reasons)

    def _subject(self, subject: Subject) -> dict[str, Any]:
        return {
            "repository": clipped(subject.repository, self._room.path),
            "navigation_id": subject.navigation_id,
            "goal": clipped(subject.goal, 5 * self._room.words, lines=True),
            "status": subject.status,
            "ended": clipped(subject.ended, self._room.words),
            "spent_usd": subject.spent_usd,
            "limit_usd": subject.limit_usd,
            "notes": self._sentences(subject.notes),
        }

    def _file(self, path: str, parts: PicturedParts) -> dict[str, Any]:
        file, number = self._files.get(path), self._index.file_id(path)
        most = self._room.parts
        return {
            "path": self._path(path),
            "length": 0 if number is None else int(self._index.files.lines[number]),
            "level": 0 if file is None else file.level,
            "tokens": 0 if file is None else file.tokens,
            "reasons": [
                clipped(reason, self._room.reason)
                for reason in (() if file is None else file.reasons[:_MOST_REASONS])
            ],
            "shown": [list(each) for each in parts.lines[:most]],
            "shown_more": max(len(parts.lines) - most, 0),
        }

    def _place(self, file: int, place: MenuPlace) -> dict[str, Any]:
        known = self._reasons.get((place.path, place.name), ())
        # A menu has room for a few words of a reason; here it is told as it is of what is shown.
        why = known[0] if known and brief_reason(known) == place.why else place.why
        return {
            "number": place.number,
            "file": file,
            "name": place.name,
            # Parameters that stand on lines of their own leave a space where they are joined.
            "head": place.head.replace("( ", "("),
            "lines": [place.first, place.last],
            "why": why,
            "tokens": place.tokens,
            "sure": place.is_sure,
        }

    def _unlisted(
        self, numbers: Mapping[str, int], parts: Mapping[str, PicturedParts]
    ) -> Iterator[dict[str, Any]]:
        """Yield what is shown whole and stands in nothing that the outline has a number for."""
        listed: dict[str, list[tuple[int, int]]] = {}
        for place in self._shown.menu:
            if place.name:
                listed.setdefault(place.path, []).append((place.first, place.last))
        for path, number in numbers.items():
            for each in parts[path].whole:
                if not any(first <= each.first and each.last <= last for first, last in listed.get(path, ())):
                    yield {
                        "number": 0,
                        "file": number,
                        "name": each.name,
                        "head": each.name,
                        "lines": [each.first, each.last],
                        "why": next(iter(each.reasons), ""),
                        "tokens": 0,
                        "sure": False,
                    }

    def _clipped(self, place: dict[str, Any]) -> dict[str, Any]:
        texts = {name: clipped(place[name], self._room.reason) for name in ("name", "head", "why")}
        return {**place, **texts}

    def _finding(self, numbers: Mapping[str, int], finding: Finding) -> dict[str, Any]:
        return {
            "file": numbers[finding.path],
            "line": finding.line,
            "within": clipped(finding.within, self._room.reason),
            "message": clipped(finding.message, self._room.words),
            "action": clipped(finding.action, self._room.words),
            "broken": finding.kind in BROKEN,
            "sure": finding.is_sure,
        }

    def _deeper(self, each: Candidate) -> dict[str, Any]:
        prices = [[level, each.prices[level]] for level in sorted(each.prices)]
        path = self._path(each.path)
        return {"path": path, "level": each.level, "prices": prices, "why": self._why(each.reasons)}

    def _cut(self, each: CutReport) -> dict[str, Any]:
        path = self._path(each.path)
        return {"path": path, "wanted": each.wanted, "drawn": each.drawn, "tokens": each.tokens_to_add}

    def _steps(self, turns: Sequence[TurnReport]) -> dict[str, Any]:
        """Return the latest steps, each with what it showed in detail: positions in ``paths``."""
        told = turns[-self._room.turns :]
        paths = list(dict.fromkeys(file.path for turn in told for file in turn.focus))[: self._room.files]
        numbers = {path: at for at, path in enumerate(paths)}
        return {
            "paths": [self._path(path) for path in paths],
            "turns": [self._turn(each, numbers) for each in told],
            "turns_before": len(turns) - len(told),
        }

    def _turn(self, report: TurnReport, numbers: Mapping[str, int]) -> dict[str, Any]:
        return {
            "step": report.step_number,
            "action": report.last_action,
            "by": clipped(report.model, self._room.reason),
            "words": clipped(report.reasoning, self._room.words),
            "said": clipped(report.answer, self._room.words),
            "tokens": report.map_size_tokens,
            "files": report.file_count,
            "shown": [[numbers[file.path], file.level] for file in report.focus if file.path in numbers],
            "usd": float(report.cost_this_turn),
            "read": report.usage.input,
            "written": report.usage.output,
        }

    def _why(self, reasons: Iterable[str]) -> str:
        return clipped(next(iter(reasons), ""), self._room.reason)

    def _sentences(self, texts: Sequence[str]) -> list[str]:
        return [clipped(text, self._room.words) for text in texts[: self._room.sentences]]

    def _path(self, path: str) -> str:
        return clipped(path, self._room.path)
