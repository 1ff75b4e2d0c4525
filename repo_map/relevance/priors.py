"""What makes a file likely before the goal is read: its kind, place and size."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from repo_map.relevance.candidates import Candidates
from repo_map.relevance.corpus import Corpus, Floats, Ints
from repo_map.relevance.units import CLASS_HEADER, FUNCTION, GAP
from repo_map.worktree.file_flags import FileFlag

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
