"""What a goal is about beside the code: its tests, documents, examples, benchmarks, automation, settings.

Such files say the same words as the code that they are about, only more often, and are seldom what a task
changes: they stand behind it, unless the goal's first line asks for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntFlag
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.relevance.corpus import Corpus
from repo_map.worktree.file_flags import FileFlag


class Aim(IntFlag):
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
    aim: Aim
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
        Aim.TESTS,  # Told by a flag of the file, not by its place.
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
        Aim.DOCS,
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
        Aim.NEWS,
        "changelog|news",
        (r"\b(?:change ?log|release notes?|what'?s ?new)\b",),
        ".changeset changelog changelogs newsfragments changes",
        (r"(?:change|news|history|release.?notes|whats.?new)",),
    ),
    _Kind(
        Aim.EXAMPLES,
        "examples?|demos?|samples?",
        (r"\b(?:examples?|samples?|demos?|playground)\b",),
        "example examples _example _examples sample samples demo demos playground docs_src sandbox",
    ),
    _Kind(
        Aim.BENCHMARKS,
        "bench(?:es|marks?)?",
        (r"\bbench(?:es|mark\w*)?\b",),
        "bench benches benchmark benchmarks perf",
        (r"(?:.*[_.-])?bench(?:es|marks?|marking)?[_.-]",),
    ),
    _Kind(
        Aim.AUTOMATION,
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
    _Kind(Aim.SCRIPTS, "scripts?|tools?", (r"\bscripts?\b",), "script scripts tool tools hack bin"),
    _Kind(
        Aim.SETTINGS,
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


def aims_of(title: str) -> Aim:
    """Return what the first line of a goal asks for beside the code."""
    aims = Aim(0)
    for aim, said in _SAID:
        if said.search(title):
            aims |= aim
    return aims | Aim.OUTRIGHT if aims and _LEADS.match(title) else aims


def is_aimed_at(path: str, flags: int, aims: Aim) -> bool:
    """Tell whether a file, by its path and ``FileFlag`` bits, is of a kind that a goal asks for."""
    return bool(_kinds_of(path, flags & _TEST) & aims)


def are_aimed_at(corpus: Corpus, aims: Aim) -> NDArray[np.bool_]:
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
    return kinds | int(Aim.TESTS) if test else kinds


@lru_cache(maxsize=1 << 13)
def _kinds_in(folder: str) -> tuple[int, bool]:
    """Return the bits of every kind that all files in a folder are of, and whether it is hidden."""
    steps = frozenset(folder.split("/"))
    kinds = sum(place.aim for place in _PLACES if not place.folders.isdisjoint(steps))
    return kinds, any(step.startswith(".") for step in steps)


_TEST: Final = int(FileFlag.TEST)
