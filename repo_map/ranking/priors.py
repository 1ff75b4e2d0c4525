"""Kinds of file a goal is, or is not, about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.ranking.corpus import Candidates, Corpus, Floats, Ints
from repo_map.sources.file_kinds import (
    GENERATED_OR_VENDORED,
    FileFlag,
    FileKind,
    is_auxiliary,
    is_build_output,
    kind_bits,
)
from repo_map.text.units import CLASS_HEADER, FUNCTION, GAP

_OUTRIGHT, _ASKED = 0.6, 0.15
"""What a file of a kind that the goal asks for gains, as a share of what its kind costs it else: one that
its title begins with, and one that it mentions."""


def are_main(corpus: Corpus, files: Ints, aimed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which files are code that somebody writes for its own sake, tests where the goal wants them."""
    made, auxiliary = _made(corpus, files), are_auxiliary(corpus, files)
    return np.asarray((made == 0) & ((corpus.is_code[files] & (auxiliary == 0)) | aimed[files]))


def _made(corpus: Corpus, files: Ints) -> Floats:
    return _of_kind(corpus, files, GENERATED_OR_VENDORED, is_build_output)


def are_auxiliary(corpus: Corpus, files: Ints) -> Floats:
    """Return 1.0 for each file that is a test or stands in a folder aside from the code, else 0.0."""
    return _of_kind(corpus, files, FileFlag.TEST, is_auxiliary)


def _of_kind(corpus: Corpus, files: Ints, flags: FileFlag, by_path: Callable[[str], bool]) -> Floats:
    """Return 1.0 for each file that has one of the flags or a path of the kind, else 0.0."""
    of_path = [_is(by_path, corpus.index.paths[file]) for file in files.tolist()]
    flagged = corpus.index.files.flags[files] & int(flags) != 0
    return np.asarray(flagged | np.array(of_path, np.bool_), np.float64)


def file_priors(candidates: Candidates, aimed: NDArray[np.bool_], *, is_outright: bool) -> dict[str, Floats]:
    """Return the signals of each candidate file's kind and size; the goal may ask for a kind outright."""
    index = candidates.corpus.index
    files = candidates.files
    paths = [index.paths[file] for file in files]
    names = candidates.corpus.files_of_name
    twins = np.array([len(names[path.rpartition("/")[2].lower()]) for path in paths], np.float64)
    return {
        "p.gen": _made(candidates.corpus, files),
        "p.aux": np.where(
            aimed[files], -_OUTRIGHT if is_outright else -_ASKED, are_auxiliary(candidates.corpus, files)
        ),
        "p.code": (candidates.corpus.is_code[files] | aimed[files]).astype(np.float64),
        "p.size": np.log1p(index.files.lines[files]) / 8.0,
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


@lru_cache(maxsize=1 << 15)
def _is(is_one: Callable[[str], bool], path: str) -> bool:
    return is_one(path)


class FileKindIntent(NamedTuple):
    """What a goal asks for beside the code."""

    kinds: FileKind
    is_outright: bool
    """Whether the title begins with a kind (``docs: …``), so that no doubt is left."""


class _Asking(NamedTuple):
    """How a title asks for a kind of file."""

    kind: FileKind
    prefix: str
    """What it begins with, before a colon or in brackets: ``docs(router): …``, ``[docs] …``."""
    said: tuple[str, ...]
    """What asks for it anywhere."""


_ASKING: Final = (
    _Asking(
        FileKind.TESTS,
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
    _Asking(
        FileKind.DOCS,
        "docs?|readme",
        (
            r"\b(?:document|documents|documenting|documentation|docs?)\b",
            r"\b(?:readme|tutorials?|guides?|faq|website|cookbook|contributing)\b",
        ),
    ),
    _Asking(FileKind.NEWS, "changelog|news", (r"\b(?:change ?log|release notes?|what'?s ?new)\b",)),
    _Asking(
        FileKind.EXAMPLES, "examples?|demos?|samples?", (r"\b(?:examples?|samples?|demos?|playground)\b",)
    ),
    _Asking(FileKind.BENCHMARKS, "bench(?:es|marks?)?", (r"\bbench(?:es|mark\w*)?\b",)),
    _Asking(
        FileKind.AUTOMATION,
        "ci|gha|workflows?|actions?",
        (
            r"\b(?:ci|gha|workflows?|dependabot|codeql|stalebot|renovate)\b",
            r"\b(?:travis|appveyor|circleci|cirrus|jenkins|azure pipelines?)\b",
            r"\bgithub (?:\w+ )?actions?\b",
            r"(?<![\w/-])\w+[/-][\w/-]++(?: v?\d+)? action\b",
            r"\b(?:issue|pr|pull request|bug report|release) (?:template|form)s?\b",
            r"\b(?:nightly|cron) (?:jobs?|builds?)\b",
        ),
    ),
    _Asking(FileKind.SCRIPTS, "scripts?|tools?", (r"\bscripts?\b",)),
    _Asking(
        FileKind.SETTINGS,
        "build|deps|eslint|tox|cmake|lint",
        (
            r"\b(?:eslint|prettier|clippy|rustfmt|cmake|makefile|tox|nox|codecov|pre-commit|dockerfile)\b",
            r"\b(?:gradle|maven|msrv|pyproject|tsconfig|editorconfig)\b",
        ),
    ),
)


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


def _leads(prefix: str) -> tuple[str, str]:
    return rf"^\W*(?:\w+\()?(?:{prefix})\b[^:\s]*(?:\([^)]*\))?!?:", rf"^\W*\[(?:{prefix})\]"


_SAID: Final = tuple((each.kind, _any_of((*_leads(each.prefix), *each.said))) for each in _ASKING)
_LEADS: Final = _any_of(lead for each in _ASKING for lead in _leads(each.prefix))


def file_kind_intents(title: str) -> FileKindIntent:
    """Return what the first line of a goal asks for beside the code."""
    kinds = FileKind(0)
    for kind, said in _SAID:
        if said.search(title):
            kinds |= kind
    return FileKindIntent(kinds, bool(kinds) and _LEADS.match(title) is not None)


def are_intended(corpus: Corpus, kinds: FileKind) -> NDArray[np.bool_]:
    """Tell of every file of a repository whether it is of a kind that a goal asks for; shape (files,)."""
    paths = corpus.index.paths
    if not kinds:
        return np.zeros(len(paths), np.bool_)
    tests = (corpus.index.files.flags & int(FileFlag.TEST)).tolist()
    bits = np.fromiter(map(kind_bits, paths, tests), np.int64, len(paths))
    return np.asarray(bits & int(kinds) != 0)
