"""``python -m repo_navigator.hooks.background ROOT SESSION [edit]``: what a hook has no time for.

It brings the index and the file of names up to date, and answers the goal that stdin holds; after an edit it
checks what the session edited. It is started anew for each prompt, and for an edit while no check runs. It
ends by itself, so that nobody has to look after it.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Final

from mcp_server.settings import Settings, read_settings
from navigator.records.decisions import EMBEDDED
from navigator.settings import NavigationRequest, kept_in_memory
from repo_map.atomic_files import replace_file
from repo_map.index import RepoIndex, build_index
from repo_map.indexing.store import user_store
from repo_map.relevance.goal_places import find_frames, find_paths
from repo_map.working_folder import shut_out_working_folder
from repo_navigator.hooks.edit_check import check_edits, may_work
from repo_navigator.hooks.facts import facts_of
from repo_navigator.hooks.names import NameTable
from repo_navigator.hooks.names_writer import write_names
from repo_navigator.hooks.sessions import answer_file
from repo_navigator.hooks.starting import AFTER_EDIT
from repo_navigator.use_navigator import use_navigator

if TYPE_CHECKING:
    from navigator.navigator import Navigator

_SECONDS: Final = 180.0
"""In which it ends, whatever it is at."""
_CALLER_SECONDS: Final = 20.0
"""Of CPU time that callers are looked for in."""
_STEP_SECONDS: Final = 15.0
ANSWER_TOKENS: Final = 800
_ANSWER_CHARACTERS: Final = 4_000


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
    """Bring the names of a repository up to date, and keep the answer for a goal beside the session.

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
        text = _answer(settings, goal, root)
        if text.strip():
            session.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(answer_file(session), lambda file: file.write(text.encode("utf-8", "replace")))
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


def _answer(settings: Settings, goal: str, root: Path) -> str:
    request = NavigationRequest(goal, root, token_budget=ANSWER_TOKENS)

    async def navigated(navigator: Navigator) -> str:
        output = await navigator.run(await navigator.open(request), deadline_s=_STEP_SECONDS)
        return output.context_string

    # Nothing is kept of it: nobody goes on with such a navigation.
    return within_characters(use_navigator(replace(kept_in_memory(settings), model=EMBEDDED), navigated))


def within_characters(text: str) -> str:
    """Return an answer as far as whole lines of it fit."""
    return text if len(text) <= _ANSWER_CHARACTERS else re.sub(r"\n[^\n]*\Z", "", text[:_ANSWER_CHARACTERS])


if __name__ == "__main__":
    main()
