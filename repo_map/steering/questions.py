"""Answers: what is asked of a context and of the code, in few tokens, facts with their lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import numpy as np

from repo_map import globs
from repo_map.impact.values import WORKTREE
from repo_map.messages import one_line, plural
from repo_map.outline.exclusions import excluded_by
from repo_map.plan.model import FlightPlan
from repo_map.relations.resolve import relations_of
from repo_map.steering.related import RELATED, Related, find_related, for_files, rows_of, tell_what_relies
from repo_map.steering.targets import (
    MOST_HITS,
    NamedDefinition,
    Target,
    around,
    find_identifier,
    find_places,
    named_by,
)
from repo_map.text.tokens import count

if TYPE_CHECKING:
    from repo_map.history.history import History
    from repo_map.index.repo_index import RepoIndex
    from repo_map.ranking.score import Relevance
    from repo_map.relations.model import Place

MOST_TOKENS: Final = 140
"""Of all that is answered to one feedback; with what stands around it a host pays 200 at most."""
_MOST_FILES: Final = 3
_MOST_UNITS: Final = 3
_MOST_NAMED: Final = 12
_MOST_COMMITS: Final = 5


@dataclass(frozen=True)
class QuestionContext:
    """What questions are asked of."""

    index: RepoIndex
    plan: FlightPlan
    own: FlightPlan
    """The part of the plan that the user asked for."""
    relevance: Relevance
    history: History | None = None


def answer(asked: QuestionContext, question: str, target: Target) -> str:
    """Return the answer to one question about a target, and how much of it could not be followed."""
    with relations_of(asked.index).asking() as followed:
        text = _ANSWERS[for_files(asked.index, question, target)](asked, target)
    return f"{text} {followed.told}".rstrip()


def within_tokens(answers: Sequence[str], most: int = MOST_TOKENS) -> str:
    """Return answers as one text of at most ``most`` tokens; what does not fit is counted or cut."""
    text = "\n".join(answers)
    if count(text) <= most:
        return text
    words = text.split(" ")
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(" ".join(words[:middle]) + " …") <= most else (low, middle - 1)
    return f"{' '.join(words[:low])} …"


def list_places(places: Sequence[NamedDefinition], most: int = 110) -> str:
    """Return where definitions stand, as many by line as ``most`` tokens take, and the others counted."""
    return _listed(list(map(_described, places)), most)


def _described(place: NamedDefinition) -> str:
    if not place.line:
        return f"`{place.path}`"
    return f"{f'`{place.name}` in' if place.name else 'the top of'} {place.path}:{place.line}"


def _listed(texts: Sequence[str], most: int) -> str:
    shown = list(texts[:_MOST_NAMED])
    while len(shown) > 1 and count(", ".join(shown)) > most:
        shown.pop()
    rest = len(texts) - len(shown)
    return ", ".join(shown) + (f" and {rest} more." if rest else ".")


def shown_paths(plan: FlightPlan, relevance: Relevance) -> tuple[str, ...]:
    """Return the files of the relevance that a plan does not leave out, best first."""
    return tuple(file.path for file in relevance.files if not excluded_by(plan, file.path))


def _tell_why(asked: QuestionContext, target: Target) -> str:
    """Say which evidence put the target's files where they are."""
    relevance = asked.relevance
    wanted = set(target.paths)
    ranked = [
        (rank, file)
        for rank, file in enumerate(relevance.files, 1)
        if file.path in wanted or any(globs.matches(pattern, file.path) for pattern in target.patterns)
    ]
    if not ranked:
        among = plural(len(relevance.files), "file")
        return f"{target.quoted} is not among the {among} that the goal points at."
    message = []
    shown = set(shown_paths(asked.plan, relevance))
    for rank, file in ranked[:_MOST_FILES]:
        reasons = ", ".join(file.reasons) or "weak evidence only"
        where = "" if file.path in shown else ", and not shown for lack of budget"
        if pattern := excluded_by(asked.own, file.path):
            where = f", and left out by your rule for `{pattern}`"
        message.append(f"`{file.path}` ranks {rank} of {len(relevance.files)}{where}: {reasons}.")
        units = [unit for unit in relevance.units if unit.path == file.path and unit.name and unit.reasons]
        names = {place.name for place in target.places}
        units.sort(key=lambda unit: unit.name not in names)
        message += [f"  `{unit.name}`: {', '.join(unit.reasons)}." for unit in units[:_MOST_UNITS]]
    if len(ranked) > _MOST_FILES:
        message.append(f"And {plural(len(ranked) - _MOST_FILES, 'more file')} of it below these.")
    return "\n".join(message)


def _tell_where(asked: QuestionContext, target: Target) -> str:
    """Say where a name is defined, where a text stands, or which files a pattern names."""
    index = asked.index
    if target.spans and target.is_text:
        texts = []
        for span in target.spans:
            place = around(index, span)
            texts.append(f"{span.path}:{span.first}" + (f" (in `{place.name}`)" if place else ""))
        return f"{target.name} stands in {_listed(texts, 110)}"
    if target.is_identifier:
        return _tell_identifier(index, target)
    places = target.places or tuple(find_places(index, target.words))
    if places:
        rank = {file.path: at for at, file in enumerate(asked.relevance.files)}
        best = sorted(places, key=lambda place: (rank.get(place.path, len(rank)), place.path, place.line))
        return list_places(best)
    paths = sorted(named_by(index, target.patterns))
    return f"`{target.words}` is {_listed([f'`{path}`' for path in paths], 110)}"


def _tell_related(question: str) -> Callable[[QuestionContext, Target], str]:
    def tell(asked: QuestionContext, target: Target) -> str:
        index = asked.index
        if target.is_identifier:
            return _tell_identifier(index, target)
        what = f"{RELATED[question]} {target.quoted}"
        if text := describe_related(what, find_related(index, question, target)):
            return text
        by_name = _standing(index, target) if question == "callers" else ""
        return f"The index knows no {what}.{by_name}"

    return tell


def _tell_identifier(index: RepoIndex, target: Target) -> str:
    """Say where a name stands that is a parameter, an attribute or a local, each function once."""
    return f"`{target.name}` is not a definition; likely, by name alone, it is {_held(index, target)}"


def _standing(index: RepoIndex, target: Target) -> str:
    """Say where else the name of definitions stands, as an attribute does that nothing calls."""
    leaves = {place.name.rpartition(".")[2] for place in target.places}
    if len(leaves) != 1:
        return ""
    own = {(place.path, place.line) for place in target.places}
    found = find_identifier(index, leaves.pop())
    others = found._replace(spans=tuple(each for each in found.spans if (each.path, each.first) not in own))
    return f" Likely, by name alone, it is {_held(index, others)}" if others.spans else ""


def _held(index: RepoIndex, target: Target) -> str:
    held = f"held by {list_places(_holders(index, target), 90)}"
    if len(target.spans) < MOST_HITS:
        return held
    return f"{held[:-1]}, among the first {MOST_HITS} lines alone."


def _holders(index: RepoIndex, target: Target) -> list[NamedDefinition]:
    """Return what lines stand in, each function or class once with its first such line."""
    holders: dict[tuple[str, str], NamedDefinition] = {}
    for span in target.spans:
        place = around(index, span) or NamedDefinition(span.path, "", span.first)
        holders.setdefault((place.path, place.name), place._replace(line=span.first))
    return list(holders.values())


def describe_related(what: str, found: Related) -> str:
    """Tell what is resolved, and apart from it what only a name says; ``""`` for nothing."""
    texts = []
    if found.stated:
        texts.append(f"{what[0].upper()}{what[1:]}: {list_places(found.stated, 90)}")
    if found.likely:
        rest = f"Likely, by name alone: {list_places(found.likely, 40 if texts else 90)}"
        texts.append(rest if texts else f"Likely {what}, by name alone: {rest.partition(': ')[2]}")
    return " ".join(texts)


def _tell_imports(asked: QuestionContext, target: Target) -> str:
    index = asked.index
    message = []
    for path in _files(index, target)[:_MOST_FILES]:
        file = index.file_id(path)
        if file is None:
            continue
        relations = relations_of(index)
        ours: dict[int, list[str]] = {}
        for other in range(len(index)):
            for each in relations.importers_of(other):
                if each.source[0] == file:
                    ours.setdefault(each.line, []).append(index.paths[other])
        texts = [
            f"{one_line(each.module)}{''.join(f' → {path}' for path in ours.get(each.line, ())[:1])} "
            f"(line {each.line})"
            for each in index.imports(file)
        ]
        message.append(f"`{path}` imports {_listed(texts, 110)}" if texts else f"`{path}` imports nothing.")
    return "\n".join(message) or f"{target.quoted} is no file, so it imports nothing."


def _tell_importers(asked: QuestionContext, target: Target) -> str:
    index = asked.index
    relations = relations_of(index)
    message = []
    for path in _files(index, target)[:_MOST_FILES]:
        file = index.file_id(path)
        found = relations.importers_of(file) if file is not None else ()
        texts = [f"{index.paths[each.source[0]]}:{each.line}" for each in found]
        message.append(
            f"`{path}` is imported in {_listed(texts, 110)}"
            if texts
            else f"The index knows no file that imports `{path}`."
        )
    return "\n".join(message)


def _tell_history(asked: QuestionContext, target: Target) -> str:
    history = asked.history
    if history is None or not len(history):
        return "There is no git history here."
    message = []
    for path in _files(asked.index, target)[:_MOST_FILES]:
        rows = [row for row, known in enumerate(history.paths) if known == path]
        commits = history.file_commit[np.isin(history.file, rows)].tolist() if rows else []
        texts = [f"{_day(int(history.time[each]))} “{one_line(history.subjects[each])}”" for each in commits]
        shown = texts[:_MOST_COMMITS]
        more = f" and {len(texts) - len(shown)} more" if len(texts) > len(shown) else ""
        message.append(
            f"`{path}`, last commits: {'; '.join(shown)}{more}. Who made them is not kept."
            if texts
            else f"None of the last {plural(len(history), 'commit')} changed `{path}`."
        )
    return "\n".join(message)


def _day(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def _tell_classes(asked: QuestionContext, target: Target) -> str:
    index = asked.index
    relations = relations_of(index)
    message = []
    for place in rows_of(index, target)[:_MOST_FILES]:
        above, below = relations.classes_above(place), relations.classes_below(place)
        name = index.qualified_name(*place)
        if not above and not below:
            continue
        parts = [
            f"{verb} {list_places(_places(index, found), 70)}"
            for verb, found in ((f"`{name}` extends", above), (f"`{name}` is extended by", below))
            if found
        ]
        message.append(" ".join(parts))
    return "\n".join(dict.fromkeys(message)) or f"The index knows no class above or below {target.quoted}."


def _tell_impact(asked: QuestionContext, target: Target) -> str:
    if not target and is_change(target.name):
        return _tell_change(asked.index, target.name)
    return tell_what_relies(asked.index, target)


def is_change(name: str) -> bool:
    """Tell whether a name is one of a change, as `worktree` and `main..HEAD` are, and none of code."""
    return name == WORKTREE or (".." in name and "/" not in name)


def _tell_change(index: RepoIndex, named: str) -> str:
    from repo_map.check.checking import check_changes  # noqa: PLC0415 - few ask it
    from repo_map.check.telling import tell  # noqa: PLC0415 - as above
    from repo_map.impact.git_changes import ChangesError, read_changes  # noqa: PLC0415 - as above

    try:
        patch = read_changes(index, named)[1]
    except ChangesError as error:
        return str(error)
    return tell(check_changes(index, patch), MOST_TOKENS, "`navigate` with `changes`").rstrip()


def _places(index: RepoIndex, rows: Iterable[Place]) -> list[NamedDefinition]:
    return [
        NamedDefinition(
            index.paths[file], index.qualified_name(file, row), index.definitions(file)[row].sig_start
        )
        for file, row in rows
    ]


def _files(index: RepoIndex, target: Target) -> list[str]:
    return list(target.paths) or sorted(named_by(index, target.patterns))


def unknown_name(index: RepoIndex, written: str, close: Sequence[str]) -> str:
    """Say that nothing bears a name, and what is spelled much like it: what is ``close``."""
    if found := find_identifier(index, written):
        return f"{_tell_identifier(index, found)[:-1]}; ask where it is used."
    hint = f" Nearest: {', '.join(f'`{name}`' for name in close)}." if close else ""
    return f"Nothing in the repository is called `{written}`.{hint}"


_ANSWERS: Final[Mapping[str, Callable[..., str]]] = {
    "why": _tell_why,
    "definition": _tell_where,
    "callers": _tell_related("callers"),
    "uses": _tell_related("uses"),
    "tests": _tell_related("tests"),
    "imports": _tell_imports,
    "importers": _tell_importers,
    "history": _tell_history,
    "classes": _tell_classes,
    "breaks": _tell_impact,
}
