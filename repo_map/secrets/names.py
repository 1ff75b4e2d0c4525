"""Names: mask secrets in those of files, and recognize files that hold keys.

The patterns of secrets are loaded only if one is likely. A file that holds keys by its name is listed by path
and never opened. A file of ordinary settings, such as ``application.properties``, is read: work on the code
needs it, and its passwords are masked by their names.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

_LIKELY = re.compile(r"[=:@]|(?<![^\s/])(?=[^\s/]{16})[^\s/\d]*\d|(?<![A-Za-z])[A-Za-z]{30}")
"""Part of every name with a secret: a long run with a digit, a long run of letters, or an assignment."""


def mask_names(names: Sequence[str]) -> list[str]:
    """Return the names of files without secrets, in the same order."""
    # A name that holds a line break itself is masked alone.
    masked = [mask_name(name) if "\n" in name else name for name in names]
    likely = [at for at, name in enumerate(names) if "\n" not in name and _LIKELY.search(name)]
    if not likely:
        return masked
    message = _mask("\n".join(names[at] for at in likely)).split("\n")
    for at, name in zip(likely, message, strict=True):
        masked[at] = name
    return masked


def mask_name(text: str) -> str:
    """Return a short text without secrets."""
    return _mask(text) if _LIKELY.search(text) else text


def _mask(text: str) -> str:
    from repo_map.secrets.masking import mask_text  # noqa: PLC0415 - most trees have no name that needs it

    return mask_text(text)


@cache
def _key_file_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    rules = tomllib.loads(Path(__file__).with_name("key_files.toml").read_text(encoding="utf-8"))
    keys = re.compile(rf"(?:^|/)(?:{'|'.join(rules['key_files'])})$", re.IGNORECASE)
    return keys, re.compile("|".join(rules["templates"]), re.IGNORECASE)


def is_key_file(path: str) -> bool:
    """Return True if a file holds keys by its name; a template, such as ``.env.example``, does not."""
    keys, templates = _key_file_patterns()
    return bool(keys.search(path)) and not templates.search(path)
