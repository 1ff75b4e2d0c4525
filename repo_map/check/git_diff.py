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
from contextlib import contextmanager
from difflib import SequenceMatcher
from functools import cached_property
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
from repo_map.sources.files import read_file
from repo_map.sources.git import HEAD, Deadline, Git, GitError, HistoryStart

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.sources.source import RepositoryPart

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
    rb"  uid: [^\n]*\n  size: (\d+)\t"
)
"""An entry of ``git ls-files --stage --debug``; if git prints another format, all files are compared."""
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"


class ChangesError(RepoMapError):
    """The changes can't be read; the message says why, and what to give instead."""

    code = "invalid_changes"


class _IndexPart:
    """What an index has of one repository, by that repository's paths."""

    def __init__(self, index: Index, part: RepositoryPart) -> None:
        self._index = index
        self._prefix = part.prefix
        self.root = part.root

    @cached_property
    def paths(self) -> tuple[str, ...]:
        start = self._prefix
        return tuple(path.removeprefix(start) for path in self._index.paths if path.startswith(start))

    def file_id(self, path: str) -> int | None:
        return self._index.file_id(self._prefix + path)

    def text(self, file: int) -> str:
        return self._index.sources.text(file)

    def with_prefix(self, patch: Patch) -> Patch:
        """Return a patch of the repository with the index's paths."""
        start = self._prefix
        files = (
            each._replace(old=each.old and start + each.old, new=each.new and start + each.new)
            for each in patch.files
        )
        return patch._replace(files=tuple(files))


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
    found: list[tuple[str, Patch]] = []
    errors: list[ChangesError] = []
    for part in index.build.source.parts:
        try:
            found.append(_changes_of(_IndexPart(index, part), part, revisions, deadline))
        except ChangesError as error:
            errors.append(error)
        except GitError as error:
            # The location of a named repository's clone is not reported.
            errors.append(ChangesError(str(error).replace(str(part.root), part.shown)))
    if not found:
        raise errors[0]
    description = ", ".join(dict.fromkeys(what for what, _ in found))
    files = (file for _, patch in found for file in patch.files)
    notes = (note for _, patch in found for note in patch.notes)
    return description, Patch(tuple(files), notes=tuple(dict.fromkeys((*notes, *map(str, errors)))))


def _changes_of(
    own: _IndexPart, part: RepositoryPart, revisions: str, deadline: Deadline
) -> tuple[str, Patch]:
    """Return the changes of one repository; raise ``ChangesError`` or ``GitError``."""
    git = Git(part.root)
    with _as_changes_error():
        place = locate(git, part.ref, deadline)
    if place is None:
        raise ChangesError(f"`{part.shown}` has no commit that git could compare with; commit first.")
    if revisions == WORKTREE and part.ref:
        raise ChangesError(
            f"`{part.shown}` is read at the commit `{part.ref}`, so it has no working tree; give a "
            "commit such as `main`, a range such as `v1..v2`, or a patch."
        )
    with _as_changes_error():
        wanted = read_range(HEAD if revisions == WORKTREE else revisions)
        first, last = wanted[:2] if isinstance(wanted, CommitRange) else (wanted, None)
        old, new = (find_commit(git, each, deadline) if each else place.head for each in (first, last))
    names = str(first or part.ref or HEAD), str(last or part.ref or HEAD)
    for name, commit in zip(names, (old, new), strict=True):
        if not commit:
            raise ChangesError(f"No commit is called `{name}` here; {_ADVICE}")
    if not isinstance(wanted, CommitRange) or wanted.from_base:
        old = _merge_base(git, old, new, names, deadline)
    if isinstance(wanted, CommitRange) or part.ref:
        return f"`{revisions}`", own.with_prefix(_range_patch(git, place, old, new, deadline))
    patch = _worktree_patch(own, git, place, old, deadline)
    return f"the working tree since `{names[0]}`", own.with_prefix(patch)


@contextmanager
def _as_changes_error() -> Iterator[None]:
    try:
        yield
    except CommitNameError as error:
        raise ChangesError(f"{error}; {error.advice or _ADVICE}") from error


def _merge_base(git: Git, old: str, new: str, names: tuple[str, str], deadline: Deadline) -> str:
    if old == new:
        return old
    output = git.history("merge-base", old, new, deadline=deadline)
    if output is None or output.status is None:
        raise ChangesError(_TIMED_OUT)
    if output.status != 0 or not output.text.strip():
        one, other = (ascii(name[:80])[1:-1] for name in names)
        raise ChangesError(
            f"`{one}` and `{other}` have no commit in common here, as in a shallow clone; fetch the whole "
            "history (`git fetch --unshallow`, in a CI job `fetch-depth: 0`), or give a range such as "
            f"`{one}..{other}`."
        )
    return output.text.decode("ascii", "replace").split("\n")[0]


def _run(git: Git, deadline: Deadline, *arguments: str) -> bytes:
    output = git.history(*arguments, deadline=deadline)
    if output is None or output.status is None:
        raise ChangesError(_TIMED_OUT)
    if output.status != 0:
        raise ChangesError("Git can't compare these commits; fetch what is missing of them, or give a patch.")
    return output.text


def _range_patch(git: Git, place: HistoryStart, old: str, new: str, deadline: Deadline) -> Patch:
    plain = ("--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules")
    form = ("-r", "-p", "-M", "-U3", f"--relative={place.prefix}", "--src-prefix=a/", "--dst-prefix=b/")
    text = _run(git, deadline, "diff-tree", *form, *plain, old, new)
    # More than is read of it, so that the rest is noticed.
    return read_patch(mask_text(text[: 4 * MAX_CHARS].decode("utf-8", "replace")))


def _worktree_patch(own: _IndexPart, git: Git, place: HistoryStart, commit: str, deadline: Deadline) -> Patch:
    listed = entries_of(_run(git, deadline, "ls-tree", "-r", "-l", "-z", "--full-tree", commit))
    start = len(place.prefix)
    entries = {path[start:]: each for path, each in listed.items() if path.startswith(place.prefix)}
    before = {path: each for path, each in entries.items() if each.kind == stat.S_IFREG}
    staged = _STAGED.findall(git.ask("ls-files", "-z", "--stage", "--debug"))
    tracked = {path.decode("utf-8", "replace"): rest for rest in staged for path in rest[1:2]}
    clean = _unmodified(own.root, tracked, Path(place.git_dir) / "index")
    suspects = {path: each for path, each in before.items() if clean.get(path) != each.id}
    # A link has no lines of its own: a file in its place is not new.
    new = [path for path in own.paths if path not in entries]
    untracked = [path for path in new if path not in tracked]
    notes = []
    if len(untracked) > _MAX_UNTRACKED:
        notes.append(f"{len(untracked):,} untracked files were not taken for changes.")
        new = [path for path in new if path in tracked]
    changed = sorted([*_deleted(own, before), *_modified(own, suspects, deadline), *new])
    if len(changed) > MAX_FILES:
        notes.append(f"{len(changed):,} files differ; the first {MAX_FILES} by path were compared.")
        changed = changed[:MAX_FILES]
    small = [before[path].id for path in changed if path in before and before[path].size <= _MAX_BLOB_BYTES]
    olds = read_blobs(git, list(dict.fromkeys(small)), deadline)
    files = (
        _file_patch(own, path, path in before, olds.get(before[path].id) if path in before else None)
        for path in changed
    )
    return Patch(tuple(_join_renames(tuple(filter(None, files)))), notes=tuple(notes))


def _unmodified(root: Path, tracked: Mapping[str, Sequence[bytes]], index: Path) -> dict[str, str]:
    """Return the blobs of the files whose size and time are those in git's index.

    A file written as late as git's index may have been written again since, and does not count.
    """
    index_ns = disk.modified_ns(index)
    states = disk.states(root, tracked)
    sizes, times = states[0::5].tolist(), states[1::5].tolist()
    return {
        path: blob.decode("ascii")
        for (path, (blob, _, seconds, part, size)), size_now, time_ns in zip(
            tracked.items(), sizes, times, strict=True
        )
        if (int(size), int(seconds) * 1_000_000_000 + int(part)) == (size_now, time_ns) and time_ns < index_ns
    }


def _deleted(own: _IndexPart, before: Mapping[str, Entry]) -> Iterator[str]:
    missing = [path for path in before if own.file_id(path) is None]
    kinds = disk.states(own.root, missing)[4::5]
    return (path for path, kind in zip(missing, kinds, strict=True) if not kind)


def _modified(own: _IndexPart, before: Mapping[str, Entry], deadline: Deadline) -> Iterator[str]:
    """Yield the files whose bytes are not those of their commit."""
    for path, (blob, *_) in before.items():
        if own.file_id(path) is None:
            continue
        if not deadline.left():
            raise ChangesError(_TIMED_OUT)
        source = read_file(own.root, path).source
        if source is None:
            if _blob_on_disk(own.root, path, blob) != blob:
                yield path
        elif blob not in (_blob_of(source, blob), _blob_of(source.replace(b"\r\n", b"\n"), blob)):
            yield path


def _blob_of(source: bytes, like: str) -> str:
    """Return git's name of some bytes, by the hash that another name has."""
    kind = hashlib.sha1 if len(like) == 40 else hashlib.sha256
    return kind(b"blob %d\0" % len(source) + source, usedforsecurity=False).hexdigest()


def _blob_on_disk(root: Path, path: str, like: str) -> str:
    """Return git's name of a file that is not shown; ``""`` if it can't be read or is too large."""
    try:
        reading = disk.read_whole(root, path, _MAX_HASHED_BYTES, first=0)
    except OSError:
        return ""
    return "" if reading.after is None else _blob_of(reading.source, like)


def _file_patch(own: _IndexPart, path: str, is_old: bool, old: bytes | None) -> FilePatch | None:
    file = own.file_id(path)
    if not is_old:
        return None if file is None else FilePatch("", path, tuple(find_hunks([], _lines(own.text(file)))))
    if old is not None and old.startswith(_LFS_POINTER):
        return None
    new = "" if file is None else path
    # A file that is not shown has no lines to compare.
    if old is None or b"\0" in old or (file is not None and read_file(own.root, path).source is None):
        return FilePatch(path, new, is_binary=True)
    before = _lines(mask(old).source.decode("utf-8-sig", "replace"))
    hunks = tuple(find_hunks(before, [] if file is None else _lines(own.text(file))))
    return FilePatch(path, new, hunks) if hunks or file is None else None


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
        found = [(_similarity(other, each), other) for other in deleted if other not in renamed.values()]
        best = max(found, key=lambda pair: pair[0], default=None)
        if best is not None and best[0] >= _MIN_SIMILARITY:
            renamed[each] = best[1]
    for each in files:
        if each in renamed:
            before, after = _content(renamed[each], "-"), _content(each, "+")
            yield FilePatch(renamed[each].old, each.new, tuple(find_hunks(before, after)))
        elif each not in renamed.values():
            yield each


def _content(patch: FilePatch, mark: str) -> list[str]:
    return [line for hunk in patch.hunks for line in hunk.marked(mark)]


def _similarity(old: FilePatch, new: FilePatch) -> float:
    """Return the share of equal lines, blank ones left out."""
    one = Counter(filter(None, map(str.strip, _content(old, "-"))))
    other = Counter(filter(None, map(str.strip, _content(new, "+"))))
    return (one & other).total() / max(one.total(), other.total(), 1)
