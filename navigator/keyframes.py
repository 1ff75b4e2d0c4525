"""Maps as models are told of them: one map whole, and later ones by what has changed against it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from navigator.outputs import blocks
from repo_map.tokens import count

if TYPE_CHECKING:
    from repo_map.drawing import RepoMap


class Keyframe(NamedTuple):
    """A map that is told whole, and against which later ones are told."""

    step: int
    """The step that drew it."""
    text: str
    paths: tuple[str, ...]
    """Its files, in map order."""
    tokens: int
    told: int = 0
    """Tokens of the changes that were told against it so far."""


class Changes(NamedTuple):
    """What makes a keyframe the map of today."""

    files: str = ""
    """The parts of the map that are new or read differently, each from its file's header on."""
    gone: tuple[str, ...] = ()
    """Paths that are no longer in the map."""
    tokens: int = 0


class Frame(NamedTuple):
    """How one map is told: a keyframe, and what has changed since; nothing where it is that map."""

    keyframe: Keyframe
    changes: Changes
    map_tokens: int
    """Of the map itself."""


def frame(held: Keyframe | None, drawn: RepoMap, step: int) -> Frame:
    """Return how to tell of ``drawn`` to a model that has been told of ``held``.

    Changes are told as long as they are smaller than the map and have not cost as much in all as it would;
    so telling never costs more than about twice what the best choice in hindsight would.
    """
    if held is not None and held.text == drawn.text:
        return Frame(held, Changes(), drawn.tokens)
    changes = None if held is None else changes_since(held, drawn.text, [file.path for file in drawn.files])
    if held is None or changes is None or held.told + changes.tokens >= drawn.tokens:
        paths = tuple(file.path for file in drawn.files)
        return Frame(Keyframe(step, drawn.text, paths, drawn.tokens), Changes(), drawn.tokens)
    return Frame(held._replace(told=held.told + changes.tokens), changes, drawn.tokens)


def changes_since(held: Keyframe, text: str, paths: Sequence[str]) -> Changes:
    """Return what differs between ``held`` and a map of ``paths`` that reads ``text``."""
    before, now = blocks(held.text, held.paths), blocks(text, paths)
    files = "\n\n".join(block for path, block in now.items() if before.get(path) != block)
    gone = tuple(path for path in before if path not in now)
    return Changes(files, gone, count("\n".join((files, *gone))))
