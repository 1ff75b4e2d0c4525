"""What hooks would have said in a run: beside its searches, its crawls, its edits, and at its start.

The hooks' own rules decide, on what the run's commands say of themselves. Two things are not as they were.
A file changes at the last edit that the run made of it, to what the run handed in; and the names, the answer
and the facts are those of the commit that the run began with.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from benchmarks.answers import Result
from benchmarks.git import run_git
from benchmarks.replay.looking import Step
from benchmarks.replay.replaying import Added, Packet
from benchmarks.replay.runs import Run
from benchmarks.tasks import Task
from benchmarks.trees import Snapshot
from repo_map.text import tokens
from repo_map.worktree.git import GitError
from repo_navigator.hooks.findings import Line, say_findings
from repo_navigator.hooks.likely_places import LikelyPlace, kept, places_in, places_left
from repo_navigator.hooks.names import NameTable
from repo_navigator.hooks.search_answer import SearchAnswer, answer_in
from repo_navigator.hooks.searches import Action, Search, names_sought, of_shell
from repo_navigator.hooks.sessions import Session
from repo_navigator.hooks.wording import facts_text, places_text, search_text

if TYPE_CHECKING:
    from navigator.workspaces.workspace import Workspace
    from repo_map.index import RepoIndex

START: Final = "start"
SEARCH: Final = "search"
CRAWL: Final = "crawl"
EDIT: Final = "edit"
ALL: Final = "hooks, all"
ARMS: Final[Mapping[str, frozenset[str]]] = {
    "hooks, start": frozenset({START}),
    "hooks, searches": frozenset({SEARCH}),
    "hooks, crawl": frozenset({CRAWL}),
    "hooks, edits": frozenset({EDIT}),
    ALL: frozenset({START, SEARCH, CRAWL, EDIT}),
}
"""What is replayed, by the name of its system."""
_ASKED: Final = "hook, {}"
"""What an answer that is kept is called."""
_CALLER_SECONDS: Final = 2.0
_FOLDER: Final = re.compile(r"(\S+/)(?=,| \()")


class Said(msgspec.Struct, frozen=True, omit_defaults=True):
    """One search of a run, spoken of or not, or whatever else a hook said, as a line of the file of rows."""

    id: str
    repo: str
    agent: str
    event: str
    at: int
    """The call that it stands behind; -1 for the first prompt."""
    leads: bool
    """Whether any file is opened or edited later."""
    found: int = 0
    """Lines that a search printed."""
    was_right: bool = False
    """Whether what it printed names the file that is opened or edited next."""
    kind: str = ""
    """What was said, empty where nothing was."""
    tokens: int = 0
    next_file: bool = False
    """Whether what was said names the file that is opened or edited next."""
    later_file: bool = False
    """Whether it names a file that is opened or edited later."""
    edited_file: bool = False
    """Whether it names a file that is edited later."""
    true_file: bool = False
    """Whether it names a file that the true fix edits."""
    found_file: bool = False
    """Whether it names a file that a later search for the same name finds."""

    @property
    def is_sound(self) -> bool:
        """Whether a reader would not call it false."""
        return self.later_file or self.true_file or self.found_file


class Moment(NamedTuple):
    """One call of a run, as a hook is told of it and as it was understood."""

    action: Action
    output: str
    step: Step
    opened: frozenset[str]
    """Files whose text it showed; of the files that a search finds none is opened by it."""


class Utterance(NamedTuple):
    """What a hook says."""

    event: str
    behind: int
    text: str
    files: frozenset[str]
    """Files that it names."""
    answer: SearchAnswer | None = None


class Known(NamedTuple):
    """What hooks have at hand in a run."""

    names: NameTable | None
    crawl: Sequence[LikelyPlace]
    """The likely places for a crawl; none where the goal names its place."""
    facts: str
    findings: Mapping[int, Sequence[Line]]
    """What the check finds behind an edit."""
    snapshot: Snapshot


def moments_of(run: Run, steps: Sequence[Step]) -> list[Moment]:
    """Return the calls of a run as a hook is told of them."""
    found = []
    for call, step in zip(run.calls, steps, strict=True):
        action = inside_tree(of_shell(call.command)) if call.command else Action()
        shown = frozenset(spot.path for spot in step.shown)
        asked = frozenset(place for each in action.searches for place in each.places)
        found.append(Moment(action, call.output, step, shown & asked if action.searches else shown))
    return found


def inside_tree(action: Action) -> Action:
    """Return what a call did with the tree's own paths; searches outside of it are left out."""
    searches = []
    for search in action.searches:
        places = [_own(place) for place in search.places]
        if not any(place.startswith(("/", "~", "..")) for place in places):
            searches.append(search._replace(places=tuple(place for place in places if place)))
    # Of several searches of which one lies outside, none is answered.
    searches = searches if len(searches) == len(action.searches) else []
    reads, edits = ([_own(path) if path else "" for path in paths] for paths in (action.reads, action.edits))
    return Action(tuple(searches), tuple(reads), tuple(edits))


def _own(place: str) -> str:
    place = place.removeprefix("/testbed").lstrip("/") if place.startswith("/testbed") else place
    return posixpath.normpath(place) if place else ""


def utterances(past: Sequence[Moment], known: Known, events: Collection[str]) -> list[Utterance]:
    """Return what the hooks of some events say in a run."""
    session = Session({})
    said: list[Utterance] = []
    waiting: Sequence[Line] = ()
    is_answered = CRAWL not in events
    if START in events and known.facts:
        said.append(Utterance(START, -1, known.facts, frozenset()))
    for at, moment in enumerate(past):
        action = moment.action
        if action.edits:
            session.note_edit([path for path in action.edits if path])
            waiting = known.findings.get(at, ()) if EDIT in events else ()
            continue
        found = say_findings(waiting, session) if waiting else ""
        if found:
            said.append(Utterance(EDIT, at, found, _files_in(found, known.snapshot.paths)))
        waiting = ()
        if not action.looks:
            continue
        crawls = session.note_look([path for path in action.reads if path])
        answer = None
        if SEARCH in events and action.searches and known.names:
            answer = answer_in(session, action.searches, moment.output, known.names)
        if answer and (text := search_text(answer)):
            said.append(Utterance(SEARCH, at, text, _named(answer, text), answer=answer))
        elif crawls and not is_answered and not found:
            left = places_left(known.crawl, session.reads, known.names) if known.names else []
            if text := places_text(left):
                is_answered = True
                told = frozenset(text.split("\n"))
                said.append(Utterance(CRAWL, at, text, told.intersection(place.path for place in left)))
    return said


def _named(answer: SearchAnswer, text: str) -> frozenset[str]:
    """Return the files that a text names, those of callers too."""
    callers = (each.path for definition in answer.definitions for each in definition.shown_callers)
    return frozenset(path for path in (*(each.path for each in answer.definitions), *callers) if path in text)


def _files_in(text: str, paths: frozenset[str]) -> frozenset[str]:
    return paths.intersection(re.findall(r"^([^\s:]+):\d", text, re.MULTILINE))


def packet_of(system: str, said: Iterable[Utterance]) -> Packet:
    """Return what hooks say as what is added to a run."""
    by_place: dict[int, Added] = {}
    for each in said:
        size = tokens.count(each.text, "cl100k")
        before = by_place.get(each.behind, Added(each.behind, 0))
        # Findings tell of an edit; what they name is no place to look for.
        named = each.files if each.event in (SEARCH, CRAWL) else frozenset()
        by_place[each.behind] = Added(each.behind, before.tokens + size, named=before.named | named)
    return Packet(system, 0, tuple(by_place.values()))


def judged(task: Task, run: Run, past: Sequence[Moment], said: Iterable[Utterance]) -> Iterator[Said]:
    """Yield every search of a run and all that hooks say in it, each with what became of it."""
    by_search = {each.behind: each for each in said if each.event == SEARCH}
    for at, moment in enumerate(past):
        if moment.action.searches and not moment.action.edits:
            yield _judged(task, run, past, by_search.get(at) or Utterance(SEARCH, at, "", frozenset()))
    yield from (_judged(task, run, past, each) for each in said if each.event != SEARCH)


def _judged(task: Task, run: Run, past: Sequence[Moment], said: Utterance) -> Said:
    later = past[said.behind + 1 :]
    edited = frozenset(path for each in later for path in each.step.edited)
    opened = edited.union(*(each.opened for each in later))
    following = next((now for each in later if (now := each.opened.union(each.step.edited))), frozenset())
    output = past[said.behind].output if said.event == SEARCH else ""
    answer = said.answer
    kind = (answer.kind if answer else "") if said.event == SEARCH else said.event

    def names_one(files: Iterable[str]) -> bool:
        if said.event == START:
            folders = tuple(_FOLDER.findall(said.text))
            return any(path.startswith(folders) or ("./" in folders and "/" not in path) for path in files)
        return bool(said.files.intersection(files))

    return Said(
        task.id,
        task.repo,
        run.agent,
        said.event,
        said.behind,
        bool(following),
        output.count("\n") + 1 if output.strip() else 0,
        any(path in output for path in following)
        or bool(output.strip() and said.behind >= 0 and following & past[said.behind].opened),
        kind,
        tokens.count(said.text, "cl100k") if said.text else 0,
        names_one(following),
        names_one(opened),
        names_one(edited),
        names_one(task.gold_files),
        any(_finds(each, answer, said.files, past[said.behind]) for each in later) if answer else False,
    )


def _finds(moment: Moment, answer: SearchAnswer, files: frozenset[str], before: Moment) -> bool:
    """Tell whether a later search for a name that was looked for, or told, finds one of the files."""
    meant = _sought(before.action.searches) | {each.name for each in answer.definitions}
    return bool(meant & _sought(moment.action.searches)) and any(path in moment.output for path in files)


def _sought(searches: Iterable[Search]) -> set[str]:
    return {each.name for search in searches for each in names_sought(search)}


# What is asked once, and kept.


def asked_of_hooks(
    workspace: Workspace, task: Task, tree: Path, runs: Iterable[tuple[Run, Sequence[Step]]]
) -> list[Result]:
    """Return what hooks have at hand in a task's runs, and write its names beside the tree."""
    from repo_navigator.hooks.facts import facts_of  # noqa: PLC0415 - figures of kept rows need no index

    index = workspace.index
    names_beside(tree, index)
    told = {
        CRAWL: kept(places_at_crawl(workspace, task.goal)).decode(),
        START: facts_text(facts_of(index)),
    }
    for run, steps in runs:
        told[f"{EDIT} {run.agent}"] = json.dumps(_findings(index, tree, run, steps))
    return [Result(task.id, _ASKED.format(what), 0, text, [], 0.0) for what, text in told.items()]


def places_at_crawl(workspace: Workspace, goal: str) -> list[LikelyPlace]:
    """Return the likely places of a goal that a hook has at hand; none where it names its place."""
    from repo_navigator.hooks.background import likely_places, names_its_place  # noqa: PLC0415 - figures of kept rows need no index

    if names_its_place(goal, workspace.index):
        return []
    return likely_places(workspace.index, workspace.relevance(goal))


def names_beside(tree: Path, index: RepoIndex) -> NameTable | None:
    """Write the names of a tree beside it, and open them."""
    from repo_navigator.hooks.names_writer import write_names  # noqa: PLC0415 - figures of kept rows need no index

    write_names(index, tree.parent, tree.resolve(), {}, seconds=_CALLER_SECONDS)
    return NameTable.open(tree.parent, tree.resolve())


def known_from(answers: Iterable[Result], run: Run, snapshot: Snapshot, tree: Path) -> Known | None:
    """Return what hooks have at hand in a run, None where nobody has asked."""
    told = {each.system: each.context for each in answers}
    if _ASKED.format(CRAWL) not in told:
        return None
    findings = json.loads(told.get(_ASKED.format(f"{EDIT} {run.agent}"), "{}"))
    return Known(
        NameTable.open(tree.parent, tree.resolve()),
        places_in(told[_ASKED.format(CRAWL)].encode()),
        told[_ASKED.format(START)],
        {int(at): [Line(*line) for line in lines] for at, lines in findings.items()},
        snapshot,
    )


def is_asked(has: Collection[tuple[str, int]]) -> bool:
    """Tell whether hooks were asked for a task."""
    return (_ASKED.format(CRAWL), 0) in has


def _findings(index: RepoIndex, tree: Path, run: Run, steps: Sequence[Step]) -> dict[int, Sequence[Line]]:
    """Return what the check finds behind each edit that finishes a file, for a hook that sees it."""
    from repo_navigator.hooks.edit_check import find_breaks  # noqa: PLC0415 - as above

    last = {path: at for at, step in enumerate(steps) for path in step.edited}
    sees = [bool(moment.action.edits) for moment in moments_of(run, steps)]
    found: dict[int, Sequence[Line]] = {}
    applied: list[str] = []
    patch = tree / ".git" / "handed-in.patch"
    patch.write_text(run.patch, encoding="utf-8")
    try:
        for at in sorted(set(last.values())):
            for path in sorted(path for path, when in last.items() if when == at):
                try:
                    run_git(tree, "apply", f"--include={path}", str(patch))
                except GitError:
                    continue
                applied.append(path)
            if sees[at] and applied:
                index = index.refresh()
                session = Session({"edits": len(applied), "edited": applied})
                if lines := find_breaks(index, tree.resolve(), session).lines:
                    found[at] = lines
    finally:
        if applied:
            run_git(tree, "checkout-index", "-f", "--", *applied)
    return found
