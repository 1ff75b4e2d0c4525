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
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks.git import run_git
from benchmarks.tasks import NOT_CODE, GoldSpan, GoldSymbol, Task
from benchmarks.trees import find_mirror, materialise
from repo_map.languages.registry import language_of
from repo_map.parsing.symbols import read_symbols
from repo_map.parsing.values import Definition
from repo_map.sources.file_kinds import FileFlag, FileKind, flags_of_path, kinds_of

_REACH = 300
_SHARE_OF_PAST = 20
"""So many commits of the main line after a snapshot may make its tasks, or such a part of all, if more."""
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
_TRAILER = re.compile(
    r"^(?:[A-Za-z]+(?:-[A-Za-z]+)+-?(?:by|id|on|to|from|cc)?|git-svn-id|cc|bug|pr-url|signed-off-by): .*$",
    re.IGNORECASE | re.MULTILINE,
)
_MAX_MESSAGE_CHARS = 2_000
_NUMBER = re.compile(r"\s*\(?(?:#|gh-)\d+\)?|https?://\S+", re.IGNORECASE)
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+", re.MULTILINE)


class _Commit(NamedTuple):
    id: str
    parent: str
    message: str
    before: Mapping[str, str]
    """Path → blob of each file that it edits, as it was."""


def find_tasks(
    repo: str, mirrors: Path, trees: Path, snapshots: int, per_snapshot: int, *, beside: bool = False
) -> Iterator[Task]:
    """Yield tasks of evenly spread snapshots of a repository, at most ``per_snapshot`` each."""
    mirror = find_mirror(repo, mirrors)
    line = run_git(mirror, "rev-list", "--first-parent", "HEAD").decode().split()
    for number in range(snapshots):
        place = int(len(line) * 0.55 * (number + 0.5) / snapshots)
        if place < 5 or place >= len(line):
            continue
        base, reach = line[place], max(_REACH, len(line) // _SHARE_OF_PAST)
        tree = materialise(repo, base, mirrors, trees)
        blobs = {path: blob for blob, path in _blobs(run_git(mirror, "ls-tree", "-r", "-z", base))}
        kept = (
            commit
            for commit in _commits(mirror, base, line[max(place - reach, 0)], beside)
            if all(blobs.get(path) == blob for path, blob in commit.before.items())
        )
        tasks = (_task(repo, base, mirror, tree, commit) for commit in kept)
        yield from islice((task for task in tasks if task is not None), per_snapshot)


def _blobs(listed: bytes) -> Iterator[tuple[str, str]]:
    for entry in listed.decode("utf-8", "replace").split("\0"):
        about, _, path = entry.partition("\t")
        if path:
            yield about.split()[2], path


def _commits(mirror: Path, base: str, top: str, beside: bool) -> Iterator[_Commit]:
    """Yield commits that edit a few files of code, or only files beside it, the oldest first."""
    shape = ("--raw", "--no-abbrev", "--no-renames", "-z", "--format=%x01%H%x02%P%x02%B%x02")
    told = run_git(mirror, "log", "--no-merges", "--reverse", *shape, f"{base}..{top}")
    for part in told.decode("utf-8", "replace").split("\x01")[1:]:
        identity, parents, message, changed = part.split("\x02", 3)
        cleaned = _NUMBER.sub("", _TRAILER.sub("", message).strip()[:_MAX_MESSAGE_CHARS]).strip()
        if len(cleaned) < _LEAST_MESSAGE or (_OF_PROGRAMS if beside else _ROUTINE).search(cleaned):
            continue
        fields = changed.strip("\n\0").split("\0")
        about = {path: each.split() for each, path in zip(fields[::2], fields[1::2], strict=False)}
        entries = [(words[4], path) for path, words in about.items()]
        wanted = _edited_beside(entries) if beside else _edited_code(entries)
        if parents and 0 < len(wanted) <= _MOST_FILES:
            yield _Commit(identity, parents.split()[0], cleaned, {path: about[path][2] for path in wanted})


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
    """Return the task of a commit, None where the snapshot's tree lacks a file of it."""
    symbols: list[GoldSymbol] = []
    spans: list[GoldSpan] = []
    for path in commit.before:
        if not (tree / path).is_file():
            return None
        diff = run_git(mirror, "diff", "-U0", "--no-ext-diff", commit.parent, commit.id, "--", path)
        definitions = read_symbols((tree / path).read_bytes(), path).definitions
        for start, count in _HUNK.findall(diff.decode("utf-8", "replace")):
            first = max(int(start), 1)
            last = first + max(int(count or 1), 1) - 1
            spans.append(GoldSpan(path, first, last, insert=count == "0"))
            symbols.extend(_enclosing(definitions, path, first, last))
    language = language_of(next(iter(commit.before)))
    return Task(
        id=f"{repo.replace('/', '__')}-{commit.id[:10]}",
        repo=repo,
        base_commit=base,
        language=language.capitalize(),
        goal=commit.message,
        gold_files=list(commit.before),
        gold_symbols=list(dict.fromkeys(symbols)),
        gold_spans=spans,
    )


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
