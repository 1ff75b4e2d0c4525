"""What a model writes, before it is kept, shown or sent: bounded, printable and without secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from repo_map.messages import one_line, printable
from repo_map.secrets.masking import mask_text

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)|\x9b[0-?]*[ -/]*[@-~]")
"""What a terminal would act on, with its parameters: colours, positions, titles."""
MOST_NAME = 80
"""Characters of a name that a model made up, where it is told."""
_SPARE = 4
"""Times the limit: of a text that is mostly unseen, what is looked at."""


def cleaned(text: str, most: int) -> str:
    """Return a model's words in ``most`` characters at most, the rest told by an ellipsis."""
    seen = mask_text(printable(_ESCAPE.sub("", text[: most * _SPARE]))).strip()
    return seen if len(seen) <= most else f"{seen[: most - 1]}…"


def cleaned_name(name: object) -> str:
    """Return what a model took for a name, on one line."""
    return cleaned(one_line(_ESCAPE.sub("", str(name)[: MOST_NAME * _SPARE])), MOST_NAME)


def cleaned_values(value: Any) -> Any:
    """Return JSON whose texts, names of fields included, hold only what can be seen."""
    if isinstance(value, str):
        return printable(_ESCAPE.sub("", value))
    if isinstance(value, Mapping):
        return {printable(str(key)): cleaned_values(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned_values(each) for each in value]
    return value


def characters(value: Any, depth: int) -> int:
    """Return how many characters the texts and parts of a JSON value come to.

    Raises:
        ValueError: it is nested deeper than ``depth``, or holds what JSON does not know.
    """
    if isinstance(value, str):
        return len(value)
    if value is None or isinstance(value, bool | float):
        return 8
    if isinstance(value, int):
        return value.bit_length() // 3 + 1
    if depth == 0 or not isinstance(value, Mapping | list | tuple):
        raise ValueError("not to be read")
    if isinstance(value, Mapping):
        return sum(len(str(key)) + characters(each, depth - 1) + 2 for key, each in value.items())
    return sum(characters(each, depth - 1) + 1 for each in value)
