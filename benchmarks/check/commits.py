"""Commits of a repository as trees: parsed once, then only what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.git import run_git
from benchmarks.trees import find_mirror, materialise
from repo_map.check.git_diff import find_hunks
from repo_map.check.patch import FilePatch, Patch
from repo_map.index.build import build_index, overlay_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named, language_of
from repo_map.secrets.masking import mask
from repo_map.sources.file_kinds import is_bundle
from repo_map.sources.git import GitError

MOST_FILES: Final = 15
"""Files of code of a commit that is looked at."""
_AT_ONCE: Final = 100
"""Commits that git is asked for at once."""


class Edit(NamedTuple):
    """What a commit does to one file."""

    old: str
    """Its path before, ``""`` for a new one."""
    new: str
    """Its path after, ``""`` for one that is gone."""
    before: str
    after: str

    @property
    def path(self) -> str:
        """The path by which it is told."""
        return self.new or self.old


class Hunk(NamedTuple):
    """Lines of a file that a commit replaces; lines count from 0."""

    first: int
    """Of the lines before."""
    removed: tuple[str, ...]
    start: int
    """Of the lines after."""
    added: tuple[str, ...]


def hunks_of(edit: Edit) -> list[Hunk]:
    """Return the hunks of a file, without lines around them."""
    before, after = edit.before.split("\n"), edit.after.split("\n")
    top = 0
    while top < min(len(before), len(after)) and before[top] == after[top]:
        top += 1
    end = 0
    while end < min(len(before), len(after)) - top and before[-1 - end] == after[-1 - end]:
        end += 1
    one, other = before[top : len(before) - end], after[top : len(after) - end]
    return [
        Hunk(top + a, tuple(one[a:b]), top + c, tuple(other[c:d]))
        for kind, a, b, c, d in SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
        if kind != "equal"
    ]


def without(edit: Edit, hunk: Hunk) -> Edit:
    """Return an edit of which one hunk was forgotten."""
    lines = edit.after.split("\n")
    lines[hunk.start : hunk.start + len(hunk.added)] = hunk.removed
    return edit._replace(after="\n".join(lines))


def patch_of(edits: Sequence[Edit]) -> Patch:
    """Return edits as a patch."""
    return Patch(
        tuple(
            FilePatch(each.old, each.new, tuple(find_hunks(_lines(each.before), _lines(each.after))))
            for each in edits
            if each.before != each.after or each.old != each.new
        )
    )


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


class Past:
    """A repository whose commits are read."""

    def __init__(self, repo: str, mirrors: Path, trees: Path) -> None:
        self.repo = repo
        self._mirror = find_mirror(repo, mirrors)
        self._mirrors, self._trees = mirrors, trees
        self._head = run_git(self._mirror, "rev-parse", "HEAD").decode().strip()
        self._latest: tuple[str, Index] | None = None
        """The last commit that was asked for, and its index."""

    @cached_property
    def _base(self) -> Index:
        root = materialise(self.repo, self._head, self._mirrors, self._trees)
        return build_index(root, store=Store(self._trees / "cache"))

    def commits(self, reach: int, is_wanted: Callable[[str], bool] = bool) -> Iterator[tuple[str, str]]:
        """Yield the latest commits that are no merges and whose patch is wanted, each with its parent."""
        form = ("log", "--no-merges", f"--max-count={reach}", "--format=%H %P", "HEAD")
        listed = [line.split() for line in run_git(self._mirror, *form).decode().splitlines()]
        plain = [each for each in listed if len(each) == 2]
        for first in range(0, len(plain), _AT_ONCE):
            some = plain[first : first + _AT_ONCE]
            patches = self._patches([commit for commit, _ in some])
            yield from ((commit, parent) for commit, parent in some if is_wanted(patches.get(commit, "")))

    def _patches(self, commits: Sequence[str]) -> dict[str, str]:
        """Return the patches of commits, without those that a mirror lacks a large file of."""
        form = ("show", "--format=%x00%H", "-p", "-U0", "--no-renames")
        try:
            text = run_git(self._mirror, *form, *commits, timeout_s=300).decode("utf-8", "replace")
        except GitError:
            if len(commits) < 2:
                return {}
            middle = len(commits) // 2
            return self._patches(commits[:middle]) | self._patches(commits[middle:])
        return {head: patch for head, _, patch in (each.partition("\n") for each in text.split("\0")[1:])}

    def edits(self, commit: str, parent: str) -> list[Edit]:
        """Return what a commit does to files of code and text; nothing for one that is too wide."""
        entries = self._raw(parent, commit)
        if not self._has(commit, [new for _, _, new in entries]):
            return []
        code = [path for _, old, new in entries for path in (new or old,) if is_code(path)]
        if not 1 <= len(code) <= MOST_FILES or len(entries) > 4 * MOST_FILES:
            return []
        return [
            Edit(old, new, self._text(parent, old), self._text(commit, new))
            for _, old, new in entries
            if language_of(new or old)
        ]

    def _has(self, commit: str, paths: Sequence[str]) -> bool:
        """Tell whether a mirror holds what a commit left at some paths: one that was cut lacks old files."""
        named = [f"{commit}:{path}" for path in paths if path and "\n" not in path]
        with suppress(GitError):
            return b" missing" not in run_git(self._mirror, "cat-file", "--batch-check", lines=named)
        return False

    def at(self, commit: str, edits: Sequence[Edit] = ()) -> Index:
        """Return the index of a commit, with some files as edits leave them."""
        contents: dict[str, bytes | None] = {}
        for each in edits:
            if each.new:
                contents[each.new] = each.after.encode()
            if each.old != each.new and each.old:
                contents[each.old] = None
        index = self._at(commit)
        return overlay_index(index, contents) if contents else index

    def _at(self, commit: str) -> Index:
        if self._latest is None or self._latest[0] != commit:
            self._latest = None
            entries = self._raw(self._head, commit, renames=False)
            contents: dict[str, bytes | None] = {old: None for _, old, new in entries if not new}
            contents.update(self._many(commit, [new for _, _, new in entries if language_of(new)]))
            self._latest = commit, overlay_index(self._base, contents) if contents else self._base
        return self._latest[1]

    def _many(self, commit: str, paths: Sequence[str]) -> dict[str, bytes]:
        """Return what a commit has at some paths, asked of git at once."""
        named = [f"{commit}:{path}" for path in paths if "\n" not in path]
        text, at = run_git(self._mirror, "cat-file", "--batch", lines=named, timeout_s=600.0), 0
        found: dict[str, bytes] = {}
        for path in paths:
            head, _, _ = text[at : at + 4_096].partition(b"\n")
            kind, _, size = head.rpartition(b" ")
            at += len(head) + 1
            if kind.endswith(b"blob"):
                found[path] = mask(text[at : at + int(size)]).source
                at += int(size) + 1
        return found

    def _raw(self, one: str, other: str, *, renames: bool = True) -> list[tuple[str, str, str]]:
        """Return the files that differ: what was done to each, its path before and after."""
        flag = "-M" if renames else "--no-renames"
        text = run_git(self._mirror, "diff-tree", "-r", flag, "--name-status", "-z", one, other)
        fields = text.decode("utf-8", "replace").split("\0")
        found, at = [], 0
        while at + 1 < len(fields):
            status = fields[at][:1]
            if status in ("R", "C"):
                found.append((status, fields[at + 1] if status == "R" else "", fields[at + 2]))
                at += 3
                continue
            path = fields[at + 1]
            found.append((status, "" if status == "A" else path, "" if status == "D" else path))
            at += 2
        return found

    def _bytes(self, commit: str, path: str) -> bytes:
        return mask(run_git(self._mirror, "show", f"{commit}:{path}")).source

    def _text(self, commit: str, path: str) -> str:
        if not path:
            return ""
        try:
            return self._bytes(commit, path).decode("utf-8-sig", "replace").replace("\r\n", "\n")
        except Exception:
            return ""


def is_code(path: str) -> bool:
    """Tell whether a path is one of code that people edit."""
    language = language_of(path)
    return bool(language) and not is_bundle(path) and language_named(language).role is LanguageRole.CODE
