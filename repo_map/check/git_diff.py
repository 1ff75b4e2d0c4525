"""What git reports as changed: the work tree against a commit, or one commit against another.

Git opens no file of the work tree, so that no filter of the repository runs: git lists what is committed, and
the bytes of the tree are compared here.
"""

from __future__ import annotations

import hashlib
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Final

from repo_map.check.model import WORKTREE
from repo_map.check.patch import MAX_CHARS, MAX_FILES, FilePatch, Hunk, Patch, read_patch
from repo_map.errors import RepoMapError
from repo_map.secrets.masking import mask, mask_text
from repo_map.sources import disk
from repo_map.sources.commit_names import (
    FORMS_OF_NAMES,
    CommitNameError,
    CommitRange,
    find_commit,
    locate,
    read_range,
)
from repo_map.sources.commits import Entry, entries_of, read_blobs
from repo_map.sources.decoding import decode
from repo_map.sources.files import read_file
from repo_map.sources.git import HEAD, Deadline, Git, GitError, HistoryStart, NotInRepositoryError, git_error
from repo_map.sources.source import RepositoryPart

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.sources.source import FileSource

_ADVICE: Final = f"give `worktree`, {FORMS_OF_NAMES}, a range such as `main..HEAD`, or a patch."
_TIMEOUT_S: Final = 20.0
_TIMED_OUT: Final = "The changes could not be read in time; give a smaller range, or a patch."
_MAX_UNTRACKED: Final = 100
"""Untracked files that count as changed."""
_MAX_BLOB_BYTES: Final = 2_000_000
_MAX_HASHED_BYTES: Final = 50_000_000
"""Of a file outside the index up to which it is compared with its commit."""
_CONTEXT: Final = 3
_MAX_COMPARED: Final = 25_000_000
"""Product of the lines on both sides up to which unchanged lines are looked for."""
_MIN_SIMILARITY: Final = 0.5
"""Share of equal lines from which on a new file is a deleted one renamed, as in git."""
_MAX_RENAMES: Final = 40
_STAGED = re.compile(
    rb"100\d+ ([0-9a-f]{40,64}) 0\t([^\0]+)\0  ctime: \d+:\d+\n  mtime: (\d+):(\d+)\n  dev: [^\n]*\n"
    rb"  uid: [^\n]*\n  size: (\d+)\tflags: ([0-9a-f]+)\n"
)
"""An entry of ``git ls-files --stage --debug``; if git prints another format, all files are compared."""
_SKIP_WORKTREE: Final = 1 << 30
"""The flag of an entry that is not checked out."""
_ABSENT = re.compile(rb"S 100\d+ ([0-9a-f]{40,64}) 0\t([^\0]+)\0")
_MAX_ABSENT: Final = 20_000
"""Files that are not checked out and are read from git."""
LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"


class ChangesError(RepoMapError):
    """The changes can't be read; the message says why, and what to give instead."""

    code = "invalid_changes"


def read_changes(index: Index, revisions: str) -> tuple[str, Patch]:
    """Return a description of what changed, and its patch.

    Args:
        index: The tree.
        revisions: ``worktree``, a commit or a range. A commit means all since the merge base with it,
            uncommitted changes included. ``A..B`` and ``A...B`` mean what they mean to git. Of several
            repositories those count that have the commits.

    Raises:
        ChangesError: There is no such commit, or git does not answer.
    """
    deadline = Deadline(_TIMEOUT_S)
    descriptions, files, notes, errors = list[str](), list[FilePatch](), list[str](), list[ChangesError]()
    for part in index.build.source.parts:
        try:
            description, patch = _Repository(index, part, deadline).changes(revisions)
        except ChangesError as error:
            errors.append(error)
        except CommitNameError as error:
            errors.append(ChangesError(f"{error}; {error.advice or _ADVICE}"))
        except GitError as error:
            errors.append(_git_refusal(error, part))
        else:
            descriptions.append(description)
            files += (each.below(part.prefix) for each in patch.files)
            notes += patch.notes
    if not descriptions:
        raise errors[0]
    patch = Patch(tuple(files), notes=tuple(dict.fromkeys((*notes, *map(str, errors)))))
    return ", ".join(dict.fromkeys(descriptions)), patch


def require_git(source: FileSource) -> None:
    """Raise ``ChangesError`` if no repository of a source is in git; asked before the files are read."""
    errors = list[ChangesError]()
    for part in source.parts:
        try:
            Git(part.root)
        except NotInRepositoryError as error:
            errors.append(_git_refusal(error, part))
        except GitError:
            return  # ``read_changes`` reports it with what the others lack.
        else:
            return
    raise errors[0]


def _git_refusal(error: GitError, part: RepositoryPart) -> ChangesError:
    """Return git's refusal of a repository, without the location of a named repository's clone."""
    code = error.code if isinstance(error, NotInRepositoryError) else ""
    return ChangesError(str(error).replace(str(part.root), part.shown), code=code)


def read_absent(source: FileSource) -> dict[str, bytes | None]:
    """Return the files that git tracks and does not check out, by path; None where it lacks the content."""
    found: dict[str, bytes | None] = {}
    for part in source.parts:
        with suppress(GitError, OSError):
            git = Git(part.root)
            absent = _ABSENT.findall(git.ask("ls-files", "-z", "-t", "--stage") if not part.ref else b"")
            blobs = read_blobs(git, [blob.decode() for blob, _ in absent[:_MAX_ABSENT]])
            for blob, path in absent:
                found[part.prefix + path.decode("utf-8", "replace")] = blobs.get(blob.decode())
    return found


class _Repository:
    """One repository of an index; paths are its own."""

    def __init__(self, index: Index, part: RepositoryPart, deadline: Deadline) -> None:
        self._index = index
        self._part = part
        self._root = part.root
        self._git = Git(part.root)
        self._deadline = deadline

    def _file_id(self, path: str) -> int | None:
        return self._index.file_id(self._part.prefix + path)

    def changes(self, revisions: str) -> tuple[str, Patch]:
        """Return a description of what changed, and its patch; errors as of ``read_changes`` and of git."""
        part, git, deadline = self._part, self._git, self._deadline
        place = locate(git, part.ref, deadline)
        if place is None or not place.head:
            git.ask("rev-parse", "--git-dir")  # Where git refuses the repository, its reason counts.
            raise ChangesError(f"`{part.shown}` has no commit that git could compare with; commit first.")
        if revisions == WORKTREE and part.ref:
            raise ChangesError(
                f"`{part.shown}` is read at the commit `{part.ref}`, so it has no working tree; give a "
                "commit such as `main`, a range such as `v1..v2`, or a patch."
            )
        wanted = read_range(HEAD if revisions == WORKTREE else revisions)
        first, last = wanted[:2] if isinstance(wanted, CommitRange) else (wanted, None)
        old, new = (find_commit(git, each, deadline) if each else place.head for each in (first, last))
        names = str(first or part.ref or HEAD), str(last or part.ref or HEAD)
        for name, commit in zip(names, (old, new), strict=True):
            if not commit:
                raise ChangesError(f"No commit is called `{name}` here; {_ADVICE}")
        if old != new and (not isinstance(wanted, CommitRange) or wanted.from_base):
            old = self._merge_base(old, new, names)
        if isinstance(wanted, CommitRange) or part.ref:
            return f"`{revisions}`", self._range_patch(place, old, new)
        return f"the working tree since `{names[0]}`", self._worktree_patch(place, old)

    def _merge_base(self, old: str, new: str, names: tuple[str, str]) -> str:
        with suppress(GitError):
            if found := self._read("merge-base", old, new).split():
                return found[0].decode("ascii", "replace")
        one, other = (ascii(name[:80])[1:-1] for name in names)
        raise ChangesError(
            f"`{one}` and `{other}` have no commit in common here, as in a shallow clone; fetch the "
            "whole history (`git fetch --unshallow`, in a CI job `fetch-depth: 0`), or give a range "
            f"such as `{one}..{other}`."
        )

    def _read(self, *arguments: str) -> bytes:
        output = self._git.history(*arguments, deadline=self._deadline)
        if output is None or output.status is None:
            raise ChangesError(_TIMED_OUT)
        if output.status != 0:
            raise git_error(output.errors, self._root)
        return output.text

    def _range_patch(self, place: HistoryStart, old: str, new: str) -> Patch:
        form = ("-r", "-p", "-M", "-U3", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules")
        plain = ("--no-color", "--no-ext-diff", "--no-textconv", f"--relative={place.prefix}")
        text = self._read("diff-tree", *form, *plain, old, new)
        # More than is read of it, so that the rest is noticed.
        return read_patch(mask_text(text[: 4 * MAX_CHARS].decode("utf-8", "replace")))

    def _worktree_patch(self, place: HistoryStart, commit: str) -> Patch:
        listed = entries_of(self._read("ls-tree", "-r", "-l", "-z", "--full-tree", commit))
        start, prefix = len(place.prefix), self._part.prefix
        entries = {path[start:]: each for path, each in listed.items() if path.startswith(place.prefix)}
        before = {path: each for path, each in entries.items() if each.kind == stat.S_IFREG}
        staged = _STAGED.findall(self._git.ask("ls-files", "-z", "--stage", "--debug"))
        tracked = {path.decode("utf-8", "replace"): rest for rest in staged for path in rest[1:2]}
        clean = _unmodified(self._root, tracked, Path(place.git_dir) / "index")
        for path, rest in tracked.items():
            if int(rest[5], 16) & _SKIP_WORKTREE and self._file_id(path) is None:
                before.pop(path, None)
        # A link has no lines of its own: a file in its place is not new.
        submodules = {f"{path}/": each.id for path, each in entries.items() if each.kind == stat.S_IFDIR}
        own = (path.removeprefix(prefix) for path in self._index.paths if path.startswith(prefix))
        new = [path for path in own if path not in entries and not path.startswith(tuple(submodules))]
        notes = []
        untracked = len(new) - sum(path in tracked for path in new)
        if untracked > _MAX_UNTRACKED:
            notes.append(f"{untracked:,} untracked files were not taken for changes.")
            new = [path for path in new if path in tracked]
        suspects = {path: each for path, each in before.items() if clean.get(path) != each.id}
        changed = sorted([*self._deleted(before), *self._modified(suspects), *new])
        if len(changed) > MAX_FILES:
            notes.append(f"{len(changed):,} files differ; the first {MAX_FILES} by path were compared.")
            changed = changed[:MAX_FILES]
        known = [before[path] for path in changed if path in before]
        small = dict.fromkeys(each.id for each in known if each.size <= _MAX_BLOB_BYTES)
        olds = read_blobs(self._git, list(small), self._deadline)
        patches = (
            self._file_patch(path, path in before, olds.get(before[path].id) if path in before else None)
            for path in changed
        )
        files = list(_join_renames([each for each in patches if each is not None]))
        for folder, old in submodules.items():
            patch = self._submodule_patch(folder, old)
            files += (each.below(folder) for each in patch.files)
            notes += patch.notes
        return Patch(tuple(files), notes=tuple(notes))

    def _submodule_patch(self, folder: str, commit: str) -> Patch:
        """Return what differs in a submodule from the commit that the repository names."""
        part = RepositoryPart(self._part.prefix + folder, self._root / folder, "")
        if not any(path.startswith(part.prefix) for path in self._index.paths):
            return Patch(())
        try:
            inner = _Repository(self._index, part, self._deadline)
            place = locate(inner._git, "", self._deadline)
            if place is not None:
                return inner._worktree_patch(place, commit)
            why = "it has no commit"
        except (ChangesError, CommitNameError, GitError) as error:
            why = str(error)
        return Patch((), notes=(f"The changes in the submodule `{folder[:-1]}` are not known: {why}",))

    def _deleted(self, before: Mapping[str, Entry]) -> Iterator[str]:
        missing = [path for path in before if self._file_id(path) is None]
        kinds = disk.states(self._root, missing)[4::5]
        return (path for path, kind in zip(missing, kinds, strict=True) if not kind)

    def _modified(self, before: Mapping[str, Entry]) -> Iterator[str]:
        """Yield the files whose bytes are not those of their commit."""
        for path, (blob, *_) in before.items():
            if self._file_id(path) is None:
                continue
            if not self._deadline.left():
                raise ChangesError(_TIMED_OUT)
            source = None
            with suppress(OSError):
                reading = disk.read_whole(self._root, path, _MAX_HASHED_BYTES, first=0)
                source = None if reading.after is None else reading.source
            forms = () if source is None else (source, source.replace(b"\r\n", b"\n"))
            if blob not in (_blob_of(form, blob) for form in forms):
                yield path

    def _file_patch(self, path: str, is_old: bool, old: bytes | None) -> FilePatch | None:
        file = self._file_id(path)
        after = [] if file is None else _lines(self._index.sources.text(file))
        if not is_old:
            return None if file is None else FilePatch("", path, tuple(find_hunks([], after)))
        if old is not None and old.startswith(LFS_POINTER):
            return None
        old = None if old is None else decode(old, path).source
        # A file that is not shown has no lines to compare.
        is_hidden = file is not None and read_file(self._root, path).source is None
        is_binary = old is None or b"\0" in old or is_hidden
        before = [] if old is None else _lines(mask(old).source.decode("utf-8-sig", "replace"))
        hunks = () if is_binary else tuple(find_hunks(before, after))
        is_changed = is_binary or hunks or file is None
        return FilePatch(path, "" if file is None else path, hunks, is_binary) if is_changed else None


def _unmodified(root: Path, tracked: Mapping[str, Sequence[bytes]], index: Path) -> dict[str, str]:
    """Return the blobs of the files whose size and time are those in git's index.

    A file written as late as git's index may have been written again since, and does not count.
    """
    index_ns, states = disk.modified_ns(index), disk.states(root, tracked)
    return {
        path: blob.decode("ascii")
        for (path, (blob, _, seconds, part, size, _)), size_now, time_ns in zip(
            tracked.items(), states[0::5], states[1::5], strict=True
        )
        if (int(size), int(seconds) * 1_000_000_000 + int(part)) == (size_now, time_ns) and time_ns < index_ns
    }


def _blob_of(source: bytes, like: str) -> str:
    """Return git's name of some bytes, by the hash that another name has."""
    kind = hashlib.sha1 if len(like) == 40 else hashlib.sha256
    return kind(b"blob %d\0" % len(source) + source, usedforsecurity=False).hexdigest()


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def find_hunks(before: Sequence[str], after: Sequence[str]) -> Iterator[Hunk]:
    """Yield what turns some lines into others, with three lines of context."""
    limit, top, end = min(len(before), len(after)), 0, 0
    while top < limit and before[top] == after[top]:
        top += 1
    while end < limit - top and before[-1 - end] == after[-1 - end]:
        end += 1
    first = max(top - _CONTEXT, 0)
    one = before[first : len(before) - max(end - _CONTEXT, 0)]
    other = after[first : len(after) - max(end - _CONTEXT, 0)]
    if one == other:
        return
    if len(one) * len(other) > _MAX_COMPARED:
        yield Hunk(first + 1, first + 1, (*(f"-{line}" for line in one), *(f"+{line}" for line in other)))
        return
    for group in SequenceMatcher(None, one, other, autojunk=False).get_grouped_opcodes(_CONTEXT):
        lines: list[str] = []
        for kind, start, stop, low, high in group:
            if kind == "equal":
                lines += (f" {line}" for line in one[start:stop])
            else:
                lines += (f"-{line}" for line in one[start:stop])
                lines += (f"+{line}" for line in other[low:high])
        yield Hunk(first + group[0][1] + 1, first + group[0][3] + 1, tuple(lines))


def _join_renames(files: Sequence[FilePatch]) -> Iterator[FilePatch]:
    """Yield the patches; a deleted file and a new one much like it become a renamed one."""
    deleted = [each for each in files if not each.new and not each.is_binary]
    new = [each for each in files if not each.old and not each.is_binary]
    renamed: dict[FilePatch, FilePatch] = {}
    for each in new if max(len(deleted), len(new)) <= _MAX_RENAMES else ():
        found = [other for other in deleted if other not in renamed.values()]
        best = max(found, key=lambda other: _similarity(other, each), default=None)
        if best is not None and _similarity(best, each) >= _MIN_SIMILARITY:
            renamed[each] = best
    for each in files:
        if each in renamed:
            hunks = find_hunks(renamed[each].marked("-"), each.marked("+"))
            yield FilePatch(renamed[each].old, each.new, tuple(hunks))
        elif each not in renamed.values():
            yield each


def _similarity(old: FilePatch, new: FilePatch) -> float:
    """Return the share of equal lines, blank ones left out."""
    one, other = (
        Counter(filter(None, map(str.strip, lines))) for lines in (old.marked("-"), new.marked("+"))
    )
    return (one & other).total() / max(one.total(), other.total(), 1)
