"""Where a name stands in a source, comments and strings aside, by its language's rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from repo_map.languages.registry import language_named
from repo_map.languages.writing import NUMBER, Writing

_FLAGS: Final = re.DOTALL | re.ASCII
_QUOTES: Final = "\"'`"


def find_name(text: str, name: str, language: str) -> Iterator[int]:
    """Yield where a name stands in a source, in characters: code within strings counts, comments do not.

    Args:
        text: the source.
        name: an identifier; what may stand before one in its language (``@``, ``$``, ``#``) has to be there.
        language: of the source; of text in none, nothing is found.
    """
    writing = language_named(language).writing
    bare = name.lstrip("@$#")
    if writing is None or bare not in text:
        return
    sigil = name[: len(name) - len(bare)]
    for match in _pattern(writing).finditer(text):
        if match[1] is not None:
            found = [match.start(1)] if match[1] == bare else []
        else:
            found = list(_within(writing, match, bare))
        yield from (at for at in found if text[at - len(sigil) : at] == sigil)


@cache
def _pattern(writing: Writing) -> re.Pattern[str]:
    identifier = writing.identifier + (r"(?![\"'])" if writing.prefixed else "")
    return re.compile("|".join((identifier, *writing.skipped, NUMBER)), _FLAGS)


def _within(writing: Writing, skipped: re.Match[str], name: str) -> Iterator[int]:
    """Yield where a name stands in the code that a string holds."""
    before = skipped.string[max(0, skipped.start() - 2) : skipped.end()]
    if skipped[0][0] not in _QUOTES or not any(marker in before for marker in writing.markers):
        return
    identifier = re.compile(writing.identifier, _FLAGS)
    for code in re.compile(writing.inside, _FLAGS).finditer(skipped[0]):
        for match in identifier.finditer(code[1]):
            if match[1] == name:
                yield skipped.start() + code.start(1) + match.start(1)
