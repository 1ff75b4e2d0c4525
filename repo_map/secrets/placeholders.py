"""Values that are no secrets: placeholders, dummies of tests, names, code."""

from __future__ import annotations

import binascii
import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

RULES: Final[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("named_values.toml").read_text(encoding="utf-8")
)
_WORDS = "|".join(sorted(RULES["dummies"], key=len, reverse=True))
_ONLY_DUMMIES = re.compile(rf"(?>(?:{_WORDS}|(?<![A-Za-z])[an](?![A-Za-z])|[\W\d_])*)", re.IGNORECASE)
_LEET = re.compile(
    r"(?:p[a4@][s5$]{2}w[o0]rd|s[e3]cr[e3]t|t[e3]st|[a4@]dm[i1]n|r[o0]{2}t)[\W\d_]*", re.IGNORECASE
)
_DECLARED_FAKE = re.compile(
    r"example|change[-_ ]?(?:me|it|this)|placeholder|dummy|redacted|removed|replace|insert"
    r"|your[-_ ]|[-_ ]your|yourown"
    r"|x{4}|\*{3}|\.{3}|…|foobar|not[-_ ]?(?:a[-_ ])?real|fake|-here$|_here$|todo|fixme|sample",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(
    r"\$\{|\$\(|\$\[|\{\{|\}\}|#\{|<%|%>|%\(|%[sdrv](?![\w%])|\{[\w.\[\]: !()'\"-]*\}"
    r"|<[\w .-]+>|\[[A-Z_ -]+\]"
    r"|^\$[A-Za-z_]\w*$|^%\w+%$|^@\w+@$|^@[\w.-]+/|^&\w+$|__\w+__"
)
_MAX_JUDGED_CHARS = 64
_FILLED = re.compile(r"x{8}|\*{3}|\.{3}|…", re.IGNORECASE)
_MIN_DISTINCT_CHARS = 5
"""``ghp_xxxxxxxx`` is no token."""
_TERMS = re.compile(
    r"(?:(?:oauth|sha|base|utf|pbkdf|ed(?=25519)|curve|secp|pkcs|murmur|blake|argon|md(?=5))-?"
    r"|(?<![A-Za-z0-9])(?:x|s|ec|k|i|a|l|p|es|rs|hs|ps|h|http|tls|ssl|web|ipv|v|rfc|aes|des|rc|crc|int|uint|float|iso|win|arm|amd"
    r"|vp|mp|log|py))\d{1,5}(?!\d)",
    re.IGNORECASE,
)
"""Words that end with digits and go on: ``sha256sum``, ``oauth2token``."""
_INNER_DIGITS = re.compile(r"[A-Za-z]\d+(?=[A-Za-z])")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{8,}+={0,2}")
_DIGITS = re.compile(r"\d+")
_CASES = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")


def is_padding(value: str) -> bool:
    """Return True if a value of an issuer's format is padded by hand: ``ghp_xxxx…``."""
    rest = value[8:] or value
    return (
        len(set(rest)) < _MIN_DISTINCT_CHARS
        or _is_sequence(rest)
        or _declares_itself_fake(value.replace("EXAMPLE", ""))
    )


def is_placeholder(value: str) -> bool:
    """Return True if a value with a secret's name is a template, a dummy or declares itself fake."""
    return (
        len(set(value)) < _MIN_DISTINCT_CHARS
        or _encodes_placeholder(value)
        or bool(_TEMPLATE.search(value))
        or _declares_itself_fake(value)
        or _is_sequence(value)
        or (
            len(value) <= _MAX_JUDGED_CHARS
            and bool(_ONLY_DUMMIES.fullmatch(value))
            and not meets_password_policy(value)
        )
        or _LEET.fullmatch(value) is not None
    )


def _declares_itself_fake(value: str) -> bool:
    """Return True if a value declares itself fake; a long one may hold such words by chance."""
    return bool((_DECLARED_FAKE if len(value) <= _MAX_JUDGED_CHARS else _FILLED).search(value))


def _encodes_placeholder(value: str) -> bool:
    """Return True if a value is the base64 of a dummy, alone or behind a user's name."""
    if len(value) % 4 or len(value) > 64 or not _BASE64.fullmatch(value):
        return False
    decoded = binascii.a2b_base64(value)
    if not decoded.isascii() or not decoded.decode().isprintable():
        return False
    return is_placeholder(decoded.decode().rpartition(":")[2])


def meets_password_policy(value: str) -> bool:
    """Return True if a value is long and has four kinds of characters, as password policies want."""
    kinds = (str.islower, str.isupper, str.isdigit, "!#$%&*+?@^~=|;:,".__contains__)
    return 10 <= len(value) <= 128 and all(any(map(kind, value)) for kind in kinds)


def looks_random(value: str) -> bool:
    """Return True if a value has digits and letters, or changes its case all the time."""
    if any(map(str.isdigit, value)) and any(map(str.isalpha, value)):
        return True
    return len(value) >= 30 and len(_CASES.findall(value)) >= 3


def has_inner_digits(value: str) -> bool:
    """Return True if digits are within the words of a value, as in no name and no sentence."""
    return meets_password_policy(value) or bool(_INNER_DIGITS.search(_TERMS.sub("", value)))


def digit_runs(value: str) -> int:
    """Return the number of digit runs in a value: two or more in what is no name."""
    return len(_DIGITS.findall(_TERMS.sub("", value)))


def _is_sequence(value: str) -> bool:
    """Return True if most characters continue or repeat the one before, as in ``0123456789abcdef``."""
    value = value[:64]
    steps = sum(-1 <= ord(after) - ord(before) <= 1 for before, after in pairwise(value))
    return len(value) > 3 and steps * 10 > (len(value) - 1) * 6
