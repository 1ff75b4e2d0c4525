"""The context and the report of a step: whole, or only what is new since an earlier step."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from navigator.errors import InvalidRequestError
from navigator.state.reports import FileReport, NavigatorOutput, TurnReport
from navigator.state.run_state import Navigation, RunState, StepRecord
from navigator.storage.storage import MAP_NAME, record_name
from repo_map.outline.blocks import MapText
from repo_map.outline.rendering import ELISION, number_lines, without_number
from repo_map.plan.levels import level_label
from repo_map.text.tokens import count

if TYPE_CHECKING:
    from weakref import ReferenceType

    from navigator.planner.view import View
    from navigator.storage.storage import Storage
    from navigator.workspaces.workspace import Workspace

FOCUS_LEVEL: Final = 3
"""From signatures on: the levels of focus areas."""
MAX_CACHED: Final = 64
"""Navigations whose latest steps stay in memory."""
_MAX_RESULTS: Final = 8
"""Steps of each: the latest, and those that a client has and is sent what is new against."""
_MAX_EARLIER: Final = 24
"""Earlier maps, besides the latest, that are looked through for what a client has already."""
UNCHANGED: Final = f"{ELISION} as before"
"""Stands for lines that the reader was given before; no line of source begins so."""
_MIN_RUN_CHARS: Final = 12
"""Letters and digits that lines must have in common to be the same lines, and not merely alike."""
_MAX_GAP: Final = 2
"""Known lines between new ones that are shown again rather than left out."""
_WHOLE_SHARE: Final = 0.85
"""Share of a block's characters from which on it is sent whole."""


class StepResult(NamedTuple):
    """What a step came to."""

    record: StepRecord
    map_text: MapText


class CachedNavigation:
    """The latest steps of a navigation; the storage has all that must outlast the process."""

    def __init__(self) -> None:
        self.view: tuple[ReferenceType[Workspace], tuple[object, ...], View] | None = None
        """Of a workspace, with all that it was drawn from."""
        self.saved_map: tuple[str, int] | None = None
        """The latest map, and the version that it is saved as."""
        self.results: dict[int, StepResult] = {}
        """By step, the latest that were stored."""

    def remember(self, result: StepResult) -> None:
        """Remember a step that has been stored: it never changes any more."""
        self.results[result.record.report.step_number] = result
        while len(self.results) > _MAX_RESULTS:
            del self.results[min(self.results)]


class StepReader:
    """Reads steps as reports and contexts, from the storage, or from memory if they are among the latest."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._cached: OrderedDict[tuple[str, str], CachedNavigation] = OrderedDict()
        """The navigations that were stepped lately, by user and id; the latest comes last."""

    def cached(self, navigation_id: str, user: str) -> CachedNavigation:
        """Return what is cached of a navigation whose step begins."""
        key = (user, navigation_id)
        found = self._cached[key] = self._cached.pop(key) if key in self._cached else CachedNavigation()
        while len(self._cached) > MAX_CACHED:
            self._cached.popitem(last=False)
        return found

    def forget(self, navigation_id: str, user: str) -> None:
        self._cached.pop((user, navigation_id), None)

    def _result(self, navigation_id: str, user: str, step: int) -> StepResult | None:
        found = self._cached.get((user, navigation_id))
        return found.results.get(step) if found else None

    async def report(self, navigation: Navigation, user: str, step: int | None = None) -> TurnReport:
        """Return the report of ``step``, by default the latest."""
        return current_report(await self.record(navigation, user, step), navigation.run)

    async def reports(self, navigation: Navigation, user: str) -> list[TurnReport]:
        """Return the reports of all steps, oldest first; step 0 is the opening view."""
        return [await self.report(navigation, user, step) for step in range(navigation.run.step + 1)]

    async def context(
        self,
        navigation: Navigation,
        user: str,
        since_step: int | None = None,
        *,
        step: int | None = None,
        held: Sequence[int] = (),
    ) -> NavigatorOutput:
        """Return the context of ``step``, by default the latest, or only what is new since ``since_step``.

        The reader has ``since_step``, and the steps ``held`` before it.
        """
        record = await self.record(navigation, user, step)
        drawn = await self._map(record, user)
        whole = build_output(navigation, record, drawn)
        if since_step is None:
            return whole
        earlier = await self.record(navigation, user, since_step)
        others = sorted({other for other in held if other < since_step}, reverse=True)[:_MAX_EARLIER]
        records = [earlier, *[await self.record(navigation, user, other) for other in others]]
        notes = tuple(each for each in whole.notes if each not in earlier.report.notes)
        maps = [await self._map(each, user) for each in records]
        return _diff_output(whole.model_copy(update={"notes": notes}), drawn, since_step, maps)

    async def record(self, navigation: Navigation, user: str, step: int | None) -> StepRecord:
        """Return the record of ``step``, by default the latest; raise ``InvalidRequestError`` for another."""
        run = navigation.run
        wanted = run.step if step is None else step
        if not 0 <= wanted <= run.step:
            raise InvalidRequestError(
                f"Step {wanted} does not exist; navigation `{run.navigation_id}` has steps 0 to {run.step}.",
                code="unknown_step",
            )
        if (result := self._result(run.navigation_id, user, wanted)) is not None:
            return result.record
        version = run.record_versions.get(wanted, 0)
        text = await self._storage.load_artifact(run.navigation_id, user, record_name(wanted), version)
        return StepRecord.model_validate_json(text)

    async def _map(self, record: StepRecord, user: str) -> MapText:
        report = record.report
        if (result := self._result(report.navigation_id, user, report.step_number)) is not None:
            return result.map_text
        text = await self._storage.load_artifact(report.navigation_id, user, MAP_NAME, report.map_version)
        return MapText.parse(text, [file.path for file in record.files])


def current_report(record: StepRecord, run: RunState) -> TurnReport:
    """Return the record's report; the latest one also has how the navigation has ended since."""
    if record.report.step_number != run.step:
        return record.report
    return record.report.model_copy(
        update={
            "stop_reason": run.stop_reason,
            "ended": run.ended,
            "notes": tuple(dict.fromkeys((*run.notes, *record.report.notes))),
            "total_cost": run.spent,
            "total_usage": run.usage,
        }
    )


def build_output(navigation: Navigation, record: StepRecord, drawn: MapText) -> NavigatorOutput:
    """Return the report of a step with its context."""
    run = navigation.run
    now = {"total_cost": run.spent, "map_token_budget": run.map_token_budget}
    report = current_report(record, run).model_copy(update=now)
    return NavigatorOutput(
        **dict(report),
        context_string=drawn.text,
        file_starts=drawn.starts,
        token_count=report.map_size_tokens,
        flight_plan=record.flight_plan,
        reasoning_summary=record.reasoning_summary or summarize("", record.files),
        files=record.files,
        seconds=run.seconds,
    )


def _diff_output(
    whole: NavigatorOutput, drawn: MapText, since_step: int, earlier: Sequence[MapText]
) -> NavigatorOutput:
    # Of the maps that the reader has, that of ``since_step`` is the first.
    before = earlier[0].files
    # A reader who has the lines without their numbers, or with them, wants to see them the other way now.
    alike = [each for each in earlier if each.is_numbered == drawn.is_numbered or not each.files]
    new = {
        path: new_lines(block, [each.files[path] for each in alike if path in each.files])
        for path, block in drawn.files.items()
    }
    parts = [part for part in new.values() if part]
    legend = MapText({path: part for path, part in new.items() if part}).legend
    if legend and not any(each.legend.startswith(legend.rstrip()) for each in alike):
        parts[0] = f"{legend}{parts[0]}"
    shared = {path: block for path, block in drawn.files.items() if path in before}
    restored = [
        path
        for path, part in new.items()
        if not part and (path not in before or new_lines(drawn.files[path], [before[path]]))
    ]
    text = "\n\n".join(parts)
    return whole.model_copy(
        update={
            "context_string": text,
            "file_starts": tuple(accumulate((len(part) + 2 for part in parts[:-1]), initial=0))
            if parts
            else (),
            "token_count": count(text),
            "since_step": since_step,
            "removed": tuple(path for path in before if path not in drawn.files),
            "restored": tuple(restored),
            "truncated": tuple(path for path, block in shared.items() if new_lines(before[path], [block])),
        }
    )


def summarize(reasoning: str, files: Sequence[FileReport]) -> str:
    """Return the latest reasoning with the reasons of the focus areas, for a step without a summary."""
    lines = [
        f"- {file.path} ({level_label(file.level)}): {'; '.join(file.reasons) or 'chosen by the plan'}"
        for file in files
        if file.level >= FOCUS_LEVEL
    ]
    return "\n".join([*([reasoning] if reasoning else []), *lines])


def new_lines(block: str, earlier: Sequence[str]) -> str:
    """Return what of a file's block is in none of its earlier blocks, below its header; ``""`` for nothing.

    Each new part follows the lines that enclose it; ``UNCHANGED`` replaces what is left out between.
    """
    if block.rstrip() in map(str.rstrip, earlier):
        return ""
    header, *lines = block.rstrip().split("\n")
    body = list(map(without_number, lines))
    known = [not line.strip() or line.startswith(ELISION) for line in body]
    for other in dict.fromkeys(earlier):
        old = list(map(without_number, other.rstrip().split("\n")[1:]))
        for _, start, size in SequenceMatcher(None, old, body, autojunk=False).get_matching_blocks():
            run = range(start, start + size)
            if sum(len(re.sub(r"[\W_]", "", body[at])) for at in run) >= _MIN_RUN_CHARS:
                known[start : start + size] = [True] * size
    hunks = list(_hunks(body, known))
    if not hunks:
        return "" if earlier else header
    new = sum(len(line) for first, last in hunks for line in body[first:last])
    if new >= _WHOLE_SHARE * sum(map(len, body)):
        return block.rstrip()
    numbered, found, shown = number_lines(header, lines), [header], 0
    for first, last in hunks:
        for at in (*(each for each in _enclosing(body, first) if each >= shown), first):
            # The first line after a gap has its number.
            found += [UNCHANGED, numbered[at]] if at > shown else [lines[at]]
            shown = at + 1
        found += lines[first + 1 : last]
        shown = last
    return "\n".join(found)


def _hunks(body: Sequence[str], known: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield the first line and the one after the last of each run of new lines, short gaps closed."""
    first = last = -1
    for at, is_known in enumerate(known):
        if is_known:
            continue
        between = body[last:at]
        if first >= 0 and (len(between) > _MAX_GAP or any(line.startswith(ELISION) for line in between)):
            yield first, last
            first = at
        first, last = (at if first < 0 else first), at + 1
    if first >= 0:
        yield first, last


def _enclosing(body: Sequence[str], first: int) -> list[int]:
    """Return the positions of the lines that enclose a part by their indentation, outermost first."""
    indents = [len(line) - len(line.lstrip()) for line in body]
    depth = next((indents[at] for at in range(first, len(body)) if body[at].strip()), 0)
    found: list[int] = []
    for at in range(first - 1, -1, -1):
        if body[at].strip() and not body[at].startswith(ELISION) and indents[at] < depth:
            found.append(at)
            depth = indents[at]
    return found[::-1]
