"""Values that stand where a secret would, in docs and tests: to mask them would only damage code."""

from __future__ import annotations

import re

_WORDS = frozenset(
    {
        *("admin", "changeme", "default", "dummy", "example", "foo", "bar", "baz", "guest", "key", "mysql"),
        *("pass", "passwd", "password", "passwort", "postgres", "pw", "pwd", "qux", "root", "secret"),
        *("test", "testing", "token", "user", "username", "your", "yourpassword"),
    }
)
_TEMPLATE = re.compile(r"[{}<>%\\\"'`|^*]|\.\.\.|…|^\$|^x+$", re.IGNORECASE)
_FEWEST_CHARACTERS = 5
"""Different ones: ``ghp_xxxxxxxx`` is nobody's token."""


def is_placeholder(match: re.Match[str], group: int) -> bool:
    """Say whether what a pattern found stands for a secret without being one."""
    value = match[group]
    if group == 0:
        return len(set(value[8:])) < _FEWEST_CHARACTERS
    if not match[0].startswith("://"):
        return len(set(value)) < _FEWEST_CHARACTERS
    user = match[0].removeprefix("://").partition(":")[0]
    after = match.string[match.end() : match.end() + 9].lower()
    return (
        value.lower().rstrip("0123456789!") in _WORDS
        or value == user
        or len(value) < 4
        or bool(_TEMPLATE.search(value))
        or after.startswith(("example.", "localhost", "127.0.0.1"))
    )
