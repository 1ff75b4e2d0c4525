"""Score the definitions of a repository by how likely the work on a goal touches them."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.ranking.confidence import Sufficiency, assess, confidence_of
from repo_map.ranking.corpus import Floats, Ints, corpus_of
from repo_map.ranking.features import Features, read_features
from repo_map.ranking.goal import GoalPart, ParsedGoal, parse_goal
from repo_map.ranking.mentions import files_at, spelled_places
from repo_map.relations.file_references import file_references_of
from repo_map.relations.model import Confidence, Relation, RelationKind
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED, FileKind, is_run_as_test, is_template
from repo_map.text.terms import terms_of, tokenize
from repo_map.text.units import FUNCTION, GAP

if TYPE_CHECKING:
    from repo_map.index.index import Index

MAX_UNITS: Final = 800
_MAX_NAMING: Final = 5
"""The best units, whose text the goal may ask for."""
_MAX_ASKED: Final = 4
"""Of a text that is asked for, the units that are raised: the first windows of 60 lines."""
_SHARE_OF_NAMING: Final = 0.99
"""Score of a text by that of the file that names it."""
_VERBS: Final = {RelationKind.RENDER: "rendered by", RelationKind.INCLUDE: "taken in by"}
_TEMPLATE: Final = "template page html view layout markup"
_TEST_DATA: Final = "fixture golden snapshot"
_CALLED: Final = {
    ".sql": "query queries",
    ".graphql": "query queries schema",
    ".scm": "query queries",
    ".css": "style stylesheet",
    ".scss": "style stylesheet",
    ".po": "translation message",
}
"""What users call files of a suffix beside the suffix itself."""
_SHORT_GOAL: Final = 120
"""Characters of a question or an order; a report is about more than it names."""
_SHORT_DEFINITION: Final = 20
"""Lines of a definition whose source has room in the smallest answer."""
_NAMED, _CERTAIN = 0.7, 0.95
"""Strength of a mention of a path, and of a place, from which on it leads."""
_NAMED_FILES, _CRASHED_FILES, _NAMED_UNITS = 5, 2, 8
"""Places among the first that what the goal names has at least."""
_CALL: Final = re.compile(r"(\w+)\(\)")
_CALLED_CHANCE: Final = 0.36
"""Chance of a function that the goal writes as a call, if at most two have its name."""
_INLINE_TEST_SHARE: Final = 0.1
"""Share of its chance that a test has within a source of Rust: a fix seldom edits the tests alone."""
_INLINE_TESTS: Final = ("tests.", "test.")


class Weights(NamedTuple):
    """Linear models over named features."""

    file: Mapping[str, float]
    definition: Mapping[str, float]
    chance: Mapping[str, float] = {"bias": 0.0}
    """Logistic model of how likely each unit is part of the goal's work."""
    confidence: Mapping[str, float] = {"bias": 0.0}
    """Logistic model of how likely the first places hold all of it."""


WeightTable = dict[str, Weights]
"""Weights by the kind of a goal: ``default`` and ``question``."""


@cache
def default_weights() -> WeightTable:
    """Load the weights that ship with the package."""
    text = resources.files("repo_map.ranking").joinpath("weights.json").read_text(encoding="utf-8")
    return {kind: Weights(**weights) for kind, weights in json.loads(text).items()}


class ScoredFile(NamedTuple):
    """A file and how well it fits the goal; scores compare within one goal only."""

    path: str
    score: float
    """1 for the best file, less than 1 for the others, above 0."""
    reasons: tuple[str, ...]
    """What its name doesn't tell, in a few words."""


class ScoredUnit(NamedTuple):
    """A function, class header or gap, and how well it fits the goal."""

    path: str
    start: int
    end: int
    name: str
    """Qualified name, empty for a gap."""
    kind: int
    """0 function, 1 class header, 2 gap."""
    score: float
    reasons: tuple[str, ...]
    chance: float = 0.0
    """Calibrated, 0 to 1, that the goal's work touches it."""


class Relevance(NamedTuple):
    """What a goal makes of a repository."""

    goal: ParsedGoal
    files: tuple[ScoredFile, ...]
    """Best first, at most 400."""
    units: tuple[ScoredUnit, ...]
    """Best first, at most ``MAX_UNITS``."""
    sufficiency: Sufficiency
    asked: frozenset[str] = frozenset()
    """Files of text that likely code names and that the goal asks for."""
    spelt: tuple[ScoredUnit, ...] = ()
    """What the goal spells out, surest first: definitions, and files, whose names are empty."""

    @property
    def is_about_one(self) -> bool:
        """Whether a short goal names one definition, which is short and stands first: it alone is meant."""
        if len(self.goal.text) > _SHORT_GOAL or len(self.spelt) != 1 or not self.units:
            return False
        one, first = self.spelt[0], self.units[0]
        is_short = bool(one.name) and one.end - one.start < _SHORT_DEFINITION
        # Of a class that has members, the head is not the whole.
        has_members = any(
            unit.path == one.path and unit.name.startswith(f"{one.name}.") for unit in self.units
        )
        return is_short and not has_members and (one.path, one.start) == (first.path, first.start)


def score_goal(
    index: Index, goal: str, *, names: Sequence[str] = (), weights: WeightTable | None = None
) -> Relevance:
    """Score the files and units of a repository by how likely the goal's work touches them.

    Args:
        index: the repository.
        goal: what the user wants to do.
        names: identifiers that the caller guesses to be in the code; wrong ones do little harm.
        weights: others than those shipped.
    """
    corpus = corpus_of(index)
    parsed = parse_goal(goal, lambda path: bool(files_at(corpus, path)), corpus.template_lines, names)
    features = read_features(corpus, parsed)
    own = (weights or default_weights())[parsed.kind]
    file_scores, scores = score_candidates(features, own)
    rows = np.argsort(-scores, kind="stable")[:MAX_UNITS]
    files = _scored_files(features, file_scores)
    kinds = index.units.kind[features.candidates.units[rows]]
    measured = confidence_of(features, scores[rows], rows, own.confidence)
    sufficiency = assess(features, measured)
    chances = predict_chances(chance_features(scores[rows], kinds, measured), own.chance)
    units = _with_hints(_scored_units(features, scores, rows, chances), parsed)
    relevance = Relevance(parsed, files, units, sufficiency, spelt=_spelled(features))
    return _with_asked_text(index, relevance)


def score_candidates(features: Features, weights: Weights) -> tuple[Floats, Floats]:
    """Return the scores of the candidate files and of their units."""
    file, unit, row = features.file, features.unit, features.candidates.file_row
    is_main = (file["p.aux"] <= 0) & (file["p.gen"] == 0)
    scores = weighted_sum(file, weights.file, len(features.candidates.files))
    unit_scores = weighted_sum(
        {**unit, **features.given_files(scores)}, weights.definition, len(features.candidates.units)
    )
    return _promote_files(file, scores, is_main), _promote_units(unit, unit_scores, is_main[row])


def weighted_sum(features: Mapping[str, Floats], weights: Mapping[str, float], rows: int) -> Floats:
    """Return the weighted sum of features; a missing feature counts nothing."""
    total = np.zeros(rows)
    for name, weight in weights.items():
        if name in features:
            total += weight * features[name]
    return total


def _promote_files(file: Mapping[str, Floats], scores: Floats, is_main: NDArray[np.bool_]) -> Floats:
    """Put files whose path the goal names first, and files whose definitions it names among the first five.

    The file where a stack trace ends is the second at least: as often the fault is in one that called it. A
    test or an example that is named comes among the first five as well.
    """
    if not len(scores):
        return scores
    is_named = file["m.path"] >= _NAMED
    # Among themselves they keep their order; the others stay as far behind the best as they were.
    order = (scores - scores.min()) / max(float(np.ptp(scores)), 1e-9)
    raised = np.where(is_named & is_main, scores.max() + 1e-3 * (1.0 + order), scores)
    is_certain = np.maximum.reduce([file["m.frame"], file["m.dot"], file["def.umax"]]) >= _CERTAIN
    raised = _among_first(raised, is_named | (is_main & is_certain), _NAMED_FILES)
    return _among_first(raised, file["m.crash"] > 0, _CRASHED_FILES)


def _promote_units(unit: Mapping[str, Floats], scores: Floats, is_main: NDArray[np.bool_]) -> Floats:
    """Put the function where a trace ends first, and what traces and qualified names mean among the first."""
    if not len(scores):
        return scores
    is_certain = np.maximum.reduce([unit["m.frame"], unit["m.dot"], unit["def.unit"]]) >= _CERTAIN
    raised = _among_first(scores, is_main & is_certain, _NAMED_UNITS)
    return np.where(unit["m.crash"] > 0, raised.max() + 1e-3, raised)


def _among_first(scores: Floats, shown: NDArray[np.bool_], places: int) -> Floats:
    """Raise what is shown to the score of the last of the first places, a little less for each after it."""
    last = float(np.sort(scores)[::-1][min(places, len(scores)) - 1])
    below = np.flatnonzero(shown & (scores < last))
    below = below[np.argsort(-scores[below], kind="stable")][:places]
    raised = scores.copy()
    raised[below] = last + 1e-6 * np.arange(len(below), 0, -1)
    return raised


def chance_features(scores: Floats, kinds: NDArray[np.integer], confidence: float) -> dict[str, Floats]:
    """Return what tells how likely units are: their scores, descending, their kinds, and the confidence."""
    return {
        "bias": np.ones(len(scores)),
        "behind": scores - scores.max(initial=-np.inf) if len(scores) else scores,
        "place": np.log1p(np.arange(len(scores))),
        "gap": (kinds == GAP).astype(np.float64),
        "confidence": np.full(len(scores), confidence),
    }


def predict_chances(features: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """Return each unit's calibrated chance, 0 to 1, that the goal's work touches it."""
    return np.asarray(1.0 / (1.0 + np.exp(-weighted_sum(features, weights, len(features["bias"])))))


def _with_hints(units: Sequence[ScoredUnit], goal: ParsedGoal) -> tuple[ScoredUnit, ...]:
    """Return units with chances that respect calls in the goal, and tests within sources of Rust."""
    called = set(_CALL.findall(goal.text))
    wants_tests = FileKind.TESTS in goal.aims.kinds
    leaves = Counter(unit.name.rpartition(".")[2] for unit in units if called and _is_code(unit))

    def read(unit: ScoredUnit) -> ScoredUnit:
        if unit.path.endswith(".rs") and unit.name.startswith(_INLINE_TESTS) and not wants_tests:
            return unit._replace(chance=_INLINE_TEST_SHARE * unit.chance)
        leaf = unit.name.rpartition(".")[2]
        if leaf in called and leaves[leaf] <= 2 and _is_code(unit):
            return unit._replace(chance=max(unit.chance, _CALLED_CHANCE))
        return unit

    return tuple(map(read, units))


def _is_code(unit: ScoredUnit) -> bool:
    """Return whether a unit is a function of some lines, and no test."""
    return unit.kind == FUNCTION and unit.end > unit.start and not is_run_as_test(unit.path)


def _scored_files(features: Features, scores: Floats) -> tuple[ScoredFile, ...]:
    candidates, reasons = features.candidates, features.named.file_reasons
    paths = candidates.corpus.index.paths
    order = np.argsort(-scores, kind="stable").tolist()
    # Only differences of scores mean something: the best file gets 1, the others a share of it.
    shares = np.exp(scores - scores.max(initial=-np.inf)) if len(scores) else scores
    files = [int(candidates.files[row]) for row in order]
    return tuple(
        ScoredFile(paths[file], float(shares[row]), (reasons[file],) if file in reasons else ())
        for file, row in zip(files, order, strict=True)
    )


def _scored_units(features: Features, scores: Floats, rows: Ints, chances: Floats) -> tuple[ScoredUnit, ...]:
    candidates, reasons = features.candidates, features.named.unit_reasons
    index = candidates.corpus.index
    found = []
    units = candidates.units[rows].tolist()
    for row, unit, chance in zip(rows.tolist(), units, chances.tolist(), strict=True):
        file = int(candidates.files[candidates.file_row[row]])
        reason = (reasons[unit],) if unit in reasons else ()
        found.append(_scored_unit(index, file, unit, float(scores[row]), reason)._replace(chance=chance))
    return tuple(found)


def _scored_unit(
    index: Index, file: int, unit: int, score: float = -math.inf, reasons: tuple[str, ...] = ()
) -> ScoredUnit:
    definition = int(index.units.definition[unit])
    return ScoredUnit(
        index.paths[file],
        int(index.units.start[unit]),
        int(index.units.end[unit]),
        index.qualified_name(file, definition) if definition >= 0 else "",
        int(index.units.kind[unit]),
        score,
        reasons,
    )


def _spelled(features: Features) -> tuple[ScoredUnit, ...]:
    index = features.candidates.corpus.index
    return tuple(
        _scored_unit(index, file, unit, 0.0)
        if unit >= 0
        else ScoredUnit(index.paths[file], 1, max(int(index.files.lines[file]), 1), "", GAP, 0.0, ())
        for file, unit in spelled_places(features.candidates, features.goal, features.named)
    )


def _with_asked_text(index: Index, relevance: Relevance) -> Relevance:
    """Put the text that the goal asks for, such as a page's template, beside the code that names it."""
    goal = relevance.goal
    said = {term for part in (GoalPart.TITLE, GoalPart.PROSE) for term in goal.terms.get(part, ())}
    # A word by itself: the ``page`` of ``users_page`` asks for none.
    terms = frozenset(term for term in said if terms_of(goal.surface.get(term, ""))[:1] == (term,))
    references = file_references_of(index)
    asked: dict[str, tuple[ScoredUnit, str]] = {}
    for unit in (each for each in relevance.units[:_MAX_NAMING] if each.kind != GAP):
        for each in references.references_between(index.file_id(unit.path) or 0, unit.start, unit.end):
            text = each.target[0]
            is_sure = each.confidence >= Confidence.LIKELY and index.paths[text] not in asked
            if is_sure and _is_text(index, text) and _asks_for(index, terms, text):
                asked[index.paths[text]] = (unit, _reason_of(index, each))
    if not asked:
        return relevance
    files = {file.path: file for file in relevance.files}
    units = {(unit.path, unit.start): unit for unit in relevance.units}
    for path, (unit, reason) in asked.items():
        file = files.get(path, ScoredFile(path, 0.0, ()))
        score = max(file.score, _SHARE_OF_NAMING * files[unit.path].score)
        files[path] = file._replace(score=score, reasons=(reason,))
        for own in units_of(index, path)[:_MAX_ASKED]:
            known = units.get((path, own.start), own)
            units[path, own.start] = known._replace(
                score=max(known.score, unit.score), chance=max(known.chance, unit.chance), reasons=(reason,)
            )
    return relevance._replace(
        files=tuple(sorted(files.values(), key=lambda file: -file.score)),
        units=tuple(sorted(units.values(), key=lambda unit: -unit.score)[:MAX_UNITS]),
        asked=frozenset(asked),
    )


def _is_text(index: Index, file: int) -> bool:
    """Return whether a file is text that somebody writes by hand."""
    role = language_named(index.language(file)).role
    is_written = role is not LanguageRole.CODE or is_template(index.paths[file])
    return is_written and not int(index.files.flags[file]) & int(GENERATED_OR_VENDORED)


def _asks_for(index: Index, terms: frozenset[str], file: int) -> bool:
    """Return whether the terms of a goal say the kind of a file of text: its template, the SQL, a fixture."""
    path = index.paths[file]
    suffixes = path.rpartition("/")[2].lower().split(".")[1:]
    called = [*suffixes, *(_CALLED.get(f".{suffix}", "") for suffix in suffixes)]
    called += [_TEMPLATE] if is_template(path) else []
    called += [_TEST_DATA] if index.files.is_test(file) else []
    return not terms.isdisjoint(term for word in tokenize(" ".join(called)) for term in terms_of(word))


def _reason_of(index: Index, relation: Relation) -> str:
    """Return who names a text: ``rendered by `users_page` in line 31``."""
    file, row = relation.source
    who = index.qualified_name(file, row) if row >= 0 else index.paths[file]
    likely = "" if relation.confidence is Confidence.RESOLVED else "likely "
    return f"{likely}{_VERBS.get(relation.kind, 'named by')} `{who}` in line {relation.line}"


def units_of(index: Index, path: str) -> list[ScoredUnit]:
    """Return the units of a file, in its order, without scores."""
    file = index.file_id(path)
    assert file is not None
    rows = range(int(index.units.file_start[file]), int(index.units.file_start[file + 1]))
    return [_scored_unit(index, file, row) for row in rows]
