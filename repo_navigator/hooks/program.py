"""``repo-navigator hook EVENT``: hears what a host tells, and answers beside it or stays silent."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from navigator.stores.data_folder import default_data_dir
from repo_map.indexing.cache_folder import cache_folder
from repo_navigator.hooks.events import MOST_BYTES, Event, answer, read_event
from repo_navigator.hooks.findings import is_waiting, take_findings
from repo_navigator.hooks.likely_places import LikelyPlace, places_in, places_left
from repo_navigator.hooks.names import NameTable
from repo_navigator.hooks.search_answer import answer_in
from repo_navigator.hooks.searches import Action, Search, action_of
from repo_navigator.hooks.sessions import Session, answer_file, remembered, session_file
from repo_navigator.hooks.wording import facts_text, places_text, search_text

START: Final = "start"
PROMPT: Final = "prompt"
TOOL: Final = "tool"
EVENTS: Final = {START: "SessionStart", PROMPT: "UserPromptSubmit", TOOL: "PostToolUse"}
"""What each is called by hosts that do not say so themselves."""
_SUBAGENT: Final = "SubagentStart"
"""What hosts call the start of an agent that begins with an empty context, within a session."""
_LONGEST_PATH: Final = 4_096
_LONGEST_PLACES: Final = 100_000
_WORDS: Final = 4
"""Shorter prompts, such as `go on`, are no task."""


def heard(what: str, message: bytes, environ: Mapping[str, str]) -> str:
    """Return what to print for an event of a host; empty to stay silent.

    Raises:
        OSError: what is remembered can't be read or written.
    """
    event = read_event(message)
    if event is None or what not in EVENTS:
        return ""
    root = _root(event.folder)
    if root is None or not _is_allowed(root, environ):
        return ""
    data, cache = default_data_dir(environ), _cache(environ)
    if cache is None:
        return ""
    file = session_file(data, event.session, root)
    names = NameTable.open(cache, root)
    action = action_of(event.tool, event.given) if what == TOOL else Action()
    if what == TOOL and not (action.looks or action.edits or is_waiting(file)):
        return ""
    with remembered(file) as session:
        text, needs_work = _Moment(event, session, names, root, file).said(what, action)
    if what == TOOL:
        if needs_work and names is not None:
            from repo_navigator.hooks.starting import start_check  # noqa: PLC0415 - few hooks start anything

            start_check(root, file)
    elif needs_work or names is None:
        from repo_navigator.hooks.starting import start_background  # noqa: PLC0415 - few hooks start anything

        start_background(root, file, event.prompt if what == PROMPT else "")
    return answer(event, EVENTS[what], text) if text else ""


class _Moment(NamedTuple):
    """What happened, and all that is known when it does."""

    event: Event
    session: Session
    names: NameTable | None
    root: Path
    file: Path
    """Where the session is remembered."""

    def said(self, what: str, action: Action) -> tuple[str, bool]:
        """Return what is said, and whether there is something to be worked out beside it."""
        if what == START:
            begins_session = self.event.host_event != _SUBAGENT
            return self._facts(again=not begins_session), begins_session
        if what == PROMPT:
            is_task = self._is_task()
            if is_task:
                self.session.new_prompt()
                with suppress(OSError):
                    answer_file(self.file).unlink()
            return self._facts(), is_task
        if action.edits:
            edited = self._edited(action.edits)
            self.session.note_edit(edited)
            return "", bool(edited)
        found = take_findings(self.file, self.root, self.session)
        if not action.looks:
            return found, False
        crawls = self.session.note_look(self._own(action.reads))
        text = "\n".join(filter(None, (found, self._of_search(action))))
        if not text and crawls and not self.session.answered:
            text = self._of_prompt()
            self.session.answered = bool(text)
        return text, False

    def _is_task(self) -> bool:
        prompt = self.event.prompt
        return not prompt.startswith(("/", "!", "#")) and len(prompt.split()) >= _WORDS

    def _own(self, named: Iterable[str]) -> list[str]:
        """Return the files of the repository that a call names, by their own paths."""
        found = (_own_path(each, self.event.folder, self.root) for each in named)
        return [path for path in found if path]

    def _edited(self, named: Sequence[str]) -> list[str]:
        """Return the files of the repository that a call changed, ``""`` for files that are not known."""
        return [*self._own(each for each in named if each), *([""] if "" in named else [])]

    def _facts(self, *, again: bool = False) -> str:
        """Return what is known of the repository, once in a session, unless somebody new is to read it."""
        facts = self.names.about.get("facts") if self.names else None
        if not isinstance(facts, list) or not all(isinstance(each, str) for each in facts):
            return ""
        text = facts_text(facts)
        return text if text and (again or self.session.says("facts")) else ""

    def _of_prompt(self) -> str:
        """Return where the work for the prompt likely is, as far as nobody has looked there."""
        if self.names is None:
            return ""
        return places_text(places_left(_kept_places(self.file), self.session.reads, self.names))

    def _of_search(self, action: Action) -> str:
        names = self.names
        if names is None or not action.searches:
            return ""
        searches = [_inside(each, self.event.folder, names.root) for each in action.searches]
        found = [each for each in searches if each is not None]
        if len(found) != len(searches):
            return ""
        reply = answer_in(self.session, found, self.event.output, names)
        return search_text(reply) if reply else ""


def _inside(search: Search, folder: str, root: Path) -> Search | None:
    """Return a search with the repository's own paths, None for one outside of it."""
    places = [_own_path(place, folder, root) for place in search.places]
    found = [place for place in places if place is not None]
    return search._replace(places=tuple(filter(None, found))) if len(found) == len(places) else None


def _own_path(named: str, folder: str, root: Path) -> str | None:
    """Return a path as the repository has it, empty for its root, None for one outside of it."""
    path = os.path.normpath(os.path.join(folder, os.path.expanduser(named)))  # noqa: PTH111, PTH118
    if path == str(root):
        return ""
    return path[len(str(root)) + 1 :].replace(os.sep, "/") if path.startswith(f"{root}{os.sep}") else None


def _kept_places(file: Path) -> list[LikelyPlace]:
    try:
        with answer_file(file).open("rb") as kept:
            return places_in(kept.read(_LONGEST_PLACES))
    except OSError:
        return []


def _root(folder: str) -> Path | None:
    """Return the work tree that a folder lies in, None where it lies in none."""
    if not folder or "\0" in folder or len(folder) > _LONGEST_PATH or not os.path.isabs(folder):  # noqa: PTH117
        return None
    # Opening `//server/share` would already send the user's credentials to that server.
    if folder.startswith(("//", "\\\\")):
        return None
    path = Path(os.path.realpath(folder))
    return next((each for each in (path, *path.parents) if os.path.lexists(each / ".git")), None)


def _is_allowed(root: Path, environ: Mapping[str, str]) -> bool:
    allowed = environ.get("REPO_NAVIGATOR_ALLOW", "")
    if not allowed:
        return True
    from mcp_server.repository import may_be_read  # noqa: PLC0415 - few hosts are kept to folders
    from mcp_server.settings import allowed_folders  # noqa: PLC0415 - few hosts are kept to folders

    return may_be_read(root, allowed_folders(allowed.split(os.pathsep)))


def _cache(environ: Mapping[str, str]) -> Path | None:
    home = environ.get("HOME") or environ.get("USERPROFILE") or os.path.expanduser("~")  # noqa: PTH111
    return cache_folder(environ, sys.platform, Path(home))


def read_message() -> bytes:
    """Return what the host writes on stdin, as far as it is read."""
    return sys.stdin.buffer.read(MOST_BYTES)
