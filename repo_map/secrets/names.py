"""Mask secrets in file names and short texts; the patterns are loaded only if one is likely."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
