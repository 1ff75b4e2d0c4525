"""Kinds of file a goal is, or is not, about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntFlag
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.relevance.corpus import Candidates, Corpus, Floats, Ints
from repo_map.text.units import CLASS_HEADER, FUNCTION, GAP
from repo_map.worktree.file_kinds import FileFlag

_AUXILIARY = re.compile(
    r"(?:^|/)(?:docs?|documentation|examples?|samples?|demos?|benchmarks?|bench|benches|website|site|scripts?|tools?|"
    r"playground|changelogs?|\.github|\.changeset|fuzz|perf|templates?)/",
    re.IGNORECASE,
)
_MADE = re.compile(
    r"(?:^|/)(?:single_?include|singleheader|dist|build|out|__generated__|gen)/|amalgamat|\.d\.[cm]?ts$",
    re.IGNORECASE,
)
_OUTRIGHT = 0.6
"""What a file of a kind that the goal asks for outright gains, as a share of what its kind costs it else."""
_INIT = re.compile(r"(?:^|/)(?:__init__\.py|index\.[cm]?[jt]sx?|mod\.rs|lib\.rs|package-info\.java)$")
_HEADER = re.compile(r"\.(?:h|hh|hpp|hxx|pyi)$")


def are_main(corpus: Corpus, files: Ints, aimed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which files are code that somebody writes for its own sake, tests where the goal wants them."""
    made, auxiliary = _made(corpus, files), are_auxiliary(corpus, files)
    return np.asarray((made == 0) & ((corpus.is_code[files] & (auxiliary == 0)) | aimed[files]))


def _made(corpus: Corpus, files: Ints) -> Floats:
    flagged = corpus.index.files.flags[files] & int(FileFlag.GENERATED | FileFlag.VENDORED)
    by_name = _matching(_MADE, [corpus.index.paths[file] for file in files])
    return np.asarray(np.maximum(flagged != 0, by_name), np.float64)


def are_auxiliary(corpus: Corpus, files: Ints) -> Floats:
    flagged = corpus.index.files.flags[files] & int(FileFlag.TEST)
    by_name = _matching(_AUXILIARY, [corpus.index.paths[file] for file in files])
    return np.asarray(np.maximum(flagged != 0, by_name), np.float64)


def file_priors(candidates: Candidates, aimed: NDArray[np.bool_], *, is_outright: bool) -> dict[str, Floats]:
    """Return the signals of each candidate file's kind and size; the goal may ask for a kind outright."""
    index = candidates.corpus.index
    files = candidates.files
    paths = [index.paths[file] for file in files]
    names = candidates.corpus.files_of_name
    twins = np.array([len(names[path.rpartition("/")[2].lower()]) for path in paths], np.float64)
    return {
        "p.gen": _made(candidates.corpus, files),
        "p.aux": np.where(aimed[files], -_OUTRIGHT * is_outright, are_auxiliary(candidates.corpus, files)),
        "p.code": (candidates.corpus.is_code[files] | aimed[files]).astype(np.float64),
        "p.init": _matching(_INIT, paths),
        "p.hdr": _matching(_HEADER, paths),
        "p.depth": np.array([path.count("/") for path in paths], np.float64) / 5.0,
        "p.size": np.log1p(index.files.lines[files]) / 8.0,
        "p.nunits": np.log1p(candidates.unit_counts) / 5.0,
        "p.dup": np.log(np.maximum(twins, 1.0)) / 3.0,
    }


def unit_priors(candidates: Candidates) -> dict[str, Floats]:
    """Return the signals of each unit's kind and size."""
    units = candidates.corpus.index.units
    kind = units.kind[candidates.units]
    lines = (units.end - units.start + 1)[candidates.units]
    return {
        "p.func": (kind == FUNCTION).astype(np.float64),
        "p.cls": (kind == CLASS_HEADER).astype(np.float64),
        "p.gap": (kind == GAP).astype(np.float64),
        "p.size": np.log1p(np.minimum(lines, 400)) / 6.0,
    }


def _matching(pattern: re.Pattern[str], paths: list[str]) -> Floats:
    return np.array([_matches(pattern, path) for path in paths], np.float64)


@lru_cache(maxsize=1 << 15)
def _matches(pattern: re.Pattern[str], path: str) -> bool:
    return pattern.search(path) is not None


class FileKindIntent(IntFlag):
    """One bit for each kind of file that stands beside the code."""

    TESTS = 1
    DOCS = 2
    EXAMPLES = 4
    BENCHMARKS = 8
    AUTOMATION = 16
    SCRIPTS = 32
    NEWS = 64
    SETTINGS = 128
    OUTRIGHT = 256
    """No kind: the title begins with one (``docs: …``), so that no doubt is left."""


class _Kind(NamedTuple):
    aim: FileKindIntent
    prefix: str
    """What a title begins with, before a colon or in brackets: ``docs(router): …``, ``[docs] …``."""
    said: tuple[str, ...]
    """What asks for it anywhere in a title."""
    folders: str = ""
    """Names of folders, in lower case, whose files are of this kind."""
    names: tuple[str, ...] = ()
    """What names of its files begin with, in lower case; up to the end where that matters."""
    hides: bool = True
    """Whether a name counts in hidden folders as well."""


_KINDS: Final = (
    _Kind(
        FileKindIntent.TESTS,  # Told by a flag of the file, not by its place.
        "tests?|tst",
        (
            r"\b(?:add|writ|fix|improv|updat|miss|flak|fail|more|refactor|clean|speed|silenc|skip)\w*\s+"
            r"(?:\w+\s+){0,3}tests?\b",
            r"\b(?:unit|integration|e2e|end-to-end|regression|smoke|property|snapshot|parallel)[ -]?tests?\b",
            r"\btests? (?:for|of|to (?:cover|check|ensure|verify))\b",
            r"\btests? (?:suite|coverage|fixtures?|helpers?|names?|files?|modules?|runs?)\b",
            r"\b(?:in|of|from|for|by|during) (?:[\w.-]{1,40}+ ){0,3}tests\b",
            r"\btests?(?=\.|$)",
            # As a verb, and not as the first half of a noun.
            r"^test (?!cases?\b|runner|client|class|name|server|if\b|with (?:go|python|node)\b)\w",
        ),
    ),
    _Kind(
        FileKindIntent.DOCS,
        "docs?|readme",
        (
            r"\b(?:document|documents|documenting|documentation|docs?)\b",
            r"\b(?:readme|tutorials?|guides?|faq|website|cookbook|contributing)\b",
        ),
        "doc docs documentation website site www guide guides tutorial tutorials man book wiki",
        # Prose wherever it is, but neither news nor what hidden folders hold.
        (r"(?!\.|change|news|history).*\.(?:mdx?|rst|adoc)$",),
        hides=False,
    ),
    _Kind(
        FileKindIntent.NEWS,
        "changelog|news",
        (r"\b(?:change ?log|release notes?|what'?s ?new)\b",),
        ".changeset changelog changelogs newsfragments changes",
        (r"(?:change|news|history|release.?notes|whats.?new)",),
    ),
    _Kind(
        FileKindIntent.EXAMPLES,
        "examples?|demos?|samples?",
        (r"\b(?:examples?|samples?|demos?|playground)\b",),
        "example examples _example _examples sample samples demo demos playground docs_src sandbox",
    ),
    _Kind(
        FileKindIntent.BENCHMARKS,
        "bench(?:es|marks?)?",
        (r"\bbench(?:es|mark\w*)?\b",),
        "bench benches benchmark benchmarks perf",
        (r"(?:.*[_.-])?bench(?:es|marks?|marking)?[_.-]",),
    ),
    _Kind(
        FileKindIntent.AUTOMATION,
        "ci|gha|workflows?|actions?",
        (
            r"\b(?:ci|gha|workflows?|dependabot|codeql|stalebot|renovate)\b",
            r"\b(?:travis|appveyor|circleci|cirrus|jenkins|azure pipelines?)\b",
            r"\bgithub (?:\w+ )?actions?\b",
            r"(?<![\w/-])\w+[/-][\w/-]++(?: v?\d+)? action\b",
            r"\b(?:issue|pr|pull request|bug report|release) (?:template|form)s?\b",
            r"\b(?:nightly|cron) (?:jobs?|builds?)\b",
        ),
        ".github .circleci .gitlab .azure .azure-pipelines .buildkite ci",
        (
            r"\.?(?:gitlab-ci|travis|appveyor|cirrus|codecov)",
            r"(?:azure-pipelines|jenkinsfile|renovate)",
        ),
    ),
    _Kind(
        FileKindIntent.SCRIPTS, "scripts?|tools?", (r"\bscripts?\b",), "script scripts tool tools hack bin"
    ),
    _Kind(
        FileKindIntent.SETTINGS,
        "build|deps|eslint|tox|cmake|lint",
        (
            r"\b(?:eslint|prettier|clippy|rustfmt|cmake|makefile|tox|nox|codecov|pre-commit|dockerfile)\b",
            r"\b(?:gradle|maven|msrv|pyproject|tsconfig|editorconfig)\b",
        ),
        "gradle",
        (
            r"\.?(?:eslint|prettier|clippy|rustfmt|codecov|editorconfig|pre-commit)",
            r"(?:cmakelists|makefile|dockerfile|tox\.|noxfile|pyproject|setup\.(?:py|cfg)$)",
            r"(?:build\.gradle|gradle|pom\.xml|cargo\.toml|deny\.toml|requirements|tsconfig|package\.json)",
            r".*\.cmake$",
        ),
    ),
)


class _Place(NamedTuple):
    """Where the files of a kind are, ready to be asked."""

    aim: int
    folders: frozenset[str]
    names: re.Pattern[str]
    hides: bool


def _any_of(patterns: Iterable[str], flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    return re.compile("|".join(patterns) or r"(?!)", flags)


def _leads(prefix: str) -> tuple[str, str]:
    return rf"^\W*(?:\w+\()?(?:{prefix})\b[^:\s]*(?:\([^)]*\))?!?:", rf"^\W*\[(?:{prefix})\]"


_SAID: Final = tuple(
    (kind.aim, _any_of((*_leads(kind.prefix), *kind.said), re.IGNORECASE)) for kind in _KINDS
)
_LEADS: Final = _any_of((lead for kind in _KINDS for lead in _leads(kind.prefix)), re.IGNORECASE)
_PLACES: Final = tuple(
    _Place(int(kind.aim), frozenset(kind.folders.split()), _any_of(kind.names), kind.hides) for kind in _KINDS
)
_ANY_NAME: Final = _any_of(name for kind in _KINDS for name in kind.names)
"""Most names match none: asked first."""


def file_kind_intents(title: str) -> FileKindIntent:
    """Return what the first line of a goal asks for beside the code."""
    aims = FileKindIntent(0)
    for aim, said in _SAID:
        if said.search(title):
            aims |= aim
    return aims | FileKindIntent.OUTRIGHT if aims and _LEADS.match(title) else aims


def is_intended(path: str, flags: int, aims: FileKindIntent) -> bool:
    """Tell whether a file, by its path and ``FileFlag`` bits, is of a kind that a goal asks for."""
    return bool(_kinds_of(path, flags & _TEST) & aims)


def are_intended(corpus: Corpus, aims: FileKindIntent) -> NDArray[np.bool_]:
    """Tell of every file of a repository whether it is of a kind that a goal asks for; shape (files,)."""
    paths = corpus.index.paths
    if not aims:
        return np.zeros(len(paths), np.bool_)
    tests = (corpus.index.files.flags & _TEST).tolist()
    kinds = np.fromiter(map(_kinds_of, paths, tests), np.int64, len(paths))
    return np.asarray(kinds & int(aims) != 0)


@lru_cache(maxsize=1 << 16)
def _kinds_of(path: str, test: int) -> int:
    """Return the bits of every kind that a file is of."""
    folder, _, name = path.lower().rpartition("/")
    kinds, is_hidden = _kinds_in(folder)
    if _ANY_NAME.match(name):
        for place in _PLACES:
            if (place.hides or not is_hidden) and place.names.match(name):
                kinds |= place.aim
    return kinds | int(FileKindIntent.TESTS) if test else kinds


@lru_cache(maxsize=1 << 13)
def _kinds_in(folder: str) -> tuple[int, bool]:
    """Return the bits of every kind that all files in a folder are of, and whether it is hidden."""
    steps = frozenset(folder.split("/"))
    kinds = sum(place.aim for place in _PLACES if not place.folders.isdisjoint(steps))
    return kinds, any(step.startswith(".") for step in steps)


_TEST: Final = int(FileFlag.TEST)
