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
    *("composer.json", "justfile", "Taskfile.yml"),
)


def facts_of(index: RepoIndex) -> list[str]:
    """Return the facts of a repository, a line each, the most useful first."""
    code: Counter[str] = Counter()
    tests: list[int] = []
    for file, path in enumerate(index.paths):
        flags = int(index.files.flags[file])
        language = index.languages[int(index.files.language[file])]
        if flags & int(COPIED | PATH_ONLY) or language_named(language).role is not LanguageRole.CODE:
            continue
        if is_test_file(index, file):
            tests.append(file)
        elif (
            not flags & FileFlag.TEST and index.symbols.file_start[file] < index.symbols.file_start[file + 1]
        ):
            code[_folder(path)] += int(index.files.lines[file])
    found = []
    if code:
        found.append(f"code: {_listed(code)} ({counted(sum(code.values()), 'line')})")
    if tests:
        folders = Counter(_folder(index.paths[file]) for file in tests)
        found.append(f"tests: {_listed(folders)} ({counted(len(tests), 'file')})")
        shortest = min((index.paths[file] for file in tests), key=lambda path: (len(path), path))
        if command := command_for(index, [(shortest, ())]):
            found.append(f"one file of tests runs by: {command}")
    if there := [name for name in _SET_UP if index.file_id(name) is not None]:
        found.append(f"set-up: {', '.join(there)}")
    return found


def _folder(path: str) -> str:
    """Return the first two folders of a path: ``src/app/`` says more than ``src/``."""
    parts = posixpath.dirname(path).split("/")
    return "/".join(parts[:2]) + "/" if parts[0] else "./"


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
