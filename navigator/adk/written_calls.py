"""Tool calls that a small model writes out as words, where it should have made them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from google.genai import types

_OBJECT = re.compile(r"^[ \t]*(?:<tool_call>\s*)?(?:\{(?=\{))?(?=\{)", re.MULTILINE)
"""Where one begins: Qwen2.5's template shows calls between doubled braces, and the model writes them so."""
_MOST_TRIES = 8
"""Places of a text where a call is looked for: each may be read to the text's end in vain."""
_MOST_CHARACTERS = 20_000
"""Of a text, what is looked through."""
_ARGUMENTS = ("arguments", "args", "parameters")
_DECODER = json.JSONDecoder()


def written_calls(text: str, tools: Collection[str]) -> list[types.FunctionCall]:
    """Return the calls of ``tools`` that a text spells out as JSON objects with a name and arguments.

    An object counts where a line begins with it, be it fenced or between a template's marks: what is quoted
    within a sentence is no decision.
    """
    return [
        types.FunctionCall(name=each["name"], args=arguments)
        for each in _objects(text[:_MOST_CHARACTERS])
        if each.get("name") in tools and (arguments := _arguments(each)) is not None
    ]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    at = 0
    for _ in range(_MOST_TRIES):
        found = _OBJECT.search(text, at)
        if found is None:
            return
        try:
            value, at = _DECODER.raw_decode(text, found.end())
        except (ValueError, RecursionError):
            at = found.end() + 1
            continue
        if isinstance(value, dict):
            yield value


def _arguments(written: dict[str, Any]) -> dict[str, Any] | None:
    """Return the arguments of a call, which its wire tells as an object or as the text of one."""
    given = next((written[name] for name in _ARGUMENTS if name in written), None)
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return None
    return given if isinstance(given, dict) else None
