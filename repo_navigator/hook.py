"""``repo-navigator hook EVENT``: check what an assistant edits, and report what breaks at its next call.

A client starts a hook after each tool call and after each prompt, and waits for it. So this module imports
neither numpy nor the engine, and ends within a second; ``background`` does the work in a process of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any, Final, NamedTuple

TIMEOUT_S: Final = 1.0
"""After which a hook ends without a word: what comes later would keep an assistant waiting."""
PROMPT: Final = "prompt"
TOOL: Final = "tool"
EVENTS: Final = {PROMPT: "UserPromptSubmit", TOOL: "PostToolUse"}
"""The hook's own names of events, and the clients' name for each where a message gives none."""
EDIT_TOOLS: Final = frozenset(
    (
        *("Edit", "MultiEdit", "Write", "NotebookEdit"),  # Claude Code
        "apply_patch",  # Codex, VS Code
        *("replace", "write_file"),  # Gemini CLI
        *("edit", "create", "str_replace_editor"),  # Copilot CLI
        *("replace_string_in_file", "multi_replace_string_in_file", "insert_edit_into_file", "create_file"),
    )
)
"""The clients' tools that change files; a shell may change files as well, and is not read."""
_PATH_KEYS: Final = ("file_path", "filePath", "notebook_path", "path")
_PATCHED: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
"""The files of a patch in the form of Codex's ``apply_patch``."""
_MAX_MESSAGE_BYTES: Final = 8_000_000
_MAX_STATE_BYTES: Final = 1_000_000
_MAX_PATH_CHARS: Final = 4_096
_MAX_REPORT_CHARS: Final = 1_000
_MAX_AGE_S: Final = 7 * 86_400.0


class Findings(NamedTuple):
    """What a check found, as it waits for the next event."""

    edits: int
    """How many edits the session had when the check ended."""
    lines: dict[str, str]
    """What to print of each finding, by what identifies it when line numbers move."""
    paths: list[str]
    """Files that the findings depend on."""
    states: list[int]
    """State of these files, as ``disk.states`` gives it."""


def run_hook(event: str, *, exits: bool) -> int:
    """Handle one event, whose message is on stdin, and return 0; with ``exits`` the process ends here."""
    timer = Timer(TIMEOUT_S, os._exit, (0,))
    timer.daemon = True
    timer.start()
    try:
        with suppress(BaseException):
            text = handle_event(event, sys.stdin.buffer.read(_MAX_MESSAGE_BYTES), os.environ)
            if text:
                # In one write, so that a client never reads half an answer.
                sys.stdout.buffer.write(f"{text}\n".encode())
                sys.stdout.buffer.flush()
        if exits:
            os._exit(0)
    finally:
        timer.cancel()
    return 0


def handle_event(event: str, message: bytes, environ: Mapping[str, str]) -> str:
    """Return what to print for an event; ``""`` for nothing.

    Raises:
        OSError: The session's state can't be read or written.
    """
    given = json.loads(message)
    if event not in EVENTS or not isinstance(given, dict):
        return ""
    folder = _text(given, "cwd")
    root = _work_tree(folder)
    if root is None:
        return ""
    from navigator.storage.data_folder import default_data_dir  # noqa: PLC0415 - only in a work tree

    file = state_file(default_data_dir(environ), _text(given, "session_id", "sessionId"), root)
    edited = _edited_paths(given, folder, root) if event == TOOL else ()
    if edited:
        append_lines(file, edited)
        _start_background("check", root, file)
        return ""
    if event == PROMPT:
        _remove_old(file.parent)
        _start_background("refresh", root, file)
    report = _take_report(file, root)
    return _answer(given, EVENTS[event], report) if report else ""


def state_file(data_dir: Path, session: str, root: Path) -> Path:
    """Return the file with a line for each file that a session edited in a repository."""
    name = hashlib.sha256(f"{session}\0{root}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return data_dir / "hooks" / f"{name}.edits"


def findings_file(state: Path) -> Path:
    """Return where the findings of a session's latest check wait."""
    return state.with_suffix(".findings")


def read_lines(file: Path) -> list[str]:
    """Return the lines of a small file; none where it can't be read."""
    with suppress(OSError), file.open("rb") as stored:
        return stored.read(_MAX_STATE_BYTES).decode("utf-8", "surrogateescape").splitlines()
    return []


def append_lines(file: Path, lines: Iterable[str]) -> None:
    """Append lines in one write, so that hooks that run at once lose none; raises ``OSError``."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with file.open("ab", buffering=0) as opened:
        text = "".join(f"{line}\n" for line in lines if line.splitlines() == [line] or not line)
        opened.write(text.encode("utf-8", "surrogateescape"))


def _take_report(file: Path, root: Path) -> str:
    """Return the report of the findings that wait and still hold, once; ``""`` for none."""
    waiting = findings_file(file)
    if not os.path.lexists(waiting):
        return ""
    from repo_map.messages import plural, quoted  # noqa: PLC0415 - few events have something to report
    from repo_map.sources import disk  # noqa: PLC0415 - as above

    taken = waiting.with_suffix(f".{os.getpid()}")
    waiting.rename(taken)  # Of hooks that run at once one reports.
    with taken.open("rb") as stored:
        found = Findings(*json.loads(stored.read(_MAX_STATE_BYTES)))
    taken.unlink()
    is_current = found.edits == len(read_lines(file))
    if not is_current or [*disk.states(root, found.paths)] != found.states:
        return ""
    reported_file = file.with_suffix(".reported")
    reported = set(read_lines(reported_file))
    fresh = {key: line for key, line in found.lines.items() if key not in reported}
    shown, room = dict[str, str](), _MAX_REPORT_CHARS
    for key, line in fresh.items():
        if len(line) <= room:
            shown[key] = line
            room -= len(line)
    # What had no room is reported with the findings of a later check.
    append_lines(reported_file, shown)
    if not fresh:
        return ""
    more = len(fresh) - len(shown)
    rest = f"\n{plural(more, 'more finding')}: repo-navigator check" if more else ""
    lines = quoted("\n".join(shown.values())) if shown else ""
    return f"Repo Navigator, on the code after the last edit:\n{lines}{rest}"


def _edited_paths(message: Mapping[str, Any], folder: str, root: Path) -> tuple[str, ...]:
    """Return the repository's files that a tool call changed; ``("",)`` where it does not say which."""
    if _text(message, "tool_name", "toolName") not in EDIT_TOOLS:
        return ()
    given: Any = next((message[key] for key in ("tool_input", "toolArgs", "toolInput") if key in message), {})
    if isinstance(given, str):
        with suppress(ValueError):
            given = json.loads(given)
    if isinstance(given, str):
        given = {"patch": given}
    texts = [text for text in given.values() if isinstance(text, str)] if isinstance(given, dict) else []
    named = [given[key] for key in _PATH_KEYS if isinstance(given, dict) and isinstance(given.get(key), str)]
    named += [path for text in texts for path in _PATCHED.findall(text)]
    inside = [path for each in named if (path := _relative(each, folder, root))]
    return tuple(inside) if named else ("",)


def _relative(path: str, folder: str, root: Path) -> str:
    """Return a path relative to the root with forward slashes; ``""`` for one outside."""
    whole = os.path.normpath(os.path.join(folder, path))  # noqa: PTH118
    return whole[len(str(root)) + 1 :].replace(os.sep, "/") if whole.startswith(f"{root}{os.sep}") else ""


def _work_tree(folder: str) -> Path | None:
    """Return the git work tree that a folder lies in, None where it lies in none."""
    if not folder or "\0" in folder or len(folder) > _MAX_PATH_CHARS or not os.path.isabs(folder):  # noqa: PTH117
        return None
    # Opening `//server/share` would already send the user's credentials to that server.
    if folder.startswith(("//", "\\\\")):
        return None
    path = Path(os.path.realpath(folder))
    found = next((each for each in (path, *path.parents) if os.path.lexists(each / ".git")), None)
    # The work tree of a home folder's settings holds everything else besides.
    return None if found == Path(os.path.realpath(os.path.expanduser("~"))) else found  # noqa: PTH111


def _answer(message: Mapping[str, Any], usual_event: str, text: str) -> str:
    """Return the JSON by which a client adds ``text`` to its model's context."""
    event = _text(message, "hook_event_name", "hookEventName") or usual_event
    answer: dict[str, Any] = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    # Copilot CLI reads the text at the top level; it names no transcript in its messages.
    if "timestamp" in message and "transcript_path" not in message:
        answer["additionalContext"] = text
    return json.dumps(answer)


def _start_background(work: str, root: Path, file: Path) -> None:
    from repo_navigator.detached import start_detached  # noqa: PLC0415 - few hooks start anything

    home = os.path.expanduser("~")  # noqa: PTH111
    folder = home if os.path.isdir(home) else None  # noqa: PTH112
    start_detached("repo_navigator.background", work, str(root), str(file), folder=folder)


def _text(message: Mapping[str, Any], *keys: str) -> str:
    return next((message[key] for key in keys if isinstance(message.get(key), str)), "")


def _remove_old(folder: Path) -> None:
    """Remove the state of sessions without an event for a week."""
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            # Another hook may remove it at the same time.
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _MAX_AGE_S:
                    path.unlink()
