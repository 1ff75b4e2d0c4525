"""The corpus: sentences with what must happen, and what steering makes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from repo_map.feedback.apply import steer
from repo_map.feedback.names import NamedDefinition
from repo_map.feedback.steering import Steering
from repo_map.index import RepoIndex
from repo_map.plan.model import FlightPlan
from repo_map.plan.yaml import parse_plan
from repo_map.relevance.score import Relevance, score_goal
from tests.repo_map.feedback import repositories_fresh as fresh
from tests.repo_map.feedback.repository import FILES, GOAL, MENU, SHOWN

FOLDER = Path(__file__).parent


class Spoken(NamedTuple):
    """A repository that sentences speak of."""

    files: Mapping[str, str]
    shown: tuple[str, ...]
    """What is on screen when a sentence is said."""
    menu: tuple[tuple[str, str], ...]
    """What the menu offers, from 1: paths and names."""
    goal: str


REPOSITORIES = {
    "shop": Spoken(FILES, SHOWN, MENU, GOAL),
    "clinic": Spoken(fresh.CLINIC, fresh.CLINIC_SHOWN, fresh.CLINIC_MENU, fresh.CLINIC_GOAL),
    "relay": Spoken(fresh.RELAY, fresh.RELAY_SHOWN, fresh.RELAY_MENU, fresh.RELAY_GOAL),
}


class Sentence(NamedTuple):
    """A sentence, and what must happen."""

    words: str
    wishes: tuple[str, ...]
    """Operations with their targets; empty where it is not to be understood."""
    nearest: tuple[str, ...]
    """What has to be among the things that would be understood instead."""
    repository: str = "shop"
    is_partial: bool = False
    """Beside the wishes something is not to be understood."""


def read(name: str) -> list[Sentence]:
    """Return the sentences of a file."""
    found: list[Sentence] = []
    repository = "shop"
    for line in (FOLDER / name).read_text("utf-8").splitlines():
        if line.startswith("## "):
            repository = line[3:]
        if line.startswith(("# ", "## ")) or not line.strip():
            continue
        if not line.startswith("  "):
            found.append(Sentence(line, (), (), repository))
        elif line.startswith("  = "):
            found[-1] = found[-1]._replace(wishes=(*found[-1].wishes, line[4:]))
        elif line.strip() == "?":
            found[-1] = found[-1]._replace(is_partial=True)
        else:
            found[-1] = found[-1]._replace(nearest=(*found[-1].nearest, line[4:]))
    return found


def plan_of(repository: str = "shop") -> FlightPlan:
    """Return the plan of what is on screen."""
    shown = "".join(f"\n- {{pattern: {path}, level: 4}}" for path in REPOSITORIES[repository].shown)
    return parse_plan(f"budget: 2000\nverbosity:\n- {{pattern: '**', level: 0}}{shown}\n")


def heard(
    index: RepoIndex, words: str, relevance: Relevance | None = None, repository: str = "shop"
) -> Steering:
    """Return what steering makes of a sentence."""
    spoken = REPOSITORIES[repository]
    menu = {number: NamedDefinition(path, name, 1) for number, (path, name) in enumerate(spoken.menu, 1)}
    relevance = relevance or score_goal(index, spoken.goal)
    own = FlightPlan(budget=2_000)
    return steer(index, plan_of(repository), relevance, words, own=own, menu=menu)


def verdict(index: RepoIndex, sentence: Sentence, relevance: Relevance | None = None) -> tuple[str, str]:
    """Return ``understood``, ``not understood`` or ``wrong``, and what was heard."""
    steering = heard(index, sentence.words, relevance, sentence.repository)
    wishes = tuple(wish.text.replace('\\"', '"') for wish in steering.wishes)
    wanted = tuple(each.replace('\\"', '"') for each in sentence.wishes)
    offered = [f"{each.operation} {each.name}" for part in steering.not_understood for each in part.nearest]
    told = f"{list(wishes)} not understood: {[part.words for part in steering.not_understood]} {offered}"
    if wishes == wanted and bool(steering.not_understood) == (sentence.is_partial or not wanted):
        if any(not any(each.startswith(near) for each in offered) for near in sentence.nearest):
            return "badly offered", told
        return "understood", told
    if not wishes and steering.not_understood and not steering.changes:
        return "not understood", told
    return "wrong", told


def counts(indexes: Mapping[str, RepoIndex], sentences: list[Sentence]) -> tuple[Counter[str], list[str]]:
    """Return how many sentences came to what, and each that was not understood as it must be."""
    goals = {name: score_goal(index, REPOSITORIES[name].goal) for name, index in indexes.items()}
    counted: Counter[str] = Counter()
    failed = []
    for sentence in sentences:
        came_to, told = verdict(indexes[sentence.repository], sentence, goals[sentence.repository])
        counted[came_to] += 1
        if came_to != "understood":
            failed.append(
                f"{came_to}: {sentence.words}\n    wanted {list(sentence.wishes)} {list(sentence.nearest)}\n    heard {told}"
            )
    return counted, failed
