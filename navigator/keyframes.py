"""Maps as models are told of them: one map whole, and then what each step changed."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from navigator.outputs import blocks
from repo_map.tokens import count

if TYPE_CHECKING:
    from navigator.reports import Candidate
    from repo_map.drawing import RepoMap

MARK = "@@"
"""Begins a line that tells how many lines stay or go, within a file whose every other line is new."""


class Drawn(NamedTuple):
    """A map as it was drawn."""

    step: int
    """The step that drew it."""
    text: str
    paths: tuple[str, ...]
    """Its files, in map order."""
    tokens: int


class Changes(NamedTuple):
    """What a step changed of the map before it."""

    step: int
    files: str
    """The files that are new or read differently, each from its header on; where it is shorter, lines that
    begin with ``@@`` stand for those that stay or go."""
    gone: tuple[str, ...]
    """Paths that are no longer in the map."""
    tokens: int


class Frame(NamedTuple):
    """How a map is told: a keyframe, and what has changed since."""

    keyframe: Drawn
    """The map that is told whole."""
    choice: tuple[Candidate, ...]
    """The candidates that are told with it."""
    current: Drawn
    changes: tuple[Changes, ...] = ()
    sent: int = 0
    """Tokens of all changes that were sent since the keyframe."""

    @property
    def told(self) -> int:
        """Tokens of the changes that lead to the current map."""
        return sum(each.tokens for each in self.changes)


def begin(drawn: RepoMap, step: int, choice: Sequence[Candidate]) -> Frame:
    """Return the frame that tells a map whole."""
    keyframe = _drawn(drawn, step)
    return Frame(keyframe, tuple(choice), keyframe)


def go_on(told: Frame, drawn: RepoMap, step: int, choice: Sequence[Candidate], *, appends: bool) -> Frame:
    """Return how to tell of ``drawn`` to a model that was told as ``told`` says.

    Changes are sent until they have cost as much as the map, which is then told whole again.

    Args:
        appends: whether the provider remembers what it is told after the keyframe, so that only the latest
            changes are sent; else each step sends all that has changed since the keyframe, as one.
    """
    if told.current.text == drawn.text:
        return told
    current = _drawn(drawn, step)
    latest = changes_between(told.current if appends else told.keyframe, current)
    sent = told.sent + latest.tokens
    if sent >= drawn.tokens:
        return begin(drawn, step, choice)
    return told._replace(
        current=current, changes=(*told.changes, latest) if appends else (latest,), sent=sent
    )


def changes_between(one: Drawn, other: Drawn) -> Changes:
    """Return what the second map changes of the first."""
    before, now = blocks(one.text, one.paths), blocks(other.text, other.paths)
    files = "\n\n".join(
        _shorter(before.get(path, ""), block) for path, block in now.items() if before.get(path) != block
    )
    gone = tuple(path for path in before if path not in now)
    return Changes(other.step, files, gone, count("\n".join((files, *gone))))


def _drawn(drawn: RepoMap, step: int) -> Drawn:
    return Drawn(step, drawn.text, tuple(file.path for file in drawn.files), drawn.tokens)


def _shorter(before: str, now: str) -> str:
    """Return a file's part of the map, or how it comes from what it was, whichever takes fewer tokens."""
    if not before:
        return now
    changed = _edits(before.split("\n"), now.split("\n"))
    return changed if count(changed) < count(now) else now


def _edits(before: Sequence[str], now: Sequence[str]) -> str:
    """Return the header, then the new lines, and between them how many lines stay or go."""
    header, before, now = now[0], before[1:], now[1:]
    told = [header]
    for kind, start, end, first, last in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if kind == "equal":
            told.append(f"{MARK} {end - start} as before, to: {before[end - 1].strip()}")
            continue
        if end > start:
            told.append(f"{MARK} {end - start} gone")
        told.extend(now[first:last])
    return "\n".join(told)
