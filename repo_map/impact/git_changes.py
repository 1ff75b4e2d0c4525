"""What git says was changed: of the work tree against a commit, or of one commit against another.

Git opens no file of the work tree for it, so that no filter that a repository names is run: it tells what is
committed, and the bytes of the tree are compared here.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.errors import RepoMapError
from repo_map.impact.patches import MOST_CHARACTERS, MOST_FILES, FilePatch, Hunk, Patch, read_patch
from repo_map.impact.values import WORKTREE
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
from repo_map.sources.files import read_file
from repo_map.sources.git import HEAD, Deadline, Git, GitError, HistoryStart

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex
    from repo_map.sources.source import RepositoryPart

_ADVICE: Final = f"give `worktree`, {FORMS_OF_NAMES}, a range such as `main..HEAD`, or a patch."
_SECONDS: Final = 20.0
_LATE: Final = "The changes could not be read in time; give a smaller range, or a patch."
_MOST_NEW: Final = 100
"""Files that git does not know which count as changed; more of them are no work of a moment."""
_MOST_BLOB: Final = 2_000_000
_MOST_HASHED: Final = 50_000_000
"""Bytes of a file that is not shown up to which it is compared with its commit."""
_CONTEXT: Final = 3
_MOST_COMPARED: Final = 25_000_000
"""Product of the lines on both sides up to which it is looked for which of them stayed."""
_LIKE: Final = 0.5
"""Share of its lines from which on a new file is a deleted one by another name."""
_MOST_RENAMED: Final = 40
_STAGED = re.compile(
    rb"100\d+ ([0-9a-f]{40,64}) 0\t([^\0]+)\0  ctime: \d+:\d+\n  mtime: (\d+):(\d+)\n  dev: [^\n]*\n"
    rb"  uid: [^\n]*\n  size: (\d+)\t"
)
_ENTRY = re.compile(rb"100\d+ blob ([0-9a-f]{40,64})\t(.+)", re.DOTALL)
_LINK = re.compile(rb"120000 blob ([0-9a-f]{40,64})\t(.+)", re.DOTALL)
_POINTER = b"version https://git-lfs.github.com/spec/"
_BLOB = re.compile(rb"([0-9a-f]+) blob (\d+)\n")
_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules")


class ChangesError(RepoMapError):
    """What was to be looked at can't be; the message says why, and what to give in its place."""

    code = "invalid_changes"


class _Entry(NamedTuple):
    """A file that is not as it was committed."""

    status: str
    """``A`` for a new one, ``D`` for one that is gone, else ``M``."""
    path: str
    blob: str


class _Share:
    """What an index shows of one repository, by the paths of that repository's folder."""

    def __init__(self, index: RepoIndex, part: RepositoryPart) -> None:
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
        return self._index.text(file)

    def shown(self, patch: Patch) -> Patch:
        """Return a patch of the repository by the index's paths."""
        return patch._replace(
            files=tuple(
                each._replace(
                    old=each.old and self._prefix + each.old, new=each.new and self._prefix + each.new
                )
                for each in patch.files
            )
        )


def read_changes(index: RepoIndex, named: str) -> tuple[str, Patch]:
    """Return what was changed, in words, and its patch; ``named`` is ``worktree``, a commit or a range.

    A commit stands for all that came since this work left it, what is not committed included: what the
    commit's own branch has gained meanwhile is no part of it. ``A..B`` and ``A...B`` are what git means by
    them. Of several repositories those count that know the commits.

    Raises:
        ChangesError: no commit is called so, or git does not answer.
    """
    deadline = Deadline(_SECONDS)
    found: list[tuple[str, Patch]] = []
    refused: list[ChangesError] = []
    for part in index.place.parts:
        try:
            found.append(_changes_of(_Share(index, part), part, named, deadline))
        except ChangesError as error:
            refused.append(error)
        except GitError as error:
            # Where the clone of a named repository lies is nobody's business.
            refused.append(ChangesError(str(error).replace(str(part.root), part.shown)))
    if not found:
        raise refused[0]
    words = ", ".join(dict.fromkeys(what for what, _ in found))
    files = (file for _, patch in found for file in patch.files)
    notes = (note for _, patch in found for note in patch.notes)
    return words, Patch(tuple(files), notes=tuple(dict.fromkeys((*notes, *map(str, refused)))))


def _changes_of(share: _Share, part: RepositoryPart, named: str, deadline: Deadline) -> tuple[str, Patch]:
    """Return what was changed of one repository; raises ``ChangesError``, and ``GitError``."""
    git = Git(part.root)
    place = _placed(git, part, deadline)
    if named == WORKTREE and part.ref:
        raise ChangesError(
            f"`{part.shown}` is read at the commit `{part.ref}`, so it has no working tree; give a "
            "commit such as `main`, a range such as `v1..v2`, or a patch."
        )
    with _told_as_changes():
        wanted = read_range(HEAD if named == WORKTREE else named)
        first, last = wanted[:2] if isinstance(wanted, CommitRange) else (wanted, None)
        old, new = (find_commit(git, each, deadline) if each else place.head for each in (first, last))
    names = str(first or part.ref or HEAD), str(last or part.ref or HEAD)
    for name, found in zip(names, (old, new), strict=True):
        if not found:
            raise ChangesError(f"No commit is called `{name}` here; {_ADVICE}")
    if not isinstance(wanted, CommitRange) or wanted.from_base:
        old = _base(git, old, new, names, deadline)
    if isinstance(wanted, CommitRange) or part.ref:
        return f"`{named}`", share.shown(_range_patch(git, place, old, new, deadline))
    patch = _worktree_patch(share, git, place, old, deadline)
    return f"the working tree since `{names[0]}`", share.shown(patch)


def _placed(git: Git, part: RepositoryPart, deadline: Deadline) -> HistoryStart:
    with _told_as_changes():
        place = locate(git, part.ref, deadline)
    if place is None:
        raise ChangesError(f"`{part.shown}` has no commit that git could compare with; commit first.")
    return place


@contextmanager
def _told_as_changes() -> Iterator[None]:
    try:
        yield
    except CommitNameError as error:
        raise ChangesError(f"{error}; {error.advice or _ADVICE}") from error


def _base(git: Git, old: str, new: str, names: tuple[str, str], deadline: Deadline) -> str:
    """Return the commit at which two parted."""
    if old == new:
        return old
    output = git.history("merge-base", old, new, deadline=deadline)
    if output is None or output.status is None:
        raise ChangesError(_LATE)
    if output.status != 0 or not output.text.strip():
        one, other = (ascii(name[:80])[1:-1] for name in names)
        raise ChangesError(
            f"`{one}` and `{other}` have no commit in common here, as in a shallow clone; fetch the whole "
            "history (`git fetch --unshallow`, in a CI job `fetch-depth: 0`), or give a range such as "
            f"`{one}..{other}`."
        )
    return output.text.decode("ascii", "replace").split("\n")[0]


def _ask(git: Git, deadline: Deadline, *arguments: str) -> bytes:
    output = git.history(*arguments, deadline=deadline)
    if output is None or output.status is None:
        raise ChangesError(_LATE)
    if output.status != 0:
        raise ChangesError("Git can't compare these commits; fetch what is missing of them, or give a patch.")
    return output.text


def _range_patch(git: Git, place: HistoryStart, old: str, new: str, deadline: Deadline) -> Patch:
    prefixes = ("--src-prefix=a/", "--dst-prefix=b/")
    relative = f"--relative={place.prefix}"
    text = _ask(git, deadline, "diff-tree", "-r", "-p", "-M", "-U3", relative, *_PLAIN, *prefixes, old, new)
    # One character more than is read, so that the rest is told of.
    return read_patch(mask_text(text[: 4 * MOST_CHARACTERS].decode("utf-8", "replace")))


def _worktree_patch(share: _Share, git: Git, place: HistoryStart, commit: str, deadline: Deadline) -> Patch:
    tree = _ask(git, deadline, "ls-tree", "-r", "-z", "--full-tree", commit)
    before, links = _listed(tree, place.prefix, _ENTRY), _listed(tree, place.prefix, _LINK)
    known = _staged(git.ask("ls-files", "-z", "--stage", "--debug"))
    clean = _clean(share.root, known, Path(place.git_dir) / "index")
    looked_at = {path: blob for path, blob in before.items() if clean.get(path) != blob}
    entries = [*_gone(share, before), *_edited(share, looked_at, deadline)]
    # A link has no lines of its own: where one stood and stands, nothing came.
    new = [path for path in share.paths if path not in before and path not in links]
    untracked = [path for path in new if path not in known]
    notes = []
    if len(untracked) > _MOST_NEW:
        notes.append(f"{len(untracked):,} files that git does not know were not taken for changes.")
        new = [path for path in new if path in known]
    entries = sorted([*entries, *(_Entry("A", path, "") for path in new)], key=lambda each: each.path)
    if len(entries) > MOST_FILES:
        notes.append(f"{len(entries):,} files differ; the first {MOST_FILES} by path were looked at.")
        entries = entries[:MOST_FILES]
    olds = _blobs(git, [each.blob for each in entries if each.blob], deadline)
    files = [_file_patch(share, each, olds) for each in entries]
    return Patch(tuple(_renamed([each for each in files if each is not None])), notes=tuple(notes))


class _Staged(NamedTuple):
    """A file as git last saw it."""

    blob: str
    modified_ns: int
    size: int


def _staged(listed: bytes) -> dict[str, _Staged]:
    """Return the files that git knows of the work tree."""
    return {
        path.decode("utf-8", "replace"): _Staged(
            blob.decode("ascii"), int(seconds) * 1_000_000_000 + int(part), int(size)
        )
        for blob, path, seconds, part, size in _STAGED.findall(listed)
    }


def _clean(root: Path, known: Mapping[str, _Staged], index: Path) -> dict[str, str]:
    """Return the blobs of the files that are as git last saw them, by their sizes and times of change.

    A file that was written as late as git's index may have been written again since: that one is not told.
    """
    written_ns = disk.modified_ns(index)
    stated = disk.states(root, known)
    sizes, times = stated[0::5].tolist(), stated[1::5].tolist()
    return {
        path: each.blob
        for (path, each), size, modified_ns in zip(known.items(), sizes, times, strict=True)
        if (each.size, each.modified_ns) == (size, modified_ns) and modified_ns < written_ns
    }


def _listed(tree: bytes, prefix: str, kind: re.Pattern[bytes]) -> dict[str, str]:
    """Return the blob of each entry of a kind, by its path below a folder."""
    entries = (kind.fullmatch(each) for each in tree.split(b"\0"))
    named = ((found[2].decode("utf-8", "replace"), found[1].decode("ascii")) for found in entries if found)
    return {path.removeprefix(prefix): blob for path, blob in named if path.startswith(prefix)}


def _gone(share: _Share, before: Mapping[str, str]) -> Iterator[_Entry]:
    """Yield the files of a commit that the tree has no more."""
    missing = [path for path in before if share.file_id(path) is None]
    kinds = disk.states(share.root, missing)[4::5]
    yield from (
        _Entry("D", path, before[path]) for path, kind in zip(missing, kinds, strict=True) if not kind
    )


def _edited(share: _Share, before: Mapping[str, str], deadline: Deadline) -> Iterator[_Entry]:
    """Yield the files whose bytes are not those of a commit.

    Git itself would run filters of the repository's to compare a file whose date tells it nothing.
    """
    for path, blob in before.items():
        if share.file_id(path) is None:
            continue
        if not deadline.left():
            raise ChangesError(_LATE)
        source = read_file(share.root, path).source
        if source is None:
            is_same = _blob_on_disk(share.root, path, blob) == blob
        else:
            is_same = blob in (_blob_of(source, blob), _blob_of(_unix(source), blob))
        if not is_same:
            # What is not shown has no lines to compare.
            yield _Entry("M", path, "" if source is None else blob)


def _unix(source: bytes) -> bytes:
    return source.replace(b"\r\n", b"\n") if b"\r\n" in source else source


def _blob_of(source: bytes, like: str) -> str:
    """Return the name that git gives to some bytes, of the kind that another name is of."""
    kind = hashlib.sha1 if len(like) == 40 else hashlib.sha256
    return kind(b"blob %d\0" % len(source) + source, usedforsecurity=False).hexdigest()


def _blob_on_disk(root: Path, path: str, like: str) -> str:
    """Return the name that git gives to a file which is not shown: a large one, or one of keys.

    It is ``""`` where the file can't be read, or is too large for it.
    """
    try:
        reading = disk.read_whole(root, path, _MOST_HASHED, first=0)
    except OSError:
        return ""
    return "" if reading.after is None else _blob_of(reading.source, like)


def _blobs(git: Git, names: Sequence[str], deadline: Deadline) -> dict[str, bytes]:
    """Return the content of blobs that are no larger than a file that is read."""
    names = [name for name in dict.fromkeys(names) if name.strip("0")]
    if not names:
        return {}
    sizes = git.history("cat-file", "--batch-check", lines=names, deadline=deadline)
    about = b"" if sizes is None else sizes.text
    small = [name.decode() for name, size in _BLOB.findall(about) if int(size) <= _MOST_BLOB]
    output = git.history("cat-file", "--batch", lines=small, deadline=deadline) if small else None
    text, at = (b"" if output is None else output.text), 0
    found: dict[str, bytes] = {}
    while (head := _BLOB.match(text, at)) is not None:
        end = head.end() + int(head[2])
        found[head[1].decode()] = text[head.end() : end]
        at = end + 1
    return found


def _file_patch(share: _Share, entry: _Entry, olds: Mapping[str, bytes]) -> FilePatch | None:
    if entry.status == "A":
        return _new_file(share, entry.path)
    old, path = olds.get(entry.blob), entry.path
    if old is not None and old.startswith(_POINTER):
        return None  # A large file that stands elsewhere: git knows its pointer alone.
    new = None if entry.status == "D" else share.file_id(path)
    if old is None or b"\0" in old:
        return FilePatch(path, "" if new is None else path, is_binary=True)
    before = _lines(mask(old).source.decode("utf-8-sig", "replace"))
    after = [] if new is None else _lines(share.text(new))
    hunks = tuple(hunks_between(before, after))
    return FilePatch(path, "" if new is None else path, hunks) if hunks or new is None else None


def _new_file(share: _Share, path: str) -> FilePatch | None:
    file = share.file_id(path)
    if file is None:
        return None
    return FilePatch("", path, tuple(hunks_between([], _lines(share.text(file)))))


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def hunks_between(before: Sequence[str], after: Sequence[str]) -> Iterator[Hunk]:
    """Yield what turns some lines into others, with three lines around each change."""
    top = 0
    while top < min(len(before), len(after)) and before[top] == after[top]:
        top += 1
    end = 0
    while end < min(len(before), len(after)) - top and before[-1 - end] == after[-1 - end]:
        end += 1
    first = max(top - _CONTEXT, 0)
    one = before[first : len(before) - max(end - _CONTEXT, 0)]
    other = after[first : len(after) - max(end - _CONTEXT, 0)]
    if one == other:
        return
    if len(one) * len(other) > _MOST_COMPARED:
        marked = (*(f"-{line}" for line in one), *(f"+{line}" for line in other))
        yield Hunk(first + 1, first + 1, marked)
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


def _renamed(files: Sequence[FilePatch]) -> Iterator[FilePatch]:
    """Yield the patches, a file that was deleted and one much like it that is new as one that was renamed."""
    gone = [each for each in files if not each.new and not each.is_binary]
    new = [each for each in files if not each.old and not each.is_binary]
    if not gone or len(gone) > _MOST_RENAMED or len(new) > _MOST_RENAMED:
        yield from files
        return
    pairs: dict[FilePatch, FilePatch] = {}
    for each in new:
        found = [(_likeness(other, each), other) for other in gone if other not in pairs.values()]
        best = max(found, key=lambda pair: pair[0], default=None)
        if best is not None and best[0] >= _LIKE:
            pairs[each] = best[1]
    for each in files:
        if each in pairs:
            old = pairs[each]
            before = [line for hunk in old.hunks for line in hunk.marked("-")]
            after = [line for hunk in each.hunks for line in hunk.marked("+")]
            yield FilePatch(old.old, each.new, tuple(hunks_between(before, after)))
        elif each not in pairs.values():
            yield each


def _likeness(old: FilePatch, new: FilePatch) -> float:
    """Return the share of lines that both have, blank ones aside."""
    one, other = (
        Counter(line.strip() for hunk in each.hunks for line in hunk.marked(mark) if line.strip())
        for each, mark in ((old, "-"), (new, "+"))
    )
    return (one & other).total() / max(one.total(), other.total(), 1)
