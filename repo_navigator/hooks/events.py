"""What hosts tell their hooks, and how an answer is written for each: the one place that knows their JSON."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

MOST_BYTES: Final = 8_000_000
"""Of a message that is read; hosts cut a tool's output far below."""
_MOST_OUTPUT: Final = 1_000_000
_OUTPUT_KEYS: Final = (
    *(
        "stdout",
        "content",
        "llmContent",
        "output",
        "text_result_for_llm",
        "textResultForLlm",
        "text",
        "result",
    ),
    *("aggregated_output", "returnDisplay", "error"),
)
_DEEPEST: Final = 4
_FRAMES: Final = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        # Gemini CLI's, which also says that nothing was printed.
        r"\A\s*<untrusted_context>\n?",
        r"\n?</untrusted_context>\s*\Z",
        r"\AOutput: (?:\(empty\)(?=\n|\Z))?",
        r"(?:\A|\n)(?:Error|Exit Code|Signal|Background PIDs|Process Group PGID): [^\n]*\Z",
        # Copilot CLI's.
        r"\n?<shellId: \S+ completed with exit code -?\d+>\s*\Z",
    )
)
"""What hosts put around the text that a tool printed."""
_MOST_FRAMES: Final = 12
_HOOK_CONTEXT: Final = re.compile(r"\A\s*<hook_context>.*?</hook_context>\s*", re.DOTALL)
"""What Gemini CLI puts before a prompt: what hooks said at the start, ours among them."""


class Event(NamedTuple):
    """What happened in a host."""

    host_event: str
    """As the host calls it."""
    session: str
    folder: str
    prompt: str = ""
    tool: str = ""
    given: Mapping[str, Any] = {}
    """The tool's arguments."""
    output: str = ""
    form: str = "nested"
    """How the host reads an answer."""


def read_event(data: bytes) -> Event | None:
    """Return what a host tells, None where it is no message of a host."""
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    given = _first(message, "tool_input", "toolArgs", "toolInput")
    if isinstance(given, str):
        given = _object(given)
    is_cursor = "cursor_version" in message or "conversation_id" in message
    # Copilot CLI writes as Claude Code does, but keeps no transcript that it names.
    is_copilot = "tool_result" in message or ("timestamp" in message and "transcript_path" not in message)
    return Event(
        _text(message, "hook_event_name", "hookEventName"),
        _text(message, "session_id", "sessionId", "conversation_id"),
        _folder(message),
        _HOOK_CONTEXT.sub("", _text(message, "prompt", "initial_prompt", "user_prompt")),
        _text(message, "tool_name", "toolName"),
        given if isinstance(given, dict) else {},
        _unframed(
            _printed(_first(message, "tool_response", "tool_result", "toolResult", "tool_output", "error"))
        ),
        "cursor" if is_cursor else "both" if is_copilot else "nested",
    )


def answer(event: Event, usual: str, text: str) -> str:
    """Return what a hook prints so that the host's model reads ``text``.

    Args:
        usual: what the event is called where the host does not say.
    """
    if event.form == "cursor":
        return json.dumps({"additional_context": text})
    nested = {"hookEventName": event.host_event or usual, "additionalContext": text}
    beside = {"additionalContext": text} if event.form == "both" else {}
    return json.dumps({**beside, "hookSpecificOutput": nested})


def _folder(message: Mapping[str, Any]) -> str:
    roots = message.get("workspace_roots")
    if isinstance(roots, list) and roots and isinstance(roots[0], str) and not message.get("cwd"):
        return roots[0]
    # Devin names the folder in its environment alone.
    return _text(message, "cwd") or os.environ.get("DEVIN_PROJECT_DIR", "")


def _printed(value: Any, depth: int = 0) -> str:
    """Return the text that a tool's result holds, in whichever way it is wrapped."""
    if isinstance(value, str):
        inner = _object(value) if value.startswith("{") and depth < _DEEPEST else {}
        return _printed(inner, depth + 1) if set(inner) & set(_OUTPUT_KEYS) else value[:_MOST_OUTPUT]
    if depth > _DEEPEST:
        return ""
    if isinstance(value, Mapping):
        for key in _OUTPUT_KEYS:
            if value.get(key) not in (None, ""):
                return _printed(value[key], depth + 1)
        return _printed(value.get("filenames", ""), depth + 1)
    if isinstance(value, Sequence):
        return "\n".join(_printed(each, depth + 1) for each in value[:10_000])[:_MOST_OUTPUT]
    return ""


def _unframed(text: str) -> str:
    """Return what a tool printed without what its host put around it."""
    for _ in range(_MOST_FRAMES):
        bare = text
        for frame in _FRAMES:
            bare = frame.sub("", bare, count=1)
        if bare == text:
            break
        text = bare
    return text


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _first(message: Mapping[str, Any], *keys: str) -> Any:
    return next((message[key] for key in keys if message.get(key) is not None), None)


def _text(message: Mapping[str, Any], *keys: str) -> str:
    found = _first(message, *keys)
    # A text that was cut within a pair ends with half of it.
    return found.encode("utf-8", "replace").decode() if isinstance(found, str) else ""
