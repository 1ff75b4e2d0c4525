"""Tasks from the past of a repository: commits whose test fails before them and passes after them."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from benchmarks.agents.checking import check
from benchmarks.agents.task import Change, GitSource, Task, TaskError
from benchmarks.git import run_git
from repo_map.history.git_log import clean_message
from repo_map.languages.registry import language_of
from repo_map.worktree.file_kinds import FileFlag, flags_of_path
from repo_map.worktree.git import GitError

_CONTEXT_LINES = (3, 8, 20)
_HUNK = re.compile(r"^@@ .*@@.*\n((?:[ +\\-].*\n?|\n)*)", re.MULTILINE)


class _Commit(NamedTuple):
    id: str
    parent: str
    goal: str
    code: tuple[str, ...]
    tests: tuple[str, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``mine``."""
    parser.add_argument("repo", type=Path, metavar="REPO", help="a git repository on this machine")
    parser.add_argument(
        "--test", required=True, metavar="COMMAND", help="how tests are run; {tests} is their paths"
    )
    parser.add_argument("--into", type=Path, required=True, metavar="DIR", help="folder for the task files")
    parser.add_argument("--commits", type=int, default=200, metavar="N", help="how far to look back (200)")
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="tasks to find at most (10)")
    parser.add_argument(
        "--most-files", type=int, default=3, metavar="N", help="files of code in a commit, at most (3)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


async def mine(options: argparse.Namespace) -> int:
    """Write a task file for each commit that makes a task; return 1 if there is none."""
    options.into.mkdir(parents=True, exist_ok=True)
    found: list[dict[str, str]] = []
    for commit in _commits(options.repo.resolve(), options.commits, options.most_files):
        task = _task(options.repo.resolve(), commit, options.test, options.repo.resolve().name)
        before, after = await check(task)
        if not before and after:
            file = options.into / f"{task.id}.yaml"
            file.write_text(to_yaml(task), encoding="utf-8")
            found.append({"file": str(file), "goal": commit.goal.splitlines()[0]})
            if not options.json:
                print(f"{file}: {found[-1]['goal']}", flush=True)
        else:
            why = "its test passes before it" if before else "its test fails after it"
            print(f"{commit.id[:10]} is no task: {why}.", file=sys.stderr, flush=True)
        if len(found) == options.limit:
            break
    if options.json:
        print(json.dumps({"tasks": found}, ensure_ascii=False))
    return 0 if found else 1


def _commits(repo: Path, most: int, most_files: int) -> Iterator[_Commit]:
    """Yield commits that change both tests and a little code, the latest first."""
    try:
        line = run_git(
            repo, "rev-list", "--first-parent", "--no-merges", f"--max-count={most}", "HEAD"
        ).decode()
    except GitError as error:
        raise TaskError(f"The history of {repo} can't be read: {error}") from error
    for identity in line.split():
        commit = _commit(repo, identity)
        if commit and len(commit.code) <= most_files:
            yield commit


def _commit(repo: Path, identity: str) -> _Commit | None:
    """Return a commit that changes or adds both tests and code, None for any other."""
    about = run_git(repo, "show", "-s", "--format=%P%x00%B", identity).decode("utf-8", "replace")
    parents, _, message = about.partition("\0")
    if not parents.strip():
        return None
    parent = parents.split()[0]
    told = run_git(repo, "diff-tree", "-r", "--no-renames", "--name-status", "-z", parent, identity)
    fields = told.decode("utf-8", "replace").split("\0")
    entries = list(zip(fields[::2], fields[1::2], strict=False))
    paths = [path for _, path in entries if language_of(path)]
    tests = tuple(path for path in paths if flags_of_path(path) & FileFlag.TEST)
    code = tuple(path for path in paths if path not in tests)
    if not (tests and code and all(status in "AM" for status, _ in entries)):
        return None
    return _Commit(identity, parent, clean_message(message).strip(), code, tests)


def task_at(repo: Path, identity: str, test: str, name: str) -> Task:
    """Return the task of a commit of a repository, whose mirror is the folder ``repo``.

    Args:
        repo: a git folder.
        identity: of the commit that is the fix.
        test: how tests are run; ``{tests}`` is their paths.
        name: begins the task's id.

    Raises:
        TaskError: the commit is not there, or changes no tests or no code.
    """
    try:
        commit = _commit(repo, identity)
    except GitError as error:
        raise TaskError(f"Commit {identity} of {repo} can't be read: {error}") from error
    if commit is None:
        raise TaskError(f"Commit {identity} of {repo} is no task: it changes no tests, or no code.")
    return _task(repo, commit, test, name)


def _task(repo: Path, commit: _Commit, test: str, name: str) -> Task:
    """Return the task of a commit: the tree before it, with its tests laid over."""
    command = [
        each for word in shlex.split(test) for each in (commit.tests if word == "{tests}" else (word,))
    ]
    changes = [change for path in commit.code for change in changes_of(repo, commit.parent, commit.id, path)]
    solved = {change.path for change in changes}
    return Task(
        id=f"{name}-{commit.id[:10]}",
        language=language_of(commit.code[0]).capitalize(),
        goal=commit.goal,
        git=GitSource(path=repo, commit=commit.parent),
        bugs=tuple(changes),
        tests={path: _text(repo, commit.id, path) for path in commit.tests},
        test=tuple(command),
        needs=() if command[0] == "python" else (command[0],),
        solution={path: _text(repo, commit.id, path) for path in commit.code if path not in solved},
    )


def changes_of(repo: Path, before: str, after: str, path: str) -> list[Change]:
    """Return a file's changes as texts that stand in the old file exactly once; none for a new file."""
    try:
        old = _text(repo, before, path)
    except GitError:
        return []
    for context in _CONTEXT_LINES:
        diff = run_git(repo, "diff", f"-U{context}", "--no-ext-diff", "--no-color", before, after, "--", path)
        changes = [_change(path, hunk) for hunk in _HUNK.findall(diff.decode("utf-8", "replace"))]
        if changes and all(change.wrong and old.count(change.wrong) == 1 for change in changes):
            return changes
    return []


def _change(path: str, hunk: str) -> Change:
    lines = [line for line in hunk.splitlines(keepends=True) if not line.startswith("\\")]
    wrong = "".join(line[1:] for line in lines if line[0] in " -")
    right = "".join(line[1:] for line in lines if line[0] in " +")
    return Change(path=path, right=right, wrong=wrong)


def _text(repo: Path, commit: str, path: str) -> str:
    return run_git(repo, "cat-file", "blob", f"{commit}:{path}").decode("utf-8", "replace")


class _Blocks(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


def _represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Blocks.add_representer(str, _represent)


def to_yaml(task: Task) -> str:
    """Return a task as the YAML that ``read_task`` reads."""
    data: Any = task.model_dump(mode="json", exclude_defaults=True)
    text: str = yaml.dump(data, Dumper=_Blocks, sort_keys=False, allow_unicode=True, width=110)
    return text
