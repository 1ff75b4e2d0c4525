"""What a goal names of a repository: paths, places of traces, definitions, folders, literal text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from repo_map.ranking.corpus import Candidates, Corpus, Ints
from repo_map.ranking.goal import GoalPart, ParsedGoal
from repo_map.ranking.goal_places import TraceFrame
from repo_map.ranking.priors import are_auxiliary, are_intended, are_main, file_kind_intents
from repo_map.text.terms import terms_in, terms_of, tokenize

MAX_FILES_OF_NAME: Final = 12
_NAME_ALONE: Final = 0.6
"""Certainty of a path of which only the file name matches."""
_MAX_NAMESAKES: Final = 40
"""A name with more definitions than this says nothing about any of them."""
_IDENTIFIER_WEIGHT: Final = {
    GoalPart.TITLE: 1.0,
    GoalPart.INLINE: 1.0,
    GoalPart.PROSE: 0.8,
    GoalPart.ERROR: 0.5,
    GoalPart.CODE: 0.35,
}
_GUESS_SHARE: Final = 0.5
"""Strength of a name that a caller guesses, relative to one in the goal."""
_FRAME_DECAY: Final = 0.3
_MAX_FILES_OF_STEM: Final = 3
"""Files with the same stem; more of them make it a word rather than a name."""
RARE_FOLDER: Final = 0.69
"""Strength of the only file of a folder that is called like a rare word of the title."""
_MAX_RARE_FILES, _MAX_RARE_SHARE = 12, 0.05
_MAX_RARE_UNITS, _MAX_RARE_UNIT_SHARE = 5, 0.02
MAX_SPELLED: Final = 16
_CERTAIN: Final = 0.57
"""Strength of a name that three places have, each by the root of their number."""
_CERTAIN_FRAME: Final = 0.3
_SPELLED_NAMESAKES: Final = 3
_MIN_STEM_CHARS: Final = 4

_DOTFILE: Final = re.compile(r"(?<![\w/.)\]])\.\w[\w.-]*\w")
_BARE: Final = re.compile(r"\b[A-Z]{4,}\b|(?i:\b(?:readme|changelog|contributing|makefile|dockerfile)\b)")
"""Capitals, and files that everybody knows."""
_JOINED: Final = re.compile(r"(?<![\w/.-])(?:[A-Za-z]\w*(?:[-_]\w+)+|[A-Za-z]{2,}\d{2,})(?![\w/(-])")
"""``test_serving``, ``deploy-docs``, ``lib1560``."""
_LEAD: Final = re.compile(r"^([A-Za-z][\w-]{2,40})(?:\([^)]*\))?:\s")
"""``checksrc: …``."""
_ENDINGS: Final = ("", ".md", ".rst", ".txt", ".adoc", ".mdx")
_PLAIN_WORD: Final = re.compile(r"[A-Za-z]?[a-z]+")
_INSTALLED: Final = re.compile(
    r"(?:^|[/\\])(?:(?:site|dist)-packages|python\d(?:\.\d+)?(?![/\\](?:site|dist)-packages))[/\\](.+)$"
)
"""A path of an installed Python package or of its library."""
_WORD: Final = re.compile(r"[^\W_]+")
_MESSAGE, _SENTENCE = (2, 4), (4, 6)
"""Words of a run that are no stop words, and words: of quoted text and errors, and of the title."""
_VALUE: Final = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|\b\d[\w.]*")
"""What a message has in the place of a variable, and"""
_VARIABLE: Final = re.compile(r"%(?:\(\w+\))?[-+ #0-9.*]*[a-zA-Z]|\$?\{[^{}\n]*\}|#\{[^{}\n]*\}")
"""how the code writes the variable."""
_MAX_LITERAL_WORDS: Final = 400
_MAX_LITERAL_UNITS: Final = 8
"""Units that may contain a run of words: with more of them it is a turn of phrase."""
_MAX_LITERAL_READ: Final = 24
_MAX_LITERALS: Final = 3
_IN_TRACE: Final = "in the stack trace"
_NAMED: Final = "named in the goal"
_LITERAL: Final = "contains the goal's text"


@dataclass
class Mentions:
    """How strongly, between 0 and 1, a goal names files and units, by the way in which it names them."""

    intended: NDArray[np.bool_]
    """Whether each file is of a kind that the goal asks for, such as a test."""
    paths: dict[int, float] = field(default_factory=dict)
    folders: dict[int, float] = field(default_factory=dict)
    frames: dict[int, float] = field(default_factory=dict)
    dotted: dict[int, float] = field(default_factory=dict)
    rare_folders: dict[int, float] = field(default_factory=dict)
    literals: dict[int, float] = field(default_factory=dict)
    frame_units: dict[int, float] = field(default_factory=dict)
    dotted_units: dict[int, float] = field(default_factory=dict)
    literal_units: dict[int, float] = field(default_factory=dict)
    definitions: dict[int, float] = field(default_factory=dict)
    """Unit → strength of the identifiers that it defines."""
    identifier: dict[int, str] = field(default_factory=dict)
    """Unit → the strongest of these identifiers."""
    crash: int = -1
    """The unit where a stack trace says that it broke, -1 for none."""
    file_reasons: dict[int, str] = field(default_factory=dict)
    unit_reasons: dict[int, str] = field(default_factory=dict)
    found: set[str] = field(default_factory=set)
    """Identifiers, paths and names of the goal that the repository has."""


def find_mentions(corpus: Corpus, goal: ParsedGoal) -> Mentions:
    """Look up everything that the goal names."""
    finder = _Finder(corpus, goal, Mentions(are_intended(corpus, goal.aims.kinds)))
    finder.find_frames()
    finder.find_paths()
    finder.find_dotted_names()
    finder.find_identifiers()
    finder.find_rare_folders()
    finder.find_literals()
    return finder.mentions


def _note(strengths: dict[int, float], place: int, strength: float) -> bool:
    """Keep the greatest strength of a place; return whether it is this one."""
    is_stronger = strength > strengths.get(place, 0.0)
    if is_stronger:
        strengths[place] = strength
    return is_stronger


class _Finder:
    """Collects what one goal names in one repository."""

    def __init__(self, corpus: Corpus, goal: ParsedGoal, mentions: Mentions) -> None:
        self._corpus = corpus
        self._goal = goal
        self.mentions = mentions

    def find_frames(self) -> None:
        """Find the files and units of traces and links, and where the trace ends."""
        corpus, found = self._corpus, self.mentions
        resolved = [
            (frame, file, certainty)
            for frame in self._goal.frames
            for file, certainty in files_at(corpus, frame.path)
        ]
        if any(each.path.endswith((".py", ".pyx")) and each.function for each in self._goal.frames):
            resolved.reverse()  # Python's innermost frame is the last.
        for depth, (frame, file, certainty) in enumerate(resolved):
            strength = certainty / (1.0 + _FRAME_DECAY * depth)
            found.found.add(frame.path)
            _note(found.frames, file, strength)
            found.file_reasons.setdefault(file, _IN_TRACE)
            for unit, share in _units_of_frame(corpus, frame, file):
                _note(found.frame_units, unit, strength * share)
                found.unit_reasons.setdefault(unit, _IN_TRACE)
        found.crash = self._find_crash()

    def _find_crash(self) -> int:
        """Return the trace's innermost unit in the repository's own code, no test or copy; -1 for none."""
        for frame in self._goal.crash:
            files = files_at(self._corpus, frame.path)
            # More of the path has to match than the name, which any file may have.
            if not files or files[0][1] * len(files) ** 0.5 <= _NAME_ALONE:
                continue
            mains = are_main(self._corpus, np.array([file for file, _ in files]), self.mentions.intended)
            for (file, _), is_main in zip(files, mains.tolist(), strict=True):
                unit = _unit_named_by(self._corpus, frame, file) if is_main else -1
                if unit >= 0:
                    return unit
        return -1

    def find_paths(self) -> None:
        """Find files by path or name, and folders."""
        found, corpus = self.mentions, self._corpus
        of_frames = {frame.path for frame in self._goal.frames if not frame.linked}
        for path in self._goal.paths:
            matches = [] if path in of_frames else files_at(corpus, path)
            for file, certainty in matches:
                found.found.add(path)
                _note(found.paths, file, certainty)
            if not matches and "/" in path and path not in of_frames:
                self._find_folder(path)
        for file, strength in _files_by_name(corpus, self._goal.title):
            _note(found.paths, file, strength)
        found.file_reasons |= dict.fromkeys((*found.paths, *found.folders), _NAMED)

    def _find_folder(self, path: str) -> None:
        """Find a path without suffix: a module as imports write it (``dayjs/plugin/utc``), or a folder."""
        parts = [part for part in path.split("/") if part]
        stem = re.sub(r"\.\w+$", "", parts[-1]) if parts else ""
        if len(parts) < 2 or not stem:
            return
        tail, known = f"/{parts[-2]}/{stem}".lower(), self._corpus.lowered_paths
        files = [file for file, each in enumerate(known) if f"{tail}." in each or f"{tail}/" in each]
        if 0 < len(files) <= 2 * MAX_FILES_OF_NAME:
            self.mentions.found.add(path)
            for file in files:
                share = 1.0 if f"{tail}." in known[file] else 0.7
                _note(self.mentions.folders, file, share / len(files) ** 0.5)

    def find_dotted_names(self) -> None:
        """Find qualified names: definitions inside a class, file or folder, and modules."""
        for name in self._goal.dotted:
            parts = name.split(".")
            for at in range(len(parts) - 1, 0, -1):
                if self._find_qualified(parts[at], parts[at - 1]):
                    self.mentions.found.add(name)
                    break
            for length in range(len(parts), 1, -1):
                files = self._modules("/" + "/".join(parts[:length]).lower())
                if 0 < len(files) <= MAX_FILES_OF_NAME:
                    self.mentions.found.add(name)
                    for file in files:
                        _note(self.mentions.folders, file, 0.8 / len(files) ** 0.5)
                    break

    def _find_qualified(self, leaf: str, owner: str) -> bool:
        corpus, found = self._corpus, self.mentions
        symbols, strings = corpus.index.symbols, corpus.index.strings
        wanted = strings.get(leaf)
        if wanted is None or not 0 < corpus.definition_counts[wanted] <= 400:
            return False
        hits: list[int] = []
        for symbol in np.flatnonzero(symbols.name == wanted).tolist():
            file, parent = int(corpus.file_of_symbol[symbol]), int(symbols.parent[symbol])
            inside = strings[int(symbols.name[symbols.file_start[file] + parent])] if parent >= 0 else ""
            inside = inside.split("<")[0].split(" for ")[-1]
            folders = corpus.index.paths[file].rsplit(".", 1)[0].split("/")
            if owner == inside.rpartition(".")[2] or (parent < 0 and owner in folders[-2:]):
                hits.append(symbol)
        if not 0 < len(hits) <= MAX_FILES_OF_NAME:
            return False
        for symbol in hits:
            unit = int(corpus.unit_of_symbol[symbol])
            _note(found.dotted, int(corpus.file_of_symbol[symbol]), len(hits) ** -0.5)
            if unit >= 0:
                _note(found.dotted_units, unit, len(hits) ** -0.5)
        return True

    def _modules(self, tail: str) -> list[int]:
        """Return the files of an import path: ``app.models.user`` is ``app/models/user.py``."""
        files: list[int] = []
        for stem in (".", "/__init__.", "/mod.", "/index."):
            end = "/" + "/".join((tail + stem).split("/")[-2:])
            known = self._corpus.files_of_tail.get(end, [])
            files += [file for file in known if tail + stem in self._corpus.lowered_paths[file]]
        return files

    def find_identifiers(self) -> None:
        """Look identifiers up where they are defined; the rarer the name, the stronger the evidence."""
        corpus, found = self._corpus, self.mentions
        symbols, strings = corpus.index.symbols, corpus.index.strings
        wanted: dict[int, tuple[str, float]] = {}
        for name, source in self._goal.identifiers.items():
            known = strings.get(name)
            count = int(corpus.definition_counts[known]) if known is not None else 0
            if count:
                found.found.add(name)
            if known is not None and 0 < count <= _MAX_NAMESAKES:
                share = _GUESS_SHARE if name in self._goal.guesses else 1.0
                wanted[known] = (name, share * _IDENTIFIER_WEIGHT[source] / (1.0 + np.log2(count)))
        if not wanted:
            return
        mask = np.zeros(len(strings), np.bool_)
        mask[list(wanted)] = True
        for symbol in np.flatnonzero(mask[symbols.name]).tolist():
            unit = int(corpus.unit_of_symbol[symbol])
            name, strength = wanted[int(symbols.name[symbol])]
            if unit >= 0 and _note(found.definitions, unit, strength):
                found.identifier[unit] = name

    def find_rare_folders(self) -> None:
        """Find folders that are called like a word of the title, if few files have the word on their path.

        Such a word tells where, however common the title's other words are in the text of the code.
        """
        corpus, found = self._corpus, self.mentions
        paths = corpus.index.paths
        most = min(_MAX_RARE_FILES, max(2, int(_MAX_RARE_SHARE * len(paths))))
        for term in self._goal.terms[GoalPart.TITLE]:
            files = corpus.files_with_path_term.get(term, [])
            if term not in self._goal.surface or not 0 < len(files) <= most or not _is_rare(corpus, term):
                continue
            inside = np.array(
                [
                    file
                    for file in files
                    if any(terms_of(part) == (term,) for part in paths[file].split("/")[:-1])
                ],
                np.int64,
            )
            inside = inside[are_main(corpus, inside, found.intended)]
            for file in inside.tolist():
                _note(found.rare_folders, file, RARE_FOLDER / len(inside) ** 0.25)

    def find_literals(self) -> None:
        """Find the units that contain messages or other text of the goal word for word."""
        units = _literal_units(self._corpus, self._goal)
        for unit in units:
            file = int(self._corpus.file_of_unit[unit])
            strength = len(units) ** -0.5
            _note(self.mentions.literals, file, strength)
            _note(self.mentions.literal_units, unit, strength)
            self.mentions.file_reasons.setdefault(file, _LITERAL)
            self.mentions.unit_reasons.setdefault(unit, _LITERAL)


def _literal_units(corpus: Corpus, goal: ParsedGoal) -> list[int]:
    """Return the units that contain the goal's quoted text, error messages or title, at most three.

    A message of the code may have values filled in, so runs of some words are compared. Code comes before
    tests and documents, which repeat what it says.
    """
    runs = [run for text in goal.messages for run in _runs(_VALUE.sub(" ", text), *_MESSAGE)]
    runs = [*runs, *_runs(goal.title, *_SENTENCE)][:_MAX_LITERAL_WORDS]
    units_of: dict[str, Ints] = {}
    texts: dict[int, str] = {}
    hits: Counter[int] = Counter()
    for run in runs:
        for unit in _units_with(corpus, run, units_of):
            if unit not in texts and len(texts) < _MAX_LITERAL_READ:
                texts[unit] = _joined(_WORD.findall(_text(corpus, unit)))
            if unit in texts and _joined(run) in texts[unit]:
                hits[unit] += 1
    if not hits:
        return []
    units = np.array(sorted(hits), np.int64)
    main = are_main(corpus, corpus.file_of_unit[units], np.zeros(len(corpus.index.paths), np.bool_))
    kept = (units[main] if main.any() else units).tolist()
    most = max(hits[unit] for unit in kept)
    best = [unit for unit in kept if hits[unit] > most // 2]
    return best if len(best) <= _MAX_LITERALS else []


def _runs(text: str, telling: int, total: int) -> Iterator[list[str]]:
    """Yield the shortest runs of words that have enough telling ones, one from each word on."""
    words = _WORD.findall(text)
    for first in range(len(words)):
        number = 0
        for end in range(first + 1, len(words) + 1):
            number += bool(_terms(words[end - 1]))
            if number >= telling and end - first >= total:
                yield words[first:end]
                break


def _terms(word: str) -> tuple[str, ...]:
    return terms_of(word)[:1] if len(word) > 2 and not word[0].isdigit() else ()


def _units_with(corpus: Corpus, run: Sequence[str], units_of: dict[str, Ints]) -> list[int]:
    found: Ints | None = None
    for term in dict.fromkeys(term for word in run for term in _terms(word)):
        if term not in units_of:
            units_of[term] = corpus.units_with(term)
        known = units_of[term]
        found = known if found is None else np.intersect1d(found, known, assume_unique=True)
        if not len(found):
            return []
    return found.tolist() if found is not None and len(found) <= _MAX_LITERAL_UNITS else []


def _text(corpus: Corpus, unit: int) -> str:
    index = corpus.index
    lines = index.sources.text(int(corpus.file_of_unit[unit])).split("\n")
    text = "\n".join(lines[int(index.units.start[unit]) - 1 : int(index.units.end[unit])])
    return _VARIABLE.sub(" ", text)


def _joined(words: Sequence[str]) -> str:
    return f" {' '.join(words)} ".lower()


def files_at(corpus: Corpus, path: str) -> list[tuple[int, float]]:
    """Return the files that a path as written may mean, each with how surely.

    The longest common tail of components wins, so that paths of another machine are found:
    ``/usr/lib/python3/site-packages/app/core.py`` means ``src/app/core.py``.
    """
    wanted = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..", "~")]
    if not wanted:
        return []
    name, paths = wanted[-1].lower(), corpus.index.paths
    files = corpus.files_of_name.get(name) or corpus.files_of_name.get(f".{name}", [])
    depth = {file: _common_tail(wanted, paths[file].split("/")) for file in files}
    if installed := _INSTALLED.search(path):
        # Installed packages keep their folders: a file that lacks them is a namesake in another project.
        least = len(re.split(r"[/\\]", installed[1]))
        depth = {
            file: tail for file, tail in depth.items() if tail >= least or tail == paths[file].count("/") + 1
        }
    if not depth:
        return []
    deepest = max(depth.values())
    best = [file for file in files if depth.get(file) == deepest]
    if len(best) > MAX_FILES_OF_NAME:
        return []
    is_whole = deepest in (len(wanted), paths[best[0]].count("/") + 1)
    certainty = 1.0 if deepest > 1 or is_whole else _NAME_ALONE
    return [(file, certainty / len(best) ** 0.5) for file in best]


def _common_tail(wanted: Sequence[str], parts: Sequence[str]) -> int:
    count = 0
    for a, b in zip(reversed(wanted), reversed(parts), strict=False):
        if a.lower() != b.lower():
            break
        count += 1
    return count


def _units_of_frame(corpus: Corpus, frame: TraceFrame, file: int) -> Iterator[tuple[int, float]]:
    """Yield the units that a frame points to: by function name, else by line."""
    at_line = corpus.unit_at(file, frame.line) if frame.line else -1
    by_name = _units_called(corpus, file, frame.function.rpartition(".")[2])
    if at_line in by_name:
        by_name = {at_line}
    if by_name:
        yield from ((unit, len(by_name) ** -0.5) for unit in sorted(by_name))
    elif at_line >= 0:
        yield at_line, 0.7


def _unit_named_by(corpus: Corpus, frame: TraceFrame, file: int) -> int:
    """Return the unit that a frame is in, -1 if the file lacks its function: it is a namesake then."""
    name = frame.function.rpartition(".")[2]
    at_line = corpus.unit_at(file, frame.line) if frame.line else -1
    if not name.isidentifier():
        # What has no name of its own, such as ``<listcomp>`` or ``lambda$0``, is found by its line.
        return at_line
    found = _units_called(corpus, file, name)
    starts = corpus.index.units.start
    nearest = min(sorted(found), key=lambda unit: abs(int(starts[unit]) - frame.line), default=-1)
    return at_line if at_line in found else nearest


def _units_called(corpus: Corpus, file: int, name: str) -> set[int]:
    """Return the units of a file's definitions of a name; Go's methods have their type's name before it."""
    symbols = corpus.index.symbols
    first, last = int(symbols.file_start[file]), int(symbols.file_start[file + 1])
    known = enumerate(corpus.index.strings.many(symbols.name[first:last]), first)
    rows = (row for row, each in known if name and re.split(r"\.|::", each)[-1] == name)
    return {int(corpus.unit_of_symbol[row]) for row in rows} - {-1}


def _files_by_name(corpus: Corpus, title: str) -> Iterator[tuple[int, float]]:
    """Yield each file that a title calls by name, without a path, and how surely."""
    for match in _DOTFILE.finditer(title):
        files = corpus.files_of_name.get(match[0].lower(), [])
        yield from ((file, 1.0) for file in _outermost(corpus, files, title))
    for match in _BARE.finditer(title):
        names = (match[0].lower() + ending for ending in _ENDINGS)
        files = [file for name in names for file in corpus.files_of_name.get(name, ())]
        yield from ((file, 1.0) for file in _outermost(corpus, files, title))
    for match in _JOINED.finditer(title):
        yield from ((file, 0.8) for file in _of_stem(corpus, match[0]))
    if (lead := _LEAD.match(title)) and not file_kind_intents(lead[0]).kinds:
        # What leads a commit's message is often a folder or a topic: of code that says little.
        led = np.array(_of_stem(corpus, lead[1]), np.int64)
        yield from ((file, 0.8) for file in led[are_auxiliary(corpus, led) > 0].tolist())


def _of_stem(corpus: Corpus, stem: str) -> list[int]:
    files = corpus.files_of_stem.get(stem.lower(), [])
    return files if len(files) <= _MAX_FILES_OF_STEM else []


def _outermost(corpus: Corpus, files: Sequence[int], title: str) -> list[int]:
    """Return the files in the folder that the title names best or, if it names none, nearest the root."""
    said = terms_in(title)
    values = [(len(said & corpus.path_terms[file]), -corpus.index.paths[file].count("/")) for file in files]
    best = max(values, default=(0, 0))
    return [file for file, own in zip(files, values, strict=True) if own == best][:_MAX_FILES_OF_STEM]


def _is_rare(corpus: Corpus, term: str) -> bool:
    found = corpus.index.terms.get(term)
    most = max(_MAX_RARE_UNITS, _MAX_RARE_UNIT_SHARE * len(corpus.index.units.start))
    return found is None or int(corpus.term_postings[found]) <= most


def _is_everyday(corpus: Corpus, name: str) -> bool:
    """Return whether a name is one plain word that much of the code has: who writes it may mean no name."""
    found = terms_of(name)
    return bool(_PLAIN_WORD.fullmatch(name)) and len(found) == 1 and not _is_rare(corpus, found[0])


def spelled_places(candidates: Candidates, goal: ParsedGoal, named: Mentions) -> list[tuple[int, int]]:
    """Return the file and the unit of each place that the goal names, -1 for a whole file; surest first.

    Tests and copies are no such places, unless the goal asks for them.
    """
    corpus = candidates.corpus
    main = set(candidates.files[candidates.main].tolist())
    found = [*_spelled_units(corpus, goal, named, main)]
    found += [(file, -1) for file in _by_strength(named.paths, _CERTAIN)]
    for word in dict.fromkeys(word.lower() for word in tokenize(goal.title)):
        files = corpus.files_of_stem.get(word, []) if len(word) >= _MIN_STEM_CHARS else []
        inside = sorted(main.intersection(files))
        if 0 < len(inside) <= _SPELLED_NAMESAKES and not _is_everyday(corpus, word):
            found += [(file, -1) for file in inside]
    places = [place for place in found if place[0] in main]
    # A path that is written out is meant, whatever its kind.
    others = [file for file in _by_strength(named.paths, _CERTAIN) if file not in main]
    places += [(file, -1) for file in others]
    return list(dict.fromkeys(places))[:MAX_SPELLED]


def _by_strength(strengths: Mapping[int, float], least: float) -> list[int]:
    kept = [place for place, strength in strengths.items() if strength >= least]
    return sorted(kept, key=lambda place: (-strengths[place], place))


def _spelled_units(
    corpus: Corpus, goal: ParsedGoal, named: Mentions, main: Collection[int]
) -> Iterable[tuple[int, int]]:
    units = [named.crash] if named.crash >= 0 else []
    for strengths, least in (
        (named.dotted_units, _CERTAIN),
        (named.frame_units, _CERTAIN_FRAME),
        (named.literal_units, _CERTAIN),
    ):
        units += _by_strength(strengths, least)
    own = (GoalPart.TITLE, GoalPart.INLINE, GoalPart.PROSE)
    said = {name for name, source in goal.identifiers.items() if source in own} - goal.guesses
    by_name: dict[str, list[int]] = {}
    for unit in _by_strength(named.definitions, 0.0):
        if int(corpus.file_of_unit[unit]) in main:
            by_name.setdefault(named.identifier[unit], []).append(unit)
    for name, inside in by_name.items():
        if name in said and len(inside) <= _SPELLED_NAMESAKES and not _is_everyday(corpus, name):
            units += inside
    return ((int(corpus.file_of_unit[unit]), unit) for unit in units)
