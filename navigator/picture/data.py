"""What a picture shows of a navigation, or of a plan: one object of bounded size, ready for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from navigator.picture.folded_tree import MOST_NODES, outline_of
from navigator.picture.page import PictureData, as_json, clipped
from navigator.planner.record import cuts_of
from navigator.state.reports import FileReport
from navigator.workspaces.address import address_name
from repo_map.check.model import BREAKING, NO_CHANGES, Changes, Finding
from repo_map.messages import printable
from repo_map.outline.replay import Drift, find_drift
from repo_map.outline.sections import qualified_names
from repo_map.outline.why import brief_reason
from repo_map.parsing.values import LineRange
from repo_map.relations.model import RelationKind
from repo_map.relations.resolve import relations_of
from repo_map.sources.source import repository_names

if TYPE_CHECKING:
    from navigator.state.reports import Candidate, CutReport, NavigatorOutput, OutlineEntry, TurnReport
    from navigator.state.run_state import Navigation
    from navigator.workspaces.workspace import Workspace
    from repo_map.index.repo_index import RepoIndex
    from repo_map.outline.blocks import Block
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
    outline: Sequence[OutlineEntry] = ()
    candidates: Sequence[Candidate] = ()
    cuts: Sequence[CutReport] = ()
    sureness: str = ""
    impact: Sequence[str] = ()
    tests: str = ""
    changes: Changes = NO_CHANGES
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
            *(self._place(numbers[each.path], each) for each in shown.outline if each.path in numbers),
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
                    *(each.path for each in shown.outline),
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

    def _place(self, file: int, place: OutlineEntry) -> dict[str, Any]:
        known = self._reasons.get((place.path, place.name), ())
        # An outline has room for a few words of a reason; here it is told as it is of what is shown.
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
        for place in self._shown.outline:
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
            "broken": finding.kind in BREAKING,
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


class PicturedPart(NamedTuple):
    """A definition that is shown whole."""

    name: str
    """Qualified."""
    first: int
    """First line, 1-based."""
    last: int
    """Last line, inclusive."""
    reasons: tuple[str, ...] = ()
    """The strongest first; none where the goal had none."""


class PicturedParts(NamedTuple):
    """What is shown of a file, in the order of its lines."""

    whole: tuple[PicturedPart, ...]
    """Definitions, none within another one of them."""
    lines: tuple[LineRange, ...]
    """All lines that are shown."""


Reasons = Mapping[tuple[str, str], tuple[str, ...]]
"""Of a definition, by its path and its qualified name; the strongest first."""


def reasons_of(relevance: Relevance | None) -> Reasons:
    """Return the reasons of all units that have some; of namesakes in a file those of the likeliest."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for unit in () if relevance is None else relevance.units:
        if unit.name and unit.reasons:
            found.setdefault((unit.path, unit.name), tuple(unit.reasons))
    return found


def parts_of(index: RepoIndex, block: Block, reasons: Reasons) -> PicturedParts:
    """Return the parts that a block shows whole."""
    file_id = index.file_id(block.path)
    if file_id is None:
        return PicturedParts((), block.shown)
    definitions = index.definitions(file_id)
    taken: list[int] = []
    for row, each in enumerate(definitions):
        inside = bool(taken) and each.end <= definitions[taken[-1]].end
        if not inside and block.shows(LineRange(each.start, each.end)):
            taken.append(row)
    names = qualified_names(definitions) if taken else []
    found = [
        PicturedPart(names[row], each.start, each.end, reasons.get((block.path, names[row]), ()))
        for row, each in ((row, definitions[row]) for row in taken)
    ]
    return PicturedParts(tuple(found), block.shown)


_MOST = 120
_WORDS = {RelationKind.CALL: "calls", RelationKind.OVERRIDE: "overrides", RelationKind.BASE: "extends"}


class Part(NamedTuple):
    """A stretch of a file that an answer names."""

    path: str
    name: str
    """Qualified; ``""`` for a whole file."""
    first: int
    """First line, 1-based."""
    last: int
    """Last line, inclusive."""


class PartRelation(NamedTuple):
    """That one part does something with another one."""

    source: int
    """Position of the part that does it."""
    target: int
    words: str
    """``calls``, ``overrides`` or ``extends``."""
    line: int
    """Where the source does it, 1-based."""


def links_between(index: RepoIndex, parts: Sequence[Part]) -> list[PartRelation]:
    """Return what the repository's resolved relations say between parts, in their order, each pair once."""
    found: dict[tuple[int, int], PartRelation] = {}
    owners = _Owners(index, parts)
    relations = relations_of(index)
    for at, place in enumerate(owners.places):
        if place is None:
            continue
        first, last = parts[at].first, parts[at].last
        # What the methods of a class use is theirs, where the part is its head alone.
        uses = [
            each for each in relations.used_in(place) if each.kind in _WORDS and first <= each.line <= last
        ]
        for use in (*uses, *relations.overrides_of(place)):
            for target in owners.around(use.target):
                if target != at:
                    found.setdefault((at, target), PartRelation(at, target, _WORDS[use.kind], use.line))
                    break
    return [found[pair] for pair in sorted(found)][:_MOST]


class _Owners:
    """Which definition a part is, and which parts a definition stands in."""

    def __init__(self, index: RepoIndex, parts: Sequence[Part]) -> None:
        self._index = index
        self._by_file: dict[int, list[tuple[int, Part]]] = {}
        self.places: list[tuple[int, int] | None] = []
        for at, part in enumerate(parts):
            file = index.file_id(part.path)
            self.places.append(None if file is None else self._place(file, part))
            if file is not None and part.name:
                self._by_file.setdefault(file, []).append((at, part))

    def _place(self, file: int, part: Part) -> tuple[int, int] | None:
        definitions = self._index.definitions(file)
        for row, name in enumerate(qualified_names(definitions)):
            if name == part.name and part.first <= definitions[row].start <= part.last:
                return file, row
        return None

    def around(self, place: tuple[int, int]) -> Iterator[int]:
        """Yield the parts that hold a definition, the smallest first."""
        file, row = place
        if row < 0 or file not in self._by_file:
            return
        line = self._index.definitions(file)[row].start
        holding = [
            (part.last - part.first, at)
            for at, part in self._by_file[file]
            if part.first <= line <= part.last
        ]
        yield from (at for _, at in sorted(holding))


_MOST_LINES = 80
"""Of one stretch; the rest of it is counted by its lines."""
_LONGEST_LINE = 240
"""Characters."""


def source_chunks(
    index: RepoIndex, wanted: Iterable[tuple[str, LineRange]], most_bytes: int
) -> list[dict[str, Any]]:
    """Return stretches of files with their text, secrets masked, at most ``most_bytes`` of JSON.

    Args:
        index: the tree, which has to be the one that the lines were counted in.
        wanted: paths and lines, what matters most first; lines that were taken already are not taken again.
        most_bytes: of all of them.
    """
    chunks: list[dict[str, Any]] = []
    taken: dict[str, set[int]] = {}
    texts: dict[str, list[str]] = {}
    for path, lines in wanted:
        file = index.file_id(path)
        if file is None:
            continue
        if path not in texts:
            texts[path] = index.text(file).split("\n")
        known = taken.setdefault(path, set())
        last = min(lines.last, lines.first + _MOST_LINES - 1, len(texts[path]))
        for first, end in _runs(number for number in range(lines.first, last + 1) if number not in known):
            told = "\n".join(_told(line) for line in texts[path][first - 1 : end])
            chunk = {"path": path, "first": first, "text": told}
            most_bytes -= len(as_json(chunk).encode())
            if most_bytes < 0:
                return chunks
            known.update(range(first, end + 1))
            chunks.append(chunk)
    return chunks


def _told(line: str) -> str:
    """Return a line without what nobody sees; its tabs stay."""
    kept = "\t".join(printable(part) for part in line.split("\t"))
    return kept if len(kept) <= _LONGEST_LINE else f"{kept[: _LONGEST_LINE - 1]}…"


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


CHANGED = "The repository has changed since this step: sizes are those of today, and parts are left out."
_OPEN = "open"


def picture_of_navigation(
    workspace: Workspace,
    navigation: Navigation,
    output: NavigatorOutput,
    reports: Sequence[TurnReport],
    within: str = "",
) -> PictureData:
    """Return the picture's data of a navigation's latest step.

    Args:
        workspace: its repository.
        navigation: both halves of its memory.
        output: the context of its latest step.
        reports: of all steps, oldest first.
        within: the folder that most of the tree is for; ``""`` for the whole tree.
    """
    state, run = navigation
    drawn = workspace.draw(output.flight_plan, run.own)
    is_same = _is_same(find_drift(workspace.index, output.flight_plan, drawn))
    relevance = workspace.relevance(navigation.state.user_task, run.changes) if is_same else None
    subject = Subject(
        repository=address_name(state.repo_path),
        navigation_id=run.navigation_id,
        goal=state.user_task,
        status=_OPEN if output.stop_reason is None else output.stop_reason.value,
        ended=output.ended,
        spent_usd=float(run.spent),
        limit_usd=float(state.budget_config.max_spend_usd),
        notes=output.notes if is_same else (CHANGED, *output.notes),
    )
    shown = Shown(
        files=output.files,
        tokens=output.token_count,
        token_budget=output.map_token_budget,
        drawn=drawn if is_same else None,
        relevance=relevance,
        outline=output.outline,
        candidates=output.candidates,
        cuts=output.cuts,
        sureness=output.sufficiency,
        impact=output.impact,
        tests=output.tests,
        changes=run.changes if is_same else NO_CHANGES,
        findings=output.findings if is_same else (),
        left_out=output.left_out,
    )
    return picture_data(workspace.index, subject, shown, reports, within)


def _is_same(drift: Drift) -> bool:
    """Tell whether an answer's lines are where they were: what a first look reads later moves none."""
    is_edited = any(each.change in ("changed", "removed") for each in drift.files)
    return drift.same_tree or (drift.by_first_look and not is_edited)


def picture_of_plan(index: RepoIndex, drawn: RepoMap, drift: Drift) -> PictureData:
    """Return the picture's data of a plan: its map as it is drawn now, without goal and outline."""
    files = [FileReport(path=block.path, level=block.level, tokens=block.tokens) for block in drawn.blocks]
    notes = (*(() if drift.same_tree else (drift.describe(),)), *drawn.notes)
    shown = Shown(
        files=files,
        tokens=drawn.tokens,
        token_budget=drawn.budget,
        drawn=drawn,
        cuts=cuts_of(drawn),
        left_out=drawn.left_out,
    )
    return picture_data(
        index, Subject(repository=", ".join(repository_names(index.place)), notes=notes), shown
    )
