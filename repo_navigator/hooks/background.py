"""``python -m repo_navigator.hooks.background ROOT SESSION [edit]``: what a hook has no time for.

It brings the index and the file of names up to date, and finds the likely places of the goal that stdin
holds; after an edit it checks what the session edited. It is started anew for each prompt, and for an edit
while no check runs. It ends by itself, so that nobody has to look after it.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Final

from mcp_server.settings import Settings, read_settings
from repo_map.atomic_files import replace_file
from repo_map.history.history import read_history
from repo_map.index import RepoIndex, build_index
from repo_map.indexing.store import user_store
from repo_map.packing.listing import list_places
from repo_map.relevance.goal_places import find_frames, find_paths
from repo_map.relevance.score import Relevance, score_goal
from repo_map.working_folder import shut_out_working_folder
from repo_navigator.hooks.edit_check import check_edits, may_work
from repo_navigator.hooks.facts import facts_of
from repo_navigator.hooks.likely_places import LikelyPlace, kept
from repo_navigator.hooks.names import NameTable
from repo_navigator.hooks.names_writer import write_names
from repo_navigator.hooks.sessions import answer_file
from repo_navigator.hooks.starting import AFTER_EDIT

_SECONDS: Final = 180.0
"""In which it ends, whatever it is at."""
_CALLER_SECONDS: Final = 20.0
"""Of CPU time that callers are looked for in."""
_HISTORY_SECONDS: Final = 15.0
_LISTED_TOKENS: Final = 600
"""Of the places that are kept."""


def main() -> None:
    """Do the work for the repository and the session that the arguments name."""
    shut_out_working_folder()
    timer = Timer(_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()
    with suppress(OSError, AttributeError):
        os.nice(10)
    root, session = Path(sys.argv[1]), Path(sys.argv[2])
    goal = sys.stdin.buffer.read().decode("utf-8", "replace")
    with suppress(Exception):  # Nobody hears of it, and the next prompt tries again.
        settings = read_settings(os.environ)
        if sys.argv[3:] == [AFTER_EDIT]:
            check_edits(root, session, settings)
        else:
            work(root, session, goal, settings)
    os._exit(0)


def work(root: Path, session: Path, goal: str, settings: Settings) -> None:
    """Bring the names of a repository up to date, and keep the likely places of a goal beside the session.

    Raises:
        RepoMapError: the repository may not be read, or is none.
        OSError: something can't be written.
    """
    cache = user_store(settings.limits).folder
    if cache is None or not may_work(root, settings):
        return
    index = build_index(root, unmasked=settings.unmasked, limits=settings.limits)
    known = NameTable.open(cache, root)
    if known is None:
        _write(index, cache, root, 0.0)
    if goal and not names_its_place(goal, index):
        history = read_history(root, store=user_store(settings.limits), seconds=_HISTORY_SECONDS)
        places = likely_places(index, score_goal(index, goal, history))
        session.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(answer_file(session), lambda file: file.write(kept(places)))
    if known is None or known.about.get("tree") != index.fingerprint:
        _write(index, cache, root, _CALLER_SECONDS)


def names_its_place(goal: str, index: RepoIndex) -> bool:
    """Tell whether a goal names the very place: a file of the repository, by a path or a frame of a trace."""
    named = {path.replace("\\", "/").lstrip("./") for path in find_paths(goal)}
    named |= {frame.path.replace("\\", "/") for frame in find_frames(goal)}
    ends = {f"/{path}" for path in named if path}
    return any(f"/{path}".endswith(end) or end.endswith(f"/{path}") for end in ends for path in index.paths)


def _write(index: RepoIndex, cache: Path, root: Path, seconds: float) -> None:
    about = {"facts": facts_of(index), "tree": index.fingerprint if seconds else ""}
    write_names(index, cache, root, about, seconds=seconds)


def likely_places(index: RepoIndex, relevance: Relevance) -> list[LikelyPlace]:
    """Return the definitions that a goal's work may touch, those of the likeliest files first."""
    return [
        LikelyPlace(file.path, unit.name, unit.start, unit.end)
        for file in list_places(index, relevance, _LISTED_TOKENS)
        for unit in sorted(file.places, key=lambda unit: -unit.chance)
        if unit.name
    ]


if __name__ == "__main__":
    main()
