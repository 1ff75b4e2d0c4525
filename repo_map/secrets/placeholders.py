"""What stands where a secret would without being one: placeholders, dummies of tests, names, code."""

from __future__ import annotations

import binascii
import re
from itertools import pairwise

_DUMMIES = (
    *(
        "accesskey",
        "account",
        "admin",
        "alice",
        "anon",
        "apikey",
        "api",
        "app",
        "bar",
        "basic",
        "baz",
        "bearer",
    ),
    *(
        "bob",
        "change",
        "changeit",
        "changeme",
        "client",
        "correct",
        "credential",
        "credentials",
        "db",
        "default",
    ),
    *(
        "demo",
        "dev",
        "dummy",
        "example",
        "fake",
        "foo",
        "foobar",
        "guest",
        "hello",
        "here",
        "hunter",
        "in",
        "invalid",
    ),
    *(
        "is",
        "key",
        "letmein",
        "local",
        "login",
        "me",
        "mock",
        "my",
        "mysql",
        "name",
        "new",
        "nobody",
        "not",
        "old",
    ),
    *(
        "open",
        "page",
        "pass",
        "passphrase",
        "passwd",
        "password",
        "passwort",
        "placeholder",
        "postgres",
        "private",
        "prod",
    ),
    *(
        "pw",
        "pwd",
        "qwerty",
        "qux",
        "random",
        "real",
        "redis",
        "refresh",
        "root",
        "sample",
        "secret",
        "secrets",
    ),
    *(
        "sesame",
        "some",
        "staging",
        "string",
        "super",
        "supersecret",
        "temp",
        "test",
        "tester",
        "testing",
        "the",
    ),
    *(
        "this",
        "to",
        "token",
        "top",
        "user",
        "username",
        "valid",
        "value",
        "very",
        "welcome",
        "world",
        "wrong",
    ),
    *(
        "your",
        "access",
        "auth",
        "id",
        "abc",
        "abcd",
        "asdf",
        "forgot",
        "reset",
        "confirm",
        "current",
        "enter",
        "field",
        "input",
        "abcdef",
        "def",
        "xyz",
        "aaa",
        "another",
        "other",
        "first",
        "second",
    ),
)
_ONLY_DUMMIES = re.compile(
    rf"(?>(?:{'|'.join(sorted(_DUMMIES, key=len, reverse=True))}|(?<![A-Za-z])[an](?![A-Za-z])|[\W\d_])*)",
    re.IGNORECASE,
)
_LEET = re.compile(
    r"(?:p[a4@][s5$]{2}w[o0]rd|s[e3]cr[e3]t|t[e3]st|[a4@]dm[i1]n|r[o0]{2}t)[\W\d_]*", re.IGNORECASE
)
_TOLD = re.compile(
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
_LONGEST_TOLD = 64
_FILLED = re.compile(r"x{8}|\*{3}|\.{3}|…", re.IGNORECASE)
_FEWEST_CHARACTERS = 5
"""Different ones: ``ghp_xxxxxxxx`` is nobody's token."""
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


def is_filler(value: str) -> bool:
    """Say whether a value of an issuer's format was filled up by hand: ``ghp_xxxx…``."""
    rest = value[8:] or value
    return len(set(rest)) < _FEWEST_CHARACTERS or _runs_on(rest) or _is_told(value.replace("EXAMPLE", ""))


def is_placeholder(value: str) -> bool:
    """Say whether a value that a name calls secret is a template, a dummy or told to be none."""
    return (
        len(set(value)) < _FEWEST_CHARACTERS
        or _encodes_placeholder(value)
        or bool(_TEMPLATE.search(value))
        or _is_told(value)
        or _runs_on(value)
        or (len(value) <= _LONGEST_TOLD and bool(_ONLY_DUMMIES.fullmatch(value)) and not is_by_rule(value))
        or _LEET.fullmatch(value) is not None
    )


def _is_told(value: str) -> bool:
    """Say whether a value says itself that it is none; in a long one chance writes such words."""
    return bool((_TOLD if len(value) <= _LONGEST_TOLD else _FILLED).search(value))


def _encodes_placeholder(value: str) -> bool:
    """Say whether a value is the base64 of a dummy, alone or behind a user's name."""
    if len(value) % 4 or len(value) > 64 or not _BASE64.fullmatch(value):
        return False
    decoded = binascii.a2b_base64(value)
    if not decoded.isascii() or not decoded.decode().isprintable():
        return False
    return is_placeholder(decoded.decode().rpartition(":")[2])


def is_by_rule(value: str) -> bool:
    """Say whether a value keeps the rules for passwords: long, of four kinds of characters."""
    kinds = (str.islower, str.isupper, str.isdigit, _is_mark)
    return 10 <= len(value) <= 128 and all(any(kind(character) for character in value) for kind in kinds)


def _is_mark(character: str) -> bool:
    return character in "!#$%&*+?@^~=|;:,"


def looks_random(value: str) -> bool:
    """Say whether a value is no words: it has digits and letters, or its case changes all the time."""
    return (
        any(character.isdigit() for character in value) and any(character.isalpha() for character in value)
    ) or (len(value) >= 30 and len(_CASES.findall(value)) >= 3)


def is_mixed(value: str) -> bool:
    """Say whether digits stand within the words of a value, as in no name and no sentence."""
    return is_by_rule(value) or bool(_INNER_DIGITS.search(_TERMS.sub("", value)))


def digit_runs(value: str) -> int:
    """Return how many times digits begin in a value: twice or more in what is no name."""
    return len(_DIGITS.findall(_TERMS.sub("", value)))


def _runs_on(value: str) -> bool:
    """Say whether most characters follow the one before, as in ``0123456789abcdef``, or one repeats."""
    value = value[:64]
    steps = sum(-1 <= ord(after) - ord(before) <= 1 for before, after in pairwise(value))
    return len(value) > 3 and steps * 10 > (len(value) - 1) * 6
