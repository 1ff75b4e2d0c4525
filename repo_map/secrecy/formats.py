"""The formats of secrets: the patterns of Yelp's detect-secrets, and of a few issuers that it lacks.

No heuristics: neither entropy nor the names of variables make a secret, so ordinary code stays as it is.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from repo_map.secrecy.placeholders import is_placeholder


class Format(NamedTuple):
    """One issuer's format, and what text must contain for its patterns to be worth trying."""

    name: str
    detector: str
    """``module.Class`` of detect-secrets; empty for a format of our own."""
    marks: tuple[bytes, ...]
    pattern: str = ""
    """Of a format of our own: the whole match is the secret."""
    in_context: bool = False
    """Whether the first group is the secret, and the rest of the match what tells it."""
    near: re.Pattern[bytes] | None = None
    """Bounded and linear, where no fixed bytes tell the place; tried where a mark, if any, is found."""
    reach: int = 1_500
    """Bytes after a mark that are looked at in a line that is longer: no pattern may run away."""


_USER_PART = rb"[^\s:/?#\[\]@!$&'()*+,;=]"
FORMATS: tuple[Format, ...] = (
    Format("AWS key", "aws.AWSKeyDetector", (b"AKIA", b"ASIA", b"ABIA", b"ACCA", b"A3T"), in_context=True),
    # The value is rarer than the name of the variable that it is given to.
    Format(
        "AWS key",
        "aws.AWSKeyDetector",
        (b"aws", b"AWS"),
        in_context=True,
        near=re.compile(rb"[\"'][0-9A-Za-z/+]{40}[\"']"),
    ),
    Format("Azure storage key", "azure_storage_key.AzureStorageKeyDetector", (b"AccountKey=",)),
    Format("Cloudant password", "cloudant.CloudantDetector", (b"cloudant",), in_context=True),
    Format("GitHub token", "github_token.GitHubTokenDetector", (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_")),
    Format("GitHub token", "", (b"github_pat_",), r"github_pat_[0-9A-Za-z_]{36,255}"),
    Format(
        "GitLab token",
        "gitlab_token.GitLabTokenDetector",
        (b"glpat-", b"gldt-", b"glft-", b"glrt-", b"GR1348941", b"glcbt-", b"glptt-", b"glagent-", b"gloas-"),
    ),
    # The detector's own pattern leaves out the signature, and takes quadratic time where no dot follows.
    Format(
        "JSON web token",
        "",
        (b"eyJ",),
        r"(?<![\w-])eyJ[\w=-]{8,}+\.[\w=-]{8,}+(?:\.[\w+/=-]*+)*",
        reach=16_000,
    ),
    Format("Mailchimp key", "mailchimp.MailchimpDetector", (), near=re.compile(rb"-us[0-9]")),
    Format("npm token", "npm.NpmDetector", (b"_authToken=",), in_context=True),
    Format("npm token", "", (b"npm_",), r"\bnpm_[A-Za-z0-9]{36}\b"),
    Format("OpenAI key", "openai.OpenAIDetector", (b"T3BlbkFJ",)),
    Format("OpenAI key", "", (b"sk-proj-", b"sk-svcacct-"), r"sk-(?:proj|svcacct)-[A-Za-z0-9_-]{40,200}"),
    Format("Anthropic key", "", (b"sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{40,200}"),
    Format("PyPI token", "pypi_token.PypiTokenDetector", (b"pypi-Ag",)),
    Format("SendGrid key", "sendgrid.SendGridDetector", (b"SG.",)),
    Format("Slack token", "slack.SlackDetector", (b"xox", b"hooks.slack.com/services/")),
    Format("SoftLayer key", "softlayer.SoftlayerDetector", (b"softlayer", b"SOFTLAYER"), in_context=True),
    Format("Square secret", "square_oauth.SquareOAuthDetector", (b"sq0csp-",)),
    Format("Stripe key", "stripe.StripeDetector", (b"k_live_",)),
    Format("Telegram token", "telegram_token.TelegramBotTokenDetector", (), near=re.compile(rb":[\w-]{35}")),
    Format(
        "Discord token", "discord.DiscordBotTokenDetector", (), near=re.compile(rb"\.[\w-]{6}\.[\w-]{27}")
    ),
    Format("Google key", "", (b"AIza",), r"\bAIza[0-9A-Za-z_-]{35}"),
    Format("Google secret", "", (b"GOCSPX-",), r"GOCSPX-[0-9A-Za-z_-]{28}"),
    Format("Hugging Face token", "", (b"hf_",), r"\bhf_[A-Za-z0-9]{34}\b"),
    Format("DigitalOcean token", "", (b"_v1_",), r"\bdo[opr]_v1_[a-f0-9]{64}"),
    Format("Shopify token", "", (b"shpat_", b"shpss_"), r"shp(?:at|ss)_[a-fA-F0-9]{32}"),
    Format("age key", "", (b"AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    Format(
        "password in a URL",
        "basic_auth.BasicAuthDetector",
        (),
        in_context=True,
        near=re.compile(rb"://%s{1,100}:%s{1,200}@" % (_USER_PART, _USER_PART)),
    ),
)
"""In no order that matters: what two of them find is masked once."""

_BEFORE = 300
"""Bytes before a mark that are looked at in a line that is longer."""
_LONGEST = 700
"""Of a secret, in bytes: what is looked at twice where a line is cut, so that none hides in the cut."""


def find(source: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield first byte, end and format of every secret but private keys, in no order and with overlaps."""
    for form in FORMATS:
        seen = 0
        for place in _places(form, source):
            if place < seen:
                continue
            start, end = _window(source, place, form.reach)
            seen = end - _LONGEST if end == place + form.reach else end
            # One character for each byte, so that places in the text are places in the source.
            yield from _matches(form, source[start:end].decode("latin-1"), start)


def _places(form: Format, source: bytes) -> Iterator[int]:
    """Yield where a format's marks stand."""
    if form.near is not None:
        if not form.marks or any(mark in source for mark in form.marks):
            yield from (found.start() for found in form.near.finditer(source))
        return
    for mark in form.marks:
        place = source.find(mark)
        while place >= 0:
            yield place
            place = source.find(mark, place + len(mark))


def _window(source: bytes, place: int, reach: int) -> tuple[int, int]:
    """Return the line around a mark, or as much of it as may be looked at."""
    start = source.rfind(b"\n", max(place - _BEFORE, 0), place) + 1 or max(place - _BEFORE, 0)
    end = source.find(b"\n", place, place + reach)
    return start, min(place + reach, len(source)) if end < 0 else end


def _matches(form: Format, text: str, start: int) -> Iterator[tuple[int, int, str]]:
    for pattern in _patterns(form):
        for match in pattern.finditer(text):
            group = 1 if form.in_context and pattern.groups and match[1] else 0
            first, last = match.span(group)
            if not is_placeholder(match, group):
                yield start + first, start + last, form.name


@cache
def _patterns(form: Format) -> tuple[re.Pattern[str], ...]:
    if not form.detector:
        return (re.compile(form.pattern, re.ASCII),)
    # Imported here: it takes longer than most repositories need to be free of secrets.
    module, _, name = form.detector.partition(".")
    detector = getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)
    return tuple(detector.denylist)
