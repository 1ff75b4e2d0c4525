"""What a check found after a session's edits, on its way from the process that checks to the next hook."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from repo_map.atomic_files import replace_file
from repo_map.worktree import disk
from repo_navigator.hooks.sessions import Session, findings_file
from repo_navigator.hooks.wording import FRAME_OF_FINDINGS, MOST_OF_FINDINGS, findings_text

_MOST_BYTES: Final = 4_000_000


class Line(NamedTuple):
    """A finding as it is said."""

    text: str
    tokens: int
    what: str
    """What it says however its line moves, so that it is said once."""


class FoundByEdit(NamedTuple):
    """What a check found."""

    edits: int
    """How many edits the session had then."""
    lines: tuple[Line, ...]
    paths: tuple[str, ...]
    """The files that it speaks of."""
    states: tuple[int, ...]
    """How they were, as ``disk.states`` gives it."""


def keep_findings(session: Path, found: FoundByEdit) -> None:
    """Write down what was found beside the session, in place of what was before; raises ``OSError``."""
    if not found.lines:
        findings_file(session).unlink(missing_ok=True)
        return
    replace_file(
        findings_file(session), lambda file: file.write(json.dumps(found).encode("utf-8", "replace"))
    )


def is_waiting(session: Path) -> bool:
    """Tell whether something was found for a session and not looked at yet."""
    return os.path.lexists(findings_file(session))


def take_findings(file: Path, root: Path, session: Session) -> str:
    """Return what is said of the last edit; empty where there is nothing, or where it may not hold any more.

    Args:
        file: where the session is remembered.
        root: the repository.
        session: it notes what is said.
    """
    found = _read(file)
    if found is None or found.edits != session.edits:
        return ""
    with suppress(OSError):
        findings_file(file).unlink()
    if tuple(disk.states(root, found.paths)) != found.states:
        return ""
    return say_findings(found.lines, session)


def say_findings(lines: Iterable[Line], session: Session) -> str:
    """Return what of some findings is said, within its tokens, and let the session note it."""
    left, more, said = MOST_OF_FINDINGS - FRAME_OF_FINDINGS, 0, []
    for line in lines:
        if line.tokens > left:
            more += 1
        elif session.says(line.what):
            left -= line.tokens
            said.append(line.text)
    return findings_text(said, more) if said else ""


def _read(file: Path) -> FoundByEdit | None:
    try:
        with findings_file(file).open("rb") as stored:
            kept: Any = json.loads(stored.read(_MOST_BYTES))
        edits, lines, paths, states = kept
        if any("\0" in path for path in paths):
            return None
        return FoundByEdit(edits, tuple(Line(*line) for line in lines), tuple(paths), tuple(states))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
