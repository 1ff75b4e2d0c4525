"""What a picture shows of a navigation, or of a plan: one object of bounded size, ready for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from navigator.picture.folded_tree import MAX_NODES, fold_index
from navigator.picture.page import PictureData, as_json, clipped
from navigator.planner.record import cuts_of
from navigator.state.reports import FileReport, NavigatorOutput
from navigator.workspaces.address import address_name
from repo_map.check.model import BREAKING, NO_CHANGES, Changes, Finding
from repo_map.messages import printable
from repo_map.outline.replay import Drift, find_drift
from repo_map.outline.sections import qualified_names
from repo_map.parsing.values import LineRange
from repo_map.plan.model import FlightPlan
from repo_map.relations.model import RelationKind
from repo_map.relations.resolve import relations_of
from repo_map.sources.source import repository_names

if TYPE_CHECKING:
    from navigator.state.reports import CutReport, OutlineEntry, TurnReport
    from navigator.state.run_state import Navigation
    from navigator.workspaces.workspace import Workspace
    from repo_map.index.index import Index
    from repo_map.outline.draw import RepoMap
    from repo_map.ranking.score import Relevance

MAX_BYTES: Final = 64_000
VERSION: Final = 2
CHANGED: Final = (
    "The repository has changed since this step: sizes are those of today, and parts are left out."
)
_TREE_BYTES: Final = 16_000
"""Left for the tree at least."""
_SOURCE_BYTES: Final = 28_000
_AROUND_FINDING: Final = 6
"""Lines before and after a finding; ``page/panels.js`` shows as many."""
_MIN_NODES: Final = 8
_MAX_NAME_CHARS: Final = 120
_MAX_REASONS: Final = 3
_MAX_LINKS: Final = 120
_MAX_CHUNK_LINES: Final = 80
"""Of one stretch of source; the rest of it is counted by its lines."""
_MAX_LINE_CHARS: Final = 240
_LINKS: Final = {
    RelationKind.CALL: "calls",
    RelationKind.OVERRIDE: "overrides",
    RelationKind.BASE: "extends",
}


class Room(NamedTuple):
    """How much of each thing is shown."""

    files: int
    """Files that have more than their place in the tree."""
    parts: int
    """Stretches of lines of a file."""
    places: int
    """Definitions that are shown or listed."""
    turns: int
    sentences: int
    sentence: int
    """Characters, as are the next two."""
    reason: int
    path: int


_ROOMS: Final = (
    Room(60, 12, 80, 30, 8, 400, 160, 480),
    Room(30, 6, 40, 20, 6, 200, 100, 320),
    Room(15, 4, 20, 10, 4, 120, 60, 160),
    Room(6, 2, 10, 6, 3, 60, 40, 80),
)
"""The largest first; texts that a page has to escape take six bytes a character."""


class Scene(NamedTuple):
    """What a picture is of, beside what a step reports."""

    repository: str
    drawn: RepoMap | None
    goal: str = ""
    status: str = ""
    spent_usd: float = 0.0
    limit_usd: float = 0.0
    relevance: Relevance | None = None
    changes: Changes = NO_CHANGES
    turns: Sequence[TurnReport] = ()


def picture_of_navigation(
    workspace: Workspace,
    navigation: Navigation,
    output: NavigatorOutput,
    reports: Sequence[TurnReport],
    within: str = "",
) -> PictureData:
    """Return the data of a picture of a navigation's latest step; most of its tree is for ``within``."""
    state, run = navigation
    drawn = workspace.draw(output.flight_plan, run.user_plan)
    drift = find_drift(workspace.index, output.flight_plan, drawn)
    scene = Scene(
        address_name(state.repo_path),
        None,
        state.user_task,
        status="open" if output.stop_reason is None else output.stop_reason.value,
        spent_usd=float(run.spent),
        limit_usd=float(state.budget_config.max_spend_usd),
        turns=reports,
    )
    # What a first look reads later moves no line.
    is_edited = any(each.change in ("changed", "removed") for each in drift.files)
    if drift.same_tree or (drift.by_first_look and not is_edited):
        relevance = workspace.relevance(state.user_task, run.changes, run.names)
        scene = scene._replace(drawn=drawn, relevance=relevance, changes=run.changes)
    else:
        output = output.model_copy(update={"findings": (), "notes": (CHANGED, *output.notes)})
    return picture_data(workspace.index, scene, output, within)


def picture_of_plan(index: Index, drawn: RepoMap, drift: Drift) -> PictureData:
    """Return the data of a picture of a plan: its map as it is drawn now, without goal and outline."""
    files = [FileReport(path=block.path, level=block.level, tokens=block.tokens) for block in drawn.blocks]
    notes = (*(() if drift.same_tree else (drift.describe(),)), *drawn.notes)
    cuts, left_out = cuts_of(drawn), drawn.left_out
    output = report_of_map(files, drawn.tokens, drawn.budget, cuts=cuts, left_out=left_out, notes=notes)
    return picture_data(index, Scene(", ".join(repository_names(index.build.source)), drawn), output)


def report_of_map(
    files: Sequence[FileReport], tokens: int, token_budget: int, **fields: Any
) -> NavigatorOutput:
    """Return what there is to report of a map that no navigation has drawn, with further ``fields``."""
    plain: dict[str, Any] = {
        **dict.fromkeys(("navigation_id", "model", "last_action", "reasoning"), ""),
        **dict.fromkeys(("context_string", "reasoning_summary"), ""),
        **dict.fromkeys(("step_number", "budget_remaining", "map_version"), 0),
        "map_size_tokens": tokens,
        "token_count": tokens,
        "map_token_budget": token_budget,
        "file_count": len(files),
        "files": files,
        "flight_plan": FlightPlan(),
    }
    return NavigatorOutput(**plain | fields)


def picture_data(index: Index, scene: Scene, output: NavigatorOutput, within: str = "") -> PictureData:
    """Return the data of a picture, at most ``MAX_BYTES`` of JSON; the same input gives the same bytes.

    Most of the tree is for the folder ``within``, if there is one.
    """
    data: PictureData = {}
    for room in _ROOMS:
        data = _Describer(room, index, scene, output).describe()
        if _bytes(data) <= MAX_BYTES - _TREE_BYTES:
            break
    data = {**data, "source": _source(index, data) if scene.drawn is not None else []}
    pinned = [file["path"] for file in data["files"]]
    levels = {file.path: file.level for file in output.files}
    if not any(path.startswith(f"{within}/") for path in index.paths):
        within = ""
    max_bytes = MAX_BYTES - _bytes({**data, "within": within, "tree": {}})
    within, tree = _tree(index, levels, pinned, within, max_bytes)
    return {**data, "within": within, "tree": tree}


def _bytes(data: Any) -> int:
    return len(as_json(data).encode())


def _tree(
    index: Index, levels: Mapping[str, int], pinned: Sequence[str], within: str, max_bytes: int
) -> tuple[str, dict[str, Any]]:
    """Return the folder that most of the tree is for, and the folded tree as columns that fit."""
    nodes = MAX_NODES
    while True:
        tree = fold_index(index, levels, pinned, nodes, within)
        columns = {name: list(column) for name, column in tree._asdict().items()}
        columns["names"] = [clipped(name, _MAX_NAME_CHARS) for name in tree.names]
        size = _bytes(columns)
        if size <= max_bytes:
            return within, columns
        if nodes <= _MIN_NODES:
            # Long names of many files that are pinned: those named last go first, then the folder.
            pinned, within = pinned[: len(pinned) // 2], within if pinned else ""
        nodes = max(min(nodes * max_bytes // size, nodes * 3 // 4), _MIN_NODES)


class _Describer:
    """Describes everything but the source and the tree, as far as there is room."""

    def __init__(self, room: Room, index: Index, scene: Scene, output: NavigatorOutput) -> None:
        self._room = room
        self._index = index
        self._scene = scene
        self._output = output
        self._reasons: dict[tuple[str, str], tuple[str, ...]] = {}
        for unit in () if scene.relevance is None else scene.relevance.units:
            if unit.name and unit.reasons:
                # Of namesakes in a file the likeliest is the first.
                self._reasons.setdefault((unit.path, unit.name), tuple(unit.reasons))

    def describe(self) -> PictureData:
        room, scene, output = self._room, self._scene, self._output
        changed = scene.changes.parts
        sources = (
            (each.path for each in output.outline),
            (file.path for file in output.files if file.level > 1),
            (each.path for each in output.findings),
            (part.path for part in changed),
        )
        paths = list(dict.fromkeys(path for source in sources for path in source))
        listed = paths[: room.files]
        numbers = {path: at for at, path in enumerate(listed)}
        places = [self._entry(numbers[each.path], each) for each in output.outline if each.path in numbers]
        places += self._unlisted(numbers)
        links = [] if scene.drawn is None else find_links(self._index, listed, places[: room.places])
        latest = scene.turns[-room.turns :]
        focus = list(dict.fromkeys(file.path for turn in latest for file in turn.focus))[: room.files]
        in_focus = {path: at for at, path in enumerate(focus)}
        return {
            "v": VERSION,
            "repository": clipped(scene.repository, room.path),
            "navigation_id": output.navigation_id,
            "goal": clipped(scene.goal, 5 * room.sentence, lines=True),
            "status": scene.status,
            "ended": self._sentence(output.ended),
            "spent_usd": scene.spent_usd,
            "limit_usd": scene.limit_usd,
            "notes": self._sentences(output.notes),
            "tokens": output.token_count,
            "token_budget": output.map_token_budget,
            "sure": self._sentence(output.sufficiency),
            "impact": self._sentences(output.impact),
            "tests": self._sentence(output.tests),
            "left_out": output.left_out,
            "files": [self._file(path) for path in listed],
            "files_more": len(paths) - len(listed),
            "places": places[: room.places],
            "places_more": max(len(places) - room.places, 0),
            "links": links,
            "changed": [
                [numbers[each.path], each.first, each.last] for each in changed if each.path in numbers
            ],
            "findings": [self._finding(numbers, each) for each in output.findings if each.path in numbers],
            "cuts": [self._cut(each) for each in output.cuts[: room.places]],
            "paths": [clipped(path, room.path) for path in focus],
            "turns": [self._turn(each, in_focus) for each in latest],
            "turns_before": len(scene.turns) - len(latest),
        }

    def _file(self, path: str) -> dict[str, Any]:
        file = next((each for each in self._output.files if each.path == path), None)
        number = self._index.file_id(path)
        block = None if self._scene.drawn is None else self._scene.drawn.block(path)
        lines, limit = () if block is None else block.shown, self._room.parts
        return {
            "path": clipped(path, self._room.path),
            "length": 0 if number is None else int(self._index.files.lines[number]),
            "level": 0 if file is None else file.level,
            "tokens": 0 if file is None else file.tokens,
            "reasons": [self._reason(each) for each in (() if file is None else file.reasons[:_MAX_REASONS])],
            "shown": [list(each) for each in lines[:limit]],
            "shown_more": max(len(lines) - limit, 0),
        }

    def _entry(self, file: int, entry: OutlineEntry) -> dict[str, Any]:
        return {
            "number": entry.number,
            "file": file,
            "name": self._reason(entry.name),
            # Parameters on lines of their own leave a space where they are joined.
            "head": self._reason(entry.head.replace("( ", "(")),
            "lines": [entry.first, entry.last],
            "why": self._reason(entry.why),
            "tokens": entry.tokens,
            "sure": entry.is_sure,
        }

    def _unlisted(self, numbers: Mapping[str, int]) -> Iterator[dict[str, Any]]:
        """Yield the outermost definitions that are shown whole and lie within no entry of the outline."""
        drawn, index = self._scene.drawn, self._index
        listed = [(each.path, each.first, each.last) for each in self._output.outline if each.name]
        for path, number in numbers.items():
            block, file_id = None if drawn is None else drawn.block(path), index.file_id(path)
            definitions, end = () if file_id is None else index.definitions(file_id), 0
            for name, each in zip(qualified_names(definitions), definitions, strict=True):
                if block is None or each.end <= end or not block.shows(LineRange(each.start, each.end)):
                    continue
                end = each.end
                if any(at == path and first <= each.start and end <= last for at, first, last in listed):
                    continue
                yield {
                    "number": 0,
                    "file": number,
                    "name": self._reason(name),
                    "head": self._reason(name),
                    "lines": [each.start, end],
                    "why": self._reason(next(iter(self._reasons.get((path, name), ())), "")),
                    "tokens": 0,
                    "sure": False,
                }

    def _finding(self, numbers: Mapping[str, int], finding: Finding) -> dict[str, Any]:
        return {
            "file": numbers[finding.path],
            "line": finding.line,
            "within": self._reason(finding.within),
            "message": self._sentence(finding.message),
            "action": self._sentence(finding.action),
            "broken": finding.kind in BREAKING,
            "sure": finding.is_sure,
        }

    def _cut(self, each: CutReport) -> dict[str, Any]:
        path = clipped(each.path, self._room.path)
        return {"path": path, "wanted": each.wanted, "drawn": each.drawn, "tokens": each.tokens_to_add}

    def _turn(self, report: TurnReport, in_focus: Mapping[str, int]) -> dict[str, Any]:
        return {
            "step": report.step_number,
            "action": report.last_action,
            "by": self._reason(report.model),
            "words": self._sentence(report.reasoning),
            "said": self._sentence(report.answer),
            "tokens": report.map_size_tokens,
            "files": report.file_count,
            "shown": [[in_focus[file.path], file.level] for file in report.focus if file.path in in_focus],
            "usd": float(report.cost_this_turn),
            "read": report.usage.input,
            "written": report.usage.output,
        }

    def _reason(self, text: str) -> str:
        return clipped(text, self._room.reason)

    def _sentence(self, text: str) -> str:
        return clipped(text, self._room.sentence)

    def _sentences(self, texts: Sequence[str]) -> list[str]:
        return [self._sentence(text) for text in texts[: self._room.sentences]]


def find_links(index: Index, paths: Sequence[str], places: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """Return which places call, override or extend which: source, target, verb and line, each pair once."""
    ids = [index.file_id(paths[place["file"]]) for place in places]
    relations = relations_of(index)
    found: dict[tuple[int, int], list[Any]] = {}
    for at, (place, file) in enumerate(zip(places, ids, strict=True)):
        first, last = place["lines"]
        definitions = () if file is None else index.definitions(file)
        named = (row for row, name in enumerate(qualified_names(definitions)) if name == place["name"])
        row = next((row for row in named if first <= definitions[row].start <= last), None)
        if file is None or row is None:
            continue
        # What the methods of a class use is theirs, if the place is its head alone.
        uses = [use for use in relations.used_in((file, row)) if first <= use.line <= last]
        for use in (*uses, *relations.overrides_of((file, row))):
            if (verb := _LINKS.get(use.kind)) is None or use.target[1] < 0:
                continue
            line = index.definitions(use.target[0])[use.target[1]].start
            holding = [
                (other["lines"][1] - other["lines"][0], number)
                for number, other in enumerate(places)
                if number != at and other["name"] and ids[number] == use.target[0]
                if other["lines"][0] <= line <= other["lines"][1]
            ]
            if holding:
                target = min(holding)[1]
                found.setdefault((at, target), [at, target, verb, use.line])
    return [found[pair] for pair in sorted(found)][:_MAX_LINKS]


def _source(index: Index, data: PictureData) -> list[dict[str, Any]]:
    """Return stretches of source: around findings, what is shown, then what is listed, in that order."""
    paths, around = [file["path"] for file in data["files"]], _AROUND_FINDING
    wanted: list[tuple[str, int, int]] = [
        *(
            (paths[each["file"]], max(each["line"] - around, 1), each["line"] + around)
            for each in data["findings"]
        ),
        *((file["path"], *lines) for file in data["files"] for lines in file["shown"]),
        *((paths[place["file"]], *place["lines"]) for place in data["places"] if place["name"]),
    ]
    room = min(MAX_BYTES - _TREE_BYTES - _bytes(data), _SOURCE_BYTES)
    chunks: list[dict[str, Any]] = []
    taken: dict[str, set[int]] = {}
    for path, first, end in wanted:
        if (file := index.file_id(path)) is None:
            continue
        lines, known = index.sources.text(file).split("\n"), taken.setdefault(path, set())
        last = min(end, first + _MAX_CHUNK_LINES - 1, len(lines))
        for start, stop in _runs(number for number in range(first, last + 1) if number not in known):
            text = "\n".join(map(_printable, lines[start - 1 : stop]))
            chunk = {"path": path, "first": start, "text": text}
            room -= _bytes(chunk)
            if room < 0:
                return chunks
            known.update(range(start, stop + 1))
            chunks.append(chunk)
    return chunks


def _printable(line: str) -> str:
    """Return a line without invisible characters but its tabs, its end cut off if it is too long."""
    line = "\t".join(printable(part) for part in line.split("\t"))
    return line if len(line) <= _MAX_LINE_CHARS else f"{line[: _MAX_LINE_CHARS - 1]}…"


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs
