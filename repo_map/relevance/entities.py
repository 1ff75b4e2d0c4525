"""Which files and definitions a text names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.relevance.called_files import find_called
from repo_map.relevance.commit_mentions import find_commits
from repo_map.relevance.commit_votes import AlignedHistory
from repo_map.relevance.corpus import Candidates, Corpus, Floats, Ints, scaled
from repo_map.relevance.goal import GoalPart, ParsedGoal
from repo_map.relevance.located import MOST_FILES_OF_A_NAME, files_at, is_whole, unit_named_by, units_of_frame
from repo_map.relevance.priors import are_intended, are_main
from repo_map.relevance.quotations import find_quotations
from repo_map.text.terms import terms_of, words
from repo_map.worktree.places import names_of

_MOST_NAMESAKES = 40
"""A name with more definitions than this says nothing about any of them."""
_IDENTIFIER_WEIGHT = {
    GoalPart.TITLE: 1.0,
    GoalPart.INLINE: 1.0,
    GoalPart.PROSE: 0.8,
    GoalPart.ERROR: 0.5,
    GoalPart.CODE: 0.35,
}
_FRAME_DECAY = 0.3


class CrashSite(NamedTuple):
    """Where a stack trace says that it broke."""

    file: int
    unit: int


@dataclass
class EntityMatches:
    """Strength, between 0 and 1, with which the goal names files and units, and what it calls them."""

    aimed: NDArray[np.bool_]
    """Whether each file is of a kind that the goal asks for, such as a test."""
    established: NDArray[np.bool_]
    """Whether the past vouches for each file."""
    paths: dict[int, float] = field(default_factory=dict)
    """File → strength of a path or file name in the goal."""
    folders: dict[int, float] = field(default_factory=dict)
    """File → strength of a folder or module path."""
    frames: dict[int, float] = field(default_factory=dict)
    frame_units: dict[int, float] = field(default_factory=dict)
    crash: CrashSite | None = None
    dotted: dict[int, float] = field(default_factory=dict)
    dotted_units: dict[int, float] = field(default_factory=dict)
    rare_folders: dict[int, float] = field(default_factory=dict)
    """File → strength of a word of the title that its folder is called like, and few others."""
    quoted: dict[int, float] = field(default_factory=dict)
    quoted_units: dict[int, float] = field(default_factory=dict)
    """File, unit → strength of what the goal quotes of it."""
    committed: dict[int, float] = field(default_factory=dict)
    committed_units: dict[int, float] = field(default_factory=dict)
    """File, unit → strength of the commits that the goal names."""
    definitions: dict[int, float] = field(default_factory=dict)
    """Unit → strength of the identifiers that it defines."""
    evidence: dict[tuple[str, int], str] = field(default_factory=dict)
    """(Signal, file or unit) → what the goal wrote."""
    found: set[str] = field(default_factory=set)
    """Identifiers, paths and names of the goal that the repository has."""
    ambiguous: dict[str, int] = field(default_factory=dict)
    """Identifier → number of definitions, for those with several."""

    @property
    def files(self) -> tuple[Mapping[int, float], ...]:
        """Strengths of files, one mapping for each way to name them."""
        outright = (self.paths, self.frames, self.dotted, self.folders)
        return (*outright, self.rare_folders, self.quoted, self.committed)


def find_named(corpus: Corpus, goal: ParsedGoal, past: AlignedHistory | None = None) -> EntityMatches:
    """Look up everything that the goal names or quotes."""
    established = np.ones(len(corpus.index.paths), np.bool_) if past is None else past.established
    named = EntityMatches(are_intended(corpus, goal.aims.kinds), established)
    _find_frames(corpus, goal, named)
    named.crash = _find_crash(corpus, goal, named)
    frame_names = {frame.path for frame in goal.frames if not frame.linked}
    _find_paths(corpus, [path for path in goal.paths if path not in frame_names], named)
    for file, strength, name in find_called(corpus, goal.title):
        if _strengthen(named.paths, file, strength):
            named.evidence["path", file] = name
    _find_dotted(corpus, goal.dotted, named)
    _find_definitions(corpus, goal, named)
    _find_rare_folders(corpus, goal, named)
    _find_quotations(corpus, goal, named)
    if past is not None:
        _find_commits(corpus, goal, past, named)
    return named


_LONGEST_QUOTE: Final = 60
"""Characters of a quotation that are shown."""
_IN_PASSING: Final = 0.5
"""What a quotation is worth that is not what the goal is about, and a number in one of the newest commits."""


def _find_quotations(corpus: Corpus, goal: ParsedGoal, named: EntityMatches) -> None:
    quotations = find_quotations(corpus, goal)
    for each in quotations:
        is_outright = each.is_outright and named.established[each.file]
        strength = (1.0 if is_outright else _IN_PASSING) / len(quotations) ** 0.5
        if _strengthen(named.quoted, each.file, strength):
            named.evidence["quoted", each.file] = _start(each.text)
        if _strengthen(named.quoted_units, each.unit, strength):
            named.evidence["quoted unit", each.unit] = _start(each.text)


def _start(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _LONGEST_QUOTE else f"{plain[:_LONGEST_QUOTE].rpartition(' ')[0]} …"


def _find_commits(corpus: Corpus, goal: ParsedGoal, past: AlignedHistory, named: EntityMatches) -> None:
    for commit in find_commits(goal.text, names_of(corpus.index.place), past):
        if len(commit.files):
            named.found.add(commit.written)
        for key, scores, found in (
            ("commit", named.committed, commit.files),
            ("commit unit", named.committed_units, commit.units),
        ):
            for each in found.tolist():
                if _strengthen(scores, each, (1.0 if commit.is_sure else _IN_PASSING) / len(found) ** 0.5):
                    named.evidence[key, each] = commit.title


def _strengthen(scores: dict[int, float], key: int, strength: float) -> bool:
    if strength > scores.get(key, 0.0):
        scores[key] = strength
        return True
    return False


def _find_frames(corpus: Corpus, goal: ParsedGoal, named: EntityMatches) -> None:
    resolved = [
        (frame, file, surety)
        for frame in goal.frames
        for file, surety in _established_first(files_at(corpus, frame.path), named)
    ]
    innermost_last = any(frame.path.endswith((".py", ".pyx")) and frame.function for frame in goal.frames)
    if innermost_last:
        resolved.reverse()
    for depth, (frame, file, surety) in enumerate(resolved):
        strength = surety / (1.0 + _FRAME_DECAY * depth)
        named.found.add(frame.path)
        if _strengthen(named.frames, file, strength):
            named.evidence["frame", file] = f"{frame.path}:{frame.line}" if frame.line else frame.path
        for unit, share in units_of_frame(corpus, frame, file):
            if _strengthen(named.frame_units, unit, strength * share):
                named.evidence["frame unit", unit] = frame.function or f"line {frame.line}"


def _established_first(files: list[tuple[int, float]], named: EntityMatches) -> list[tuple[int, float]]:
    """Return of namesakes those that the past vouches for, where there are any."""
    known = [(file, surety) for file, surety in files if named.established[file]] or files
    return [(file, surety * (len(files) / len(known)) ** 0.5) for file, surety in known]


def _find_crash(corpus: Corpus, goal: ParsedGoal, named: EntityMatches) -> CrashSite | None:
    """Return the innermost place of the trace that is the repository's own and no test or copy."""
    for frame in goal.crash:
        files = _established_first(files_at(corpus, frame.path), named)
        if not is_whole(files):
            continue
        mains = are_main(corpus, np.array([file for file, _ in files]), named.aimed)
        for (file, _), is_main in zip(files, mains.tolist(), strict=True):
            unit = unit_named_by(corpus, frame, file) if is_main else -1
            if unit >= 0:
                return CrashSite(file, unit)
    return None


def _find_paths(corpus: Corpus, paths: Iterable[str], named: EntityMatches) -> None:
    for path in paths:
        matches = _established_first(files_at(corpus, path), named)
        for file, surety in matches:
            named.found.add(path)
            if _strengthen(named.paths, file, surety):
                named.evidence["path", file] = path
        if not matches and "/" in path:
            _find_folder(corpus, path, named)


def _find_folder(corpus: Corpus, path: str, named: EntityMatches) -> None:
    """Find a path without suffix: a module as imports write it (``dayjs/plugin/utc``), or a folder."""
    parts = [part for part in path.split("/") if part]
    stem = re.sub(r"\.\w+$", "", parts[-1]) if parts else ""
    if len(parts) < 2 or not stem:
        return
    tail = f"/{parts[-2]}/{stem}".lower()
    found = [
        (file, f"{tail}.")
        for file, known in enumerate(corpus.lowered_paths)
        if f"{tail}." in known or f"{tail}/" in known
    ]
    if 0 < len(found) <= 2 * MOST_FILES_OF_A_NAME:
        named.found.add(path)
        for file, as_file in found:
            strength = (1.0 if as_file in corpus.lowered_paths[file] else 0.7) / len(found) ** 0.5
            if _strengthen(named.folders, file, strength):
                named.evidence["folder", file] = path


_MOST_IN_FOLDER: Final = 12
_SHARE_IN_FOLDER: Final = 0.05
_SHARE_OF_UNITS: Final = 0.02
_MOST_UNITS: Final = 5
_RARE_FOLDER: Final = 0.69


def _find_rare_folders(corpus: Corpus, goal: ParsedGoal, named: EntityMatches) -> None:
    """Find folders that are called like a word of the title, where few files have the word on their path.

    Such a word tells where, however common the title's other words are in the text of the code.
    """
    most = min(_MOST_IN_FOLDER, max(2, int(_SHARE_IN_FOLDER * len(corpus.index.paths))))
    for term in goal.terms[GoalPart.TITLE]:
        word = goal.surface.get(term, "")
        files = corpus.files_with_path_term.get(term, [])
        if not word or not 0 < len(files) <= most or not _is_rare(corpus, term):
            continue
        inside = [
            file
            for file in files
            if any(terms_of(part) == (term,) for part in corpus.index.paths[file].split("/")[:-1])
        ]
        inside = [
            file
            for file, is_main in zip(
                inside, are_main(corpus, np.array(inside, np.int64), named.aimed), strict=True
            )
            if is_main
        ]
        for file in inside:
            if _strengthen(named.rare_folders, file, _RARE_FOLDER / len(inside) ** 0.25):
                named.evidence["folder", file] = word


def _is_rare(corpus: Corpus, term: str) -> bool:
    found = corpus.index.terms.get(term)
    most = max(_MOST_UNITS, _SHARE_OF_UNITS * len(corpus.index.units.start))
    return found is None or int(corpus.term_postings[found]) <= most


def _find_dotted(corpus: Corpus, names: Iterable[str], named: EntityMatches) -> None:
    for name in names:
        parts = name.split(".")
        for at in range(len(parts) - 1, 0, -1):
            if _find_qualified(corpus, name, parts[at], parts[at - 1], named):
                named.found.add(name)
                break
        _find_module(corpus, name, parts, named)


def _find_qualified(corpus: Corpus, name: str, leaf: str, holder: str, named: EntityMatches) -> bool:
    """Find definitions of ``leaf`` inside a class, file or folder called ``holder``."""
    symbols = corpus.index.symbols
    wanted = corpus.index.strings.get(leaf)
    if wanted is None or not 0 < corpus.definition_counts[wanted] <= 400:
        return False
    hits: list[int] = []
    for symbol in np.flatnonzero(symbols.name == wanted).tolist():
        file = int(corpus.file_of_symbol[symbol])
        parent = int(symbols.parent[symbol])
        inside = (
            corpus.index.strings[int(symbols.name[symbols.file_start[file] + parent])] if parent >= 0 else ""
        )
        inside = inside.split("<")[0].split(" for ")[-1]
        folders = corpus.index.paths[file].rsplit(".", 1)[0].split("/")
        if holder == inside.rpartition(".")[2] or (parent < 0 and holder in folders[-2:]):
            hits.append(symbol)
    if not 0 < len(hits) <= MOST_FILES_OF_A_NAME:
        return False
    for symbol in hits:
        file, unit = int(corpus.file_of_symbol[symbol]), int(corpus.unit_of_symbol[symbol])
        strength = 1.0 / len(hits) ** 0.5
        if _strengthen(named.dotted, file, strength):
            named.evidence["dotted", file] = name
        if unit >= 0 and _strengthen(named.dotted_units, unit, strength):
            named.evidence["dotted unit", unit] = name
    return True


def _find_module(corpus: Corpus, name: str, parts: list[str], named: EntityMatches) -> None:
    """Find a file by its import path: ``astropy.modeling.separable`` is ``astropy/modeling/separable.py``."""
    for length in range(len(parts), 1, -1):
        tail = "/" + "/".join(parts[:length]).lower()
        found = [
            file for stem in (".", "/__init__.", "/mod.", "/index.") for file in _ending(corpus, tail + stem)
        ]
        if 0 < len(found) <= MOST_FILES_OF_A_NAME:
            named.found.add(name)
            for file in found:
                if _strengthen(named.folders, file, 0.8 / len(found) ** 0.5):
                    named.evidence["folder", file] = name
            return


def _ending(corpus: Corpus, tail: str) -> list[int]:
    last_two = "/" + "/".join(tail.split("/")[-2:])
    return [file for file in corpus.files_of_tail.get(last_two, []) if tail in corpus.lowered_paths[file]]


def _find_definitions(corpus: Corpus, goal: ParsedGoal, named: EntityMatches) -> None:
    """Look identifiers up where they are defined; the rarer the name, the stronger the evidence."""
    symbols, strings = corpus.index.symbols, corpus.index.strings
    wanted: dict[int, tuple[str, float]] = {}
    for name, source in goal.identifiers.items():
        found = strings.get(name)
        if found is None:
            continue
        count = int(corpus.definition_counts[found])
        if count:
            named.found.add(name)
            if count > 1:
                named.ambiguous[name] = count
        if 0 < count <= _MOST_NAMESAKES:
            wanted[found] = (name, _IDENTIFIER_WEIGHT[source] / (1.0 + np.log2(count)))
    if not wanted:
        return
    mask = np.zeros(len(strings), np.bool_)
    mask[list(wanted)] = True
    for symbol in np.flatnonzero(mask[symbols.name]).tolist():
        unit = int(corpus.unit_of_symbol[symbol])
        name, strength = wanted[int(symbols.name[symbol])]
        if unit >= 0 and _strengthen(named.definitions, unit, strength):
            named.evidence["definition", unit] = name


def file_mentions(candidates: Candidates, named: EntityMatches) -> dict[str, Floats]:
    """Return how strongly the goal names each candidate file."""
    # The only file of a rare folder comes into sight.
    alone = {file: 1.0 for file, strength in named.rare_folders.items() if strength >= _RARE_FOLDER}
    strengths = {
        "m.path": _stronger(named.paths, named.quoted, named.committed, named.rare_folders),
        "m.folder": named.folders,
        "m.frame": named.frames,
        "m.dot": _stronger(named.dotted, alone),
        "m.crash": {named.crash.file: 1.0} if named.crash else {},
    }
    rows, row_of = len(candidates.files), candidates.row_of_file
    return {name: _spread(each, row_of, rows) for name, each in strengths.items()}


def unit_mentions(candidates: Candidates, named: EntityMatches) -> dict[str, Floats]:
    """Return how strongly the goal names each of their units."""
    strengths = {
        "m.frame": named.frame_units,
        "m.dot": _stronger(named.dotted_units, named.quoted_units, named.committed_units),
        "m.crash": {named.crash.unit: 1.0} if named.crash else {},
        "def.unit": named.definitions,
    }
    rows, row_of = len(candidates.units), candidates.row_of_unit
    return {name: _spread(each, row_of, rows) for name, each in strengths.items()}


def _stronger(*all_strengths: Mapping[int, float]) -> dict[int, float]:
    keys = dict.fromkeys(key for strengths in all_strengths for key in strengths)
    return {key: max(strengths.get(key, 0.0) for strengths in all_strengths) for key in keys}


def _spread(strengths: Mapping[int, float], row_of: Ints, rows: int) -> Floats:
    values = np.zeros(rows)
    for key, strength in strengths.items():
        if row_of[key] >= 0:
            values[row_of[key]] = strength
    return values


def path_gain(corpus: Corpus, goal_weights: Mapping[str, float]) -> Floats:
    """Return for every file the weight of the goal's terms on its path, the rare ones counting more."""
    documents = len(corpus.index.paths)
    gained = np.zeros(documents)
    for term, weight in goal_weights.items():
        files = corpus.files_with_path_term.get(term)
        if files:
            gained[files] += weight * np.log1p((documents - len(files) + 0.5) / (len(files) + 0.5))
    return gained


def path_features(candidates: Candidates, goal_weights: Mapping[str, float]) -> dict[str, Floats]:
    """Return how far the words of each path are words of the goal."""
    corpus = candidates.corpus
    gained = path_gain(corpus, goal_weights)[candidates.files]
    lengths = np.array([len(corpus.path_terms[file]) for file in candidates.files], np.float64)
    mean = float(lengths.mean()) if len(lengths) else 1.0
    return {"path.bm25": scaled(gained / (0.7 + 0.3 * lengths / max(mean, 1.0))), "path.gain": scaled(gained)}


def stem_features(candidates: Candidates, goal: ParsedGoal) -> dict[str, Floats]:
    """Tell whether a file is called like an identifier or word of the goal: ``separable.py``."""
    names = {name.replace("_", "").lower() for name in goal.identifiers}
    names |= {part.replace("_", "").lower() for name in goal.dotted for part in name.split(".")}
    title = {word.replace("_", "").lower() for word in words(goal.title)}
    title |= {
        compound
        for compound in goal.compounds
        if compound in "".join(words(goal.title)).replace("_", "").lower()
    }
    title_terms = goal.terms[GoalPart.TITLE]
    exact = np.zeros(len(candidates.files))
    covered = np.zeros(len(candidates.files))
    for row, file in enumerate(candidates.files.tolist()):
        stem = candidates.corpus.index.paths[file].rpartition("/")[2].split(".")[0]
        plain = stem.replace("_", "").replace("-", "").lower()
        exact[row] = 1.0 if plain in title else 0.7 if plain in names else 0.0
        terms = [term for word in words(stem) for term in terms_of(word)]
        covered[row] = sum(term in title_terms for term in terms) / len(terms) if terms else 0.0
    return {"m.stem": exact, "path.stem": covered}
