"""What a picture shows of a navigation, or of a plan: one object of bounded size, ready for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from navigator.picture.parts import Reasons, parts_of, reasons_of
from navigator.picture.text import PictureData, as_json, clipped
from repo_map.drawing.outline import MOST_NODES, outline_of
from repo_map.packing.why import brief_reason

if TYPE_CHECKING:
    from navigator.records.reports import Candidate, CutReport, FileReport, MenuPlace, TurnReport
    from repo_map.drawing.draw import RepoMap
    from repo_map.index import RepoIndex
    from repo_map.relevance.score import Relevance

MOST_BYTES: Final = 64_000
"""Of a picture's data as JSON."""
VERSION: Final = 1
_FOR_TREE: Final = 20_000
"""Bytes that are left for the tree at least."""
_LEAST_NODES: Final = 8
_LONGEST_NAME: Final = 120
"""Characters of a node's name."""
_MOST_REASONS: Final = 3


class Room(NamedTuple):
    """How much of each thing is told."""

    files: int
    """Files of the map with reasons and parts; the tree shows the level of all."""
    parts: int
    """Of a file."""
    places: int
    """Of the menu."""
    turns: int
    sentences: int
    words: int
    """Characters of a sentence."""
    reason: int
    """Characters of a reason or a name."""
    path: int
    """Characters of a path."""


_ROOMS: Final = (
    Room(60, 12, 40, 30, 8, 400, 160, 480),
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
    left_out: int = 0
    excluded: int = 0


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
        data = _Describer(room).describe(index, subject, shown, turns)
        if _bytes(data) <= MOST_BYTES - _FOR_TREE:
            break
    kept = [
        *(file["path"] for file in data["shown"]),
        *(place["path"] for place in data["menu"]),
        *(each["path"] for each in data["deeper"]),
    ]
    levels = {file.path: file.level for file in shown.files}
    if not any(path.startswith(f"{within}/") for path in index.paths):
        within = ""
    most_bytes = MOST_BYTES - _bytes({**data, "within": within, "tree": {}})
    within, tree = _tree(index, levels, kept, within, most_bytes)
    return {**data, "within": within, "tree": tree}


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
    """Puts everything but the tree into words and numbers, as far as there is room."""

    def __init__(self, room: Room) -> None:
        self._room = room

    def describe(
        self, index: RepoIndex, subject: Subject, shown: Shown, turns: Sequence[TurnReport]
    ) -> PictureData:
        room = self._room
        seen = [file for file in shown.files if file.level > 1]
        menu = [place for place in shown.menu if place.tokens]
        reasons = reasons_of(shown.relevance)
        return {
            "v": VERSION,
            **self._subject(subject),
            "tokens": shown.tokens,
            "token_budget": shown.token_budget,
            "sure": clipped(shown.sureness, room.words),
            "impact": self._sentences(shown.impact),
            "left_out": shown.left_out,
            "excluded": shown.excluded,
            "shown": [self._file(index, file, shown.drawn, reasons) for file in seen[: room.files]],
            "shown_more": max(len(seen) - room.files, 0),
            "paths_only": len(shown.files) - len(seen),
            "menu": [self._place(place, reasons) for place in menu[: room.places]],
            "menu_more": max(len(menu) - room.places, 0),
            "deeper": [self._deeper(each) for each in shown.candidates if not each.symbol],
            "cuts": [self._cut(each) for each in shown.cuts[: room.places]],
            "turns": [self._turn(each) for each in turns[-room.turns :]],
            "turns_before": max(len(turns) - room.turns, 0),
        }

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

    def _file(
        self, index: RepoIndex, file: FileReport, drawn: RepoMap | None, reasons: Reasons
    ) -> dict[str, Any]:
        block = None if drawn is None else drawn.block(file.path)
        parts = None if block is None else parts_of(index, block, reasons)
        whole, lines = (parts.whole, parts.lines) if parts else ((), ())
        return {
            "path": self._path(file.path),
            "level": file.level,
            "tokens": file.tokens,
            "reasons": [clipped(reason, self._room.reason) for reason in file.reasons[:_MOST_REASONS]],
            "lines": [list(each) for each in lines[: self._room.parts]],
            "lines_more": max(len(lines) - self._room.parts, 0),
            "parts": [
                {
                    "name": clipped(each.name, self._room.reason),
                    "lines": [each.first, each.last],
                    "why": self._why(each.reasons),
                }
                for each in whole[: self._room.parts]
            ],
            "parts_more": max(len(whole) - self._room.parts, 0),
        }

    def _place(self, place: MenuPlace, reasons: Reasons) -> dict[str, Any]:
        known = reasons.get((place.path, place.name), ())
        # A menu has room for a few words of a reason; here it is told as it is of what is shown.
        why = known[0] if known and brief_reason(known) == place.why else place.why
        return {
            "number": place.number,
            "path": self._path(place.path),
            "name": clipped(place.name, self._room.reason),
            # Parameters that stand on lines of their own leave a space where they are joined.
            "head": clipped(place.head.replace("( ", "("), self._room.reason),
            "lines": [place.first, place.last],
            "why": clipped(why, self._room.reason),
            "tokens": place.tokens,
        }

    def _deeper(self, each: Candidate) -> dict[str, Any]:
        prices = [[level, each.prices[level]] for level in sorted(each.prices)]
        path = self._path(each.path)
        return {"path": path, "level": each.level, "prices": prices, "why": self._why(each.reasons)}

    def _cut(self, each: CutReport) -> dict[str, Any]:
        path = self._path(each.path)
        return {"path": path, "wanted": each.wanted, "drawn": each.drawn, "tokens": each.tokens_to_add}

    def _turn(self, report: TurnReport) -> dict[str, Any]:
        return {
            "step": report.step_number,
            "action": report.last_action,
            "by": clipped(report.model, self._room.reason),
            "words": clipped(report.reasoning, self._room.words),
            "said": clipped(report.answer, self._room.words),
            "tokens": report.map_size_tokens,
            "files": report.file_count,
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
