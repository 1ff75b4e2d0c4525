"""Tasks from the past of a repository: what a commit said, and the files and functions that it edited.

    python -m benchmarks.history_tasks --mirrors M --trees T --out FILE [--snapshots N] [--tasks N]
        [--beside] REPO…

With ``--beside`` commits make tasks that edit only what stands beside the code: tests, documents, examples,
benchmarks, automation, settings; a changelog counts as neither. Several tasks share one snapshot, so that
one index serves them: a commit makes a task when the files that it edits are still as they were at the
snapshot before it. Only repositories that no test set holds may be named.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks.git import run_git
from benchmarks.tasks import NOT_CODE, GoldSpan, GoldSymbol, Task
from benchmarks.trees import find_mirror, materialise
from repo_map.history.git_log import clean_message
from repo_map.languages.registry import language_of
from repo_map.parsing.symbols import read_symbols
from repo_map.parsing.values import Definition
from repo_map.worktree.file_kinds import FileFlag, FileKind, flags_of_path, kinds_of

_REACH = 150
"""Commits after a snapshot that may make its tasks."""
_LEAST_MESSAGE = 25
_MOST_FILES = 5
_ROUTINE = re.compile(
    r"^(?:bump|release|version|merge|revert|update dep|"
    r"chore\(deps|build\(deps|changelog|prepare|docs?\b|"
    r"typo|format|lint|style|reformat|run black|ci\b|v?\d+\.\d+)|dependabot|renovate|pre-commit",
    re.IGNORECASE,
)
_OF_PROGRAMS = re.compile(
    r"^(?:bump|release|version|merge|revert)|\bv?\d+\.\d+\.\d+|dependabot|renovate", re.IGNORECASE
)
_NUMBER = re.compile(r"\s*\(?(?:#|gh-)\d+\)?|https?://\S+", re.IGNORECASE)
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+", re.MULTILINE)


class _Commit(NamedTuple):
    id: str
    parent: str
    message: str
    paths: tuple[str, ...]


def find_tasks(
    repo: str, mirrors: Path, trees: Path, snapshots: int, per_snapshot: int, *, beside: bool = False
) -> Iterator[Task]:
    """Yield tasks of evenly spread snapshots of a repository, at most ``per_snapshot`` each."""
    mirror = find_mirror(repo, mirrors)
    line = run_git(mirror, "rev-list", "--first-parent", "--no-merges", "HEAD").decode().split()
    for number in range(snapshots):
        place = int(len(line) * 0.55 * (number + 0.5) / snapshots)
        if place < 5 or place >= len(line):
            continue
        base = line[place]
        tree = materialise(repo, base, mirrors, trees)
        made = 0
        for commit in _commits(mirror, line[max(place - _REACH, 0) : place], beside):
            task = _task(repo, base, mirror, tree, commit)
            if task is not None:
                yield task
                made += 1
            if made == per_snapshot:
                break


def _commits(mirror: Path, ids: list[str], beside: bool) -> Iterator[_Commit]:
    """Yield commits that edit a few files of code, or only files beside it, the oldest first."""
    for identity in reversed(ids):
        about = run_git(mirror, "show", "-s", "--format=%P%x00%B", identity).decode("utf-8", "replace")
        parents, _, message = about.partition("\0")
        cleaned = _NUMBER.sub("", clean_message(message)).strip()
        if len(cleaned) < _LEAST_MESSAGE or (_OF_PROGRAMS if beside else _ROUTINE).search(cleaned):
            continue
        parent = parents.split()[0]
        changed = run_git(mirror, "diff-tree", "-r", "--no-renames", "--name-status", "-z", parent, identity)
        fields = changed.decode("utf-8", "replace").split("\0")
        entries = list(zip(fields[::2], fields[1::2], strict=False))
        wanted = _edited_beside(entries) if beside else _edited_code(entries)
        if 0 < len(wanted) <= _MOST_FILES:
            yield _Commit(identity, parent, cleaned, wanted)


def _edited_code(entries: list[tuple[str, str]]) -> tuple[str, ...]:
    """Return the files of code that a commit edits; none where it adds or removes some."""
    code = [(status, path) for status, path in entries if _is_code(path)]
    return tuple(path for _, path in code) if all(status == "M" for status, _ in code) else ()


def _edited_beside(entries: list[tuple[str, str]]) -> tuple[str, ...]:
    """Return the files beside the code that a commit edits; none where it touches any other."""
    counted = [(status, path) for status, path in entries if FileKind.NEWS not in kinds_of(path, 0)]
    only = all(status == "M" and bool(kinds_of(path, flags_of_path(path))) for status, path in counted)
    return tuple(path for _, path in counted) if only else ()


def _is_code(path: str) -> bool:
    return language_of(path) not in NOT_CODE and not flags_of_path(path) & FileFlag.TEST


def _task(repo: str, base: str, mirror: Path, tree: Path, commit: _Commit) -> Task | None:
    """Return the task of a commit, None when its files are not at the snapshot what they were before it."""
    symbols: list[GoldSymbol] = []
    spans: list[GoldSpan] = []
    for path in commit.paths:
        if _blob(mirror, base, path) != _blob(mirror, commit.parent, path) or not (tree / path).is_file():
            return None
        diff = run_git(mirror, "diff", "-U0", "--no-ext-diff", commit.parent, commit.id, "--", path)
        definitions = read_symbols((tree / path).read_bytes(), path).definitions
        for start, count in _HUNK.findall(diff.decode("utf-8", "replace")):
            first = max(int(start), 1)
            last = first + max(int(count or 1), 1) - 1
            spans.append(GoldSpan(path, first, last, insert=count == "0"))
            symbols.extend(_enclosing(definitions, path, first, last))
    language = language_of(commit.paths[0])
    return Task(
        id=f"{repo.replace('/', '__')}-{commit.id[:10]}",
        repo=repo,
        base_commit=base,
        language=language.capitalize(),
        goal=commit.message,
        gold_files=list(commit.paths),
        gold_symbols=list(dict.fromkeys(symbols)),
        gold_spans=spans,
    )


def _blob(mirror: Path, commit: str, path: str) -> bytes:
    return run_git(mirror, "ls-tree", commit, "--", path).split(b"\t")[0]


def _enclosing(definitions: tuple[Definition, ...], path: str, first: int, last: int) -> Iterator[GoldSymbol]:
    """Yield the innermost function around the lines, if there is one."""
    around = [
        definition
        for definition in definitions
        if definition.kind in ("function", "method") and definition.start <= first and definition.end >= last
    ]
    if around:
        best = min(around, key=lambda definition: definition.end - definition.start)
        yield GoldSymbol(path, best.name, "function", best.start, best.end, best.sig_start, best.name)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repos", nargs="+")
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--snapshots", type=int, default=2)
    parser.add_argument("--tasks", type=int, default=8)
    parser.add_argument("--beside", action="store_true")
    arguments = parser.parse_args()
    with arguments.out.open("wb") as out:
        for repo in arguments.repos:
            for task in find_tasks(
                repo,
                arguments.mirrors,
                arguments.trees,
                arguments.snapshots,
                arguments.tasks,
                beside=arguments.beside,
            ):
                out.write(msgspec.json.encode(task) + b"\n")


if __name__ == "__main__":
    main()
