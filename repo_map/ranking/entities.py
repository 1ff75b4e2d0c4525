"""Which files and definitions a text names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.ranking.commit_mentions import find_commits
from repo_map.ranking.commit_votes import AlignedHistory
from repo_map.ranking.corpus import Corpus
from repo_map.ranking.goal import GoalPart, ParsedGoal
from repo_map.ranking.located import MOST_FILES_OF_A_NAME, files_at, is_whole, unit_named_by, units_of_frame
from repo_map.ranking.priors import are_auxiliary, are_intended, are_main, file_kind_intents
from repo_map.ranking.quotations import find_quotations
from repo_map.sources.source import repository_names
from repo_map.text.terms import terms_in, terms_of

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
_PLAIN: Final = re.compile(r"[A-Za-z]?[a-z]+")


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

    @property
    def files(self) -> tuple[Mapping[int, float], ...]:
        """Strengths of files, one mapping for each way to name them."""
        outright = (self.paths, self.frames, self.dotted, self.folders)
        return (*outright, self.rare_folders, self.quoted, self.committed)


def find_named(corpus: Corpus, goal: ParsedGoal, past: AlignedHistory | None = None) -> EntityMatches:
    """Look up everything that the goal names or quotes."""
    return _Finder(corpus, goal, past).matches()


_DOTFILE: Final = re.compile(r"(?<![\w/.)\]])\.\w[\w.-]*\w")
_BARE: Final = re.compile(r"\b[A-Z]{4,}\b|(?i:\b(?:readme|changelog|contributing|makefile|dockerfile)\b)")
"""Capitals, and files that everybody knows."""
_JOINED: Final = re.compile(r"(?<![\w/.-])(?:[A-Za-z]\w*(?:[-_]\w+)+|[A-Za-z]{2,}\d{2,})(?![\w/(-])")
"""``test_serving``, ``deploy-docs``, ``lib1560``."""
_LEAD: Final = re.compile(r"^([A-Za-z][\w-]{2,40})(?:\([^)]*\))?:\s")
"""``checksrc: …``."""
_ENDINGS: Final = ("", ".md", ".rst", ".txt", ".adoc", ".mdx")
_SURELY, _PERHAPS = 1.0, 0.8
_MOST_OF_A_STEM: Final = 3
"""Files with the same stem; more of them make it a word rather than a name."""
_LONGEST_QUOTE: Final = 60
"""Characters of a quotation that are shown."""
_IN_PASSING: Final = 0.5
"""What a quotation is worth that is not what the goal is about, and a number in one of the newest commits."""
_MOST_IN_FOLDER: Final = 12
_SHARE_IN_FOLDER: Final = 0.05
_SHARE_OF_UNITS: Final = 0.02
_MOST_UNITS: Final = 5
RARE_FOLDER: Final = 0.69
"""Strength of the only file of such a folder."""


class _Finder:
    """Collects what a goal names, in one repository."""

    def __init__(self, corpus: Corpus, goal: ParsedGoal, past: AlignedHistory | None) -> None:
        self._corpus = corpus
        self._goal = goal
        self._past = past
        established = np.ones(len(corpus.index.paths), np.bool_) if past is None else past.established
        self.named = EntityMatches(are_intended(corpus, goal.aims.kinds), established)

    def matches(self) -> EntityMatches:
        """Return all of it."""
        named, goal = self.named, self._goal
        self._find_frames()
        named.crash = self._find_crash()
        frame_names = {frame.path for frame in goal.frames if not frame.linked}
        self._find_paths([path for path in goal.paths if path not in frame_names])
        for file, strength, name in _called_files(self._corpus, goal.title):
            self._note(named.paths, "path", file, strength, name)
        self._find_dotted(goal.dotted)
        self._find_definitions()
        self._find_rare_folders()
        self._find_quotations()
        if self._past is not None:
            self._find_commits(self._past)
        return named

    def _note(
        self, strengths: dict[int, float], signal: str, place: int, strength: float, written: str
    ) -> None:
        """Keep for a file or a unit the strongest of what the goal says of it, and what that is."""
        if strength > strengths.get(place, 0.0):
            strengths[place] = strength
            self.named.evidence[signal, place] = written

    def _find_quotations(self) -> None:
        quotations = find_quotations(self._corpus, self._goal)
        for each in quotations:
            is_outright = each.is_outright and self.named.established[each.file]
            strength = (1.0 if is_outright else _IN_PASSING) / len(quotations) ** 0.5
            self._note(self.named.quoted, "quoted", each.file, strength, _start(each.text))
            self._note(self.named.quoted_units, "quoted unit", each.unit, strength, _start(each.text))

    def _find_commits(self, past: AlignedHistory) -> None:
        for commit in find_commits(self._goal.text, repository_names(self._corpus.index.build.source), past):
            if len(commit.files):
                self.named.found.add(commit.written)
            for key, scores, found in (
                ("commit", self.named.committed, commit.files),
                ("commit unit", self.named.committed_units, commit.units),
            ):
                for each in found.tolist():
                    strength = (1.0 if commit.is_sure else _IN_PASSING) / len(found) ** 0.5
                    self._note(scores, key, each, strength, commit.title)

    def _find_frames(self) -> None:
        resolved = [
            (frame, file, surety)
            for frame in self._goal.frames
            for file, surety in self._established_first(files_at(self._corpus, frame.path))
        ]
        innermost_last = any(
            frame.path.endswith((".py", ".pyx")) and frame.function for frame in self._goal.frames
        )
        if innermost_last:
            resolved.reverse()
        for depth, (frame, file, surety) in enumerate(resolved):
            strength = surety / (1.0 + _FRAME_DECAY * depth)
            self.named.found.add(frame.path)
            written = f"{frame.path}:{frame.line}" if frame.line else frame.path
            self._note(self.named.frames, "frame", file, strength, written)
            within = frame.function or f"line {frame.line}"
            for unit, share in units_of_frame(self._corpus, frame, file):
                self._note(self.named.frame_units, "frame unit", unit, strength * share, within)

    def _established_first(self, files: list[tuple[int, float]]) -> list[tuple[int, float]]:
        """Return of namesakes those that the past vouches for, where there are any."""
        known = [(file, surety) for file, surety in files if self.named.established[file]] or files
        return [(file, surety * (len(files) / len(known)) ** 0.5) for file, surety in known]

    def _find_crash(self) -> CrashSite | None:
        """Return the innermost place of the trace that is the repository's own and no test or copy."""
        for frame in self._goal.crash:
            files = self._established_first(files_at(self._corpus, frame.path))
            if not is_whole(files):
                continue
            mains = are_main(self._corpus, np.array([file for file, _ in files]), self.named.aimed)
            for (file, _), is_main in zip(files, mains.tolist(), strict=True):
                unit = unit_named_by(self._corpus, frame, file) if is_main else -1
                if unit >= 0:
                    return CrashSite(file, unit)
        return None

    def _find_paths(self, paths: Iterable[str]) -> None:
        for path in paths:
            matches = self._established_first(files_at(self._corpus, path))
            for file, surety in matches:
                self.named.found.add(path)
                self._note(self.named.paths, "path", file, surety, path)
            if not matches and "/" in path:
                self._find_folder(path)

    def _find_folder(self, path: str) -> None:
        """Find a path without suffix: a module as imports write it (``dayjs/plugin/utc``), or a folder."""
        parts = [part for part in path.split("/") if part]
        stem = re.sub(r"\.\w+$", "", parts[-1]) if parts else ""
        if len(parts) < 2 or not stem:
            return
        tail = f"/{parts[-2]}/{stem}".lower()
        found = [
            (file, f"{tail}.")
            for file, known in enumerate(self._corpus.lowered_paths)
            if f"{tail}." in known or f"{tail}/" in known
        ]
        if 0 < len(found) <= 2 * MOST_FILES_OF_A_NAME:
            self.named.found.add(path)
            for file, as_file in found:
                strength = (1.0 if as_file in self._corpus.lowered_paths[file] else 0.7) / len(found) ** 0.5
                self._note(self.named.folders, "folder", file, strength, path)

    def _find_rare_folders(self) -> None:
        """Find folders that are called like a word of the title, where few files have the word on their path.

        Such a word tells where, however common the title's other words are in the text of the code.
        """
        most = min(_MOST_IN_FOLDER, max(2, int(_SHARE_IN_FOLDER * len(self._corpus.index.paths))))
        for term in self._goal.terms[GoalPart.TITLE]:
            word = self._goal.surface.get(term, "")
            files = self._corpus.files_with_path_term.get(term, [])
            if not word or not 0 < len(files) <= most or not _is_rare(self._corpus, term):
                continue
            inside = [
                file
                for file in files
                if any(terms_of(part) == (term,) for part in self._corpus.index.paths[file].split("/")[:-1])
            ]
            inside = [
                file
                for file, is_main in zip(
                    inside, are_main(self._corpus, np.array(inside, np.int64), self.named.aimed), strict=True
                )
                if is_main
            ]
            for file in inside:
                self._note(self.named.rare_folders, "folder", file, RARE_FOLDER / len(inside) ** 0.25, word)

    def _find_dotted(self, names: Iterable[str]) -> None:
        for name in names:
            parts = name.split(".")
            for at in range(len(parts) - 1, 0, -1):
                if self._find_qualified(name, parts[at], parts[at - 1]):
                    self.named.found.add(name)
                    break
            self._find_module(name, parts)

    def _find_qualified(self, name: str, leaf: str, holder: str) -> bool:
        """Find definitions of ``leaf`` inside a class, file or folder called ``holder``."""
        symbols = self._corpus.index.symbols
        wanted = self._corpus.index.strings.get(leaf)
        if wanted is None or not 0 < self._corpus.definition_counts[wanted] <= 400:
            return False
        hits: list[int] = []
        for symbol in np.flatnonzero(symbols.name == wanted).tolist():
            file = int(self._corpus.file_of_symbol[symbol])
            parent = int(symbols.parent[symbol])
            inside = (
                self._corpus.index.strings[int(symbols.name[symbols.file_start[file] + parent])]
                if parent >= 0
                else ""
            )
            inside = inside.split("<")[0].split(" for ")[-1]
            folders = self._corpus.index.paths[file].rsplit(".", 1)[0].split("/")
            if holder == inside.rpartition(".")[2] or (parent < 0 and holder in folders[-2:]):
                hits.append(symbol)
        if not 0 < len(hits) <= MOST_FILES_OF_A_NAME:
            return False
        for symbol in hits:
            file, unit = int(self._corpus.file_of_symbol[symbol]), int(self._corpus.unit_of_symbol[symbol])
            strength = 1.0 / len(hits) ** 0.5
            self._note(self.named.dotted, "dotted", file, strength, name)
            if unit >= 0:
                self._note(self.named.dotted_units, "dotted unit", unit, strength, name)
        return True

    def _find_module(self, name: str, parts: list[str]) -> None:
        """Find a file by its import path: ``app.models.user`` is ``app/models/user.py``."""
        for length in range(len(parts), 1, -1):
            tail = "/" + "/".join(parts[:length]).lower()
            found = [
                file for stem in (".", "/__init__.", "/mod.", "/index.") for file in self._ending(tail + stem)
            ]
            if 0 < len(found) <= MOST_FILES_OF_A_NAME:
                self.named.found.add(name)
                for file in found:
                    self._note(self.named.folders, "folder", file, 0.8 / len(found) ** 0.5, name)
                return

    def _ending(self, tail: str) -> list[int]:
        last_two = "/" + "/".join(tail.split("/")[-2:])
        return [
            file
            for file in self._corpus.files_of_tail.get(last_two, [])
            if tail in self._corpus.lowered_paths[file]
        ]

    def _find_definitions(self) -> None:
        """Look identifiers up where they are defined; the rarer the name, the stronger the evidence."""
        symbols, strings = self._corpus.index.symbols, self._corpus.index.strings
        wanted: dict[int, tuple[str, float]] = {}
        for name, source in self._goal.identifiers.items():
            found = strings.get(name)
            if found is None:
                continue
            count = int(self._corpus.definition_counts[found])
            if count:
                self.named.found.add(name)
            if 0 < count <= _MOST_NAMESAKES:
                wanted[found] = (name, _IDENTIFIER_WEIGHT[source] / (1.0 + np.log2(count)))
        if not wanted:
            return
        mask = np.zeros(len(strings), np.bool_)
        mask[list(wanted)] = True
        for symbol in np.flatnonzero(mask[symbols.name]).tolist():
            unit = int(self._corpus.unit_of_symbol[symbol])
            name, strength = wanted[int(symbols.name[symbol])]
            if unit >= 0:
                self._note(self.named.definitions, "definition", unit, strength, name)


def is_everyday(corpus: Corpus, name: str) -> bool:
    """Say whether a name is one plain word that much of the code holds: who writes it may mean no name."""
    found = terms_of(name)
    return bool(_PLAIN.fullmatch(name)) and len(found) == 1 and not _is_rare(corpus, found[0])


def _is_rare(corpus: Corpus, term: str) -> bool:
    found = corpus.index.terms.get(term)
    most = max(_MOST_UNITS, _SHARE_OF_UNITS * len(corpus.index.units.start))
    return found is None or int(corpus.term_postings[found]) <= most


def _start(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _LONGEST_QUOTE else f"{plain[:_LONGEST_QUOTE].rpartition(' ')[0]} …"


def _called_files(corpus: Corpus, title: str) -> Iterator[tuple[int, float, str]]:
    """Yield each file that a title calls by name, without a path, how surely, and the name."""
    for match in _DOTFILE.finditer(title):
        files = corpus.files_of_name.get(match[0].lower(), [])
        yield from ((file, _SURELY, match[0]) for file in _outermost(corpus, files, title))
    for match in _BARE.finditer(title):
        names = (match[0].lower() + ending for ending in _ENDINGS)
        files = [file for name in names for file in corpus.files_of_name.get(name, ())]
        yield from ((file, _SURELY, match[0]) for file in _outermost(corpus, files, title))
    for match in _JOINED.finditer(title):
        yield from ((file, _PERHAPS, match[0]) for file in _of_stem(corpus, match[0]))
    if (lead := _LEAD.match(title)) and not file_kind_intents(lead[0]).kinds:
        # What leads a commit's message is often a folder or a topic: of code that says little.
        led = np.array(_of_stem(corpus, lead[1]), np.int64)
        beside: list[int] = led[are_auxiliary(corpus, led) > 0].tolist()
        yield from ((file, _PERHAPS, lead[1]) for file in beside)


def _of_stem(corpus: Corpus, stem: str) -> list[int]:
    files = corpus.files_of_stem.get(stem.lower(), [])
    return files if len(files) <= _MOST_OF_A_STEM else []


def _outermost(corpus: Corpus, files: Sequence[int], title: str) -> list[int]:
    """Return the files in the folder that the title names best or, where it names none, nearest the root."""
    said = terms_in(title)
    worth = [(len(said & corpus.path_terms[file]), -corpus.index.paths[file].count("/")) for file in files]
    best = max(worth, default=(0, 0))
    return [file for file, own in zip(files, worth, strict=True) if own == best][:_MOST_OF_A_STEM]
