"""What is remembered of a host's session between two hooks, in a small file that goes when it is old."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from repo_map.atomic_files import replace_file

if os.name == "posix":
    import fcntl

_MOST_SAID: Final = 200
_MOST_READ: Final = 200
_MOST_EDITED: Final = 300
_MOST_BYTES: Final = 200_000
_MOST_SESSIONS: Final = 200
_OLD_S: Final = 7 * 86_400.0
_WAIT_S: Final = 0.05
LOOKS_OF_A_CRAWL: Final = 3
"""Look-ups without an edit from which on the likely places for the prompt are worth their tokens."""


class Session:
    """What is remembered of one session."""

    def __init__(self, remembered: Mapping[str, Any]) -> None:
        """Take what is of the right type; whatever else stands in the file is left out."""
        self.looks = _count(remembered.get("looks"))
        """Look-ups since the prompt or the last edit."""
        reads = remembered.get("reads")
        self.reads = {
            str(path): _count(times) for path, times in (reads.items() if isinstance(reads, dict) else ())
        }
        """How often each file was read since then; 0 for one that is known from before."""
        self.said = _texts(remembered.get("said"))
        """What was said, as digests, so that nothing is said twice."""
        self.answered = bool(remembered.get("answered"))
        """Whether the likely places for the prompt were told."""
        self.edits = _count(remembered.get("edits"))
        """How many edits there were: what was found after fewer of them is out of date."""
        self.edited = _texts(remembered.get("edited"))
        """The files that were edited, by their own paths."""

    def new_prompt(self) -> None:
        """Note that the user asked for something new."""
        self.looks, self.reads, self.answered = 0, {}, False

    def note_look(self, paths: Sequence[str]) -> bool:
        """Note a look-up of some files, and tell whether the assistant crawls."""
        self.looks += 1
        for path in paths:
            self.reads[path] = self.reads.get(path, 0) + 1
        return self.looks >= LOOKS_OF_A_CRAWL

    def note_edit(self, paths: Sequence[str]) -> None:
        """Note an edit: whoever edits has found a place."""
        self.looks, self.reads = 0, dict.fromkeys((*self.reads, *paths), 0)
        self.edits += bool(paths)
        self.edited = list(dict.fromkeys((*self.edited, *paths)))[-_MOST_EDITED:]

    def says(self, what: str) -> bool:
        """Tell whether something was not said before, and note that it is."""
        is_new = not self.was_said(what)
        if is_new:
            self.said.append(_digest(what))
        return is_new

    def was_said(self, what: str) -> bool:
        """Tell whether something was said before."""
        return _digest(what) in self.said

    def as_data(self) -> dict[str, Any]:
        """Return what is written down, within its bounds."""
        return {
            "looks": self.looks,
            "reads": dict(list(self.reads.items())[-_MOST_READ:]),
            "said": self.said[-_MOST_SAID:],
            "answered": self.answered,
            "edits": self.edits,
            "edited": self.edited,
        }


def _digest(what: str) -> str:
    return hashlib.sha256(what.encode("utf-8", "replace")).hexdigest()[:16]


def session_file(data: Path, session: str, root: Path) -> Path:
    """Return where a session in a repository is remembered."""
    name = hashlib.sha256(f"{session}\0{root}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return data / "hooks" / f"{name}.json"


def answer_file(session: Path) -> Path:
    """Return where the likely places for a session's prompt wait."""
    return session.with_suffix(".answer")


def findings_file(session: Path) -> Path:
    """Return where what was found after a session's last edit waits."""
    return session.with_suffix(".findings")


@contextmanager
def checking(session: Path) -> Iterator[None]:
    """Be the one process that checks a session's edits.

    Raises:
        BlockingIOError: another process is.
        OSError: its file can't be made.
    """
    with _held(session.with_suffix(".checking"), 0.0):
        yield


def session_at(file: Path) -> Session:
    """Return what is remembered now, to look at it."""
    return Session(_read(file))


@contextmanager
def remembered(file: Path) -> Iterator[Session]:
    """Give what is remembered, and write it down in the end; of hooks at the same time one goes first.

    Raises:
        OSError: it can't be written, or another hook holds it for too long.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _held(file.with_suffix(".lock"), _WAIT_S):
        is_new = not file.exists()
        session = Session(_read(file))
        before = session.as_data() if not is_new else None
        yield session
        now = session.as_data()
        if now != before:
            replace_file(file, lambda written: written.write(json.dumps(now).encode()))
    if is_new:
        _remove_old(file.parent)


@contextmanager
def _held(lock: Path, wait_s: float) -> Iterator[None]:
    if os.name != "posix":
        yield  # A file is replaced whole, so the last one to write is what is remembered.
        return
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        ends = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > ends:
                    raise
                time.sleep(0.005)
        yield
    finally:
        os.close(descriptor)


def _read(file: Path) -> Mapping[str, Any]:
    try:
        with file.open("rb") as stored:
            found = json.loads(stored.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _count(value: object) -> int:
    return (
        min(value, 1_000_000) if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
    )


def _remove_old(folder: Path) -> None:
    now = time.time()
    found: list[tuple[float, Path]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                found.append((entry.stat(follow_symlinks=False).st_mtime, Path(entry.path)))
    found.sort(reverse=True)
    kept = {path.stem for _, path in [each for each in found if each[1].suffix == ".json"][:_MOST_SESSIONS]}
    for changed, path in found:
        if now - changed > _OLD_S or (path.stem not in kept and now - changed > 60):
            with suppress(OSError):
                path.unlink()
