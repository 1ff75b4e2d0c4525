"""Find secrets by their names: in assignments, headers, connection strings and flags of commands.

A name alone makes no secret. The value must be literal, a string or the rest of a line of configuration, and
must not look like words, a placeholder, a dummy or code that reads it.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple
from urllib.parse import unquote

from repo_map.secrets.placeholders import (
    RULES,
    digit_runs,
    has_inner_digits,
    is_placeholder,
    looks_random,
    meets_password_policy,
)

PASSWORD, TOKEN = "password by its name", "key by its name"
_KEY_NAMES = (f"{what}{joint}key" for what in RULES["key_of"] for joint in ("", "_", "-"))
PASSWORD_NAMES = frozenset[str](RULES["password_names"])
NAMES: tuple[str, ...] = (*RULES["password_names"], *RULES["token_names"], *_KEY_NAMES)
"""Ends of names, in lower case."""

_PARTS = ("pass", "pw", "auth", "creds", "cred", "pat", "jwt")
_WITHIN_WORD = re.compile(rb"[a-z](?<!db)(?<!user)(?<!root)(?<!mail)(?<!smtp)(?<!ftp)(?<!sql)(?<!o)\Z")
"""Ends of other words: ``bypass``, ``compass``."""
_ABBREVIATIONS = ("pat", "jwt", "cred")
_WITHIN_CAPITALS = re.compile(rb"[A-Z]\Z")
"""``COMPAT``."""
_MAX_PART_BYTES = 8
"""Bytes that decide whether a word goes on."""
_OF_NO_SECRET = re.compile(
    rb"(?i)(?:public[._-]?key|public|next|page|sync|continuation|continue|cursor|eos|bos|pad|unk|sep|cls|mask|special|previous|prev"
    rb"|last)[._-]?(?:token|key|auth|secret)\Z"
)
"""Starts of names of tokens and keys that are no secrets."""
_TAIL = re.compile(
    rb"(?i:[_-]?(?:key[_-]?base|base|value|text|string|str|plain|prod|production|staging|live|dev|[0-9]{1,3}))?"
    rb"(?P<closed>[\"'][\])]|\\?[\"'`]|\]|\))?"
    rb"(?P<apart>" + "|".join(RULES["between"]).encode() + rb")"
)
_GOES_ON = re.compile(
    rb"(?i:(?!key|base|value|text|str|plain|prod|staging|live|dev|or[ \t])[a-z])(?![^<>\n]{0,30}>)"
)
"""Fast check for what is no ``_TAIL``: ``word`` of ``password`` behind ``pass``."""
_OPTION = re.compile(rb"(?:^|[\s\"'`])--[\w-]{0,40}\Z")
_FIRST_OF_CALL = re.compile(rb"\([ \t]{0,8}[bBrRuU]?[\"'][\w.-]{0,60}\Z")
_WRAPPED = re.compile(rb"(?:\[\]byte)?\([ \t]{0,4}(?:\r?\n[ \t]{0,40})?(?=[bBrRuU]{0,2}[\"'`])")
"""Wrapper of a quoted text: ``[]byte("…")``, or brackets alone."""
_FLAG = re.compile(rb"[ \t]{1,4}|=")
_QUOTED = re.compile(
    rb"[bBrRuU@]{0,2}(?:"
    rb"(?:\"\"\"|''')(?P<long>[^\"'\\\r\n]{1,8000}+)(?:\"\"\"|''')"
    rb"|\\\"(?P<escaped>[^\"\\\r\n]{1,8000}+)\\\""
    rb"|\\'(?P<escaped_once>[^'\\\r\n]{1,8000}+)\\'"
    rb"|\"(?P<double>(?>(?:[^\"\\\r\n]|\\[^\r\n]){1,8000}))\""
    rb"|'(?P<single>(?>(?:[^'\\\r\n]|\\[^\r\n]){1,8000}))'"
    rb"|`(?P<back>[^`\\\r\n]{1,8000}+)`)"
)
_BARE = re.compile(rb"[^\s\"'`<>\\,;&(){}\[\]|]{4,160}+")
_BARE_REST = re.compile(rb"[^\s\"'`<>\\,;&(){}\[\]|]*+")
_ELEMENT = re.compile(rb"[^\s<>]{4,160}?(?=\s{0,80}(?:\]\]>\s{0,80})?(?:</|&lt;/))")
_IN_TAG = re.compile(rb"(?:<|&lt;)(?!/)[^<>\n]{0,140}\Z")
_MAX_TAG_BYTES = 150
"""Bytes before a name within which its tag opens."""
_TOKEN = re.compile(r"[\w+/=.~-]+")
_LINE = re.compile(
    rb"(?P<value>[^\s\"'`]\S{0,160}+)(?:[ \t]{1,24}#[^\n]{0,400}|[ \t]{0,80})(?=\r?$|\r?\n|\Z)", re.MULTILINE
)
_LINE_BEGINS = re.compile(
    rb"(?:^|\n)[ \t>+*/#;-]{0,40}(?:(?:export|set|ENV|ARG|-e|--env)[ \t]{1,4})?[\"']?[\w.-]{0,60}\Z"
)
_LINE_ENDS = re.compile(rb"[ \t]*\r?(?:\n|\Z)")
_UPPER = re.compile(rb"(?:^|[^\w.-])[A-Z][A-Z0-9_]*\Z")
_SETTING = re.compile(r"[A-Za-z][\w!#%+@^~=:*?-]*")
_NUMBERED = re.compile(
    r"[A-Za-z]{4,}[^A-Za-z0-9]{0,2}\d{3,8}[^A-Za-z0-9]{0,3}|(?=[a-z]*[A-Z])[A-Za-z]{4,}\d{2,8}[^A-Za-z0-9]{0,3}"
)
"""``Winter2023``."""
_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)*[!?]?")
_CALL = re.compile(r"[\w.:>-]*\(")
_PATH = re.compile(r"(?:[~.]{0,2}/)?(?:[\w.~-]+/)+[\w.~-]*|[\w.-]+\.[a-z]{2,5}|\w+://.*", re.IGNORECASE)
_EXTENSION = re.compile(r"\.[a-z]{2,5}$")
_CASES_OF_RANDOM = re.compile(r"(?=(?:.*[A-Z]){3})(?=(?:.*[a-z]){3})")
_DIGIT = re.compile(r"\d")
_ASCII = re.compile(r"[!-~]+")
_BEFORE = 60
"""Bytes of context before a name."""
_JUDGED = 160
"""Characters that decide what a value is; it is masked to its end."""


def find(source: bytes, name: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Yield first byte, end and kind of the secret whose name ends in ``source[start:end]``, if it is one."""
    tail = _TAIL.match(source, end) if _GOES_ON.match(source, end) is None else None
    if tail is None and source.find(b"--", max(start - _BEFORE, 0), start) < 0:
        return
    before = source[max(start - _BEFORE, 0) : start]
    if name in _PARTS and _is_within_word(name, source[start : start + 1], before):
        return
    if tail is None:
        if _OPTION.search(before):
            yield from _of_flag(source, name, end)
        return
    apart = tail["apart"].strip()
    if (name == "auth" and not tail["closed"] and apart == b":") or (
        apart == b"," and not _FIRST_OF_CALL.search(before)
    ):
        return
    found = _value(source, tail)
    if found is None:
        return
    first, last, written = found
    value = source[first : min(last, first + _JUDGED)].decode("latin-1")
    is_shaped = name not in _ABBREVIATIONS or _TOKEN.fullmatch(value) is not None
    if is_shaped and _is_secret(value, name in PASSWORD_NAMES, before + source[start:end], written):
        rest = _BARE_REST.match(source, last) if written is _ValueSyntax.AMID else None
        yield first, rest.end() if rest else last, PASSWORD if name in PASSWORD_NAMES else TOKEN
    elif written is _ValueSyntax.AMID:
        # Skip the matched span so that repeated names stay linear, but allow a match that starts at its end,
        # as in ``token = process.env.TOKEN || "…"``.
        again = last - (end - start)
        yield again, again, ""


def _is_within_word(name: str, initial: bytes, before: bytes) -> bool:
    if initial.islower():
        return _WITHIN_WORD.search(before[-_MAX_PART_BYTES:]) is not None
    return name in _ABBREVIATIONS and _WITHIN_CAPITALS.search(before) is not None


def _of_flag(source: bytes, name: str, end: int) -> Iterator[tuple[int, int, str]]:
    """Yield the value of a ``--password`` flag."""
    apart = _FLAG.match(source, end)
    value = apart and _BARE.match(source, apart.end())
    if (
        value
        and has_inner_digits(text := value[0].decode("latin-1"))
        and not is_placeholder(text)
        and len(text) >= 8
    ):
        yield value.start(), value.end(), PASSWORD if name in PASSWORD_NAMES else TOKEN


class _ValueSyntax(Enum):
    """The syntax of a value in its line."""

    QUOTED = 1
    LINE = 2
    """The rest of a line that begins with its name, as in ``name: value``."""
    SETTING = 3
    """The same without blanks, as in a shell: ``NAME=value``."""
    AMID = 4
    """With more of the line behind it."""
    ELEMENT = 5
    """The text of an element, which is no code."""


def _value(source: bytes, tail: re.Match[bytes]) -> tuple[int, int, _ValueSyntax] | None:
    """Return first byte, end and syntax of a value."""
    at, apart = tail.end(), tail["apart"]
    begins = tail.start()
    is_first = _LINE_BEGINS.search(source[max(0, begins - 130) : begins]) is not None
    if apart.endswith((b"=", b" ", b":")) and (wrapped := _WRAPPED.match(source, at)) is not None:
        at = wrapped.end()
    quoted = _QUOTED.match(source, at)
    if quoted is not None:
        is_setting = is_first and apart == b"=" and _LINE_ENDS.match(source, quoted.end()) is not None
        return *quoted.span(
            quoted.lastgroup or 0
        ), _ValueSyntax.SETTING if is_setting else _ValueSyntax.QUOTED
    if apart.strip() in (b"(", b",", b"") or source[at : at + 1] in (b'"', b"'", b"`"):
        return None
    if tail["element"] is not None and (element := _ELEMENT.match(source, at)) is not None:
        is_text = _IN_TAG.search(source, max(0, begins - _MAX_TAG_BYTES), begins) is not None
        is_code = element[0].startswith(b"{") and element[0].endswith(b"}")
        return *element.span(), _ValueSyntax.ELEMENT if is_text and not is_code else _ValueSyntax.SETTING
    line = _LINE.match(source, at)
    # A name at the start of its line, and nothing behind the value: a line of configuration.
    is_entry = apart.strip().lower() == b"value:"
    if line is not None and ((is_first and apart.strip() in (b"=", b":", b"=>")) or is_entry):
        return *line.span("value"), _ValueSyntax.SETTING if apart in (b"=", b": ") else _ValueSyntax.LINE
    bare = _BARE.match(source, at)
    if bare is None or source[bare.end() : bare.end() + 1] in (b"(", b"[", b"{"):
        return None
    return *bare.span(), _ValueSyntax.AMID


def _is_secret(value: str, is_password: bool, whole_name: bytes, written: _ValueSyntax) -> bool:
    is_words = (
        written in (_ValueSyntax.SETTING, _ValueSyntax.ELEMENT)
        and is_password
        and _UPPER.search(whole_name) is not None
    )
    if len(value) < 8 or not (is_words or _DIGIT.search(value)) or not _ASCII.fullmatch(value):
        return False
    if is_placeholder(value) or "aws4_request" in value:
        return False
    # A password of words is recognized only by a name in capitals, as settings have.
    if is_words and _SETTING.fullmatch(value):
        return not value.isupper()
    if written not in (_ValueSyntax.QUOTED, _ValueSyntax.ELEMENT) and not _is_written_out(value):
        return False
    if is_password:
        return (has_inner_digits(value) or _NUMBERED.fullmatch(value) is not None) and not _is_path(value)
    if _is_path(value):
        return False
    return (
        len(value) >= 12
        and has_inner_digits(value)
        and digit_runs(value) >= 2
        and not _OF_NO_SECRET.search(whole_name)
    )


def _is_written_out(value: str) -> bool:
    """Return True if a value without quotes is no variable, call or template."""
    is_call = "(" in value and (")" in value or digit_runs(value) < 3)
    if value[0] in "$&*|>{[(<\\" or value[-1] in ",;)}]" or (is_call and _CALL.match(value)):
        return False
    if meets_password_policy(value):
        return True
    if value[0] in "!%@" or is_call:
        return False
    return not _DOTTED.fullmatch(value) or (
        digit_runs(value) >= (4 if "." in value else 2) and has_inner_digits(value)
    )


def _is_path(value: str) -> bool:
    """Return True if a value is a path, and not a random one with a slash, such as base64."""
    if not _PATH.fullmatch(value):
        return False
    if value[0] in "/~." or "://" in value or _EXTENSION.search(value) or digit_runs(value) < 3:
        return True
    return len(value) < 32 and not (has_inner_digits(value) and _CASES_OF_RANDOM.search(value))


# Headers, addresses and commands, each from where its anchor begins.
_URL = re.compile(
    rb"://(?P<user>[^\s:/?#\[\]@\"'`<>\\,;(){}]{0,128}(?:@[\w.-]{1,100}(?=:))?)"
    rb"(?::(?P<password>[^\s\"'`<>\\]{1,512}))?@(?P<host>[\w.%\[\]:$\{\}-]{1,200})"
)
_PORT = re.compile(rb"\d{1,5}(?:[/?#]|\Z)")
_ONE_HOST = re.compile(
    rb"(?:[\w-]{1,63}(?:\.[\w-]{1,63})+|localhost|\[[0-9a-fA-F:]{2,40}\]|[\w.-]{1,100}(?=:\d))(?::\d{1,5})?(?:[/?#,;)]|\Z)"
)
"""A host that has a dot, a port or is ``localhost``, to its end."""
_QUERY = re.compile(rb"[^@]*\?[^@]*=")
_SCHEME_OF_PATHS = re.compile(rb"(?:ssh|git|scp|svn)\Z")
"""Schemes with a path behind a colon: ``ssh://git@host:path``."""
_MAX_SCHEME_BYTES = 20
_DSN = re.compile(rb"(?:^|[\"'`= ])[\w.-]{1,64}:(?P<value>[^\s:/\"'`<>\\@]{6,128})\Z")
_MAX_DSN_BYTES = 200
"""Bytes before the anchor of Go's data source names, ``user:password@tcp(host)``."""
_HOST_OF_DOCS = re.compile(
    rb"(?:[\w-]+\.)*(?:example\.(?:com|org|net)|localhost|127\.0\.0\.1|test|invalid|host|hostname|example)(?![\w.-])",
    re.IGNORECASE,
)


class Place(NamedTuple):
    """A place of a secret that its text tells: a header, an address, or a command."""

    pattern: re.Pattern[bytes]
    judged_as: str
    """What the value must be: ``password``, ``token``, ``basic`` (both in base64), ``url`` or ``dsn``."""


ANCHORS = {
    "://": Place(_URL, "url"),
    **dict.fromkeys(("@tcp(", "@unix("), Place(_DSN, "dsn")),
    **{
        anchor: Place(re.compile(row["pattern"].encode()), row["judged_as"])
        for row in RULES["place"]
        for anchor in row["anchors"]
    },
}


def find_in_place(source: bytes, place: Place, at: int) -> Iterator[tuple[int, int, str]]:
    """Yield the secret of a header, an address or a command that begins at ``at``."""
    pattern, judged_as = place
    if judged_as == "dsn":
        match = pattern.search(source, max(at - _MAX_DSN_BYTES, 0), at)
    else:
        match = pattern.match(source, at)
    if match is None:
        return
    if judged_as == "url":
        yield from _of_url(match)
        return
    group = match.lastgroup or "value"
    value = match[group].decode("latin-1")
    is_basic = judged_as == "basic" or (judged_as == "token" and b"asic" in match[0][:40].lower())
    if is_basic:
        is_secret = _is_basic(value)
    elif judged_as == "token":
        is_secret = len(value) >= 16 and _is_key(value, 2)
    else:
        is_secret = _is_password(value)
    if is_secret:
        yield *match.span(group), TOKEN if judged_as == "token" else PASSWORD


def _of_url(match: re.Match[bytes]) -> Iterator[tuple[int, int, str]]:
    source, (start, stop) = match.string, match.span("user")
    user = source[start:stop].decode("latin-1")
    end = -1 if match["password"] is None else _end_of_password(match)
    if end < 0:
        user = user.partition("@")[0]
        if len(user) >= 20 and _is_key(user, 3):
            yield start, start + len(user), TOKEN
        return
    value = source[stop + 1 : end].decode("latin-1")
    if len(user) >= 32 and _is_key(user, 3):
        yield start, stop, TOKEN
    if (
        (meets_password_policy(value) or not _HOST_OF_DOCS.match(source, end + 1))
        and value.lower() != user.lower()
        and _is_password(unquote(value))
    ):
        yield stop + 1, end, "password in a URL"


def _end_of_password(match: re.Match[bytes]) -> int:
    """Return the end of an address's password, which may hold ``@`` and ``/`` itself; -1 for a path."""
    source, (first, last) = match.string, match.span("password")
    if _PORT.match(source, first, last) or (
        b"@" in match["user"]
        and _SCHEME_OF_PATHS.search(source, max(0, match.start() - _MAX_SCHEME_BYTES), match.start())
    ):
        return -1
    if (other := source.find(b"://", first, last)) >= 0:
        last = source.rfind(b"@", first, other)
    at = source.find(b"@", first, last)
    while 0 <= at < last:
        if _ONE_HOST.match(source, at + 1) or _QUERY.match(source, at + 1, last):
            return at
        at = source.find(b"@", at + 1, last)
    return last


def _is_key(value: str, runs: int) -> bool:
    return has_inner_digits(value) and digit_runs(value) >= runs and not is_placeholder(value)


def _is_password(value: str) -> bool:
    return (
        len(value) >= 6
        and _ASCII.fullmatch(value) is not None
        and looks_random(value)
        and not is_placeholder(value)
        and not is_placeholder(value.partition(";")[0])
    )


def _is_basic(value: str) -> bool:
    """Return True if a value is a user and a password in base64, and the password no dummy."""
    try:
        decoded = binascii.a2b_base64(value + "=" * (-len(value) % 4)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return looks_random(value) and not is_placeholder(value)
    user, colon, password = decoded.partition(":")
    if not colon:
        return len(value) >= 16 and has_inner_digits(value) and digit_runs(value) >= 2
    return password != user and len(password) >= 4 and not is_placeholder(password) and looks_random(password)
