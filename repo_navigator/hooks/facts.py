"""What an assistant finds out of each repository first: where code, tests and settings are, how tests run."""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import Final

from repo_map.check.runners import command_for
from repo_map.check.test_files import is_test_file
from repo_map.index import RepoIndex
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.messages import counted
from repo_map.worktree.file_kinds import COPIED, PATH_ONLY, FileFlag

_MOST_FOLDERS: Final = 4
_LEAST_SHARE: Final = 0.05
_SET_UP: Final = (
    *("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "package.json", "tsconfig.json", "go.mod"),
    *("Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts", "CMakeLists.txt", "Makefile", "Gemfile"),
    *(
        "composer.json",
        "justfile",
        "Taskfile.yml",
        "configure.ac",
        "meson.build",
        "MODULE.bazel",
        "build.sbt",
    ),
    *("Package.swift", "mix.exs", "pubspec.yaml"),
)
_BESIDE: Final = frozenset(
    ("bench", "benchmark", "benchmarks", "doc", "docs", "example", "examples", "sample", "samples")
)
"""Folders of code that is not the product's."""


def facts_of(index: RepoIndex) -> list[str]:
    """Return the facts of a repository, a line each, the most useful first."""
    code: Counter[str] = Counter()
    aside: Counter[str] = Counter()
    tests: list[int] = []
    for file, path in enumerate(index.paths):
        flags = int(index.files.flags[file])
        language = index.language(file)
        if flags & int(COPIED | PATH_ONLY) or language_named(language).role is not LanguageRole.CODE:
            continue
        if is_test_file(index, file):
            tests.append(file)
        elif (
            not flags & FileFlag.TEST and index.symbols.file_start[file] < index.symbols.file_start[file + 1]
        ):
            beside = _BESIDE.intersection(path.split("/")[:2])
            (aside if beside else code)[_folder(path)] += int(index.files.lines[file])
    found = []
    if code := code or aside:
        found.append(f"code: {_listed(code)} ({counted(sum(code.values()), 'line')})")
    if tests:
        folders = Counter(_folder(index.paths[file]) for file in tests)
        found.append(f"tests: {_listed(folders)} ({counted(len(tests), 'file')})")
        found += _running([index.paths[file] for file in tests], folders.most_common(1)[0][0], index)
    if there := [name for name in _SET_UP if index.file_id(name) is not None]:
        found.append(f"set-up: {', '.join(there)}")
    return found


def _running(tests: list[str], folder: str, index: RepoIndex) -> list[str]:
    """Return how the tests run, by the shortest path of the folder that holds most of them."""
    ordered = sorted(
        tests, key=lambda path: (not _is_named_so(path), _folder(path) != folder, len(path), path)
    )
    commands = [command_for(index, [(path, ())]) for path in ordered[:2]]
    if not commands[0]:
        return []
    stem = posixpath.splitext(posixpath.basename(ordered[0]))[0]
    # Some runners know no files.
    is_of_file = commands[0] != commands[1] if len(commands) > 1 else stem in commands[0]
    return [f"{'one file of ' if is_of_file else ''}tests run{'s' if is_of_file else ''} by: {commands[0]}"]


def _is_named_so(path: str) -> bool:
    """Tell whether a file is called a test, as what tests share is not."""
    base = posixpath.basename(path).lower()
    return "test" in base or "spec" in base


def _folder(path: str) -> str:
    """Return the first folders of a path, two or, with ``src`` in the middle, three."""
    parts = posixpath.dirname(path).split("/")
    return "/".join(parts[: 3 if parts[1:2] == ["src"] else 2]) + "/" if parts[0] else "./"


def _listed(counted: Counter[str]) -> str:
    """Return the largest folders, those of one parent as their parent where there are many."""
    whole = sum(counted.values())
    kept = [name for name, number in counted.most_common(_MOST_FOLDERS) if number >= whole * _LEAST_SHARE]
    if sum(counted[name] for name in kept) < whole / 2:
        parents: Counter[str] = Counter()
        for name, number in counted.items():
            parents[f"{name.split('/')[0]}/"] += number
        kept = [name for name, _ in parents.most_common(_MOST_FOLDERS)]
    return ", ".join(dict.fromkeys(kept))
