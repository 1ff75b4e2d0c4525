"""What a goal is about beside the code: its tests, documents, examples, benchmarks, automation, settings.

Such files say the same words as the code that they are about, only more often, and are seldom what a task
changes: they stand behind it, unless the goal's first line asks for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntFlag
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


class _Kind(NamedTuple):
    aim: Aim
    prefix: str
    """What a title begins with, before a colon or in brackets: ``docs(router): …``, ``[docs] …``."""
    said: tuple[str, ...]
    """What asks for it anywhere in a title."""
    placed: tuple[str, ...]
    """What the paths of its files hold."""


_KINDS: Final = (
    _Kind(
        Aim.TESTS,
        "tests?|tst",
        (
            r"\b(?:add|writ|fix|improv|updat|miss|flak|fail|more|refactor|clean|speed|silenc|skip)\w*\s+"
            r"(?:\w+\s+){0,3}tests?\b",
            r"\b(?:unit|integration|e2e|end-to-end|regression|smoke|property|snapshot|parallel)[ -]?tests?\b",
            r"\btests? (?:for|of|to (?:cover|check|ensure|verify))\b",
            r"\btests? (?:suite|coverage|fixtures?|helpers?|names?|files?|modules?|runs?)\b",
            r"\b(?:in|of|from|for|by|during) (?:[\w.-]+ ){0,3}tests\b",
            r"\btests?(?=\.|$)",
            # As a verb, and not as the first half of a noun.
            r"^test (?!cases?\b|runner|client|class|name|server|if\b|with (?:go|python|node)\b)\w",
        ),
        (),  # Told by a flag of the file.
    ),
    _Kind(
        Aim.DOCS,
        "docs?|readme",
        (
            r"\b(?:document|documents|documenting|documentation|docs?)\b",
            r"\b(?:readme|tutorials?|guides?|faq|website|cookbook|contributing)\b",
        ),
        (
            r"(?:^|/)(?:docs?|documentation|website|site|www|guides?|tutorials?|man|book|wiki)/",
            # Prose wherever it is, but neither news nor what hidden folders hold.
            r"^(?!\.|.*/\.)(?:.*/)?(?!change|news|history)[^/]*\.(?:mdx?|rst|adoc)$",
        ),
    ),
    _Kind(
        Aim.NEWS,
        "changelog|news",
        (r"\b(?:change ?log|release notes?|what'?s ?new)\b",),
        (
            r"(?:^|/)(?:change|news|history|release.?notes|whats.?new)[^/]*$",
            r"(?:^|/)(?:\.changeset|changelogs?|newsfragments|changes)/",
        ),
    ),
    _Kind(
        Aim.EXAMPLES,
        "examples?|demos?|samples?",
        (r"\b(?:examples?|samples?|demos?|playground)\b",),
        (r"(?:^|/)(?:_?examples?|samples?|demos?|playground|docs_src|sandbox)/",),
    ),
    _Kind(
        Aim.BENCHMARKS,
        "bench(?:es|marks?)?",
        (r"\bbench(?:es|mark\w*)?\b",),
        (
            r"(?:^|/)(?:bench(?:es|marks?)?|perf)/",
            r"(?:^|[/_.-])bench(?:es|marks?|marking)?(?=[_./-])",
        ),
    ),
    _Kind(
        Aim.AUTOMATION,
        "ci|gha|workflows?|actions?",
        (
            r"\b(?:ci|gha|workflows?|dependabot|codeql|stalebot|renovate)\b",
            r"\b(?:travis|appveyor|circleci|cirrus|jenkins|azure pipelines?)\b",
            r"\bgithub (?:\w+ )?actions?\b",
            r"\b[\w-]+[/-][\w-]+(?: v?\d+)? action\b",
            r"\b(?:issue|pr|pull request|bug report|release) (?:template|form)s?\b",
            r"\b(?:nightly|cron) (?:jobs?|builds?)\b",
        ),
        (
            r"(?:^|/)(?:\.github|\.circleci|\.gitlab|\.azure[\w-]*|\.buildkite|ci)/",
            r"(?:^|/)(?:\.gitlab-ci|\.travis|\.?appveyor|\.cirrus|azure-pipelines|jenkinsfile)[^/]*$",
            r"(?:^|/)(?:\.?codecov|renovate)[^/]*$",
        ),
    ),
    _Kind(Aim.SCRIPTS, "scripts?|tools?", (r"\bscripts?\b",), (r"(?:^|/)(?:scripts?|tools?|hack|bin)/",)),
    _Kind(
        Aim.SETTINGS,
        "build|deps|eslint|tox|cmake|lint",
        (
            r"\b(?:eslint|prettier|clippy|rustfmt|cmake|makefile|tox|nox|codecov|pre-commit|dockerfile)\b",
            r"\b(?:gradle|maven|msrv|pyproject|tsconfig|editorconfig)\b",
        ),
        (
            r"(?:^|/)\.?(?:eslint|prettier|clippy|rustfmt|codecov|editorconfig|pre-commit)[^/]*$",
            r"(?:^|/)(?:cmakelists|makefile|dockerfile|tox\.|noxfile|pyproject|setup\.(?:py|cfg)$)[^/]*$",
            r"(?:^|/)(?:build\.gradle|gradle|pom\.xml|cargo\.toml|deny\.toml|requirements)[^/]*$",
            r"(?:^|/)(?:tsconfig|package\.json)[^/]*$",
            r"\.cmake$",
        ),
    ),
)


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns) or r"(?!)", re.IGNORECASE)


def _leads(prefix: str) -> tuple[str, str]:
    return rf"^\W*(?:\w+\()?(?:{prefix})\b[^:\s]*(?:\([^)]*\))?!?:", rf"^\W*\[(?:{prefix})\]"


_SAID: Final = tuple((kind.aim, _any_of((*_leads(kind.prefix), *kind.said))) for kind in _KINDS)
_PLACED: Final = {kind.aim: _any_of(kind.placed) for kind in _KINDS}


def aims_of(title: str) -> Aim:
    """Return what the first line of a goal asks for beside the code."""
    aims = Aim(0)
    for aim, said in _SAID:
        if said.search(title):
            aims |= aim
    return aims


def is_aimed_at(path: str, flags: int, aims: Aim) -> bool:
    """Tell whether a file, by its path and ``FileFlag`` bits, is of a kind that a goal asks for."""
    if Aim.TESTS in aims and flags & FileFlag.TEST:
        return True
    return any(_PLACED[aim].search(path) is not None for aim in aims)


def are_aimed_at(corpus: Corpus, aims: Aim) -> NDArray[np.bool_]:
    """Tell of every file of a repository whether it is of a kind that a goal asks for; shape (files,)."""
    paths = corpus.index.paths
    if not aims:
        return np.zeros(len(paths), np.bool_)
    flags = corpus.index.files.flags.tolist()
    aimed = (is_aimed_at(path, own, aims) for path, own in zip(paths, flags, strict=True))
    return np.fromiter(aimed, np.bool_, len(paths))
